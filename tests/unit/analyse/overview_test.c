/* overview_test.c: whole answers of the overview on small traces: the original tool's own
 * cases, with the right value where the original was wrong. */
#include "fake_trace.h"

static const char *const roles[] = {"kernel",        "memcpy",  "memset",
                                    "communication", "runtime", "data_loader",
                                    "cpu_exec",      "other",   "total"};

/* Costs of step `row` in that order; -1 = null. */
static void check_step(const table *t, size_t row, const int64_t want[9]) {
    for (int i = 0; i < 9; i++) {
        if (want[i] < 0) {
            assert_true(fake_null(t, row, roles[i]));
            continue;
        }
        if (fake_int(t, row, roles[i]) != want[i])
            fail_msg("%s of row %zu: expected %lld, got %lld", roles[i], row,
                     (long long)want[i], (long long)fake_int(t, row, roles[i]));
    }
}
#define CHECK_STEP(t, row, ...) check_step(t, row, (const int64_t[9]){__VA_ARGS__})

static answer ask(fake *f, arena *a) {
    params p = fake_params();
    return fake_ask(analyse_overview, fake_seal(f), &p, a);
}

static int add_step(fake *f, int host, int number, int64_t start, int64_t dur) {
    char *name = arena_alloc(&f->arena, 32);
    snprintf(name, 32, "ProfilerStep#%d", number);
    fake_step(f, number, start, start + dur);
    return fake_add(f, host, KIND_STEP, name, start, dur);
}

/* A call with one piece of device work. */
static void add_launch(fake *f, int host, int gpu, const int64_t at[4], uint8_t kind) {
    int call = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at[0], at[1]);
    fake_work(f, gpu, kind, kind == KIND_KERNEL ? "k" : "copy", at[2], at[3], call);
}
#define LAUNCH(f, host, gpu, kind, ...) \
    add_launch(f, host, gpu, (const int64_t[4]){__VA_ARGS__}, kind)

static void every_category_gets_its_own_moments(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), other = fake_thread(&f), gpu = fake_stream(&f, 0);
    add_step(&f, host, 1, 50, 400);
    fake_add(&f, host, KIND_DATA, "enumerate(DataLoader)#_X.__next__", 100, 180);
    fake_add(&f, host, KIND_OP, "aten::to", 200, 60);
    fake_add(&f, other, KIND_OP, "nll_loss_backward", 340, 70);
    LAUNCH(&f, other, gpu, KIND_MEMCPY, 360, 20, 405, 10);
    LAUNCH(&f, other, gpu, KIND_MEMSET, 390, 10, 420, 5);
    LAUNCH(&f, other, gpu, KIND_KERNEL, 405, 5, 430, 15);
    answer out = ask(&f, &a);
    CHECK_STEP(fake_table(&out, "steps"), 0, 15, 10, 5, 0, 30, 180, 35, 125, 400);
    table *b = fake_table(&out, "breakdown");
    assert_int_equal(fake_int(b, fake_row(b, "data_loader"), "time"), 180);
    assert_near(fake_real(b, fake_row(b, "data_loader"), "share"), 0.45);
    assert_string_equal(out.verdict.id, "gpu_idle_data_loader");
    assert_string_equal(out.verdict.args[0].name, "idle_share");
    assert_near(out.verdict.args[0].u.d, 1 - 30.0 / 400);
    arena_fini(&a);
    fake_fini(&f);
}

static void a_call_outside_operators_counts_as_runtime(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    add_step(&f, host, 1, 100, 300);
    LAUNCH(&f, host, gpu, KIND_KERNEL, 130, 20, 220, 8);
    answer out = ask(&f, &a);
    CHECK_STEP(fake_table(&out, "steps"), 0, 8, 0, 0, 0, 20, 0, 0, 272, 300);
    arena_fini(&a);
    fake_fini(&f);
}

/* A first step of `first` and three of 100; each begins with a kernel of 10, the first one with
 * one of `kernel`. */
