/* job_test.c: the bottleneck of a job, and how long its steps would be without it.
 *
 * Eight ranks, three steps of 1000 ns: 600 of kernels, 100 of exposed transfers, 300 of waiting
 * for others. With a pipeline the ranks from 4 on are its second stage. */
#include "analyse/job/job.h"

#include "fake_trace.h"

enum { RANKS = 8, STEPS = 3 };

typedef struct {
    arena a;
    summary *s;
    trace t;
    analysis_trace one;
    analysis_input in;
    job job;
} made;

static void begin(made *m) {
    *m = (made){.s = summary_new()};
    arena_init(&m->a, 0);
    for (int64_t r = 0; r < RANKS; r++) {
        char name[16];
        snprintf(name, sizeof name, "w%02d", (int)r);
        summary_worker *w = summary_add_worker(m->s);
        w->name = summary_text(m->s, str_of(name));
        w->rank = r;
        w->host = w->format = STR("");
        for (int64_t step = 0; step < STEPS; step++) {
            *summary_add_step(m->s) = (summary_step){.worker = w->name,
                                                     .number = step,
                                                     .start = 1000 * step,
                                                     .end = 1000 * step + 1000,
                                                     .kernel = 600,
                                                     .communication = 400,
                                                     .exposed = 400};
            *summary_add_step_sync(m->s) =
                (summary_step_sync){w->name, step, 1000 * step, 100, 300, 300};
        }
        *summary_add_sync(m->s) = (summary_sync){w->name, 300, 900};
        *summary_add_blame(m->s) = (summary_blame){w->name, 1000000, 1};
    }
}

/* Moves time of a rank's step from waiting to kernels. */
static void work_longer(made *m, int64_t rank, int64_t step, int64_t ns) {
    uint32_t i = (uint32_t)(rank * STEPS + step);
    SUMMARY_ROWS(m->s, step)[i].communication -= ns;
    SUMMARY_ROWS(m->s, step)[i].exposed -= ns;
    SUMMARY_ROWS(m->s, step)[i].kernel += ns;
    SUMMARY_ROWS(m->s, step_sync)[i].waiting -= ns;
    SUMMARY_ROWS(m->s, step_sync)[i].blocked -= ns;
}

/* Four links from the first four ranks to the others, two transfers each in a step. */
static void add_pipeline(made *m) {
    for (int64_t r = 0; r < RANKS / 2; r++) {
        summary_group *g = summary_add_group(m->s);
        *g = (summary_group){.name = STR("pp"),
                             .words = STR(""),
                             .source = r,
                             .target = r + RANKS / 2,
                             .type = COMM_POINT,
                             .size = 2,
                             .calls = (int64_t)2 * STEPS,
                             .bytes = 600,
                             .transfer = 60};
    }
}

/* The ranks of a stage share data. */
static void add_replicas(made *m) {
    static const char *const names[] = {"dp_0", "dp_1"};
    for (int64_t stage = 0; stage < 2; stage++) {
        str name = str_of(names[stage]);
        *summary_add_group(m->s) = (summary_group){.name = name,
                                                   .words = STR("data"),
                                                   .source = ABSENT_I64,
                                                   .target = ABSENT_I64,
                                                   .type = COMM_ALL_REDUCE,
                                                   .size = RANKS / 2,
                                                   .calls = STEPS,
                                                   .transfer = 60};
        for (int64_t r = 0; r < RANKS / 2; r++)
            *summary_add_member(m->s) =
                (summary_member){name, SUMMARY_ROWS(m->s, worker)[stage * RANKS / 2 + r].name};
    }
}

static void end(made *m) {
    params p = fake_params();
    assert_int_equal(summary_settle(m->s, NULL), OK);
    m->t = (trace){.summary = m->s, .format = STR("tacho_summary")};
    m->one = (analysis_trace){.trace = &m->t, .rank = ABSENT_I64};
    m->in = (analysis_input){.traces = &m->one, .n_traces = 1};
    assert_true(job_is_meant(&m->in));
    assert_int_equal(job_make(&m->in, &p, &m->a, &m->job, NULL), OK);
}

static void fini(made *m) {
    summary_free(m->s);
    arena_fini(&m->a);
}

static void an_even_job_is_its_parts(void **state) {
    made m;
    begin(&m);
    end(&m);
    assert_int_equal(m.job.n_causes, 0);
    assert_int_equal(m.job.groups.n_stages, 1);
    assert_int_equal(m.job.recorded, 1000);
    assert_int_equal(m.job.stages[0].own, 700);
    assert_int_equal(m.job.bubble, 300);
    job_change change = JOB_AS_RECORDED;
    assert_int_equal(job_replay(&m.job, &change, NULL), 1000);
    change.no_stragglers = true;
    assert_int_equal(job_replay(&m.job, &change, NULL), 1000);
    fini(&m);
}

