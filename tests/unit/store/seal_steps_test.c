/* seal_steps_test.c: the training steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "unit/ingest/read_helper.h"

/* An X event on thread `tid` of process 1. */
#define X(cat, name, tid, ts, dur, args)                                              \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" #tid \
    ",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{" args "}}"

static void steps_are_numbered_by_their_names_in_order_of_time(void **state) {
    trace *t = read_events(EVENTS(X("user_annotation", "ProfilerStep#12", 1, 50, 40, ""),
                                  X("user_annotation", "ProfilerStep#11", 1, 5, 40, ""),
                                  X("gpu_user_annotation", "ProfilerStep#11", 7, 5, 90, "")));
    assert_int_equal(t->step.n, 3);
    assert_int_equal(t->step.number[1], 11);
    assert_int_equal(t->step.start[1], 5000);
    assert_int_equal(t->step.end[1], 45000);
    assert_int_equal(t->slice.start[t->step.slice[1]], 5000);
    assert_int_equal(t->step.number[2], 12);
    trace_release(t);
}

static void a_step_without_number_counts_on(void **state) {
    trace *t = read_events(EVENTS(X("cpu_op", "ProfilerStep#x", 1, 0, 5, ""),
                                  X("cpu_op", "ProfilerStep#7", 1, 10, 5, ""),
                                  X("cpu_op", "ProfilerStep#", 1, 20, 5, "")));
    assert_int_equal(t->step.number[1], 0);
    assert_int_equal(t->step.number[2], 7);
    assert_int_equal(t->step.number[3], 8);
    trace_release(t);
}

static void the_largest_number_does_not_overflow(void **state) {
    trace *t = read_events(EVENTS(X("cpu_op", "ProfilerStep#9223372036854775807", 1, 0, 5, ""),
                                  X("cpu_op", "ProfilerStep#x", 1, 10, 5, "")));
    assert_int_equal(t->step.number[2], INT64_MAX);
    trace_release(t);
}

static void a_trace_without_steps_has_none(void **state) {
    trace *t = read_events(X("cpu_op", "a", 1, 0, 5, ""));
    assert_int_equal(t->step.n, 1);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_numbered_by_their_names_in_order_of_time),
        cmocka_unit_test(a_step_without_number_counts_on),
        cmocka_unit_test(the_largest_number_does_not_overflow),
        cmocka_unit_test(a_trace_without_steps_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
