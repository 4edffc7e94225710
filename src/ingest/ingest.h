/* ingest.h: the readers. Each takes a source of bytes and appends rows to a builder; session/
 * chooses the reader by content and seals what it built. A damaged file is not failure: what
 * can be saved is saved, what was lost is counted in the builder. */
#ifndef INGEST_INGEST_H
#define INGEST_INGEST_H

#include "base/pool.h"
#include "io/source.h"
#include "store/builder.h"

typedef struct {
    pool *pool; /* NULL: one thread */
    /* Reopens the same input from its start; NULL when it cannot be read twice (a pipe). A
     * parallel read that meets damage starts again with one thread, so that damage gives the
     * same answer whatever the number of threads. */
    status (*reopen)(void *context, source **out, error *err);
    void *reopen_context;
    /* Called from time to time, from one thread at a time; true asks to stop. May be NULL. */
    bool (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_context;
    const char *path;   /* of the input, for readers of whole folders; NULL when it has none */
    int64_t process;    /* of a file of several, the one whose rows are read; 0: all */
    const char *beside; /* of an execution trace of the same process; NULL: there is none */
    uint64_t memory_limit_bytes; /* 0 = none: rows beyond it are ERR_LIMIT */
    size_t piece_bytes; /* read at a time, 0 = 4 MiB; small ones put seams into small tests */
} ingest_options;

/* What each reader is, declared in the header of its folder. */
typedef status ingest_function(source *src, const ingest_options *o, builder *b, error *err);

#endif
