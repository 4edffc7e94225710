/* producer_ops_test.c: sums a producer gave, by operator, type and sub-graph, and the chart of the longest. */
#include <stdio.h>

#include "analyse/vendor/producer_ops.h"
#include "built_trace.h"

static void add_op(built *x, const char *full, const char *type, const char *side,
                   int64_t calls, int64_t total, uint8_t level) {
    row_producer_op g = row_producer_op_none();
    const char *slash = strrchr(full, '/');
    g.full_name = built_str(x, full);
    g.name = built_str(x, slash ? slash + 1 : full);
    g.type = built_str(x, type);
    g.side = built_str(x, side);
    g.subgraph = built_str(x, strncmp(full, "Gradients/", 10) == 0 ? "Gradients" : "Default");
    g.calls = calls;
    g.total = total;
    g.level = level;
    assert_int_equal(builder_put_producer_op(x->b, &g, NULL), OK);
}

static void add_some(built *x) {
    add_op(x, "MatMul", "MatMul", "AI Core", 25, 2807, PRODUCER_TYPE);
    add_op(x, "Default/a/MatMul-op1", "MatMul", "AI Core", 3, 300, PRODUCER_OPERATOR);
    add_op(x, "Gradients/b/MatMul-op1", "MatMul", "AI Core", 3, 100, PRODUCER_OPERATOR);
    add_op(x, "GetNext", "GetNext", "AI CPU", 2, 50, PRODUCER_OPERATOR);
}

static void operators_keep_their_paths_apart(void **state) {
    built x;
    built_init(&x);
    add_some(&x);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_operators, NULL), OK);
    const table *t = built_table(&x, "operators");
    assert_int_equal(t->n_rows, 3); /* the row of the type is not an operator */
    assert_true(built_is(t, 0, "name", "MatMul-op1"));
    assert_true(built_is(t, 0, "full_name", "Default/a/MatMul-op1"));
    assert_int_equal(built_int(t, 0, "mean"), 100);
    assert_true(built_real(t, 0, "share") == 0.75); /* of the AI Core */
    assert_true(built_real(t, 2, "share") == 1.0);  /* of the AI CPU */
    built_fini(&x);
}

static void types_are_the_given_ones_or_added_up(void **state) {
    built x;
    built_init(&x);
    add_some(&x);
    built_seal(&x);
    x.params.group = GROUP_TYPE;
    assert_int_equal(built_ask(&x, analyse_operators, NULL), OK);
    const table *t = built_table(&x, "operators");
    assert_int_equal(t->n_rows, 2);
    assert_int_equal(built_int(t, 0, "calls"), 25);
    assert_int_equal(built_int(t, 0, "device_total"), 2807);
    assert_true(built_is(t, 1, "name", "GetNext")); /* the AI CPU gave no types */
    built_fini(&x);
}

static void sub_graphs_add_up_operators(void **state) {
    built x;
    built_init(&x);
    add_some(&x);
    add_op(&x, "Default/a/Cast-op9", "Cast", "AI Core", 1, 10, PRODUCER_OPERATOR);
    built_seal(&x);
    x.params.group = GROUP_SUBGRAPH;
    assert_int_equal(built_ask(&x, analyse_operators, NULL), OK);
    const table *t = built_table(&x, "operators");
    assert_int_equal(t->n_rows, 3);
    assert_true(built_is(t, 0, "name", "Default"));
    assert_int_equal(built_int(t, 1, "device_total"), 100);
    assert_int_equal(built_int(t, 0, "device_total"), 310);
    assert_false(built_is(t, 0, "type", "MatMul")); /* of one type no longer */
    assert_true(built_is(t, 1, "type", "MatMul"));
    built_fini(&x);
}

