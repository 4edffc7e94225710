/* causes.h: what made a step of the second run longer or shorter than one of the first.
 *
 * The cost of every node (step_owners.h) is cut in two. Calls that one run makes more often are
 * work that was added or removed, at the cost of a call there. In the calls that both make, the
 * device's part changes because the shapes, the kernels or only their times changed. Most of
 * the host's part changes by the same factor for all calls, because a machine is faster or
 * busier than another: the weighted median of all ratios is `host_speed`, which is never
 * certain. What a call changes beyond that, by 4 % of a step and four times its own spread, is
 * a separate cause. Calls of the allocator are memory, however many there are. Where one run
 * replays kernels as a graph, its operators are missing: then the host's part is how kernels
 * are launched, the device's part is about the kernels themselves. All causes and what is left
 * over add up to the change of the mean step. */
#ifndef ANALYSE_CAUSES_H
#define ANALYSE_CAUSES_H

#include <math.h>

#include "analyse/compare/sides.h"

typedef enum {
    CHANGE_WORK_ADDED,
    CHANGE_WORK_REMOVED,
    CHANGE_WORK_REPLACED,
    CHANGE_SHAPES,
    CHANGE_OTHER_KERNELS,
    CHANGE_KERNEL_TIME,
    CHANGE_GRAPH,
    CHANGE_COMMUNICATION,
    CHANGE_SYNCHRONIZATION,
    CHANGE_DATA_WAIT,
    CHANGE_MEMORY,
    CHANGE_HOST_GAP,
    CHANGE_HOST_CALL,
    CHANGE_HOST_SPEED,
    N_CHANGES
} change_kind;

/* Times are means of a step, in ns. */
typedef struct {
    change_kind kind;
    uint32_t where; /* node in which it happens; 0: at the top, or everywhere */
    double ns[N_SIDES];
    double variance; /* of their difference */
    uint32_t most;   /* the node with the largest part of it */
    uint32_t tops;   /* of other work: outermost calls that changed */
    double most_ns;
    double device_ns[N_SIDES], device_variance; /* of other work: the device's part */
    double calls[N_SIDES], kernels[N_SIDES], replayed[N_SIDES];
    uint32_t slowest[N_SIDES], worker[N_SIDES]; /* slices, and the workers they are of */
    bool certain;
} change_cause;

typedef struct {
    change_cause *v; /* certain ones first, then by size */
    uint32_t n;
    bool in_common;    /* some operator or kernel is in both runs */
    bool spread_known; /* steps or runs enough to tell what is chance */
    double sure;       /* spreads beyond which a cause is certain */
    double host_ratio; /* time of the second run's host over the first one's, same calls */
    double compared, reshaped; /* calls with shapes in both runs; of those with other ones */
    double factor; /* most of those are this many times as large; NaN: they differ otherwise */
    int64_t
        batch[N_SIDES]; /* first dimension that grew by this factor, the smallest; 0: none */
} change_causes;

status causes_make(const call_tree *tree, const compared_side sides[N_SIDES], arena *a,
                   change_causes *out, error *err) MUST_USE;

/* How far its size is unsure: what is less than this may be chance. */
static inline double cause_spread(const change_causes *all, const change_cause *c) {
    return all->sure * sqrt(c->variance);
}
static inline double cause_ns(const change_cause *c) {
    return c->ns[SIDE_B] - c->ns[SIDE_A];
}

#endif
