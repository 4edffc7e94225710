/* tensor_core.h: which kernels use tensor cores and which operators could. Both are
 * estimates from names: no producer records the instruction mix. */
#ifndef ANALYSE_TENSOR_CORE_H
#define ANALYSE_TENSOR_CORE_H

#include "base/arena.h"
#include "store/trace.h"

/* By the kernel's name: Volta to Blackwell; cuBLAS, CUTLASS, cuDNN, flash attention, Triton
 * dot. */
bool tensor_core_kernel(str name);
/* By the operator's name: can its work run on tensor cores? */
bool tensor_core_op(str name);

/* The same by string id, each name looked at once. */
typedef struct {
    const trace *t;
    uint8_t *kernel, *op; /* 0 unknown, 1 no, 2 yes; by string id */
} tensor_core_names;

status tensor_core_init(tensor_core_names *n, const trace *t, arena *a, error *err) MUST_USE;
bool tensor_core_kernel_id(tensor_core_names *n, uint32_t name);
bool tensor_core_op_id(tensor_core_names *n, uint32_t name);

#endif
