/* tensor_core.h: which kernels use matrix cores (Tensor Cores, MFMA units, XMX, the cube) and
 * which operators could. Both are estimates from names and recorded types: no producer records
 * the instruction mix. */
#ifndef ANALYSE_TENSOR_CORE_H
#define ANALYSE_TENSOR_CORE_H

#include "analyse/lexicon.h"

/* By the kernel's name alone: MATRIX_YES, MATRIX_NO or MATRIX_UNKNOWN. */
matrix_use tensor_core_kernel(str name);
/* By the operator's name: can its work run on matrix cores? */
bool tensor_core_op(str name);

typedef struct {
    const trace *t;
    lexicon lexicon;
    uint8_t *op; /* 0 not looked at, 1 no, 2 yes; by string id */
} tensor_core_names;

status tensor_core_init(tensor_core_names *n, const trace *t, arena *a, error *err) MUST_USE;
/* For a row of table kernel: by its name and the types of its operator's inputs. */
matrix_use tensor_core_work(tensor_core_names *n, uint32_t kernel);
/* Is it known to be a matrix product, convolution or attention that stays off the matrix cores
 * because of its wide data type? One that computes in 16 bits already gains nothing by a
 * narrower type. */
bool tensor_core_missed(tensor_core_names *n, uint32_t kernel);
/* A product that runs on them in float32, rounded to TF32, as its name says. */
bool tensor_core_is_tf32(tensor_core_names *n, uint32_t kernel);
/* May it use them, as far as is known: yes, or a product of which its name does not tell? A
 * kernel whose name says nothing at all is assumed not to. */
bool tensor_core_possible(tensor_core_names *n, uint32_t kernel);
/* Share of the time on matrix cores; NaN when more than a tenth of it is in kernels of which it
 * is not known. */
double tensor_core_share(int64_t used_ns, int64_t unsure_ns, int64_t all_ns);
bool tensor_core_op_id(tensor_core_names *n, uint32_t name);

#endif
