/* pipe_view.h: an input pipeline as its users see it: operators that have a queue, in order
 * from the consumer to the sources, how full their queues were, and which of them is slow.
 *
 * Operators without a queue of their own run inside their parent and are left out; their
 * children are then the parent's. Operator 0 is the root and stays, with or without a queue. */
#ifndef ANALYSE_PIPE_VIEW_H
#define ANALYSE_PIPE_VIEW_H

#include "store/trace.h"
#include "table/table.h"

typedef enum {
    SLOW_NOT = 0,
    SLOW_BEHIND_CHILD, /* its child's queue is fuller than its own by more than a tenth */
    SLOW_SOURCE,       /* a source that does not keep its queue filled */
    SLOW_CONSUMER,     /* all queues are full: the consumer of the pipeline is the slow one */
} pipe_slow;

typedef struct {
    uint32_t row;    /* of table pipe_op */
    uint32_t parent; /* index of the operator it feeds, UINT32_MAX = none */
    uint32_t n_children, first_child, next_sibling; /* indices; UINT32_MAX = none */
    str name;                                       /* Type_id */
    double mean, usage, empty_share;                /* NaN: no queue */
    double cpu; /* mean user and system use, percent of one processor; NaN: not recorded */
    int64_t n_samples;
    pipe_slow slow;
} pipe_item;

typedef struct {
    pipe_item *v; /* breadth first from the root */
    uint32_t n;
} pipe_view;

typedef struct {
    double high, low; /* usage from which all are full; below which a source is slow */
} pipe_thresholds;

status pipe_view_make(const trace *t, pipe_thresholds limits, arena *a, pipe_view *out,
                      error *err) MUST_USE;
/* Batches of a queue (pipe_role): how many, how many found it empty, how many found it full. */
typedef struct {
    int64_t batches, empty, full;
} queue_counts;
queue_counts queue_count(const trace *t, uint8_t role);
/* Fills a table with the columns of `flow` of the analysis pipeline: where the bottleneck may
 * be. */
status pipeline_flow_write(const trace *t, table *out, error *err) MUST_USE;
/* The table `findings` of the analysis pipeline: the rules of pipe_rules.c. */
status pipe_rules_write(const trace *t, const pipe_view *v, arena *a, answer *out,
                        error *err) MUST_USE;

#endif
