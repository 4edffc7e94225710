/* changed_calls.h: the calls that one run makes more often than the other, from the outside. */
#ifndef ANALYSE_CHANGED_CALLS_H
#define ANALYSE_CHANGED_CALLS_H

#include "analyse/compare/sides.h"

/* By node. Calls of the allocator are not looked at. */
typedef struct {
    uint32_t *anchor; /* the innermost around it that did not change */
    uint32_t *top;    /* the outermost that changed: itself, or one around it; 0: none */
    uint8_t *inside;  /* something right inside it changed */
} changed_calls;

status changed_calls_find(const call_tree *tree, const compared_side sides[N_SIDES], arena *a,
                          changed_calls *out, error *err) MUST_USE;
/* What of a node's cost is of calls that the other run does not make: ns of a mean step. */
double changed_calls_ns(const compared_side sides[N_SIDES], const call_node *n, int side);

#endif
