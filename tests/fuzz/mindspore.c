/* mindspore.c: any one file of MindSpore's profiler made by an enemy: the first byte chooses which, the
 * rest is its content. Read, sealed, written as a file and opened again, and asked what its pages ask. */
#include <stdint.h>

#include "fuzz/fuzz_ask.h"
#include "fuzz/fuzz_trace.h"
#include "ingest/mindspore/mindspore_int.h"

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
