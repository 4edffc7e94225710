/* whatif_test.c: replays by hand. A step of 100 µs, three of them: launches at 10 and 30 µs of a
 * step, kernels of 10 and 40 µs 5 µs after their launches, a call that waits from 50 to 77. */
#include "analyse/replay/scenario.h"
#include "fake_trace.h"

enum { US = 1000, STEPS = 3, STEP_US = 100 };

static void make_run(fake *f) {
    fake_init(f);
    int host = fake_thread(f), gpu = fake_stream(f, 0);
    for (int i = 0; i < STEPS; i++) {
        int64_t at = (int64_t)i * STEP_US * US;
        int op = fake_add(f, host, KIND_OP, "aten::mm", at + 8 * US, 15 * US);
        f->slices[op].shapes = "[[64, 64], [64, 32]]";
        int a = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + 10 * US, 4 * US);
        int b = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + 30 * US, 4 * US);
        fake_add(f, host, KIND_RUNTIME, "cudaDeviceSynchronize", at + 50 * US, 27 * US);
        fake_work(f, gpu, KIND_KERNEL, "gemm", at + 15 * US, 10 * US, a);
        fake_work(f, gpu, KIND_KERNEL, "softmax", at + 35 * US, 40 * US, b);
        fake_step(f, i + 1, at, at + STEP_US * US);
    }
}

static void give(params *p, const char *name, const char *value) {
    p->extra[p->n_extra].name = str_of(name);
    p->extra[p->n_extra++].value = str_of(value);
}

/* The second step with one change, in µs. */
static int64_t with(const char *name, const char *value) {
    static fake f;
    arena a;
    params p = fake_params();
    make_run(&f);
    arena_init(&a, 0);
    if (name) give(&p, name, value);
    answer out = fake_ask(analyse_whatif, fake_seal(&f), &p, &a);
    const table *t = fake_table(&out, "steps");
    assert_int_equal(fake_int(t, 1, "recorded"), STEP_US * US);
    assert_int_equal(fake_int(t, 1, "replayed"), STEP_US * US);
    int64_t ns = name ? fake_int(t, 1, "whatif") : fake_int(t, 1, "replayed");
    arena_fini(&a);
    fake_fini(&f);
    return ns / US;
}

/* The length of a step of a host that does nothing else, in µs; *notes: what the answer says. */
static int64_t typical(const int64_t *lengths_us, int n, size_t *n_notes) {
    static fake f;
    arena a;
    params p = fake_params();
    fake_init(&f);
    int host = fake_thread(&f);
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
        fake_add(&f, host, KIND_OP, "aten::mm", at, lengths_us[i] * US / 2);
        fake_step(&f, i + 1, at, at + lengths_us[i] * US);
        at += lengths_us[i] * US;
    }
    arena_init(&a, 0);
    answer out = fake_ask(analyse_whatif, fake_seal(&f), &p, &a);
    int64_t ns = fake_int(fake_table(&out, "whatif"), 0, "step_before");
    assert_int_equal(fake_int(fake_table(&out, "whatif"), 0, "step_after"), ns);
    *n_notes = out.quality.n_notes;
    arena_fini(&a);
    fake_fini(&f);
    return ns / US;
}

/* Two loaders that deliver together: a long step and a short one in turn. */
static void steps_that_take_turns_have_a_mean(void **state) {
    static const int64_t turns[] = {20, 80, 20, 80, 20, 80}, slow[] = {20, 20, 20, 20, 20, 200},
                         few[] = {20, 80, 20};
    size_t with_mean, without, of_few;
    assert_int_equal(typical(turns, 6, &with_mean), 50);
    assert_int_equal(typical(slow, 6, &without), 20); /* one is not the rule */
    assert_int_equal(typical(few, 3, &of_few), 20);
    assert_int_equal(with_mean, without + 1); /* it says so */
    assert_int_equal(of_few, without);
}

static void a_replay_gives_the_recorded_steps(void **state) {
    assert_int_equal(with(NULL, NULL), STEP_US);
}

/* softmax ends at 55, the call that waits 2 µs later: 20 µs less. */
static void a_faster_kernel_that_is_waited_for_shortens_the_step(void **state) {
    assert_int_equal(with("scale", "kernel:soft*=0.5"), 80);
}

