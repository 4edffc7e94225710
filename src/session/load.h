/* load.h: from a file to a sealed trace.
 *
 * A *.tacho file is mapped. Anything else is looked up in the cache, or read by the reader that
 * recognizes its content, sealed, and put into the cache. Directories are for discover.h. */
#ifndef SESSION_LOAD_H
#define SESSION_LOAD_H

#include "base/pool.h"
#include "store/trace_source.h"

/* From a worker's trace to its summary: reduce_worker of analyse/run/reduce.h, which this layer
 * does not see. */
typedef status (*reduce_fn)(const trace_source *who, size_t limit_bytes, trace **out,
                            error *err);

typedef struct {
    pool *pool;  /* to work with; NULL: load makes its own for the time it takes */
    int threads; /* of its own pool; 0: as many as there are processors */
    bool no_cache;
    bool unkept; /* a trace that is read is not put into the cache */
    /* What the caller will read, as for trace_require; 0: everything. A cached trace damaged
     * there is read again; naming few tables makes opening a large one fast. */
    uint64_t tables;
    bool named;                  /* by the user: it may be a pipe, which is waited for */
    int64_t process;             /* of a file of several: whose rows are read; 0: all */
    bool strict;                 /* damage of the input is ERR_FORMAT */
    uint64_t memory_limit_bytes; /* 0: mem_usual_limit_bytes; ERR_LIMIT beyond it */
    bool counts_reading; /* the limit is for all that is held meanwhile, by the whole process;
                            else a trace may take more until it is read */
    /* As in ingest.h: called from time to time, true asks to stop. May be NULL. */
    bool (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_context;
    /* Wanted is not the trace but what this makes of it, a trace without events that carries a
     * summary: that is looked for in the cache and kept there, the trace itself is not.
     * May be NULL. */
    reduce_fn reduce;
    trace_source who; /* what the summary depends on in addition to the file: the worker's name,
                         rank */
    trace *known;     /* the trace of the file, where the caller has it; NULL: it is read */
} load_options;

typedef struct {
    trace *trace;    /* the caller's reference: trace_release */
    bool from_cache; /* found there */
    error note; /* why it was not cached; note.message is MSG_NONE when there is no reason */
} loaded_trace;

/* path "-" is standard input, which is never cached. o may be NULL. */
status trace_load(const char *path, const load_options *o, loaded_trace *out,
                  error *err) MUST_USE;
/* Was something of the input lost or changed, so that `strict` would refuse it? */
bool trace_is_damaged(const trace *t);

#endif
