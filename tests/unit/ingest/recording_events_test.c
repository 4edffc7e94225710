/* recording_events_test.c: events of a thread that do not fit together, and what becomes of them;
 * what fits together is tested with the recorder itself (tests/unit/record). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "unit/ingest/made_recording.h"

static trace *read_made(made_recording *m) {
    error err = {0};
    trace *t = made_read(m, &err);
    if (!t) fail_msg("refused with message %d", err.message);
    made_free(m);
    return t;
}

static void an_end_without_a_begin_is_counted(void **state) {
    made_recording m = made_new();
    made_event(&m, 10, 0, TACHO_EVENT_END, 0, NULL, 0);
    trace *t = read_made(&m);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END), 1);
    assert_int_equal(t->events_dropped, 1);
    trace_release(t);
}

static void in_a_flight_recorder_it_is_expected(void **state) {
    made_recording m = made_new();
    made_header(&m)->flags = TACHO_FILE_FLIGHT;
    made_header(&m)->flight_ns = 1000;
    made_event(&m, 10, 0, TACHO_EVENT_INSTANT, 0, NULL, 0); /* older than asked for */
    made_event(&m, 5000, 0, TACHO_EVENT_END, 0, NULL, 0);
    trace *t = read_made(&m);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END), 0);
    assert_int_equal(t->instant.n, 1);
    trace_release(t);
}

static void an_end_closes_the_range_of_its_name(void **state) {
    made_recording m = made_new();
    made_event(&m, 10, 1, TACHO_EVENT_BEGIN, 0, NULL, 0);
    made_event(&m, 20, 2, TACHO_EVENT_BEGIN, 0, NULL, 0);
    made_event(&m, 30, 1, TACHO_EVENT_END, 0, NULL, 0); /* the inner one was jumped over */
    made_event(&m, 40, 3, TACHO_EVENT_END, 0, NULL, 0); /* unmatched */
    made_name(&m, 1, "outer");
    made_name(&m, 2, "inner");
    trace *t = read_made(&m);
    assert_int_equal(t->slice.n - 1, 2);
    assert_int_equal(t->slice.dur[1], 20);
    assert_int_equal(t->slice.dur[2], 10);
    assert_int_equal(t->slice.flags[1], 0);
    assert_int_equal(t->slice.flags[2], SLICE_UNFINISHED);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END), 1);
    trace_release(t);
}

/* enter() { begin(range) }  …  leave() { end(range) } */
static void frames_and_ranges_end_each_by_themselves(void **state) {
    made_recording m = made_new();
    made_event(&m, 10, 1, TACHO_EVENT_BEGIN, TACHO_RANGE_PYTHON, NULL, 0);
    made_event(&m, 20, 2, TACHO_EVENT_BEGIN, TACHO_RANGE_PLAIN, NULL, 0);
    made_event(&m, 30, 1, TACHO_EVENT_END, 0, NULL, 0);
    made_event(&m, 40, 3, TACHO_EVENT_BEGIN, TACHO_RANGE_PYTHON, NULL, 0);
    made_event(&m, 50, 0, TACHO_EVENT_END, 0, NULL, 0); /* of the range */
    made_event(&m, 60, 3, TACHO_EVENT_END, 0, NULL, 0);
    made_name(&m, 1, "enter");
    made_name(&m, 2, "range");
    made_name(&m, 3, "leave");
    trace *t = read_made(&m);
    assert_int_equal(t->slice.n - 1, 3);
    for (uint32_t i = 1; i <= 3; i++) {
        bool range = str_eq(trace_str(t, t->slice.name[i]), STR("range"));
        assert_int_equal(t->slice.dur[i], range ? 30 : 20);
        assert_int_equal(t->slice.flags[i] & SLICE_UNFINISHED, 0);
    }
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END), 0);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_BEGIN), 0);
    trace_release(t);
}