static answer ask_with_first(fake *f, arena *a, int64_t first, int64_t kernel) {
    fake_init(f);
    int host = fake_thread(f), gpu = fake_stream(f, 0);
    int64_t at = 1000;
    for (int i = 0; i < 4; i++) {
        int64_t dur = i ? 100 : first;
        add_step(f, host, i, at, dur);
        LAUNCH(f, host, gpu, KIND_KERNEL, at + 10, 5, at + 30, i ? 10 : kernel);
        at += dur;
    }
    return ask(f, a);
}

static void a_first_step_that_tries_algorithms_is_the_verdict(void **state) {
    fake f;
    arena a = {0};
    answer out = ask_with_first(&f, &a, 700, 600);
    assert_string_equal(out.verdict.id, "first_step_decides");
    assert_string_equal(out.verdict.args[2].name, "share");
    assert_near(out.verdict.args[2].u.d, 0.7);
    assert_int_equal(out.verdict.args[3].u.i, 100);
    arena_fini(&a);
    fake_fini(&f);
    arena b = {0};
    out = ask_with_first(&f, &b, 300, 250); /* half of all is not most */
    assert_string_not_equal(out.verdict.id, "first_step_decides");
    arena_fini(&b);
    fake_fini(&f);
}

static void a_first_step_that_compiles_is_left_out(void **state) {
    fake f;
    arena a = {0};
    answer out = ask_with_first(&f, &a, 700, 10);
    assert_string_not_equal(out.verdict.id, "first_step_decides");
    assert_int_equal(fake_table(&out, "steps")->n_rows, 3);
    assert_string_equal(out.quality.notes[0].id, "warm_up");
    arena_fini(&a);
    fake_fini(&f);
}

static void a_recording_without_markers_is_one_step(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_OP, "aten::to", 100, 60);
    fake_add(&f, host, KIND_OP, "backward", 300, 70);
    LAUNCH(&f, host, gpu, KIND_KERNEL, 310, 20, 320, 100);
    answer out = ask(&f, &a);
    table *t = fake_table(&out, "steps");
    assert_int_equal(t->n_rows, 1);
    CHECK_STEP(t, 0, 100, 0, 0, 0, 10, 0, 70, 140, 320);
    assert_int_equal(out.quality.n_notes, 1);
    assert_string_equal(out.quality.notes[0].id, "no_steps");
    arena_fini(&a);
    fake_fini(&f);
}

static void two_steps(fake *f, int64_t copy_ns) {
    fake_init(f);
    int host = fake_thread(f), gpu = fake_stream(f, 0);
    add_step(f, host, 1, 100, 200);
    fake_add(f, host, KIND_OP, "aten::to", 200, 60);
    LAUNCH(f, host, gpu, KIND_MEMCPY, 250, 5, 280, copy_ns);
    add_step(f, host, 2, 350, 150);
    fake_add(f, host, KIND_OP, "aten::mm", 360, 50);
    LAUNCH(f, host, gpu, KIND_KERNEL, 400, 5, 410, 200);
}

static void steps_end_with_their_device_work(void **state) {
    fake f;
    arena a = {0};
    two_steps(&f, 40);
    answer out = ask(&f, &a);
    table *t = fake_table(&out, "steps");
    CHECK_STEP(t, 0, 0, 40, 0, 0, 5, 0, 55, 120, 220);
    CHECK_STEP(t, 1, 200, 0, 0, 0, 5, 0, 45, 10, 260);
    table *b = fake_table(&out, "breakdown");
    int64_t sum = 0;
    for (size_t i = 0; i < b->n_rows; i++) sum += fake_int(b, i, "time");
    assert_int_equal(sum, 240);
    arena_fini(&a);
    fake_fini(&f);
}

static void steps_begin_when_the_device_work_before_them_is_done(void **state) {
    fake f;
    arena a = {0};
    two_steps(&f, 100);
    fake_work(&f, 2, KIND_KERNEL, "stale", 150, 90, -1);
    answer out = ask(&f, &a);
    table *t = fake_table(&out, "steps");
    CHECK_STEP(t, 0, 0, 100, 0, 0, 5, 0, 15, 20, 140);
    CHECK_STEP(t, 1, 200, 0, 0, 0, 5, 0, 25, 0, 230);
    arena_fini(&a);
    fake_fini(&f);
}

