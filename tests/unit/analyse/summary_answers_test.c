/* summary_answers_test.c: an overview of all workers: when devices are busy, what is damaged. */
#include "analyse/run/summary_answers.h"

#include "analyse/run/reduce.h"
#include "analyse/run/run_summary.h"
#include "built_run.h"

/* A step of 100 ns with a kernel of 30 and a collective of 40, on the host unless `on_device`. */
static void add_step(built *x, bool on_device) {
    raw_kernel k = RAW_KERNEL_NONE;
    k.device = 0;
    k.stream = 7;
    built_slice(x, 1, KIND_STEP, "ProfilerStep#1", 0, 100);
    raw_slice s = {.start = 10, .dur = 30, .name = built_str(x, "gemm"), .kind = KIND_KERNEL};
    s.track = part_track(x->p, (ident){.v = 0}, (ident){.v = 70});
    assert_int_equal(part_kernel(x->p, &k, &s), OK);
    assert_int_equal(part_slice(x->p, &s), OK);
    if (!on_device) {
        built_slice(x, 1, KIND_COLLECTIVE, "gloo:all_reduce", 50, 40);
        return;
    }
    s = (raw_slice){.start = 50,
                    .dur = 40,
                    .name = built_str(x, "ncclDevKernel_AllReduce"),
                    .kind = KIND_KERNEL,
                    .track = s.track};
    assert_int_equal(part_kernel(x->p, &k, &s), OK);
    assert_int_equal(part_slice(x->p, &s), OK);
}

static double share_of(const verdict *v, const char *name) {
    for (uint32_t i = 0; i < v->n_args; i++)
        if (strcmp(v->args[i].name, name) == 0) return v->args[i].u.d;
    fail_msg("no %s", name);
    return 0;
}

static void a_collective_on_the_host_leaves_the_device_idle(void **state) {
    for (int on_device = 0; on_device < 2; on_device++) {
        built_run r;
        run_begin(&r, 2);
        for (int i = 0; i < 2; i++) add_step(&r.w[i], on_device);
        run_ask(&r, analyse_overview);
        const verdict *v = &r.w[0].answer.verdict;
        assert_string_equal(v->id, "workers_busy");
        assert_true(fabs(share_of(v, "busy_share") - (on_device ? 0.7 : 0.3)) < 1e-9);
        assert_true(fabs(share_of(v, "communication_share") - 0.4) < 1e-9);
        run_end(&r);
    }
}

static void without_device_work_nothing_is_busy(void **state) {
    built_run r;
    run_begin(&r, 2);
    for (int i = 0; i < 2; i++) {
        built_slice(&r.w[i], 1, KIND_STEP, "ProfilerStep#1", 0, 100);
        built_slice(&r.w[i], 1, KIND_COLLECTIVE, "gloo:all_reduce", 50, 40);
    }
    run_ask(&r, analyse_overview);
    assert_string_equal(r.w[0].answer.verdict.id, "workers_on_host");
    run_end(&r);
}

/* Rank 0 has a device if `on_device`, rank 1 never: its own operator has no device times. */
static void device_times_that_were_not_recorded_are_absent(void **state) {
    for (int on_device = 0; on_device < 2; on_device++) {
        built_run r;
        run_begin(&r, 2);
        for (int i = 0; i < 2; i++) {
            built_slice(&r.w[i], 1, KIND_OP, "aten::mm", 0, 100);
            if (i == 1) built_slice(&r.w[i], 1, KIND_OP, "aten::sum", 200, 50);
        }
        if (on_device) add_step(&r.w[0], true);
        run_ask(&r, analyse_operators);
        const table *t = built_table(&r.w[0], "operators");
        assert_int_equal(t->n_rows, 2);
        for (size_t row = 0; row < 2; row++) {
            bool is_shared = built_is(t, row, "name", "aten::mm");
            bool known = on_device && is_shared;
            assert_int_equal(table_is_null(t, row, COL(operators, operators, device_total)),
                             !known);
            assert_int_equal(table_is_null(t, row, COL(operators, operators, device_self)),
                             !known);
        }
        run_end(&r);
    }
}

