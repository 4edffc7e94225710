/* advice_facts_test.c: what the rules look at, found in the steps and nowhere else. */
#include "advice_case.h"
#include "analyse/advise/advice.h"

static advice_facts find(advice_case *c) {
    analysis_trace *one = ARENA_NEW(&c->arena, analysis_trace);
    analysis_input *in = ARENA_NEW(&c->arena, analysis_input);
    params *p = ARENA_NEW(&c->arena, params);
    advice_facts f;
    error err;
    *one = (analysis_trace){.trace = fake_seal(&c->f), .rank = ABSENT_I64};
    *in = (analysis_input){.traces = one, .n_traces = 1};
    *p = fake_params();
    assert_int_equal(advice_facts_find(in, p, &(advice_workers){0}, &c->arena, &f, &err), OK);
    return f;
}

static void step_of_a_time_is_the_one_that_holds_it(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 100);
    case_step(&c, 2, 150, 300);
    case_host(&c, KIND_OP, "op", 0, 300);
    advice_facts f = find(&c);
    assert_int_equal(advice_step_at(&f, 99 * US), 0);
    assert_true(advice_step_at(&f, 100 * US) == UINT32_MAX);
    assert_int_equal(advice_step_at(&f, 150 * US), 1);
    assert_true(advice_step_at(&f, 300 * US) == UINT32_MAX);
    case_end(&c);
}

static void median_and_mean_leave_the_first_step_out(void **state) {
    advice_case c;
    int64_t ends[] = {0, 900, 1000, 1200, 1500};
    case_begin(&c);
    for (int i = 0; i < 4; i++) case_step(&c, i, ends[i], ends[i + 1]);
    case_host(&c, KIND_OP, "op", 0, 1500);
    advice_facts f = find(&c);
    assert_int_equal(f.median_ns, 200 * US);
    assert_int_equal(f.later_ns, 200 * US);
    assert_int_equal(f.longest, 3);
    assert_true(f.has & NEED_STEPS);
    case_end(&c);
}

static void events_outside_the_steps_do_not_count(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 100, 200);
    case_host(&c, KIND_RUNTIME, "cudaMemcpy", 10, 20);
    case_host(&c, KIND_RUNTIME, "cudaMemcpy", 110, 20);
    case_kernel(&c, "before", 50, 60, 10);
    case_kernel(&c, "inside", 150, 160, 10);
    advice_facts f = find(&c);
    assert_int_equal(f.sync_copy.n, 1);
    assert_int_equal(f.sync_copy_ns, 20 * US);
    assert_int_equal(f.kernel.n, 1);
    assert_int_equal(f.kernel.ns, 10 * US);
    assert_int_equal(f.small.n, 0); /* 10 µs are not below 10 µs */
    case_end(&c);
}

static void per_step_is_a_mean_and_at_most_the_step(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 100);
    case_step(&c, 2, 100, 200);
    case_host(&c, KIND_OP, "op", 0, 200);
    advice_facts f = find(&c);
    assert_int_equal(f.step_ns, 100 * US);
    assert_int_equal(advice_per_step(&f, 50 * US), 25 * US);
    assert_int_equal(advice_per_step(&f, 5000 * US), 100 * US);
    assert_near(advice_share(&f, 25 * US), 0.25);
    case_end(&c);
}

static void names_on_the_host_are_known(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    case_host(&c, KIND_RUNTIME, "cudaDeviceSynchronize", 300, 10);
    case_host(&c, KIND_DRIVER, "cuStreamSynchronize", 200, 10);
    case_host(&c, KIND_RUNTIME, "cudaFree", 400, 10);
    case_host(&c, KIND_ANNOTATION, "DistributedDataParallel.forward", 500, 10);
    case_host(&c, KIND_COLLECTIVE, "nccl:all_reduce", 600, 10);
    advice_facts f = find(&c);
    assert_int_equal(f.n_blocking, 2);
    assert_int_equal(c.f.t.slice.start[f.blocking[0]], 200 * US); /* by start */
    assert_int_equal(f.allocator_call.n, 1);
    assert_true(f.distributed && f.nccl && !f.data_parallel);
    assert_int_equal(f.collective.n, 1);
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_of_a_time_is_the_one_that_holds_it),
        cmocka_unit_test(median_and_mean_leave_the_first_step_out),
        cmocka_unit_test(events_outside_the_steps_do_not_count),
        cmocka_unit_test(per_step_is_a_mean_and_at_most_the_step),
        cmocka_unit_test(names_on_the_host_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
