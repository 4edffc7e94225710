/* advice_device_test.c: each rule about kernels once where it fires and once where it is
 * silent. */
#include "advice_case.h"
#include "base/message_ids_advice.h"

static void begin_step(advice_case *c) {
    case_begin(c);
    case_step(c, 1, 0, 1000);
}

/* The host waits for the device: the step is device-bound. */
static void wait_for_device(advice_case *c, int64_t start, int64_t end) {
    case_host(c, KIND_RUNTIME, "cudaDeviceSynchronize", start, end - start);
}

static void fill_device(advice_case *c, int kernel, double blocks, double occupancy) {
    c->f.slices[kernel].blocks_per_sm = blocks;
    c->f.slices[kernel].occupancy = occupancy;
}

/* Twelve kernels of 50 µs, none of which takes a tenth of the time. */
static void run_twelve(advice_case *c, double blocks) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f",
                                        "g", "h", "i", "j", "k", "l"};
    begin_step(c);
    for (int i = 0; i < 12; i++)
        fill_device(c, case_kernel(c, names[i], i * 6, 100 + i * 50, 50), blocks, 0.9);
    wait_for_device(c, 80, 701);
    case_ask(c);
}

static void many_kernels_with_few_blocks_are_reported(void **state) {
    advice_case c;
    run_twelve(&c, 0.25);
    assert_fires(&c, "sm_efficiency_low", 450 * US); /* 600 · (1 − 0.25) */
    assert_near(case_value(&c, "sm_efficiency_low", "filled").u.d, 0.25);
    assert_silent(&c, "small_grid");
    case_end(&c);
}

static void kernels_that_fill_the_device_are_left_alone(void **state) {
    advice_case c;
    run_twelve(&c, 2);
    assert_silent(&c, "sm_efficiency_low");
    assert_silent(&c, "occupancy_low");
    case_end(&c);
}

static void one_kernel_with_few_blocks_is_named(void **state) {
    advice_case c;
    begin_step(&c);
    fill_device(&c, case_kernel(&c, "narrow", 0, 10, 500), 0.25, 0.5);
    fill_device(&c, case_kernel(&c, "wide", 10, 510, 100), 4, 0.5);
    wait_for_device(&c, 20, 611);
    case_ask(&c);
    assert_fires(&c, "small_grid", 375 * US);
    assert_text(case_value(&c, "small_grid", "kernel").u.text, "narrow");
    assert_near(case_value(&c, "small_grid", "blocks").u.d, 0.25);
    assert_near(case_value(&c, "small_grid", "kernel_share").u.d, 5.0 / 6);
    assert_silent(&c, "sm_efficiency_low");
    case_end(&c);
}

static void one_block_for_each_sm_is_enough(void **state) {
    advice_case c;
    begin_step(&c);
    fill_device(&c, case_kernel(&c, "just", 0, 10, 500), 1, 0.5);
    case_ask(&c);
    assert_silent(&c, "small_grid");
    case_end(&c);
}

static void collectives_may_be_small(void **state) {
    advice_case c;
    begin_step(&c);
    fill_device(&c, case_kernel(&c, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 0, 10, 500),
                0.1, 0.1);
    fill_device(&c, case_kernel(&c, "wide", 10, 510, 100), 4, 0.5);
    case_ask(&c);
    assert_silent(&c, "small_grid");
    assert_silent(&c, "occupancy_low");
    case_end(&c);
}

static void low_occupancy_is_measured_against_a_quarter(void **state) {
    advice_case c;
    begin_step(&c);
    fill_device(&c, case_kernel(&c, "heavy", 0, 10, 400), 4, 0.125);
    wait_for_device(&c, 20, 411);
    case_ask(&c);
    assert_fires(&c, "occupancy_low", 200 * US);
    assert_text(case_value(&c, "occupancy_low", "kernel").u.text, "heavy");
    case_end(&c);
}

static void low_occupancy_of_tensor_core_kernels_is_by_design(void **state) {
    advice_case c;
    begin_step(&c);
    fill_device(&c, case_kernel(&c, "sm90_xmma_gemm_bf16bf16", 0, 10, 400), 4, 0.125);
    case_ask(&c);
    assert_silent(&c, "occupancy_low");
    case_end(&c);
}

