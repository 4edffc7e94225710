/* host_tree_test.c: host ranges as trees. */
#include "unit/analyse/fake_trace.h"

#include "compat/host_tree.h"

static void ranges_are_met_before_those_inside_them_and_the_last_first(void **state) {
    (void)state;
    fake f;
    host_tree h;
    selection s;
    params p = fake_params();
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_STEP, "a", 0, 100);
    fake_add(&f, host, KIND_OP, "b", 10, 30);
    int call = fake_add(&f, host, KIND_RUNTIME, "launch", 15, 5);
    fake_add(&f, host, KIND_OP, "c", 50, 30);
    fake_add(&f, host, KIND_STEP, "d", 200, 10);
    fake_work(&f, gpu, KIND_KERNEL, "k", 300, 7, call);
    fake_work(&f, gpu, KIND_MEMCPY, "m", 310, 2, call);
    const trace *t = fake_seal(&f);
    select_init(&s, t, &p);
    assert_int_equal(host_tree_make(&h, &s, &f.arena, NULL), OK);
    uint32_t track = 1;
    while (!host_tree_thread(&h, track)) track++;
    char order[16] = "";
    for (uint32_t i = 0; (i = host_tree_next(&h, i));)
        strncat(order, trace_slice_name(t, i).p, 1);
    assert_string_equal(order, "dacb");
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (str_eq(trace_slice_name(t, i), STR("a"))) {
            assert_int_equal(h.work_ns[i], 9);
            assert_int_equal(h.kernel_ns[i], 7);
        }
    assert_int_equal(h.n_calls, 1);
    assert_int_equal(host_tree_find(h.work, h.n_work, h.calls[0].row), 0);
    assert_int_equal(host_tree_find(h.work, h.n_work, h.calls[0].row + 1), h.n_work);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_met_before_those_inside_them_and_the_last_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
