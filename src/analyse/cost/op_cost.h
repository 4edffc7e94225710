/* op_cost.h: what one call of an operator must compute and move: floating-point operations and
 * bytes, from the shapes, types and values of its inputs (op_cost.def). A multiply-add counts
 * as two. Bytes are those of every input read once and every result written once: what a
 * perfect cache would leave.
 *
 * An estimate of the work, not of what a kernel does: no profiler counts it. */
#ifndef ANALYSE_OP_COST_H
#define ANALYSE_OP_COST_H

#include "analyse/lexicon.h"

typedef struct {
    double flops; /* NaN: not known */
    /* of them, those that compute again what the forward pass had: no work of the model */
    double repeated;
    double bytes; /* NaN: not known */
    uint8_t type; /* kernel_type of the inputs */
    bool matrix;  /* a product: matrix cores can do it */
} op_cost;

/* Texts as in table op; inputs may be empty. */
op_cost op_cost_of(str name, str shapes, str types, str inputs);

/* Is there a formula for operators of this name? */
bool op_cost_has(str name);

static inline bool op_cost_known(const op_cost *c) {
    return c->flops == c->flops || c->bytes == c->bytes;
}

#endif
