/* program_changes_test.c: what the second program does otherwise, by hand: three steps of 100 µs
 * of a model with one block. */
#include "analyse/compare/forward_names.h"
#include "example_trace.h"
#include "fake_trace.h"

enum { US = 1000, STEPS = 3, STEP_US = 100 };
#define ENGINE "autograd::engine::evaluate_function: "

/* What a step of one program does; all false: aten::mm and aten::add in a module. */
typedef struct {
    bool modules, item, attention, backward, compiled, sometimes;
} program;

static void add_step(fake *f, int host, int number, const program *p) {
    int64_t at = (int64_t)number * STEP_US * US;
    fake_step(f, number, at, at + (STEP_US - 1) * US);
    if (p->modules) example_module(f, host, "nn.Module: Block_0", at + US, 60 * US);
    fake_add(f, host, KIND_OP, "aten::mm", at + 2 * US, 5 * US);
    if (p->attention && p->modules)
        example_module(f, host, "nn.Module: Attention_0", at + 10 * US, 30 * US);
    if (p->attention) {
        fake_add(f, host, KIND_OP, "aten::softmax", at + 11 * US, 10 * US);
        fake_add(f, host, KIND_OP, "aten::_softmax", at + 12 * US, 8 * US);
        fake_add(f, host, KIND_OP, "aten::mm", at + 25 * US, 5 * US);
    }
    fake_add(f, host, KIND_OP, "aten::add", at + 45 * US, 5 * US);
    if (p->item) fake_add(f, host, KIND_OP, "aten::item", at + 62 * US, US);
    if (p->compiled) fake_add(f, host, KIND_OP, "CompiledFunction", at + 65 * US, 5 * US);
    if (p->backward)
        fake_add(f, host, KIND_OP, ENGINE "SoftmaxBackward0", at + 75 * US, 9 * US);
    if (p->sometimes && number == 1)
        fake_add(f, host, KIND_OP, "aten::print", at + 90 * US, US);
}

static fake runs[2];

static void make_run(fake *f, const program *p) {
    fake_init(f);
    int host = fake_thread(f);
    for (int i = 0; i < STEPS; i++) add_step(f, host, i, p);
}

static answer compare(const program *a, const program *b, arena *keep) {
    analysis_trace traces[2];
    const program *of[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        make_run(&runs[i], of[i]);
        traces[i] = (analysis_trace){.trace = fake_seal(&runs[i]), .rank = ABSENT_I64};
    }
    analysis_input other = {.traces = &traces[1], .n_traces = 1};
    analysis_input in = {.traces = &traces[0], .n_traces = 1, .against = &other};
    params p = fake_params();
    answer out;
    error err;
    assert_int_equal(analyse_diff(&in, &p, keep, &out, &err), OK);
    return out;
}

static void end(arena *a) {
    arena_fini(a);
    for (int i = 0; i < 2; i++) fake_fini(&runs[i]);
}

static void assert_row(const answer *out, size_t row, const char *status, const char *name) {
    const table *t = fake_table(out, "program_changes");
    assert_true(row < t->n_rows);
    assert_text(fake_text(t, row, "name"), name);
    assert_text(fake_text(t, row, "status"), status);
}

static void the_same_program_has_no_changes(void **state) {
    arena a = {0};
    answer out = compare(&(program){.modules = true}, &(program){.modules = true}, &a);
    assert_int_equal(fake_table(&out, "program_changes")->n_rows, 0);
    assert_string_equal(out.verdict.id, "diff_same");
    end(&a);
}

static void one_new_call_is_named_whatever_it_costs(void **state) {
    arena a = {0};
    answer out = compare(&(program){0}, &(program){.item = true}, &a);
    assert_int_equal(fake_table(&out, "program_changes")->n_rows, 1);
    assert_row(&out, 0, "added", "aten::item");
    assert_near(fake_real(fake_table(&out, "program_changes"), 0, "calls_b"), 1);
    end(&a);
    out = compare(&(program){.item = true}, &(program){0}, &a);
    assert_row(&out, 0, "removed", "aten::item");
    end(&a);
}

static void what_is_done_occasionally_is_not_a_change(void **state) {
    arena a = {0};
    answer out = compare(&(program){0}, &(program){.sometimes = true}, &a);
    assert_int_equal(fake_table(&out, "program_changes")->n_rows, 0);
    end(&a);
}

static void the_backward_pass_goes_to_its_forward_operator(void **state) {
    arena a = {0};
    answer out = compare(&(program){.attention = true, .backward = true}, &(program){0}, &a);
    const table *t = fake_table(&out, "program_changes");
    assert_int_equal(t->n_rows, 2);
    assert_row(&out, 0, "removed", "aten::softmax");
    assert_true(fake_int(t, 0, "change") <= -(10 + 9) * US); /* with what undoes it */
    assert_row(&out, 1, "changed", "aten::mm");
    end(&a);
}

static void a_module_stands_for_what_is_inside_it(void **state) {
    arena a = {0};
    answer out = compare(&(program){.modules = true, .attention = true},
                         &(program){.modules = true}, &a);
    const table *t = fake_table(&out, "program_changes");
    assert_int_equal(t->n_rows, 1);
    assert_row(&out, 0, "removed", "Attention");
    assert_text(fake_text(t, 0, "kind"), "module");
    assert_text(fake_text(t, 0, "module"), "Block");
    end(&a);
}

static void modules_of_one_run_alone_are_not_a_change(void **state) {
    arena a = {0};
    answer out = compare(&(program){.modules = true}, &(program){0}, &a);
    assert_int_equal(fake_table(&out, "program_changes")->n_rows, 0);
    end(&a);
}

static void compiled_code_comes_first(void **state) {
    arena a = {0};
    answer out = compare(&(program){.attention = true}, &(program){.compiled = true}, &a);
    assert_row(&out, 0, "added", "CompiledFunction");
    assert_row(&out, 1, "removed", "aten::softmax");
    end(&a);
}

static void names_of_both_passes_have_one_stem(void **state) {
    static const char *const same[][2] = {
        {"aten::_to_copy", ENGINE "ToCopyBackward0"},
        {"aten::mm", "MmBackward0"},
        {"aten::copy_", "torch::autograd::CopyBackwards"},
        {"CompiledFunction", "CompiledFunctionBackward"},
    };
    arena a = {0};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_false(name_is_backward(str_of(same[i][0])));
        assert_true(name_is_backward(str_of(same[i][1])));
        assert_true(str_eq(name_without_pass(str_of(same[i][0]), &a),
                           name_without_pass(str_of(same[i][1]), &a)));
    }
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_program_has_no_changes),
        cmocka_unit_test(one_new_call_is_named_whatever_it_costs),
        cmocka_unit_test(what_is_done_occasionally_is_not_a_change),
        cmocka_unit_test(the_backward_pass_goes_to_its_forward_operator),
        cmocka_unit_test(a_module_stands_for_what_is_inside_it),
        cmocka_unit_test(modules_of_one_run_alone_are_not_a_change),
        cmocka_unit_test(compiled_code_comes_first),
        cmocka_unit_test(names_of_both_passes_have_one_stem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
