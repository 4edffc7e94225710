/* pool_test.c: every index once, results visible, no matter how many threads or rounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>

#include "base/fault.h"
#include "base/pool.h"

typedef struct {
    unsigned *hits; /* plain: each index is visited by one thread, then read by the caller */
    uint64_t sums[64];
    int n_threads;
    pool *nested;
} work;

static void visit(void *context, size_t i, int worker) {
    work *w = context;
    if (worker < 0 || worker >= w->n_threads) abort();
    w->hits[i]++;
    w->sums[worker] += i; /* no lock: a worker number is one thread at a time */
}

static void check_round(pool *p, size_t n) {
    work w = {.hits = calloc(n + 1, sizeof(unsigned)), .n_threads = pool_threads(p)};
    pool_for(p, n, visit, &w);
    uint64_t sum = 0;
    for (int i = 0; i < 64; i++) sum += w.sums[i];
    assert_int_equal(sum, n ? (uint64_t)n * (n - 1) / 2 : 0);
    for (size_t i = 0; i < n; i++) assert_int_equal(w.hits[i], 1);
    free(w.hits);
}

static void every_index_is_visited_once_for_any_number_of_threads(void **state) {
    static const int threads[] = {1, 2, 3, 8};
    static const size_t lengths[] = {0, 1, 2, 3, 63, 64, 1000, 100003};
    for (size_t t = 0; t < 4; t++) {
        pool *p = pool_new(threads[t]);
        assert_int_equal(pool_threads(p), threads[t]);
        for (size_t k = 0; k < 8; k++) check_round(p, lengths[k]);
        pool_free(p);
    }
}

static void without_a_pool_the_caller_does_it_all(void **state) {
    assert_int_equal(pool_threads(NULL), 1);
    check_round(NULL, 100);
    pool_free(NULL);
}

static void many_short_rounds_are_all_finished(void **state) {
    pool *p = pool_new(4);
    for (int i = 0; i < 3000; i++) check_round(p, (size_t)(i % 9));
    pool_free(p);
}

static void a_pool_that_never_worked_ends(void **state) {
    for (int i = 0; i < 50; i++) pool_free(pool_new(3));
}

static void visit_nested(void *context, size_t i, int worker) {
    work *w = context;
    work inner = {.hits = calloc(10, sizeof(unsigned)), .n_threads = 1};
    pool_for(w->nested, 10, visit, &inner);
    for (int k = 0; k < 10; k++) w->hits[i] += inner.hits[k];
    free(inner.hits);
    (void)worker;
}

static void work_that_asks_a_busy_pool_runs_alone(void **state) {
    pool *p = pool_new(3);
    work w = {.hits = calloc(100, sizeof(unsigned)), .nested = p};
    pool_for(p, 100, visit_nested, &w);
    for (int i = 0; i < 100; i++) assert_int_equal(w.hits[i], 10);
    free(w.hits);
    pool_free(p);
}

static void *use_pool(void *p) {
    for (int i = 0; i < 200; i++) {
        unsigned hits[50] = {0};
        work w = {.hits = hits, .n_threads = pool_threads(p)};
        pool_for(p, 50, visit, &w);
        for (int k = 0; k < 50; k++) {
            if (hits[k] != 1) return p;
        }
    }
    return NULL;
}

static void two_threads_may_share_a_pool(void **state) {
    pool *p = pool_new(2);
    pthread_t other;
    void *failed;
    assert_int_equal(pthread_create(&other, NULL, use_pool, p), 0);
    assert_null(use_pool(p));
    pthread_join(other, &failed);
    assert_null(failed);
    pool_free(p);
}

static void odd_numbers_of_threads_are_made_sensible(void **state) {
    pool *p = pool_new(0);
    assert_int_equal(pool_threads(p), 1);
    pool_free(p);
    p = pool_new(-5);
    assert_int_equal(pool_threads(p), 1);
    pool_free(p);
    assert_true(pool_cpus() >= 1);
    fault_arm(FAULT_ALLOC, 1);
    assert_null(pool_new(2));
    fault_arm(FAULT_ALLOC, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_visited_once_for_any_number_of_threads),
        cmocka_unit_test(without_a_pool_the_caller_does_it_all),
        cmocka_unit_test(many_short_rounds_are_all_finished),
        cmocka_unit_test(a_pool_that_never_worked_ends),
        cmocka_unit_test(work_that_asks_a_busy_pool_runs_alone),
        cmocka_unit_test(two_threads_may_share_a_pool),
        cmocka_unit_test(odd_numbers_of_threads_are_made_sensible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
