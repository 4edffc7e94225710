/* flops_scopes_test.c: operations of a network by scope. */
#include "analyse/vendor/flops_scopes.h"
#include "built_trace.h"

static void add_operator(built *x, const char *path, double cube, double vector) {
    row_producer_op g = row_producer_op_none();
    g.name = g.full_name = built_str(x, path);
    g.level = PRODUCER_OPERATOR;
    g.total = 1;
    g.flops = cube;
    g.vector_flops = vector;
    assert_int_equal(builder_put_producer_op(x->b, &g, NULL), OK);
}

static double flops_of(const table *t, const char *source, const char *target) {
    for (size_t i = 0; i < t->n_rows; i++)
        if (built_is(t, i, "source", source) && built_is(t, i, "target", target))
            return built_real(t, i, "flops");
    fail_msg("no link %s to %s", source, target);
    return 0;
}

static void operations_add_up_along_the_path(void **state) {
    built x;
    (void)state;
    built_init(&x);
    add_operator(&x, "Default/net/conv/Conv2D-op1", 100, 10);
    add_operator(&x, "Default/net/MatMul-op2", 30, (double)NAN);
    add_operator(&x, "Gradients/net/conv/Conv2D-op3", 7, 0);
    add_operator(&x, "NoPath-op4", 5, 0);
    add_operator(&x, "Default/Cast-op5", (double)NAN, (double)NAN);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_operators, NULL), OK);
    const table *t = built_table(&x, "flops_scopes");
    assert_int_equal(t->n_rows, 6);
    assert_true(flops_of(t, "Total", "Default") == 140);
    assert_true(flops_of(t, "Default", "net(Default)") == 140);
    assert_true(flops_of(t, "net(Default)", "conv(Default)") == 110);
    assert_true(flops_of(t, "net(Gradients)", "conv(Gradients)") == 7);
    built_fini(&x);
}

static void the_producers_links_are_believed(void **state) {
    built x;
    (void)state;
    built_init(&x);
    add_operator(&x, "Default/net/conv/Conv2D-op1", 100, 10);
    row_scope_flops row = {
        .source = built_str(&x, "Total"), .target = built_str(&x, "Default"), .flops = 2.5e6};
    BUILT_PUT(&x, scope_flops, row);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_operators, NULL), OK);
    const table *t = built_table(&x, "flops_scopes");
    assert_int_equal(t->n_rows, 1);
    assert_true(built_real(t, 0, "flops") == 2.5e6);
    built_fini(&x);
}

static void nothing_known_is_not_a_table(void **state) {
    built x;
    (void)state;
    built_init(&x);
    built_slice(&x, 1, KIND_OP, "aten::mm", 0, 10);
    built_seal(&x);
    assert_int_equal(built_ask(&x, analyse_operators, NULL), OK);
    for (uint32_t i = 0; i < x.answer.n_tables; i++)
        assert_true(strcmp(x.answer.tables[i]->name, "flops_scopes") != 0);
    built_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_add_up_along_the_path),
        cmocka_unit_test(the_producers_links_are_believed),
        cmocka_unit_test(nothing_known_is_not_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
