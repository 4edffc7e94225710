/* step_trace_test.c: gap, forward and backward, tail: given, found among operators, asked for. */
#include "built_trace.h"

/* Two steps of five operators; the second with a collective. */
static void add_point(built *x, step_point_kind point, const char *name) {
    row_step_point row = {.point = (uint8_t)point, .name = built_str(x, name)};
    BUILT_PUT(x, step_point, row);
}

static void add_steps(built *x, bool with_comm) {
    static const char *const names[] = {"Default/GetNext-op1", "Default/Cast-op2",
                                        "Gradients/Default/MatMul-op3",
                                        "Gradients/Default/Add-op4", "Default/Momentum-op5"};
    for (int s = 0; s < 2; s++) {
        int64_t at = 1000 * s;
        built_slice(x, 1, KIND_STEP, s ? "Step 2" : "Step 1", at, 900);
        for (int i = 0; i < 5; i++) built_slice(x, 2, KIND_OP, names[i], at + 100 * i, 50);
        if (with_comm) built_slice(x, 3, KIND_OP, "Gradients/AllReduce-op9", at + 360, 100);
    }
}

static void points_are_found_among_the_operators(void **state) {
    built x;
    built_init(&x);
    add_steps(&x, false);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_steps, NULL), OK);
    const table *t = built_table(&x, "steps"), *p = built_table(&x, "points");
    assert_true(built_is(p, 0, "name", "Default/Cast-op2"));          /* after the fetch */
    assert_true(built_is(p, 1, "name", "Gradients/Default/Add-op4")); /* the last but one */
    assert_true(built_is(p, 0, "source", "found"));
    assert_int_equal(built_int(t, 0, "gap"), ABSENT_I64);
    assert_int_equal(built_int(t, 1, "gap"), 200); /* 1100 - 900 */
    assert_int_equal(built_int(t, 1, "forward_backward"), 250);
    assert_int_equal(built_int(t, 1, "tail"), 550);
    const table *average = built_table(&x, "average");
    assert_true(built_is(average, 0, "stage", "total"));
    assert_int_equal(built_int(average, 0, "duration"), 900);
    built_fini(&x);
}

static void the_backward_pass_ends_before_the_last_collective(void **state) {
    built x;
    built_init(&x);
    add_steps(&x, true);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_steps, NULL), OK);
    assert_true(built_is(built_table(&x, "points"), 1, "name", "Gradients/Default/Add-op4"));
    built_fini(&x);
}

static void points_may_be_asked_for_by_either_name(void **state) {
    built x;
    built_init(&x);
    add_steps(&x, false);
    built_seal(&x);
    built_param(&x, "fp_point", "MatMul-op3");
    built_param(&x, "bp_point", "Default/Momentum-op5");
    assert_int_equal(built_ask(&x, analyse_steps, NULL), OK);
    const table *t = built_table(&x, "steps");
    assert_int_equal(built_int(t, 1, "gap"), 300);
    assert_int_equal(built_int(t, 1, "forward_backward"), 250);
    assert_int_equal(built_int(t, 1, "tail"), 450);
    assert_true(built_is(built_table(&x, "points"), 0, "source", "asked"));
    built_fini(&x);
}

static void the_end_of_a_step_may_be_asked_for(void **state) {
    built x;
    built_init(&x);
    add_steps(&x, false);
    built_seal(&x);
    built_param(&x, "end_point", "Momentum-op5");
    assert_int_equal(built_ask(&x, analyse_steps, NULL), OK);
    const table *t = built_table(&x, "steps");
    assert_int_equal(built_int(t, 1, "tail"), 100); /* 1450 - 1350 */
    assert_int_equal(built_int(t, 1, "gap"), 650);  /* 1100 - 450 */
    assert_true(built_is(built_table(&x, "points"), 2, "point", "step_end"));
    x.answer = (answer){0};
    x.params.n_extra = 0;
    built_param(&x, "end_point", "Nothing-op1");
    error err = {0};
    assert_int_equal(built_ask(&x, analyse_steps, &err), ERR_ARG);
    built_fini(&x);
}

static void a_name_no_step_has_is_refused(void **state) {
    built x;
    built_init(&x);
    add_steps(&x, false);
    built_seal(&x);
    built_param(&x, "bp_point", "Nothing-op1");
    error err = {0};
    assert_int_equal(built_ask(&x, analyse_steps, &err), ERR_ARG);
    assert_int_equal(err.message, MSG_POINT_NOT_FOUND);
    built_fini(&x);
}

static void add_given(built *x, int64_t number, const char *stage, int64_t start, int64_t dur) {
    row_producer_step row = {
        .number = number, .stage = built_str(x, stage), .start = start, .duration = dur};
    assert_int_equal(builder_put_producer_step(x->b, &row, NULL), OK);
}

