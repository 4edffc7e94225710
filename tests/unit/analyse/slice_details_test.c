/* slice_details_test.c: what a slice is connected with and how it compares. */
#include "analyse/timeline/slice_details.h"

#include "timeline_trace.h"

static slice_details ask(timeline *x, uint32_t slice, params p) {
    slice_details d;
    selection s;
    select_init(&s, x->t, &p);
    assert_int_equal(details_make(x->l, slice, &s, &x->a, &d, NULL), OK);
    return d;
}

static uint32_t why(const slice_details *d, const char *role) {
    for (uint32_t i = 0; i < d->n_why; i++)
        if (strcmp(d->why[i].role, role) == 0) return d->why[i].slice;
    return 0;
}

static void a_backward_kernel_is_followed_to_its_forward_op(void **state) {
    timeline x;
    timeline_init(&x);
    uint32_t gemm = timeline_slice(&x, "gemm", 1);
    slice_details d = ask(&x, gemm, fake_params());
    assert_text(trace_slice_name(x.t, why(&d, "launch")), "cudaLaunchKernel");
    assert_text(trace_slice_name(x.t, why(&d, "operator")), "AddmmBackward0");
    assert_int_equal(why(&d, "forward"), x.f.id[x.e.addmm]);
    assert_text(trace_slice_name(x.t, why(&d, "module")), "nn.Module: Linear_0");
    assert_int_equal(d.stack_of, x.f.id[x.e.addmm]); /* the code one can change */
    assert_int_equal(d.why[0].delay_ns, 15);
    assert_string_equal(d.wait, "host_pace");
    assert_int_equal(d.wait_ns, 13); /* from the end of the call */
    assert_int_equal(d.previous, timeline_slice(&x, "gemm", 0));
    assert_int_equal(d.next, 0);
    timeline_fini(&x);
}

static void built_ins_have_no_line(void **state) {
    assert_true(frame_is_built_in(STR("<built-in method conv2d of type object at 0x7f10>")));
    assert_false(frame_is_built_in(STR("torch/nn/modules/conv.py(553): _conv_forward")));
    assert_false(frame_is_built_in(STR("<string>(1): <module>")));
}

static void an_operator_of_another_step_delays_nothing(void **state) {
    timeline x;
    timeline_init(&x);
    uint32_t gemm = timeline_slice(&x, "gemm", 1);
    FAKE_SET(&x.f, kernel, link, trace_kernel_of(x.t, gemm), LINK_INFERRED);
    slice_details d = ask(&x, gemm, fake_params());
    assert_text(trace_slice_name(x.t, why(&d, "operator")), "AddmmBackward0");
    for (uint32_t i = 0; i < d.n_why; i++)
        if (strcmp(d.why[i].role, "launch") == 0)
            assert_int_equal(d.why[i].delay_ns, 15);
        else
            assert_true(d.why[i].delay_ns == ABSENT_I64);
    timeline_fini(&x);
}

static void an_op_knows_its_children_and_kernels(void **state) {
    timeline x;
    timeline_init(&x);
    uint32_t linear = timeline_slice(&x, "aten::linear", 0);
    slice_details d = ask(&x, linear, fake_params());
    assert_int_equal(d.children.n, 1);
    assert_int_equal(d.children.v[0], x.f.id[x.e.addmm]);
    assert_int_equal(d.self_ns, 10); /* 30 without the 20 of addmm */
    assert_int_equal(d.kernels.n_all, 1);
    assert_int_equal(d.kernel_ns, 30);
    assert_int_equal(d.step, 1);
    assert_null(d.wait);
    assert_text(trace_slice_name(x.t, d.parent), "nn.Module: Linear_0");
    timeline_fini(&x);
}

static void arrows_of_a_slice_are_listed_with_their_direction(void **state) {
    timeline x;
    timeline_init(&x);
    slice_details d = ask(&x, x.f.id[x.e.addmm], fake_params());
    assert_true(d.n_flows >= 1);
    assert_true(d.flows[0].out);
    assert_int_equal(d.flows[0].kind, FLOW_FORWARD_BACKWARD);
    timeline_fini(&x);
}

