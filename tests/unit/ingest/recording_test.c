/* recording_test.c: the file, its clock and its side records, whole and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/recording/recording.h"
#include "unit/ingest/made_recording.h"

static trace *read_made(made_recording *m) {
    error err = {0};
    trace *t = made_read(m, &err);
    if (!t) fail_msg("refused with message %d", err.message);
    return t;
}

static void a_range_has_its_name_thread_and_times(void **state) {
    made_recording m = made_new();
    made_event(&m, 1000, 1, TACHO_EVENT_BEGIN, TACHO_RANGE_PLAIN, NULL, 0);
    made_event(&m, 5000, 0, TACHO_EVENT_END, 0, NULL, 0);
    made_name(&m, 1, "range"); /* after its use: side records are read first */
    trace *t = read_made(&m);
    assert_int_equal(t->slice.n - 1, 1);
    assert_int_equal(t->slice.start[1], 1000);
    assert_int_equal(t->slice.dur[1], 4000);
    assert_true(str_eq(trace_slice_name(t, 1), STR("range")));
    uint32_t track = trace_track_of(t, 1);
    assert_int_equal(t->track.tid[track], 77);
    assert_true(str_eq(trace_str(t, t->track.name[track]), STR("main")));
    assert_int_equal(t->process.pid[t->track.process[track]], 100);
    assert_int_equal(t->base_unix_ns, 1700000000000000000);
    assert_true(str_eq(t->format, STR("tacho_recording")));
    trace_release(t);
    made_free(&m);
}

static void a_clock_that_changes_its_rate_bends_the_line(void **state) {
    made_recording m = made_new();
    /* After 1 ms the counter runs at half the speed: 2 ns a tick. */
    tacho_side_clock third = {1000000 + 2000000, 5000 + 1000000 + 2000000, 0, 10};
    made_side(&m, TACHO_SIDE_CLOCK, &third, sizeof third, "");
    tacho_side_clock wrong = {1000000 + 1500000, 4000, 0, 10}; /* goes back: not believed */
    made_side(&m, TACHO_SIDE_CLOCK, &wrong, sizeof wrong, "");
    made_event(&m, 500000, 1, TACHO_EVENT_INSTANT, 0, NULL, 0);
    made_event(&m, 1500000, 1, TACHO_EVENT_INSTANT, 0, NULL, 0);
    trace *t = read_made(&m);
    assert_int_equal(t->instant.time[1], 500000);
    assert_int_equal(t->instant.time[2], 1000000 + 2 * 500000);
    trace_release(t);
    made_free(&m);
}

/* Whatever a damaged pair says of the time of day, its differences do not overflow. */
static void times_of_day_may_be_any_number(void **state) {
    made_recording m = made_new();
    tacho_side_clock third = {3000000, 5000 + 3000000, INT64_MIN, 10};
    made_side(&m, TACHO_SIDE_CLOCK, &third, sizeof third, "");
    tacho_side_clock fourth = {4000000, 5000 + 4000000, INT64_MAX, 10};
    made_side(&m, TACHO_SIDE_CLOCK, &fourth, sizeof fourth, "");
    made_event(&m, 500000, 1, TACHO_EVENT_INSTANT, 0, NULL, 0);
    trace *t = read_made(&m);
    assert_int_equal(t->instant.time[1], 500000);
    trace_release(t);
    made_free(&m);
}

static void without_clocks_ticks_count_as_nanoseconds(void **state) {
    made_recording m = made_new();
    memset(m.p + TACHO_FILE_HEADER_BYTES + TACHO_CHUNK_HEADER_BYTES, 0, 64);
    made_event(&m, 700, 1, TACHO_EVENT_INSTANT, 0, NULL, 0);
    trace *t = read_made(&m);
    assert_int_equal(t->instant.time[1], 700);
    trace_release(t);
    made_free(&m);
}

static void a_chunk_handed_on_is_cut_at_the_new_thread(void **state) {
    made_recording m = made_new();
    struct {
        uint64_t row;
        int64_t tid;
    } second = {2, 78};
    made_side(&m, TACHO_SIDE_THREAD, &second, sizeof second, "second");
    made_event(&m, 10, 1, TACHO_EVENT_INSTANT, 0, NULL, 0);
    made_event(&m, 20, 2, TACHO_EVENT_THREAD, 0, NULL, 0);
    made_event(&m, 30, 1, TACHO_EVENT_INSTANT, 0, NULL, 0);
    trace *t = read_made(&m);
    assert_int_equal(t->instant.n - 1, 2);
    assert_int_equal(t->track.tid[t->instant.track[1]], 77);
    assert_int_equal(t->track.tid[t->instant.track[2]], 78);
    trace_release(t);
    made_free(&m);
}