static void a_faster_kernel_that_nothing_waits_for_saves_nothing(void **state) {
    assert_int_equal(with("remove", "kernel:gemm"), STEP_US);
}

/* The 15 µs of its calls on the host: everything after them is earlier. */
static void an_operator_takes_its_host_time_with_it(void **state) {
    assert_int_equal(with("remove", "op:aten::mm"), 85);
    assert_int_equal(with("remove", "op:aten::mm[[64,64],[64,32]]"), 85);
}

/* The call and its wait are gone; nothing else waits for the kernel, which ends at 75. */
static void without_the_wait_the_host_continues(void **state) {
    assert_int_equal(with("no_sync", "yes"), 73);
}

static void what_matches_nothing_is_an_error(void **state) {
    static fake f;
    arena a;
    params p = fake_params();
    answer out;
    error err;
    make_run(&f);
    arena_init(&a, 0);
    give(&p, "remove", "op:nothing");
    analysis_trace one = {.trace = fake_seal(&f), .rank = ABSENT_I64};
    analysis_input in = {.traces = &one, .n_traces = 1};
    assert_int_equal(analyse_whatif(&in, &p, &a, &out, &err), ERR_ARG);
    p.n_extra = 0;
    give(&p, "scale", "op:aten::mm=-1");
    assert_int_equal(analyse_whatif(&in, &p, &a, &out, &err), ERR_ARG);
    arena_fini(&a);
    fake_fini(&f);
}

static void patterns_fit_as_in_a_shell(void **state) {
    assert_true(scenario_fits(STR("a*c"), STR("abbc")));
    assert_true(scenario_fits(STR("*"), STR("")));
    assert_true(scenario_fits(STR("[1,2]"), STR("[1, 2]")));
    assert_true(scenario_fits(STR("a?c*"), STR("abc")));
    assert_false(scenario_fits(STR("a*c"), STR("abcd")));
    assert_false(scenario_fits(STR("abc"), STR("ab")));
}

/* From the end of the second step back: the host, the call that waited, softmax, its way to the
 * device, the operator, its launch, and the host before it. */
static void the_path_of_a_step_is_adjacent_and_adds_up(void **state) {
    static const struct {
        const char *kind, *name;
        int64_t from_us;
    } expected[] = {{"between", "aten::mm", 0}, {"operator", "aten::mm", 8},
                    {"launch_call", NULL, 10},  {"operator", "aten::mm", 14},
                    {"between", NULL, 23},      {"launch_latency", "softmax", 30},
                    {"device", "softmax", 35},  {"sync", "cudaDeviceSynchronize", 75},
                    {"between", NULL, 77}};
    static fake f;
    arena a;
    params p = fake_params();
    make_run(&f);
    arena_init(&a, 0);
    answer out = fake_ask(analyse_critical, fake_seal(&f), &p, &a);
    const table *t = fake_table(&out, "path");
    size_t row = 0;
    while (fake_int(t, row, "step") != 2) row++;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++, row++) {
        int64_t start = (STEP_US + expected[i].from_us - 8) * US; /* the trace begins at 8 */
        assert_text(fake_text(t, row, "kind"), expected[i].kind);
        if (expected[i].name) assert_text(fake_text(t, row, "name"), expected[i].name);
        assert_int_equal(fake_int(t, row, "start"), start);
        if (i)
            assert_int_equal(fake_int(t, row - 1, "duration"),
                             start - fake_int(t, row - 1, "start"));
    }
    assert_int_equal(fake_int(t, row - 1, "duration"), 23 * US);
    assert_int_equal(fake_int(t, row, "step"), 3);
    assert_string_equal(out.verdict.id, "critical_busy");
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_that_take_turns_have_a_mean),
        cmocka_unit_test(a_replay_gives_the_recorded_steps),
        cmocka_unit_test(a_faster_kernel_that_is_waited_for_shortens_the_step),
        cmocka_unit_test(a_faster_kernel_that_nothing_waits_for_saves_nothing),
        cmocka_unit_test(an_operator_takes_its_host_time_with_it),
        cmocka_unit_test(without_the_wait_the_host_continues),
        cmocka_unit_test(what_matches_nothing_is_an_error),
        cmocka_unit_test(patterns_fit_as_in_a_shell),
        cmocka_unit_test(the_path_of_a_step_is_adjacent_and_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
