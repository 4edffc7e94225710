/* advice_cpu_test.c: programs that compute on the CPU get specific advice. */
#include "advice_case.h"

/* Four steps of 1000 µs on a machine without a GPU. */
static void begin(advice_case *c) {
    case_begin(c);
    c->f.t.device.n = 1;
    for (int i = 0; i < 4; i++) case_step(c, i, 1000 * i, 1000 * i + 1000);
}

static void call_each_step(advice_case *c, const char *name, int64_t start, int64_t dur) {
    for (int i = 0; i < 4; i++) case_host(c, KIND_OP, name, 1000 * i + start, dur);
}

static void random_numbers_could_be_made_elsewhere(void **state) {
    advice_case c;
    begin(&c);
    call_each_step(&c, "aten::randn", 0, 800);
    call_each_step(&c, "aten::normal_", 10, 780);
    call_each_step(&c, "aten::sum", 800, 200);
    case_ask(&c);
    assert_fires(&c, "cpu_operator", 780 * US);
    assert_text(case_value(&c, "cpu_operator", "operator").u.text, "aten::randn");
    assert_text(str_of(c.out.verdict.id), "cpu_operator");
    case_end(&c);
}

static void other_operators_are_named_without_a_saving(void **state) {
    advice_case c;
    begin(&c);
    call_each_step(&c, "aten::sort", 0, 900);
    call_each_step(&c, "aten::sum", 900, 100);
    case_ask(&c);
    assert_fires(&c, "cpu_operator", NOT_ESTIMATED);
    case_end(&c);
}

static void products_are_reported_with_their_rate(void **state) {
    advice_case c;
    begin(&c);
    for (int i = 0; i < 4; i++) {
        int op = case_host(&c, KIND_OP, "aten::mm", 1000 * i, 1000);
        c.f.slices[op].shapes = "[[100, 200], [200, 100]]";
        c.f.slices[op].types = "[\"float\", \"float\"]";
    }
    case_ask(&c);
    assert_fires(&c, "cpu_products", NOT_ESTIMATED);
    assert_silent(&c, "cpu_operator");
    /* 2 · 100 · 200 · 100 operations in 1 ms */
    assert_true(case_value(&c, "cpu_products", "rate").u.d > 3.99);
    assert_true(case_value(&c, "cpu_products", "rate").u.d < 4.01);
    case_end(&c);
}

static void copies_inside_convolutions_are_reorders(void **state) {
    advice_case c;
    begin(&c);
    call_each_step(&c, "aten::conv2d", 0, 900);
    call_each_step(&c, "aten::contiguous", 100, 300);
    call_each_step(&c, "aten::contiguous", 900, 90);
    case_ask(&c);
    assert_fires(&c, "cpu_reorders", 300 * US);
    case_end(&c);
}

static void time_between_operators_is_the_interpreters(void **state) {
    advice_case c;
    begin(&c);
    for (int k = 0; k < 100; k++) call_each_step(&c, "aten::add", 10 * k, 5);
    case_ask(&c);
    assert_fires(&c, "cpu_small_operators", 300 * US); /* recording an operator takes 2 µs */
    case_end(&c);
}

static void few_operators_leave_the_interpreter_alone(void **state) {
    advice_case c;
    begin(&c);
    for (int k = 0; k < 10; k++) call_each_step(&c, "aten::add", 100 * k, 50);
    case_ask(&c);
    assert_silent(&c, "cpu_small_operators");
    case_end(&c);
}

static void threads_that_never_overlap_take_turns(void **state) {
    for (int together = 0; together < 2; together++) {
        advice_case c;
        begin(&c);
        int other = fake_thread(&c.f);
        for (int i = 0; i < 4; i++) {
            case_host(&c, KIND_OP, "aten::add", 1000 * i, 500);
            fake_add(&c.f, other, KIND_OP, "aten::add", (1000 * i + (together ? 0 : 500)) * US,
                     500 * US);
        }
        case_ask(&c);
        if (together)
            assert_silent(&c, "threads_take_turns");
        else
            assert_fires(&c, "threads_take_turns", NOT_ESTIMATED);
        case_end(&c);
    }
}

/* Its half of the recording may be missing: an operator of the CPU alone tells. */
static void a_gpu_is_unused_if_operators_are_those_of_the_cpu(void **state) {
    for (int known = 0; known < 2; known++) {
        advice_case c;
        begin(&c);
        c.f.t.device.n = 2;
        FAKE_SET(&c.f, device, name, 1, fake_str(&c.f, "H200"));
        call_each_step(&c, known ? "aten::mkldnn_convolution" : "aten::cat", 0, 200);
        call_each_step(&c, "aten::sum", 200, 200);
        case_ask(&c);
        if (known)
            assert_fires(&c, "gpu_unused", NOT_ESTIMATED);
        else
            assert_silent(&c, "gpu_unused");
        assert_int_equal(c.out.quality.n_notes == 0, known);
        case_end(&c);
    }
}

static void nothing_is_reported_as_unchecked(void **state) {
    advice_case c;
    begin(&c);
    for (int k = 0; k < 4; k++) call_each_step(&c, "aten::add", 250 * k, 249);
    call_each_step(&c, "aten::sum", 999, 1);
    case_ask(&c);
    assert_text(str_of(c.out.verdict.id), "cpu_operator");
    assert_int_equal(c.out.quality.n_notes, 0);
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_numbers_could_be_made_elsewhere),
        cmocka_unit_test(other_operators_are_named_without_a_saving),
        cmocka_unit_test(products_are_reported_with_their_rate),
        cmocka_unit_test(copies_inside_convolutions_are_reorders),
        cmocka_unit_test(time_between_operators_is_the_interpreters),
        cmocka_unit_test(few_operators_leave_the_interpreter_alone),
        cmocka_unit_test(threads_that_never_overlap_take_turns),
        cmocka_unit_test(a_gpu_is_unused_if_operators_are_those_of_the_cpu),
        cmocka_unit_test(nothing_is_reported_as_unchecked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
