/* modules_test.c: the tree of modules with forward and backward time. */
#include "example_trace.h"

static table *ask(const trace *t, group_by group, arena *a) {
    params p = fake_params();
    p.group = group;
    answer out = fake_ask(analyse_modules, t, &p, a);
    return fake_table(&out, "modules");
}

static void check(const table *t, const char *name, const int64_t want[7]) {
    static const char *const columns[] = {"calls",          "host_total",  "host_self",
                                          "device_total",   "device_self", "backward_host",
                                          "backward_device"};
    for (int i = 0; i < 7; i++)
        if (fake_int(t, fake_row(t, name), columns[i]) != want[i])
            fail_msg("%s of %s: expected %lld, got %lld", columns[i], name, (long long)want[i],
                     (long long)fake_int(t, fake_row(t, name), columns[i]));
}
#define CHECK(t, name, ...) check(t, name, (const int64_t[]){__VA_ARGS__})

static void self_times_leave_out_inner_modules(void **state) {
    fake f;
    example e;
    arena a = {0};
    table *t = ask(example_make(&f, &e), GROUP_NAME, &a);
    assert_int_equal(t->n_rows, 2);
    assert_text(fake_text(t, 0, "module"), "Net_0");
    assert_text(fake_text(t, 1, "module"), "Linear_0");
    assert_text(fake_text(t, 1, "parent"), "Net_0");
    assert_true(fake_null(t, 0, "parent"));
    assert_int_equal(fake_int(t, 0, "depth"), 0);
    assert_int_equal(fake_int(t, 1, "depth"), 1);
    CHECK(t, "Net_0", 1, 100, 60, 30, 0, 60, 50);
    CHECK(t, "Linear_0", 1, 40, 40, 30, 30, 40, 50);
    arena_fini(&a);
    fake_fini(&f);
}

static void classes_add_up_their_instances(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    example_module(&f, host, "nn.Module: Net_0", 0, 100);
    example_module(&f, host, "nn.Module: Linear_0", 10, 20);
    example_module(&f, host, "nn.Module: Linear_1", 40, 30);
    example_module(&f, host, "nn.Module: _x", 80, 5);
    table *t = ask(fake_seal(&f), GROUP_TYPE, &a);
    assert_int_equal(t->n_rows, 3);
    assert_int_equal(fake_int(t, fake_row(t, "Linear"), "calls"), 2);
    assert_int_equal(fake_int(t, fake_row(t, "Linear"), "host_total"), 50);
    assert_int_equal(fake_int(t, fake_row(t, "Net"), "host_self"), 45);
    assert_int_equal(fake_int(t, fake_row(t, "_x"), "calls"), 1);
    assert_true(fake_null(t, 0, "depth") && fake_null(t, 0, "device_total"));
    arena_fini(&a);
    fake_fini(&f);
}

/* A program compiled as a whole: its backward operators are in the same modules. */
static void operators_marked_as_backward_are_backward_work_of_their_modules(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    example_module(&f, host, "jit(step)", 0, 100);
    example_module(&f, host, "hidden", 0, 90);
    int forward = fake_add(&f, host, KIND_OP, "dot_general", 0, 30);
    int first = fake_add(&f, host, KIND_RUNTIME, "launch", 5, 2);
    int backward = fake_add(&f, host, KIND_OP, "dot_general", 40, 50);
    int second = fake_add(&f, host, KIND_RUNTIME, "launch", 45, 2);
    f.slices[forward].phase = PHASE_FORWARD;
    f.slices[backward].phase = PHASE_BACKWARD;
    fake_work(&f, gpu, KIND_KERNEL, "one", 10, 20, first);
    fake_work(&f, gpu, KIND_KERNEL, "two", 50, 35, second);
    table *t = ask(fake_seal(&f), GROUP_NAME, &a);
    CHECK(t, "jit(step)", 1, 50, 10, 20, 0, 50, 35);
    CHECK(t, "hidden", 1, 40, 40, 20, 20, 50, 35);
    arena_fini(&a);
    fake_fini(&f);
}

/* One call launches a graph; the work of each operator in it is that of its own module. */
static void work_of_a_graph_is_its_operators_modules(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    int call = fake_add(&f, host, KIND_RUNTIME, "cuGraphLaunch", 0, 100);
    example_module(&f, host, "first", 0, 40);
    int one = fake_add(&f, host, KIND_OP, "dot_general", 0, 40);
    example_module(&f, host, "second", 60, 40);
    int two = fake_add(&f, host, KIND_OP, "add", 60, 40);
    int work = fake_work(&f, gpu, KIND_KERNEL, "gemm", 200, 30, call);
    f.slices[work].op = one;
    work = fake_work(&f, gpu, KIND_KERNEL, "add", 240, 7, call);
    f.slices[work].op = two;
    table *t = ask(fake_seal(&f), GROUP_NAME, &a);
    assert_int_equal(fake_int(t, fake_row(t, "first"), "device_total"), 30);
    assert_int_equal(fake_int(t, fake_row(t, "second"), "device_total"), 7);
    arena_fini(&a);
    fake_fini(&f);
}

