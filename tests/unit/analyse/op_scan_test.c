/* op_scan_test.c: every call once, children first. */
#include "fake_trace.h"

#include "analyse/operators/op_scan.h"

typedef struct {
    op_call calls[16];
    int n;
} seen;

static status keep(void *context, const op_call *c, error *err) {
    seen *s = context;
    assert_true(s->n < 16);
    s->calls[s->n++] = *c;
    return OK;
}

static void scan(fake *f, seen *s) {
    const trace *t = fake_seal(f);
    params p = fake_params();
    selection select;
    tensor_core_names tensor;
    select_init(&select, t, &p);
    assert_int_equal(tensor_core_init(&tensor, t, &f->arena, NULL), OK);
    op_scan scan = {.t = t,
                    .select = &select,
                    .tensor = &tensor,
                    .arena = &f->arena,
                    .visit = keep,
                    .context = s};
    *s = (seen){.n = 0};
    assert_int_equal(op_scan_run(&scan, NULL), OK);
}

static void children_come_before_their_parents(void **state) {
    fake f;
    seen s;
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_STEP, "ProfilerStep#1", 0, 1000);
    int a = fake_add(&f, host, KIND_OP, "a", 10, 100);
    int b = fake_add(&f, host, KIND_OP, "b", 20, 30);
    int c = fake_add(&f, host, KIND_OP, "c", 60, 30);
    scan(&f, &s);
    assert_int_equal(s.n, 3);
    assert_int_equal(s.calls[0].slice, f.id[b]);
    assert_int_equal(s.calls[1].slice, f.id[c]);
    assert_int_equal(s.calls[2].slice, f.id[a]);
    assert_int_equal(s.calls[2].n_children, 2);
    assert_int_equal(op_call_self_ns(&s.calls[2]), 40);
    fake_fini(&f);
}

static void a_chain_of_duplicates_is_one_call_with_the_innermost_children(void **state) {
    fake f;
    seen s;
    fake_init(&f);
    int host = fake_thread(&f);
    int outer = fake_add(&f, host, KIND_OP, "x", 0, 100);
    fake_add(&f, host, KIND_OP, "x", 1, 98);
    fake_add(&f, host, KIND_OP, "x", 10, 20); /* two children: no duplicates */
    fake_add(&f, host, KIND_OP, "x", 40, 20);
    scan(&f, &s);
    assert_int_equal(s.n, 3);
    assert_int_equal(s.calls[2].slice, f.id[outer]);
    assert_int_equal(s.calls[2].n_children, 2);
    assert_int_equal(op_call_self_ns(&s.calls[2]), 60);
    fake_fini(&f);
}

static void identical_ranges_nest_by_order(void **state) {
    fake f;
    seen s;
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_OP, "outer", 100, 70);
    fake_add(&f, host, KIND_OP, "inner", 100, 70);
    scan(&f, &s);
    assert_int_equal(s.n, 2);
    assert_int_equal(op_call_self_ns(&s.calls[0]), 70);
    assert_int_equal(op_call_self_ns(&s.calls[1]), 0);
    fake_fini(&f);
}

static void an_empty_op_at_the_end_of_another_is_its_sibling(void **state) {
    fake f;
    seen s;
    fake_init(&f);
    int host = fake_thread(&f);
    int a = fake_add(&f, host, KIND_OP, "a", 0, 10);
    int b = fake_add(&f, host, KIND_OP, "b", 10, 0);
    scan(&f, &s);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.calls[0].slice, f.id[a]); /* it has ended when the other begins */
    assert_int_equal(s.calls[0].n_children, 0);
    assert_int_equal(s.calls[1].slice, f.id[b]);
    fake_fini(&f);
}

static void threads_do_not_mix(void **state) {
    fake f;
    seen s;
    fake_init(&f);
    int one = fake_thread(&f), two = fake_thread(&f);
    fake_add(&f, one, KIND_OP, "a", 0, 100);
    fake_add(&f, two, KIND_OP, "a", 10, 20);
    scan(&f, &s);
    assert_int_equal(s.n, 2);
    assert_int_equal(op_call_self_ns(&s.calls[0]), 100);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_come_before_their_parents),
        cmocka_unit_test(a_chain_of_duplicates_is_one_call_with_the_innermost_children),
        cmocka_unit_test(identical_ranges_nest_by_order),
        cmocka_unit_test(an_empty_op_at_the_end_of_another_is_its_sibling),
        cmocka_unit_test(threads_do_not_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
