/* folded_test.c: one line for each stack, and no time lost. */
#include "unit/analyse/fake_trace.h"

#include "unit/export/export_helper.h"

/* Two threads, a frame with awkward characters, an op in two places, device work. */
static const trace *make_trace(fake *f) {
    fake_init(f);
    int one = fake_thread(f), two = fake_thread(f), gpu = fake_stream(f, 0);
    fake_add(f, one, KIND_PYTHON, "net.py(3): forward; again", 0, 1000);
    fake_add(f, one, KIND_OP, "aten::mm", 100, 100);
    int call = fake_add(f, one, KIND_RUNTIME, "launch", 110, 20);
    fake_work(f, gpu, KIND_KERNEL, "gemm", 130, 300, call);
    fake_add(f, one, KIND_OP, "aten::mm", 300, 50);
    fake_add(f, one, KIND_PYTHON, "net.py(3):_forward__again", 2000, 1000);
    fake_add(f, one, KIND_OP, "aten::mm", 2100, 1);
    fake_add(f, two, KIND_OP, "Backward", 0, 90);
    fake_add(f, two, KIND_OP, "aten::mm", 10, 40);
    call = fake_add(f, two, KIND_RUNTIME, "launch", 20, 5);
    fake_work(f, gpu, KIND_KERNEL, "gemm", 500, 60, call);
    return fake_seal(f);
}

static void every_stack_is_one_line_and_lines_are_sorted(void **state) {
    fake f;
    const trace *t = make_trace(&f);
    char *text = export_text(t, &(export_options){.form = STR("stacks")});
    assert_string_equal(text, "Backward 50\n"
                              "Backward;aten::mm 35\n"
                              "net.py(3):_forward__again;aten::mm 131\n");
    free(text);
    text = export_text(
        t, &(export_options){.form = STR("stacks"), .value = EXPORT_VALUE_DEVICE, NULL});
    assert_string_equal(text, "Backward;aten::mm 60\n"
                              "net.py(3):_forward__again;aten::mm 300\n");
    free(text);
    fake_fini(&f);
}

static int64_t sum_of_lines(const char *text) {
    int64_t sum = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        const char *end = strchr(line, '\n');
        while (*end != ' ') end--;
        sum += strtoll(end, NULL, 10);
    }
    return sum;
}

/* Σ of a column of the operators analysis inside the same window. */
static int64_t sum_of_operators(const trace *t, const export_options *o, const char *name) {
    arena a;
    arena_init(&a, 0);
    params p = fake_params();
    p.from_ns = o->window->from_ns;
    p.to_ns = o->window->to_ns;
    answer out = fake_ask(analyse_operators, t, &p, &a);
    const table *rows = fake_table(&out, "operators");
    int64_t sum = 0;
    for (size_t i = 0; i < rows->n_rows; i++) sum += fake_int(rows, i, name);
    arena_fini(&a);
    return sum;
}

static void lines_add_up_to_the_self_time_of_all_operators(void **state) {
    static const time_window windows[] = {
        {OPEN_START, OPEN_END}, {50, 320}, {115, 125}, {OPEN_START, 140}, {120, OPEN_END}};
    fake f;
    const trace *t = make_trace(&f);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        export_options o = {.form = STR("stacks"), .window = &windows[i]};
        char *text = export_text(t, &o);
        assert_int_equal(sum_of_lines(text), sum_of_operators(t, &o, "host_self"));
        free(text);
        o.value = EXPORT_VALUE_DEVICE;
        text = export_text(t, &o);
        assert_int_equal(sum_of_lines(text), sum_of_operators(t, &o, "device_self"));
        free(text);
    }
    fake_fini(&f);
}

static void a_line_needs_time_and_a_frame_a_name(void **state) {
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_OP, "empty", 0, 0);
    fake_add(&f, host, KIND_OP, "wrapper", 10, 10);
    fake_add(&f, host, KIND_OP, "", 10, 10); /* takes all of it */
    fake_add(&f, host, KIND_OP, "torn", 100, 10);
    fake_add(&f, host, KIND_OP, "left", 100, 8); /* overlap: 13 ns of children in 10 */
    fake_add(&f, host, KIND_OP, "right", 105, 5);
    char *text = export_text(fake_seal(&f), &(export_options){.form = STR("stacks")});
    assert_string_equal(text, "torn;left 8\ntorn;right 5\nwrapper;_ 10\n");
    free(text);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stack_is_one_line_and_lines_are_sorted),
        cmocka_unit_test(lines_add_up_to_the_self_time_of_all_operators),
        cmocka_unit_test(a_line_needs_time_and_a_frame_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
