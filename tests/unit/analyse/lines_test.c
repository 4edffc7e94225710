/* lines_test.c: what each line of the program costs, by hand. Three steps of 100 µs: forward
 * launches a kernel of 20 µs in the first 10, then `save` keeps the host for 50 while the
 * device is idle, then a call waits. */
#include "fake_trace.h"

enum { US = 1000, STEPS = 3, STEP_US = 100 };

static void make_run(fake *f) {
    fake_init(f);
    int host = fake_thread(f), gpu = fake_stream(f, 0);
    fake_add(f, host, KIND_PYTHON, "train.py(7): main", 0, STEPS * STEP_US * US);
    for (int i = 0; i < STEPS; i++) {
        int64_t at = (int64_t)i * STEP_US * US;
        fake_add(f, host, KIND_PYTHON, "net.py(20): forward", at, 10 * US);
        fake_add(f, host, KIND_PYTHON, "torch/nn/functional.py(9): linear", at + US, 8 * US);
        fake_add(f, host, KIND_OP, "aten::mm", at + 2 * US, 6 * US);
        int a = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + 4 * US, 2 * US);
        fake_work(f, gpu, KIND_KERNEL, "gemm", at + 8 * US, 20 * US, a);
        fake_add(f, host, KIND_PYTHON, "train.py(88): save", at + 30 * US, 50 * US);
        fake_add(f, host, KIND_PYTHON, "site-packages/torch/serialization.py(5): save",
                 at + 31 * US, 48 * US);
        int b = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + 82 * US, 2 * US);
        fake_work(f, gpu, KIND_KERNEL, "norm", at + 86 * US, 4 * US, b);
        fake_add(f, host, KIND_RUNTIME, "cudaDeviceSynchronize", at + 85 * US, 8 * US);
        fake_step(f, i + 1, at, at + STEP_US * US);
    }
}

static size_t line_row(const table *t, int64_t line) {
    uint32_t c = fake_column(t, "line");
    for (size_t i = 0; i < t->n_rows; i++)
        if (!table_is_null(t, i, c) && t->columns[c].v.i[i] == line) return i;
    fail_msg("no line %d", (int)line);
    return 0;
}

static int64_t sum_of(const table *t, const char *name) {
    int64_t sum = 0;
    for (size_t i = 0; i < t->n_rows; i++) sum += fake_int(t, i, name);
    return sum;
}

static void a_line_has_what_it_costs(void **state) {
    fake f;
    make_run(&f);
    const trace *t = fake_seal(&f);
    params p = fake_params();
    answer out = fake_ask(analyse_lines, t, &p, &f.arena);
    const table *lines = fake_table(&out, "lines");
    size_t save = line_row(lines, 88), forward = line_row(lines, 20), main = line_row(lines, 7);
    assert_int_equal(fake_int(lines, save, "cpu_ns"), STEPS * 50 * US);
    assert_int_equal(fake_int(lines, save, "cpu_self_ns"), STEPS * 50 * US);
    assert_int_equal(fake_int(lines, save, "calls"), STEPS);
    assert_int_equal(fake_int(lines, save, "idle_ns"), STEPS * 50 * US);
    assert_int_equal(fake_int(lines, save, "gpu_ns"), 0);
    assert_int_equal(fake_int(lines, forward, "gpu_self_ns"), STEPS * 20 * US);
    assert_int_equal(fake_int(lines, main, "gpu_self_ns"), STEPS * 4 * US);
    assert_int_equal(fake_int(lines, main, "gpu_ns"), STEPS * 24 * US);
    assert_int_equal(fake_int(lines, main, "cpu_ns"), STEPS * STEP_US * US);
    assert_int_equal(fake_int(lines, main, "cpu_self_ns"), STEPS * 40 * US);
    assert_int_equal(fake_int(lines, main, "syncs"), STEPS);
    assert_text(fake_text(lines, save, "owner"), "own");
    assert_text(fake_text(lines, 0, "function"), "save");
    assert_string_equal(out.verdict.id, "line_leads");
    fake_fini(&f);
}

