/* steps_spread_test.c: how the parts of steps scatter. */
#include "analyse/questions/steps_spread.h"

#include "analyse/registry.h"
#include "fake_trace.h"

/* A table `steps` of n steps, step i takes (i % 10 + 1) · 100; every second has a tail of 10. */
static answer make(arena *a, int n) {
    answer out = {.analysis = "steps"};
    table *t = answer_table(&out, a, "steps");
    for (int i = 0; i < n; i++) {
        size_t row;
        assert_int_equal(table_add_row(t, &row, NULL), OK);
        table_set_int(t, row, COL(steps, steps, step), i);
        table_set_int(t, row, COL(steps, steps, duration), (i % 10 + 1) * 100);
        if (i % 2) table_set_int(t, row, COL(steps, steps, tail), 10);
    }
    assert_int_equal(steps_write_spread(t, a, &out, NULL), OK);
    return out;
}

static void parts_have_percentiles(void **state) {
    arena a = {0};
    answer out = make(&a, 20);
    table *t = fake_table(&out, "distribution");
    assert_int_equal(t->n_rows, 2); /* what was not recorded is left out */
    assert_text(fake_text(t, 0, "part"), "duration");
    assert_int_equal(fake_int(t, 0, "mean"), 550);
    assert_int_equal(fake_int(t, 0, "min"), 100);
    assert_int_equal(fake_int(t, 0, "p10"), 100);
    assert_int_equal(fake_int(t, 0, "p50"), 500);
    assert_int_equal(fake_int(t, 0, "p90"), 900);
    assert_int_equal(fake_int(t, 0, "max"), 1000);
    assert_text(fake_text(t, 1, "part"), "tail");
    assert_int_equal(fake_int(t, 1, "steps"), 10);
    assert_true(fake_real(t, 1, "share") == 100.0 / 11000.0);
    arena_fini(&a);
}

/* The last step has communication but, its device work being cut off, no total. */
static void a_step_that_is_left_out_has_no_share(void **state) {
    arena a = {0};
    answer out = {.analysis = "steps"};
    table *t = answer_table(&out, &a, "steps");
    for (int i = 0; i < 3; i++) {
        size_t row;
        assert_int_equal(table_add_row(t, &row, NULL), OK);
        table_set_int(t, row, COL(steps, steps, duration), 100);
        table_set_int(t, row, COL(steps, steps, communication), i == 1 ? 10 : 90);
        if (i < 2) table_set_int(t, row, COL(steps, steps, total), 100);
        table_set_int(t, row, COL(steps, steps, cut), i == 0); /* by the window */
    }
    assert_int_equal(steps_write_spread(t, &a, &out, NULL), OK);
    t = fake_table(&out, "distribution");
    assert_text(fake_text(t, 1, "part"), "total");
    assert_text(fake_text(t, 2, "part"), "communication");
    assert_int_equal(fake_int(t, 2, "steps"), 1);
    assert_true(fake_real(t, 2, "share") == 0.1);
    arena_fini(&a);
}

static void few_steps_need_no_bands(void **state) {
    arena a = {0};
    answer out = make(&a, STEPS_BANDS);
    assert_int_equal(fake_table(&out, "bands")->n_rows, 0);
    arena_fini(&a);
}

static void bands_cover_every_step_once(void **state) {
    arena a = {0};
    answer out = make(&a, 5003);
    table *t = fake_table(&out, "bands");
    assert_int_equal(t->n_rows, STEPS_BANDS);
    int64_t next = 0, sum = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        assert_int_equal(fake_int(t, i, "first_step"), next);
        next = fake_int(t, i, "last_step") + 1;
        sum += fake_int(t, i, "steps");
        assert_true(fake_int(t, i, "p10") <= fake_int(t, i, "p50") &&
                    fake_int(t, i, "p50") <= fake_int(t, i, "p90"));
    }
    assert_int_equal(next, 5003);
    assert_int_equal(sum, 5003);
    arena_fini(&a);
}

static void no_steps_have_no_spread(void **state) {
    arena a = {0};
    answer out = make(&a, 0);
    assert_int_equal(fake_table(&out, "distribution")->n_rows, 0);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_have_percentiles),
        cmocka_unit_test(a_step_that_is_left_out_has_no_share),
        cmocka_unit_test(few_steps_need_no_bands),
        cmocka_unit_test(bands_cover_every_step_once),
        cmocka_unit_test(no_steps_have_no_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
