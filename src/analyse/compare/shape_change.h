/* shape_change.h: calls with other input shapes, and by which factor they are larger. */
#ifndef ANALYSE_SHAPE_CHANGE_H
#define ANALYSE_SHAPE_CHANGE_H

#include "analyse/compare/causes.h"

/* Do two sums over all steps differ, whose sides have different numbers of steps? */
bool node_sums_differ(const compared_side sides[N_SIDES], uint64_t a, uint64_t b);
/* Does a node that both call as often have other shapes? */
bool node_is_reshaped(const compared_side sides[N_SIDES], const call_node *n);
/* Fills compared, reshaped and factor. */
void shapes_compare(const call_tree *tree, const compared_side sides[N_SIDES],
                    change_causes *out);

#endif
