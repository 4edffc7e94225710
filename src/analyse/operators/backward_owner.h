/* backward_owner.h: which module a piece of backward work belongs to.
 *
 * The autograd engine runs one node after the other (`autograd::engine::evaluate_function:
 * …`), on its own thread or on the caller's. Arrows from forward to backward ops say which
 * forward op a node undoes; the innermost module around that op owns the node. Gradient
 * accumulation carries no arrow and belongs to the node before it. Where there are no arrows,
 * the sequence numbers of operators say the same of the forward operator. */
#ifndef ANALYSE_BACKWARD_OWNER_H
#define ANALYSE_BACKWARD_OWNER_H

#include "analyse/select.h"

typedef struct {
    uint32_t slice;       /* the engine's node */
    uint32_t module_call; /* row of table module_call, 0 = not known */
    uint32_t forward;     /* the matching forward operator, 0 = not known */
    int64_t ns, device;   /* host time; Σ device work launched inside; inside the selection */
} backward_node;

typedef struct {
    backward_node *v; /* by slice */
    uint32_t n;
} backward_nodes;

status backward_find(const trace *t, const selection *s, arena *a, backward_nodes *out,
                     error *err) MUST_USE;

#endif
