/* kernel_arch_test.c: names of kernels of several libraries and generations. */
#include "analyse/operators/kernel_arch.h"
#include "fake_trace.h"

static void names_tell(void **state) {
    (void)state;
    assert_int_equal(kernel_arch(STR("void cutlass::Kernel2<cutlass_75_tensorop_bf16_align1>")),
                     75);
    assert_int_equal(kernel_arch(STR("sm80_xmma_fprop_implicit_gemm_tf32f32")), 80);
    assert_int_equal(kernel_arch(STR("nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_TNT")), 90);
    assert_int_equal(kernel_arch(STR("nvjet_sm100_tst")), 100);
    assert_int_equal(kernel_arch(STR("volta_sgemm_128x64_nn")), 70);
    assert_int_equal(kernel_arch(STR("ampere_bf16_s16816gemm")), 80);
}

static void others_do_not(void **state) {
    (void)state;
    assert_int_equal(kernel_arch(STR("void at::native::vectorized_elementwise_kernel<4>")), 0);
    assert_int_equal(kernel_arch(STR("prism80_kernel")), 0);
    assert_int_equal(kernel_arch(STR("sm8000_kernel")), 0);
    assert_int_equal(kernel_arch(STR("cutlass_gemm")), 0);
    assert_int_equal(kernel_arch(STR("")), 0);
}

static void alignment(void **state) {
    (void)state;
    assert_true(kernel_is_unaligned(STR("cutlass_75_tensorop_bf16_128x128_tn_align1>(int)")));
    assert_false(kernel_is_unaligned(STR("cutlass_80_tensorop_bf16_tn_align16")));
    assert_false(kernel_is_unaligned(STR("cutlass_80_tensorop_bf16_tn_align8")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_tell),
        cmocka_unit_test(others_do_not),
        cmocka_unit_test(alignment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
