/* operators_test.c: the operators table on traces small enough to add up by hand. */
#include "fake_trace.h"

static table *ask(const trace *t, const params *p, arena *a) {
    answer out = fake_ask(analyse_operators, t, p, a);
    return fake_table(&out, "operators");
}

#define NOTHING (-1) /* the cell must be null */

static void check_row(const table *t, const char *name, const int64_t want[5]) {
    static const char *const columns[] = {"calls", "host_total", "host_self", "device_total",
                                          "device_self"};
    size_t row = fake_row(t, name);
    for (int i = 0; i < 5; i++)
        if (want[i] == NOTHING)
            assert_true(fake_null(t, row, columns[i]));
        else if (fake_int(t, row, columns[i]) != want[i])
            fail_msg("%s of %s: expected %lld, got %lld", columns[i], name, (long long)want[i],
                     (long long)fake_int(t, row, columns[i]));
}
#define CHECK_ROW(t, name, ...) check_row(t, name, (const int64_t[5]){__VA_ARGS__})

/* mat_mul {mm}; each has a call with a kernel. */
static void make_self_time(fake *f) {
    fake_init(f);
    int host = fake_thread(f), gpu = fake_stream(f, 0);
    fake_add(f, host, KIND_OP, "aten::mat_mul", 100, 100);
    fake_add(f, host, KIND_OP, "aten::mm", 120, 40);
    int inner = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", 150, 10);
    int outer = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", 170, 25);
    fake_work(f, gpu, KIND_KERNEL, "k", 180, 20, inner);
    fake_work(f, gpu, KIND_KERNEL, "k", 210, 16, outer);
}

static void self_time_excludes_child_ops_and_runtime_calls(void **state) {
    fake f;
    arena a = {0};
    make_self_time(&f);
    params p = fake_params();
    table *t = ask(fake_seal(&f), &p, &a);
    assert_int_equal(t->n_rows, 2);
    CHECK_ROW(t, "aten::mat_mul", 1, 100, 35, 36, 16);
    CHECK_ROW(t, "aten::mm", 1, 40, 30, 20, 20);
    assert_text(fake_text(t, 0, "name"), "aten::mm"); /* most device self time first */
    assert_near(fake_real(t, 0, "share"), 20.0 / 36);
    arena_fini(&a);
    fake_fini(&f);
}

/* The program's own kernel, which no operator launched, is device time as well. */
static void shares_are_of_all_that_the_device_did(void **state) {
    fake f;
    arena a = {0};
    make_self_time(&f);
    int own = fake_add(&f, 0, KIND_RUNTIME, "cuLaunchKernel", 300, 10);
    fake_work(&f, 1, KIND_KERNEL, "matmul_k", 320, 64, own);
    params p = fake_params();
    answer out = fake_ask(analyse_operators, fake_seal(&f), &p, &a);
    assert_near(fake_real(fake_table(&out, "operators"), 0, "share"), 20.0 / 100);
    assert_string_equal(out.verdict.id, "kernel_without_operator_leads");
    assert_text(out.verdict.args[0].u.text, "matmul_k");
    assert_near(out.verdict.args[1].u.d, 0.64);
    arena_fini(&a);
    fake_fini(&f);
}

static void device_time_of_other_steps_is_not_time_of_a_call(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_OP, "aten::outer", 0, 60);
    int op = fake_add(&f, host, KIND_OP, "aten::mm", 5, 50);
    int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 10, 10);
    int later = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 210, 10);
    fake_work(&f, gpu, KIND_KERNEL, "k", 30, 20, call);
    int inferred = fake_work(&f, gpu, KIND_KERNEL, "k", 230, 24, later);
    const trace *t = fake_seal(&f);
    uint32_t k = trace_kernel_of(t, f.id[inferred]);
    FAKE_SET(&f, kernel, op, k, f.id[op]);
    FAKE_SET(&f, kernel, link, k, LINK_INFERRED);
    params p = fake_params();
    table *rows = ask(t, &p, &a);
    CHECK_ROW(rows, "aten::mm", 1, 50, 40, 44, 44);
    for (size_t i = 0; i < 2; i++) { /* of the inner one and of the one around it */
        size_t row = fake_row(rows, i ? "aten::outer" : "aten::mm");
        assert_int_equal(fake_int(rows, row, "device_inferred"), 24);
        assert_int_equal(fake_int(rows, row, "device_mean"), 20);
        assert_int_equal(fake_int(rows, row, "device_max"), 20);
    }
    arena_fini(&a);
    fake_fini(&f);
}

