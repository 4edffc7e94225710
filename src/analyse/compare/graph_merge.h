/* graph_merge.h: nodes of graphs of two trees, paired by their order. */
#ifndef ANALYSE_GRAPH_MERGE_H
#define ANALYSE_GRAPH_MERGE_H

#include "analyse/compare/call_tree.h"

/* there: by node of `from` its node of `into`, filled in for all that are not of a graph; those
 * of graphs are filled in here, and nodes that `into` lacks are added to it. */
status graph_merge(call_tree *into, const call_tree *from, uint32_t *there, arena *scratch,
                   error *err) MUST_USE;

#endif
