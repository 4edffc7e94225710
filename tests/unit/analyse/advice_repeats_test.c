/* advice_repeats_test.c: calls that could be one, each rule firing and silent. */
#include "advice_case.h"

#define ELEMENTWISE "void at::native::vectorized_elementwise_kernel<4>(int)"

/* Pairs of operators of 10 µs each, with a kernel of `dur` in every one. */
static void run_pairs(advice_case *c, int pairs, int64_t dur, uint8_t around) {
    case_begin(c);
    case_step(c, 1, 0, 1000);
    if (around) case_host(c, around, "Optimizer.step#SGD.step", 100, 20 * pairs);
    for (int i = 0; i < 2 * pairs; i++) {
        int h = case_host(c, KIND_OP, i % 2 ? "aten::add" : "aten::index", 100 + 10 * i, 10);
        c->f.slices[h].has_op_row = true;
        case_kernel(c, ELEMENTWISE, 101 + 10 * i, 104 + 10 * i, dur);
    }
    case_ask(c);
}

static void a_pattern_that_repeats_is_one_call(void **state) {
    advice_case c;
    run_pairs(&c, 40, 3, 0);
    assert_true(case_row(&c, "repeated_calls") == 0); /* before what it leads to */
    assert_int_equal(case_value(&c, "repeated_calls", "count").u.i, 40);
    assert_text(case_value(&c, "repeated_calls", "calls").u.text, "index, add");
    assert_int_equal(case_value(&c, "repeated_calls", "time").u.i, 780 * US);
    assert_int_equal(case_value(&c, "repeated_calls", "kernels").u.i, 78);
    assert_true(fake_int(c.t, 0, "saves") > 600 * US);
    assert_true(fake_int(c.t, 0, "saves") <= 780 * US);
    case_end(&c);
}

static void layers_are_not_a_pattern(void **state) {
    advice_case c;
    run_pairs(&c, 24, 3, 0);
    assert_silent(&c, "repeated_calls");
    case_end(&c);
}

static void large_kernels_would_not_be_faster_together(void **state) {
    advice_case c;
    run_pairs(&c, 40, 25, 0);
    assert_silent(&c, "repeated_calls");
    case_end(&c);
}

static void optimizers_have_their_own_rule(void **state) {
    advice_case c;
    run_pairs(&c, 40, 3, KIND_OPTIMIZER);
    assert_silent(&c, "repeated_calls");
    case_end(&c);
}

/* Passes of 200 µs: a forward range and a backward range with ten operators in each. */
static void run_passes(advice_case *c, int passes, int64_t dur) {
    case_begin(c);
    case_step(c, 1, 0, 200 * passes + 30);
    for (int p = 0; p < passes; p++) {
        int64_t at = 200 * p;
        case_host(c, KIND_FORWARD, "forward", at, 100);
        case_host(c, KIND_BACKWARD, "backward", at + 100, 99);
        for (int i = 0; i < 9; i++) {
            case_host(c, KIND_OP, i % 2 ? "aten::a" : "aten::b", at + 10 * i, 10);
            case_host(c, KIND_OP, i % 2 ? "aten::c" : "aten::d", at + 100 + 10 * i, 10);
            case_kernel(c, ELEMENTWISE, at + 10 * i + 1, at + 10 * i + 4, dur);
            case_kernel(c, ELEMENTWISE, at + 10 * i + 101, at + 10 * i + 104, dur);
        }
    }
    case_host(c, KIND_OPTIMIZER, "Optimizer.step#SGD.step", 200 * passes, 20);
    case_ask(c);
}

static void small_batches_are_one_batch(void **state) {
    advice_case c;
    run_passes(&c, 4, 3);
    assert_true(case_row(&c, "small_batches") == 0);
    assert_int_equal(case_value(&c, "small_batches", "count").u.i, 4);
    assert_true(fake_int(c.t, 0, "saves") > 400 * US);
    assert_true(fake_int(c.t, 0, "saves") <= 600 * US);
    case_end(&c);
}

static void one_batch_and_a_busy_device_are_left_alone(void **state) {
    advice_case c;
    run_passes(&c, 1, 3);
    assert_silent(&c, "small_batches");
    case_end(&c);
    run_passes(&c, 4, 10);
    assert_silent(&c, "small_batches");
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_that_repeats_is_one_call),
        cmocka_unit_test(layers_are_not_a_pattern),
        cmocka_unit_test(large_kernels_would_not_be_faster_together),
        cmocka_unit_test(optimizers_have_their_own_rule),
        cmocka_unit_test(small_batches_are_one_batch),
        cmocka_unit_test(one_batch_and_a_busy_device_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
