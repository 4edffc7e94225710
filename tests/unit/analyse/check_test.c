/* check_test.c: runs by hand against each other, as traces and as baselines: five steps of about
 * 100 µs in which one thing differs. */
#include "fake_trace.h"

#include <math.h>

#include "analyse/check/baseline.h"
#include "analyse/check/measures.h"

enum { US = 1000, STEPS = 5, MOST_RUNS = 4 };

/* What is different in a run; all 0: nothing. */
typedef struct {
    int kernel_longer_us, wait_us, host_percent, extra_kernels;
    const char *shapes;
    int64_t peak_bytes;
    int uneven_us; /* every other step is so much longer and shorter */
} twist;

typedef struct {
    fake f;
    analysis_trace at;
} made_run;

static made_run runs[MOST_RUNS];
static uint32_t n_runs;
static arena scratch;

static int64_t scaled(const twist *w, int64_t us) {
    return us * US * (100 + w->host_percent) / 100;
}

static int64_t add_step(fake *f, const int tracks[2], int number, int64_t at, const twist *w) {
    int64_t now = at;
    for (int i = 0; i < 2 + w->extra_kernels; i++) {
        int mm = fake_add(f, tracks[0], KIND_OP, "aten::mm", now, scaled(w, 15));
        f->slices[mm].shapes = w->shapes ? w->shapes : "[[64,64],[64,64]]";
        int call =
            fake_add(f, tracks[0], KIND_RUNTIME, "cudaLaunchKernel", now + 1 * US, 2 * US);
        now += scaled(w, 15);
        int64_t kernel = (20 + w->kernel_longer_us) * (int64_t)US;
        fake_work(f, tracks[1], KIND_KERNEL, "gemm", now, kernel, call);
        now += kernel;
    }
    now += w->wait_us * US + scaled(w, 20) + (number % 2 ? 1 : -1) * (w->uneven_us * US + 100);
    fake_step(f, number, at, now);
    return now;
}

static const analysis_trace *make_run(const twist *w, const char *worker) {
    made_run *r = &runs[n_runs++];
    fake_init(&r->f);
    int tracks[2] = {fake_thread(&r->f), fake_stream(&r->f, 0)};
    int64_t at = 0;
    for (int i = 0; i < STEPS; i++) at = add_step(&r->f, tracks, i + 1, at, w);
    if (w->peak_bytes)
        fake_add_memory(&r->f, (fake_memory){.time = 10,
                                             .track = tracks[0],
                                             .address = 4096,
                                             .bytes = w->peak_bytes,
                                             .allocated = w->peak_bytes,
                                             .reserved = w->peak_bytes,
                                             .device_type = DEVICE_CUDA});
    r->at = (analysis_trace){
        .trace = fake_seal(&r->f), .rank = ABSENT_I64, .worker = str_of(worker)};
    return &r->at;
}

static int forget(void **state) {
    (void)state;
    arena_reset(&scratch);
    while (n_runs) fake_fini(&runs[--n_runs].f);
    return 0;
}

static summary *baseline_of(const analysis_trace *traces, uint32_t n) {
    summary *s = NULL;
    error err;
    params p = fake_params();
    analysis_input in = {.traces = traces, .n_traces = n};
    assert_int_equal(baseline_make(&in, &p, 0, &s, &err), OK);
    return s;
}

/* A trace as what a file of its baseline is read as. */
static analysis_trace kept(const analysis_trace *t) {
    summary *s = baseline_of(t, 1), *read = NULL;
    buf bytes = {0};
    error err;
    assert_int_equal(baseline_say(s, STR("commit"), STR("c0ffee1"), &err), OK);
    assert_int_equal(summary_encode(s, STR_NONE, &bytes, &err), OK);
    assert_int_equal(summary_decode(buf_str(&bytes), "base.tacho", &read, &err), OK);
    assert_true(str_eq(baseline_about(read, STR("commit")), STR("c0ffee1")));
    buf_fini(&bytes);
    summary_free(s);
    trace *made = trace_of_summary(read);
    assert_non_null(made);
    return (analysis_trace){.trace = made, .rank = ABSENT_I64, .worker = STR("base")};
}

static void add_rule(params *p, const char *rule) {
    p->extra[p->n_extra].name = STR("require");
    p->extra[p->n_extra++].value = str_of(rule);
}

static answer check_with(const analysis_trace *a, const analysis_trace *b, const char *rule) {
    analysis_input other = {.traces = b, .n_traces = 1};
    analysis_input in = {.traces = a ? a : b, .n_traces = 1, .against = a ? &other : NULL};
    params p = fake_params();
    answer out;
    error err = {0};
    if (rule) add_rule(&p, rule);
    assert_int_equal(analyse_check(&in, &p, &scratch, &out, &err), OK);
    return out;
}

