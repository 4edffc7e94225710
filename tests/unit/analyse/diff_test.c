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
        cmocka_unit_test(one_run_is_not_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
