/* work_by_op_test.c: device work in host order. */
#include "fake_trace.h"

#include "analyse/operators/work_by_op.h"

static void work_comes_in_the_order_of_the_host_slices(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    int first = fake_add(&f, host, KIND_RUNTIME, "a", 0, 5);
    int second = fake_add(&f, host, KIND_RUNTIME, "b", 10, 5);
    int third = fake_add(&f, host, KIND_RUNTIME, "c", 20, 5);
    fake_work(&f, gpu, KIND_KERNEL, "of c", 30, 1, third);
    fake_work(&f, gpu, KIND_KERNEL, "of a", 40, 2, first);
    fake_work(&f, gpu, KIND_KERNEL, "of nobody", 45, 2, -1);
    fake_work(&f, gpu, KIND_KERNEL, "of a, later", 50, 3, first);
    const trace *t = fake_seal(&f);
    work_list w;
    assert_int_equal(work_by_host(t, t->kernel.launch, &f.arena, &w, NULL), OK);
    assert_int_equal(w.n, 3);
    assert_int_equal(t->slice.dur[t->kernel.slice[work_next(&w, f.id[first])]], 2);
    assert_int_equal(t->slice.dur[t->kernel.slice[work_next(&w, f.id[first])]], 3);
    assert_int_equal(work_next(&w, f.id[first]), 0);
    assert_int_equal(work_next(&w, f.id[second]), 0);
    assert_int_equal(t->slice.dur[t->kernel.slice[work_next(&w, f.id[third])]], 1);
    assert_int_equal(work_next(&w, f.id[third]), 0);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_comes_in_the_order_of_the_host_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
