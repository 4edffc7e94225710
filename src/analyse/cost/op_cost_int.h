/* op_cost_int.h: what the formulas of the files op_cost*.c share. */
#ifndef ANALYSE_OP_COST_INT_H
#define ANALYSE_OP_COST_INT_H

#include "analyse/cost/op_cost.h"
#include "analyse/operators/op_args.h"

/* A row of op_cost.def, for the current call. */
typedef struct {
    const op_args *in;
    const int8_t *p; /* the five numbers of the row */
    str name;
    bool in_place;
} cost_call;

typedef void cost_formula(const cost_call *c, op_cost *out);

enum { HEADS_FIRST, LENGTH_FIRST };
enum { SAME, BOOL };

static inline const op_arg *cost_tensor(const cost_call *c, int i) {
    return op_args_tensor(c->in, c->p[i]);
}
static inline double tensor_bytes(const op_arg *a) {
    return a->elements > 0 ? a->elements * a->item_bytes : 0;
}
/* Bytes of all tensors, each once; NaN when a type is not known. */
double cost_all_bytes(const op_args *in);

/* Is the last tensor the one to write the result to? `inputs`: how many the operator takes;
 * below 1: not known, none. */
bool cost_has_result(const op_args *in, int inputs);

/* op_cost_product.c: matrix products, convolutions, attention. */
cost_formula cost_PRODUCT, cost_LINEAR, cost_GROUPED, cost_CONVOLUTION, cost_TRANSPOSED,
    cost_EITHER, cost_CONVOLUTION_BACK, cost_ATTENTION, cost_ATTENTION_BACK;

/* The matrices of a product, at any place: the first two inputs that fit together. */
void cost_any_product(const op_args *in, op_cost *out);
/* Operations for each element of the operator `aten::word`; 0 if it has none. */
int cost_each(str word);
/* op_cost_fused.c: a kernel of a compiler that holds several operators, by its name. false when
 * it is not one. */
bool cost_fused(str name, const op_args *in, op_cost *out);

#endif
