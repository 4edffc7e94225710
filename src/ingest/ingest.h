/* ingest.h: the readers. Each takes a source of bytes and appends rows to a builder; session/
 * chooses the reader by content and seals what it built. A damaged file is no failure: what can be
 * saved is saved, what was lost is counted in the builder. */
#ifndef INGEST_INGEST_H
#define INGEST_INGEST_H

#include "base/pool.h"
#include "io/source.h"
#include "store/builder.h"

typedef struct {
    pool *pool; /* NULL: one thread */
    /* Reopens the same input from its start; NULL when it cannot be read twice (a pipe). A parallel
     * read that meets damage starts again with one thread, so that damage gives the same answer
     * whatever the number of threads. */
    status (*reopen)(void *context, source **out, error *err);
    void *reopen_context;
    /* Called from time to time, from one thread at a time; true asks to stop. May be NULL. */
    bool (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_context;
    const char *path; /* of the input, for readers of whole folders; NULL when it has none */
    uint64_t memory_limit_bytes; /* 0 = none: rows beyond it are ERR_LIMIT */
    size_t piece_bytes; /* read at a time, 0 = 4 MiB; small ones put seams into small tests */
} ingest_options;

/* Trace-event JSON: Kineto's and plain Chrome's; object or bare list. Which of the two it is comes
 * from its keys and categories. ERR_FORMAT when it holds no trace at all. */
status ingest_trace_json(source *src, const ingest_options *o, builder *b, error *err) MUST_USE;
status ingest_tensorflow(source *src, const ingest_options *o, builder *b, error *err) MUST_USE;

/* Paddle's trace-event JSON (`*.paddle_trace.json`, versions 1.0.0 to 1.0.2, Paddle 2 and 3). */
status ingest_paddle_json(source *src, const ingest_options *o, builder *b,
                          error *err) MUST_USE;
/* The same for MegEngine's chrome_timeline.json, old and new layout, one process or several. */
status ingest_megengine(source *src, const ingest_options *o, builder *b, error *err) MUST_USE;

/* MegEngine's memory picture, `*.memory_flow.svg`. */
status ingest_memory_flow(source *src, const ingest_options *o, builder *b,
                          error *err) MUST_USE;
/* The profile of a MegEngine static graph, `profiling.json`. */
status ingest_megengine_static(source *src, const ingest_options *o, builder *b,
                               error *err) MUST_USE;

#endif
