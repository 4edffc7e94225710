/* rec_thread_test.c: many threads, threads that come and go, and stopping under their feet. */
#include "unit/record/record_helper.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/rec_int.h"

enum { THREADS = 4, RANGES = 6000 };

static void *record_ranges(void *name) {
    tacho_name_thread(name);
    for (int i = 0; i < RANGES; i++) {
        TACHO_SCOPE("outer");
        TACHO_SCOPE("inner");
    }
    return NULL;
}

static void threads_write_at_the_same_time(void **state) {
    pthread_t id[THREADS];
    char names[THREADS][24];
    fresh_folder();
    start_all();
    for (int i = 0; i < THREADS; i++) {
        snprintf(names[i], sizeof names[i], "worker %d", i);
        assert_int_equal(pthread_create(&id[i], NULL, record_ranges, names[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(id[i], NULL);
    trace *t = stop_and_read();
    assert_int_equal(count_slices(t, "outer"), THREADS * RANGES);
    assert_int_equal(count_slices(t, "inner"), THREADS * RANGES);
    for (uint32_t i = 1; i < t->slice.n; i++) {
        bool inner = str_eq(trace_slice_name(t, i), STR("inner"));
        assert_int_equal(t->slice.depth[i], inner);
    }
    for (int i = 0; i < THREADS; i++) {
        uint32_t found = 0;
        for (uint32_t k = 1; k < t->track.n; k++)
            found += str_eq(trace_str(t, t->track.name[k]), str_of(names[i]));
        assert_int_equal(found, 1);
    }
    trace_release(t);
}

static void *one_range(void *unused) {
    TACHO_SCOPE("short");
    return NULL;
}

static void short_threads_share_their_chunks(void **state) {
    enum { SHORT = 400 };
    fresh_folder();
    start_all();
    for (int i = 0; i < SHORT; i++) {
        pthread_t id;
        assert_int_equal(pthread_create(&id, NULL, one_range, NULL), 0);
        pthread_join(id, NULL);
    }
    char path[4096];
    tacho_path(path, sizeof path);
    trace *t = stop_and_read();
    assert_int_equal(count_slices(t, "short"), SHORT);
    assert_true(t->track.n > 1);
    trace_release(t);
    struct stat st;
    for (int i = 0; i < 200 && stat(path, &st) == 0 && st.st_size > 1 << 20; i++) usleep(5000);
    assert_true(st.st_size <= 1 << 20); /* not a chunk for each: that would be 26 MB */
}

static atomic_bool go_on;

static void *hammer(void *unused) {
    while (atomic_load_explicit(&go_on, memory_order_relaxed)) {
        TACHO_SCOPE("h");
        tacho_counter("c", 1);
    }
    return NULL;
}

static void stopping_under_the_feet_of_writers_is_safe(void **state) {
    pthread_t id[THREADS];
    fresh_folder();
    atomic_store(&go_on, true);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&id[i], NULL, hammer, NULL), 0);
    for (int i = 0; i < 10; i++) {
        char path[4096];
        start_all();
        usleep(2000);
        assert_int_equal(tacho_stop(), TACHO_OK);
        tacho_path(path, sizeof path);
        trace *t = read_recording(path);
        for (uint32_t k = 1; k < t->slice.n; k++)
            assert_true(str_eq(trace_slice_name(t, k), STR("h")));
        assert_int_equal(trace_quality(t, CAUSE_TRUNCATED), 0);
        trace_release(t);
        unlink(path);
    }
    atomic_store(&go_on, false);
    for (int i = 0; i < THREADS; i++) pthread_join(id[i], NULL);
}

/* ---- no room ---- */

enum { CROWD = 40, MARKS = 3000 };

static void start_small(double flight_seconds) {
    tacho_options o = {.size = sizeof o,
                       .path = fresh_folder(),
                       .ring_bytes = 1 << 20,
                       .flight_seconds = flight_seconds};
    assert_int_equal(tacho_start(&o), TACHO_OK);
}

static void *make_marks(void *n) {
    for (int i = 0; i < *(int *)n; i++) tacho_mark("m");
    return NULL;
}

/* More threads than the file has chunks: some never find room, some once others ended. */
static void what_many_threads_lose_is_counted_to_the_last(void **state) {
    pthread_t id[CROWD];
    int each = MARKS;
    start_small(0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < CROWD; i++)
            assert_int_equal(pthread_create(&id[i], NULL, make_marks, &each), 0);
        for (int i = 0; i < CROWD; i++) pthread_join(id[i], NULL);
    }
    trace *t = stop_and_read();
    int64_t lost = trace_quality(t, CAUSE_RECORDER_FULL);
    assert_true(lost > 0);
    assert_int_equal((int64_t)t->instant.n - 1 + lost, 3 * CROWD * MARKS);
    trace_release(t);
}

static atomic_bool has_filled, may_lose, has_lost;

static void *fill_and_lose(void *unused) {
    int fill = 1 << 17, more = 100;
    (void)make_marks(&fill);
    while (!rec_self.refused || rec_self.n_refused % 256 > 100) tacho_mark("m");
    atomic_store(&has_filled, true);
    while (!atomic_load(&may_lose)) usleep(1000);
    (void)make_marks(&more);
    atomic_store(&has_lost, true);
    return NULL;
}

/* Another thread holds it all the while: a thread that waited for it would wait for ever. */
static void an_event_that_finds_no_room_again_waits_for_no_lock(void **state) {
    pthread_t id;
    start_small(0);
    assert_int_equal(pthread_create(&id, NULL, fill_and_lose, NULL), 0);
    while (!atomic_load(&has_filled)) usleep(1000);
    (void)rec_name("m");
    bool before = rec_enter(&rec_lock);
    atomic_store(&may_lose, true);
    for (int i = 0; i < 5000 && !atomic_load(&has_lost); i++) usleep(1000);
    bool is_done = atomic_load(&has_lost);
    rec_leave(&rec_lock, before);
    pthread_join(id, NULL);
    assert_true(is_done);
}

/* Room that another thread leaves is found at once, not when the count is reported. */
static void room_that_comes_back_is_used_by_the_next_event(void **state) {
    start_small(1000);
    rec_file *f = rec_current;
    int fill = 100;
    tacho_mark("m");
    for (int64_t chunk = 0; chunk >= 0;) {
        bool before = rec_enter(&rec_lock);
        chunk = rec_file_take(f, TACHO_CHUNK_EVENTS, 1);
        rec_leave(&rec_lock, before);
    }
    rec_self.at = rec_self.end = NULL; /* its chunk is full */
    (void)make_marks(&fill);
    assert_int_equal(f->header->lost[TACHO_LOST_FULL], fill);
    bool before = rec_enter(&rec_lock);
    rec_file_close_chunk(f, f->n_chunks - 1);
    rec_leave(&rec_lock, before);
    tacho_mark("m");
    assert_int_equal(f->header->lost[TACHO_LOST_FULL], fill);
    assert_non_null(rec_self.at);
}

static volatile sig_atomic_t n_handled;
static void record_in_handler(int signal) {
    (void)signal;
    n_handled = n_handled + 1;
    tacho_mark("from a signal");
}

static void *pester(void *target) {
    for (int i = 0; i < 600; i++) pthread_kill(*(pthread_t *)target, SIGUSR1);
    return NULL;
}

static void a_signal_in_the_middle_of_an_event_is_survived(void **state) {
    pthread_t me = pthread_self(), id;
    struct sigaction action = {.sa_handler = record_in_handler, .sa_flags = SA_RESTART}, before;
    fresh_folder();
    start_all();
    tacho_mark("from a signal"); /* its name is known before the handler runs */
    sigaction(SIGUSR1, &action, &before);
    assert_int_equal(pthread_create(&id, NULL, pester, &me), 0);
    for (int i = 0; i < 60000; i++) {
        TACHO_BEGIN("r");
        TACHO_END();
    }
    pthread_join(id, NULL);
    sigaction(SIGUSR1, &before, NULL);
    trace *t = stop_and_read();
    assert_int_equal(count_slices(t, "r"), 60000);
    assert_int_equal(trace_quality(t, CAUSE_UNMATCHED_END), 0);
    assert_int_equal((int64_t)t->instant.n - 1 + trace_quality(t, CAUSE_RECORDER_INSIDE),
                     1 + n_handled);
    trace_release(t);
}

/* It would end at the first system call, with the lock. */
static void *be_cancelled(void *allowed) {
    (void)pthread_cancel(pthread_self());
    tacho_mark("m");
    int state = -1;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    *(int *)allowed = state;
    pthread_testcancel();
    return NULL;
}

static void a_thread_is_not_cancelled_inside_the_recorder(void **state) {
    pthread_t id;
    void *result = NULL;
    int allowed = -1;
    fresh_folder();
    start_all();
    assert_int_equal(pthread_create(&id, NULL, be_cancelled, &allowed), 0);
    assert_int_equal(pthread_join(id, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(allowed, PTHREAD_CANCEL_ENABLE); /* as before */
    trace *t = stop_and_read();
    assert_int_equal(t->instant.n - 1, 1);
    trace_release(t);
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(threads_write_at_the_same_time, tear_down),
        cmocka_unit_test_teardown(short_threads_share_their_chunks, tear_down),
        cmocka_unit_test_teardown(stopping_under_the_feet_of_writers_is_safe, tear_down),
        cmocka_unit_test_teardown(what_many_threads_lose_is_counted_to_the_last, tear_down),
        cmocka_unit_test_teardown(an_event_that_finds_no_room_again_waits_for_no_lock,
                                  tear_down),
        cmocka_unit_test_teardown(room_that_comes_back_is_used_by_the_next_event, tear_down),
        cmocka_unit_test_teardown(a_thread_is_not_cancelled_inside_the_recorder, tear_down),
        cmocka_unit_test_teardown(a_signal_in_the_middle_of_an_event_is_survived, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
