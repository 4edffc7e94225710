/* tensor_core.c: which kernels use matrix cores and which operators could.
 *
 * Kernels are looked up in the lexicon. Operators are matched by their whole name; autograd
 * nodes with and without the digit that newer versions append.
 *
 * It does not read instruction counts: the answer is an estimate and is labeled as one. */
#include "analyse/operators/tensor_core.h"

#include "analyse/lexicon.h"

#include <math.h>

#include "base/num.h"

matrix_use tensor_core_kernel(str name) {
    uint8_t matrix = lexicon_kernel(name).matrix;
    return matrix == MATRIX_YES || matrix == MATRIX_NO ? (matrix_use)matrix : MATRIX_UNKNOWN;
}

bool tensor_core_op(str name) {
    if (name.n && name.p[name.n - 1] == '0' &&
        str_ends(str_n(name.p, name.n - 1), STR("Backward")))
        name.n--;
    return lexicon_means(name, MEANS_MATRIX_OP);
}

status tensor_core_init(tensor_core_names *n, const trace *t, arena *a, error *err) {
    uint8_t *op = ARENA_ARRAY(a, uint8_t, (size_t)t->n_strings + 1);
    if (!op) FAIL_MEMORY(err);
    *n = (tensor_core_names){.t = t, .op = op};
    return lexicon_init(&n->lexicon, t, a, err);
}

matrix_use tensor_core_work(tensor_core_names *n, uint32_t kernel) {
    return (matrix_use)lexicon_kernel_row(&n->lexicon, kernel).matrix;
}

static bool is_product(lexicon_entry e) {
    return e.class == CLASS_GEMM || e.class == CLASS_CONVOLUTION ||
           e.class == CLASS_ATTENTION || e.class == CLASS_MOE;
}

bool tensor_core_possible(tensor_core_names *n, uint32_t kernel) {
    lexicon_entry e = lexicon_kernel_row(&n->lexicon, kernel);
    return e.matrix == MATRIX_YES || (e.matrix == MATRIX_UNKNOWN && is_product(e));
}

bool tensor_core_missed(tensor_core_names *n, uint32_t kernel) {
    lexicon_entry e = lexicon_kernel_row(&n->lexicon, kernel);
    return is_product(e) && e.matrix == MATRIX_NO && !lexicon_is_narrow(e.type) &&
           e.type != DTYPE_FP64;
}

bool tensor_core_is_tf32(tensor_core_names *n, uint32_t kernel) {
    lexicon_entry e = lexicon_kernel_row(&n->lexicon, kernel);
    return is_product(e) && e.matrix == MATRIX_YES && e.type == DTYPE_TF32;
}

double tensor_core_share(int64_t used_ns, int64_t unsure_ns, int64_t all_ns) {
    if (all_ns <= 0) return 0;
    if ((double)unsure_ns > 0.1 * (double)all_ns) return NAN;
    return (double)used_ns / (double)all_ns;
}

bool tensor_core_op_id(tensor_core_names *n, uint32_t name) {
    if (name >= n->t->n_strings) return false;
    if (!n->op[name]) n->op[name] = tensor_core_op(trace_str(n->t, name)) ? 2 : 1;
    return n->op[name] == 2;
}
