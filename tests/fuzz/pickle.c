/* pickle.c: a memory snapshot made by an enemy: read, sealed, and asked everything that memory can
 * be asked. Nothing in it may be executed, and nothing of it may lead outside. */
#include <stdint.h>

#include "fuzz/fuzz_ask.h"
#include "ingest/pytorch/memory_snapshot.h"
#include "store/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    source *s;
    trace *t;
    ingest_options o = {.memory_limit_bytes = 512 << 20};
    builder *b = builder_new();
    if (!b || source_open_memory(str_n((const char *)data, size), &s, NULL) != OK) return 0;
    status st = ingest_memory_snapshot(s, &o, b, NULL);
    source_close(s);
    if (st == OK && builder_seal(b, NULL, &t, NULL) == OK) {
        ask(t, STR("memory"));
        ask(t, STR("info"));
        trace_release(t);
    }
    builder_free(b);
    return 0;
}
