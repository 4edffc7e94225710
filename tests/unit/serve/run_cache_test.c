/* run_cache_test.c: joined runs are made once for each key, for all callers. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/num.h"
#include "serve/run_cache.h"

/* A worker's summary without collectives. */
static trace *brief(const char *name, int64_t rank) {
    summary *s = summary_new();
    summary_worker *w = summary_add_worker(s);
    w->name = summary_text(s, str_of(name));
    w->rank = rank;
    w->format = summary_text(s, STR("kineto"));
    w->events_read = 10;
    return trace_of_summary(s);
}

typedef struct {
    run_cache *j;
    trace *t[2];
    analysis_trace traces[2];
    params p;
} setup;

static void begin(setup *s) {
    *s = (setup){
        .j = run_cache_new(), .t = {brief("rank0", 0), brief("rank1", 1)}, .p = PARAMS_WHOLE};
    for (int i = 0; i < 2; i++)
        s->traces[i] = (analysis_trace){.trace = s->t[i], .worker = STR("rank"), .rank = i};
}

static void end(setup *s) {
    run_cache_free(s->j);
    for (int i = 0; i < 2; i++) trace_release(s->t[i]);
}

static trace *get(setup *s, uint64_t key) {
    trace *t = NULL;
    run_question q = {.key = key, .in = {.traces = s->traces, .n_traces = 2}, .params = &s->p};
    assert_int_equal(run_cache_get(s->j, &q, &t, NULL), OK);
    return t;
}

static void the_same_key_is_made_once(void **state) {
    setup s;
    begin(&s);
    trace *a = get(&s, 1), *b = get(&s, 1), *c = get(&s, 2);
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, c);
    assert_int_equal(run_cache_made(s.j), 2);
    assert_int_equal(SUMMARY_N(a->summary, worker), 2);
    assert_true(str_eq(a->format, STR("kineto"))); /* what the first one says */
    assert_int_equal(a->events_read, 20);
    trace_release(a);
    trace_release(b);
    trace_release(c);
    end(&s);
}

static void the_longest_unused_makes_room(void **state) {
    setup s;
    begin(&s);
    trace *first = get(&s, 1);
    for (uint64_t key = 2; key <= 20; key++) {
        trace_release(get(&s, key));
        trace_release(get(&s, 1)); /* used all the time: stays */
    }
    assert_int_equal(run_cache_made(s.j), 20);
    trace_release(get(&s, 2)); /* gone meanwhile */
    assert_int_equal(run_cache_made(s.j), 21);
    assert_int_equal(SUMMARY_N(first->summary, worker), 2);
    trace_release(first);
    end(&s);
}

static void failures_are_part_of_the_run(void **state) {
    setup s;
    begin(&s);
    trace *t = NULL;
    summary *failures = summary_new();
    assert_int_equal(summary_fail_file(failures, STR("x.json"), STR("no trace"), NULL), OK);
    run_question q = {.key = 7,
                      .in = {.traces = s.traces, .n_traces = 2},
                      .params = &s.p,
                      .failures = failures};
    assert_int_equal(run_cache_get(s.j, &q, &t, NULL), OK);
    assert_int_equal(SUMMARY_N(t->summary, failure), 1);
    summary_free(failures);
    trace_release(t);
    end(&s);
}

static void *ask(void *context) {
    for (uint64_t i = 0; i < 100; i++) trace_release(get(context, i / 10));
    return NULL;
}

static void many_threads_wait_for_each_other(void **state) {
    setup s;
    begin(&s);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, ask, &s);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    assert_true(run_cache_made(s.j) >= 10 && run_cache_made(s.j) <= 40);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_key_is_made_once),
        cmocka_unit_test(the_longest_unused_makes_room),
        cmocka_unit_test(failures_are_part_of_the_run),
        cmocka_unit_test(many_threads_wait_for_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
