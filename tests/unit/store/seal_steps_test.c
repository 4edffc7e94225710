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

/* ---- marks of frameworks ---- */

#define RANGE(name, ts, dur) X("user_annotation", name, 1, ts, dur, "")

static void expect_steps(const char *events, uint32_t n, int64_t first, step_how how) {
    trace *t = read_events(events);
    assert_int_equal(t->step.n, n + 1);
    if (n) assert_int_equal(t->step.number[1], first);
    if (n) assert_int_equal(t->step.how[1], how);
    trace_release(t);
}

static void step_num_marks_a_step_of_jax(void **state) {
    const char *events = EVENTS(X("", "train", 1, 10, 30, "\"step_num\":\"4\",\"_r\":\"1\""),
                                X("", "train", 1, 50, 30, "\"step_num\":\"5\""),
                                X("", "inner", 1, 55, 10, "\"step_num\":\"5\""));
    expect_steps(events, 2, 4, STEP_MARKED);
}

static void ranges_of_frameworks_mark_steps(void **state) {
    expect_steps(EVENTS(RANGE("[pl][profile]run_training_batch", 0, 9),
                        RANGE("[pl][profile][Strategy]DDP.training_step", 1, 5)),
                 1, 0, STEP_MARKED);
    expect_steps(EVENTS(RANGE("iteration 12", 0, 9), RANGE("iteration 13", 10, 9)), 2, 12,
                 STEP_MARKED);
    expect_steps(EVENTS(RANGE("Step_7", 0, 9), RANGE("Step_8", 10, 9)), 2, 7, STEP_MARKED);
    expect_steps(EVENTS(RANGE("step[DECODE bs=16]", 0, 9)), 1, 0, STEP_MARKED);
    expect_steps(EVENTS(RANGE("execute_context_1(888_788544)_generation_0(0)", 0, 9)), 1, 0,
                 STEP_MARKED);
    expect_steps(EVENTS(RANGE("execute_new_3_cached_17", 0, 9)), 1, 0, STEP_MARKED);
    expect_steps(EVENTS(X("python_function", "vllm/worker.py(3): execute_model", 1, 0, 9, ""),
                        X("python_function", "vllm/runner.py(9): execute_model", 1, 1, 5, ""),
                        X("python_function", "vllm/worker.py(3): execute_model", 1, 10, 9, "")),
                 2, 0, STEP_MARKED);
}

static void other_names_mark_no_steps(void **state) {
    expect_steps(EVENTS(RANGE("iteration 12", 0, 9)), 0, 0, STEP_MARKED);
    expect_steps(EVENTS(RANGE("Step 90 to 100", 0, 9), RANGE("Step 100 to 110", 10, 9)), 0, 0,
                 STEP_MARKED);
    expect_steps(EVENTS(RANGE("capture_32_DECODE", 0, 9), RANGE("nccl:all_reduce", 10, 9)), 0,
                 0, STEP_MARKED);
}

static void numbers_that_begin_again_are_counted(void **state) {
    expect_steps(EVENTS(RANGE("epoch 0 step 5", 0, 9), RANGE("epoch 1 step 0", 10, 9)), 2, 0,
                 STEP_MARKED);
}

static void a_producers_step_counts_more_than_a_range(void **state) {
    expect_steps(EVENTS(RANGE("ProfilerStep#3", 0, 90), RANGE("iteration 12", 0, 9),
                        RANGE("iteration 13", 10, 9)),
                 1, 3, STEP_MARKED);
}

/* ---- nothing marks them ---- */

static void optimizer_steps_tell_steps(void **state) {
    trace *t = read_events(EVENTS(
        X("cpu_op", "aten::mm", 1, 2, 3, ""), RANGE("Optimizer.step#Adam.step", 6, 3),
        X("cpu_op", "aten::mm", 1, 12, 3, ""), RANGE("Optimizer.step#Adam.step", 16, 3)));
    assert_int_equal(t->step.n, 3);
    assert_int_equal(t->step.how[1], STEP_BY_OPTIMIZER);
    assert_int_equal(t->step.start[1], 2000);
    assert_int_equal(t->step.end[1], 9000);
    assert_int_equal(t->step.start[2], 9000);
    assert_int_equal(t->step.end[2], 19000);
    trace_release(t);
}

#define FETCH(ts) RANGE("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", ts, 2)

