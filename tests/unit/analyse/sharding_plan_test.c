/* sharding_plan_test.c: how a network was split: stages, sharding, groups. */
#include "built_run.h"

static void add_op(built *x, const char *id, const char *type, const char *group,
                   const char *inputs) {
    row_plan_op row = row_plan_op_none();
    row.id = built_str(x, id);
    row.name = built_str(x, id);
    row.type = built_str(x, type);
    row.group = built_str(x, group);
    row.inputs = inputs ? built_str(x, inputs) : 0;
    BUILT_PUT(x, plan_op, row);
}

/* An all-reduce of a separate group, a convolution whose `group` is not one, a load. */
static void add_plan(built *x, int64_t stage, const char *group) {
    row_parallel parallel = row_parallel_none();
    parallel.stage = stage;
    parallel.mode = built_str(x, "auto_parallel");
    BUILT_PUT(x, parallel, parallel);
    add_op(x, "1", "AllReduce", group, "2, w");
    add_op(x, "2", "Conv2D", "1", NULL);
    add_op(x, "3", "Load", "", NULL);
}

static void a_stage_is_merged_from_its_ranks(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 3);
    add_plan(&r.w[0], 1, "g2");
    add_plan(&r.w[1], 1, "g1");
    add_plan(&r.w[2], 2, "g2");
    run_ask(&r, analyse_distributed);
    const table *s = built_table(&r.w[0], "parallel_stages");
    assert_int_equal(s->n_rows, 2);
    assert_true(built_is(s, 0, "ranks", "0, 1"));
    assert_true(built_is(s, 0, "mode", "auto_parallel"));
    assert_int_equal(built_int(s, 1, "stage"), 2);
    const table *t = built_table(&r.w[0], "parallel_operators");
    assert_int_equal(t->n_rows, 6);
    assert_true(built_is(t, 0, "group", "g1, g2"));
    assert_true(built_is(t, 0, "inputs", "2, w"));
    assert_true(built_is(t, 1, "group", NULL)); /* of a convolution: no communication */
    assert_true(built_is(t, 1, "inputs", NULL));
    assert_true(built_is(t, 2, "name", "3"));
    assert_true(built_is(t, 3, "group", "g2"));
    run_end(&r);
}

static void workers_without_a_plan_have_no_stage(void **state) {
    built_run r;
    (void)state;
    run_begin(&r, 2);
    add_plan(&r.w[1], 3, "g1");
    run_ask(&r, analyse_distributed);
    assert_int_equal(built_table(&r.w[0], "parallel_stages")->n_rows, 1);
    assert_int_equal(built_int(built_table(&r.w[0], "parallel_stages"), 0, "stage"), 3);
    assert_int_equal(built_table(&r.w[0], "parallel_operators")->n_rows, 3);
    run_end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stage_is_merged_from_its_ranks),
        cmocka_unit_test(workers_without_a_plan_have_no_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