/* Rank 3 is 200 late in two steps, rank 5 100 in all: each step is decided by one of them. */
static void the_latest_decides_each_step(void **state) {
    made m;
    begin(&m);
    for (int64_t step = 0; step < STEPS; step++) work_longer(&m, 5, step, 100);
    work_longer(&m, 3, 0, 200);
    work_longer(&m, 3, 1, 200);
    end(&m);
    assert_int_equal(m.job.n_causes, 2);
    assert_int_equal(m.job.causes[0].worker, 3);
    assert_int_equal(m.job.causes[0].part, LATE_COMPUTE);
    assert_int_equal(m.job.causes[0].decided, 2);
    assert_int_equal(m.job.causes[0].late, 200);
    assert_int_equal(m.job.causes[0].step_after, 900); /* 900, 900, 1000 */
    assert_int_equal(m.job.causes[1].worker, 5);
    assert_int_equal(m.job.causes[1].decided, 1);
    assert_int_equal(m.job.causes[1].step_after, 800);
    job_change change = JOB_AS_RECORDED;
    change.no_stragglers = true;
    int64_t by_step[STEPS];
    assert_int_equal(job_replay(&m.job, &change, by_step), 800);
    assert_int_equal(by_step[2], 900);
    fini(&m);
}

/* Two ranks of a hostile summary are late by more than all of time, once their steps are added up. */
static void times_without_end_saturate(void **state) {
    made m;
    double rank[RANKS];
    const int64_t ages = INT64_MAX - 2000;
    begin(&m);
    for (int64_t step = 0; step < 2; step++) { /* twice their rounded mean is one too many */
        work_longer(&m, 3, step, ages);
        work_longer(&m, 5, step, ages - 1000);
        SUMMARY_ROWS(m.s, step)[3 * STEPS + step].end = INT64_MAX;
        SUMMARY_ROWS(m.s, step)[5 * STEPS + step].end = INT64_MAX - 1000;
    }
    for (uint32_t i = 0; i < SUMMARY_N(m.s, blame); i++)
        SUMMARY_ROWS(m.s, blame)[i].caused = INT64_MAX;
    end(&m);
    assert_int_equal(m.job.n_causes, 2);
    assert_true(m.job.causes[0].late > ages / 4 && m.job.causes[1].late > ages / 4);
    assert_int_equal(m.job.causes[0].sum, INT64_MAX);
    job_change change = JOB_AS_RECORDED;
    for (int i = 0; i < RANKS; i++) rank[i] = 1;
    rank[6] = 1e300;
    change.rank = rank;
    assert_int_equal(job_replay(&m.job, &change, NULL), INT64_MAX);
    fini(&m);
}

static void one_rank_is_repaired_or_made_slower(void **state) {
    made m;
    double rank[RANKS];
    begin(&m);
    for (int64_t step = 0; step < STEPS; step++) work_longer(&m, 3, step, 200);
    end(&m);
    job_change change = JOB_AS_RECORDED;
    for (int i = 0; i < RANKS; i++) rank[i] = 1;
    change.rank = rank;
    assert_int_equal(job_replay(&m.job, &change, NULL), 1000);
    rank[3] = -1;
    assert_int_equal(job_replay(&m.job, &change, NULL), 800);
    rank[6] = 1.5; /* half of 700 more than usual */
    assert_int_equal(job_replay(&m.job, &change, NULL), 1150);
    fini(&m);
}

/* The others did not wait for it: its time was hidden in a bubble. */
static void a_rank_no_one_waits_for_is_not_late(void **state) {
    made m;
    begin(&m);
    for (int64_t step = 0; step < STEPS; step++) work_longer(&m, 3, step, 200);
    SUMMARY_ROWS(m.s, blame)[3].caused = 0;
    end(&m);
    job_change change = JOB_AS_RECORDED;
    change.no_stragglers = true;
    assert_int_equal(job_replay(&m.job, &change, NULL), 1000);
    fini(&m);
}

/* No transfer names its partners: the others wait while they are blocked. */
static void a_rank_of_unknown_partners_is_late(void **state) {
    made m;
    begin(&m);
    for (int64_t step = 0; step < STEPS; step++) work_longer(&m, 3, step, 200);
    SUMMARY_ROWS(m.s, blame)[3].caused = 0;
    *summary_add_group(m.s) = (summary_group){.name = STR("gloo:recv"),
                                              .words = STR(""),
                                              .source = ABSENT_I64,
                                              .target = ABSENT_I64,
                                              .type = COMM_POINT,
                                              .size = 1,
                                              .calls = STEPS};
    end(&m);
    job_change change = JOB_AS_RECORDED;
    change.no_stragglers = true;
    assert_int_equal(job_replay(&m.job, &change, NULL), 800);
    fini(&m);
}

