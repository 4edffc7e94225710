/* plan_test.c: which workers a question is about, and whether their summaries are enough. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "plan/plan.h"

#define S(text) \
    { text, sizeof(text) - 1 }

/* Three ranks, each with two cycles except for the last, and a process of a data loader. */
static span_entry two[] = {{.path = S("first"), .number = 1},
                           {.path = S("second"), .number = 2}};
static worker_entry workers[] = {
    {.name = S("rank0"), .rank = 0, .spans = two, .n_spans = 2},
    {.name = S("rank1"), .rank = 1, .spans = two, .n_spans = 2},
    {.name = S("rank2"), .rank = 2, .spans = two, .n_spans = 1},
    {.name = S("loader"), .role = WORKER_LOADER, .spans = two, .n_spans = 2},
};
static const run_entry RUN = {.workers = workers, .n_workers = 4, .n_ranks = 3, .n_traces = 3};
static const run_entry ONE = {.workers = workers, .n_workers = 1, .n_ranks = 0, .n_traces = 1};
static const run_entry PICTURES = {.workers = workers, .n_workers = 1};

typedef struct {
    question asked;
    plan_question q;
} asking;

static asking ask(const char *analysis) {
    asking a = {.q = {.analysis = analysis ? registry_find(str_of(analysis)) : NULL}};
    question_begin(&a.asked);
    return a;
}

static run_plan plan(asking *a, const run_entry *run, uint32_t worker) {
    span_choice c = {.run = run, .worker = &run->workers[worker], .span = &two[0]};
    a->q.question = &a->asked;
    return plan_run(&a->q, &c);
}

/* The names of the workers of a plan, as "rank1 rank0 …". */
static const char *names(const run_plan *p) {
    static char text[128];
    size_t at = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < p->n; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? " " : "",
                               plan_worker(p, i).worker->name.p);
    return text;
}

static void an_analysis_of_one_trace_takes_the_chosen_worker(void **state) {
    asking a = ask("steps");
    run_plan p = plan(&a, &RUN, 1);
    assert_string_equal(names(&p), "rank1");
    assert_false(p.summaries);
    assert_false(plan_takes_many(&a.q));
}

static void an_analysis_of_a_job_takes_all_ranks_the_chosen_one_first(void **state) {
    asking a = ask("overview");
    run_plan p = plan(&a, &RUN, 1);
    assert_string_equal(names(&p), "rank1 rank0 rank2");
    assert_true(p.summaries);
    p = plan(&a, &ONE, 0);
    assert_string_equal(names(&p), "rank0");
}

static void a_named_worker_is_asked_alone(void **state) {
    asking a = ask("overview");
    a.asked.worker = STR("rank2");
    run_plan p = plan(&a, &RUN, 2);
    assert_string_equal(names(&p), "rank2");
    a.asked.all_workers = true;
    p = plan(&a, &RUN, 2);
    assert_string_equal(names(&p), "rank2 rank0 rank1");
}

static void a_loader_is_none_of_the_ranks_that_are_meant(void **state) {
    asking a = ask("overview");
    run_plan p = plan(&a, &RUN, 3);
    assert_string_equal(names(&p), "rank0 rank1 rank2");
}

static void an_export_merges_what_was_named(void **state) {
    asking a = ask(NULL);
    a.q.merges = true;
    run_plan p = plan(&a, &RUN, 0);
    assert_string_equal(names(&p), "rank0");
    a.q.several = true;
    p = plan(&a, &RUN, 0);
    assert_string_equal(names(&p), "rank0 rank1 rank2");
    assert_false(p.summaries);
    a.q.merges = false;
    p = plan(&a, &RUN, 0);
    assert_int_equal(p.n, 1);
}

static void pictures_of_memory_are_asked_one_by_one(void **state) {
    asking a = ask("overview");
    a.asked.all_workers = true;
    run_plan p = plan(&a, &PICTURES, 0);
    assert_int_equal(p.n, 1);
}

static void all_are_of_the_same_cycle_or_the_last_there_is(void **state) {
    asking a = ask("overview");
    span_choice c = {.run = &RUN, .worker = &workers[0], .span = &two[1]};
    a.q.question = &a.asked;
    run_plan p = plan_run(&a.q, &c);
    assert_int_equal(plan_worker(&p, 1).span->number, 2);
    assert_int_equal(plan_worker(&p, 2).span->number, 1);
    assert_int_equal(plan_loader(&c, &workers[3]).span->number, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_analysis_of_one_trace_takes_the_chosen_worker),
        cmocka_unit_test(an_analysis_of_a_job_takes_all_ranks_the_chosen_one_first),
        cmocka_unit_test(a_named_worker_is_asked_alone),
        cmocka_unit_test(a_loader_is_none_of_the_ranks_that_are_meant),
        cmocka_unit_test(an_export_merges_what_was_named),
        cmocka_unit_test(pictures_of_memory_are_asked_one_by_one),
        cmocka_unit_test(all_are_of_the_same_cycle_or_the_last_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
