/* advice_chains_test.c: device work that is not needed, each rule firing and silent. */
#include "advice_case.h"

#define ELEMENTWISE "void at::native::vectorized_elementwise_kernel<4>(int)"
#define SOFTMAX "void softmax_warp_forward<float>(float*)"
#define GEMM "sm90_xmma_gemm_bf16bf16_bf16f32"

typedef struct {
    const char *op, *kernel;
    int64_t dur;
} call;

/* Calls one after the other, of 20 µs each; the host is ahead and waits at the end. */
static void run(advice_case *c, const call *v, int n) {
    int64_t at = 300;
    case_begin(c);
    case_step(c, 1, 0, 1000);
    for (int i = 0; i < n; i++) {
        int h = case_host(c, KIND_OP, v[i].op, 20 * i, 20);
        c->f.slices[h].has_op_row = true;
        case_kernel(c, v[i].kernel, 20 * i + 5, at, v[i].dur);
        at += v[i].dur;
    }
    case_host(c, KIND_RUNTIME, "cudaDeviceSynchronize", 250, at + 1 - 250);
    case_ask(c);
}

static void chains_of_memory_bound_kernels_are_one_pass(void **state) {
    static const call calls[] = {{"aten::mm", GEMM, 100},
                                 {"aten::mul", ELEMENTWISE, 100},
                                 {"aten::pow", ELEMENTWISE, 120},
                                 {"aten::tanh", ELEMENTWISE, 80},
                                 {"aten::mm", GEMM, 100}};
    advice_case c;
    run(&c, calls, 5);
    assert_fires(&c, "chain_unfused", 180 * US);
    assert_int_equal(case_value(&c, "chain_unfused", "count").u.i, 3);
    assert_int_equal(case_value(&c, "chain_unfused", "chains").u.i, 1);
    assert_int_equal(case_value(&c, "chain_unfused", "spent").u.i, 300 * US);
    assert_int_equal(case_value(&c, "chain_unfused", "least").u.i, 120 * US);
    assert_text(case_value(&c, "chain_unfused", "links").u.text, "mul, pow, tanh");
    assert_silent(&c, "attention_unfused");
    case_end(&c);
}

static void two_kernels_are_not_a_chain(void **state) {
    static const call calls[] = {{"aten::mm", GEMM, 100},
                                 {"aten::mul", ELEMENTWISE, 100},
                                 {"aten::pow", ELEMENTWISE, 120},
                                 {"aten::mm", GEMM, 100},
                                 {"aten::tanh", ELEMENTWISE, 80}};
    advice_case c;
    run(&c, calls, 5);
    assert_silent(&c, "chain_unfused");
    case_end(&c);
}

static void short_chains_among_much_work_are_left_alone(void **state) {
    static const call calls[] = {{"aten::mm", GEMM, 500},
                                 {"aten::mul", ELEMENTWISE, 50},
                                 {"aten::pow", ELEMENTWISE, 50},
                                 {"aten::tanh", ELEMENTWISE, 50}};
    advice_case c;
    run(&c, calls, 4);
    assert_silent(&c, "chain_unfused");
    case_end(&c);
}

static void attention_in_parts_is_named(void **state) {
    static const call calls[] = {{"aten::bmm", GEMM, 100},
                                 {"aten::mul", ELEMENTWISE, 100},
                                 {"aten::_softmax", SOFTMAX, 150},
                                 {"aten::bmm", GEMM, 100}};
    advice_case c;
    run(&c, calls, 4);
    assert_fires(&c, "attention_unfused", 250 * US);
    assert_int_equal(case_value(&c, "attention_unfused", "count").u.i, 2);
    assert_silent(&c, "chain_unfused");
    case_end(&c);
}

static void softmax_of_a_classifier_is_left_alone(void **state) {
    static const call calls[] = {{"aten::mm", GEMM, 100},
                                 {"aten::mul", ELEMENTWISE, 100},
                                 {"aten::_softmax", SOFTMAX, 150},
                                 {"aten::mm", GEMM, 100}};
    advice_case c;
    run(&c, calls, 4);
    assert_silent(&c, "attention_unfused");
    case_end(&c);
}

/* Twelve calls of 20 µs on the device in the forward pass; as many inside a node of the
 * engine. */
static void run_again(advice_case *c, int64_t sequence, const char *kernel) {
    int64_t at = 100;
    case_begin(c);
    case_step(c, 1, 0, 1000);
    for (int i = 0; i < 24; i++) {
        bool again = i >= 12;
        if (i == 12)
            case_host(c, KIND_OP, "autograd::engine::evaluate_function: GeluBackward0", 119,
                      122);
        int h = case_host(c, KIND_OP, "aten::gelu", 10 * i, 9);
        c->f.slices[h].has_op_row = true;
        c->f.slices[h].sequence = again ? sequence : i + 1;
        case_kernel(c, again ? kernel : ELEMENTWISE, 10 * i + 2, at, 20);
        at += 20;
    }
    case_host(c, KIND_RUNTIME, "cudaDeviceSynchronize", 250, at + 1 - 250);
    case_ask(c);
}

static void forward_in_the_backward_pass_is_found(void **state) {
    advice_case c;
    run_again(&c, 7, ELEMENTWISE);
    size_t row = case_row(&c, "forward_again");
    assert_true(row != SIZE_MAX);
    assert_int_equal(case_value(&c, "forward_again", "count").u.i, 12);
    assert_int_equal(case_value(&c, "forward_again", "time").u.i, 240 * US);
    assert_true(fake_int(c.t, row, "saves") >= 200 * US);
    case_end(&c);
}

static void backward_operators_are_not_the_forward_again(void **state) {
    advice_case c;
    run_again(&c, ABSENT_I64, ELEMENTWISE); /* what a node calls records no backward pass */
    assert_silent(&c, "forward_again");
    case_end(&c);
    run_again(&c, 7, "gelu_backward_elementwise_kernel"); /* a gradient of a gradient */
    assert_silent(&c, "forward_again");
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_of_memory_bound_kernels_are_one_pass),
        cmocka_unit_test(two_kernels_are_not_a_chain),
        cmocka_unit_test(short_chains_among_much_work_are_left_alone),
        cmocka_unit_test(attention_in_parts_is_named),
        cmocka_unit_test(softmax_of_a_classifier_is_left_alone),
        cmocka_unit_test(forward_in_the_backward_pass_is_found),
        cmocka_unit_test(backward_operators_are_not_the_forward_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
