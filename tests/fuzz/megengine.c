/* megengine.c: MegEngine's timelines and static profiles, from bytes to a sealed trace. Two threads
 * with small pieces find of a timeline what one finds, and every trace keeps its promises. */
#include "fuzz/fuzz_trace.h"
#include "ingest/ingest.h"

typedef status (*reader)(source *src, const ingest_options *o, builder *b, error *err);

static status reopen(void *context, source **out, error *err) {
    return source_open_memory(*(const str *)context, out, err);
}

static trace *read_trace(reader read, str text, pool *workers, size_t piece_bytes) {
    ingest_options o = {
        .pool = workers, .reopen = reopen, .reopen_context = &text, .piece_bytes = piece_bytes};
    source *s;
    trace *t = NULL;
    builder *b = builder_new();
    CHECK(source_open_memory(text, &s, NULL) == OK);
    if (read(s, &o, b, NULL) == OK) CHECK(builder_seal(b, workers, &t, NULL) == OK);
    source_close(s);
    builder_free(b);
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static pool *two;
    if (!two) two = pool_new(2);
    str text = {(const char *)data, size};
    trace *t = read_trace(ingest_megengine, text, NULL, 0);
    trace *u = read_trace(ingest_megengine, text, two, 60 + size % 97);
    trace *v = read_trace(ingest_megengine_static, text, NULL, 0);
    CHECK(!t == !u);
    if (t) {
        check_equal(t, u);
        check_trace(u);
    }
    if (v) check_trace(v);
    trace_release(t);
    trace_release(u);
    trace_release(v);
    return 0;
}