static void work_after_other_work_says_which(void **state) {
    fake f;
    slice_details d;
    selection s;
    lod *l = NULL;
    fake_init(&f);
    int host = fake_thread(&f), gpu = fake_stream(&f, 0);
    int first = fake_add(&f, host, KIND_RUNTIME, "launch", 0, 5);
    int second = fake_add(&f, host, KIND_RUNTIME, "launch", 10, 5);
    int third = fake_add(&f, host, KIND_RUNTIME, "launch", 2000, 5);
    int a = fake_work(&f, gpu, KIND_KERNEL, "a", 6, 1000, first);
    int b = fake_work(&f, gpu, KIND_KERNEL, "b", 1006, 10, second);
    int c = fake_work(&f, gpu, KIND_KERNEL, "c", 90000, 10, third);
    const trace *t = fake_seal(&f);
    params p = fake_params();
    select_init(&s, t, &p);
    assert_int_equal(lod_new(t, NULL, &l, NULL), OK);
    assert_int_equal(details_make(l, f.id[b], &s, &f.arena, &d, NULL), OK);
    assert_string_equal(d.wait, "behind");
    assert_int_equal(d.behind, f.id[a]);
    assert_int_equal(d.wait_ns, 991); /* from the end of the call */
    assert_int_equal(details_make(l, f.id[c], &s, &f.arena, &d, NULL), OK);
    assert_string_equal(d.wait, "dependency");
    lod_free(l);
    fake_fini(&f);
}

static void durations_of_a_name_add_up_in_the_histogram(void **state) {
    fake f;
    slice_details d;
    selection s;
    lod *l = NULL;
    fake_init(&f);
    int host = fake_thread(&f), last = 0;
    for (int i = 1; i <= 100; i++) last = fake_add(&f, host, KIND_OP, "op", i * 1000, i);
    fake_add(&f, host, KIND_OP, "other", 0, 950);
    const trace *t = fake_seal(&f);
    params p = fake_params();
    select_init(&s, t, &p);
    assert_int_equal(lod_new(t, NULL, &l, NULL), OK);
    assert_int_equal(details_make(l, f.id[last], &s, &f.arena, &d, NULL), OK);
    int64_t n = 0;
    for (int i = 0; i < DETAILS_BINS; i++) n += d.same.bins[i];
    assert_int_equal(n, 100);
    assert_int_equal(d.same.count, 100);
    assert_int_equal(d.same.total, 5050);
    assert_int_equal(d.same.min, 1);
    assert_int_equal(d.same.max, 100);
    assert_int_equal(d.same.own, DETAILS_BINS - 1);
    assert_near(d.same.percentile, 1);
    assert_near(d.same.share, 5050.0 / 6000.0);
    p.to_ns = 50000; /* 49 of them start before; the trace begins at 0 */
    select_init(&s, t, &p);
    assert_int_equal(details_make(l, f.id[last], &s, &f.arena, &d, NULL), OK);
    assert_int_equal(d.same.count, 49);
    assert_int_equal(d.same.own, -1);
    assert_true(isnan(d.same.share));
    lod_free(l);
    fake_fini(&f);
}

static void a_slice_that_does_not_exist_is_not_found(void **state) {
    timeline x;
    slice_details d;
    selection s;
    params p = fake_params();
    timeline_init(&x);
    select_init(&s, x.t, &p);
    assert_int_equal(details_make(x.l, 0, &s, &x.a, &d, NULL), ERR_NOT_FOUND);
    assert_int_equal(details_make(x.l, 100000, &s, &x.a, &d, NULL), ERR_NOT_FOUND);
    timeline_fini(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_ins_have_no_line),
        cmocka_unit_test(an_operator_of_another_step_delays_nothing),
        cmocka_unit_test(a_backward_kernel_is_followed_to_its_forward_op),
        cmocka_unit_test(an_op_knows_its_children_and_kernels),
        cmocka_unit_test(arrows_of_a_slice_are_listed_with_their_direction),
        cmocka_unit_test(work_after_other_work_says_which),
        cmocka_unit_test(durations_of_a_name_add_up_in_the_histogram),
        cmocka_unit_test(a_slice_that_does_not_exist_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
