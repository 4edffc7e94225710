/* matched.h: what both runs do in a node, and how much faster or slower a host is. */
#ifndef ANALYSE_MATCHED_H
#define ANALYSE_MATCHED_H

#include "analyse/compare/sides.h"

/* Means of a step, in ns, at as many calls as the side with fewer makes. */
typedef struct {
    double device[N_SIDES], host[N_SIDES], gap[N_SIDES];
    double device_variance[N_SIDES], host_variance[N_SIDES]; /* of the means of all its calls */
    double share[N_SIDES]; /* of the calls of a run, those that both make */
} matched;

matched node_match(const compared_side sides[N_SIDES], const call_node *n);
/* Does one side call it more often? */
bool node_is_changed(const compared_side sides[N_SIDES], const call_node *n);
/* The variance of the number of its calls in a mean step of a side. */
double node_calls_variance(const compared_side *s, const node_cost *c);
/* Time of the second side's host over the first one's, for the same calls: the median of the
 * ratios of all nodes, each weighted with its time. */
status host_ratio_find(const call_tree *tree, const compared_side sides[N_SIDES], arena *a,
                       double *out, error *err) MUST_USE;

/* At least 1: a divisor. */
static inline double side_steps(const compared_side *s) {
    return s->n_steps ? s->n_steps : 1;
}

#endif
