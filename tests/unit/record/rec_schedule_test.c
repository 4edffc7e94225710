/* rec_schedule_test.c: start, stop, schedules, the flight recorder, and what each costs. */
#include "unit/record/record_helper.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/rec_int.h"

static int n_ready;
static char ready_path[16][512];

static void on_ready(const char *path, void *context) {
    assert_ptr_equal(context, &n_ready);
    snprintf(ready_path[n_ready++ % 16], sizeof *ready_path, "%s", path);
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Of processors, all threads together. */
static int64_t worked_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void a_second_start_is_refused(void **state) {
    fresh_folder();
    start_all();
    tacho_options o = {.size = sizeof o};
    assert_int_equal(tacho_start(&o), TACHO_BUSY);
    assert_int_equal(tacho_stop(), TACHO_OK);
    assert_int_equal(tacho_stop(), TACHO_OFF);
}

static void a_folder_that_cannot_be_made_is_reported(void **state) {
    tacho_options o = {.size = sizeof o, .path = "/proc/no/such/place"};
    assert_int_equal(tacho_start(&o), TACHO_FAILED);
    assert_string_equal(tacho_error(), strerror(ENOENT));
    assert_int_equal(tacho_is_recording(), 0);
}

static void a_name_of_a_file_is_taken_as_it_is(void **state) {
    char path[512];
    snprintf(path, sizeof path, "%s/mine.tacho", fresh_folder());
    for (int i = 0; i < 2; i++) { /* the second replaces the first */
        tacho_options o = {.size = sizeof o, .path = path, .worker = "me"};
        assert_int_equal(tacho_start(&o), TACHO_OK);
        tacho_mark("x");
        assert_int_equal(tacho_stop(), TACHO_OK);
    }
    char names[4][512];
    assert_int_equal(list_recordings(names, 4), 1);
    assert_string_equal(names[0], path);
    trace *t = read_recording(path);
    assert_int_equal(t->instant.n, 2);
    trace_release(t);
}

static void steps_are_counted_from_the_number_given(void **state) {
    tacho_options o = {.size = sizeof o, .path = fresh_folder(), .first_step = 40};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    tacho_step();
    tacho_step();
    trace *t = stop_and_read();
    assert_int_equal(t->step.n - 1, 2);
    assert_int_equal(t->step.number[1], 40);
    assert_int_equal(t->step.number[2], 41);
    trace_release(t);
}

static void a_note_is_kept_in_the_recording_that_runs(void **state) {
    fresh_folder();
    tacho_note("before"); /* nothing records */
    start_all();
    tacho_note("the loader could not be seen");
    trace *t = stop_and_read();
    bool found = false, early = false;
    for (uint32_t i = 1; i < t->meta.n; i++) {
        str text = trace_str(t, t->meta.value[i]);
        found |= str_find(text, STR("the loader could not be seen"), 0) != SIZE_MAX;
        early |= str_find(text, STR("before"), 0) != SIZE_MAX;
    }
    assert_true(found);
    assert_false(early);
    trace_release(t);
}

static void each_window_of_a_schedule_is_a_separate_file(void **state) {
    n_ready = 0;
    tacho_options o = {
        .size = sizeof o,
        .path = fresh_folder(),
        .schedule = {.wait = 1, .warmup = 1, .active = 2, .repeat = 2, .skip_first = 3},
        .on_ready = on_ready,
        .context = &n_ready};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    for (int i = 0; i < 20; i++) {
        char name[32];
        snprintf(name, sizeof name, "work %d", i);
        tacho_begin_text(name, TACHO_RANGE_PLAIN);
        tacho_end_range();
        tacho_step();
    }
    assert_int_equal(tacho_stop(), TACHO_OK);
    assert_int_equal(n_ready, 2);
    static const int FIRST[] = {5, 9}; /* 3 skipped, 1 waited, 1 warm-up; then 4 in a circle */
    for (int w = 0; w < 2; w++) {
        trace *t = read_recording(ready_path[w]);
        assert_int_equal(t->step.n - 1, 2);
        for (int i = 0; i < 20; i++) {
            char name[32];
            snprintf(name, sizeof name, "work %d", i);
            bool inside = i >= FIRST[w] && i < FIRST[w] + 2;
            assert_int_equal(count_slices(t, name), inside);
        }
        assert_int_equal(t->step.number[1], FIRST[w]);
        assert_int_equal(t->step.number[2], FIRST[w] + 1);
        trace_release(t);
    }
}

static void steps_are_between_marks_and_the_rest_is_not_a_step(void **state) {
    fresh_folder();
    start_all();
    for (int i = 0; i < 3; i++) {
        usleep(300);
        tacho_step();
    }
    usleep(300);
    trace *t = stop_and_read();
    assert_int_equal(t->step.n - 1, 3);
    for (uint32_t i = 1; i < t->step.n; i++) {
        assert_int_equal(t->step.number[i], i - 1);
        assert_true(t->step.end[i] - t->step.start[i] >= 300000);
        if (i > 1) assert_int_equal(t->step.start[i], t->step.end[i - 1]);
    }
    trace_release(t);
}

/* As `tacho record` starts a program: its first step begins with what belongs to one. */
static void the_first_step_begins_with_the_first_batch(void **state) {
    char path[4096];
    tacho_options o = {.size = sizeof o, .path = fresh_folder()};
    rec_set_pending(&o);
    TACHO_BEGIN("setting up");
    usleep(2000);
    TACHO_END();
    for (int i = 0; i < 3; i++) {
        tacho_begin_text("next", TACHO_RANGE_DATA);
        usleep(300);
        tacho_end_range();
        tacho_begin_text("forward", TACHO_RANGE_FORWARD);
        tacho_end_range();
        tacho_step();
    }
    assert_int_equal(rec_stop(true, path, sizeof path), TACHO_OK);
    trace *t = read_recording(path);
    uint32_t before = one_slice(t, "setting up");
    assert_int_equal(t->step.n - 1, 3);
    assert_int_equal(t->step.number[1], 0);
    assert_true(t->step.start[1] >= t->slice.start[before] + t->slice.dur[before]);
    for (uint32_t i = 1; i < t->step.n; i++)
        assert_true(t->step.end[i] - t->step.start[i] >= 300000);
    trace_release(t);
}

/* Hooks ask before they record: the first one to ask is kept, too, and nothing is kept of a step
 * that is not wanted. */
static void who_asks_first_starts_a_recording_that_waits(void **state) {
    char path[4096];
    tacho_options o = {.size = sizeof o, .path = fresh_folder()};
    assert_int_equal(tacho_takes_event(), 0);
    rec_set_pending(&o);
    assert_int_equal(tacho_is_recording(), 0);
    assert_int_equal(tacho_takes_event(), 1);
    tacho_begin_text("first", TACHO_RANGE_DATA);
    tacho_end_range();
    assert_int_equal(rec_stop(true, path, sizeof path), TACHO_OK);
    trace *t = read_recording(path);
    (void)one_slice(t, "first");
    trace_release(t);
    rec_set_pending(&o);
    assert_int_equal(tacho_is_sampled(), 1);
    assert_int_equal(rec_stop(true, path, sizeof path), TACHO_OK);
    o.schedule.active = 1;
    o.schedule.skip_first = 2;
    rec_set_pending(&o);
    assert_int_equal(tacho_takes_event(), 0);
    (void)rec_stop(true, path, sizeof path);
}

static void a_thousand_cycles_leave_a_thousand_files(void **state) {
    n_ready = 0;
    tacho_options o = {.size = sizeof o,
                       .path = fresh_folder(),
                       .ring_bytes = 4 << 20,
                       .on_ready = on_ready,
                       .context = &n_ready};
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(tacho_start(&o), TACHO_OK);
        TACHO_BEGIN("range");
        TACHO_END();
        assert_int_equal(tacho_stop(), TACHO_OK);
        if (i % 100 == 0) {
            trace *t = read_recording(ready_path[(n_ready - 1) % 16]);
            assert_int_equal(count_slices(t, "range"), 1);
            trace_release(t);
        }
        unlink(ready_path[(n_ready - 1) % 16]);
    }
    assert_int_equal(n_ready, 1000);
    char fds[64];
    int open_fds = 0;
    for (int i = 0; i < 256; i++) {
        snprintf(fds, sizeof fds, "/proc/self/fd/%d", i);
        open_fds += access(fds, F_OK) == 0;
    }
    assert_true(open_fds < 64);
}

