/* kernels_test.c: the kernels table on traces small enough to add up by hand. */
#include "fake_trace.h"

static table *ask(const trace *t, group_by group, arena *a) {
    params p = fake_params();
    p.group = group;
    answer out = fake_ask(analyse_kernels, t, &p, a);
    return fake_table(&out, "kernels");
}

/* Two ops, four kernels of one name, one of them with another block; and a copy. */
static void make_kernels(fake *f) {
    fake_init(f);
    int host = fake_thread(f), gpu = fake_stream(f, 1);
    fake_add(f, host, KIND_OP, "op1", 0, 100);
    int one = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", 10, 5);
    fake_add(f, host, KIND_OP, "op2", 200, 100);
    int two = fake_add(f, host, KIND_RUNTIME, "cudaLaunchKernel", 210, 5);
    const int64_t durations[] = {15, 10, 13, 17};
    for (int i = 0; i < 4; i++) {
        int k = fake_work(f, gpu, KIND_KERNEL, "kernel1", 100 + 50 * i, durations[i],
                          i < 3 ? one : two);
        f->slices[k].grid[0] = 16, f->slices[k].grid[1] = 1, f->slices[k].grid[2] = 1;
        f->slices[k].block[0] = i == 2 ? 64 : 256,
        f->slices[k].block[1] = f->slices[k].block[2] = 1;
        f->slices[k].registers = 32;
        f->slices[k].shared_memory = 512;
    }
    fake_work(f, gpu, KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", 400, 99, two);
}

static void copies_and_memsets_are_not_kernels(void **state) {
    fake f;
    arena a = {0};
    make_kernels(&f);
    table *t = ask(fake_seal(&f), GROUP_NAME, &a);
    assert_int_equal(t->n_rows, 1);
    assert_int_equal(fake_int(t, 0, "calls"), 4);
    assert_int_equal(fake_int(t, 0, "total"), 55);
    assert_int_equal(fake_int(t, 0, "mean"), 14);
    assert_int_equal(fake_int(t, 0, "max"), 17);
    assert_int_equal(fake_int(t, 0, "min"), 10);
    assert_near(fake_real(t, 0, "share"), 1);
    assert_true(fake_null(t, 0, "op")); /* several ops launched it */
    assert_int_equal(table_column(t, STR("grid")), UINT32_MAX);
    arena_fini(&a);
    fake_fini(&f);
}

/* Class and matrix cores: from the name, from the operator, or not known. */
static void what_is_not_known_of_a_kernel_is_null(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int gpu = fake_stream(&f, 0);
    fake_work(&f, gpu, KIND_KERNEL, "ampere_h16816gemm", 0, 30, -1);
    fake_work(&f, gpu, KIND_KERNEL, "volta_sgemm_128x64_nt", 100, 20, -1);
    fake_work(&f, gpu, KIND_KERNEL, "who_knows", 200, 10, -1);
    table *t = ask(fake_seal(&f), GROUP_NAME, &a);
    assert_text(fake_text(t, 0, "class"), "gemm");
    assert_int_equal(fake_int(t, 0, "tensor_core"), 1);
    assert_text(fake_text(t, 1, "class"), "gemm");
    assert_int_equal(fake_int(t, 1, "tensor_core"), 0);
    assert_true(fake_null(t, 2, "class"));
    assert_true(fake_null(t, 2, "tensor_core"));
    arena_fini(&a);
    fake_fini(&f);
}

static void a_collective_is_not_too_small(void **state) {
    for (int small = 0; small < 2; small++) {
        fake f;
        arena a = {0};
        fake_init(&f);
        int k = fake_work(&f, fake_stream(&f, 0), KIND_KERNEL,
                          small ? "volta_sgemm_128x64_nt" : "ncclDevKernel_AllReduce_Sum_f32",
                          0, 30, -1);
        f.slices[k].blocks_per_sm = 0.1;
        params p = fake_params();
        answer out = fake_ask(analyse_kernels, fake_seal(&f), &p, &a);
        assert_string_equal(out.verdict.id, small ? "kernel_small_grid" : "kernel_leads");
        arena_fini(&a);
        fake_fini(&f);
    }
}

/* A number of a damaged file: the sum of its digits must not overflow. */
static void a_generation_beyond_all_numbers_is_harmless(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    fake_work(&f, fake_stream(&f, 0), KIND_KERNEL, "nvjet_sm90_tst", 0, 30, -1);
    f.t.device.n = 2;
    FAKE_SET(&f, device, compute_major, 1, INT32_MAX);
    FAKE_SET(&f, device, compute_minor, 1, 9);
    params p = fake_params();
    answer out = fake_ask(analyse_kernels, fake_seal(&f), &p, &a);
    assert_string_equal(out.verdict.id, "kernels_older");
    arena_fini(&a);
    fake_fini(&f);
}

static void kernels_of_an_older_generation_are_reported(void **state) {
    for (int major = 7; major <= 9; major += 2) {
        fake f;
        arena a = {0};
        fake_init(&f);
        int gpu = fake_stream(&f, 0);
        fake_work(&f, gpu, KIND_KERNEL, "cutlass_75_tensorop_bf16_tn_align1", 0, 30, -1);
        int longest =
            fake_work(&f, gpu, KIND_KERNEL, "cutlass_75_tensorop_align1", 100, 40, -1);
        fake_work(&f, gpu, KIND_KERNEL, "nvjet_sm90_tst", 200, 50, -1);
        f.t.device.n = 2;
        FAKE_SET(&f, device, compute_major, 1, major);
        FAKE_SET(&f, device, compute_minor, 1, major == 7 ? 5 : 0);
        params p = fake_params();
        answer out = fake_ask(analyse_kernels, fake_seal(&f), &p, &a);
        assert_string_equal(out.verdict.id, major == 9 ? "kernels_older" : "kernel_leads");
        if (major == 9) {
            assert_near(out.verdict.args[0].u.d, 70.0 / 120);
            assert_int_equal(out.verdict.args[1].u.i, 2);
            assert_int_equal(out.verdict.args[3].u.i, 75);
            assert_string_equal(out.verdict.args[4].name, "unaligned");
            assert_true(out.verdict.args[5].u.i > 0 && longest >= 0);
        }
        arena_fini(&a);
        fake_fini(&f);
    }
}

static void grouping_by_op_separates_the_launching_ops(void **state) {
    fake f;
    arena a = {0};
    make_kernels(&f);
    table *t = ask(fake_seal(&f), GROUP_NAME_OP, &a);
    assert_int_equal(t->n_rows, 2);
    assert_text(fake_text(t, 0, "op"), "op1");
    assert_int_equal(fake_int(t, 0, "total"), 38);
    assert_text(fake_text(t, 1, "op"), "op2");
    assert_int_equal(fake_int(t, 1, "total"), 17);
    arena_fini(&a);
    fake_fini(&f);
}

static void grouping_by_launch_separates_configurations(void **state) {
    fake f;
    arena a = {0};
    make_kernels(&f);
    table *t = ask(fake_seal(&f), GROUP_LAUNCH, &a);
    assert_int_equal(t->n_rows, 3);
    assert_int_equal(fake_int(t, 0, "total"), 25);
    assert_int_equal(fake_int(t, 0, "calls"), 2);
    assert_text(fake_text(t, 0, "block"), "[256, 1, 1]");
    assert_int_equal(fake_int(t, 1, "total"), 17);
    assert_text(fake_text(t, 1, "op"), "op2");
    assert_int_equal(fake_int(t, 2, "total"), 13);
    assert_text(fake_text(t, 2, "block"), "[64, 1, 1]");
    assert_int_equal(fake_int(t, 2, "registers"), 32);
    assert_int_equal(fake_int(t, 2, "shared_memory"), 512);
    arena_fini(&a);
    fake_fini(&f);
}

static void missing_launch_fields_are_null_and_make_separate_groups(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int gpu = fake_stream(&f, 0);
    for (int i = 0; i < 5; i++) {
        int k = fake_work(&f, gpu, KIND_KERNEL, "k", 100 * i, 10 - i, -1);
        if (i != 0 && i != 4)
            f.slices[k].grid[0] = f.slices[k].grid[1] = f.slices[k].grid[2] = 2;
        if (i != 1 && i != 4)
            f.slices[k].block[0] = f.slices[k].block[1] = f.slices[k].block[2] = 3;
        if (i != 2 && i != 4) f.slices[k].registers = 4;
        if (i != 3 && i != 4) f.slices[k].shared_memory = 5;
    }
    table *t = ask(fake_seal(&f), GROUP_LAUNCH, &a);
    assert_int_equal(t->n_rows, 5);
    assert_true(fake_null(t, 0, "grid") && !fake_null(t, 1, "grid"));
    assert_true(fake_null(t, 1, "block") && !fake_null(t, 0, "block"));
    assert_true(fake_null(t, 2, "registers") && !fake_null(t, 0, "registers"));
    assert_true(fake_null(t, 3, "shared_memory") && !fake_null(t, 0, "shared_memory"));
    assert_true(fake_null(t, 4, "grid") && fake_null(t, 4, "shared_memory"));
    assert_true(fake_null(t, 0, "op"));
    arena_fini(&a);
    fake_fini(&f);
}

static void means_are_weighted_by_duration_over_those_that_have_a_value(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int gpu = fake_stream(&f, 1);
    static const struct {
        const char *name;
        int64_t start, dur;
        double blocks, occupancy;
    } rows[] = {{"a", 130, 10, 0.5, 0.6}, {"b", 135, 15, 0.6, 0.1},  {"b", 150, 0, 0.3, 0.2},
                {"a", 145, 25, 0.3, 1.0}, {"a", 200, 20, 10.5, 0.3}, {"c", 300, 0, 4, 0.5},
                {"d", 400, 7, NAN, NAN},  {"a", 500, 1000, NAN, NAN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int k = fake_work(&f, gpu, KIND_KERNEL, rows[i].name, rows[i].start, rows[i].dur, -1);
        f.slices[k].blocks_per_sm = rows[i].blocks;
        f.slices[k].occupancy = rows[i].occupancy;
    }
    table *t = ask(fake_seal(&f), GROUP_NAME, &a);
    assert_near(fake_real(t, fake_row(t, "a"), "blocks_per_sm"), 222.5 / 55);
    assert_near(fake_real(t, fake_row(t, "a"), "occupancy"), 37.0 / 55);
    assert_near(fake_real(t, fake_row(t, "b"), "blocks_per_sm"), 0.6);
    assert_near(fake_real(t, fake_row(t, "c"), "blocks_per_sm"), 4);
    assert_true(fake_null(t, fake_row(t, "d"), "occupancy"));
    arena_fini(&a);
    fake_fini(&f);
}

static void equal_totals_are_ordered_by_the_bytes_of_the_name(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int gpu = fake_stream(&f, 0);
    fake_work(&f, gpu, KIND_KERNEL, "zz", 0, 5, -1);
    fake_work(&f, gpu, KIND_KERNEL, "aa", 10, 5, -1);
    fake_work(&f, gpu, KIND_KERNEL, "mm", 20, 6, -1);
    table *t = ask(fake_seal(&f), GROUP_NAME, &a);
    assert_text(fake_text(t, 0, "name"), "mm");
    assert_text(fake_text(t, 1, "name"), "aa");
    assert_text(fake_text(t, 2, "name"), "zz");
    arena_fini(&a);
    fake_fini(&f);
}

static void a_window_clips_kernels_and_counts_their_starts(void **state) {
    fake f;
    arena a = {0};
    make_kernels(&f); /* starts at 0; kernels at 100+15, 150+10, 200+13, 250+17 */
    params p = fake_params();
    p.from_ns = 105, p.to_ns = 205;
    answer out = fake_ask(analyse_kernels, fake_seal(&f), &p, &a);
    table *t = fake_table(&out, "kernels");
    assert_int_equal(fake_int(t, 0, "calls"), 2);
    assert_int_equal(fake_int(t, 0, "total"), 10 + 10 + 5);
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_and_memsets_are_not_kernels),
        cmocka_unit_test(what_is_not_known_of_a_kernel_is_null),
        cmocka_unit_test(a_collective_is_not_too_small),
        cmocka_unit_test(kernels_of_an_older_generation_are_reported),
        cmocka_unit_test(a_generation_beyond_all_numbers_is_harmless),
        cmocka_unit_test(grouping_by_op_separates_the_launching_ops),
        cmocka_unit_test(grouping_by_launch_separates_configurations),
        cmocka_unit_test(missing_launch_fields_are_null_and_make_separate_groups),
        cmocka_unit_test(means_are_weighted_by_duration_over_those_that_have_a_value),
        cmocka_unit_test(equal_totals_are_ordered_by_the_bytes_of_the_name),
        cmocka_unit_test(a_window_clips_kernels_and_counts_their_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
