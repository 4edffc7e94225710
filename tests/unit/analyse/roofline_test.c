/* roofline_test.c: points, roofs, MFU and what they are based on, by hand. */
#include "fake_trace.h"

#define MM "[[64,64],[64,64]]"
#define MM_FLOPS (2.0 * 64 * 64 * 64)
#define BF16 "[\"c10::BFloat16\",\"c10::BFloat16\"]"

static params with_peaks(void) {
    params p = fake_params();
    p.extra[0].name = STR("peak_tflops");
    p.extra[0].value = STR("bf16=100,fp32=10");
    p.extra[1].name = STR("peak_gbps");
    p.extra[1].value = STR("1000");
    p.n_extra = 2;
    return p;
}

/* Two steps: a product of 1000 ns in each, a copy, and an unknown kernel. */
static void fill(fake *f) {
    fake_init(f);
    int host = fake_thread(f), gpu = fake_stream(f, 0);
    for (int i = 0; i < 2; i++) {
        int64_t at = 10000 * i;
        fake_step(f, i + 1, at, at + 10000);
        int mm = fake_add(f, host, KIND_OP, "aten::mm", at + 100, 100);
        f->slices[mm].shapes = MM;
        f->slices[mm].types = BF16;
        int call = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + 110, 5);
        fake_work(f, gpu, KIND_KERNEL, "nvjet_tst_64x64", at + 1000, 1000, call);
        int copy = fake_add(f, host, KIND_OP, "aten::copy_", at + 300, 100);
        f->slices[copy].shapes = MM;
        f->slices[copy].types = BF16;
        call = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + 310, 5);
        fake_work(f, gpu, KIND_KERNEL, "direct_copy", at + 3000, 500, call);
        fake_add(f, host, KIND_OP, "own::op", at + 500, 100);
        call = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", at + 510, 5);
        fake_work(f, gpu, KIND_KERNEL, "k", at + 4000, 500, call);
    }
}

static void points_have_one_roof_and_the_rest_is_shown(void **state) {
    fake f;
    arena a = {0};
    fill(&f);
    params p = with_peaks();
    answer out = fake_ask(analyse_roofline, fake_seal(&f), &p, &a);
    const table *t = fake_table(&out, "points");
    assert_int_equal(t->n_rows, 2);
    size_t mm = fake_row(t, "aten::mm"), copy = fake_row(t, "aten::copy_");
    assert_int_equal(fake_int(t, mm, "calls"), 2);
    assert_int_equal(fake_int(t, mm, "time"), 2000);
    assert_near(fake_real(t, mm, "share"), 0.5);
    assert_near(fake_real(t, mm, "flops"), 2 * MM_FLOPS);
    assert_near(fake_real(t, mm, "intensity"), MM_FLOPS / (3 * 4096 * 2));
    assert_near(fake_real(t, mm, "peak_share"), MM_FLOPS / 100e12 / 1e-6);
    assert_near(fake_real(t, mm, "bandwidth_share"), 3 * 4096 * 2 / 1e12 / 1e-6);
    assert_near(fake_real(t, mm, "roof_share"), 3 * 4096 * 2 / 1e12 / 1e-6);
    assert_text(fake_text(t, mm, "bound"), "memory");
    assert_text(fake_text(t, mm, "type"), "bf16");
    assert_text(fake_text(t, mm, "unit"), "matrix");
    assert_text(fake_text(t, copy, "unit"), "vector");
    const table *ridges = fake_table(&out, "ridges");
    assert_int_equal(ridges->n_rows, 2);
    assert_near(fake_real(ridges, 0, "intensity"), 100);
    assert_text(fake_text(ridges, 0, "source"), "given");
    const table *known = fake_table(&out, "coverage");
    assert_int_equal(fake_int(known, fake_row(known, "flops"), "time"), 2000);
    assert_near(fake_real(known, fake_row(known, "bytes"), "share"), 0.25);
    assert_near(fake_real(known, fake_row(known, "unknown"), "share"), 0.25);
    assert_string_equal(out.verdict.id, "roofline_step");
    arena_fini(&a);
    fake_fini(&f);
}

static void mfu_is_of_the_steps(void **state) {
    fake f;
    arena a = {0};
    fill(&f);
    params p = with_peaks();
    answer out = fake_ask(analyse_roofline, fake_seal(&f), &p, &a);
    const table *t = fake_table(&out, "mfu");
    assert_int_equal(t->n_rows, 1);
    assert_int_equal(fake_int(t, 0, "steps"), 2);
    double length_s = (double)fake_int(t, 0, "step_time") * 1e-9;
    assert_near(fake_real(t, 0, "flops"), MM_FLOPS);
    assert_near(fake_real(t, 0, "mfu"), MM_FLOPS / length_s / 100e12);
    assert_text(fake_text(t, 0, "type"), "bf16");
    arena_fini(&a);
    fake_fini(&f);
}

static void an_unknown_device_has_no_share(void **state) {
    fake f;
    arena a = {0};
    fill(&f);
    params p = fake_params();
    answer out = fake_ask(analyse_roofline, fake_seal(&f), &p, &a);
    const table *t = fake_table(&out, "points");
    size_t mm = fake_row(t, "aten::mm");
    assert_false(fake_null(t, mm, "flops_per_s"));
    assert_true(fake_null(t, mm, "peak_share") && fake_null(t, mm, "roof_share"));
    assert_true(fake_null(t, mm, "bound"));
    assert_true(fake_null(fake_table(&out, "mfu"), 0, "mfu"));
    assert_int_equal(fake_table(&out, "ridges")->n_rows, 0);
    assert_string_equal(out.verdict.id, "roofline_no_device");
    arena_fini(&a);
    fake_fini(&f);
}

static void without_shapes_there_is_nothing(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    fake_add(&f, fake_thread(&f), KIND_OP, "aten::mm", 0, 100);
    params p = fake_params();
    answer out = fake_ask(analyse_roofline, fake_seal(&f), &p, &a);
    assert_int_equal(fake_table(&out, "points")->n_rows, 0);
    assert_string_equal(out.verdict.id, "roofline_no_shapes");
    arena_fini(&a);
    fake_fini(&f);
}

/* A kernel without figures takes most of the time, as a graph that is replayed. */
static void the_mfu_of_a_part_is_the_least_it_can_be(void **state) {
    fake f;
    arena a = {0};
    fill(&f);
    int call = fake_add(&f, 0, KIND_RUNTIME, "cudaGraphLaunch", 11000, 5);
    fake_work(&f, 1, KIND_KERNEL, "own_kernel", 15000, 4000, call);
    params p = with_peaks();
    answer out = fake_ask(analyse_roofline, fake_seal(&f), &p, &a);
    assert_string_equal(out.verdict.id, "roofline_part");
    assert_string_equal(out.verdict.args[0].name, "known");
    assert_near(out.verdict.args[0].u.d, 3000.0 / 8000);
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mfu_of_a_part_is_the_least_it_can_be),
        cmocka_unit_test(points_have_one_roof_and_the_rest_is_shown),
        cmocka_unit_test(mfu_is_of_the_steps),
        cmocka_unit_test(an_unknown_device_has_no_share),
        cmocka_unit_test(without_shapes_there_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
