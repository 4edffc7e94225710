/* ranks_replay.h: when everything would have happened on all ranks of a job.
 *
 * Each rank is replayed on its own graph (why_replay.h), as far as it gets: up to what waits
 * for a collective to which not all ranks have come. Then it is the others' turn. A member
 * leaves a collective when the last one that it waited for has come and the data is there. */
#ifndef ANALYSE_RANKS_REPLAY_H
#define ANALYSE_RANKS_REPLAY_H

#include "analyse/job/job_graph.h"
#include "analyse/replay/why_replay.h"

/* What a change does that is not about the events of a rank. */
typedef struct {
    bool no_bubbles;  /* transfers from one to one do not wait */
    bool fast_groups; /* groups and links with slow transfers are as fast as others */
} job_scope;

typedef struct ranks_replay ranks_replay;

typedef struct {
    ranks_replay *all;
    uint32_t rank;
} job_player;

struct ranks_replay {
    const job_graph *jg;
    const job *job;
    scenario *scenarios;           /* by rank, each with the same changes */
    job_scope scope[MOST_CHANGES]; /* by change */
    uint32_t n_changes;
    why_replay *ranks;
    why_meets *meets;
    job_player *players;
    int64_t *came;   /* by member, on the job's clock */
    double *factor;  /* by member: of what moving its data takes */
    uint32_t *count; /* by meeting: how many have come */
    double *slow; /* by meeting: of transfers as fast as others', of slow ones; 1: it is not */
    uint64_t on;
    int64_t *start, *end; /* by step of the job */
};

/* The scenarios are matched. Allocates in `a`. */
status ranks_replay_init(ranks_replay *r, arena *a, error *err) MUST_USE;
/* Bits of the changes that apply; 0: as recorded. */
void ranks_replay_run(ranks_replay *r, uint64_t changes);

#endif