static void low_occupancy_of_products_is_left_alone_when_nothing_is_known(void **state) {
    advice_case c;
    begin_step(&c);
    fill_device(&c, case_kernel(&c, "gemm_fusion_dot_2", 0, 10, 400), 4, 0.125);
    case_ask(&c);
    assert_silent(&c, "occupancy_low");
    case_end(&c);
}

/* Kernels of 2 µs, launched every 10 µs. */
static void run_small(advice_case *c, int n) {
    begin_step(c);
    for (int i = 0; i < n; i++) case_kernel(c, "small", i * 10, i * 10 + 7, 2);
    case_ask(c);
}

static void small_kernels_cost_the_idle_time_before_them(void **state) {
    advice_case c;
    begin_step(&c); /* launched ahead: the device goes from one to the next */
    for (int i = 0; i < 60; i++) case_kernel(&c, "small", i, 100 + i * 6, 2);
    case_ask(&c);
    assert_fires(&c, "small_kernels", (5 + 59 * 4) * US); /* then the first is launched */
    assert_int_equal(case_value(&c, "small_kernels", "count").u.i, 60);
    case_end(&c);
    run_small(&c, 60); /* all of it is the late host's */
    assert_fires(&c, "small_kernels", NOT_ESTIMATED);
    case_end(&c);
}

static void a_few_small_kernels_are_left_alone(void **state) {
    advice_case c;
    run_small(&c, 40);
    assert_silent(&c, "small_kernels");
    case_end(&c);
}

/* An operator with one kernel of `dur`. */
static int run_op(advice_case *c, const char *op, const char *kernel, int64_t at, int64_t dur) {
    int h = case_host(c, KIND_OP, op, at, 20);
    c->f.slices[h].has_op_row = true;
    case_kernel(c, kernel, at + 5, at + 20, dur);
    return h;
}

static void matrix_products_without_tensor_cores_are_reported(void **state) {
    advice_case c;
    begin_step(&c);
    run_op(&c, "aten::mm", "ampere_sgemm_128x64_nn", 0, 400);
    wait_for_device(&c, 25, 421);
    case_ask(&c);
    assert_fires(&c, "tensor_cores_unused", 350 * US);
    assert_text(case_value(&c, "tensor_cores_unused", "op").u.text, "aten::mm");
    case_end(&c);
}

/* Nothing waits for the device: what the host does until the next step is the bottleneck. */
static void faster_kernels_save_nothing_where_the_host_decides(void **state) {
    advice_case c;
    begin_step(&c);
    run_op(&c, "aten::mm", "ampere_sgemm_128x64_nn", 0, 400);
    case_ask(&c);
    assert_silent(&c, "tensor_cores_unused");
    case_end(&c);
}

/* Matrix cores before 8.0 know neither bfloat16 nor TF32. */
static void an_older_device_is_advised_float16(void **state) {
    advice_case c;
    begin_step(&c);
    FAKE_SET(&c.f, device, compute_major, 1, 7);
    run_op(&c, "aten::mm", "volta_sgemm_128x64_nn", 0, 400);
    wait_for_device(&c, 25, 421);
    case_ask(&c);
    assert_fires(&c, "tensor_cores_unused", 300 * US);
    assert_int_equal(case_value(&c, "tensor_cores_unused", "half_only").u.i, 1);
    case_end(&c);
}

/* On matrix cores of AMD and Blackwell, in 16 bits already, or unknown: none gets the
 * advice. */
static void advice_about_matrix_cores_needs_to_know(void **state) {
    static const char *const names[] = {
        "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI16x16x1_SN",
        "bmm_Bfloat16_Bfloat16Bfloat16_Fp32_t128x8x128u2_s6_sm100f",
        "void gemv2T_kernel_val<int, int, __nv_bfloat16, __nv_bfloat16>(int)",
        "gemm_fusion_dot_2",
        "_my_own_matmul",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        advice_case c;
        begin_step(&c);
        run_op(&c, "aten::mm", names[i], 0, 400);
        case_ask(&c);
        assert_silent(&c, "tensor_cores_unused");
        case_end(&c);
    }
}