/* A loop of the backward pass around a module and its operators: nothing is moved twice. */
static void a_backward_operator_around_others_is_moved_once(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    example_module(&f, host, "jit(step)", 0, 100);
    int loop = fake_add(&f, host, KIND_OP, "while", 10, 80);
    example_module(&f, host, "hidden", 20, 50);
    int inner = fake_add(&f, host, KIND_OP, "dot_general", 30, 30);
    f.slices[loop].phase = f.slices[inner].phase = PHASE_BACKWARD;
    table *t = ask(fake_seal(&f), GROUP_NAME, &a);
    assert_int_equal(fake_int(t, fake_row(t, "jit(step)"), "host_total"), 20);
    assert_int_equal(fake_int(t, fake_row(t, "jit(step)"), "host_self"), 20);
    assert_int_equal(fake_int(t, fake_row(t, "jit(step)"), "backward_host"), 80);
    assert_int_equal(fake_int(t, fake_row(t, "hidden"), "host_total"), 20);
    assert_int_equal(fake_int(t, fake_row(t, "hidden"), "host_self"), 20);
    assert_int_equal(fake_int(t, fake_row(t, "hidden"), "backward_host"), 30);
    arena_fini(&a);
    fake_fini(&f);
}

static void siblings_come_by_time_below_their_parent(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    example_module(&f, host, "nn.Module: A_0", 0, 100);
    example_module(&f, host, "nn.Module: B_0", 10, 20);
    example_module(&f, host, "nn.Module: C_0", 40, 30);
    example_module(&f, host, "nn.Module: D_0", 45, 10);
    example_module(&f, host, "nn.Module: E_0", 200, 500);
    const trace *t = fake_seal(&f);
    const uint32_t parents[] = {0, 0, 1, 1, 3, 0};
    for (uint32_t i = 1; i < 6; i++) FAKE_SET(&f, module, parent, i, parents[i]);
    table *out = ask(t, GROUP_NAME, &a);
    static const char *const order[] = {"E_0", "A_0", "C_0", "D_0", "B_0"};
    assert_int_equal(out->n_rows, 5);
    for (size_t i = 0; i < 5; i++) assert_text(fake_text(out, i, "module"), order[i]);
    assert_int_equal(fake_int(out, 3, "depth"), 2);
    arena_fini(&a);
    fake_fini(&f);
}

static void many_small_modules_are_judged_by_their_class(void **state) {
    fake f;
    arena a = {0};
    char names[12][40]; /* borrowed until the end */
    fake_init(&f);
    int host = fake_thread(&f);
    for (int i = 0; i < 12; i++) {
        snprintf(names[i], sizeof names[i], "nn.Module: %s_%d", i % 3 ? "Linear" : "Norm", i);
        example_module(&f, host, names[i], 100 * i, i == 7 ? 11 : 10);
    }
    params p = fake_params();
    answer out = fake_ask(analyse_modules, fake_seal(&f), &p, &a);
    assert_string_equal(out.verdict.id, "module_class_leads");
    assert_int_equal(out.verdict.args[0].u.i, 8);
    assert_text(out.verdict.args[1].u.text, "Linear");
    assert_near(out.verdict.args[2].u.d, 81.0 / 121);
    assert_text(out.verdict.args[4].u.text, "Linear_7");
    arena_fini(&a);
    fake_fini(&f);
}

/* The largest module is of another class: what leads is still the class, with its own largest. */
static void a_class_leads_where_it_takes_clearly_more_than_any_module(void **state) {
    static const struct {
        int64_t ns; /* of each of the six */
        const char *rule, *named;
    } cases[] = {{40, "module_class_leads", "Conv_3"}, {20, "module_leads_host", "Head_0"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        fake f;
        arena a = {0};
        char names[6][40]; /* borrowed until the end */
        fake_init(&f);
        int host = fake_thread(&f);
        for (int i = 0; i < 6; i++) {
            snprintf(names[i], sizeof names[i], "nn.Module: Conv_%d", i);
            example_module(&f, host, names[i], 200 * i, cases[c].ns + (i == 3));
        }
        example_module(&f, host, "nn.Module: Head_0", 1200, 100);
        params p = fake_params();
        answer out = fake_ask(analyse_modules, fake_seal(&f), &p, &a);
        assert_string_equal(out.verdict.id, cases[c].rule);
        assert_text(out.verdict.args[c ? 0 : 4].u.text, cases[c].named);
        arena_fini(&a);
        fake_fini(&f);
    }
}

static void without_modules_the_verdict_says_how_to_record_them(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    params p = fake_params();
    answer out = fake_ask(analyse_modules, fake_seal(&f), &p, &a);
    assert_string_equal(out.verdict.id, "modules_not_recorded");
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_times_leave_out_inner_modules),
        cmocka_unit_test(classes_add_up_their_instances),
        cmocka_unit_test(operators_marked_as_backward_are_backward_work_of_their_modules),
        cmocka_unit_test(a_backward_operator_around_others_is_moved_once),
        cmocka_unit_test(work_of_a_graph_is_its_operators_modules),
        cmocka_unit_test(siblings_come_by_time_below_their_parent),
        cmocka_unit_test(many_small_modules_are_judged_by_their_class),
        cmocka_unit_test(a_class_leads_where_it_takes_clearly_more_than_any_module),
        cmocka_unit_test(without_modules_the_verdict_says_how_to_record_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
