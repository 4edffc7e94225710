/* workers_test.c: jobs and the threads that take them. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "serve/workers.h"

static atomic_int n_done, n_cancelled, n_ticks;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void count(void *context, bool cancelled) {
    atomic_fetch_add(cancelled ? &n_cancelled : &n_done, 1);
}

static void wait_at_the_gate(void *context, bool cancelled) {
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    count(context, cancelled);
}

static void tick(void *context) {
    atomic_fetch_add(&n_ticks, 1);
}

static int reset(void **state) {
    n_done = n_cancelled = n_ticks = 0;
    return 0;
}

static void every_job_runs_once(void **state) {
    workers *w = workers_new(3, 2000, NULL, NULL);
    for (int i = 0; i < 1000; i++) assert_true(workers_push(w, JOB_QUICK, count, NULL));
    for (int i = 0; i < 1000 && n_done < 1000; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    workers_free(w);
    assert_int_equal(n_done, 1000);
    assert_int_equal(n_cancelled, 0);
}

static void a_full_queue_refuses(void **state) {
    workers *w = workers_new(1, 2, NULL, NULL);
    pthread_mutex_lock(&gate);
    int taken = 0;
    for (int i = 0; i < 10; i++) taken += workers_push(w, JOB_QUICK, wait_at_the_gate, NULL);
    assert_true(taken == 2 || taken == 3); /* one may have begun */
    pthread_mutex_unlock(&gate);
    workers_free(w);
    assert_int_equal(n_done + n_cancelled, taken);
}

static void what_waits_at_the_end_is_cancelled(void **state) {
    workers *w = workers_new(1, 100, NULL, NULL);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < 20; i++)
        assert_true(workers_push(w, JOB_QUICK, wait_at_the_gate, NULL));
    pthread_mutex_unlock(&gate);
    workers_end(w);
    assert_int_equal(n_done + n_cancelled, 20);
    assert_false(workers_push(w, JOB_QUICK, count, NULL));
    workers_free(w);
    workers_free(NULL);
}

static void slow_jobs_leave_threads_to_the_others(void **state) {
    workers *w = workers_new(2, 100, NULL, NULL);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < 20; i++) assert_true(workers_push(w, JOB_SLOW, wait_at_the_gate, NULL));
    for (int i = 0; i < 50; i++) assert_true(workers_push(w, JOB_QUICK, count, NULL));
    for (int i = 0; i < 1000 && n_done < 50; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_int_equal(n_done, 50); /* while the slow ones wait at the gate */
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < 1000 && n_done < 70; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_int_equal(n_done, 70);
    workers_free(w);
}

static void the_clock_ticks(void **state) {
    workers *w = workers_new(2, 10, tick, NULL);
    for (int i = 0; i < 50 && n_ticks < 2; i++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    workers_free(w);
    assert_true(n_ticks >= 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_job_runs_once, reset),
        cmocka_unit_test_setup(a_full_queue_refuses, reset),
        cmocka_unit_test_setup(what_waits_at_the_end_is_cancelled, reset),
        cmocka_unit_test_setup(slow_jobs_leave_threads_to_the_others, reset),
        cmocka_unit_test_setup(the_clock_ticks, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
