/* op_work_test.c: every kernel has one owner, and the right peak. */
#include "fake_trace.h"

#include <math.h>

#include "analyse/cost/op_work.h"

#define MM "[[64,64],[64,64]]"
#define MM_FLOPS (2.0 * 64 * 64 * 64)
#define BF16 "[\"c10::BFloat16\",\"c10::BFloat16\"]"
#define FP32 "[\"float\",\"float\"]"

static params peaks_of_a_device(void) {
    params p = fake_params();
    p.extra[0].name = STR("peak_tflops");
    p.extra[0].value = STR("bf16=100,tf32=50,fp32=10");
    p.extra[1].name = STR("peak_gbps");
    p.extra[1].value = STR("1000");
    p.n_extra = 2;
    return p;
}

static int add_op(fake *f, int host, const char *name, int64_t start, int64_t dur,
                  const char *shapes, const char *types) {
    int op = fake_add(f, host, KIND_OP, name, start, dur);
    f->slices[op].shapes = shapes;
    f->slices[op].types = types;
    return op;
}

typedef struct {
    fake f;
    int host, gpu;
    selection s;
    params p;
    op_work w;
    op_claims c;
} made;

static void begin(made *m) {
    fake_init(&m->f);
    m->host = fake_thread(&m->f);
    m->gpu = fake_stream(&m->f, 0);
    m->p = peaks_of_a_device();
}

/* A launch at `at` of a kernel of `ns`. */
static void launch(made *m, const char *kernel, int64_t at, int64_t ns) {
    int call = fake_add(&m->f, m->host, KIND_RUNTIME, "cudaLaunchKernel", at, 2);
    fake_work(&m->f, m->gpu, KIND_KERNEL, kernel, at + 5000, ns, call);
}

static void claim(made *m) {
    error err;
    const trace *t = fake_seal(&m->f);
    select_init(&m->s, t, &m->p);
    assert_int_equal(op_work_init(&m->w, &m->s, &m->p, &m->f.arena, &err), OK);
    assert_int_equal(op_work_claim(&m->w, &m->c, &err), OK);
}

static void a_kernel_belongs_to_the_innermost_call_that_explains_it(void **state) {
    made m;
    begin(&m);
    add_op(&m.f, m.host, "aten::linear", 0, 100, MM, BF16);
    add_op(&m.f, m.host, "aten::mm", 10, 50, MM, BF16);
    launch(&m, "nvjet_tst_64x64", 20, 1000);
    claim(&m);
    assert_int_equal(m.c.n, 1);
    assert_text(trace_slice_name(m.w.t, m.w.t->op.slice[m.c.v[0].op_row]), "aten::mm");
    assert_near(m.c.v[0].done.cost.flops, MM_FLOPS);
    assert_int_equal(m.c.v[0].done.ns, 1000);
    assert_int_equal(m.c.of_kernel[1], 1);
    fake_fini(&m.f);
}

static void a_call_claims_what_unknown_children_launched(void **state) {
    made m;
    begin(&m);
    add_op(&m.f, m.host, "aten::linear", 0, 200, MM, BF16);
    add_op(&m.f, m.host, "somebody::gemm", 10, 50, MM, BF16);
    launch(&m, "nvjet_tst_64x64", 20, 1000);
    add_op(&m.f, m.host, "aten::add_", 100, 50, MM, BF16);
    launch(&m, "vectorized_elementwise_kernel<add>", 110, 300);
    claim(&m);
    assert_int_equal(m.c.n, 2);
    assert_text(trace_slice_name(m.w.t, m.w.t->op.slice[m.c.v[0].op_row]), "aten::linear");
    assert_int_equal(m.c.v[0].done.ns, 1000);
    assert_int_equal(m.c.v[1].done.ns, 300);
    fake_fini(&m.f);
}

static void what_is_left_after_the_children_is_not_the_same_work_again(void **state) {
    made m;
    begin(&m);
    add_op(&m.f, m.host, "aten::matmul", 0, 200, MM, BF16);
    add_op(&m.f, m.host, "aten::mm", 10, 50, MM, BF16);
    launch(&m, "nvjet_tst_64x64", 20, 1000);
    add_op(&m.f, m.host, "somebody::tiny", 100, 50, NULL, NULL);
    launch(&m, "k", 110, 3);
    claim(&m);
    assert_int_equal(m.c.n, 1); /* not a product in 3 ns */
    fake_fini(&m.f);
}

