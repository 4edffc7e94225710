/* module_work_test.c: the device work of a module, by its calls and by the backward pass. */
#include "analyse/operators/module_work.h"
#include "example_trace.h"

static unsigned count_work(const trace *t, const char *name) {
    arena a = {0};
    params p = fake_params();
    selection s;
    module_work w;
    unsigned n = 0;
    select_init(&s, t, &p);
    assert_int_equal(module_work_find(t, &s, str_of(name), &a, &w, NULL), OK);
    for (uint32_t k = 1; k < t->kernel.n; k++) n += module_work_has(&w, k);
    arena_fini(&a);
    return n;
}

static void a_module_has_the_work_of_its_calls_and_of_their_backward_pass(void **state) {
    fake f;
    example e;
    const trace *t = example_make(&f, &e);
    assert_int_equal(t->kernel.n, 3); /* forward, backward */
    assert_int_equal(count_work(t, "Linear_0"), 2);
    assert_int_equal(count_work(t, "Net_0"), 2); /* that of the module inside, too */
    fake_fini(&f);
}

static void an_unknown_name_has_no_work(void **state) {
    fake f;
    example e;
    const trace *t = example_make(&f, &e);
    assert_int_equal(count_work(t, "Conv_9"), 0);
    assert_int_equal(count_work(t, "Linear"), 0);
    fake_fini(&f);
}

static void work_next_to_a_call_is_not_its_own(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), other = fake_thread(&f), gpu = fake_stream(&f, 0);
    example_module(&f, host, "nn.Module: A_0", 0, 100);
    example_module(&f, host, "nn.Module: A_0", 10, 20); /* it calls itself */
    int last = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 50, 2);
    int after = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 120, 2);
    int beside = fake_add(&f, other, KIND_RUNTIME, "cudaLaunchKernel", 50, 2);
    fake_work(&f, gpu, KIND_KERNEL, "inside", 200, 10, last);
    fake_work(&f, gpu, KIND_KERNEL, "after", 220, 10, after);
    fake_work(&f, gpu, KIND_KERNEL, "beside", 240, 10, beside);
    fake_work(&f, gpu, KIND_KERNEL, "nobody's", 260, 10, -1);
    assert_int_equal(count_work(fake_seal(&f), "A_0"), 1);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_module_has_the_work_of_its_calls_and_of_their_backward_pass),
        cmocka_unit_test(an_unknown_name_has_no_work),
        cmocka_unit_test(work_next_to_a_call_is_not_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