static void last_steps_without_device_work_are_left_out_and_named(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    add_step(&f, host, 1, 100, 200);
    add_step(&f, host, 2, 300, 100);
    add_step(&f, host, 3, 400, 50);
    fake_work(&f, gpu, KIND_KERNEL, "stale", 90, 20, -1);
    LAUNCH(&f, host, gpu, KIND_KERNEL, 125, 5, 150, 180);
    answer out = ask(&f, &a);
    table *t = fake_table(&out, "steps");
    assert_int_equal(t->n_rows, 1);
    assert_int_equal(fake_int(t, 0, "total"), 220);
    assert_int_equal(out.quality.n_notes, 3);
    assert_int_equal(out.quality.notes[0].args[0].u.i, 2);
    assert_int_equal(out.quality.notes[1].args[0].u.i, 3);
    assert_string_equal(out.quality.notes[2].id, "operators_not_recorded");
    arena_fini(&a);
    fake_fini(&f);
}

static void a_trace_of_the_host_keeps_all_steps_and_has_null_device_columns(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    add_step(&f, host, 1, 100, 200);
    fake_add(&f, host, KIND_OP, "a", 150, 10);
    add_step(&f, host, 2, 300, 100);
    fake_add(&f, host, KIND_OP, "b", 350, 40);
    answer out = ask(&f, &a);
    table *t = fake_table(&out, "steps");
    CHECK_STEP(t, 0, -1, -1, -1, 0, 0, 0, 10, 190, 200);
    CHECK_STEP(t, 1, -1, -1, -1, 0, 0, 0, 40, 60, 100);
    assert_int_equal(fake_table(&out, "devices")->n_rows, 0);
    assert_string_equal(out.verdict.id, "cpu_only");
    arena_fini(&a);
    fake_fini(&f);
}

static void a_category_that_takes_everything_leaves_nothing_to_the_next(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0), copies = fake_stream(&f, 0);
    add_step(&f, host, 1, 0, 100);
    fake_add(&f, host, KIND_OP, "op", 0, 90);
    int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 10, 2);
    fake_work(&f, gpu, KIND_KERNEL, "k", 0, 100, call);
    fake_work(&f, copies, KIND_MEMCPY, "c", 20, 40, call);
    answer out = ask(&f, &a);
    CHECK_STEP(fake_table(&out, "steps"), 0, 100, 0, 0, 0, 0, 0, 0, 0, 100);
    assert_string_equal(out.verdict.id, "gpu_busy");
    arena_fini(&a);
    fake_fini(&f);
}

/* The share of the step in which a device of 90 ns copies for `copied`; NaN: not shown. */
static double shown_copies(int64_t copied) {
    fake f;
    arena a = {0};
    double told = NAN;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    add_step(&f, host, 1, 0, 100);
    int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 0, 2);
    fake_work(&f, gpu, KIND_MEMCPY, "Memcpy HtoD (Pinned -> Device)", 5, copied, call);
    fake_work(&f, gpu, KIND_KERNEL, "k", 5 + copied, 90 - copied, call);
    answer out = ask(&f, &a);
    assert_string_equal(out.verdict.id, "gpu_busy");
    for (uint32_t i = 0; i < out.verdict.n_args; i++)
        if (strcmp(out.verdict.args[i].name, "copy_share") == 0) told = out.verdict.args[i].u.d;
    arena_fini(&a);
    fake_fini(&f);
    return told;
}

static void a_device_that_mostly_copies_is_not_just_busy(void **state) {
    assert_true(fabs(shown_copies(60) - 0.6) < 1e-9);
    assert_true(isnan(shown_copies(40)));
}

