/* op_verdict.h: which operator costs most, and what is odd about it. */
#ifndef ANALYSE_OP_VERDICT_H
#define ANALYSE_OP_VERDICT_H

#include "analyse/operators/matmul_shapes.h"
#include "analyse/rules.h"

typedef struct {
    uint32_t n_rows;
    bool has_device;
    str top; /* operator with the largest share */
    double top_share;
    int64_t top_calls; /* ABSENT_I64: not counted */
    str alone;         /* device work of no operator with the largest share; empty: none */
    double alone_share;
    bool has_odd; /* of the top operator */
    matmul_odd odd;
    double missed_share; /* of device time in kernels that could use Tensor Cores and do not */
    double tensor_share; /* of device time in kernels that do */
    str matrix_unit;     /* what the device calls them */
    int32_t compute_major; /* ABSENT_I32 when unknown */
} op_facts;

void op_judge(const op_facts *facts, verdict *out);

#endif
