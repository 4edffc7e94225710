/* slack.h: how much longer something may take before a step becomes longer.
 *
 * The critical path has none. The slack of everything else is what the graph (why_graph.h)
 * leaves between it and whatever follows it, down to the ends of the steps. */
#ifndef ANALYSE_SLACK_H
#define ANALYSE_SLACK_H

#include "analyse/replay/why_graph.h"

#define SLACK_NONE INT64_MAX /* no step waits for it */

typedef struct {
    int64_t *point_ns; /* by point: how much later it may begin */
    int64_t *work_ns;  /* by row of table kernel: how much later it may end */
} why_slack;

/* One pass from the last event to the first; allocates in `a`. */
status why_slack_find(const why_graph *g, arena *a, why_slack *out, error *err) MUST_USE;

/* The step that work belongs to, + 1: that of its launch, without a launch that of its start;
 * 0: none. */
uint32_t why_step_of_work(const why_graph *g, uint32_t k);

#endif
