/* recording_judge_test.c: what is missing from a recording is the verdict of all that speak of idle time. */
#include "advice_case.h"

/* The verdicts of overview, idle, critical and advice all have this id, or none has. */
static void assert_all_say(advice_case *c, const char *id, bool decided) {
    static const analysis_fn asked[] = {analyse_overview, analyse_idle, analyse_critical,
                                        analyse_advise};
    params p = fake_params();
    (void)fake_seal(&c->f);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        answer out = fake_ask(asked[i], &c->f.t, &p, &c->arena);
        assert_true(out.verdict.id != NULL);
        assert_int_equal(strcmp(out.verdict.id, id) == 0, decided);
    }
    case_end(c);
}

/* Twelve steps of 1 ms: a launch, its work `late_us` after it, and a call that waits until `until_us`. */
static void run_with(advice_case *c, int64_t late_us, int64_t until_us) {
    case_begin(c);
    for (int i = 0; i < 12; i++) {
        int64_t at = 5000 + 1000 * i;
        case_step(c, i, at, at + 1000);
        case_host(c, KIND_OP, "aten::mm", at + 10, 30);
        int call = case_host(c, KIND_RUNTIME, "cudaLaunchKernel", at + 20, 5);
        fake_work(&c->f, c->gpu, KIND_KERNEL, "gemm", (at + 20 + late_us) * US, 200 * US, call);
        case_host(c, KIND_SYNC, "cudaDeviceSynchronize", at + 60, until_us);
    }
}

static void clocks_that_differ_are_named(void **state) {
    advice_case c;
    (void)state;
    run_with(&c, 10, 180);
    assert_all_say(&c, "clocks_apart", false);
    run_with(&c, -300, 180); /* work that starts before its launch */
    assert_all_say(&c, "clocks_apart", true);
    run_with(&c, 300, 180); /* work that still runs after the call that waits for it */
    assert_all_say(&c, "clocks_apart", true);
}

/* Twelve steps of 1 ms, of which a graph takes 0.7; its kernels were recorded or not. */
static void replay_graphs(advice_case *c, bool recorded) {
    case_begin(c);
    for (int i = 0; i < 12; i++) {
        int64_t at = 1000 * i;
        case_step(c, i, at, at + 1000);
        case_host(c, KIND_OP, "aten::copy_", at + 5, 10);
        int graph = case_host(c, KIND_RUNTIME, "cudaGraphLaunch", at + 20, 5);
        if (recorded)
            fake_work(&c->f, c->gpu, KIND_KERNEL, "gemm", (at + 30) * US, 700 * US, graph);
        int call = case_host(c, KIND_RUNTIME, "cudaLaunchKernel", at + 40, 5);
        fake_work(&c->f, c->gpu, KIND_KERNEL, "copy", (at + 735) * US, 100 * US, call);
    }
}

static void graphs_whose_kernels_are_missing_are_named(void **state) {
    advice_case c;
    (void)state;
    replay_graphs(&c, true);
    assert_all_say(&c, "graph_records_lost", false);
    replay_graphs(&c, false);
    assert_all_say(&c, "graph_records_lost", true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_that_differ_are_named),
        cmocka_unit_test(graphs_whose_kernels_are_missing_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
