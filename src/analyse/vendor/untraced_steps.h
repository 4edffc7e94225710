/* untraced_steps.h: steps of which nothing but the producer's step trace is known.
 *
 * MindSpore times forward + backward, the tail and the collectives of every step on the device,
 * and records the device's tasks of some steps or of none. For a step without tasks it is not
 * known when the device computed, so it is also unknown when it was idle and which part of a
 * collective between the start of forward and the end of backward overlapped with computation.
 * Only what is outside counts as communication, as in the analysis steps; the total is shown
 * next to it. */
#ifndef ANALYSE_UNTRACED_STEPS_H
#define ANALYSE_UNTRACED_STEPS_H

#include "analyse/device/breakdown.h"
#include "store/summary.h"

typedef struct {
    bool *bare;                  /* by step */
    uint32_t n;                  /* how many are */
    int64_t comm_ns, outside_ns; /* of collectives in bare steps: all, and outside the passes */
} untraced_steps;

/* Does step i count in averages? Those whose work is recorded do; where there is none, all. */
static inline bool untraced_step_counts(const untraced_steps *b, const step_spans *steps,
                                        uint32_t i) {
    return !b->bare[i] || b->n == steps->n;
}
static inline uint32_t untraced_steps_counted(const untraced_steps *b,
                                              const step_spans *steps) {
    return b->n == steps->n ? steps->n : steps->n - b->n;
}
/* The same of a run's summary, where a worker may have no step of any length: one that recorded
 * no times. */
bool untraced_steps_are_all(const summary *s);
static inline bool untraced_row_counts(const summary_step *row, bool all_bare) {
    return all_bare ? row->end > row->start : row->bare != 1;
}

/* Takes communication that may be hidden in a bare step out of the ranges. Looks at the table
 * producer_step. */
status untraced_steps_find(const trace *t, const step_spans *steps, role_ranges *ranges,
                           untraced_steps *out, error *err) MUST_USE;

#endif
