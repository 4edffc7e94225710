/* rec_sample_test.c: which steps are sampled, and what asks for one more. */
#include "unit/record/record_helper.h"

#include <stdio.h>
#include <string.h>

#include "record/rec_live.h"
#include "record/rec_sample.h"

#define SECOND 1000000000

static void start_sampling(uint32_t every, double flight_seconds) {
    tacho_options o = {.size = sizeof o,
                       .path = fresh_folder(),
                       .worker = "me",
                       .flight_seconds = flight_seconds,
                       .sample_every = every};
    assert_int_equal(tacho_start(&o), TACHO_OK);
}

/* The steps: '*' sampled, '-' left out. */
static const char *steps_of(const trace *t) {
    static char text[256];
    size_t n = 0;
    for (uint32_t i = 1; i < t->step.n && n + 1 < sizeof text; i++)
        text[n++] = t->step.left_out[i] ? '-' : '*';
    text[n] = 0;
    return text;
}

static void one_step_in_n_is_sampled_and_the_first_three(void **state) {
    start_sampling(5, 0);
    char now[16] = "";
    for (int i = 0; i < 12; i++) {
        now[i] = tacho_is_sampled() ? '*' : '-';
        tacho_step();
    }
    assert_string_equal(now, "***--*----*-");
    trace *t = stop_and_read();
    assert_string_equal(steps_of(t), "***--*----*-");
    assert_true(str_eq(trace_meta(t, STR("sample_every")), STR("5")));
    trace_release(t);
    assert_int_equal(tacho_is_sampled(), 0);
}

static void without_sampling_all_steps_are_whole(void **state) {
    for (uint32_t every = 0; every < 2; every++) {
        start_sampling(every, 0);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(tacho_is_sampled(), 1);
            tacho_step();
        }
        trace *t = stop_and_read();
        assert_string_equal(steps_of(t), "*****");
        assert_int_equal(trace_meta(t, STR("sample_every")).n, 0);
        trace_release(t);
    }
}

static void each_file_begins_with_sampled_steps(void **state) {
    start_sampling(100, 30);
    for (int i = 0; i < 6; i++) tacho_step();
    assert_int_equal(tacho_is_sampled(), 0);
    assert_int_equal(tacho_trigger("test"), TACHO_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tacho_is_sampled(), 1);
        tacho_step();
    }
    assert_int_equal(tacho_is_sampled(), 0);
    assert_int_equal(tacho_stop(), TACHO_OK);
}

static void the_window_of_a_flight_recorder_has_a_sampled_step(void **state) {
    start_sampling(1000000, 1e-6); /* half a microsecond is over whenever a step ends */
    for (int i = 0; i < 6; i++) {
        assert_int_equal(tacho_is_sampled(), 1);
        tacho_step();
    }
    assert_int_equal(tacho_stop(), TACHO_OK);
}

static void what_a_program_records_itself_is_in_all_steps(void **state) {
    start_sampling(100, 0);
    for (int i = 0; i < 6; i++) {
        tacho_op op = {.size = sizeof op, .name = "mine", .sequence = -1};
        tacho_op_begin(&op);
        tacho_op_end();
        tacho_step();
    }
    trace *t = stop_and_read();
    assert_int_equal(count_slices(t, "mine"), 6);
    trace_release(t);
}

static void only_steps_with_hooks_among_others_count_as_sampled(void **state) {
    rec_step s;
    start_sampling(4, 0);
    for (int i = 0; i < 6; i++) tacho_step();
    uint64_t n = rec_live_n_steps();
    for (uint64_t i = 0; i < 6; i++) { /* steps 0 … 5 in their order */
        assert_true(rec_live_step_at(n - 6 + i, &s));
        assert_int_equal(s.is_sampled, i < 3 || i == 4);
    }
    assert_int_equal(tacho_stop(), TACHO_OK);
    start_sampling(0, 0);
    tacho_step();
    assert_true(rec_live_step_at(rec_live_n_steps() - 1, &s));
    assert_false(s.is_sampled);
    assert_int_equal(tacho_stop(), TACHO_OK);
}

/* ---- steps unlike others ----------------------------------------------------------------------- */

static uint64_t call;

static int64_t unix_now(void) {
    return rec_clock_ns(CLOCK_REALTIME);
}