static str result_of(const answer *a, const char *metric) {
    const table *t = fake_table(a, "checks");
    for (size_t i = 0; i < t->n_rows; i++)
        if (str_eq(t->columns[COL(check, checks, metric)].v.s[i], str_of(metric)))
            return t->columns[COL(check, checks, result)].v.s[i];
    return STR("absent");
}

static void assert_result(const answer *a, const char *metric, const char *wanted) {
    str got = result_of(a, metric);
    if (!str_eq(got, str_of(wanted)))
        fail_msg("%s: %.*s, not %s", metric, STR_ARG(got), wanted);
}

/* Of traces, then with the baseline of the first. */
static void check_both(const twist *w, void (*look)(const answer *a)) {
    const analysis_trace *a = make_run(&(twist){.peak_bytes = 1000}, "w");
    const analysis_trace *b = make_run(w, "w");
    answer of_traces = check_with(a, b, NULL);
    look(&of_traces);
    analysis_trace base = kept(a);
    answer of_baseline = check_with(&base, b, NULL);
    look(&of_baseline);
    trace_release((trace *)(uintptr_t)base.trace);
}

static void is_kept(const answer *a) {
    static const char *const metrics[] = {"step", "device", "host", "memory", "kernels"};
    for (size_t i = 0; i < N_OF(metrics); i++) assert_result(a, metrics[i], "ok");
    assert_string_equal(a->verdict.id, "check_ok");
}

static void the_same_run_keeps_all_limits(void **state) {
    (void)state;
    check_both(&(twist){.peak_bytes = 1000}, is_kept);
}

static void is_slower_device(const answer *a) {
    assert_result(a, "device", "regression");
    assert_result(a, "step", "regression");
    assert_result(a, "host", "ok");
    assert_result(a, "kernels", "ok");
    assert_string_equal(a->verdict.id, "check_regression");
}

static void slower_kernels_are_a_regression_of_the_device(void **state) {
    (void)state;
    check_both(&(twist){.kernel_longer_us = 10, .peak_bytes = 1000}, is_slower_device);
}

static void is_waiting(const answer *a) {
    assert_result(a, "device", "ok");
    assert_result(a, "host", "regression");
    assert_result(a, "step", "regression");
}

static void a_wait_is_a_regression_of_the_host(void **state) {
    (void)state;
    check_both(&(twist){.wait_us = 30, .peak_bytes = 1000}, is_waiting);
}

static void is_slower_cpu(const answer *a) {
    assert_result(a, "host", "inconclusive");
    assert_result(a, "step", "inconclusive");
    assert_result(a, "device", "ok");
    assert_string_equal(a->verdict.id, "check_inconclusive");
}

static void a_host_slower_in_all_calls_is_inconclusive(void **state) {
    (void)state;
    check_both(&(twist){.host_percent = 40, .peak_bytes = 1000}, is_slower_cpu);
}

static void is_more_work(const answer *a) {
    assert_result(a, "kernels", "regression");
}

static void more_kernels_are_a_regression(void **state) {
    (void)state;
    check_both(&(twist){.extra_kernels = 1, .peak_bytes = 1000}, is_more_work);
}

static void is_larger(const answer *a) {
    assert_result(a, "memory", "regression");
    assert_result(a, "step", "ok");
}

static void more_memory_is_a_regression(void **state) {
    (void)state;
    check_both(&(twist){.peak_bytes = 1100}, is_larger);
}

static void is_other_work(const answer *a) {
    static const char *const metrics[] = {"step", "device", "host", "memory", "kernels"};
    for (size_t i = 0; i < N_OF(metrics); i++) assert_result(a, metrics[i], "inconclusive");
    assert_string_equal(a->verdict.id, "check_other_workload");
}

static void other_shapes_are_a_different_workload(void **state) {
    (void)state;
    check_both(
        &(twist){.shapes = "[[128,64],[64,64]]", .kernel_longer_us = 15, .peak_bytes = 2000},
        is_other_work);
}

static void is_noisy(const answer *a) {
    assert_result(a, "step", "inconclusive");
    assert_result(a, "device", "ok");
}

static void uneven_steps_are_inconclusive(void **state) {
    (void)state;
    check_both(&(twist){.uneven_us = 15, .peak_bytes = 1000}, is_noisy);
}

static void what_was_not_recorded_is_left_out_unless_asked_for(void **state) {
    (void)state;
    const analysis_trace *a = make_run(&(twist){0}, "w"), *b = make_run(&(twist){0}, "w");
    answer usual = check_with(a, b, NULL);
    assert_result(&usual, "memory", "absent");
    assert_result(&usual, "mfu", "absent");
    answer asked = check_with(a, b, "memory < 1 GiB; step <= +5 %");
    assert_result(&asked, "memory", "not_recorded");
    assert_result(&asked, "step", "ok");
    assert_result(&asked, "device", "absent");
    assert_string_equal(asked.verdict.id, "check_inconclusive");
}

