/* why_replay.h: when everything would have happened, with some changes of a scenario.
 *
 * Without a change the replay gives the recorded times: what a node waited for is in the graph,
 * and how long it took after that is its own. */
#ifndef ANALYSE_WHY_REPLAY_H
#define ANALYSE_WHY_REPLAY_H

#include "analyse/replay/scenario.h"

typedef struct {
    const scenario *s;
    int64_t *begin, *end; /* by point */
    int64_t *work_end;    /* by row of table kernel */
    int64_t *changed;     /* by stretch: host time gained or lost before it on its thread */
    int64_t *step_start, *step_end;
    int64_t *network_ns, *stream_ns; /* by step: its communication; of the stream looked at */
} why_replay;

/* Room for replays of this scenario, one after the other. */
status why_replay_init(why_replay *r, const scenario *s, arena *a, error *err) MUST_USE;
/* Bits of the changes that apply; 0: as recorded. */
void why_replay_run(why_replay *r, uint64_t changes);
#define ALL_CHANGES UINT64_MAX

static inline int64_t why_replay_step_ns(const why_replay *r, uint32_t step) {
    return sub_i64(r->step_end[step], r->step_start[step]);
}

#endif
