/* summary_rows_test.c: tables that both a trace and a summary have. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/intern.h"
#include "store/builder.h"
#include "store/summary_rows.h"

static uint32_t text(builder *b, const char *s) {
    return intern_add(builder_strings(b), str_of(s));
}

/* Two collectives of the second of two costs, and a resource. */
static trace *make(void) {
    builder *b = builder_new();
    trace *t = NULL;
    row_comm_cost cost = row_comm_cost_none();
    assert_int_equal(builder_put_comm_cost(b, &cost, NULL), OK);
    assert_int_equal(builder_put_comm_cost(b, &cost, NULL), OK);
    for (int i = 0; i < 2; i++) {
        row_comm_cost_op op = row_comm_cost_op_none();
        op.cost = i ? 7 : 2; /* the seventh was never added */
        op.name = text(b, i ? "b" : "a");
        assert_int_equal(builder_put_comm_cost_op(b, &op, NULL), OK);
    }
    row_resource r = row_resource_none();
    r.flops = 5;
    assert_int_equal(builder_put_resource(b, &r, NULL), OK);
    assert_int_equal(builder_seal(b, NULL, &t, NULL), OK);
    builder_free(b);
    return t;
}

static void rows_keep_their_order_and_what_is_absent(void **state) {
    trace *t = make();
    arena a;
    void *rows;
    uint32_t n;
    (void)state;
    arena_init(&a, 0);
    assert_int_equal(
        summary_rows_of_trace(t, SUMMARY_comm_cost_op, STR("w"), &a, &rows, &n, NULL), OK);
    const summary_comm_cost_op *op = rows;
    assert_int_equal(n, 2);
    assert_true(str_eq(op[0].worker, STR("w")));
    assert_int_equal(op[0].number, 1);
    assert_int_equal(op[0].cost, 2);
    assert_int_equal(op[1].cost, 0);
    assert_true(str_eq(op[1].name, STR("b")));
    assert_int_equal(op[1].waiting, ABSENT_I64);
    assert_int_equal(summary_rows_of_trace(t, SUMMARY_resource, STR("w"), &a, &rows, &n, NULL),
                     OK);
    assert_true(((const summary_resource *)rows)->flops == 5);
    assert_true(isnan(((const summary_resource *)rows)->utilization));
    arena_fini(&a);
    trace_release(t);
}

static void a_summary_has_the_rows_of_each_worker(void **state) {
    trace *t = make();
    summary *s = summary_new();
    void *rows;
    uint32_t n;
    (void)state;
    summary_rows_of_worker(s, SUMMARY_link, STR("a"), &rows, &n);
    assert_int_equal(n, 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(summary_take_rows(s, t, SUMMARY_comm_cost_op,
                                           summary_text(s, i ? STR("a") : STR("b")), NULL),
                         OK);
    trace_release(t); /* its texts are the summary's own now */
    assert_int_equal(summary_settle(s, NULL), OK);
    for (int i = 0; i < 2; i++) {
        str worker = i ? STR("a") : STR("b");
        summary_rows_of_worker(s, SUMMARY_comm_cost_op, worker, &rows, &n);
        assert_int_equal(n, 2);
        assert_true(str_eq(((const summary_comm_cost_op *)rows)->worker, worker));
        assert_true(str_eq(((const summary_comm_cost_op *)rows)[1].name, STR("b")));
    }
    summary_rows_of_worker(s, SUMMARY_comm_cost_op, STR("c"), &rows, &n);
    assert_int_equal(n, 0);
    summary_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_keep_their_order_and_what_is_absent),
        cmocka_unit_test(a_summary_has_the_rows_of_each_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