/* A call that was counted, or timed, with its shapes. */
static void add_shaped(built *x, const char *name, const char *shapes, int64_t total) {
    row_producer_op g = row_producer_op_none();
    g.name = g.full_name = g.type = built_str(x, name);
    g.side = built_str(x, "AI Core");
    g.shapes = built_str(x, shapes);
    g.calls = 2;
    g.total = total;
    g.level = PRODUCER_OPERATOR;
    assert_int_equal(builder_put_producer_op(x->b, &g, NULL), OK);
}

static void shapes_tell_calls_apart_where_they_are_asked_for(void **state) {
    built x;
    built_init(&x);
    add_shaped(&x, "MatMul", "8,8;8,8", 300);
    add_shaped(&x, "MatMul", "16,8;8,8", 500);
    add_shaped(&x, "Never", "1", ABSENT_I64);
    built_seal(&x);
    x.params.group = GROUP_NAME_SHAPE;
    assert_int_equal(built_ask(&x, analyse_operators, NULL), OK);
    const table *t = built_table(&x, "operators");
    assert_int_equal(t->n_rows, 3);
    assert_true(built_is(t, 0, "shapes", "16,8;8,8"));
    assert_int_equal(built_int(t, 1, "device_total"), 300);
    assert_int_equal(built_int(t, 2, "calls"), 2);
    assert_true(built_is(t, 2, "name", "Never"));
    assert_int_equal(built_table(&x, "top")->n_rows, 1); /* what was timed */
    x.answer = (answer){0};
    x.params.group = GROUP_NAME;
    assert_int_equal(built_ask(&x, analyse_operators, NULL), OK);
    t = built_table(&x, "operators");
    assert_int_equal(t->n_rows, 2);
    assert_int_equal(built_int(t, 0, "device_total"), 800);
    assert_true(built_is(t, 0, "info", NULL));
    built_fini(&x);
}

static void the_chart_has_twenty_types_and_the_rest(void **state) {
    built x;
    char name[16];
    built_init(&x);
    for (int i = 0; i < 25; i++) {
        snprintf(name, sizeof name, "T%02d", i);
        add_op(&x, name, name, "host", 10, 1000 + 10 * i, PRODUCER_TYPE);
    }
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_operators, NULL), OK);
    const table *t = built_table(&x, "top");
    assert_int_equal(t->n_rows, 21);
    assert_true(built_is(t, 0, "name", "T24"));
    assert_int_equal(built_int(t, 0, "mean"), 124);
    assert_true(built_is(t, 20, "name", "Others"));
    assert_int_equal(built_int(t, 20, "calls"), 50);
    assert_int_equal(built_int(t, 20, "total"), 1000 + 1010 + 1020 + 1030 + 1040);
    double sum = 0;
    for (size_t i = 0; i < t->n_rows; i++) sum += built_real(t, i, "share");
    assert_true(sum > 0.999999 && sum < 1.000001);
    built_fini(&x);
}

static void names_of_graphs_are_taken_apart(void **state) {
    assert_true(graph_name_is(STR("Default/net/Conv2D-op12")));
    assert_false(graph_name_is(STR("aten::conv2d")));
    assert_false(graph_name_is(STR("-op")));
    assert_true(str_eq(graph_name_short(STR("Default/net/Conv2D-op12")), STR("Conv2D-op12")));
    assert_true(str_eq(graph_name_type(STR("Default/net/Conv2D-op12")), STR("Conv2D")));
    assert_true(str_eq(graph_name_subgraph(STR("Gradients/x-op1")), STR("Gradients")));
    assert_int_equal(graph_name_subgraph(STR("x-op1")).n, 0);
    assert_true(str_eq(graph_name_short(STR("torch/x.py")), STR("torch/x.py")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_keep_their_paths_apart),
        cmocka_unit_test(types_are_the_given_ones_or_added_up),
        cmocka_unit_test(sub_graphs_add_up_operators),
        cmocka_unit_test(shapes_tell_calls_apart_where_they_are_asked_for),
        cmocka_unit_test(the_chart_has_twenty_types_and_the_rest),
        cmocka_unit_test(names_of_graphs_are_taken_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
