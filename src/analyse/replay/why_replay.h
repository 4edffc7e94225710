/* why_replay.h: when everything would have happened, with some changes of a scenario.
 *
 * Without a change the replay gives the recorded times: what a node waited for is in the graph,
 * and how long it took after that is its own. */
#ifndef ANALYSE_WHY_REPLAY_H
#define ANALYSE_WHY_REPLAY_H

#include "analyse/replay/scenario.h"

/* Where the ranks of a job meet (why/ranks_replay.c): when a collective ends depends on all of
 * its members, so the replay of all ranks provides it. Members are numbered from 1; 0: none. */
typedef struct {
    const uint32_t *of_work;   /* by work that waits for the other ranks */
    const uint32_t *of_before; /* by point: the member that comes when it ends */
    const uint32_t *of_after;  /* by point: the member whose transfer it begins after */
    /* A member comes; `factor` of what moving its data takes, 0: there is nothing to move. */
    void (*came)(void *context, uint32_t member, int64_t time, double factor);
    /* When it leaves; false: not all have come yet. */
    bool (*left)(void *context, uint32_t member, int64_t *time);
    void *context;
} why_meets;

/* What is different in this replay, and how far it has come. */
typedef struct {
    uint64_t on;
    uint64_t own;     /* changes that give each work a separate time */
    uint64_t overlap; /* changes that hide communication */
    bool graph, no_launch, no_sync, unprofiled, no_meeting;
    double base; /* of host time that no stretch covers */
    uint32_t at; /* the next event */
} why_playing;

typedef struct {
    const scenario *s;
    const why_meets *meets; /* NULL: of one rank alone */
    double recording;       /* times the estimated cost of recording; 1 */
    why_playing how;        /* private */
    int64_t *begin, *end;   /* by point */
    int64_t *work_end;      /* by row of table kernel */
    int64_t *changed;       /* by stretch: host time gained or lost before it on its thread */
    int64_t *step_start, *step_end;
    int64_t *network_ns, *stream_ns; /* by step: its communication; of the stream looked at */
} why_replay;

/* What recording cost is known within these, times its estimate (profiler_cost.c). */
#define RECORDING_LEAST (0.30 / 0.51)
#define RECORDING_MOST (0.69 / 0.51)

/* Room for replays of this scenario, one after the other. */
status why_replay_init(why_replay *r, const scenario *s, arena *a, error *err) MUST_USE;
/* Bits of the changes that apply; 0: as recorded. */
void why_replay_run(why_replay *r, uint64_t changes);
/* The same in parts, of a rank that meets others: play until it returns true; false: it waits
 * for a collective whose end is not known yet. */
void why_replay_start(why_replay *r, uint64_t changes);
bool why_replay_play(why_replay *r);
void why_replay_finish(why_replay *r);
#define ALL_CHANGES UINT64_MAX

static inline int64_t why_replay_step_ns(const why_replay *r, uint32_t step) {
    return sub_i64(r->step_end[step], r->step_start[step]);
}

#endif