static void tensor_cores_in_use_are_left_alone(void **state) {
    advice_case c;
    begin_step(&c);
    run_op(&c, "aten::mm", "sm90_xmma_gemm_bf16bf16", 0, 400);
    case_ask(&c);
    assert_silent(&c, "tensor_cores_unused");
    case_end(&c);
}

static void device_without_tensor_cores_is_not_asked_for_them(void **state) {
    advice_case c;
    begin_step(&c);
    FAKE_SET(&c.f, device, compute_major, 1, 6);
    run_op(&c, "aten::mm", "sgemm_128x64_nn", 0, 400);
    case_ask(&c);
    assert_silent(&c, "tensor_cores_unused");
    case_end(&c);
}

static void run_typed(advice_case *c, const char *types) {
    begin_step(c);
    int op = run_op(c, "aten::mm", "sm80_xmma_gemm_tf32f32", 0, 400);
    c->f.slices[op].types = types;
    wait_for_device(c, 25, 421);
    case_ask(c);
}

static void float32_on_tensor_cores_could_be_bfloat16(void **state) {
    advice_case c;
    run_typed(&c, "[\"float\", \"float\"]");
    assert_fires(&c, "float32_matmul", 200 * US);
    assert_silent(&c, "tensor_cores_unused");
    case_end(&c);
}

static void bfloat16_is_left_alone(void **state) {
    advice_case c;
    run_typed(&c, "[\"c10::BFloat16\", \"c10::BFloat16\"]");
    assert_silent(&c, "float32_matmul");
    case_end(&c);
}

/* An even product of 100 µs and an odd one. */
static void run_odd(advice_case *c, const char *op, int64_t dur) {
    begin_step(c);
    int even = run_op(c, op, "gemm_16816", 0, 100), odd = run_op(c, op, "gemm_16816", 200, dur);
    c->f.slices[even].shapes = "[[1024, 1024], [1024, 1024]]";
    c->f.slices[odd].shapes = "[[1024, 1023], [1023, 1024]]";
    wait_for_device(c, 240, 221 + dur);
    case_ask(c);
}

static void odd_dimension_costs_what_its_lower_rate_costs(void **state) {
    advice_case c;
    run_odd(&c, "aten::mm", 400);
    double slowdown = 4 * 1024.0 / 1023;
    assert_fires(&c, "odd_dimension", (int64_t)(400000 * (1 - 1 / slowdown)));
    assert_near(case_value(&c, "odd_dimension", "slowdown").u.d, slowdown);
    assert_int_equal(case_value(&c, "odd_dimension", "dimension").u.i, 1023);
    assert_int_equal(case_value(&c, "odd_dimension", "padded").u.i, 1024);
    case_end(&c);
}

static void odd_dimension_that_is_not_slow_is_left_alone(void **state) {
    advice_case c;
    run_odd(&c, "aten::mm", 120);
    assert_silent(&c, "odd_dimension");
    case_end(&c);
}

static void shapes_of_convolutions_are_not_matrices(void **state) {
    advice_case c;
    run_odd(&c, "aten::convolution_backward", 400);
    assert_silent(&c, "odd_dimension");
    case_end(&c);
}

static void run_layout(advice_case *c, int64_t dur) {
    begin_step(c);
    case_kernel(c, "cudnn::nchwToNhwcKernel<float>", 0, 10, dur);
    case_kernel(c, "conv", 10, 10 + dur, 400);
    wait_for_device(c, 20, 411 + dur);
    case_ask(c);
}

static void layout_kernels_are_reported(void **state) {
    advice_case c;
    run_layout(&c, 100);
    assert_fires(&c, "layout_conversion", 90 * US); /* the next one still has to be launched */
    assert_near(case_value(&c, "layout_conversion", "kernel_share").u.d, 0.2);
    case_end(&c);
}

static void a_little_layout_conversion_is_left_alone(void **state) {
    advice_case c;
    run_layout(&c, 20);
    assert_silent(&c, "layout_conversion");
    case_end(&c);
}

