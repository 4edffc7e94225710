/* steps_test.c: steps as recorded, their parts, and which one is odd. */
#include "example_trace.h"

static void parts_of_a_step(void **state) {
    fake f;
    example e;
    arena a = {0};
    const trace *t = example_make(&f, &e);
    params p = fake_params();
    answer out = fake_ask(analyse_steps, t, &p, &a);
    table *s = fake_table(&out, "steps");
    assert_int_equal(s->n_rows, 1);
    assert_int_equal(fake_int(s, 0, "duration"), 400);
    assert_int_equal(fake_int(s, 0, "forward_backward"),
                     225 - 10); /* the module begins at 10 */
    assert_int_equal(fake_int(s, 0, "tail"), 400 - 225);
    assert_true(fake_null(s, 0, "gap") && fake_null(s, 0, "communication"));
    s = fake_table(&out, "segments");
    static const char *const stages[] = {"data_loading", "forward", "backward", "optimizer"};
    assert_int_equal(s->n_rows, 4);
    for (size_t i = 0; i < 4; i++) assert_text(fake_text(s, i, "stage"), stages[i]);
    arena_fini(&a);
    fake_fini(&f);
}

static void communication_is_exposed_where_nothing_computes(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0), comm = fake_stream(&f, 0);
    fake_step(&f, 1, 0, 100);
    fake_step(&f, 2, 110, 200);
    int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 10, 5);
    fake_work(&f, gpu, KIND_KERNEL, "gemm", 20, 30, call);
    fake_work(&f, comm, KIND_KERNEL, "ncclDevKernel_AllReduce", 40, 50, call);
    fake_work(&f, comm, KIND_KERNEL, "ncclDevKernel_AllGather", 95, 30,
              call); /* launched in step 1 */
    fake_add(&f, host, KIND_ANNOTATION, "gloo:broadcast", 150, 10);
    params p = fake_params();
    answer out = fake_ask(analyse_steps, fake_seal(&f), &p, &a);
    table *s = fake_table(&out, "steps");
    assert_int_equal(fake_int(s, 0, "communication"), 80);
    assert_int_equal(fake_int(s, 0, "exposed_communication"), 70);
    assert_int_equal(fake_int(s, 1, "communication"), 10);
    assert_int_equal(fake_int(s, 1, "gap"), 10);
    s = fake_table(&out, "segments");
    assert_int_equal(s->n_rows, 4);
    assert_text(fake_text(s, 0, "stage"), "communication");
    assert_text(fake_text(s, 0, "name"), "ncclDevKernel_AllReduce");
    assert_int_equal(fake_int(s, 0, "exposed"), 40);
    assert_text(fake_text(s, 1, "stage"), "hidden");    /* gemm runs until 50 */
    assert_int_equal(fake_int(s, 1, "start"), 40 - 10); /* the trace begins at 10 */
    assert_int_equal(fake_int(s, 1, "duration"), 10);
    assert_true(fake_null(s, 1, "exposed"));
    assert_int_equal(fake_int(s, 2, "exposed"), 30);
    arena_fini(&a);
    fake_fini(&f);
}

static void hidden_stretches_are_drawn_apart_unless_the_gap_cannot_be_seen(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0), comm = fake_stream(&f, 0);
    fake_step(&f, 1, 0, 10000);
    int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 10, 5);
    fake_work(&f, comm, KIND_KERNEL, "ncclDevKernel_AllReduce", 1000, 2000, call);
    fake_work(&f, gpu, KIND_KERNEL, "a", 900, 300, call);   /* 1000 … 1200 of it */
    fake_work(&f, gpu, KIND_KERNEL, "b", 1205, 95, call);   /* 5 after: joined */
    fake_work(&f, gpu, KIND_KERNEL, "c", 2000, 100, call);  /* far after */
    fake_work(&f, gpu, KIND_KERNEL, "d", 2900, 1000, call); /* to the end */
    params p = fake_params();
    answer out = fake_ask(analyse_steps, fake_seal(&f), &p, &a);
    table *s = fake_table(&out, "segments");
    static const int64_t pieces[][2] = {{1000, 300}, {2000, 100}, {2900, 100}};
    assert_int_equal(s->n_rows, 4);
    assert_int_equal(fake_int(s, 0, "exposed"), 2000 - 200 - 95 - 100 - 100);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(fake_int(s, i + 1, "start"), pieces[i][0] - 10);
        assert_int_equal(fake_int(s, i + 1, "duration"), pieces[i][1]);
    }
    arena_fini(&a);
    fake_fini(&f);
}

