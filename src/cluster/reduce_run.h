/* reduce_run.h: all workers of a run to one summary, with threads and processes. */
#ifndef CLUSTER_REDUCE_RUN_H
#define CLUSTER_REDUCE_RUN_H

#include "analyse/run/comm_resolve.h"
#include "cluster/transport.h"
#include "session/discover.h"

typedef struct {
    const run_entry *run; /* the same in every process */
    str span;             /* its number: the cycle of every worker; empty: the last */
    transport *transport;
    int threads; /* of this process */
    bool no_cache;
    uint64_t memory_limit_bytes; /* of one trace; 0: none */
    /* From any thread, one at a time: a file is done; `failed` NULL when it could be read. The
     * sentence for a failure is written to `reason`. */
    void (*done)(void *context, const char *path, const error *failed, buf *reason);
    void *context;
} reduce_options;

typedef struct {
    summary *all; /* process 0: the run, resolved; others: NULL. The caller's */
    uint64_t n_files, n_failed;
} reduce_result;

status reduce_run(const reduce_options *o, reduce_result *out, error *err) MUST_USE;

#endif