static void the_peak_is_that_of_the_type_and_the_unit(void **state) {
    static const struct {
        const char *types, *kernel;
        kernel_type type;
        bool on_matrix;
        double peak; /* 0: not known */
    } rows[] = {
        {BF16, "nvjet_tst_64x64", DTYPE_BF16, true, 100e12},
        {FP32, "cutlass_80_tensorop_s1688gemm_128x128", DTYPE_TF32, true, 50e12},
        {FP32, "volta_sgemm_128x64_nn", DTYPE_FP32, false, 10e12},
        {FP32, "some_gemm", DTYPE_FP32, false, 0}, /* unknown how it computes */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        made m;
        begin(&m);
        add_op(&m.f, m.host, "aten::mm", 10, 50, MM, rows[i].types);
        launch(&m, rows[i].kernel, 20, 1000);
        claim(&m);
        const work_done *d = &m.c.v[0].done;
        assert_int_equal(d->cost.type, rows[i].type);
        assert_int_equal(d->on_matrix, rows[i].on_matrix);
        if (rows[i].peak > 0)
            assert_near(d->compute_ns, MM_FLOPS / rows[i].peak * 1e9);
        else
            assert_true(isnan(d->compute_ns));
        assert_near(d->memory_ns, d->cost.bytes / 1000);
        fake_fini(&m.f);
    }
}

static void helpers_and_cleared_workspaces_are_not_the_product(void **state) {
    made m;
    begin(&m);
    add_op(&m.f, m.host, "aten::mm", 0, 90, MM, BF16);
    int call = fake_add(&m.f, m.host, KIND_RUNTIME, "cudaMemsetAsync", 5, 2);
    fake_work(&m.f, m.gpu, KIND_MEMSET, "Memset (Device)", 4000, 70, call);
    launch(&m, "nvjet_tst_64x64_splitK", 20, 1000);
    launch(&m, "void cublasLt::splitKreduce_kernel<32>", 30, 100);
    claim(&m);
    assert_int_equal(m.c.v[0].done.ns, 1100);
    assert_int_equal(m.c.v[0].main_ns, 1000);
    fake_fini(&m.f);
}

static void sums_have_rates_and_shares(void **state) {
    work_sum s = {0};
    work_done d = {
        .cost = {.flops = 1000, .bytes = 500}, .ns = 10, .compute_ns = 2, .memory_ns = 5};
    work_sum_add(&s, &d, 1, d.ns);
    work_sum_add(&s, &d, 1, d.ns);
    assert_near(work_flops_per_s(&s), 2000 / 20e-9);
    assert_near(work_bytes_per_s(&s), 1000 / 20e-9);
    assert_near(work_intensity(&s), 2);
    assert_near(work_peak_share(&s), 0.2);
    assert_near(work_bandwidth_share(&s), 0.5);
    assert_text(work_bound(&s), "memory");
    s = (work_sum){0};
    d = (work_done){
        .cost = {.flops = 8, .bytes = NAN}, .ns = 4, .compute_ns = NAN, .memory_ns = NAN};
    work_sum_add(&s, &d, 0.5, 2);
    assert_near(work_flops_per_s(&s), 4 / 2e-9);
    assert_true(isnan(work_bytes_per_s(&s)) && isnan(work_intensity(&s)));
    assert_true(isnan(work_peak_share(&s)) && !work_bound(&s).n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_belongs_to_the_innermost_call_that_explains_it),
        cmocka_unit_test(a_call_claims_what_unknown_children_launched),
        cmocka_unit_test(what_is_left_after_the_children_is_not_the_same_work_again),
        cmocka_unit_test(the_peak_is_that_of_the_type_and_the_unit),
        cmocka_unit_test(helpers_and_cleared_workspaces_are_not_the_product),
        cmocka_unit_test(sums_have_rates_and_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
