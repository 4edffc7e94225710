/* fuzz_read.h: bytes to a sealed trace through one reader, and the same twice: with one piece on one
 * thread, and with small pieces on two. */
#ifndef TESTS_FUZZ_READ_H
#define TESTS_FUZZ_READ_H

#include "fuzz/fuzz_trace.h"
#include "ingest/ingest.h"

typedef status (*fuzz_reader)(source *src, const ingest_options *o, builder *b, error *err);

static inline status fuzz_reopen(void *context, source **out, error *err) {
    return source_open_memory(*(const str *)context, out, err);
}

/* NULL when it is refused; what is read must be sealed. */
static inline trace *fuzz_read(fuzz_reader read, str text, pool *workers, size_t piece_bytes) {
    ingest_options o = {.pool = workers,
                        .reopen = fuzz_reopen,
                        .reopen_context = &text,
                        .piece_bytes = piece_bytes};
    source *s;
    trace *t = NULL;
    builder *b = builder_new();
    CHECK(source_open_memory(text, &s, NULL) == OK);
    if (read(s, &o, b, NULL) == OK) CHECK(builder_seal(b, workers, &t, NULL) == OK);
    source_close(s);
    builder_free(b);
    return t;
}

/* Both ways find the same, and the trace keeps its promises. */
static inline void fuzz_read_twice(fuzz_reader read, str text, pool *workers,
                                   size_t piece_bytes) {
    trace *t = fuzz_read(read, text, NULL, 0), *u = fuzz_read(read, text, workers, piece_bytes);
    CHECK(!t == !u);
    if (t) {
        check_equal(t, u);
        check_trace(u);
    }
    trace_release(t);
    trace_release(u);
}

static inline pool *fuzz_two(void) {
    static pool *two;
    if (!two) two = pool_new(2);
    return two;
}

#endif
