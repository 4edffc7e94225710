/* dynamic_shapes_test.c: operators whose shapes change, step by step. */
#include "built_trace.h"

static void add_run(built *x, int64_t step, uint8_t level, const char *shapes) {
    row_op_run row = row_op_run_none();
    row.step = step;
    row.level = level;
    row.name = built_str(x, "Add-op6");
    row.duration = 75616;
    row.shapes = shapes ? built_str(x, shapes) : 0;
    BUILT_PUT(x, op_run, row);
}

static void runs_are_shown_step_by_step(void **state) {
    built x;
    (void)state;
    built_init(&x);
    add_run(&x, 1, PRODUCER_OPERATOR, "[\"[32, 1]\"]");
    add_run(&x, 2, PRODUCER_OPERATOR, NULL);
    add_run(&x, 1, PRODUCER_KERNEL, NULL);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_operators, NULL), OK);
    const table *t = built_table(&x, "by_step");
    assert_int_equal(t->n_rows, 3);
    assert_int_equal(built_int(t, 0, "duration"), 75616);
    assert_true(built_is(t, 0, "shapes", "[\"[32, 1]\"]"));
    assert_true(built_is(t, 1, "shapes", NULL));
    assert_true(built_is(t, 1, "level", "operator"));
    assert_true(built_is(t, 2, "level", "kernel"));
    x.answer = (answer){0};
    x.params.first_step = x.params.last_step = 2;
    assert_int_equal(built_ask(&x, analyse_operators, NULL), OK);
    assert_int_equal(built_table(&x, "by_step")->n_rows, 1);
    built_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_shown_step_by_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