static void device_time_of_a_call_has_mean_max_and_min(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    for (int i = 0; i < 3; i++) {
        fake_add(&f, host, KIND_OP, "aten::mm", i * 100, 50);
        int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", i * 100 + 10, 10);
        if (i) fake_work(&f, gpu, KIND_KERNEL, "k", i * 100 + 30, i * 20, call);
    }
    params p = fake_params();
    table *t = ask(fake_seal(&f), &p, &a);
    assert_int_equal(fake_int(t, 0, "device_mean"), 20);
    assert_int_equal(fake_int(t, 0, "device_max"), 40);
    assert_int_equal(fake_int(t, 0, "device_min"), 0);
    arena_fini(&a);
    fake_fini(&f);
}

static void an_op_alone_in_one_of_its_own_name_is_one_call(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_OP, "aten::mm", 100, 100);
    fake_add(&f, host, KIND_OP, "aten::mm", 105, 90);
    fake_add(&f, host, KIND_PYTHON, "a frame between does not matter", 108, 85);
    fake_add(&f, host, KIND_OP, "aten::mm", 110, 80);
    int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 120, 7);
    fake_work(&f, gpu, KIND_KERNEL, "k", 180, 8, call);
    params p = fake_params();
    table *t = ask(fake_seal(&f), &p, &a);
    assert_int_equal(t->n_rows, 1);
    CHECK_ROW(t, "aten::mm", 1, 100, 93, 8, 8);
    arena_fini(&a);
    fake_fini(&f);
}

static void an_op_with_a_sibling_in_one_of_its_own_name_is_two_calls(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_OP, "aten::mm", 100, 100);
    fake_add(&f, host, KIND_OP, "aten::mm", 105, 20);
    fake_add(&f, host, KIND_RUNTIME, "cudaFree", 150, 10); /* a call is a child too */
    params p = fake_params();
    table *t = ask(fake_seal(&f), &p, &a);
    CHECK_ROW(t, "aten::mm", 2, 120, 90, NOTHING, NOTHING);
    arena_fini(&a);
    fake_fini(&f);
}

static void annotations_pass_device_time_on_and_are_not_operators(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_OP, "outer", 0, 100);
    fake_add(&f, host, KIND_ANNOTATION, "my range", 10, 80);
    fake_add(&f, host, KIND_OP, "inner", 20, 60);
    int call = fake_add(&f, host, KIND_DRIVER, "cuLaunchKernel", 30, 5);
    fake_work(&f, gpu, KIND_KERNEL, "k", 50, 40, call);
    params p = fake_params();
    table *t = ask(fake_seal(&f), &p, &a);
    assert_int_equal(t->n_rows, 2);
    CHECK_ROW(t, "outer", 1, 100, 20, 40, 0);
    CHECK_ROW(t, "inner", 1, 60, 55, 40, 40);
    arena_fini(&a);
    fake_fini(&f);
}

static void ops_that_overlap_partially_are_siblings_and_stay_whole(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_OP, "a", 0, 100);
    fake_add(&f, host, KIND_OP, "b", 50, 100);
    fake_add(&f, host, KIND_PYTHON, "frame over the border", 140, 30);
    fake_add(&f, host, KIND_OP, "c", 145, 5); /* inside b, though a frame overlaps b */
    params p = fake_params();
    table *t = ask(fake_seal(&f), &p, &a);
    CHECK_ROW(t, "a", 1, 100, 100, NOTHING, NOTHING);
    CHECK_ROW(t, "b", 1, 100, 95, NOTHING, NOTHING);
    CHECK_ROW(t, "c", 1, 5, 5, NOTHING, NOTHING);
    arena_fini(&a);
    fake_fini(&f);
}

