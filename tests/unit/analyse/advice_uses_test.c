/* advice_uses_test.c: nothing is suggested that is in use or does not exist there. */
#include "advice_case.h"

/* A named value of a rule that fired; false: it has none. */
static bool has_word(const advice_case *c, const char *id, const char *name) {
    size_t row = case_row(c, id);
    assert_true(row != SIZE_MAX);
    const verdict *v = c->t->columns[fake_column(c->t, "values")].v.sentence[row];
    for (uint32_t i = 0; i < v->n_args; i++)
        if (strcmp(v->args[i].name, name) == 0) return true;
    return false;
}

/* A step of 1000 µs whose second kernel is launched 120 µs after the first ends. */
static void be_late(advice_case *c) {
    case_begin(c);
    case_step(c, 1, 0, 1000);
    case_kernel(c, "a", 0, 20, 480);
    case_kernel(c, "b", 600, 620, 380);
}

static void compiler_and_graphs_are_suggested_to_a_program_without(void **state) {
    advice_case c;
    be_late(&c);
    case_ask(&c);
    assert_true(has_word(&c, "host_late", "compile"));
    assert_text(case_value(&c, "host_late", "graphs").u.text, "CUDA graphs");
    assert_false(fake_null(c.t, case_row(&c, "host_late"), "code"));
    case_end(&c);
}

static void compiled_program_is_not_advised_to_compile(void **state) {
    advice_case c;
    be_late(&c);
    case_host(&c, KIND_OP, "CompiledFunction", 10, 40);
    case_ask(&c);
    assert_false(has_word(&c, "host_late", "compile"));
    assert_true(has_word(&c, "host_late", "compiled"));
    assert_true(fake_null(c.t, case_row(&c, "host_late"), "code"));
    case_end(&c);
}

static void pytorch_1_gets_neither(void **state) {
    advice_case c;
    be_late(&c);
    case_host(&c, KIND_OP, "AddmmBackward", 10, 40);
    case_ask(&c);
    assert_false(has_word(&c, "host_late", "compile"));
    assert_false(has_word(&c, "host_late", "graphs"));
    case_end(&c);
}

/* The optimizer's kernel is late. */
static void fused_optimizer_is_not_suggested_again(void **state) {
    for (int fused = 0; fused < 2; fused++) {
        advice_case c;
        be_late(&c);
        case_host(&c, KIND_OPTIMIZER, "Optimizer.step#AdamW.step", 590, 30);
        case_host(&c, KIND_OP, fused ? "aten::_fused_adamw_" : "aten::add_", 595, 20);
        case_ask(&c);
        assert_int_equal(has_word(&c, "host_late", "optimizer"), !fused);
        case_end(&c);
    }
}

static void operator_that_keeps_the_cpu_is_named(void **state) {
    advice_case c;
    be_late(&c);
    case_host(&c, KIND_OP, "aten::randn", 505, 90);
    case_host(&c, KIND_OP, "aten::normal_", 507, 87);
    int mm = case_host(&c, KIND_OP, "aten::mm", 700, 20);
    int call = case_host(&c, KIND_RUNTIME, "cudaLaunchKernel", 705, 5);
    c.f.slices[fake_work(&c.f, c.gpu, KIND_KERNEL, "mm", 1000 * US, US, call)].op = mm;
    case_ask(&c);
    assert_text(case_value(&c, "host_late", "operator").u.text, "aten::randn");
    assert_int_equal(case_value(&c, "host_late", "inside").u.i, 87 * US);
    assert_false(has_word(&c, "host_late", "compile")); /* it would not help */
    case_end(&c);
}

static void threads_side_by_side_keep_the_cpu_once(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    for (int i = 0; i < 4; i++)
        fake_add(&c.f, fake_thread(&c.f), KIND_OP, "aten::sort", 100 * US, 500 * US);
    case_ask(&c);
    for (uint32_t i = 0; i < c.out.verdict.n_args; i++)
        if (strcmp(c.out.verdict.args[i].name, "op_share") == 0) {
            assert_near(c.out.verdict.args[i].u.d, 0.5);
            case_end(&c);
            return;
        }
    fail_msg("the operator has no name");
}

/* 600 µs of kernels, 500 of them on 94 % of the SMs. */
static void nearly_full_device_is_not_a_loss(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    int k = case_kernel(&c, "narrow", 0, 10, 500);
    c.f.slices[k].blocks_per_sm = 0.94;
    case_kernel(&c, "wide", 10, 510, 100);
    case_ask(&c);
    assert_silent(&c, "small_grid");
    case_end(&c);
}