/* A step that launches these kernels, a letter each, in this order. */
static void make_step(const char *kernels) {
    for (const char *k = kernels; *k; k++) {
        tacho_gpu_slots w = {.correlation = ++call, .stream = 7, .grid = {(uint32_t)*k, 1, 1}};
        rec_sample_call(call, unix_now());
        rec_sample_work(1, TACHO_RANGE_KERNEL, &w);
    }
    tacho_step();
}

static void judge_later(void) {
    rec_sample_call(++call, unix_now()); /* the step that runs has begun to launch, too */
    rec_sample_judge(unix_now() + 10ll * SECOND);
}

static void a_step_that_did_something_else_asks_for_a_sample(void **state) {
    start_sampling(1000, 0);
    for (int i = 0; i < 8; i++) make_step("abc");
    judge_later();
    make_step("abc");
    assert_int_equal(tacho_is_sampled(), 0); /* all were the same */
    make_step("acb");                        /* in any order */
    judge_later();
    make_step("abc");
    assert_int_equal(tacho_is_sampled(), 0);
    make_step("abd");
    judge_later();
    make_step("abc");
    assert_int_equal(tacho_is_sampled(), 1);
    make_step("abd"); /* the sample that was asked for */
    assert_int_equal(tacho_is_sampled(), 0);
    judge_later();
    make_step("abd"); /* known now */
    judge_later();
    make_step("abc");
    assert_int_equal(tacho_is_sampled(), 0);
    assert_int_equal(tacho_stop(), TACHO_OK);
}

static void nothing_is_asked_before_the_records_are_here(void **state) {
    start_sampling(1000, 0);
    for (int i = 0; i < 4; i++) make_step("abc");
    judge_later();
    make_step("x");
    make_step("abc");
    rec_sample_judge(unix_now() + SECOND);
    make_step("abc");
    assert_int_equal(tacho_is_sampled(), 0);
    assert_int_equal(tacho_stop(), TACHO_OK);
}

static void steps_that_never_repeat_ask_only_so_often(void **state) {
    int n_sampled = 0;
    start_sampling(1000, 0);
    for (int i = 0; i < 200; i++) {
        char kernels[] = {(char)(1 + i % 100), (char)(1 + i / 100), 'x', 0};
        n_sampled += tacho_is_sampled();
        make_step(kernels);
        judge_later();
    }
    assert_int_equal(n_sampled, 3 + 8);
    assert_int_equal(tacho_stop(), TACHO_OK);
}

/* ---- no steps ---------------------------------------------------------------------------------- */

static void without_steps_windows_of_time_are_sampled(void **state) {
    start_sampling(10, 0);
    int64_t now = rec_clock_ns(CLOCK_MONOTONIC);
    rec_sample_tick(now + 2ll * SECOND);
    assert_int_equal(tacho_is_sampled(), 1);
    rec_sample_tick(now + 4ll * SECOND); /* the first seconds were sampled */
    assert_int_equal(tacho_is_sampled(), 0);
    rec_sample_tick(now + 8ll * SECOND);
    assert_int_equal(tacho_is_sampled(), 0);
    rec_sample_tick(now + 9ll * SECOND); /* nine windows later */
    assert_int_equal(tacho_is_sampled(), 1);
    rec_sample_tick(now + 9ll * SECOND + SECOND / 4);
    assert_int_equal(tacho_is_sampled(), 1);
    rec_sample_tick(now + 10ll * SECOND);
    assert_int_equal(tacho_is_sampled(), 0);
    tacho_step(); /* now there are steps */
    assert_int_equal(tacho_is_sampled(), 1);
    assert_int_equal(tacho_stop(), TACHO_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_step_in_n_is_sampled_and_the_first_three),
        cmocka_unit_test(without_sampling_all_steps_are_whole),
        cmocka_unit_test(each_file_begins_with_sampled_steps),
        cmocka_unit_test(the_window_of_a_flight_recorder_has_a_sampled_step),
        cmocka_unit_test(what_a_program_records_itself_is_in_all_steps),
        cmocka_unit_test(only_steps_with_hooks_among_others_count_as_sampled),
        cmocka_unit_test(a_step_that_did_something_else_asks_for_a_sample),
        cmocka_unit_test(nothing_is_asked_before_the_records_are_here),
        cmocka_unit_test(steps_that_never_repeat_ask_only_so_often),
        cmocka_unit_test(without_steps_windows_of_time_are_sampled),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_folder();
    return failed;
}
