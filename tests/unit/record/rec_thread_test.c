/* rec_thread_test.c: many threads, threads that come and go, and stopping under their feet. */
#include "unit/record/record_helper.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS = 4, RANGES = 6000 };

static void *record_ranges(void *name) {
    tacho_name_thread(name);
    for (int i = 0; i < RANGES; i++) {
        TACHO_SCOPE("outer");
        TACHO_SCOPE("inner");
    }
    return NULL;
}

static void threads_write_beside_each_other(void **state) {
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

static void record_in_handler(int signal) {
    (void)signal;
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
    trace_release(t);
}

static int tear_down(void **state) {
    (void)tacho_stop();
    remove_folder();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(threads_write_beside_each_other, tear_down),
        cmocka_unit_test_teardown(short_threads_share_their_chunks, tear_down),
        cmocka_unit_test_teardown(stopping_under_the_feet_of_writers_is_safe, tear_down),
        cmocka_unit_test_teardown(a_signal_in_the_middle_of_an_event_is_survived, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
