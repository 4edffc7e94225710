/* stragglers.h: which worker, host or step holds up the job, why, and what it costs.
 *
 * A worker's own time in a step is the step minus its waiting for others. Workers that do the
 * same (of one data-parallel group, else of one stage, else all) should need the same time for
 * it: the median of them is what is usual. A worker is late in a step when its own time is
 * longer than that by a twentieth of the step and by six times what is usual for differences
 * (the median distance from the median). A worker that is late in most steps is late in the
 * others by as much as they are longer, too: there only the others' differences were larger.
 * What a worker does before its first step while the others already wait in theirs belongs to
 * the step. The part of its own time that is longest beyond the usual names the cause:
 *
 *   compute   kernels, copies, memsets
 *   data      waiting for the data loader while the device did nothing
 *   memory    the driver's allocator, likewise
 *   network   exposed transfers
 *   host      anything else on the host while the device did nothing
 *
 * The job is as fast as the last worker: a step loses the time by which its latest worker is
 * late. When several are late at different moments of it, the others wait more than once: then
 * it loses, too, what they waited for the others of the late, as far as they were blocked. What
 * fixing one worker alone would gain is that minus the lateness of the second
 * latest. */
#ifndef ANALYSE_STRAGGLERS_H
#define ANALYSE_STRAGGLERS_H

#include "analyse/run/comm_groups.h"
#include "base/num.h"

typedef enum {
    LATE_COMPUTE,
    LATE_DATA,
    LATE_MEMORY,
    LATE_NETWORK,
    LATE_HOST,
    N_LATE
} late_cause;
str late_name(late_cause c);

/* One worker in one step. */
typedef struct {
    uint32_t worker; /* place in the roster */
    uint32_t step;   /* place in steps */
    int64_t start, total, computation, communication, transfer, waiting;
    int64_t exposed;      /* exposed communication */
    int64_t part[N_LATE]; /* of its own time */
    int64_t own, late;    /* late: beyond what is usual, 0 when it is not late */
    int64_t beyond;       /* what it is longer than usual, late or not */
    int64_t before;       /* of its own time: before the step */
    late_cause cause;
} step_cell;

/* How long it was blocked by the others. */
static inline int64_t step_cell_blocked(const step_cell *c) {
    return max_i64(0, sub_i64(c->total, sub_i64(c->own, c->before)));
}

/* A worker or a host that was late. */
typedef struct {
    uint32_t worker; /* or the first one of the host */
    str host;
    late_cause cause;
    uint32_t n_workers;
    int64_t steps;        /* in which it was late */
    int64_t late;         /* sum over them; of a host: of its latest worker */
    int64_t before;       /* of it: before the first step */
    uint32_t first, last; /* the first and the last of these steps, by place */
    int64_t every;        /* it is late in each so many-th step; 0: not so regular */
    int64_t cost;         /* what the job would gain without it */
} straggler;

typedef struct {
    int64_t number;
    int64_t total;  /* of the longest worker */
    int64_t usual;  /* the median of all */
    int64_t cost;   /* what the latest worker is late */
    int64_t hidden; /* median of exposed transfers */
    uint32_t who;   /* the latest worker, UINT32_MAX: none was late */
    late_cause cause;
} job_step;

typedef struct {
    step_cell *cells; /* by worker, then by step */
    uint32_t n_cells;
    job_step *steps; /* by number */
    uint32_t n_steps;
    straggler *ranks, *hosts; /* the most expensive first */
    uint32_t n_ranks, n_hosts;
} stragglers;

status stragglers_find(const summary *s, const worker_order *who, const comm_groups *all,
                       arena *a, stragglers *out, error *err) MUST_USE;

#endif