static void one_damaged_trace_is_the_verdict_and_counts_in_the_quality(void **state) {
    built_run r;
    run_begin(&r, 3);
    for (int i = 0; i < 3; i++) add_step(&r.w[i], true);
    part_lost(r.w[1].p, CAUSE_TRUNCATED, 77, 0);
    run_ask(&r, analyse_overview);
    const answer *out = &r.w[0].answer;
    assert_string_equal(out->verdict.id, "trace_cut");
    assert_string_equal(out->verdict.args[2].name, "worker");
    assert_true(str_eq(out->verdict.args[2].u.text, STR("rank1")));
    int64_t truncated = 0;
    for (uint32_t i = 0; i < out->quality.n_dropped; i++)
        if (strcmp(out->quality.dropped[i].cause, "truncated") == 0)
            truncated += out->quality.dropped[i].count;
    assert_int_equal(truncated, 1);
    run_end(&r);
}

/* Loading takes 800 and 600 of the 1,000 ns of each step: what a run saves is the mean of the two. */
static void a_run_saves_what_its_workers_save_on_average(void **state) {
    static const int64_t LOADING[] = {800, 600};
    built_run r;
    run_begin(&r, 2);
    for (int i = 0; i < 2; i++) {
        built_slice(&r.w[i], 1, KIND_STEP, "ProfilerStep#1", 0, 1000);
        built_slice(&r.w[i], 1, KIND_DATA,
                    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0,
                    LOADING[i]);
    }
    run_ask(&r, analyse_overview); /* seals the traces */
    trace *brief[2];
    analysis_trace briefs[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(reduce_worker(&r.traces[i], 0, &brief[i], NULL), OK);
        briefs[i] = r.traces[i];
        briefs[i].trace = brief[i];
    }
    analysis_input in = {.traces = briefs, .n_traces = 2};
    params *p = &r.w[0].params;
    summary *s;
    answer out;
    assert_int_equal(run_summary_join(&in, p, 0, &s, NULL), OK);
    trace *joined = trace_of_summary(s);
    analysis_trace one = {.trace = joined};
    assert_int_equal(analyse_advise(&(analysis_input){.traces = &one, .n_traces = 1}, p,
                                    &r.w[0].arena, &out, NULL),
                     OK);
    const table *t = out.tables[0];
    assert_true(t->n_rows > 0);
    uint32_t id = table_column(t, STR("id")), saves = table_column(t, STR("saves"));
    uint32_t worker = table_column(t, STR("worker"));
    assert_true(str_eq(t->columns[id].v.s[0], STR("data_loader_no_workers")));
    assert_int_equal(t->columns[saves].v.i[0], 700);
    assert_true(str_eq(t->columns[worker].v.s[0], STR("rank0")));
    trace_release(joined);
    for (int i = 0; i < 2; i++) trace_release(brief[i]);
    run_end(&r);
}

/* Four workers with one kernel each, the third twice as slow; the upper of the middle two counts. */
static void a_name_has_the_least_the_middle_and_the_worst_worker(void **state) {
    static const int64_t NS[] = {30000, 29000, 61000, 30500};
    built_run r;
    run_begin(&r, 4);
    for (int i = 0; i < 4; i++) {
        raw_kernel k = RAW_KERNEL_NONE;
        k.device = 0;
        k.stream = 7;
        raw_slice s = {.start = 10,
                       .dur = NS[i],
                       .name = built_str(&r.w[i], "gemm"),
                       .kind = KIND_KERNEL,
                       .track = part_track(r.w[i].p, (ident){.v = 0}, (ident){.v = 70})};
        assert_int_equal(part_kernel(r.w[i].p, &k, &s), OK);
        assert_int_equal(part_slice(r.w[i].p, &s), OK);
    }
    run_ask(&r, analyse_kernels);
    const table *t = r.w[0].answer.tables[1];
    assert_int_equal(t->n_rows, 1);
    int64_t middle = t->columns[COL(kernels, workers, median)].v.i[0];
    assert_int_equal(t->columns[COL(kernels, workers, least)].v.i[0], 29000);
    assert_true(middle >= 30500 - 30500 / 128 - 1 && middle <= 30500 + 30500 / 128 + 1);
    assert_int_equal(t->columns[COL(kernels, workers, worst)].v.i[0], 61000);
    assert_true(str_eq(t->columns[COL(kernels, workers, worst_worker)].v.s[0], STR("rank2")));
    run_end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_collective_on_the_host_leaves_the_device_idle),
        cmocka_unit_test(without_device_work_nothing_is_busy),
        cmocka_unit_test(device_times_that_were_not_recorded_are_absent),
        cmocka_unit_test(one_damaged_trace_is_the_verdict_and_counts_in_the_quality),
        cmocka_unit_test(a_run_saves_what_its_workers_save_on_average),
        cmocka_unit_test(a_name_has_the_least_the_middle_and_the_worst_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
