/* rec_cost_test.c: hooks are tried without a trace, and what they cost is in the file. */
#include "record/rec_cost.h"

#include <string.h>

#include "unit/record/record_helper.h"

static int tear_down(void **state) {
    (void)state;
    (void)tacho_stop();
    remove_folder();
    return 0;
}

static void start(void) {
    (void)fresh_folder();
    start_all();
}

static int64_t fact(const trace *t, const char *key) {
    int64_t v;
    return str_to_i64(trace_meta(t, str_of(key)), &v) ? v : -1;
}

static void events_of_a_trial_are_not_seen(void **state) {
    (void)state;
    start();
    tacho_mark("before");
    uint32_t room = tacho_trial_begin();
    assert_true(room >= 64);
    assert_int_equal(tacho_trial_begin(), 0);                    /* one at a time */
    for (uint32_t i = 0; i < 2 * room; i++) tacho_mark("tried"); /* more than fit */
    tacho_trial_end();
    tacho_mark("after");
    trace *t = stop_and_read();
    assert_int_equal(t->instant.n, 1 + 2);
    assert_int_equal(t->events_dropped, 0);
    trace_release(t);
}

/* A forward pass that is tried does not begin the first step. */
static void a_trial_begins_no_step(void **state) {
    (void)state;
    start();
    tacho_mark("m");
    rec_awaits_batch = 1;
    assert_true(tacho_trial_begin() > 0);
    tacho_begin_id(tacho_name("tried"), TACHO_RANGE_FORWARD);
    tacho_end_range();
    tacho_step();
    tacho_trial_end();
    assert_int_equal(rec_awaits_batch, 1);
    tacho_begin_id(tacho_name("forward"), TACHO_RANGE_FORWARD);
    tacho_end_range();
    assert_int_equal(rec_awaits_batch, 0);
    tacho_step();
    trace *t = stop_and_read();
    assert_int_equal(t->step.n, 1 + 1);
    trace_release(t);
}

/* The chunk continues over the place of the trial. */
static void a_chunk_is_filled_after_a_trial(void **state) {
    enum { MARKS = 20000 };
    (void)state;
    start();
    for (int i = 0; i < MARKS; i++) {
        tacho_mark("m");
        if (i % 512 == 0 && tacho_trial_begin()) {
            tacho_mark("tried");
            tacho_trial_end();
        }
    }
    trace *t = stop_and_read();
    assert_int_equal(t->instant.n, 1 + MARKS);
    trace_release(t);
}

static void a_trial_that_outlives_its_recording_does_no_harm(void **state) {
    (void)state;
    start();
    tacho_mark("m");
    assert_true(tacho_trial_begin() > 0);
    assert_int_equal(tacho_stop(), TACHO_OK);
    rec_helper_catch_up();
    tacho_mark("tried");
    tacho_trial_end();
    start_all();
    tacho_mark("next");
    trace *t = stop_and_read();
    assert_int_equal(t->instant.n, 1 + 1);
    trace_release(t);
}

static void the_file_says_what_events_cost(void **state) {
    (void)state;
    start();
    for (int i = 0; i < 1000; i++) tacho_mark("m");
    tacho_cost(TACHO_COST_START, 12345678, 1);
    trace *t = stop_and_read();
    int64_t events = fact(t, "cost_events"), ns = fact(t, "cost_events_ns");
    assert_true(events >= 1000 && events < 1010);
    assert_true(ns > events / 2 && ns < events * 10000);
    assert_true(fact(t, "cost_start_ns") > 12345678);
    assert_true(fact(t, "cost_stop_ns") > 0);
    assert_true(fact(t, "cost_covered_ns") > 0);
    trace_release(t);
}

static void hooks_that_were_tried_replace_their_events(void **state) {
    tacho_op op = {.size = sizeof op, .name = "op"};
    (void)state;
    start();
    for (int i = 0; i < 100; i++) {
        tacho_op_begin(&op);
        tacho_op_end();
        tacho_begin_text("module", TACHO_RANGE_MODULE);
        tacho_end_range();
    }
    tacho_cost(TACHO_COST_OP, 50000, 10);
    tacho_cost(TACHO_COST_OP, 70000, 10);
    tacho_cost(TACHO_COST_STOP, 1, 1); /* not theirs to say */
    tacho_cost((tacho_cost_kind)999, 1, 1);
    trace *t = stop_and_read();
    assert_int_equal(fact(t, "cost_operators_ns"), 100 * 6000);
    assert_int_equal(fact(t, "cost_modules_not_tried"), 100);
    assert_int_equal(fact(t, "cost_modules_ns"), -1);
    assert_true(fact(t, "cost_events") >= 400);
    trace_release(t);
    start_all(); /* what was tried holds for later files, what happened once does not */
    tacho_op_begin(&op);
    tacho_op_end();
    t = stop_and_read();
    assert_int_equal(fact(t, "cost_operators_ns"), 6000);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(events_of_a_trial_are_not_seen, tear_down),
        cmocka_unit_test_teardown(a_trial_begins_no_step, tear_down),
        cmocka_unit_test_teardown(a_chunk_is_filled_after_a_trial, tear_down),
        cmocka_unit_test_teardown(a_trial_that_outlives_its_recording_does_no_harm, tear_down),
        cmocka_unit_test_teardown(the_file_says_what_events_cost, tear_down),
        cmocka_unit_test_teardown(hooks_that_were_tried_replace_their_events, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
