"""Tensor Cores by name, written down a second time: the instruction or the family in a kernel's name."""

import re

USES = re.compile(
    r'h884|s884|[hsc]1688|i8816|16816|hmma|imma|gmma|nvjet|tensorop|tensor16x8x|xmma_(gemm|sparse|warp_spec)'
    r'|xmma_[a-z_]*implicit_gemm|flash_(fwd|bwd)|fmha|sm\d+_flash|_tf32|bf16bf16_|f16f16_'
    r'|dgrad_1x1_stride_2x2|first_layer_wgrad_kernel|conv1x1|conv2d_c1_k1|direct_group'
    r'|cutlass.*TensorOp|cutlass.*OpMultiplyAdd|cudnn_generated_fort_native_sdpa|triton_tem_')
PLAIN = re.compile(r'simt|ffma|Simt|init_device_workspace|splitK|SplitK|sgemm_\d')

# What the TensorBoard plugin knew in 2021.
KNOWN_2021 = ('h884 s884 h1688 s1688 hmma i8816 16816 dgrad_1x1_stride_2x2 first_layer_wgrad_kernel conv1x1 '
              'conv2d_c1_k1 direct_group xmma_implicit_gemm xmma_sparse_conv xmma_warp_specialized_implicit_gemm '
              'xmma_gemm xmma_sparse_gemm c1688').split()


def uses(name):
    """cuBLAS' nvjet kernels are matrix products on Tensor Cores, also those that split the inner dimension; of others
    the part that adds the splits up is not."""
    return name.startswith('nvjet') or USES.search(name) is not None and PLAIN.search(name) is None


def uses_2021(name):
    return any(part in name for part in KNOWN_2021)


ELIGIBLE = {'aten::' + name for name in (
    '_convolution conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution '
    'cudnn_convolution cudnn_convolution_transpose prelu addmm addmv addr matmul mm mv linear addbmm baddbmm bmm '
    'chain_matmul linalg_multi_dot _thnn_fused_lstm_cell _thnn_fused_gru_cell lstm_cell gru_cell rnn_tanh_cell '
    'rnn_relu_cell cudnn_convolution_transpose_backward cudnn_convolution_backward_weight addmm_ '
    'cudnn_convolution_transpose_backward_weight cudnn_convolution_transpose_backward_input '
    'cudnn_convolution_backward_input cudnn_convolution_backward '
    'convolution_backward scaled_dot_product_attention _cudnn_attention_forward _cudnn_attention_backward '
    '_flash_attention_forward _flash_attention_backward _efficient_attention_forward '
    '_efficient_attention_backward').split()}
NODES = re.compile(r'(CudnnConvolution|CudnnConvolutionTranspose|Convolution|Bmm|Mm|Addmv|Mv|Addmm|Addbmm|Baddbmm'
                   r'|ScaledDotProduct(Cudnn|Flash|Efficient)Attention)Backward0?$')
ATTENTION = re.compile(r'aten::_scaled_dot_product_(cudnn|flash|efficient)_attention(_backward)?$')


def eligible_by_name(name):
    return name in ELIGIBLE or NODES.match(name) is not None or ATTENTION.match(name) is not None


def eligible(trace):
    """Ids of the op slices that could use Tensor Cores: by name, by what is inside, or because they did."""
    found = set()
    for item in trace.slices:
        if item.kind == 'kernel' and item.op is not None and uses(item.name):
            found.add(id(item.op))
    for track in trace.tracks.values():
        for item in reversed(track):
            if item.kind == 'op' and eligible_by_name(item.name):
                found.add(id(item))
            if id(item) in found and item.owner is not None:
                found.add(id(item.owner))
    return found