static void adjoining_windows_add_up_to_the_whole(void **state) {
    static const char *const columns[] = {"calls", "host_total", "host_self", "device_total",
                                          "device_self"};
    fake f;
    arena a = {0};
    make_self_time(&f);
    const trace *t = fake_seal(&f);
    for (int64_t cut = 1; cut < 126; cut++) {
        params left = fake_params(), right = fake_params(), all = fake_params();
        left.to_ns = right.from_ns = cut;
        table *whole = ask(t, &all, &a), *l = ask(t, &left, &a), *r = ask(t, &right, &a);
        for (int c = 0; c < 5; c++) {
            int64_t sum = 0, want = 0;
            for (size_t i = 0; i < l->n_rows; i++) sum += fake_int(l, i, columns[c]);
            for (size_t i = 0; i < r->n_rows; i++) sum += fake_int(r, i, columns[c]);
            for (size_t i = 0; i < whole->n_rows; i++) want += fake_int(whole, i, columns[c]);
            assert_int_equal(sum, want);
        }
        arena_reset(&a);
    }
    fake_fini(&f);
}

static void a_step_takes_device_work_of_its_launches_wherever_it_runs(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    for (int s = 0; s < 2; s++) {
        fake_add(&f, host, KIND_STEP, s ? "ProfilerStep#8" : "ProfilerStep#7", 100 * s, 100);
        fake_add(&f, host, KIND_OP, "aten::mm", 100 * s + 10, 50 + s);
        int call = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 100 * s + 20, 5);
        fake_work(&f, gpu, KIND_KERNEL, "k", 100 * s + 105, 30 + s, call);
        fake_step(&f, 7 + s, 100 * s, 100 * s + 100);
    }
    const trace *t = fake_seal(&f);
    params p = fake_params();
    p.first_step = p.last_step = 7;
    CHECK_ROW(ask(t, &p, &a), "aten::mm", 1, 50, 45, 30, 30);
    p.first_step = p.last_step = 8;
    CHECK_ROW(ask(t, &p, &a), "aten::mm", 1, 51, 46, 31, 31);
    p.first_step = p.last_step = 9;
    assert_int_equal(ask(t, &p, &a)->n_rows, 0);
    arena_fini(&a);
    fake_fini(&f);
}

static void grouping_by_shape_separates_and_preserves_totals(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    int x = fake_add(&f, host, KIND_OP, "aten::mm", 0, 10);
    int y = fake_add(&f, host, KIND_OP, "aten::mm", 20, 11);
    int z = fake_add(&f, host, KIND_OP, "aten::mm", 40, 12);
    fake_add(&f, host, KIND_OP, "aten::mm", 60, 13);
    f.slices[x].shapes = "[[2,3],[3,4]]";
    f.slices[y].shapes = "[[2,3],[3,5]]";
    f.slices[z].shapes = "[[2,3],[3,4]]";
    params p = fake_params();
    p.group = GROUP_NAME_SHAPE;
    table *t = ask(fake_seal(&f), &p, &a);
    assert_int_equal(t->n_rows, 3);
    assert_text(fake_text(t, 0, "shapes"), "[[2,3],[3,4]]");
    assert_int_equal(fake_int(t, 0, "calls"), 2);
    assert_int_equal(fake_int(t, 0, "host_total"), 22);
    assert_text(fake_text(t, 1, "shapes"), "[]");
    assert_int_equal(fake_int(t, 1, "host_total"), 13);
    assert_int_equal(fake_int(t, 2, "host_total"), 11);
    arena_fini(&a);
    fake_fini(&f);
}

static void grouping_by_stack_uses_the_python_frames_around_an_op(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_PYTHON, "train.py(1): main", 0, 100);
    fake_add(&f, host, KIND_PYTHON, "net.py(5): forward", 10, 30);
    fake_add(&f, host, KIND_OP, "aten::mm", 15, 10);
    fake_add(&f, host, KIND_PYTHON, "net.py(5): forward", 50, 30);
    fake_add(&f, host, KIND_OP, "aten::mm", 55, 10);
    fake_add(&f, host, KIND_OP, "aten::mm", 85, 3);
    params p = fake_params();
    p.group = GROUP_NAME_STACK;
    table *t = ask(fake_seal(&f), &p, &a);
    assert_int_equal(t->n_rows, 2);
    assert_text(fake_text(t, 0, "stack"), "net.py(5): forward;train.py(1): main");
    assert_int_equal(fake_int(t, 0, "calls"), 2);
    assert_text(fake_text(t, 1, "stack"), "train.py(1): main");
    assert_int_equal(fake_int(t, 1, "host_total"), 3);
    arena_fini(&a);
    fake_fini(&f);
}

