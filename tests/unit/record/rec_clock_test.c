/* rec_clock_test.c: ticks become the time that the system's clock shows. */
#include "unit/record/record_helper.h"

#include <stdlib.h>
#include <unistd.h>

#include "record/rec_clock.h"

static void the_counter_goes_forward(void **state) {
    rec_clock_init();
    uint64_t last = rec_tick();
    assert_true(last != 0);
    for (int i = 0; i < 100000; i++) {
        uint64_t now = rec_tick();
        assert_true(now >= last);
        last = now;
    }
}

static void the_rate_is_that_of_the_counter(void **state) {
    rec_clock_init();
    usleep(20000);
    double rate = (double)rec_clock_rate();
    tacho_side_clock a = rec_clock_pair();
    usleep(50000);
    tacho_side_clock b = rec_clock_pair();
    double measured =
        (double)(b.tick - a.tick) * 1e9 / (double)(b.monotonic_ns - a.monotonic_ns);
    assert_true(rate > measured * 0.99 && rate < measured * 1.01);
}

static void durations_agree_with_the_system_clock(void **state) {
    fresh_folder();
    start_all();
    int64_t outer = rec_clock_ns(CLOCK_MONOTONIC);
    TACHO_BEGIN("sleep");
    int64_t inner = rec_clock_ns(CLOCK_MONOTONIC);
    usleep(60000);
    inner = rec_clock_ns(CLOCK_MONOTONIC) - inner;
    TACHO_END();
    outer = rec_clock_ns(CLOCK_MONOTONIC) - outer;
    trace *t = stop_and_read();
    int64_t dur = t->slice.dur[one_slice(t, "sleep")];
    /* its two ends are between the readings, however long the machine waits there */
    assert_true(dur >= inner - inner / 1000 && dur <= outer + outer / 1000);
    int64_t now = rec_clock_ns(CLOCK_REALTIME);
    assert_true(llabs(now - t->base_unix_ns) < (int64_t)60 * 1000000000);
    trace_release(t);
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_counter_goes_forward),
        cmocka_unit_test(the_rate_is_that_of_the_counter),
        cmocka_unit_test_teardown(durations_agree_with_the_system_clock, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
