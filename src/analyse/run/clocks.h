/* clocks.h: one clock for many machines.
 *
 * All members of a collective that ends for all of them at once (all-reduce, all-gather,
 * reduce-scatter, all-to-all, barrier) leave it together. So the ends say how far the clocks of
 * two members are apart, and how that changes: offset and drift, a straight line for each
 * worker against the first one. What remains is the residual. Workers that share no such
 * collective with the first one, not even through others, cannot be aligned and are reported as
 * such. */
#ifndef ANALYSE_CLOCKS_H
#define ANALYSE_CLOCKS_H

#include "analyse/comm/worker_order.h"
#include "analyse/run/comm_match.h"
#include "store/summary.h"

/* How a worker's times become the first one's. */
typedef struct {
    int64_t base;      /* Unix time of the trace's 0; 0 when unknown */
    int64_t at;        /* on the first one's clock: when the offset holds */
    int64_t offset;    /* to be taken off; 0 when the clocks agree */
    int64_t drift_ppb; /* what the offset grows by in a second, in ns */
    int64_t residual;  /* median distance of the ends from the line */
    int64_t samples;   /* number of collectives it is computed from */
    bool aligned;      /* false: not comparable with the first one */
} worker_clock;

/* A worker's time on the first one's clock, Unix ns. */
int64_t clock_apply(const worker_clock *c, int64_t ns);

/* The most samples kept of two workers; which ones is decided by lot, the same in every
 * process. */
#define CLOCK_SAMPLES 64
/* Do the members of such a collective leave it together? */
bool clock_counts(comm_type type);
/* Keeps the samples of each pair with the least lots; the summary is settled. */
status clock_samples_trim(summary *s, error *err) MUST_USE;

/* Rows `clock` of `out` for all workers of the roster, from `sample` rows. */
status clocks_solve(const summary *worker_order, const summary *samples, arena *a, summary *out,
                    error *err) MUST_USE;

/* By worker of the roster, from the rows `clock`; NULL: out of memory. */
worker_clock *clocks_read(const summary *s, const worker_order *who, arena *a);

#endif
