/* unprofiled_step.h: how long a step would take without the profiler.
 *
 * Recording slows the host down, so a program that waits for its host is slower in the trace
 * than it is. The estimate is the replay without the cost of recording (profiler_cost.c), the
 * number that `whatif --unprofiled` shows; every estimate of what a change would save is about
 * this step. */
#ifndef ANALYSE_UNPROFILED_STEP_H
#define ANALYSE_UNPROFILED_STEP_H

#include "analyse/replay/scenario.h"

typedef struct {
    bool known;   /* the trace can be replayed without that cost; false: the rest is 0 */
    bool sound;   /* and it can be used: of several steps, and they would be shorter */
    bool is_mean; /* the next four are means, because the steps differ; else medians */
    int64_t recorded_ns, step_ns, least_ns, most_ns;
    int64_t recorded_mean_ns, mean_ns; /* over all steps: recorded, without the cost */
    /* What a saving is part of: step_ns, or the mean where a few steps of another length, which
     * are as much the program's as the others, take it elsewhere. */
    int64_t average_ns;
    recording_cost
        cost; /* for other replays of the same graph; valid until the arena is reset */
} unprofiled_step;

/* What finding it reads; for trace_require. */
#define UNPROFILED_TABLES (WHY_TABLES | TRACE_TABLE(memory))

/* Can it be known of this trace? Recordings of other profilers cost something else. */
bool unprofiled_step_applies(const trace *t);

/* `steps` are those of the graph. Not known: no launches or slow ones, work whose launch is not
 * known, a replay that does not give the recorded times. */
status unprofiled_step_find(const why_graph *g, const step_spans *steps, arena *a,
                            unprofiled_step *out, error *err) MUST_USE;

/* A sentence of the answer, if the estimate is sound; `savings`: that savings are part of this
 * step. */
status unprofiled_step_note(const unprofiled_step *u, bool savings, arena *a, answer *out,
                            error *err) MUST_USE;

/* The same for an answer that has no graph of these steps. */
status unprofiled_step_tell(const trace *t, const step_spans *steps, arena *a, answer *out,
                            error *err) MUST_USE;

#endif
