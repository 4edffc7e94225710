/* stage_times_test.c: times of the stages in each step and in all. */
#include "example_trace.h"

#include "analyse/steps/stage_times.h"

static void stages_of_a_step_add_up_to_it(void **state) {
    fake f;
    example e;
    const trace *t = example_make(&f, &e);
    params p = fake_params();
    selection s;
    step_spans steps;
    stage_times times;
    select_init(&s, t, &p);
    assert_int_equal(step_spans_make(t, &s, &f.arena, &steps, NULL), OK);
    assert_int_equal(stage_times_make(&s, &steps, &f.arena, &times, NULL), OK);
    int64_t host = 0, device = 0;
    for (int i = 0; i < N_STAGES; i++) {
        host += times.host[0][i];
        device += times.device[0][i];
    }
    assert_int_equal(host, times.host[0][STAGE_STEP]);
    assert_int_equal(host, 400);
    assert_int_equal(device, times.device[0][STAGE_STEP]);
    assert_int_equal(times.total[STAGE_FORWARD].device, 30);
    assert_int_equal(times.total[STAGE_BACKWARD].device, 50);
    fake_fini(&f);
}

static void device_time_of_a_stage_is_a_union(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), a = fake_stream(&f, 0), b = fake_stream(&f, 0);
    for (int i = 0; i < 2; i++) {
        fake_step(&f, i, 100 * i, 100 * i + 100);
        fake_add(&f, host, KIND_FORWARD, "forward", 100 * i + 10, 50);
        int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 100 * i + 20, 5);
        fake_work(&f, a, KIND_KERNEL, "k", 100 * i + 30, 40, call);
        fake_work(&f, b, KIND_KERNEL, "k", 100 * i + 50, 60 + 10 * i,
                  call); /* the first reaches into step 2 */
    }
    const trace *t = fake_seal(&f);
    params p = fake_params();
    selection s;
    step_spans steps;
    stage_times times;
    select_init(&s, t, &p);
    assert_int_equal(step_spans_make(t, &s, &f.arena, &steps, NULL), OK);
    assert_int_equal(stage_times_make(&s, &steps, &f.arena, &times, NULL), OK);
    assert_int_equal(times.device[0][STAGE_FORWARD], 80);
    assert_int_equal(times.device[1][STAGE_FORWARD], 90);
    assert_int_equal(times.total[STAGE_FORWARD].device, 170);
    assert_int_equal(times.total[STAGE_FORWARD].calls, 2);
    assert_int_equal(times.total[STAGE_FORWARD].device_max, 90);
    assert_int_equal(times.total[STAGE_FORWARD].device_min, 80);
    assert_int_equal(times.total[STAGE_OTHER].host, 100);
    stage_event events[N_STAGES][N_KINDS];
    assert_int_equal(stage_events_make(&s, &steps, &times, events, NULL), OK);
    assert_int_equal(events[STAGE_FORWARD][KIND_KERNEL].calls, 4);
    assert_int_equal(events[STAGE_FORWARD][KIND_KERNEL].ns, 170);
    assert_int_equal(events[STAGE_FORWARD][KIND_RUNTIME].calls, 2);
    assert_int_equal(events[STAGE_FORWARD][KIND_RUNTIME].ns, 10);
    assert_int_equal(events[STAGE_OTHER][KIND_RUNTIME].calls, 0);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_of_a_step_add_up_to_it),
        cmocka_unit_test(device_time_of_a_stage_is_a_union),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
