/* diff_test.c: causes of a change by hand: three steps of 100 µs, in which one thing differs.
 *
 * A step: aten::to at 0 for 10, aten::mm at 20 for 30 with a kernel from 60 to 70, aten::add at 75
 * for 15; the device idle else. All in µs. */
#include <math.h>

#include "fake_trace.h"

enum { US = 1000, STEPS = 3, STEP_US = 100 };

/* What is different in a step; all 0: nothing. In µs. */
typedef struct {
    int begin_wait, wait_before_add, kernel_longer, host_percent, extra_calls;
    const char *shapes, *kernel, *types;
    bool steps_of_own_length; /* every step differs a little, as real ones do */
    bool twice;               /* aten::to is recorded inside itself once more */
    int allocates;            /* aten::to lasts this much longer, in the allocator */
    int64_t peak;             /* bytes that are allocated in it */
    int steps;                /* 0: STEPS */
    bool uneven;              /* begin_wait grows with the square of the step's number */
} twist;

typedef struct {
    fake f;
    const trace *t;
} made_run;

static int64_t scaled(const twist *w, int64_t us) {
    return us * US * (100 + w->host_percent) / 100;
}

/* aten::empty for 2 µs, the driver inside it for as long as is asked for; how long it takes. */
static int64_t add_allocation(fake *f, int host, int64_t now, const twist *w) {
    if (w->peak)
        fake_add_memory(f, (fake_memory){.time = now,
                                         .track = host,
                                         .address = (uint64_t)now + 1,
                                         .bytes = 512,
                                         .allocated = w->peak,
                                         .reserved = w->peak,
                                         .device_type = 1});
    fake_add(f, host, KIND_OP, "aten::empty", now, (2 + w->allocates) * (int64_t)US);
    if (w->allocates) {
        fake_add(f, host, KIND_RUNTIME, "cudaFree", now + US, US);
        fake_add(f, host, KIND_RUNTIME, "cudaMalloc", now + 2 * US,
                 (w->allocates - 1) * (int64_t)US);
    }
    return (2 + w->allocates) * (int64_t)US;
}

/* Calls one after the other, each as long as the host makes it; the kernel begins when its call
 * has ended, and its end holds nothing up but the step. */
