/* paddle_report_test.c: the numbers of Paddle's report. */
#include "unit/analyse/fake_trace.h"

#include "compat/paddle_report.h"

static paddle_report make(fake *f, bool by_thread) {
    static selection s;
    paddle_report r;
    params p = fake_params();
    select_init(&s, fake_seal(f), &p);
    report_options o = {.by_thread = by_thread};
    assert_int_equal(paddle_report_make(&s, o, &f->arena, &r, NULL), OK);
    return r;
}

static void stages_count_outermost_and_types_count_moments_once(void **state) {
    (void)state;
    fake f;
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_STEP, "s", 0, 100);
    fake_add(&f, host, KIND_ANNOTATION, "wrapped", 5, 60);
    fake_add(&f, host, KIND_FORWARD, "net", 10, 50);
    fake_add(&f, host, KIND_FORWARD, "layer", 20, 10);
    paddle_report r = make(&f, false);
    assert_int_equal(r.total_ns, 100);
    assert_int_equal(r.stage[TYPE_Forward].calls, 1);
    assert_int_equal(r.stage[TYPE_Forward].host.total, 50);
    assert_int_equal(r.users.n, 1);
    assert_int_equal(r.n_host, 3);
    fake_fini(&f);
}

static void operators_have_parts_and_work_below_them(void **state) {
    (void)state;
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_STEP, "s", 0, 1000);
    fake_add(&f, host, KIND_OP, "conv", 10, 100);
    fake_add(&f, host, KIND_OP_PHASE, "compute", 20, 50);
    int inside = fake_add(&f, host, KIND_RUNTIME, "launch", 30, 5);
    int direct = fake_add(&f, host, KIND_RUNTIME, "launch", 80, 5);
    fake_work(&f, gpu, KIND_KERNEL, "k", 200, 40, inside);
    fake_work(&f, gpu, KIND_MEMSET, "set", 250, 2, direct);
    paddle_report r = make(&f, false);
    assert_int_equal(r.ops.n, 1);
    const report_item *op = GROUP_ROW(&r.ops, report_item, 0),
                      *inner = GROUP_ROW(&r.inner, report_item, 0);
    assert_int_equal(op->work.total, 42);
    assert_int_equal(op->kernel.total, 40);
    assert_int_equal(inner->work.total, 40);
    assert_int_equal(r.works.n, 2);
    assert_int_equal(r.kernels.n, 1);
    assert_int_equal(GROUP_ROW(&r.devices, report_device, 0)->busy_ns, 40);
    fake_fini(&f);
}

static void communication_is_known_by_type_and_by_name(void **state) {
    (void)state;
    fake f;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    fake_add(&f, host, KIND_STEP, "s", 0, 1000);
    fake_add(&f, host, KIND_COLLECTIVE, "send", 0, 30);
    fake_add(&f, host, KIND_OP, "c_allreduce_sum", 100, 40);
    int call = fake_add(&f, host, KIND_RUNTIME, "launch", 110, 5);
    fake_add(&f, host, KIND_OP, "mm", 200, 40);
    int other = fake_add(&f, host, KIND_RUNTIME, "launch", 210, 5);
    fake_work(&f, gpu, KIND_KERNEL, "ncclKernel", 300, 100, call);
    fake_work(&f, gpu, KIND_KERNEL, "gemm", 350, 100, other);
    paddle_report r = make(&f, false);
    assert_true(r.has_communication);
    assert_int_equal(r.communication_ns, 30 + 40 + 100);
    assert_int_equal(r.computation_ns, 100);
    assert_int_equal(r.overlap_ns, 50);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_count_outermost_and_types_count_moments_once),
        cmocka_unit_test(operators_have_parts_and_work_below_them),
        cmocka_unit_test(communication_is_known_by_type_and_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
