/* changes.h: what of a step changed, and whether that is more than chance.
 *
 * The interval of a change comes from the steps of both runs, or, where there are several runs
 * of the first program, from how these differ. `certain` says that it is more than chance: the
 * interval excludes 0 and a time changes by at least half a percent. Two runs of one program
 * often differ by a fifth on the host, all steps of one being slower: so the times of the host,
 * and of the whole step, are certain only if several runs were given or causes that are certain
 * explain at least half of the change. A different workload (parity.h) is never certain: its
 * step is also given for the same amount of data, where the factor is known. */
#ifndef ANALYSE_CHANGES_H
#define ANALYSE_CHANGES_H

#include "analyse/compare/causes.h"

typedef enum {
    CHANGED_STEP,
    CHANGED_SAME_DATA, /* the step for as much data as the first run's, with a different
                          workload */
    CHANGED_DEVICE,
    CHANGED_HOST,
    CHANGED_LAUNCH,
    CHANGED_KERNELS,
    CHANGED_MEMORY,
    N_CHANGED
} changed;

/* A change of a time that is less of the first side than this is never certain. */
#define CHANGES_LEAST 0.005

/* What the interval says, and what it cannot say. */
typedef enum {
    CHANGE_UNKNOWN, /* too few steps or runs */
    CHANGE_NONE,
    CHANGE_CHANCE,     /* the interval includes 0 */
    CHANGE_SMALL,      /* it does not, but the change is less than CHANGES_LEAST */
    CHANGE_MACHINE,    /* it is real for these two runs, which are one run each */
    CHANGE_OTHER_WORK, /* real, of a different workload or a different program */
    CHANGE_CERTAIN
} change_judgment;

typedef struct {
    double of[N_SIDES]; /* means; NaN: not recorded */
    noise_change change;
    bool known; /* there are samples for the interval */
    change_judgment judgment;
} measured_change;

status changes_make(const compared_side sides[N_SIDES], const change_causes *causes, arena *a,
                    measured_change out[N_CHANGED], error *err) MUST_USE;
/* Rows of table `changes`. */
status changes_write(const measured_change v[N_CHANGED], table *out, error *err) MUST_USE;

static inline bool measured_is_certain(const measured_change *c) {
    return c->judgment == CHANGE_CERTAIN;
}
static inline double measured_ns(const measured_change *c) {
    return c->of[SIDE_B] - c->of[SIDE_A];
}

#endif