/* The rest of the SMs has the collective. */
static void kernel_next_to_a_collective_is_small_on_purpose(void **state) {
    for (int beside = 0; beside < 2; beside++) {
        advice_case c;
        case_begin(&c);
        case_step(&c, 1, 0, 1000);
        int other = fake_stream(&c.f, 0);
        int k = case_kernel(&c, "narrow", 0, 10, 500);
        c.f.slices[k].blocks_per_sm = 0.5;
        if (beside) {
            int call = case_host(&c, KIND_RUNTIME, "cudaLaunchKernel", 8, 1);
            fake_work(&c.f, other, KIND_KERNEL, "ncclDevKernel_AllReduce(x)", 10 * US, 480 * US,
                      call);
        } else {
            case_kernel(&c, "wide", 10, 510, 480);
        }
        case_host(&c, KIND_RUNTIME, "cudaDeviceSynchronize", 20, 971);
        case_ask(&c);
        assert_int_equal(case_row(&c, "small_grid") == SIZE_MAX, beside);
        case_end(&c);
    }
}

static void take_steps(advice_case *c, int n, const char *kind_name, uint8_t kind) {
    case_begin(c);
    for (int i = 0; i < n; i++) {
        int64_t at = 100 * i, length = i == n - 1 ? 200 : 100;
        case_step(c, i, at, at + length);
        case_host(c, KIND_OP, "work", at, 95);
        if (i == n - 1) case_host(c, kind, kind_name, at + 96, length - 96);
    }
    case_ask(c);
}

static void variance_names_what_varies_and_needs_five_steps(void **state) {
    advice_case c;
    take_steps(&c, 5, "cudaMalloc", KIND_RUNTIME);
    assert_true(has_word(&c, "step_variance", "calls"));
    assert_int_equal(case_value(&c, "step_variance", "more").u.i, 104 * US);
    case_end(&c);
    take_steps(&c, 4, "cudaMalloc", KIND_RUNTIME);
    assert_silent(&c, "step_variance");
    case_end(&c);
}

static void slow_loader_is_the_cause_and_not_the_variance(void **state) {
    advice_case c;
    take_steps(&c, 5, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", KIND_DATA);
    assert_silent(&c, "step_variance");
    assert_true(case_row(&c, "data_loader_no_workers") != SIZE_MAX);
    case_end(&c);
}

static void communicate(advice_case *c, const char *around) {
    case_begin(c);
    case_step(c, 1, 0, 1000);
    case_kernel(c, "gemm", 5, 20, 380);
    if (around) case_host(c, KIND_ANNOTATION, around, 0, 10);
    case_host(c, KIND_COLLECTIVE, "nccl:all_reduce", 400, 300);
}

static void gradients_are_those_of_a_program_that_trains(void **state) {
    advice_case c;
    communicate(&c, NULL);
    case_ask(&c);
    assert_false(has_word(&c, "communication_exposed", "gradients"));
    assert_true(fake_null(c.t, case_row(&c, "communication_exposed"), "code"));
    case_end(&c);
    communicate(&c, "DistributedDataParallel.forward");
    case_host(&c, KIND_OP, "autograd::engine::evaluate_function: MmBackward0", 720, 10);
    case_ask(&c);
    assert_true(has_word(&c, "communication_exposed", "gradients"));
    case_end(&c);
    communicate(&c, "FullyShardedDataParallel.forward");
    case_ask(&c);
    assert_true(has_word(&c, "communication_exposed", "fsdp"));
    case_end(&c);
}

static void allocator_without_a_cache_gets_no_advice_to_retain_it(void **state) {
    advice_case c;
    case_begin(&c);
    for (int i = 0; i < 2; i++) {
        case_step(&c, i, i * 10000, i * 10000 + 10000);
        case_kernel(&c, "gemm", i * 10000 + 1, i * 10000 + 20, 100);
        for (int k = 0; k < 60; k++) {
            case_host(&c, KIND_OP, "aten::empty", i * 10000 + 200 + 100 * k, 90);
            case_host(&c, KIND_RUNTIME, "hipMalloc", i * 10000 + 205 + 100 * k, 80);
        }
    }
    case_ask(&c);
    assert_true(has_word(&c, "allocator_calls", "uncached"));
    assert_false(has_word(&c, "allocator_calls", "allocator"));
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiler_and_graphs_are_suggested_to_a_program_without),
        cmocka_unit_test(compiled_program_is_not_advised_to_compile),
        cmocka_unit_test(pytorch_1_gets_neither),
        cmocka_unit_test(fused_optimizer_is_not_suggested_again),
        cmocka_unit_test(operator_that_keeps_the_cpu_is_named),
        cmocka_unit_test(threads_side_by_side_keep_the_cpu_once),
        cmocka_unit_test(nearly_full_device_is_not_a_loss),
        cmocka_unit_test(kernel_next_to_a_collective_is_small_on_purpose),
        cmocka_unit_test(variance_names_what_varies_and_needs_five_steps),
        cmocka_unit_test(slow_loader_is_the_cause_and_not_the_variance),
        cmocka_unit_test(gradients_are_those_of_a_program_that_trains),
        cmocka_unit_test(allocator_without_a_cache_gets_no_advice_to_retain_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