static void columns_of_analyses_are_limited(void **state) {
    (void)state;
    const analysis_trace *a = make_run(&(twist){0}, "w");
    const analysis_trace *b = make_run(&(twist){.extra_kernels = 2}, "w");
    answer x = check_with(a, b, "operators[name=\"aten::mm\"].calls per step <= +50 %");
    assert_result(&x, "operators[name=\"aten::mm\"].calls per step", "regression");
    x = check_with(a, b, "operators[name=\"aten::mm\"].calls per step <= +100 %");
    assert_result(&x, "operators[name=\"aten::mm\"].calls per step", "ok");
    x = check_with(a, b, "operators[name=\"none\"].calls < 3");
    assert_result(&x, "operators[name=\"none\"].calls", "not_recorded");
    x = check_with(NULL, b, "kernels.calls per step <= 4; kernels.rows < 1");
    assert_result(&x, "kernels.calls per step", "ok");
    assert_result(&x, "kernels.rows", "regression");
    x = check_with(a, b, "kernels.calls per step <= +10 %"); /* every row: the worst */
    assert_result(&x, "kernels.calls per step", "regression");
    x = check_with(a, b, "operators[9].calls < 3");
    assert_result(&x, "operators[9].calls", "not_recorded");
}

static void ranks_are_one_sample_a_step(void **state) {
    (void)state;
    analysis_trace ranks[2] = {*make_run(&(twist){0}, "rank0"),
                               *make_run(&(twist){.wait_us = 20}, "rank1")};
    summary *one = baseline_of(ranks, 1), *both = baseline_of(ranks, 2);
    measures x, y;
    error err;
    assert_int_equal(measures_make(one, &scratch, &x, &err), OK);
    assert_int_equal(measures_make(both, &scratch, &y, &err), OK);
    assert_int_equal(x.steps, STEPS);
    assert_int_equal(y.steps, STEPS);
    assert_int_equal(y.workers, 2);
    assert_int_equal(y.v[MEASURE_STEP].samples.n, STEPS);
    assert_true(fabs(y.v[MEASURE_STEP].value - x.v[MEASURE_STEP].value - 10 * US) < 1);
    assert_float_equal(y.v[MEASURE_KERNELS].value, 2, 1e-9);
    assert_float_equal(measures_reshaped(&x, &y), 0, 1e-9);
    summary_free(one);
    summary_free(both);
}

static void a_relative_limit_without_a_base_is_skipped(void **state) {
    (void)state;
    analysis_input in = {.traces = make_run(&(twist){0}, "w"), .n_traces = 1};
    params p = fake_params();
    answer out;
    error err;
    assert_int_equal(analyse_check(&in, &p, &scratch, &out, &err), ERR_ARG);
    add_rule(&p, "step <= +5 %");
    assert_int_equal(analyse_check(&in, &p, &scratch, &out, &err), OK);
    assert_string_equal(out.verdict.id, "check_nothing");
    assert_int_equal(out.tables[0]->n_rows, 0);
    add_rule(&p, "step < 1 min; mfu >= -3 %");
    assert_int_equal(analyse_check(&in, &p, &scratch, &out, &err), OK);
    assert_string_equal(out.verdict.id, "check_ok");
    assert_int_equal(out.tables[0]->n_rows, 1);
    const arg *last = &out.verdict.args[out.verdict.n_args - 1];
    assert_string_equal(last->name, "skipped");
    assert_int_equal(last->u.i, 2);
    p.n_extra = 0;
    add_rule(&p, "step <= ");
    assert_int_equal(analyse_check(&in, &p, &scratch, &out, &err), ERR_ARG);
}

int main(void) {
#define TEST(name) cmocka_unit_test_teardown(name, forget)
    const struct CMUnitTest tests[] = {
        TEST(the_same_run_keeps_all_limits),
        TEST(slower_kernels_are_a_regression_of_the_device),
        TEST(a_wait_is_a_regression_of_the_host),
        TEST(a_host_slower_in_all_calls_is_inconclusive),
        TEST(more_kernels_are_a_regression),
        TEST(more_memory_is_a_regression),
        TEST(other_shapes_are_a_different_workload),
        TEST(uneven_steps_are_inconclusive),
        TEST(what_was_not_recorded_is_left_out_unless_asked_for),
        TEST(columns_of_analyses_are_limited),
        TEST(ranks_are_one_sample_a_step),
        TEST(a_relative_limit_without_a_base_is_skipped),
    };
    arena_init(&scratch, 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&scratch);
    return failed;
}
