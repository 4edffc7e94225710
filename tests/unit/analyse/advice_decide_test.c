/* advice_decide_test.c: what is wrong with a recording is the verdict, of the overview and of advice. */
#include "advice_case.h"

/* Both verdicts have this id, and it is `decided`; or neither has. */
static void assert_decided(advice_case *c, const char *id, bool decided) {
    params p = fake_params();
    case_ask(c);
    answer overview = fake_ask(analyse_overview, &c->f.t, &p, &c->arena);
    assert_int_equal(strcmp(c->out.verdict.id, id) == 0, decided);
    assert_int_equal(strcmp(overview.verdict.id, id) == 0, decided);
    case_end(c);
}

/* 20 launches, of which the work of the first `lost` is missing; the rest is busy half of a step. */
static void lose(advice_case *c, int lost, int64_t busy_us) {
    case_begin(c);
    case_step(c, 1, 0, 10000);
    for (int i = 0; i < 20; i++) {
        int call = case_host(c, KIND_RUNTIME, "cudaLaunchKernel", 10 + 20 * i, 5);
        if (i < lost) continue;
        int64_t dur = busy_us / (20 - lost);
        fake_work(&c->f, c->gpu, KIND_KERNEL, "a", (500 * i + 100) * US, dur * US, call);
    }
}

static void records_that_are_missing_decide_if_the_device_would_be_busy(void **state) {
    advice_case c;
    lose(&c, 12, 3200);
    assert_decided(&c, "device_records_lost", true);
    lose(&c, 3, 1000); /* with them it would be idle, too */
    assert_decided(&c, "device_records_lost", false);
    lose(&c, 0, 4000);
    assert_decided(&c, "device_records_lost", false);
}

/* No steps; 20 kernels from `from` on until 10 ms. */
static void use_from(advice_case *c, int64_t from_us) {
    case_begin(c);
    case_host(c, KIND_OP, "aten::load", 0, 50);
    for (int i = 0; i < 20; i++) {
        int64_t at = from_us + (10000 - from_us) / 20 * i;
        case_host(c, KIND_OP, "aten::mm", at, 10);
        case_kernel(c, "a", at, at + 10, (10000 - from_us) / 25);
    }
}

static void a_recording_without_marks_decides_if_the_device_is_used_late(void **state) {
    advice_case c;
    use_from(&c, 8000);
    assert_decided(&c, "steps_unmarked", true);
    use_from(&c, 0);
    assert_decided(&c, "steps_unmarked", false);
    use_from(&c, 8000);
    case_step(&c, 1, 0, 10000); /* the program says that it is a step */
    assert_decided(&c, "steps_unmarked", false);
}

/* A step in which the CPU launches 4 ms of 10 too late, with this much of a profiler in it. */
static void watch(advice_case *c, int64_t overhead_us) {
    case_begin(c);
    case_step(c, 1, 0, 10000);
    case_host(c, KIND_OP, "aten::mm", 0, 9900);
    fake_add(&c->f, fake_thread(&c->f), KIND_OVERHEAD, "profiler", 0, overhead_us * US);
    case_kernel(c, "a", 10, 20, 2980);
    case_kernel(c, "b", 6990, 7000, 2980);
}

static void a_profiler_that_takes_most_of_the_cause_decides(void **state) {
    advice_case c;
    watch(&c, 3000);
    case_ask(&c);
    assert_text(fake_text(c.t, 0, "id"), "profiler_overhead"); /* it is first */
    assert_text(fake_text(c.t, 0, "severity"), "warning");
    case_end(&c);
    watch(&c, 3000);
    assert_decided(&c, "profiler_overhead", true);
    watch(&c, 1500);
    assert_decided(&c, "profiler_overhead", false);
}

static void the_headline_names_what_advice_puts_first(void **state) {
    advice_case c;
    params p = fake_params();
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    case_kernel(&c, "a", 0, 20, 480);
    case_host(&c, KIND_RUNTIME, "cudaDeviceSynchronize", 100, 402);
    case_host(&c, KIND_OP, "aten::unique", 510, 90);
    case_kernel(&c, "b", 700, 720, 280);
    case_ask(&c);
    answer overview = fake_ask(analyse_overview, &c.f.t, &p, &c.arena);
    assert_text(fake_text(c.t, 0, "id"), "blocking_sync");
    assert_text(str_of(overview.verdict.id), "gpu_idle");
    bool named = false;
    for (uint32_t i = 0; i < overview.verdict.n_args; i++)
        named |= strcmp(overview.verdict.args[i].name, "advice") == 0 &&
                 str_eq(overview.verdict.args[i].u.text, STR("blocking_sync"));
    assert_true(named);
    case_end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_that_are_missing_decide_if_the_device_would_be_busy),
        cmocka_unit_test(a_recording_without_marks_decides_if_the_device_is_used_late),
        cmocka_unit_test(a_profiler_that_takes_most_of_the_cause_decides),
        cmocka_unit_test(the_headline_names_what_advice_puts_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
