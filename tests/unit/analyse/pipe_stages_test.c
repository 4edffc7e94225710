/* pipe_stages_test.c: stages of the operators of an input pipeline, from ranges or from given sums. */
#include "built_trace.h"

static void add_stage(built *x, const char *operation, int64_t calls, int64_t total,
                      const char *info) {
    row_pipe_stage row = {.operation = built_str(x, operation),
                          .stage = built_str(x, "Get"),
                          .calls = calls,
                          .total = total,
                          .info = info ? built_str(x, info) : 0};
    BUILT_PUT(x, pipe_stage, row);
}

static void add_given(built *x) {
    add_stage(x, "MapOp", 2, 100, NULL);
    add_stage(x, "BatchOp", 10, 123400, "x");
    add_stage(x, "Odd", ABSENT_I64, ABSENT_I64, NULL);
}

static void ranges_are_added_up_by_stage(void **state) {
    built x;
    (void)state;
    built_init(&x);
    built_slice(&x, 1, KIND_OTHER, "Dataset::BatchOp::Process", 0, 100);
    built_slice(&x, 1, KIND_OTHER, "Dataset::BatchOp::Process", 200, 300);
    built_slice(&x, 2, KIND_OTHER, "Dataset::MapOp::Get", 0, 900);
    built_slice(&x, 2, KIND_OTHER, "Dataset::nothing", 1000, 900);
    add_given(&x);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_pipeline, NULL), OK);
    const table *t = built_table(&x, "dataset_stages");
    assert_int_equal(t->n_rows, 2);
    assert_true(built_is(t, 0, "operation", "MapOp"));
    assert_string_equal(x.answer.verdict.id, "pipeline_stages");
    assert_true(built_is(t, 1, "stage", "Process"));
    assert_int_equal(built_int(t, 1, "calls"), 2);
    assert_int_equal(built_int(t, 1, "total"), 400);
    assert_int_equal(built_int(t, 1, "mean"), 200);
    x.answer = (answer){0};
    x.params.from_ns = 250;
    x.params.to_ns = 450;
    assert_int_equal(built_ask(&x, analyse_pipeline, NULL), OK);
    t = built_table(&x, "dataset_stages");
    assert_int_equal(t->n_rows, 2);
    assert_int_equal(built_int(t, 0, "total"), 200);
    built_fini(&x);
}

static void given_sums_replace_ranges(void **state) {
    built x;
    (void)state;
    built_init(&x);
    built_slice(&x, 1, KIND_OTHER, "a", 0, 100);
    add_given(&x);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_pipeline, NULL), OK);
    const table *t = built_table(&x, "dataset_stages");
    assert_int_equal(t->n_rows, 3);
    assert_true(built_is(t, 0, "operation", "BatchOp"));
    assert_int_equal(built_int(t, 0, "total"), 123400);
    assert_int_equal(built_int(t, 0, "mean"), 12340);
    assert_true(built_is(t, 0, "info", "x"));
    assert_true(built_is(t, 2, "operation", "Odd"));
    x.answer = (answer){0};
    x.params.from_ns = 0;
    x.params.to_ns = 50;
    assert_int_equal(built_ask(&x, analyse_pipeline, NULL), OK);
    for (size_t i = 0; i < x.answer.n_tables; i++) /* they have no times of day */
        assert_string_not_equal(x.answer.tables[i]->name, "dataset_stages");
    built_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_added_up_by_stage),
        cmocka_unit_test(given_sums_replace_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
