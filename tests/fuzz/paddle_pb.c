/* paddle_pb.c: the reader of Paddle's protobuf, from bytes to a sealed trace. Small pieces find as many
 * rows of everything as one large one, and the trace keeps its promises. */
#include "ingest/paddle_pb.h"
#include "fuzz/fuzz_trace.h"

static trace *read_trace(str bytes, size_t piece_bytes) {
    ingest_options o = {.piece_bytes = piece_bytes};
    source *s;
    trace *t = NULL;
    builder *b = builder_new();
    CHECK(source_open_memory(bytes, &s, NULL) == OK);
    if (ingest_paddle_pb(s, &o, b, NULL) == OK) CHECK(builder_seal(b, NULL, &t, NULL) == OK);
    source_close(s);
    builder_free(b);
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str bytes = {(const char *)data, size};
    trace *t = read_trace(bytes, 0), *u = read_trace(bytes, 1 + size % 97);
    CHECK(!t == !u);
    if (t) {
        check_equal(t, u);
        check_trace(u);
    }
    trace_release(t);
    trace_release(u);
    return 0;
}