static void a_range_of_the_user_is_not_work_of_the_host(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_ANNOTATION, "whole loop", 0, 1000);
    add_step(&f, host, 1, 0, 100);
    fake_add(&f, host, KIND_ANNOTATION, "inner", 5, 50);
    LAUNCH(&f, host, gpu, KIND_KERNEL, 10, 5, 20, 30);
    fake_add(&f, gpu, KIND_DEVICE_ANNOTATION, "whole loop", 20, 30);
    fake_add(&f, gpu, KIND_DEVICE_ANNOTATION, "ProfilerStep#1", 20, 30); /* no step */
    answer out = ask(&f, &a);
    table *t = fake_table(&out, "steps");
    assert_int_equal(t->n_rows, 1);
    CHECK_STEP(t, 0, 30, 0, 0, 0, 5, 0, 0, 65, 100);
    t = fake_table(&out, "user_events");
    assert_int_equal(t->n_rows, 2);
    assert_int_equal(fake_int(t, fake_row(t, "whole loop"), "host_total"), 1000);
    assert_int_equal(fake_int(t, fake_row(t, "whole loop"), "device_total"), 30);
    assert_int_equal(fake_int(t, fake_row(t, "inner"), "device_total"), 30);
    assert_int_equal(fake_int(t, fake_row(t, "inner"), "calls"), 1);
    arena_fini(&a);
    fake_fini(&f);
}

/* worker 0 and 1 of the original's NCCL case. */
static void collectives_count_as_communication_after_kernels(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_OP, "nccl:broadcast", 0, 75);
    fake_add(&f, host, KIND_OP, "aten::add_", 100, 20);
    fake_add(&f, host, KIND_OP, "nccl:all_reduce", 160, 75);
    fake_work(&f, gpu, KIND_KERNEL, "ncclKernel_Broadcast_RING_LL", 16, 16, -1);
    fake_work(&f, gpu, KIND_KERNEL, "void at::native::add", 130, 161, -1);
    fake_work(&f, gpu, KIND_KERNEL, "ncclKernel_AllReduce_RING_LL", 162, 1556, -1);
    answer out = ask(&f, &a);
    /* The host ranges of collectives that kernels run are calls; the recording lasts until the
     * last kernel ends. */
    CHECK_STEP(fake_table(&out, "steps"), 0, 161, 0, 0, 1443, 0, 0, 79, 35, 1718);
    arena_fini(&a);
    fake_fini(&f);
}

static void stages_follow_autograd_and_optimizer(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), autograd = fake_thread(&f), gpu = fake_stream(&f, 0);
    add_step(&f, host, 1, 0, 400);
    fake_add(&f, host, KIND_DATA, "enumerate(DataLoader)#_X.__next__", 1, 9);
    int linear = fake_add(&f, host, KIND_OP, "aten::linear", 20, 30);
    f.slices[linear].has_op_row = true;
    f.slices[linear].sequence = 1;
    LAUNCH(&f, host, gpu, KIND_KERNEL, 25, 5, 40, 30);
    int relu = fake_add(&f, host, KIND_OP, "aten::relu", 70, 10);
    f.slices[relu].has_op_row = true;
    f.slices[relu].sequence = 2;
    fake_add(&f, autograd, KIND_OP, "autograd::engine::evaluate_function: ReluBackward0", 150,
             20);
    fake_add(&f, autograd, KIND_OP, "autograd::engine::evaluate_function: AddmmBackward0", 180,
             30);
    LAUNCH(&f, autograd, gpu, KIND_KERNEL, 185, 5, 200, 50);
    fake_add(&f, host, KIND_OPTIMIZER, "Optimizer.step#SGD.step", 300, 50);
    answer out = ask(&f, &a);
    table *t = fake_table(&out, "stages");
    assert_text(fake_text(t, 0, "stage"), "step");
    assert_int_equal(fake_int(t, fake_row(t, "data_loading"), "host_time"), 9);
    assert_int_equal(fake_int(t, fake_row(t, "forward"), "host_time"),
                     60); /* with the gap in it */
    assert_int_equal(fake_int(t, fake_row(t, "forward"), "calls"), 1);
    assert_int_equal(fake_int(t, fake_row(t, "forward"), "device_time"), 30);
    assert_int_equal(fake_int(t, fake_row(t, "backward"), "host_time"), 60);
    assert_int_equal(fake_int(t, fake_row(t, "backward"), "device_time"), 50);
    assert_int_equal(fake_int(t, fake_row(t, "optimizer"), "host_time"), 50);
    assert_int_equal(fake_int(t, fake_row(t, "other"), "host_time"), 400 - 9 - 60 - 60 - 50);
    assert_near(fake_real(t, fake_row(t, "backward"), "device_share"), 50.0 / 80);
    t = fake_table(&out, "stage_steps");
    assert_int_equal(t->n_rows, 5);
    t = fake_table(&out, "stage_events");
    bool seen = false;
    for (size_t i = 0; i < t->n_rows; i++)
        if (str_eq(fake_text(t, i, "stage"), STR("backward")) &&
            str_eq(fake_text(t, i, "kind"), STR("kernel"))) {
            assert_int_equal(fake_int(t, i, "device_time"), 50);
            assert_int_equal(fake_int(t, i, "calls"), 1);
            assert_true(fake_null(t, i, "host_time"));
            seen = true;
        }
    assert_true(seen);
    arena_fini(&a);
    fake_fini(&f);
}