static int64_t add_step(fake *f, int host, int gpu, int number, int64_t at, const twist *w) {
    int64_t wait = w->begin_wait * (int64_t)US * (w->uneven ? number * number : 1);
    int64_t now = at + wait + (w->steps_of_own_length ? number * 100 : 0);
    fake_add(f, host, KIND_OP, "aten::to", now, scaled(w, 10));
    if (w->twice) fake_add(f, host, KIND_OP, "aten::to", now + US, scaled(w, 10) - 2 * US);
    now += scaled(w, 20);
    now += add_allocation(f, host, now, w);
    int mm = fake_add(f, host, KIND_OP, "aten::mm", now, scaled(w, 30));
    f->slices[mm].shapes = w->shapes ? w->shapes : "[[64,64],[64,64]]";
    f->slices[mm].types = w->types ? w->types : "[\"float\", \"float\"]";
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
    for (int i = 0; i < (w->steps ? w->steps : STEPS); i++)
        at = add_step(&r->f, host, gpu, i + 1, at, w);
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
    make_run(&one, &(twist){.steps_of_own_length = w->steps_of_own_length,
                            .peak = w->peak ? 1 << 20 : 0,
                            .steps = w->steps});
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

static void calls_of_the_allocator_are_memory(void **state) {
    arena a = {0};
    answer out = compare_with(&(twist){.allocates = 30, .peak = 3 << 20}, &a);
    assert_first(&out, "memory", "cudaMalloc", 30);
    assert_int_equal(fake_table(&out, "causes")->n_rows,
                     2); /* aten::empty itself is the same */
    const verdict *v = fake_table(&out, "causes")->columns[2].v.sentence[0];
    bool peak = false;
    for (uint32_t i = 0; i < v->n_args; i++)
        if (strcmp(v->args[i].name, "peak_b") == 0) peak = v->args[i].u.i == 3 << 20;
    assert_true(peak);
    assert_string_equal(out.verdict.id, "diff_slower");
    const table *t = fake_table(&out, "parity");
    for (size_t i = 0; i < t->n_rows; i++) /* the program makes the same calls */
        if (str_eq(fake_text(t, i, "key"), STR("calls_per_step")))
            assert_int_equal(fake_int(t, i, "same"), 1);
    out = compare_with(&(twist){.peak = 3 << 20}, &a); /* a peak alone costs no time */
    assert_int_equal(fake_table(&out, "causes")->n_rows, 1);
    end(&a);
}

static bool has_arg(const verdict *v, const char *name) {
    for (uint32_t i = 0; i < v->n_args; i++)
        if (strcmp(v->args[i].name, name) == 0) return true;
    return false;
}

static void one_step_gives_no_spread(void **state) {
    arena a = {0};
    answer out = compare_with(&(twist){.kernel_longer = 20, .steps = 1}, &a);
    const table *t = fake_table(&out, "causes");
    assert_string_equal(out.verdict.id, "diff_few_steps");
    assert_int_equal(fake_int(t, 0, "certain"), 0);
    assert_false(has_arg(t->columns[2].v.sentence[0], "spread"));
    out = compare_with(&(twist){.steps = 1}, &a);
    assert_string_equal(out.verdict.id, "diff_same");
    assert_true(has_arg(&out.verdict, "one"));
    out = compare_with(&(twist){.kernel_longer = 20}, &a);
    assert_true(has_arg(fake_table(&out, "causes")->columns[2].v.sentence[0], "spread"));
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

static void a_slower_cpu_is_not_the_program(void **state) {
    arena a = {0};
    answer out = compare_with(&(twist){.host_percent = 30, .steps_of_own_length = true}, &a);
    const table *t = fake_table(&out, "causes");
    assert_text(fake_text(t, 0, "id"), "host_speed");
    assert_int_equal(fake_int(t, 0, "certain"), 0);
    assert_string_equal(out.verdict.id, "diff_host");
    end(&a);
}

static void other_shapes_everywhere_are_a_different_workload(void **state) {
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
    assert_true(has_arg(&out.verdict, "what") && has_arg(&out.verdict, "name"));
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

/* The row of table parity with this key. */
static size_t parity_row(const table *t, const char *key) {
    for (size_t i = 0; i < t->n_rows; i++)
        if (str_eq(fake_text(t, i, "key"), str_of(key))) return i;
    fail_msg("no row %s", key);
    return 0;
}

static void parity_tells_precision_and_batch(void **state) {
    arena a = {0};
    answer out = compare_with(&(twist){.types = "[\"c10::BFloat16\", \"c10::BFloat16\"]",
                                       .kernel = "ampere_bf16_s16816gemm_bf16_128x128"},
                              &a);
    const table *t = fake_table(&out, "parity");
    size_t row = parity_row(t, "precision");
    assert_text(fake_text(t, row, "a"), "fp32");
    assert_text(fake_text(t, row, "b"), "bf16");
    assert_int_equal(fake_int(t, row, "same"), 0);
    end(&a);
    out = compare_with(&(twist){.shapes = "[[256,64],[64,64]]"}, &a);
    t = fake_table(&out, "parity");
    row = parity_row(t, "batch");
    assert_text(fake_text(t, row, "a"), "64");
    assert_text(fake_text(t, row, "b"), "256");
    row = parity_row(t, "shapes"); /* numbers alone: the page has the words */
    assert_text(fake_text(t, row, "a"), "1");
    assert_text(fake_text(t, row, "b"), "0");
    assert_text(fake_text(t, parity_row(t, "shapes_factor"), "b"), "4");
    t = fake_table(&out, "changes");
    assert_text(fake_text(t, 1, "metric"), "step_for_same_data");
    assert_true(fabs(t->columns[2].v.d[1] * 4 - t->columns[2].v.d[0]) < 4);
    end(&a);
}

/* The same kernels without their operators, in one launch for each step. */
static int64_t add_replay(fake *f, int host, int gpu, int number, int64_t at) {
    int call = fake_add(f, host, KIND_RUNTIME, "cudaGraphLaunch", at, 5 * US);
    fake_work(f, gpu, KIND_KERNEL, "gemm", at + 5 * US, 10 * US, call);
    fake_step(f, number, at, at + 20 * US);
    return at + 20 * US;
}

static void a_graph_is_a_way_to_launch(void **state) {
    arena a = {0};
    analysis_trace x[1], y[1];
    const twist *plain[] = {&PLAIN};
    analysis_input in = make_many(0, plain, 1, x), other = {.traces = y, .n_traces = 1};
    fake *f = &many[1].f;
    int64_t at = 0;
    fake_init(f);
    int host = fake_thread(f), gpu = fake_stream(f, 0);
    for (int i = 0; i < STEPS; i++) at = add_replay(f, host, gpu, i + 1, at);
    y[0] = (analysis_trace){.trace = fake_seal(f), .rank = 0};
    params p = fake_params();
    in.against = &other;
    answer out = ask(&in, &p, &a);
    const table *t = fake_table(&out, "causes");
    assert_string_equal(out.verdict.id, "diff_faster");
    assert_text(fake_text(t, 0, "id"), "graph_launch");
    assert_int_equal(fake_int(t, 0, "certain"), 1);
    assert_int_equal(t->n_rows, 2); /* the kernel takes the same time */
    forget_many(2, &a);
}

/* ---- graphs by their nodes --------------------------------------------------------------- */

/* Kernels of a graph: a name, how long it takes in µs. */
typedef struct {
    const char *name;
    int us;
} graph_kernel;

typedef struct {
    const graph_kernel *v;
    int n;
    int64_t first_id;   /* 0: none was recorded */
    int new_ids_each;   /* ids of each replay are this much larger: captured once more */
    const char *around; /* an operator around the launch */
    int on_two_streams; /* the replay with this number: the first two change places */
} made_graph;

static int64_t add_graph(fake *f, int host, const int gpu[2], int number, int64_t at,
                         const made_graph *g) {
    int64_t now = at + 5 * US;
    if (g->around) fake_add(f, host, KIND_OP, g->around, at, 5 * US);
    int call = fake_add(f, host, KIND_RUNTIME, "cudaGraphLaunch", at + US, 3 * US);
    for (int i = 0; i < g->n; i++) {
        bool swaps = g->on_two_streams == number && i < 2;
        const graph_kernel *k = &g->v[swaps ? 1 - i : i];
        int h = fake_work(f, gpu[swaps], KIND_KERNEL, k->name, now, k->us * (int64_t)US, call);
        if (g->first_id) f->slices[h].graph_node = g->first_id + number * g->new_ids_each + i;
        now += k->us * (int64_t)US;
    }
    fake_step(f, number, at, now + 5 * US);
    return now + 5 * US;
}

static analysis_input make_graph_run(int at, const made_graph *g, analysis_trace *out) {
    fake *f = &many[at].f;
    int64_t now = 0;
    fake_init(f);
    int host = fake_thread(f), gpu[2] = {fake_stream(f, 0), fake_stream(f, 0)};
    for (int i = 0; i < STEPS; i++) now = add_graph(f, host, gpu, i + 1, now, g);
    *out = (analysis_trace){.trace = fake_seal(f), .rank = 0};
    return (analysis_input){.traces = out, .n_traces = 1};
}

static answer compare_graphs(const made_graph *x, const made_graph *y, arena *a) {
    static analysis_trace traces[2];
    static analysis_input in, other;
    in = make_graph_run(0, x, &traces[0]);
    other = make_graph_run(1, y, &traces[1]);
    params p = fake_params();
    in.against = &other;
    return ask(&in, &p, a);
}

/* The row of a node by its place in the first run; 0: the one that has none. */
static size_t graph_row(const table *t, int64_t place) {
    for (size_t i = 0; i < t->n_rows; i++)
        if (place ? !fake_null(t, i, "position_a") && fake_int(t, i, "position_a") == place
                  : fake_null(t, i, "position_a"))
            return i;
    fail_msg("no node at %d", (int)place);
    return 0;
}

static const graph_kernel LAYERS[] = {
    {"gemm", 10}, {"relu", 2}, {"gemm", 20}, {"relu", 3}, {"gemm", 30}};
static const made_graph BEFORE = {.v = LAYERS, .n = 5, .first_id = 100};

static void nodes_of_a_graph_are_paired_by_their_place(void **state) {
    static const graph_kernel third[] = {
        {"gemm", 10}, {"relu", 2}, {"gemm", 27}, {"relu", 3}, {"gemm", 30}};
    static const int64_t ids[] = {900, 0};
    for (int i = 0; i < 2; i++) { /* by ids of another process, and without any */
        arena a = {0};
        made_graph after = {.v = third, .n = 5, .first_id = ids[i]};
        answer out = compare_graphs(&BEFORE, &after, &a);
        const table *t = fake_table(&out, "graph_nodes");
        assert_int_equal(t->n_rows, 5);
        assert_int_equal(fake_int(t, 0, "position_a"), 3);
        assert_int_equal(fake_int(t, 0, "position_b"), 3);
        assert_int_equal(fake_int(t, 0, "change"), 7 * US);
        assert_text(fake_text(t, 0, "status"), "changed");
        for (int k = 1; k < 5; k++) assert_text(fake_text(t, (size_t)k, "status"), "same");
        assert_first(&out, "kernel_time", "gemm", 7);
        forget_many(2, &a);
    }
}

static void an_added_node_does_not_move_the_others(void **state) {
    arena a = {0};
    static const graph_kernel more[] = {{"gemm", 10}, {"gemm", 40}, {"relu", 2},
                                        {"gemm", 20}, {"relu", 3},  {"gemm", 30}};
    made_graph after = {.v = more, .n = 6, .first_id = 7};
    answer out = compare_graphs(&BEFORE, &after, &a);
    const table *t = fake_table(&out, "graph_nodes");
    assert_int_equal(t->n_rows, 6);
    size_t row = graph_row(t, 0);
    assert_int_equal(fake_int(t, row, "position_b"), 2);
    assert_int_equal(fake_int(t, row, "change"), 40 * US);
    assert_text(fake_text(t, row, "status"), "added");
    for (int64_t place = 1; place <= 5; place++)
        assert_text(fake_text(t, graph_row(t, place), "status"), "same");
    assert_first(&out, "work_added", "gemm", 40);
    forget_many(2, &a);
}

static void another_kernel_at_a_place_is_another_kernel(void **state) {
    arena a = {0};
    static const graph_kernel other[] = {
        {"gemm", 10}, {"relu", 2}, {"splitk", 45}, {"relu", 3}, {"gemm", 30}};
    made_graph after = {.v = other, .n = 5, .first_id = 100};
    answer out = compare_graphs(&BEFORE, &after, &a);
    const table *t = fake_table(&out, "graph_nodes");
    assert_text(fake_text(t, 0, "status"), "replaced");
    assert_text(fake_text(t, 0, "name_a"), "gemm");
    assert_text(fake_text(t, 0, "name_b"), "splitk");
    assert_first(&out, "other_kernels", "gemm", 25);
    t = fake_table(&out, "operators"); /* each by its own name */
    assert_text(fake_text(t, fake_row(t, "splitk"), "status"), "added");
    assert_near(fake_real(t, fake_row(t, "gemm"), "calls_b"), 2);
    forget_many(2, &a);
}

static void a_graph_captured_again_is_the_same_graph(void **state) {
    arena a = {0};
    made_graph again = {.v = LAYERS, .n = 5, .first_id = 500, .new_ids_each = 50};
    answer out = compare_graphs(&BEFORE, &again, &a);
    assert_int_equal(fake_table(&out, "causes")->n_rows, 1);
    assert_int_equal(fake_table(&out, "graph_nodes")->n_rows, 5);
    forget_many(2, &a);
    /* Without ids streams may run in another order once. */
    made_graph plain = {.v = LAYERS, .n = 5}, swapped = {.v = LAYERS, .n = 5};
    swapped.on_two_streams = 2;
    out = compare_graphs(&plain, &swapped, &a);
    assert_int_equal(fake_table(&out, "causes")->n_rows, 1);
    assert_int_equal(fake_table(&out, "graph_nodes")->n_rows, 5);
    forget_many(2, &a);
}

static void a_graph_inside_an_operator_counts_to_it(void **state) {
    arena a = {0};
    made_graph inside = {.v = LAYERS, .n = 5, .first_id = 1, .around = "replay"};
    static const graph_kernel third[] = {
        {"gemm", 10}, {"relu", 2}, {"gemm", 27}, {"relu", 3}, {"gemm", 30}};
    made_graph after = {.v = third, .n = 5, .first_id = 1, .around = "replay"};
    answer out = compare_graphs(&inside, &after, &a);
    const table *t = fake_table(&out, "graph_nodes");
    assert_text(fake_text(t, 0, "call"), "replay");
    assert_int_equal(fake_int(t, 0, "change"), 7 * US);
    t = fake_table(&out, "operators");
    size_t row = fake_row(t, "replay");
    assert_int_equal(fake_int(t, row, "device_a"), 65 * US);
    assert_near(fake_real(t, row, "calls_a"), 1);
    for (size_t i = 0; i < t->n_rows; i++)
        assert_false(str_eq(fake_text(t, i, "name"), STR("gemm")));
    forget_many(2, &a);
}

static void a_change_that_could_be_chance_is_not_called_none(void **state) {
    arena a = {0};
    answer out = compare_with(&(twist){.begin_wait = 40, .uneven = true}, &a);
    assert_string_equal(out.verdict.id, "diff_unclear");
    assert_true(has_arg(&out.verdict, "seen"));
    /* The kernel is certainly shorter, which does not make the step longer. */
    out = compare_with(&(twist){.begin_wait = 40, .uneven = true, .kernel_longer = -5}, &a);
    assert_string_equal(out.verdict.id, "diff_against");
    assert_first(&out, "kernel_time", "aten::mm", -5);
    end(&a);
}

static void programs_without_a_common_call_are_not_compared(void **state) {
    arena a = {0};
    analysis_trace x[1], y[1];
    static const graph_kernel none[] = {{"spmv", 10}};
    const twist *plain[] = {&PLAIN};
    made_graph other_program = {.v = none, .n = 1};
    analysis_input in = make_many(0, plain, 1, x), other = make_graph_run(1, &other_program, y);
    params p = fake_params();
    in.against = &other;
    answer out = ask(&in, &p, &a);
    assert_string_equal(out.verdict.id, "diff_unrelated");
    const table *t = fake_table(&out, "changes");
    for (size_t i = 0; i < t->n_rows; i++) assert_int_equal(fake_int(t, i, "certain"), 0);
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
        cmocka_unit_test(calls_of_the_allocator_are_memory),
        cmocka_unit_test(one_step_gives_no_spread),
        cmocka_unit_test(a_change_that_could_be_chance_is_not_called_none),
        cmocka_unit_test(programs_without_a_common_call_are_not_compared),
        cmocka_unit_test(calls_that_one_run_lacks_are_work),
        cmocka_unit_test(a_slower_cpu_is_not_the_program),
        cmocka_unit_test(other_shapes_everywhere_are_a_different_workload),
        cmocka_unit_test(a_rank_that_changed_alone_is_named),
        cmocka_unit_test(ranks_of_another_world_are_compared_by_their_means),
        cmocka_unit_test(what_runs_of_one_program_differ_is_not_certain),
        cmocka_unit_test(each_side_has_its_own_steps),
        cmocka_unit_test(parity_tells_precision_and_batch),
        cmocka_unit_test(a_graph_is_a_way_to_launch),
        cmocka_unit_test(nodes_of_a_graph_are_paired_by_their_place),
        cmocka_unit_test(an_added_node_does_not_move_the_others),
        cmocka_unit_test(another_kernel_at_a_place_is_another_kernel),
        cmocka_unit_test(a_graph_captured_again_is_the_same_graph),
        cmocka_unit_test(a_graph_inside_an_operator_counts_to_it),
        cmocka_unit_test(one_run_is_not_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
