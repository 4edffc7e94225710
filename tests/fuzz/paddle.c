/* paddle.c: the reader of Paddle's JSON, from bytes to a sealed trace. Two threads with
 * small pieces find as many rows of everything as one thread with one piece, and the trace keeps its
 * promises. */
#include "fuzz/fuzz_trace.h"
#include "ingest/ingest.h"

static status reopen(void *context, source **out, error *err) {
    return source_open_memory(*(const str *)context, out, err);
}

static trace *read_trace(str text, pool *workers, size_t piece_bytes) {
    ingest_options o = {
        .pool = workers, .reopen = reopen, .reopen_context = &text, .piece_bytes = piece_bytes};
    source *s;
    trace *t = NULL;
    builder *b = builder_new();
    CHECK(source_open_memory(text, &s, NULL) == OK);
    if (ingest_paddle_json(s, &o, b, NULL) == OK)
        CHECK(builder_seal(b, workers, &t, NULL) == OK);
    source_close(s);
    builder_free(b);
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static pool *two;
    if (!two) two = pool_new(2);
    str text = {(const char *)data, size};
    trace *t = read_trace(text, NULL, 0), *u = read_trace(text, two, 40 + size % 97);
    CHECK(!t == !u);
    if (t) {
        check_equal(t, u);
        check_trace(u);
    }
    trace_release(t);
    trace_release(u);
    return 0;
}
