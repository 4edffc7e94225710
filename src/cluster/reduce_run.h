/* reduce_run.h: all workers of a run to one summary, with threads and processes. */
#ifndef CLUSTER_REDUCE_RUN_H
#define CLUSTER_REDUCE_RUN_H

#include "analyse/run/comm_resolve.h"
#include "cluster/file_list.h"

typedef struct {
    const run_entry *run; /* process 0 alone; the others get its list */
    str span;             /* its number: the cycle of every worker; empty: the last */
    transport *transport;
    int threads; /* of this process */
    bool no_cache;
    bool strict;                 /* a damaged file counts as unreadable */
    uint64_t memory_limit_bytes; /* of one trace; 0: none */
    /* From any thread, one at a time: a file is done; `failed` NULL when it could be read.
     * After a failure it writes the reason for the summary, and the sentence for the user. */
    void (*done)(void *context, const error *failed, buf *reason, buf *sentence);
    void *context;
} reduce_options;

typedef struct {
    summary *all; /* process 0: the run, resolved; others: NULL. The caller's */
    file_list
        list; /* process 0: with the outcome of every file; valid until the arena is reset */
} reduce_result;

status reduce_run(const reduce_options *o, arena *a, reduce_result *out, error *err) MUST_USE;

#endif