static void shares_below_the_thresholds_are_left_alone(void **state) {
    advice_case c;
    run_twelve(&c, 0.75);
    assert_silent(&c, "sm_efficiency_low"); /* three quarters have a block */
    case_end(&c);
    begin_step(&c);
    fill_device(&c, case_kernel(&c, "heavy", 0, 10, 100), 4, 0.125);
    fill_device(&c, case_kernel(&c, "light", 10, 110, 500), 4, 0.5);
    case_ask(&c);
    assert_silent(&c, "occupancy_low"); /* a sixth of the kernel time */
    case_end(&c);
    begin_step(&c);
    for (int i = 0; i < 60; i++) case_kernel(&c, "small", i * 10, i * 10 + 7, 2);
    for (int i = 0; i < 70; i++) case_kernel(&c, "large", 620 + i, 700 + i * 12, 12);
    case_ask(&c);
    assert_silent(&c, "small_kernels"); /* fewer than half of them */
    case_end(&c);
}

/* An operator of 40 µs of kernel time next to 760 of others: a twentieth. */
static void small_operators_are_left_alone(void **state) {
    advice_case c;
    begin_step(&c);
    run_op(&c, "aten::mm", "ampere_sgemm_128x64_nn", 0, 40);
    case_kernel(&c, "other", 50, 100, 760);
    case_ask(&c);
    assert_silent(&c, "tensor_cores_unused");
    case_end(&c);
    begin_step(&c);
    int op = run_op(&c, "aten::mm", "sm80_xmma_gemm_tf32f32", 0, 40);
    c.f.slices[op].types = "[\"float\", \"float\"]";
    case_kernel(&c, "other", 50, 100, 760);
    case_ask(&c);
    assert_silent(&c, "float32_matmul");
    case_end(&c);
    begin_step(&c);
    int even = run_op(&c, "aten::mm", "gemm_16816", 0, 10);
    int odd = run_op(&c, "aten::mm", "gemm_16816", 100, 30);
    c.f.slices[even].shapes = "[[1024, 1024], [1024, 1024]]";
    c.f.slices[odd].shapes = "[[1024, 1023], [1023, 1024]]";
    case_kernel(&c, "other", 150, 200, 760);
    case_ask(&c);
    assert_silent(&c, "odd_dimension");
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_kernels_with_few_blocks_are_reported),
        cmocka_unit_test(kernels_that_fill_the_device_are_left_alone),
        cmocka_unit_test(one_kernel_with_few_blocks_is_named),
        cmocka_unit_test(one_block_for_each_sm_is_enough),
        cmocka_unit_test(collectives_may_be_small),
        cmocka_unit_test(low_occupancy_is_measured_against_a_quarter),
        cmocka_unit_test(low_occupancy_of_tensor_core_kernels_is_by_design),
        cmocka_unit_test(low_occupancy_of_products_is_left_alone_when_nothing_is_known),
        cmocka_unit_test(small_kernels_cost_the_idle_time_before_them),
        cmocka_unit_test(a_few_small_kernels_are_left_alone),
        cmocka_unit_test(matrix_products_without_tensor_cores_are_reported),
        cmocka_unit_test(faster_kernels_save_nothing_where_the_host_decides),
        cmocka_unit_test(an_older_device_is_advised_float16),
        cmocka_unit_test(advice_about_matrix_cores_needs_to_know),
        cmocka_unit_test(tensor_cores_in_use_are_left_alone),
        cmocka_unit_test(device_without_tensor_cores_is_not_asked_for_them),
        cmocka_unit_test(float32_on_tensor_cores_could_be_bfloat16),
        cmocka_unit_test(bfloat16_is_left_alone),
        cmocka_unit_test(odd_dimension_costs_what_its_lower_rate_costs),
        cmocka_unit_test(odd_dimension_that_is_not_slow_is_left_alone),
        cmocka_unit_test(shapes_of_convolutions_are_not_matrices),
        cmocka_unit_test(layout_kernels_are_reported),
        cmocka_unit_test(a_little_layout_conversion_is_left_alone),
        cmocka_unit_test(shares_below_the_thresholds_are_left_alone),
        cmocka_unit_test(small_operators_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
