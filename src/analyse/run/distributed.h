/* distributed.h: what the two halves of `distributed` share. */
#ifndef ANALYSE_DISTRIBUTED_H
#define ANALYSE_DISTRIBUTED_H

#include "analyse/run/culprit.h"
#include "analyse/run/run_summary.h"
#include "analyse/run/stragglers.h"

/* Of one worker, over all its steps. */
typedef struct {
    int64_t steps, whole; /* all, and those that count in averages (untraced_steps.h) */
    int64_t part[4];      /* computation, both, communication, neither */
    int64_t transfer, waiting;
    int64_t caused; /* of the waiting of all: what is put down to it */
    int64_t last;   /* collectives it was the last to join */
} worker_sums;

typedef struct {
    const params *params;
    const summary *s;
    worker_order who;
    comm_groups groups;
    stragglers late;
    culprit culprit;
    worker_sums *sums;   /* by worker */
    bool without_device; /* no trace has device work */
    arena *arena;
    answer *out;
} run_question;

/* Tables chain, lanes. */
status chain_write(run_question *q, error *err) MUST_USE;

/* Tables heat_map, stragglers, hosts, slow_steps, groups, links, clocks, what_if; notes. */
status distributed_compare(run_question *q, error *err) MUST_USE;

#endif