/* One truth: for a window, steps and distributed show what is inside. */
static void a_window_cuts_steps_as_in_every_analysis(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), comm = fake_stream(&f, 0);
    for (int i = 0; i < 3; i++) {
        fake_step(&f, i, 100 * i, 100 * i + 100);
        int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 100 * i, 5);
        fake_work(&f, comm, KIND_KERNEL, "ncclDevKernel_AllReduce", 100 * i + 40, 40, call);
    }
    const trace *t = fake_seal(&f);
    params p = fake_params();
    p.from_ns = 50;
    p.to_ns = 250;
    answer out = fake_ask(analyse_steps, t, &p, &a),
           all = fake_ask(analyse_distributed, t, &p, &a);
    table *s = fake_table(&out, "steps");
    static const int64_t total[] = {50, 100, 50}, exposed[] = {30, 40, 10};
    assert_int_equal(s->n_rows, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(fake_int(s, i, "duration"), 100);
        assert_int_equal(fake_int(s, i, "total"), total[i]);
        assert_int_equal(fake_int(s, i, "exposed_communication"), exposed[i]);
        assert_int_equal(fake_int(s, i, "cut"), i != 1);
    }
    assert_int_equal(fake_int(fake_table(&all, "overlap"), 0, "communication"),
                     27);                                 /* 80 / 3, rounded */
    assert_string_equal(out.verdict.id, "steps_exposed"); /* of the whole one */
    assert_near(out.verdict.args[0].u.d, 0.4);
    assert_int_equal(out.verdict.args[1].u.i, 40);
    assert_int_equal(out.verdict.args[2].u.i, 1); /* that step, not each */
    assert_true(str_eq(out.verdict.args[3].u.text, STR("ncclDevKernel_AllReduce")));
    assert_int_equal(out.verdict.args[4].u.i, 40); /* of one collective */
    p.from_ns = 110;
    p.to_ns = 130;
    out = fake_ask(analyse_steps, t, &p, &a);
    assert_string_equal(out.verdict.id, "steps_cut");
    assert_int_equal(fake_int(fake_table(&out, "steps"), 0, "exposed_communication"), 0);
    arena_fini(&a);
    fake_fini(&f);
}

static const char *judge(const int64_t *durations, size_t n, int64_t *step) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        fake_step(&f, (int64_t)i + 10, at, at + durations[i]);
        at += durations[i];
    }
    params p = fake_params();
    answer out = fake_ask(analyse_steps, fake_seal(&f), &p, &a);
    const char *id = out.verdict.id;
    if (step) *step = out.verdict.args[0].u.i;
    arena_fini(&a);
    fake_fini(&f);
    return id;
}

static void the_verdict_names_the_step_that_is_odd(void **state) {
    int64_t step;
    assert_string_equal(judge((const int64_t[]){100, 101, 99, 150, 100}, 5, &step),
                        "steps_uneven");
    assert_int_equal(step, 13);
    assert_string_equal(judge((const int64_t[]){200, 101, 99, 100, 100}, 5, &step),
                        "steps_first_slow");
    assert_int_equal(step, 10);
    assert_string_equal(judge((const int64_t[]){100, 101, 99}, 3, NULL), "steps_even");
    assert_string_equal(judge(NULL, 0, NULL), "steps_none");
}

