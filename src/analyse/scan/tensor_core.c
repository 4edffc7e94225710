/* tensor_core.c: which kernels use matrix cores and which operators could.
 *
 * Kernels are looked up in the lexicon. Operators are matched by their whole name; autograd nodes
 * with and without the digit that newer versions append.
 *
 * It does not read instruction counts: the answer is an estimate and is labeled as one. */
#include "analyse/scan/tensor_core.h"

#include <math.h>

#include "base/num.h"

static const char *const op_names[] = {
    "aten::_convolution",
    "aten::conv1d",
    "aten::conv2d",
    "aten::conv3d",
    "aten::conv_tbc",
    "aten::conv_transpose1d",
    "aten::conv_transpose2d",
    "aten::conv_transpose3d",
    "aten::convolution",
    "aten::convolution_backward",
    "aten::convolution_overrideable",
    "aten::cudnn_convolution",
    "aten::cudnn_convolution_relu",
    "aten::cudnn_convolution_add_relu",
    "aten::cudnn_convolution_transpose",
    "aten::cudnn_convolution_backward",
    "aten::cudnn_convolution_backward_input",
    "aten::cudnn_convolution_backward_weight",
    "aten::cudnn_convolution_transpose_backward",
    "aten::cudnn_convolution_transpose_backward_input",
    "aten::cudnn_convolution_transpose_backward_weight",
    "aten::miopen_convolution",
    "aten::prelu",
    "aten::addmm",
    "aten::addmm_",
    "aten::_addmm_activation",
    "aten::addmv",
    "aten::addr",
    "aten::matmul",
    "aten::matmul_backward",
    "aten::mm",
    "aten::mv",
    "aten::linear",
    "aten::linear_backward",
    "aten::addbmm",
    "aten::baddbmm",
    "aten::baddbmm_",
    "aten::bmm",
    "aten::chain_matmul",
    "aten::linalg_multi_dot",
    "aten::_scaled_mm",
    "aten::_int_mm",
    "aten::_grouped_mm",
    "aten::einsum",
    "aten::tensordot",
    "aten::_thnn_fused_lstm_cell",
    "aten::_thnn_fused_gru_cell",
    "aten::lstm_cell",
    "aten::gru_cell",
    "aten::rnn_tanh_cell",
    "aten::rnn_relu_cell",
    "aten::_cudnn_rnn",
    "aten::_cudnn_rnn_backward",
    "aten::scaled_dot_product_attention",
    "aten::_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_flash_attention_backward",
    "aten::_scaled_dot_product_efficient_attention",
    "aten::_scaled_dot_product_efficient_attention_backward",
    "aten::_scaled_dot_product_cudnn_attention",
    "aten::_scaled_dot_product_cudnn_attention_backward",
    "aten::_scaled_dot_product_attention_math",
    "aten::_flash_attention_forward",
    "aten::_flash_attention_backward",
    "aten::_efficient_attention_forward",
    "aten::_efficient_attention_backward",
    "aten::_cudnn_attention_forward",
    "aten::_cudnn_attention_backward",
    "CudnnConvolutionBackward",
    "CudnnConvolutionTransposeBackward",
    "ConvolutionBackward",
    "BmmBackward",
    "MmBackward",
    "MvBackward",
    "AddmvBackward",
    "AddmmBackward",
    "AddbmmBackward",
    "BaddbmmBackward",
    "LinearBackward",
    "ScaledDotProductFlashAttentionBackward",
    "ScaledDotProductEfficientAttentionBackward",
    "ScaledDotProductCudnnAttentionBackward",
};

matrix_use tensor_core_kernel(str name) {
    uint8_t matrix = lexicon_kernel(name).matrix;
    return matrix == MATRIX_YES || matrix == MATRIX_NO ? (matrix_use)matrix : MATRIX_UNKNOWN;
}

bool tensor_core_op(str name) {
    if (name.n && name.p[name.n - 1] == '0' &&
        str_ends(str_n(name.p, name.n - 1), STR("Backward")))
        name.n--;
    for (size_t i = 0; i < N_OF(op_names); i++)
        if (str_eq(name, str_of(op_names[i]))) return true;
    return false;
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