static void grouping_by_type_adds_up_a_namespace(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_OP, "aten::mm", 0, 10);
    fake_add(&f, host, KIND_OP, "aten::add_", 20, 11);
    fake_add(&f, host, KIND_OP, "MmBackward0", 40, 5);
    fake_add(&f, host, KIND_OP, "autograd::engine::evaluate_function: MmBackward0", 50, 6);
    fake_add(&f, host, KIND_OP, "nccl:all_reduce", 60, 2);
    fake_add(&f, host, KIND_OP, "mine", 70, 1);
    params p = fake_params();
    p.group = GROUP_TYPE;
    table *t = ask(fake_seal(&f), &p, &a);
    assert_int_equal(t->n_rows, 5);
    CHECK_ROW(t, "aten", 2, 21, 21, NOTHING, NOTHING);
    assert_int_equal(fake_int(t, fake_row(t, "autograd"), "host_total"), 5);
    assert_int_equal(fake_int(t, fake_row(t, "autograd::engine"), "host_total"), 6);
    assert_int_equal(fake_int(t, fake_row(t, "nccl"), "host_total"), 2);
    assert_int_equal(fake_int(t, fake_row(t, "custom"), "host_total"), 1);
    arena_fini(&a);
    fake_fini(&f);
}

static void tensor_core_shares_follow_the_kernels(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_OP, "aten::conv2d", 200, 100);
    fake_add(&f, host, KIND_OP, "op_no_tc", 205, 10);
    int plain = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 206, 2);
    fake_add(&f, host, KIND_OP, "aten::cudnn_convolution", 215, 10);
    int tensor = fake_add(&f, host, KIND_RUNTIME, "cudaLaunchKernel", 216, 2);
    fake_work(&f, gpu, KIND_KERNEL, "elementwise", 300, 10, plain);
    fake_work(&f, gpu, KIND_KERNEL, "volta_fp16_s884cudnn_fp16_128x128", 320, 15, tensor);
    params p = fake_params();
    table *t = ask(fake_seal(&f), &p, &a);
    size_t conv = fake_row(t, "aten::conv2d"), cudnn = fake_row(t, "aten::cudnn_convolution");
    size_t none = fake_row(t, "op_no_tc");
    assert_int_equal(fake_int(t, conv, "tensor_core_eligible"), 1);
    assert_near(fake_real(t, conv, "tensor_core_self_share"), 0);
    assert_near(fake_real(t, conv, "tensor_core_total_share"), 0.6);
    assert_near(fake_real(t, cudnn, "tensor_core_self_share"), 1);
    assert_int_equal(fake_int(t, none, "tensor_core_eligible"), 0);
    arena_fini(&a);
    fake_fini(&f);
}

static void flops_are_added_where_recorded_and_null_elsewhere(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    int x = fake_add(&f, host, KIND_OP, "aten::mm", 0, 1000);
    fake_add(&f, host, KIND_OP, "aten::add", 2000, 10);
    f.slices[x].flops = 5e6;
    params p = fake_params();
    table *t = ask(fake_seal(&f), &p, &a);
    assert_near(fake_real(t, fake_row(t, "aten::mm"), "flops"), 5e6);
    assert_near(fake_real(t, fake_row(t, "aten::mm"), "flops_per_s"), 5e12);
    assert_true(fake_null(t, fake_row(t, "aten::add"), "flops"));
    arena_fini(&a);
    fake_fini(&f);
}

/* Autocast calls an operator again with other types. */
static void flops_of_a_call_inside_its_own_name_count_once(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    int outer = fake_add(&f, host, KIND_OP, "aten::addmm", 0, 1000);
    fake_add(&f, host, KIND_OP, "aten::to", 10, 50);
    int inner = fake_add(&f, host, KIND_OP, "aten::addmm", 100, 800);
    f.slices[outer].flops = f.slices[inner].flops = 5e6;
    params p = fake_params();
    table *t = ask(fake_seal(&f), &p, &a);
    assert_int_equal(fake_int(t, fake_row(t, "aten::addmm"), "calls"), 2);
    assert_near(fake_real(t, fake_row(t, "aten::addmm"), "flops"), 5e6);
    arena_fini(&a);
    fake_fini(&f);
}