static void a_step_trace_alone_is_believed_and_cannot_be_changed(void **state) {
    built x;
    built_init(&x);
    built_slice(&x, 1, KIND_STEP, "Step 7", 100, 500);
    add_given(&x, 7, "total", 100, 500);
    add_given(&x, 7, "interval", 100, 40);
    add_given(&x, 7, "forward_backward", 140, 300);
    add_given(&x, 7, "tail", 440, 160);
    add_given(&x, ABSENT_I64, "total", 0, 333);
    add_given(&x, ABSENT_I64, "tail", 300, 33);
    add_point(&x, POINT_FORWARD_START, "Default/Cast-op6");
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_steps, NULL), OK);
    const table *t = built_table(&x, "steps"), *average = built_table(&x, "average");
    assert_int_equal(built_int(t, 0, "gap"), 40);
    assert_int_equal(built_int(t, 0, "forward_backward"), 300);
    assert_int_equal(built_int(t, 0, "tail"), 160);
    assert_int_equal(built_int(average, 0, "duration"), 333); /* the producer's own */
    assert_int_equal(built_int(average, 1, "start"), 300);
    assert_true(built_is(built_table(&x, "points"), 0, "source", "given"));
    assert_int_equal(built_table(&x, "segments")->n_rows, 3);
    built_param(&x, "fp_point", "Default/Cast-op6");
    error err = {0};
    assert_int_equal(built_ask(&x, analyse_steps, &err), ERR_ARG);
    assert_int_equal(err.message, MSG_POINTS_NEED_OPERATORS);
    built_fini(&x);
}

/* Two steps with operators, and the producer's own times of points none of them is. */
static void add_timed(built *x) {
    add_steps(x, false);
    for (int s = 0; s < 2; s++) {
        add_given(x, s + 1, "total", 1000 * s, 900);
        add_given(x, s + 1, "interval", 1000 * s, 20);
        add_given(x, s + 1, "forward_backward", 1000 * s + 20, 600);
        add_given(x, s + 1, "tail", 1000 * s + 620, 280);
    }
    add_point(x, POINT_FORWARD_START, "Default/Cast-op6");
    add_point(x, POINT_BACKWARD_END, "Default/TransData-op7");
    built_seal(x);
}

static void the_producers_own_points_may_be_asked_for_by_either_name(void **state) {
    static const char *const names[] = {"Cast-op6", "Default/Cast-op6"};
    for (int i = 0; i < 2; i++) {
        built x;
        built_init(&x);
        add_timed(&x);
        built_param(&x, "fp_point", names[i]);
        assert_int_equal(built_ask(&x, analyse_steps, NULL), OK);
        const table *t = built_table(&x, "steps"), *p = built_table(&x, "points");
        assert_true(built_is(p, 0, "name", "Default/Cast-op6"));
        assert_true(built_is(p, 1, "name", "Default/TransData-op7"));
        assert_true(built_is(p, 0, "source", "given"));
        assert_int_equal(built_int(t, 1, "gap"), 20);
        assert_int_equal(built_int(t, 1, "forward_backward"), 600);
        built_fini(&x);
    }
}

static void the_point_that_is_not_asked_for_stays_where_it_was_timed(void **state) {
    built x;
    built_init(&x);
    add_timed(&x);
    built_param(&x, "bp_point", "Add-op4");
    assert_int_equal(built_ask(&x, analyse_steps, NULL), OK);
    const table *t = built_table(&x, "steps"), *p = built_table(&x, "points");
    assert_true(built_is(p, 0, "name", "Default/Cast-op6"));
    assert_true(built_is(p, 1, "name", "Gradients/Default/Add-op4"));
    assert_true(built_is(p, 0, "source", "given"));
    assert_true(built_is(p, 1, "source", "asked"));
    assert_int_equal(built_int(t, 1, "gap"), 120);              /* 1020 - 900 */
    assert_int_equal(built_int(t, 1, "forward_backward"), 330); /* to the end of Add, 1350 */
    assert_int_equal(built_int(t, 1, "tail"), 550);
    built_fini(&x);
}

static void a_collective_inside_the_given_passes_is_hidden(void **state) {
    built x;
    built_init(&x);
    built_slice(&x, 1, KIND_STEP, "Step 7", 100, 500);
    add_given(&x, 7, "total", 100, 500);
    add_given(&x, 7, "forward_backward", 140, 300);
    add_given(&x, 7, "tail", 440, 160);
    built_slice(&x, 2, KIND_COLLECTIVE, "stream_1_parallel_0", 420, 100);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_steps, NULL), OK);
    const table *t = built_table(&x, "steps");
    assert_int_equal(built_int(t, 0, "communication"), 100);
    assert_int_equal(built_int(t, 0, "exposed_communication"), 80);
    built_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_found_among_the_operators),
        cmocka_unit_test(the_backward_pass_ends_before_the_last_collective),
        cmocka_unit_test(points_may_be_asked_for_by_either_name),
        cmocka_unit_test(the_end_of_a_step_may_be_asked_for),
        cmocka_unit_test(a_name_no_step_has_is_refused),
        cmocka_unit_test(a_step_trace_alone_is_believed_and_cannot_be_changed),
        cmocka_unit_test(the_producers_own_points_may_be_asked_for_by_either_name),
        cmocka_unit_test(the_point_that_is_not_asked_for_stays_where_it_was_timed),
        cmocka_unit_test(a_collective_inside_the_given_passes_is_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
