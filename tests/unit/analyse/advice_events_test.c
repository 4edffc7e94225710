/* advice_events_test.c: the most expensive events, in order, and no more than a reader looks
 * at. */
#include "fake_trace.h"

#include "analyse/advise/advice_events.h"

static void the_most_expensive_stay_in_order(void **state) {
    event_list l = {.n = 0};
    for (uint32_t i = 1; i <= 100; i++) /* costs 37, 74, 10, 47, …: every number once */
        event_list_add(&l, (advice_event){.cost_ns = (int64_t)(i * 37 % 101), .slice = i});
    assert_int_equal(l.n, ADVICE_EVENTS);
    for (uint32_t i = 0; i < l.n; i++) assert_int_equal(l.v[i].cost_ns, 100 - (int64_t)i);
}

static void of_equal_ones_the_first_comes_first(void **state) {
    event_list l = {.n = 0};
    for (uint32_t i = 1; i <= 3; i++)
        event_list_add(&l, (advice_event){.cost_ns = 5, .slice = i});
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(l.v[i].slice, i + 1);
}

static void gaps_point_to_the_work_that_ends_them(void **state) {
    fake f;
    event_list l = {.n = 0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 90, 5);
    int work = fake_work(&f, gpu, KIND_KERNEL, "gemm", 100, 30, call);
    const trace *t = fake_seal(&f);
    idle_piece gap = {.range = {20, 100}, .after = trace_kernel_of(t, f.id[work])};
    event_list_add_gap(&l, t, &gap, 60);
    event_list_add_gap(&l, t, &gap, 0); /* costs nothing: not an event */
    event_list_add_slice(&l, t, f.id[work], 70);
    assert_int_equal(l.n, 2);
    assert_false(l.v[0].is_gap);
    assert_int_equal(l.v[0].range.end, 130);
    assert_true(l.v[1].is_gap);
    assert_int_equal(l.v[1].slice, f.id[work]);
    assert_int_equal(l.v[1].range.start, 20);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_expensive_stay_in_order),
        cmocka_unit_test(of_equal_ones_the_first_comes_first),
        cmocka_unit_test(gaps_point_to_the_work_that_ends_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