static void stopping_takes_milliseconds_whatever_was_recorded(void **state) {
    enum { RANGES = 300000 };
    fresh_folder();
    start_all();
    for (int i = 0; i < RANGES; i++) {
        TACHO_BEGIN("r");
        TACHO_END();
    }
    int64_t before = now_ns(), worked_before = worked_ns();
    assert_int_equal(tacho_stop(), TACHO_OK);
    int64_t took = now_ns() - before, worked = worked_ns() - worked_before;
    /* 10 ms on a quiet machine (bench/record); on a busy one it waits for its processor. */
    if (took > 50000000 && worked > 50000000) fail_msg("stop took %lld ns", (long long)took);
    char path[4096];
    tacho_path(path, sizeof path);
    trace *t = read_recording(path);
    assert_int_equal(count_slices(t, "r"), RANGES);
    assert_int_equal(trace_quality(t, CAUSE_RECORDER_FULL), 0);
    trace_release(t);
}

static void a_full_file_counts_what_it_loses(void **state) {
    enum { RANGES = 100000 };
    tacho_options o = {.size = sizeof o, .path = fresh_folder(), .ring_bytes = 1 << 20};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    for (int i = 0; i < RANGES; i++) tacho_mark("m");
    trace *t = stop_and_read();
    int64_t lost = trace_quality(t, CAUSE_RECORDER_FULL);
    assert_true(lost > 0);
    assert_int_equal((int64_t)t->instant.n - 1 + lost, RANGES);
    trace_release(t);
}

