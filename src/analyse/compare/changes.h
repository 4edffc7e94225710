/* changes.h: what of a step changed, and whether that is more than chance.
 *
 * The interval of a change comes from the steps of both runs, or, where there are several runs
 * of the first program, from how these differ. `certain` says that it is more than chance: the
 * interval excludes 0 and the change is at least half a percent. Two runs of one program often
 * differ by a fifth on the host, all steps of one being slower: so the times of the host, and
 * of the whole step, are certain only if several runs were given or causes that are certain
 * explain at least half of the change. */
#ifndef ANALYSE_CHANGES_H
#define ANALYSE_CHANGES_H

#include "analyse/compare/causes.h"

typedef enum {
    CHANGED_STEP,
    CHANGED_DEVICE,
    CHANGED_HOST,
    CHANGED_LAUNCH,
    CHANGED_KERNELS,
    CHANGED_MEMORY,
    N_CHANGED
} changed;

typedef struct {
    double of[N_SIDES]; /* means; NaN: not recorded */
    noise_change change;
    bool known, certain; /* known: there are samples for the interval */
} measured_change;

status changes_make(const compared_side sides[N_SIDES], const change_causes *causes, arena *a,
                    measured_change out[N_CHANGED], error *err) MUST_USE;
/* Rows of table `changes`. */
status changes_write(const measured_change v[N_CHANGED], table *out, error *err) MUST_USE;

static inline double measured_ns(const measured_change *c) {
    return c->of[SIDE_B] - c->of[SIDE_A];
}

#endif
