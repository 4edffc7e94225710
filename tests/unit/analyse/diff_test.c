/* diff_test.c: causes of a change by hand: three steps of 100 µs, in which one thing differs.
 *
 * A step: aten::to at 0 for 10, aten::mm at 20 for 30 with a kernel from 60 to 70, aten::add at 75
 * for 15; the device idle else. All in µs. */
#include "fake_trace.h"

enum { US = 1000, STEPS = 3, STEP_US = 100 };

/* What is different in a step; all 0: nothing. In µs. */
typedef struct {
    int begin_wait, wait_before_add, kernel_longer, host_percent, extra_calls;
    const char *shapes, *kernel;
    bool steps_of_own_length; /* every step differs a little, as real ones do */
    bool twice;               /* aten::to is recorded inside itself once more */
} twist;

typedef struct {
    fake f;
    const trace *t;
} made_run;

static int64_t scaled(const twist *w, int64_t us) {
    return us * US * (100 + w->host_percent) / 100;
}

/* Calls one after the other, each as long as the host makes it; the kernel begins when its call
 * has ended, and its end holds nothing up but the step. */
static int64_t add_step(fake *f, int host, int gpu, int number, int64_t at, const twist *w) {
    int64_t now = at + w->begin_wait * US + (w->steps_of_own_length ? number * 100 : 0);
    fake_add(f, host, KIND_OP, "aten::to", now, scaled(w, 10));
    if (w->twice) fake_add(f, host, KIND_OP, "aten::to", now + US, scaled(w, 10) - 2 * US);
    now += scaled(w, 20);
    int mm = fake_add(f, host, KIND_OP, "aten::mm", now, scaled(w, 30));
    f->slices[mm].shapes = w->shapes ? w->shapes : "[[64,64],[64,64]]";
    int call = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", now + 5 * US, 5 * US);
    now += scaled(w, 30);
    int64_t kernel = (10 + w->kernel_longer) * (int64_t)US;
    fake_work(f, gpu, KIND_KERNEL, w->kernel ? w->kernel : "gemm", now, kernel, call);
    now += kernel + scaled(w, 5);
    for (int i = 0; i < w->extra_calls; i++, now += scaled(w, 5))
        fake_add(f, host, KIND_OP, "aten::clone", now, scaled(w, 5));
    now += w->wait_before_add * US;
    fake_add(f, host, KIND_OP, "aten::add", now, scaled(w, 15));
    now += scaled(w, 35);
    fake_step(f, number, at, now);
    return now;
}

static void make_run(made_run *r, const twist *w) {
    fake_init(&r->f);
    int host = fake_thread(&r->f), gpu = fake_stream(&r->f, 0);
    int64_t at = 0;
    for (int i = 0; i < STEPS; i++) at = add_step(&r->f, host, gpu, i + 1, at, w);
    r->t = fake_seal(&r->f);
}

static made_run one, two;
static bool made;

static void forget_runs(void) {
    if (!made) return;
    fake_fini(&one.f);
    fake_fini(&two.f);
    made = false;
}

static answer compare_with(const twist *w, arena *a) {
    made_run *runs[] = {&one, &two};
    forget_runs();
    made = true;
    make_run(&one, &(twist){.steps_of_own_length = w->steps_of_own_length});
    make_run(&two, w);
    analysis_trace traces[2];
    for (int i = 0; i < 2; i++)
        traces[i] = (analysis_trace){.trace = runs[i]->t, .rank = ABSENT_I64};
    analysis_input other = {.traces = &traces[1], .n_traces = 1};
    analysis_input in = {.traces = &traces[0], .n_traces = 1, .against = &other};
    params p = fake_params();
    answer out;
    error err;
    assert_int_equal(analyse_diff(&in, &p, a, &out, &err), OK);
    const table *causes = fake_table(&out, "causes"), *steps = fake_table(&out, "steps");
    int64_t sum = 0, change = fake_int(steps, 1, "mean") - fake_int(steps, 0, "mean");
    for (size_t i = 0; i < causes->n_rows; i++) sum += fake_int(causes, i, "change");
    assert_int_equal(sum, change);
    return out;
}

static void end(arena *a) {
    arena_fini(a);
    forget_runs();
}

static void assert_first(const answer *out, const char *id, const char *name, int64_t us) {
    const table *t = fake_table(out, "causes");
    assert_text(fake_text(t, 0, "id"), id);
    if (name) assert_text(fake_text(t, 0, "name"), name);
    assert_int_equal(fake_int(t, 0, "change"), us * US);
    assert_int_equal(fake_int(t, 0, "certain"), 1);
}

static void the_same_twice_has_no_cause(void **state) {
    arena a = {0};
    answer out = compare_with(&(twist){0}, &a);
    assert_int_equal(fake_table(&out, "causes")->n_rows, 1);
    assert_string_equal(out.verdict.id, "diff_same");
    end(&a);
}