/* "differ by 86,661.5 %" helps no one: from twice as long on, the verdict has the factor. */
static void two_steps_of_very_different_length_get_a_factor(void **state) {
    static const int64_t lengths[][2] = {{100, 150}, {100, 86800}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fake f;
        arena a = {0};
        fake_init(&f);
        fake_step(&f, 1, 0, lengths[i][0]);
        fake_step(&f, 2, lengths[i][0], lengths[i][0] + lengths[i][1]);
        params p = fake_params();
        answer out = fake_ask(analyse_steps, fake_seal(&f), &p, &a);
        assert_string_equal(out.verdict.id, "steps_even");
        assert_int_equal(out.verdict.n_args, i == 0 ? 3 : 4);
        if (i == 1) assert_near(out.verdict.args[3].u.d, 868);
        arena_fini(&a);
        fake_fini(&f);
    }
}

/* As in advice and averages: our own recordings hold the steps that warm up. */
static void warm_up_does_not_move_the_median(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int64_t at = 0;
    for (int i = 0; i < 6; i++) {
        int64_t length = i < 3 ? 1000 : 100 + i; /* 103, 104, 105 */
        fake_step(&f, i, at, at + length);
        at += length;
    }
    f.t.format = STR("tacho_recording");
    params p = fake_params();
    answer out = fake_ask(analyse_steps, fake_seal(&f), &p, &a);
    assert_string_equal(out.verdict.id, "steps_first_slow");
    assert_string_equal(out.verdict.args[2].name, "median");
    assert_int_equal(out.verdict.args[2].u.i, 104);
    arena_fini(&a);
    fake_fini(&f);
}

static void steps_that_overlap_cost_no_more_and_share_no_moment(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    for (int i = 0; i < 20; i++) {
        fake_step(&f, i, i, 1000); /* each runs to the end */
        fake_add(&f, host, KIND_OPTIMIZER, "Optimizer.step#A.step", 100 + 10 * i, 5);
    }
    params p = fake_params();
    answer out = fake_ask(analyse_steps, fake_seal(&f), &p, &a);
    assert_int_equal(fake_table(&out, "steps")->n_rows, 20);
    table *s = fake_table(&out, "segments");
    for (size_t i = 0; i < s->n_rows; i++) assert_int_equal(fake_int(s, i, "step"), 19);
    arena_fini(&a);
    fake_fini(&f);
}

static void exposed_loading_of_data_is_the_verdict(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    for (int i = 0; i < 3; i++) {
        fake_step(&f, i, 100 * i, 100 * i + 100);
        int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 100 * i, 5);
        fake_work(&f, gpu, KIND_KERNEL, "gemm", 100 * i + 5, 35, call);
        fake_add(&f, host, KIND_DATA, "enumerate(DataLoader)#next", 100 * i + 20,
                 i == 1 ? 80 : 50); /* 20 of it hidden */
    }
    params p = fake_params();
    const trace *t = fake_seal(&f);
    answer out = fake_ask(analyse_steps, t, &p, &a);
    assert_string_equal(out.verdict.id, "steps_loading");
    assert_near(out.verdict.args[0].u.d, 0.4); /* (30 + 60 + 30) / 300 */
    assert_int_equal(out.verdict.args[1].u.i, 40);
    assert_int_equal(t->slice.dur[out.verdict.args[2].u.i], 80); /* where it is longest */
    p.first_step = p.last_step = 2;
    out = fake_ask(analyse_steps, t, &p, &a);
    assert_string_equal(out.verdict.id, "steps_loading");
    assert_near(out.verdict.args[0].u.d, 0.3);
    assert_int_equal(out.verdict.args[2].u.i, 2); /* that step, not each */
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_step),
        cmocka_unit_test(communication_is_exposed_where_nothing_computes),
        cmocka_unit_test(hidden_stretches_are_drawn_apart_unless_the_gap_cannot_be_seen),
        cmocka_unit_test(a_window_cuts_steps_as_in_every_analysis),
        cmocka_unit_test(the_verdict_names_the_step_that_is_odd),
        cmocka_unit_test(two_steps_of_very_different_length_get_a_factor),
        cmocka_unit_test(warm_up_does_not_move_the_median),
        cmocka_unit_test(steps_that_overlap_cost_no_more_and_share_no_moment),
        cmocka_unit_test(exposed_loading_of_data_is_the_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
