/* unprofiled_step_test.c: the step without the profiler, and who takes it into account.
 *
 * A step of 1000 µs launches ten kernels of 4 µs. Before each launch, which takes 5 µs, seven
 * operators begin: with the launch eight events, 0.51 of 5 µs each, 20.4 µs of 100. */
#include "advice_case.h"
#include "analyse/replay/unprofiled_step.h"

enum { LAUNCHES = 10, OPS = 7, BARE_US = 796, BUSY_US = LAUNCHES * 4 };

static void make_steps(advice_case *c, int steps, int64_t step_us) {
    case_begin(c);
    for (int s = 0; s < steps; s++) {
        int64_t from = s * step_us;
        case_step(c, s + 1, from, from + step_us);
        for (int k = 0; k < LAUNCHES; k++) {
            int64_t at = from + 100 * k;
            for (int i = 0; i < OPS; i++) case_host(c, KIND_OP, "aten::mm", at + i, 95 - 2 * i);
            case_kernel(c, "gemm", at + 60, at + 70, 4);
        }
    }
}

static answer ask(advice_case *c, analysis_fn analyse) {
    params p = fake_params();
    return fake_ask(analyse, &c->f.t, &p, &c->arena);
}

static const verdict *note_of(const answer *a) {
    for (uint32_t i = 0; i < a->quality.n_notes; i++)
        if (a->quality.notes[i].id && strcmp(a->quality.notes[i].id, "unprofiled") == 0)
            return &a->quality.notes[i];
    return NULL;
}

static void the_overview_has_the_step_without_the_profiler(void **state) {
    advice_case c;
    make_steps(&c, 4, 1000);
    fake_seal(&c.f);
    answer out = ask(&c, analyse_overview);
    const table *t = fake_table(&out, "unprofiled");
    assert_int_equal(t->n_rows, 1);
    assert_int_equal(fake_int(t, 0, "recorded"), 1000 * US);
    assert_int_equal(fake_int(t, 0, "step"), BARE_US * US);
    assert_int_equal(fake_int(t, 0, "least"), 724 * US); /* 1000 - 204 * 0.69 / 0.51 */
    assert_int_equal(fake_int(t, 0, "most"), 880 * US);  /* 1000 - 204 * 0.30 / 0.51 */
    assert_near(fake_real(t, 0, "idle_share"), 1 - (double)BUSY_US / BARE_US);
    case_end(&c);
}

static void every_answer_about_the_step_says_the_same(void **state) {
    static const analysis_fn all[] = {analyse_overview, analyse_advise, analyse_idle,
                                      analyse_critical, analyse_whatif};
    advice_case c;
    make_steps(&c, 4, 1000);
    fake_seal(&c.f);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        answer out = ask(&c, all[i]);
        const verdict *note = note_of(&out);
        assert_non_null(note);
        assert_int_equal(note->args[0].u.i, 1000 * US);
        assert_int_equal(note->args[1].u.i, BARE_US * US);
    }
    case_end(&c);
}

static void a_saving_is_part_of_the_step_without_the_profiler(void **state) {
    advice_case c;
    make_steps(&c, 4, 1000);
    case_ask(&c);
    size_t row = case_row(&c, "host_late");
    assert_true(row != SIZE_MAX);
    int64_t saves = fake_int(c.t, row, "saves");
    assert_true(saves > (BARE_US - BUSY_US - 60) * US && saves <= (BARE_US - BUSY_US) * US);
    assert_near(fake_real(c.t, row, "share"), (double)saves / (double)(BARE_US * US));
    assert_int_equal(case_value(&c, "host_late", "unprofiled").u.i, BARE_US * US);
    case_end(&c);
}

static void the_overhead_is_what_a_replay_without_it_saves(void **state) {
    advice_case c;
    make_steps(&c, 4, 1000);
    case_ask(&c);
    assert_fires(&c, "profiler_overhead", NOT_ESTIMATED);
    assert_int_equal(case_value(&c, "profiler_overhead", "time").u.i, (1000 - BARE_US) * US);
    assert_int_equal(case_value(&c, "profiler_overhead", "estimated").u.i, 1);
    case_end(&c);
}

/* 990 of 1000 µs the device works: 400 Python frames cannot have cost 400 µs of it. */
static void the_overhead_is_at_most_the_time_the_device_is_idle(void **state) {
    advice_case c;
    case_begin(&c);
    case_step(&c, 1, 0, 1000);
    for (int i = 0; i < 400; i++) case_host(&c, KIND_PYTHON, "f", 20 + i, 1);
    case_kernel(&c, "gemm", 0, 10, 990);
    case_ask(&c);
    assert_silent(&c, "profiler_overhead");
    case_end(&c);
}

/* Five launches more before each kernel, 25 of its 100 µs. */
static void kernels_of_the_compiler_cost_more_to_record(void **state) {
    advice_case c;
    make_steps(&c, 4, 1000);
    for (int i = 0; i < c.f.n_slices; i++)
        if (i % (OPS + 2) == 0) c.f.slices[i].name = "triton_poi_fused_add_0";
    fake_seal(&c.f);
    answer out = ask(&c, analyse_overview);
    const table *t = fake_table(&out, "unprofiled");
    assert_int_equal(fake_int(t, 0, "step"), (BARE_US - LAUNCHES * 25) * US);
    case_end(&c);
}

static void assert_not_reported(advice_case *c) {
    fake_seal(&c->f);
    answer out = ask(c, analyse_overview);
    assert_int_equal(fake_table(&out, "unprofiled")->n_rows, 0);
    assert_null(note_of(&out));
    out = ask(c, analyse_idle);
    assert_null(note_of(&out));
    case_end(c);
}

static void where_it_is_not_sound_nothing_is_shown(void **state) {
    advice_case c;
    make_steps(&c, 2, 1000); /* two steps */
    assert_not_reported(&c);
    make_steps(&c, 4, 1000);
    c.f.t.format = STR("nsight_pytorch"); /* another profiler */
    assert_not_reported(&c);
    make_steps(&c, 4, 10000); /* 2 % of the step */
    assert_not_reported(&c);
    make_steps(&c, 4, 1000);
    for (int i = 0; i < c.f.n_slices; i++) /* launches of 30 µs */
        if (c.f.slices[i].kind == KIND_RUNTIME) c.f.slices[i].dur = 30 * US;
    assert_not_reported(&c);
    make_steps(&c, 4, 1000);
    c.f.t.step.n = 1; /* nothing marks the steps */
    assert_not_reported(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_overview_has_the_step_without_the_profiler),
        cmocka_unit_test(every_answer_about_the_step_says_the_same),
        cmocka_unit_test(a_saving_is_part_of_the_step_without_the_profiler),
        cmocka_unit_test(the_overhead_is_what_a_replay_without_it_saves),
        cmocka_unit_test(the_overhead_is_at_most_the_time_the_device_is_idle),
        cmocka_unit_test(kernels_of_the_compiler_cost_more_to_record),
        cmocka_unit_test(where_it_is_not_sound_nothing_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