/* The verdict and the first advice name one cause: the host had launched in time. */
static void launched_work_that_waits_is_not_a_late_host(void **state) {
    fake f;
    arena a = {0};
    params p = fake_params();
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    add_step(&f, host, 1, 0, 1000000);
    fake_add(&f, host, KIND_OP, "aten::mm", 0, 990000);
    LAUNCH(&f, host, gpu, KIND_KERNEL, 10, 20, 1000, 99000);
    LAUNCH(&f, host, gpu, KIND_KERNEL, 40, 20, 900000, 100000);
    const trace *t = fake_seal(&f);
    answer out = fake_ask(analyse_overview, t, &p, &a);
    assert_string_equal(out.verdict.id, "gpu_idle_dependency");
    out = fake_ask(analyse_advise, t, &p, &a);
    assert_string_equal(out.verdict.id, "dependency_wait");
    arena_fini(&a);
    fake_fini(&f);
}

/* A file that ends after its host half gets no verdict about the data loader. */
static void a_cut_file_is_the_verdict(void **state) {
    fake f;
    arena a = {0};
    params p = fake_params();
    fake_init(&f);
    int host = fake_thread(&f);
    add_step(&f, host, 1, 0, 1000);
    fake_add(&f, host, KIND_DATA, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
             0, 800);
    const trace *t = fake_seal(&f);
    f.t.quality.n = 2;
    FAKE_SET(&f, quality, cause, 1, CAUSE_TRUNCATED);
    FAKE_SET(&f, quality, count, 1, 1);
    answer out = fake_ask(analyse_overview, t, &p, &a);
    assert_string_equal(out.verdict.id, "trace_cut");
    out = fake_ask(analyse_advise, t, &p, &a);
    assert_string_equal(out.verdict.id, "trace_cut");
    assert_int_equal(fake_table(&out, "advice")->n_rows, 0);
    arena_fini(&a);
    fake_fini(&f);
}

static void an_empty_trace_says_that_it_is_empty(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    answer out = ask(&f, &a);
    assert_string_equal(out.verdict.id, "trace_empty");
    assert_int_equal(fake_table(&out, "devices")->n_rows, 0);
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_category_gets_its_own_moments),
        cmocka_unit_test(a_call_outside_operators_counts_as_runtime),
        cmocka_unit_test(a_recording_without_markers_is_one_step),
        cmocka_unit_test(steps_end_with_their_device_work),
        cmocka_unit_test(steps_begin_when_the_device_work_before_them_is_done),
        cmocka_unit_test(last_steps_without_device_work_are_left_out_and_named),
        cmocka_unit_test(a_trace_of_the_host_keeps_all_steps_and_has_null_device_columns),
        cmocka_unit_test(a_category_that_takes_everything_leaves_nothing_to_the_next),
        cmocka_unit_test(a_device_that_mostly_copies_is_not_just_busy),
        cmocka_unit_test(a_range_of_the_user_is_not_work_of_the_host),
        cmocka_unit_test(collectives_count_as_communication_after_kernels),
        cmocka_unit_test(stages_follow_autograd_and_optimizer),
        cmocka_unit_test(launched_work_that_waits_is_not_a_late_host),
        cmocka_unit_test(a_first_step_that_tries_algorithms_is_the_verdict),
        cmocka_unit_test(a_first_step_that_compiles_is_left_out),
        cmocka_unit_test(a_cut_file_is_the_verdict),
        cmocka_unit_test(an_empty_trace_says_that_it_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
