/* op_args.h: the inputs of one call of an operator, read out of the JSON texts a profiler
 * wrote: shapes, types and the values of what is not a tensor. */
#ifndef ANALYSE_OP_ARGS_H
#define ANALYSE_OP_ARGS_H

#include "base/str.h"

enum { OP_MOST_ARGS = 24, OP_MOST_DIMS = 8, OP_MOST_VALUES = 8 };

typedef struct {
    bool tensor; /* a tensor, or a list of them */
    bool list;   /* a list of tensors: elements is their sum, there are no dimensions */
    int rank;    /* 0: a tensor of one value */
    int64_t dim[OP_MOST_DIMS];
    double elements;
    double item_bytes; /* bytes of one element; NaN when the type is not known */
    str type;          /* as it is written, without quotes */
    str value; /* of what is not a tensor: "[2, 2]", "True"; STR_NONE when not recorded */
} op_arg;

typedef struct {
    op_arg arg[OP_MOST_ARGS];
    int n;
} op_args;

/* false when shapes is not a list of shapes or a size in it cannot be. Inputs after the first
 * OP_MOST_ARGS are left out. types and inputs may be empty. */
bool op_args_read(str shapes, str types, str inputs, op_args *out);

/* Input i if it is one tensor, else NULL. */
const op_arg *op_args_tensor(const op_args *in, int i);
/* The whole numbers of input i, "[1, 2]" or "3": how many; 0 when it was not recorded. */
int op_args_numbers(const op_args *in, int i, int64_t out[OP_MOST_VALUES]);
/* Is input i "True"? */
bool op_args_true(const op_args *in, int i);

/* Bytes of one element of a type as PyTorch and we write it ("float", "c10::BFloat16"); NaN for
 * others. */
double op_type_bytes(str type);

#endif
