/* comm_resolve.h: what can only be said about all workers together: which worker waited for
 * which.
 *
 * The work is cut so that no process holds the collectives of all workers:
 *
 *   owner of a worker        has its trace's summary: steps, collectives with their ranges
 *   comm_keeper of a collective   has all members of those whose key falls to it
 *                                 (comm_resolve_split)
 *
 *   owners ── comm, range ──> keepers ── sample ──> one: clocks ──> all keepers
 *   keepers ── moved ──> owners: sync, step_sync, call
 *   keepers: arrival, group, member, blame, fact            all: merged in a tree
 *
 * One process is owner and comm_keeper of everything: comm_resolve_all. The result does not
 * depend on how many there are. All that travels are summaries. */
#ifndef ANALYSE_COMM_RESOLVE_H
#define ANALYSE_COMM_RESOLVE_H

#include "analyse/comm/worker_order.h"
#include "analyse/run/clocks.h"

/* A comm_keeper's collectives. */
typedef struct {
    worker_order who;
    const summary *comms;
    collective_list list; /* worker: place in the roster; slice: row of comms */
    comm_matches found;
    worker_clock *clocks; /* by worker */
    arena *arena;
} comm_keeper;

/* Cuts the collectives of `own` into n parts, which the caller made. */
status comm_resolve_split(const summary *own, summary **parts, uint32_t n, error *err) MUST_USE;

/* Which collectives are one. `all` holds the workers of the whole run, `comms` this
 * comm_keeper's collectives; both are settled and stay. */
status comm_keeper_open(comm_keeper *k, const summary *all, const summary *comms, arena *a,
                        error *err) MUST_USE;
/* Rows `sample`: how far the clocks of members are apart. */
status comm_keeper_samples(const comm_keeper *k, summary *out, error *err) MUST_USE;
/* With the clocks: `moved` for the owners; arrival, group, member, blame, fact into `out`. */
status comm_keeper_resolve(comm_keeper *k, const summary *clocks, summary *moved, summary *out,
                           error *err) MUST_USE;

/* Rows sync, step_sync and call of the workers in `own`, which is settled and then loses its
 * collectives. */
status comm_owner_finish(summary *own, const summary *moved, arena *a, error *err) MUST_USE;

/* The rows of `arrival` there may be; those that cost most stay. */
#define COMM_RESOLVE_ARRIVALS 65536
status comm_resolve_trim(summary *s, error *err) MUST_USE;

/* All of it at once, for one process. */
status comm_resolve_all(summary *s, arena *a, error *err) MUST_USE;

#endif
