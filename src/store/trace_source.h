/* trace_source.h: one worker's trace and where it came from: what session/ found and analyse/
 * is asked about. */
#ifndef STORE_TRACE_SOURCE_H
#define STORE_TRACE_SOURCE_H

#include "store/trace.h"

/* What else is in the run's folder: the other workers and what they are, files that are not
 * read, and other runs. */
typedef struct {
    str name, owner;  /* owner: the worker it belongs to, empty when it does not */
    const char *role; /* "rank", "loader", … */
    uint16_t words;   /* the same for people: a message with {rank} and {owner} */
    int64_t rank;     /* ABSENT_I64 when unknown */
    uint32_t n_spans;
} listed_worker;
typedef struct {
    str path;         /* below the folder that was given */
    uint16_t what;    /* a noun for lists */
    uint16_t message; /* a sentence with {path}; MSG_NONE: nothing to say but the noun */
} passed_file;
typedef struct {
    str name;
    int64_t start_unix_ns; /* ABSENT_I64 when unknown */
    uint32_t n_ranks, n_workers;
} run_line;
typedef struct {
    const listed_worker *workers;
    const passed_file *passed;
    const run_line *runs; /* all that were found with it, by time */
    uint32_t n_workers, n_passed, n_runs;
} run_listing;

typedef struct {
    const trace *trace;
    uint32_t
        own_slices; /* after these `trace` has those of its data loader; 0: all are its own */
    str worker;     /* name from the file or the metadata */
    int64_t rank;   /* ABSENT_I64 when unknown */
    str path, run, span; /* for the answer's `trace` object */
    uint32_t
        run_workers;    /* of its run, asked about or not: ranks, else traces; 0 = not known */
    uint32_t run_ranks; /* the same when they are ranks, else 0 */
    const run_listing *listing; /* NULL: not known */
} trace_source;

#endif