static void losses_the_recorder_counted_are_in_the_quality(void **state) {
    made_recording m = made_new();
    made_header(&m)->lost[TACHO_LOST_FULL] = 12;
    made_header(&m)->lost[TACHO_LOST_NAMES] = 3;
    made_header(&m)->lost[TACHO_LOST_INSIDE] = 4;
    made_header(&m)->lost[TACHO_LOST_DEVICE] = UINT64_MAX; /* hostile */
    trace *t = read_made(&m);
    assert_int_equal(trace_quality(t, CAUSE_RECORDER_FULL), 12);
    assert_int_equal(trace_quality(t, CAUSE_RECORDER_NAMES), 3);
    assert_true(trace_quality(t, CAUSE_DEVICE_DROPPED) > 0);
    assert_int_equal(trace_quality(t, CAUSE_RECORDER_INSIDE), 4);
    assert_int_equal(t->events_dropped, 16);
    trace_release(t);
    made_free(&m);
}

static void another_version_is_refused(void **state) {
    made_recording m = made_new();
    error err = {0};
    made_header(&m)->version = 9;
    assert_null(made_read(&m, &err));
    assert_int_equal(err.status, ERR_UNSUPPORTED);
    made_header(&m)->version = TACHO_FILE_VERSION;
    made_header(&m)->chunk_bytes = 7;
    assert_null(made_read(&m, &err));
    assert_int_equal(err.status, ERR_FORMAT);
    made_free(&m);
}

static void a_file_cut_anywhere_is_read_as_far_as_it_goes(void **state) {
    made_recording m = made_new();
    made_name(&m, 1, "name");
    for (uint64_t i = 0; i < 200; i++) {
        tacho_counter_slot value = {.value = (double)i};
        made_event(&m, 10 * i, 1, TACHO_EVENT_COUNTER, 0, &value, sizeof value);
    }
    for (size_t n = 0; n <= m.n; n += n < 4200 ? 7 : 997) {
        made_recording cut = {.p = malloc(n ? n : 1), .n = n};
        error err = {0};
        memcpy(cut.p, m.p, n);
        trace *t = made_read(&cut, &err);
        if (t) assert_true(t->counter.n - 1 <= 200);
        if (n >= TACHO_FILE_HEADER_BYTES) assert_non_null(t);
        if (t) trace_release(t);
        free(cut.p);
    }
    made_free(&m);
}

static void lengths_that_lead_outside_end_the_chunk(void **state) {
    made_recording m = made_new();
    tacho_side bad = {0xfffffff0u, TACHO_SIDE_NAME};
    memcpy(m.p + m.side, &bad, sizeof bad);
    m.slot = m.n - sizeof(tacho_slot); /* the last slot of the chunk */
    tacho_slot last = {2000000, 1, TACHO_EVENT_OP | 255u << 8};
    memcpy(m.p + m.slot, &last, sizeof last);
    trace *t = read_made(&m);
    assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 1);
    assert_int_equal(t->slice.n, 1);
    trace_release(t);
    made_free(&m);
}

static void metadata_that_is_not_json_becomes_json(void **state) {
    made_recording m = made_new();
    struct {
        uint64_t n;
        char key[8];
    } fixed = {3, "key"};
    made_side(&m, TACHO_SIDE_META, &fixed, 8 + 3, "plain words");
    trace *t = read_made(&m);
    assert_true(trace_meta(t, STR("key")).n > 0);
    trace_release(t);
    made_free(&m);
}

static void only_recordings_count_as_ours(void **state) {
    made_recording m = made_new();
    assert_true(recording_is_ours(str_n((const char *)m.p, m.n)));
    assert_false(recording_is_ours(str_n((const char *)m.p, 15)));
    made_header(&m)->profile = 2;
    assert_false(recording_is_ours(str_n((const char *)m.p, m.n)));
    made_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_has_its_name_thread_and_times),
        cmocka_unit_test(a_clock_that_changes_its_rate_bends_the_line),
        cmocka_unit_test(times_of_day_may_be_any_number),
        cmocka_unit_test(without_clocks_ticks_count_as_nanoseconds),
        cmocka_unit_test(a_chunk_handed_on_is_cut_at_the_new_thread),
        cmocka_unit_test(losses_the_recorder_counted_are_in_the_quality),
        cmocka_unit_test(another_version_is_refused),
        cmocka_unit_test(a_file_cut_anywhere_is_read_as_far_as_it_goes),
        cmocka_unit_test(lengths_that_lead_outside_end_the_chunk),
        cmocka_unit_test(metadata_that_is_not_json_becomes_json),
        cmocka_unit_test(only_recordings_count_as_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