static void columns_add_up_to_the_other_answers(void **state) {
    fake f;
    make_run(&f);
    const trace *t = fake_seal(&f);
    params p = fake_params();
    answer out = fake_ask(analyse_lines, t, &p, &f.arena);
    answer idle = fake_ask(analyse_idle, t, &p, &f.arena);
    answer path = fake_ask(analyse_critical, t, &p, &f.arena);
    static const char *const names[] = {"lines", "functions", "files"};
    for (size_t i = 0; i < 3; i++) {
        const table *lines = fake_table(&out, names[i]);
        assert_int_equal(sum_of(lines, "gpu_self_ns"), STEPS * 24 * US);
        assert_int_equal(sum_of(lines, "idle_ns"),
                         sum_of(fake_table(&idle, "causes"), "total"));
        assert_int_equal(sum_of(lines, "critical_ns"),
                         STEPS * sum_of(fake_table(&path, "by_kind"), "time"));
        assert_int_equal(sum_of(lines, "cpu_self_ns"), STEPS * STEP_US * US);
    }
    fake_fini(&f);
}

static void a_step_alone_has_its_own_part(void **state) {
    fake f;
    make_run(&f);
    const trace *t = fake_seal(&f);
    params p = fake_params();
    p.first_step = p.last_step = 2;
    answer out = fake_ask(analyse_lines, t, &p, &f.arena);
    const table *lines = fake_table(&out, "lines");
    assert_int_equal(fake_int(lines, line_row(lines, 88), "cpu_ns"), 50 * US);
    assert_int_equal(fake_int(lines, line_row(lines, 7), "cpu_ns"), STEP_US * US);
    assert_int_equal(fake_int(lines, line_row(lines, 20), "gpu_self_ns"), 20 * US);
    fake_fini(&f);
}

/* f calls itself twice: its time counts once. */
static void a_line_that_calls_itself_counts_once(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_PYTHON, "a.py(1): f", 0, 100);
    fake_add(&f, host, KIND_PYTHON, "b.py(2): g", 10, 80);
    fake_add(&f, host, KIND_PYTHON, "a.py(1): f", 20, 60);
    const trace *t = fake_seal(&f);
    params p = fake_params();
    answer out = fake_ask(analyse_lines, t, &p, &f.arena);
    const table *lines = fake_table(&out, "lines");
    assert_int_equal(fake_int(lines, line_row(lines, 1), "cpu_ns"), 100);
    assert_int_equal(fake_int(lines, line_row(lines, 1), "cpu_self_ns"), 80);
    assert_int_equal(fake_int(lines, line_row(lines, 1), "calls"), 2);
    assert_int_equal(fake_int(lines, line_row(lines, 2), "cpu_ns"), 80);
    fake_fini(&f);
}

static void stacks_are_a_tree_and_may_be_those_of_one_line(void **state) {
    fake f;
    make_run(&f);
    const trace *t = fake_seal(&f);
    params p = fake_params();
    p.extra[p.n_extra].name = STR("stack");
    p.extra[p.n_extra++].value = STR("train.py:88");
    answer out = fake_ask(analyse_lines, t, &p, &f.arena);
    const table *stacks = fake_table(&out, "stacks");
    assert_int_equal(stacks->n_rows, 3); /* main, save, the package's save */
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(fake_int(stacks, i, "cpu_ns"), STEPS * (i < 2 ? 50 : 48) * US);
    assert_int_equal(fake_int(stacks, 1, "parent"), fake_int(stacks, 0, "id"));
    p.extra[0].value = STR("other.py:88");
    analysis_trace one = {.trace = t, .rank = ABSENT_I64};
    analysis_input in = {.traces = &one, .n_traces = 1};
    assert_int_equal(analyse_lines(&in, &p, &f.arena, &out, NULL), ERR_ARG);
    fake_fini(&f);
}

static void without_stacks_the_answer_says_what_to_record(void **state) {
    fake f;
    fake_init(&f);
    fake_add(&f, fake_thread(&f), KIND_OP, "aten::mm", 0, 10);
    const trace *t = fake_seal(&f);
    params p = fake_params();
    answer out = fake_ask(analyse_lines, t, &p, &f.arena);
    assert_int_equal(fake_table(&out, "lines")->n_rows, 0);
    assert_string_equal(out.verdict.id, "lines_not_recorded");
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_what_it_costs),
        cmocka_unit_test(columns_add_up_to_the_other_answers),
        cmocka_unit_test(a_step_alone_has_its_own_part),
        cmocka_unit_test(a_line_that_calls_itself_counts_once),
        cmocka_unit_test(stacks_are_a_tree_and_may_be_those_of_one_line),
        cmocka_unit_test(without_stacks_the_answer_says_what_to_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