static void flops_of_products_come_from_their_shapes_where_not_recorded(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    int x = fake_add(&f, host, KIND_OP, "aten::mm", 0, 1000);
    int y = fake_add(&f, host, KIND_OP, "aten::mm", 2000, 1000);
    int z = fake_add(&f, host, KIND_OP, "aten::linear", 4000, 1000);
    int w = fake_add(&f, host, KIND_OP, "aten::bmm", 6000, 1000);
    f.slices[x].shapes = "[[2,3],[3,4]]";
    f.slices[y].shapes = "[[2,3],[3,5]]";
    f.slices[z].shapes = "[[2,3],[3,4]]"; /* its product is one of the others */
    f.slices[w].shapes = "[[7,2,3],[7,3]]";
    params p = fake_params();
    table *t = ask(fake_seal(&f), &p, &a);
    assert_near(fake_real(t, fake_row(t, "aten::mm"), "flops"), 2 * 2 * 3 * 4 + 2 * 2 * 3 * 5);
    assert_near(fake_real(t, fake_row(t, "aten::mm"), "flops_per_s"), 108 / 2e-6);
    assert_true(fake_null(t, fake_row(t, "aten::linear"), "flops"));
    assert_true(fake_null(t, fake_row(t, "aten::bmm"), "flops")); /* do not fit together */
    arena_fini(&a);
    fake_fini(&f);
}

static void a_trace_without_device_work_has_null_device_columns(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    fake_add(&f, fake_thread(&f), KIND_OP, "aten::mm", 0, 1000);
    params p = fake_params();
    answer out = fake_ask(analyse_operators, fake_seal(&f), &p, &a);
    table *t = fake_table(&out, "operators");
    assert_true(fake_null(t, 0, "device_total"));
    assert_true(fake_null(t, 0, "tensor_core_self_share"));
    arena_fini(&a);
    fake_fini(&f);
}

static void deep_nesting_needs_no_recursion(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    for (int i = 0; i < 400; i++)
        fake_add(&f, host, KIND_OP, i % 2 ? "odd" : "even", i, 2000 - 2 * i);
    params p = fake_params();
    table *t = ask(fake_seal(&f), &p, &a);
    assert_int_equal(fake_int(t, fake_row(t, "odd"), "calls"), 200);
    assert_int_equal(fake_int(t, 0, "host_self") + fake_int(t, 1, "host_self"), 2000);
    arena_fini(&a);
    fake_fini(&f);
}

static void running_out_of_the_request_s_memory_is_an_error(void **state) {
    fake f;
    make_self_time(&f);
    const trace *t = fake_seal(&f);
    analysis_trace one = {.trace = t, .rank = ABSENT_I64};
    analysis_input in = {.traces = &one, .n_traces = 1};
    params p = fake_params();
    arena a;
    arena_init(&a, 2000);
    answer out;
    assert_int_equal(analyse_operators(&in, &p, &a, &out, NULL), ERR_MEMORY);
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_time_of_a_call_has_mean_max_and_min),
        cmocka_unit_test(device_time_of_other_steps_is_not_time_of_a_call),
        cmocka_unit_test(shares_are_of_all_that_the_device_did),
        cmocka_unit_test(self_time_excludes_child_ops_and_runtime_calls),
        cmocka_unit_test(an_op_alone_in_one_of_its_own_name_is_one_call),
        cmocka_unit_test(an_op_with_a_sibling_in_one_of_its_own_name_is_two_calls),
        cmocka_unit_test(annotations_pass_device_time_on_and_are_not_operators),
        cmocka_unit_test(ops_that_overlap_partially_are_siblings_and_stay_whole),
        cmocka_unit_test(adjoining_windows_add_up_to_the_whole),
        cmocka_unit_test(a_step_takes_device_work_of_its_launches_wherever_it_runs),
        cmocka_unit_test(grouping_by_shape_separates_and_preserves_totals),
        cmocka_unit_test(grouping_by_stack_uses_the_python_frames_around_an_op),
        cmocka_unit_test(grouping_by_type_adds_up_a_namespace),
        cmocka_unit_test(tensor_core_shares_follow_the_kernels),
        cmocka_unit_test(flops_are_added_where_recorded_and_null_elsewhere),
        cmocka_unit_test(flops_of_a_call_inside_its_own_name_count_once),
        cmocka_unit_test(flops_of_products_come_from_their_shapes_where_not_recorded),
        cmocka_unit_test(a_trace_without_device_work_has_null_device_columns),
        cmocka_unit_test(deep_nesting_needs_no_recursion),
        cmocka_unit_test(running_out_of_the_request_s_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
