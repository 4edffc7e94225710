/* producer_ops.h: operators, types and kernels a producer had added up itself (table
 * producer_op). */
#ifndef ANALYSE_PRODUCER_OPS_H
#define ANALYSE_PRODUCER_OPS_H

#include "analyse/analysis.h"
#include "analyse/vendor/top_list.h"

/* Are there given operators of any level but kernels? */
bool producer_ops_are_there(const trace *t);
/* Fills the table `operators`, grouped by name, type or sub-graph, most total time first. */
status producer_ops_write(table *out, const trace *t, group_by group, error *err) MUST_USE;
/* Fills the table `kernels`. */
status producer_kernels_write(table *out, const trace *t, error *err) MUST_USE;
/* The given types (or the types of the given operators) for a chart. */
status producer_types_list(const trace *t, arena *a, top_item **items, size_t *n,
                           error *err) MUST_USE;

/* Names of compiled graphs: Default/net-Net/conv1-Conv2d/Conv2D-op12. */
bool graph_name_is(str name);
str graph_name_short(str name);
str graph_name_type(str name);
/* The first part of the path; empty when there is none. */
str graph_name_subgraph(str name);

#endif
