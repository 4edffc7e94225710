/* tensor_core.c: which kernels use tensor cores and which operators could.
 *
 * A kernel's name carries the shape of the matrix instruction (h884 on Volta, 16816 on
 * Ampere, gmma on Hopper, …) or the family that is built on it (flash attention, nvjet). The
 * first table has parts of names that speak for tensor cores, the second those that speak
 * against them although a part of the first is there: CUTLASS and xmma also generate kernels
 * for plain FMA units and say so by `simt` or `ffma`. Triton's names say nothing about
 * tl.dot, except those of Inductor's matrix templates.
 *
 * Operators are matched by their whole name; autograd nodes with and without the digit that
 * newer versions append.
 *
 * It does not read instruction counts, and does not know the data type: the answer is an
 * estimate and is labeled as one. */
#include "analyse/tensor_core.h"

static const char *const kernel_parts[] = {
    /* the instruction: Volta, Turing, Ampere, integer and complex forms */
    "h884",
    "s884",
    "h1688",
    "s1688",
    "c1688",
    "hmma",
    "imma",
    "bmma",
    "dmma",
    "i8816",
    "16816",
    "161616",
    "16832",
    "i16832",
    "s161632",
    "d884",
    /* Hopper and Blackwell */
    "gmma",
    "tcgen05",
    "umma",
    "nvjet",
    "warpspecialized",
    "sm90_xmma",
    "sm100_xmma",
    /* cuDNN and TensorRT */
    "dgrad_1x1_stride_2x2",
    "first_layer_wgrad_kernel",
    "conv1x1",
    "conv2d_c1_k1",
    "direct_group",
    "xmma_implicit_gemm",
    "xmma_fprop_implicit_gemm",
    "xmma_dgrad_implicit_gemm",
    "xmma_wgrad_implicit_gemm",
    "xmma_sparse_conv",
    "xmma_warp_specialized_implicit_gemm",
    "xmma_gemm",
    "xmma_sparse_gemm",
    "cudnn_generated_fort_native_sdpa",
    /* CUTLASS */
    "tensorop",
    "TensorOp",
    "cutlass3x_sm90",
    "cutlass3x_sm100",
    /* attention */
    "flash_fwd",
    "flash_bwd",
    "FlashAttnFwd",
    "FlashAttnBwd",
    "fmha_",
    /* Triton: Inductor's templates around tl.dot */
    "triton_tem_fused",
};

static const char *const kernel_parts_against[] = {
    "simt", "ffma", "flash_bwd_dot_do_o", "flash_bwd_convert_dq", "flash_fwd_splitkv_combine"};

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

#define N_OF(array) (sizeof(array) / sizeof *(array))

static bool has_part(str name, const char *const *parts, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (str_find(name, str_of(parts[i]), 0) != SIZE_MAX) return true;
    return false;
}

bool tensor_core_kernel(str name) {
    return has_part(name, kernel_parts, N_OF(kernel_parts)) &&
           !has_part(name, kernel_parts_against, N_OF(kernel_parts_against));
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
    uint8_t *kernel = ARENA_ARRAY(a, uint8_t, (size_t)t->n_strings + 1);
    uint8_t *op = ARENA_ARRAY(a, uint8_t, (size_t)t->n_strings + 1);
    if (!kernel || !op) FAIL_MEMORY(err);
    *n = (tensor_core_names){.t = t, .kernel = kernel, .op = op};
    return OK;
}

bool tensor_core_kernel_id(tensor_core_names *n, uint32_t name) {
    if (name >= n->t->n_strings) return false;
    if (!n->kernel[name]) n->kernel[name] = tensor_core_kernel(trace_str(n->t, name)) ? 2 : 1;
    return n->kernel[name] == 2;
}

bool tensor_core_op_id(tensor_core_names *n, uint32_t name) {
    if (name >= n->t->n_strings) return false;
    if (!n->op[name]) n->op[name] = tensor_core_op(trace_str(n->t, name)) ? 2 : 1;
    return n->op[name] == 2;
}