static void a_faster_network_shortens_what_is_exposed(void **state) {
    made m;
    begin(&m);
    end(&m);
    job_change change = JOB_AS_RECORDED;
    change.part[LATE_NETWORK] = 0.5;
    assert_int_equal(job_replay(&m.job, &change, NULL), 950);
    fini(&m);
}

/* Stages of 700 and 800: the longer one waits 200 for the other. */
static void stages_come_from_the_transfers(void **state) {
    made m;
    begin(&m);
    add_pipeline(&m);
    add_replicas(&m);
    for (int64_t r = 4; r < RANKS; r++)
        for (int64_t step = 0; step < STEPS; step++) work_longer(&m, r, step, 100);
    end(&m);
    assert_int_equal(m.job.groups.n_stages, 2);
    assert_int_equal(m.job.micro, 2);
    assert_int_equal(m.job.longest, 1);
    assert_int_equal(m.job.stages[0].own, 700);
    assert_int_equal(m.job.stages[1].own, 800);
    assert_int_equal(m.job.bubble, 200);
    job_change change = JOB_AS_RECORDED;
    change.balance_stages = true; /* 750, and 200 · 750 / 700 */
    assert_int_equal(job_replay(&m.job, &change, NULL), 964);
    assert_int_equal(job_stage_gain(&m.job), 36);
    change = JOB_AS_RECORDED;
    change.no_bubbles = true;
    assert_int_equal(job_replay(&m.job, &change, NULL), 800);
    fini(&m);
}

/* Where no group shares data, ranks are compared with those of their stage. */
static void a_longer_stage_is_not_late(void **state) {
    made m;
    begin(&m);
    add_pipeline(&m);
    for (int64_t r = 4; r < RANKS; r++)
        for (int64_t step = 0; step < STEPS; step++) work_longer(&m, r, step, 100);
    for (int64_t step = 0; step < STEPS; step++) work_longer(&m, 2, step, 150);
    end(&m);
    assert_int_equal(m.job.n_causes, 1);
    assert_int_equal(m.job.causes[0].worker, 2);
    assert_int_equal(m.job.causes[0].late, 150);
    fini(&m);
}

static void the_answers_have_their_tables(void **state) {
    made m;
    params p = fake_params();
    answer out;
    error err;
    begin(&m);
    for (int64_t step = 0; step < STEPS; step++) work_longer(&m, 3, step, 200);
    end(&m);
    assert_int_equal(analyse_critical(&m.in, &p, &m.a, &out, &err), OK);
    const table *t = fake_table(&out, "ranks");
    assert_int_equal(t->n_rows, 1);
    assert_int_equal(fake_int(t, 0, "rank"), 3);
    assert_text(fake_text(t, 0, "part"), "compute");
    assert_near(fake_real(t, 0, "share"), 1);
    assert_int_equal(fake_int(t, 0, "step_after"), 800);
    assert_string_equal(out.verdict.id, "critical_rank");
    const table *kinds = fake_table(&out, "by_kind");
    int64_t sum = 0;
    for (size_t i = 0; i < kinds->n_rows; i++) sum += fake_int(kinds, i, "time");
    assert_int_equal(sum, 1000);
    p.extra[p.n_extra].name = STR("rank");
    p.extra[p.n_extra++].value = STR("3");
    assert_int_equal(analyse_whatif(&m.in, &p, &m.a, &out, &err), OK);
    assert_int_equal(fake_int(fake_table(&out, "whatif"), 1, "step_after"), 800);
    p.extra[0].value = STR("77");
    assert_int_equal(analyse_whatif(&m.in, &p, &m.a, &out, &err), ERR_ARG);
    p.extra[0].name = STR("no_sync");
    p.extra[0].value = STR("yes");
    assert_int_equal(analyse_whatif(&m.in, &p, &m.a, &out, &err), ERR_ARG);
    fini(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_even_job_is_its_parts),
        cmocka_unit_test(the_latest_decides_each_step),
        cmocka_unit_test(times_without_end_saturate),
        cmocka_unit_test(one_rank_is_repaired_or_made_slower),
        cmocka_unit_test(a_rank_no_one_waits_for_is_not_late),
        cmocka_unit_test(a_rank_of_unknown_partners_is_late),
        cmocka_unit_test(a_faster_network_shortens_what_is_exposed),
        cmocka_unit_test(stages_come_from_the_transfers),
        cmocka_unit_test(a_longer_stage_is_not_late),
        cmocka_unit_test(the_answers_have_their_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
