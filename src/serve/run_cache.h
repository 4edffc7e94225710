/* run_cache.h: summaries of runs, joined once for all questions about all workers.
 *
 * The page asks several questions of a thousand workers at once and again with every look;
 * resolving which worker waited for which takes seconds then. The last few are kept. */
#ifndef SERVE_RUN_CACHE_H
#define SERVE_RUN_CACHE_H

#include "analyse/run/run_summary.h"

typedef struct run_cache run_cache;

run_cache *run_cache_new(void); /* NULL when out of memory */
void run_cache_free(run_cache *j);

/* What a run is joined from. */
typedef struct {
    uint64_t key; /* of the summaries and the selection; the same key is the same result */
    analysis_input in;
    const params *params;
    size_t limit_bytes;
    const summary *failures; /* rows `failure` to be added; NULL: none */
} run_question;

/* The joined run as a trace without events that says of itself what the first one says; the
 * caller's reference. A thread that asks for what another one is making waits for it. */
status run_cache_get(run_cache *j, const run_question *q, trace **out, error *err) MUST_USE;
/* How many were made so far; for tests. */
uint64_t run_cache_made(run_cache *j);

#endif