static void a_call_inside_itself_is_one_call(void **state) {
    arena a = {0};
    answer out = compare_with(&(twist){.twice = true}, &a);
    assert_int_equal(fake_table(&out, "causes")->n_rows, 1);
    const table *t = fake_table(&out, "operators");
    for (size_t i = 0; i < t->n_rows; i++) assert_text(fake_text(t, i, "status"), "same");
    end(&a);
}

static void a_wait_at_the_start_of_the_step_is_data(void **state) {
    arena a = {0};
    answer out = compare_with(&(twist){.begin_wait = 40}, &a);
    assert_first(&out, "data_wait", "aten::to", 40);
    assert_string_equal(out.verdict.id, "diff_slower");
    end(&a);
}

static void a_wait_inside_the_step_is_a_gap_before_a_call(void **state) {
    arena a = {0};
    answer out = compare_with(&(twist){.wait_before_add = 40}, &a);
    assert_first(&out, "host_gap", "aten::add", 40);
    end(&a);
}

static void kernels_change_by_shape_by_name_or_by_time(void **state) {
    arena a = {0};
    answer out = compare_with(&(twist){.kernel_longer = 20}, &a);
    assert_first(&out, "kernel_time", "aten::mm", 20);
    out = compare_with(&(twist){.kernel_longer = 20, .kernel = "gemm_of_another_kind"}, &a);
    assert_first(&out, "other_kernels", "aten::mm", 20);
    out = compare_with(&(twist){.kernel_longer = 20, .shapes = "[[64,63],[63,64]]"}, &a);
    const table *causes = fake_table(&out, "causes");
    assert_text(fake_text(causes, 0, "id"), "shapes_changed");
    end(&a);
}

static void calls_that_one_run_lacks_are_work(void **state) {
    arena a = {0};
    answer out = compare_with(&(twist){.extra_calls = 4}, &a);
    const table *t = fake_table(&out, "causes"), *operators = fake_table(&out, "operators");
    assert_text(fake_text(t, 0, "id"), "work_added");
    assert_text(fake_text(t, 0, "name"), "aten::clone");
    assert_int_equal(fake_int(t, 0, "certain"), 1);
    size_t row = fake_row(operators, "aten::clone");
    assert_text(fake_text(operators, row, "status"), "added");
    assert_near(fake_real(operators, row, "calls_b"), 4);
    end(&a);
}

static void a_slower_host_is_not_the_program(void **state) {
    arena a = {0};
    answer out = compare_with(&(twist){.host_percent = 30, .steps_of_own_length = true}, &a);
    const table *t = fake_table(&out, "causes");
    assert_text(fake_text(t, 0, "id"), "host_speed");
    assert_int_equal(fake_int(t, 0, "certain"), 0);
    assert_string_equal(out.verdict.id, "diff_host");
    end(&a);
}

static void other_shapes_everywhere_are_another_workload(void **state) {
    arena a = {0};
    answer out = compare_with(&(twist){.kernel_longer = 9, .shapes = "[[128,64],[64,64]]"}, &a);
    assert_string_equal(out.verdict.id, "diff_other_workload");
    end(&a);
}

/* ---- several workers and runs ------------------------------------------------------------ */

enum { MOST = 4 };
static made_run many[2 * MOST];

/* Runs of these twists, as workers with ranks from 0 on. */
static analysis_input make_many(int first, const twist *const *w, uint32_t n,
                                analysis_trace *out) {
    for (uint32_t i = 0; i < n; i++) {
        make_run(&many[first + (int)i], w[i]);
        out[i] = (analysis_trace){.trace = many[first + (int)i].t, .rank = i};
    }
    return (analysis_input){.traces = out, .n_traces = n};
}

static void forget_many(int n, arena *a) {
    arena_fini(a);
    for (int i = 0; i < n; i++) fake_fini(&many[i].f);
}

static answer ask(const analysis_input *in, const params *p, arena *a) {
    answer out;
    error err;
    assert_int_equal(analyse_diff(in, p, a, &out, &err), OK);
    return out;
}

static const twist PLAIN = {.steps_of_own_length = true};
static const twist LONGER = {.steps_of_own_length = true, .kernel_longer = 20};

static void a_rank_that_changed_alone_is_named(void **state) {
    arena a = {0};
    analysis_trace x[MOST], y[MOST];
    const twist *before[] = {&PLAIN, &PLAIN, &PLAIN}, *after[] = {&PLAIN, &LONGER, &PLAIN};
    analysis_input other = make_many(3, after, 3, y), in = make_many(0, before, 3, x);
    params p = fake_params();
    in.against = &other;
    answer out = ask(&in, &p, &a);
    const table *t = fake_table(&out, "ranks");
    assert_string_equal(out.verdict.id, "diff_one_rank_slower");
    assert_int_equal(t->n_rows, 3);
    assert_int_equal(fake_int(t, 0, "rank"), 1);
    assert_int_equal(fake_int(t, 0, "own_change"), 20 * US);
    assert_int_equal(fake_int(t, 1, "own_change"), 0);
    t = fake_table(&out, "steps");
    assert_int_equal(fake_int(t, 0, "workers"), 3);
    assert_int_equal(fake_int(t, 0, "steps"), 3 * STEPS);
    /* The mean over the ranks: a third of it. */
    t = fake_table(&out, "causes");
    assert_text(fake_text(t, 0, "id"), "kernel_time");
    assert_true(fake_int(t, 0, "change") > 6600 && fake_int(t, 0, "change") < 6700);
    forget_many(6, &a);
}