static void a_fetch_begins_a_step_and_gradients_may_add_up(void **state) {
    trace *t =
        read_events(EVENTS(FETCH(1), FETCH(5), RANGE("Optimizer.step#SGD.step", 8, 2),
                           FETCH(12), FETCH(15), RANGE("Optimizer.step#SGD.step", 18, 2)));
    assert_int_equal(t->step.n, 3);
    assert_int_equal(t->step.start[1], 1000);
    assert_int_equal(t->step.end[1], 12000);
    assert_int_equal(t->step.start[2], 12000);
    trace_release(t);
}

static char *repeat_operators(const char *const *names, int n_names, int rounds, bool ranges) {
    static char text[20000];
    size_t at = 0;
    for (int r = 0, ts = 0; r < rounds; r++, ts += 20) {
        if (ranges)
            at +=
                (size_t)snprintf(text + at, sizeof text - at,
                                 "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"mine\","
                                 "\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":%d},",
                                 ts, 10 * n_names + 5);
        for (int i = 0; i < n_names; i++, ts += 10)
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::%s\","
                                   "\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":8}",
                                   i ? "," : "", names[i], ts + 1);
        at += (size_t)snprintf(text + at, sizeof text - at, r + 1 < rounds ? "," : "");
    }
    return text;
}

static void a_range_that_repeats_around_all_work_is_a_step(void **state) {
    static const char *const names[] = {"a", "b"};
    expect_steps(repeat_operators(names, 2, 4, true), 4, 0, STEP_BY_RANGE);
}

static void operators_that_repeat_tell_steps(void **state) {
    static const char *const names[] = {"a", "b", "b", "c", "d", "e"};
    trace *t = read_events(repeat_operators(names, 6, 5, false));
    assert_int_equal(t->step.n, 6);
    assert_int_equal(t->step.how[5], STEP_BY_OPERATORS);
    assert_int_equal(t->step.start[1], 1000);
    assert_int_equal(t->step.end[1], 81000);
    assert_int_equal(t->step.end[5], 379000);
    assert_int_equal(t->step.slice[3], 0);
    assert_true(t->step.confidence[1] > 0.99);
    trace_release(t);
}

/* Kernels of which the first ones were launched before the recording: they run from 500 on, one
 * every 10, the host is far ahead. */
static char *run_queue(const char *const *names, int n_names, int rounds, int n_before) {
    static char text[40000];
    size_t at = 0;
    for (int i = 0; i < n_names * rounds; i++) {
        at += (size_t)snprintf(
            text + at, sizeof text - at,
            "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":0,"
            "\"tid\":7,\"ts\":%d,\"dur\":9,\"args\":{\"device\":0,\"stream\":7,"
            "\"correlation\":%d}}",
            i ? "," : "", names[i % n_names], 500 + 10 * i, i + 1);
        if (i < n_before) continue;
        at += (size_t)snprintf(text + at, sizeof text - at,
                               ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":"
                               "\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1,"
                               "\"args\":{\"correlation\":%d}}",
                               2 * (i - n_before), i + 1);
    }
    return text;
}

static void a_queue_that_was_full_at_the_start_does_not_hide_launches(void **state) {
    static const char *const names[] = {"a", "b", "b", "c", "d", "e"};
    trace *t = read_events(run_queue(names, 6, 16, 6 * 8));
    assert_int_equal(t->step.n, 9);
    assert_int_equal(t->step.how[1], STEP_BY_KERNELS);
    assert_int_equal(t->step.start[1], 0); /* of its launches, not of its kernels */
    assert_int_equal(t->step.start[2], 12000);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_numbered_by_their_names_in_order_of_time),
        cmocka_unit_test(a_step_without_number_counts_on),
        cmocka_unit_test(the_largest_number_does_not_overflow),
        cmocka_unit_test(a_trace_without_steps_has_none),
        cmocka_unit_test(step_num_marks_a_step_of_jax),
        cmocka_unit_test(ranges_of_frameworks_mark_steps),
        cmocka_unit_test(other_names_mark_no_steps),
        cmocka_unit_test(numbers_that_begin_again_are_counted),
        cmocka_unit_test(a_producers_step_counts_more_than_a_range),
        cmocka_unit_test(optimizer_steps_tell_steps),
        cmocka_unit_test(a_fetch_begins_a_step_and_gradients_may_add_up),
        cmocka_unit_test(a_range_that_repeats_around_all_work_is_a_step),
        cmocka_unit_test(operators_that_repeat_tell_steps),
        cmocka_unit_test(a_queue_that_was_full_at_the_start_does_not_hide_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
