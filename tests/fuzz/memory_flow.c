/* memory_flow.c: MegEngine's memory picture, from bytes to a sealed trace that keeps its promises. */
#include "fuzz/fuzz_trace.h"
#include "ingest/megengine/megengine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ingest_options o = {.pool = NULL};
    source *s;
    trace *t = NULL;
    builder *b = builder_new();
    CHECK(source_open_memory(str_n((const char *)data, size), &s, NULL) == OK);
    if (ingest_memory_flow(s, &o, b, NULL) == OK) CHECK(builder_seal(b, NULL, &t, NULL) == OK);
    source_close(s);
    builder_free(b);
    if (t) check_trace(t);
    trace_release(t);
    return 0;
}
