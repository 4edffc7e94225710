/* tensor_core_test.c: names that speak for and against tensor cores. */
#include "fake_trace.h"

#include "analyse/tensor_core.h"

static void kernels_of_every_generation_are_recognized(void **state) {
    static const char *const with[] = {
        "volta_fp16_s884cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1",
        "turing_h1688gemm_128x128_ldg8_tn",
        "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn",
        "cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4",
        "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute_"
        "segment_k_off_kernel__5x_cublas",
        "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTT",
        "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4> >",
        "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel)",
        "triton_tem_fused_mm_0",
    };
    static const char *const without[] = {
        "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float> >",
        "cutlass_80_simt_sgemm_128x64_8x5_nn_align1",
        "volta_sgemm_128x64_nt",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
        "triton_poi_fused_add_0",
        "",
    };
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        if (!tensor_core_kernel(str_of(with[i]))) fail_msg("not recognized: %s", with[i]);
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (tensor_core_kernel(str_of(without[i]))) fail_msg("taken for one: %s", without[i]);
}

static void operators_match_by_their_whole_name(void **state) {
    assert_true(tensor_core_op(STR("aten::mm")));
    assert_true(tensor_core_op(STR("AddmmBackward")));
    assert_true(tensor_core_op(STR("AddmmBackward0")));
    assert_true(tensor_core_op(STR("aten::_scaled_dot_product_flash_attention")));
    assert_false(tensor_core_op(STR("aten::mm_extra")));
    assert_false(tensor_core_op(STR("aten::add")));
    assert_false(tensor_core_op(STR("aten::mm0")));
    assert_false(tensor_core_op(STR("")));
}

static void a_name_is_remembered_by_its_id(void **state) {
    fake f;
    fake_init(&f);
    uint32_t gemm = fake_str(&f, "ampere_h16816gemm"), mm = fake_str(&f, "aten::mm");
    tensor_core_names n;
    assert_int_equal(tensor_core_init(&n, &f.t, &f.arena, NULL), OK);
    for (int i = 0; i < 2; i++) {
        assert_true(tensor_core_kernel_id(&n, gemm));
        assert_false(tensor_core_kernel_id(&n, mm));
        assert_true(tensor_core_op_id(&n, mm));
        assert_false(tensor_core_op_id(&n, gemm));
    }
    assert_false(tensor_core_op_id(&n, 1u << 30));
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_every_generation_are_recognized),
        cmocka_unit_test(operators_match_by_their_whole_name),
        cmocka_unit_test(a_name_is_remembered_by_its_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
