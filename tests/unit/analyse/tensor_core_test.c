/* tensor_core_test.c: names that speak for and against Tensor Cores. */
#include "fake_trace.h"

#include "analyse/operators/tensor_core.h"

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
    };
    static const char *const without[] = {
        "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float> >",
        "cutlass_80_simt_sgemm_128x64_8x5_nn_align1",
        "volta_sgemm_128x64_nt",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
        "triton_poi_fused_add_0",
    };
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        if (tensor_core_kernel(str_of(with[i])) != MATRIX_YES)
            fail_msg("not recognized: %s", with[i]);
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (tensor_core_kernel(str_of(without[i])) != MATRIX_NO)
            fail_msg("taken for one: %s", without[i]);
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

static void operators_are_remembered_by_their_id(void **state) {
    fake f;
    fake_init(&f);
    uint32_t gemm = fake_str(&f, "ampere_h16816gemm"), mm = fake_str(&f, "aten::mm");
    tensor_core_names n;
    assert_int_equal(tensor_core_init(&n, &f.t, &f.arena, NULL), OK);
    for (int i = 0; i < 2; i++) {
        assert_true(tensor_core_op_id(&n, mm));
        assert_false(tensor_core_op_id(&n, gemm));
    }
    assert_false(tensor_core_op_id(&n, 1u << 30));
    fake_fini(&f);
}

/* A product in 32 bits that stays off the matrix cores could use them; one in 16 bits, a helper of
 * attention in bfloat16 or something unknown could not. */
static void only_wide_products_miss_something(void **state) {
    static const struct {
        const char *name;
        bool missed;
    } rows[] = {{"volta_sgemm_128x64_nt", true},
                {"void cudnn::cnn::wgrad_alg0_engine<float, 128>(int)", true},
                {"void gemv2T_kernel_val<int, int, __nv_bfloat16, __nv_bfloat16>(int)", false},
                {"ampere_bf16_s16816gemm_bf16_128x64_tn", false},
                {"void gemv2T_kernel_val<int, int, double, double>(int)", false},
                {"gemm_fusion_dot_2", false},
                {"void at::native::reduce_kernel<512>(int)", false}};
    fake f;
    fake_init(&f);
    int gpu = fake_stream(&f, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        fake_work(&f, gpu, KIND_KERNEL, rows[i].name, (int64_t)i * 10, 5, -1);
    const trace *t = fake_seal(&f);
    tensor_core_names n;
    assert_int_equal(tensor_core_init(&n, t, &f.arena, NULL), OK);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (tensor_core_missed(&n, i + 1) != rows[i].missed) fail_msg("%s", rows[i].name);
    fake_fini(&f);
}

static void a_share_is_not_known_when_much_of_it_is_not(void **state) {
    assert_near(tensor_core_share(30, 10, 100), 0.3);
    assert_true(isnan(tensor_core_share(30, 11, 100)));
    assert_near(tensor_core_share(0, 0, 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_every_generation_are_recognized),
        cmocka_unit_test(operators_match_by_their_whole_name),
        cmocka_unit_test(operators_are_remembered_by_their_id),
        cmocka_unit_test(only_wide_products_miss_something),
        cmocka_unit_test(a_share_is_not_known_when_much_of_it_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