static void ranks_of_another_world_are_compared_by_their_means(void **state) {
    arena a = {0};
    analysis_trace x[MOST], y[MOST];
    const twist *before[] = {&PLAIN, &PLAIN}, *after[] = {&LONGER};
    analysis_input in = make_many(0, before, 2, x), other = make_many(2, after, 1, y);
    params p = fake_params();
    in.against = &other;
    answer out = ask(&in, &p, &a);
    const table *t = fake_table(&out, "ranks");
    assert_string_equal(out.verdict.id, "diff_slower");
    assert_int_equal(t->n_rows, 2);
    assert_int_equal(fake_int(t, 0, "change"), 20 * US);
    assert_true(table_is_null(t, 1, table_column(t, STR("b"))));
    forget_many(3, &a);
}

/* Three runs of the first program whose kernels differ by as much as those of the second. */
static void what_runs_of_one_program_differ_is_not_certain(void **state) {
    arena a = {0};
    analysis_trace x[MOST], y[1], z[MOST];
    const twist shorter = {.steps_of_own_length = true, .kernel_longer = -5};
    const twist *before[] = {&PLAIN}, *after[] = {&LONGER}, *more[] = {&LONGER, &shorter};
    analysis_input in = make_many(0, before, 1, x), other = make_many(1, after, 1, y);
    analysis_input also[2] = {make_many(2, &more[0], 1, z), make_many(3, &more[1], 1, z + 1)};
    params p = fake_params();
    in.against = &other;
    answer out = ask(&in, &p, &a);
    assert_string_equal(out.verdict.id, "diff_slower");
    assert_int_equal(fake_int(fake_table(&out, "changes"), 1, "certain"), 1);
    in.also = also;
    in.n_also = 2;
    out = ask(&in, &p, &a);
    assert_string_equal(out.verdict.id, "diff_same");
    assert_int_equal(fake_int(fake_table(&out, "changes"), 1, "certain"), 0);
    assert_int_equal(fake_table(&out, "steps")->n_rows, 4);
    forget_many(4, &a);
}

static void each_side_has_its_own_steps(void **state) {
    arena a = {0};
    analysis_trace x[1], y[1];
    const twist *one_of[] = {&PLAIN};
    analysis_input in = make_many(0, one_of, 1, x), other = make_many(1, one_of, 1, y);
    params p = fake_params();
    in.against = &other;
    p.first_step = p.last_step = 1;
    p.extra[p.n_extra].name = STR("other_step");
    p.extra[p.n_extra++].value = STR("2..3");
    answer out = ask(&in, &p, &a);
    const table *t = fake_table(&out, "steps");
    assert_int_equal(fake_int(t, 0, "steps"), 1);
    assert_int_equal(fake_int(t, 1, "steps"), 2);
    p.extra[0].value = STR("all");
    out = ask(&in, &p, &a);
    assert_int_equal(fake_int(fake_table(&out, "steps"), 1, "steps"), 3);
    p.extra[0].value = STR("some");
    error err;
    assert_int_equal(analyse_diff(&in, &p, &a, &out, &err), ERR_ARG);
    forget_many(2, &a);
}

static void one_run_is_not_enough(void **state) {
    arena a = {0};
    forget_runs();
    make_run(&one, &(twist){0});
    analysis_trace alone = {.trace = one.t, .rank = ABSENT_I64};
    analysis_input in = {.traces = &alone, .n_traces = 1};
    params p = fake_params();
    answer out;
    error err;
    assert_int_equal(analyse_diff(&in, &p, &a, &out, &err), ERR_ARG);
    fake_fini(&one.f);
    end(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_twice_has_no_cause),
        cmocka_unit_test(a_call_inside_itself_is_one_call),
        cmocka_unit_test(a_wait_at_the_start_of_the_step_is_data),
        cmocka_unit_test(a_wait_inside_the_step_is_a_gap_before_a_call),
        cmocka_unit_test(kernels_change_by_shape_by_name_or_by_time),
        cmocka_unit_test(calls_that_one_run_lacks_are_work),
        cmocka_unit_test(a_slower_host_is_not_the_program),
        cmocka_unit_test(other_shapes_everywhere_are_another_workload),
        cmocka_unit_test(a_rank_that_changed_alone_is_named),
        cmocka_unit_test(ranks_of_another_world_are_compared_by_their_means),
        cmocka_unit_test(what_runs_of_one_program_differ_is_not_certain),
        cmocka_unit_test(each_side_has_its_own_steps),
        cmocka_unit_test(one_run_is_not_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