static void payloads_that_are_too_short_are_skipped(void **state) {
    made_recording m = made_new();
    for (uint32_t kind = 1; kind < 32; kind++)
        made_event(&m, kind * 10, 1, kind, kind, NULL, 0);
    trace *t = read_made(&m);
    assert_int_equal(t->counter.n, 1);
    assert_int_equal(t->memory.n, 1);
    assert_int_equal(t->kernel.n, 1);
    trace_release(t);
}

static void operators_of_which_little_is_known_take_little_room(void **state) {
    made_recording m = made_new();
    tacho_sequence_slot number = {.sequence = 5};
    made_event(&m, 10, 1, TACHO_EVENT_OP, TACHO_RANGE_OPTIMIZER, NULL, 0);
    made_event(&m, 20, 0, TACHO_EVENT_END, 0, NULL, 0);
    made_event(&m, 30, 1, TACHO_EVENT_OP, TACHO_RANGE_FORWARD, &number, sizeof number);
    made_event(&m, 40, 0, TACHO_EVENT_END, 0, NULL, 0);
    made_event(&m, 50, 1, TACHO_EVENT_OP, TACHO_RANGE_BACKWARD, &number, sizeof number);
    made_event(&m, 60, 0, TACHO_EVENT_END, 0, NULL, 0);
    trace *t = read_made(&m);
    assert_int_equal(t->op.n - 1, 3);
    assert_int_equal(t->op.phase[1], PHASE_OPTIMIZER);
    assert_int_equal(t->op.sequence[1], ABSENT_I64);
    assert_int_equal(t->op.bytes[1], ABSENT_I64);
    assert_true(isnan(t->op.flops[1]));
    assert_int_equal(t->op.sequence[2], 5);
    assert_int_equal(t->op.phase[3], PHASE_BACKWARD);
    assert_int_equal(t->flow.n - 1, 1);
    trace_release(t);
}

static void tensors_that_lead_outside_are_cut(void **state) {
    made_recording m = made_new();
    struct {
        tacho_op_slots fixed;
        tacho_tensor_word word;
        int64_t dim;
    } op = {
        {.flops = 5, .bytes = -1, .sequence = -1, .n_tensors = 1000, .n_frames = 4000000000u},
        {.type = 200, .n_dims = 1},
        3};
    made_event(&m, 10, 1, TACHO_EVENT_OP, TACHO_RANGE_FORWARD, &op, sizeof op);
    made_event(&m, 20, 0, TACHO_EVENT_END, 0, NULL, 0);
    trace *t = read_made(&m);
    assert_int_equal(t->op.n - 1, 1);
    assert_true(str_eq(trace_str(t, t->op.shapes[1]), STR("[[3]]")));
    assert_true(str_eq(trace_str(t, t->op.types[1]), STR("[\"\"]")));
    assert_int_equal(t->op.bytes[1], ABSENT_I64);
    trace_release(t);
}

static void device_work_that_ends_before_it_begins_is_dropped(void **state) {
    made_recording m = made_new();
    tacho_device_slots w = {.start_tick = 1000500, .end_tick = 1000400, .device = 0};
    made_event(&m, 600, 1, TACHO_EVENT_DEVICE, TACHO_RANGE_KERNEL, &w, sizeof w);
    trace *t = read_made(&m);
    assert_int_equal(t->kernel.n, 1);
    assert_int_equal(trace_quality(t, CAUSE_NEGATIVE_DURATION), 1);
    trace_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_without_a_begin_is_counted),
        cmocka_unit_test(in_a_flight_recorder_it_is_expected),
        cmocka_unit_test(an_end_closes_the_range_of_its_name),
        cmocka_unit_test(frames_and_ranges_end_each_by_themselves),
        cmocka_unit_test(payloads_that_are_too_short_are_skipped),
        cmocka_unit_test(operators_of_which_little_is_known_take_little_room),
        cmocka_unit_test(tensors_that_lead_outside_are_cut),
        cmocka_unit_test(device_work_that_ends_before_it_begins_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
