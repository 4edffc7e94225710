/* mindspore.c: any one file of MindSpore's profiler made by an enemy: the first byte chooses which, the
 * rest is its content. Read, sealed, written as a file and opened again, and asked what its pages ask. */
#include <stdint.h>

#include "analyse/registry.h"
#include "fuzz/fuzz_trace.h"
#include "ingest/mindspore_int.h"

static void ask(trace *t, str name) {
    arena a;
    answer out;
    analysis_trace one = {.trace = t, .rank = ABSENT_I64};
    params p = {.from_ns = ABSENT_I64,
                .to_ns = ABSENT_I64,
                .first_step = ABSENT_I64,
                .last_step = ABSENT_I64};
    arena_init(&a, 256 << 20);
    (void)!registry_find(name)->run(&(analysis_input){&one, 1}, &p, &a, &out, NULL);
    arena_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    builder *b = builder_new();
    trace *t = NULL;
    if (!b) return 0;
    str text = str_n((const char *)data + 1, size - 1);
    status st = ms_read_one(data[0] % ms_n_kinds(), text, b, NULL);
    if (st == OK && builder_seal(b, NULL, &t, NULL) == OK) {
        check_trace(t);
        ask(t, STR("steps"));
        ask(t, STR("operators"));
        ask(t, STR("pipeline"));
        ask(t, STR("overview"));
        ask(t, STR("memory"));
        ask(t, STR("distributed"));
        ask(t, STR("advise"));
        trace_release(t);
    }
    builder_free(b);
    return 0;
}
