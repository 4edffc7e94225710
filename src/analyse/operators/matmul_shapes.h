/* matmul_shapes.h: the shapes a matrix product was called with, and whether an odd one is
 * slow.
 *
 * Tensor Cores want dimensions that are multiples of 8. A dimension that is not costs a factor
 * that the trace itself can tell: the rate (operations per second of device time) of the calls
 * with such a dimension against that of the others. */
#ifndef ANALYSE_MATMUL_SHAPES_H
#define ANALYSE_MATMUL_SHAPES_H

#include "analyse/select.h"

typedef struct {
    int64_t batch, m, k, n;
} matmul_size;

/* Reads the sizes of A·B out of the JSON text of the input shapes: the first two inputs with
 * at least two dimensions whose inner dimensions agree. false when there are none. */
bool matmul_read(str shapes, matmul_size *out);
/* 2·batch·m·k·n. */
double matmul_flops(const matmul_size *s);
/* The largest dimension above 8 that is not a multiple of 8; 0 when there is none. */
int64_t matmul_odd_dimension(const matmul_size *s);

typedef struct {
    int64_t dimension; /* odd dimension of the shape that takes most time */
    double
        time_share;  /* device time of the calls with odd dimensions, of all calls of the op */
    double slowdown; /* rate of the even calls over the rate of the odd ones */
} matmul_odd;

/* Looks at all device work of ops of this name. false: nothing odd, or nothing to compare
 * with. */
bool matmul_find_odd(const selection *s, uint32_t op_name, arena *a, matmul_odd *out);

#endif