static void the_flight_recorder_keeps_the_last_seconds(void **state) {
    n_ready = 0;
    tacho_options o = {.size = sizeof o,
                       .path = fresh_folder(),
                       .ring_bytes = 2 << 20,
                       .flight_seconds = 0.05,
                       .on_ready = on_ready,
                       .context = &n_ready};
    assert_int_equal(tacho_start(&o), TACHO_OK);
    tacho_mark("long ago");
    usleep(100000);
    /* When each thousand was done: a busy machine may have stopped us anywhere. */
    int64_t until[400];
    for (int i = 0; i < 400000; i++) {
        TACHO_BEGIN("r");
        TACHO_END();
        if (i % 1000 == 999) until[i / 1000] = now_ns();
    }
    tacho_mark("just now");
    assert_int_equal(tacho_trigger("slow step"), TACHO_OK);
    int64_t kept_from = now_ns() - 50000000;
    assert_int_equal(n_ready, 1);
    struct stat st;
    assert_int_equal(stat(ready_path[0], &st), 0);
    assert_true(st.st_size <= 2 << 20);
    trace *t = read_recording(ready_path[0]);
    uint32_t marks = 0;
    for (uint32_t i = 1; i < t->instant.n; i++) {
        assert_true(str_eq(trace_str(t, t->instant.name[i]), STR("just now")));
        marks++;
    }
    assert_int_equal(marks, 1);
    uint32_t least = 0;
    for (int i = 1; i < 400 && least < 10000; i++)
        least += until[i - 1] >= kept_from ? 1000 : 0;
    assert_true(count_slices(t, "r") >= least);
    assert_int_equal(trace_quality(t, CAUSE_RECORDER_FULL), 0);
    assert_true(str_eq(trace_meta(t, STR("note")), STR("\"slow step\"")));
    trace_release(t);
    assert_int_equal(tacho_is_recording(), 1); /* it continues */
    assert_int_equal(tacho_stop(), TACHO_OK);
    char names[4][512];
    assert_int_equal(list_recordings(names, 4), 2);
}

static void a_trigger_without_a_flight_recorder_does_nothing(void **state) {
    fresh_folder();
    assert_int_equal(tacho_trigger("x"), TACHO_OFF);
    start_all();
    assert_int_equal(tacho_trigger("x"), TACHO_OFF);
    assert_int_equal(tacho_is_recording(), 1);
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_second_start_is_refused, tear_down),
        cmocka_unit_test_teardown(a_folder_that_cannot_be_made_is_reported, tear_down),
        cmocka_unit_test_teardown(a_name_of_a_file_is_taken_as_it_is, tear_down),
        cmocka_unit_test_teardown(steps_are_counted_from_the_number_given, tear_down),
        cmocka_unit_test_teardown(a_note_is_kept_in_the_recording_that_runs, tear_down),
        cmocka_unit_test_teardown(each_window_of_a_schedule_is_a_separate_file, tear_down),
        cmocka_unit_test_teardown(steps_are_between_marks_and_the_rest_is_not_a_step,
                                  tear_down),
        cmocka_unit_test_teardown(the_first_step_begins_with_the_first_batch, tear_down),
        cmocka_unit_test_teardown(who_asks_first_starts_a_recording_that_waits, tear_down),
        cmocka_unit_test_teardown(a_thousand_cycles_leave_a_thousand_files, tear_down),
        cmocka_unit_test_teardown(stopping_takes_milliseconds_whatever_was_recorded, tear_down),
        cmocka_unit_test_teardown(a_full_file_counts_what_it_loses, tear_down),
        cmocka_unit_test_teardown(the_flight_recorder_keeps_the_last_seconds, tear_down),
        cmocka_unit_test_teardown(a_trigger_without_a_flight_recorder_does_nothing, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
