/* memory_test.c: curves, blocks, peaks and statistics, with the original tool's own cases. */
#include "fake_trace.h"

enum { GPU = DEVICE_CUDA, CPU = DEVICE_CPU };

static void add(fake *f, uint8_t type, const int64_t v[3]) {
    fake_add_memory(f, (fake_memory){.time = v[0],
                                     .track = 1,
                                     .address = (uint64_t)v[1],
                                     .bytes = v[2],
                                     .allocated = ABSENT_I64,
                                     .reserved = ABSENT_I64,
                                     .device_type = type,
                                     .device = type == CPU ? -1 : 0});
}
#define ADD(f, type, ...) add(f, type, (const int64_t[]){__VA_ARGS__})

static void add_total(fake *f, uint8_t type, const int64_t v[5]) {
    add(f, type, v);
    f->memories[f->n_memories - 1].allocated = v[3];
    f->memories[f->n_memories - 1].reserved = v[4];
}
#define ADD_TOTAL(f, type, ...) add_total(f, type, (const int64_t[]){__VA_ARGS__})

static answer ask(fake *f, arena *a) {
    params p = fake_params();
    return fake_ask(analyse_memory, fake_seal(f), &p, a);
}

/* Order: self increase, self allocated bytes, self count, increase, bytes, count, calls. */
static void check_row(const table *t, const char *device, const char *op,
                      const int64_t want[7]) {
    static const char *const columns[] = {"self_size_increase",
                                          "self_allocation_bytes",
                                          "self_allocations",
                                          "size_increase",
                                          "allocation_bytes",
                                          "allocations",
                                          "calls"};
    for (size_t row = 0; row < t->n_rows; row++) {
        if (!str_eq(fake_text(t, row, "op"), str_of(op)) ||
            !str_eq(fake_text(t, row, "device"), str_of(device)))
            continue;
        for (int i = 0; i < 7; i++)
            if (fake_int(t, row, columns[i]) != want[i])
                fail_msg("%s %s %s: expected %lld, got %lld", device, op, columns[i],
                         (long long)want[i], (long long)fake_int(t, row, columns[i]));
        return;
    }
    fail_msg("no row %s on %s", op, device);
}
#define CHECK_ROW(t, device, op, ...) check_row(t, device, op, (const int64_t[7]){__VA_ARGS__})

static void statistics_by_operator_and_device(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    static const struct {
        uint8_t kind;
        const char *name;
        int64_t start, dur;
    } slices[] = {
        {KIND_OP, "aten::to", 10, 10},
        {KIND_STEP, "ProfilerStep#1", 50, 400},
        {KIND_DATA, "enumerate(DataLoader)#X.__next__", 100, 180},
        {KIND_OP, "aten::to", 200, 60},
        {KIND_OP, "nll_loss_backward", 340, 70},
        {KIND_STEP, "ProfilerStep#2", 500, 500},
        {KIND_OP, "aten::to", 510, 150},
        {KIND_OP, "copy_", 520, 100},
        {KIND_OP, "liner", 700, 100},
        {KIND_OP, "t", 705, 40},
        {KIND_OP, "transpose", 710, 30},
        {KIND_OP, "tranas_stride", 720, 10},
        {KIND_OP, "addmm", 750, 40},
        {KIND_OP, "aten::to", 900, 100},
    };
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
        fake_add(&f, host, slices[i].kind, slices[i].name, slices[i].start, slices[i].dur);
    static const int64_t cpu[][3] = {{90, 90, 4},         {150, 150, 4},  {200, 200, 4},
                                     {450, 450, 1000000}, {729, 729, 50}, {746, 746, 100},
                                     {749, 690, -100}};
    static const int64_t gpu[][3] = {
        {210, 210, 4},    {265, 265, 4},   {300, 300, 4},    {350, 350, 10},  {360, 350, -10},
        {515, 515, 100},  {520, 520, 100}, {600, 520, -100}, {690, 690, 100}, {701, 701, 100},
        {708, 708, 100},  {715, 715, 50},  {725, 725, 50},   {728, 725, -50}, {735, 715, -50},
        {742, 708, -100}, {747, 747, 20},  {760, 760, 30},   {780, 760, -30}, {795, 795, 10},
        {796, 515, -100}, {799, 795, -10}};
    for (size_t i = 0; i < sizeof cpu / sizeof *cpu; i++) add(&f, CPU, cpu[i]);
    for (size_t i = 0; i < sizeof gpu / sizeof *gpu; i++) add(&f, GPU, gpu[i]);
    answer out = ask(&f, &a);
    table *t = fake_table(&out, "statistics");
    assert_int_equal(t->n_rows, 8 + 5);
    CHECK_ROW(t, "GPU0", "aten::to", 104, 104, 2, 104, 204, 3, 4);
    CHECK_ROW(t, "GPU0", "nll_loss_backward", 0, 10, 1, 0, 10, 1, 1);
    CHECK_ROW(t, "GPU0", "copy_", 0, 100, 1, 0, 100, 1, 1);
    CHECK_ROW(t, "GPU0", "addmm", 0, 30, 1, 0, 30, 1, 1);
    CHECK_ROW(t, "GPU0", "tranas_stride", 0, 50, 1, 0, 50, 1, 1);
    CHECK_ROW(t, "GPU0", "transpose", 0, 50, 1, 0, 100, 2, 1);
    CHECK_ROW(t, "GPU0", "t", 0, 100, 1, 0, 200, 3, 1);
    CHECK_ROW(t, "GPU0", "liner", 20, 130, 3, 20, 360, 7, 1);
    CHECK_ROW(t, "CPU", "aten::to", 4, 4, 1, 4, 4, 1, 4);
    CHECK_ROW(t, "CPU", "liner", 0, 100, 1, 50, 150, 2, 1);
    CHECK_ROW(t, "CPU", "tranas_stride", 50, 50, 1, 50, 50, 1, 1);
    CHECK_ROW(t, "CPU", "transpose", 0, 0, 0, 50, 50, 1, 1);
    CHECK_ROW(t, "CPU", "t", 0, 0, 0, 50, 50, 1, 1);
    /* The release on the CPU of an address that lives on the GPU pairs with nothing. */
    t = fake_table(&out, "events");
    int releases = 0;
    for (size_t i = 0; i < t->n_rows; i++)
        if (str_eq(fake_text(t, i, "kind"), STR("release"))) {
            assert_text(fake_text(t, i, "device"), "CPU");
            assert_true(fake_null(t, i, "allocated_at"));
            releases++;
        }
    assert_int_equal(releases, 1);
    arena_fini(&a);
    fake_fini(&f);
}

static void make_zeros(fake *f) {
    fake_init(f);
    int host = fake_thread(f);
    fake_add(f, host, KIND_OP, "aten::zeros", 0, 100);
    fake_add(f, host, KIND_PYTHON, "a frame between", 5, 60);
    fake_add(f, host, KIND_OP, "aten::empty", 10, 20);
    ADD_TOTAL(f, GPU, 15, 1000, 2048, 2048, 4096);
    ADD_TOTAL(f, GPU, 20, 2000, 1024, 3072, 4096);
    ADD_TOTAL(f, GPU, 50, 1000, -2048, 1024, 4096);
    ADD_TOTAL(f, GPU, 150, 2000, -1024, 0, 4096);
    ADD_TOTAL(f, GPU, 160, 3000, -5, 0, 4096);
}

static void blocks_are_pairs_of_allocation_and_release(void **state) {
    fake f;
    arena a = {0};
    make_zeros(&f);
    answer out = ask(&f, &a);
    table *t = fake_table(&out, "events");
    assert_int_equal(t->n_rows, 3);
    assert_text(fake_text(t, 0, "op"), "aten::zeros (aten::empty)");
    assert_int_equal(fake_int(t, 0, "bytes"), 2048);
    assert_int_equal(fake_int(t, 0, "allocated_at"), 15);
    assert_int_equal(fake_int(t, 0, "released_at"), 50);
    assert_int_equal(fake_int(t, 0, "duration"), 35);
    assert_int_equal(fake_int(t, 1, "duration"), 130);
    assert_true(fake_null(t, 2, "op") && fake_null(t, 2, "allocated_at") &&
                fake_null(t, 2, "duration"));
    assert_int_equal(fake_int(t, 2, "bytes"), 5);
    assert_int_equal(fake_int(t, 2, "released_at"), 160);
    t = fake_table(&out, "statistics");
    CHECK_ROW(t, "GPU0", "aten::empty", 3072, 3072, 2, 3072, 3072, 2, 1);
    CHECK_ROW(t, "GPU0", "aten::zeros", -2048, 0, 0, 1024, 3072, 2, 1);
    arena_fini(&a);
    fake_fini(&f);
}

static void a_window_chooses_among_whole_blocks(void **state) {
    fake f;
    arena a = {0};
    make_zeros(&f);
    params p = fake_params();
    p.from_ns = 40, p.to_ns = 155;
    answer out = fake_ask(analyse_memory, fake_seal(&f), &p, &a);
    table *t = fake_table(&out, "events");
    assert_int_equal(t->n_rows,
                     2); /* both released inside; the original forgets when they began */
    assert_int_equal(fake_int(t, 0, "allocated_at"), 15);
    assert_int_equal(fake_int(t, 1, "released_at"), 150);
    assert_int_equal(fake_table(&out, "curve")->n_rows, 2);
    arena_fini(&a);
    fake_fini(&f);
}

static void the_peak_and_what_holds_it(void **state) {
    fake f;
    arena a = {0};
    make_zeros(&f);
    f.memories[0].allocated += 500; /* 500 bytes are from before the recording */
    f.memories[1].allocated += 500;
    f.t.device.n = 2;
    FAKE_SET(&f, device, id, 1, 0);
    FAKE_SET(&f, device, memory, 1, 3600);
    answer out = ask(&f, &a);
    table *t = fake_table(&out, "peaks");
    assert_int_equal(t->n_rows, 1);
    assert_text(fake_text(t, 0, "device"), "GPU0");
    assert_int_equal(fake_int(t, 0, "time"), 20);
    assert_int_equal(fake_int(t, 0, "allocated"), 3572);
    assert_int_equal(fake_int(t, 0, "reserved"), 4096);
    assert_int_equal(fake_int(t, 0, "capacity"), 3600);
    t = fake_table(&out, "peak_contents");
    assert_int_equal(t->n_rows, 2);
    assert_text(fake_text(t, 0, "op"), "aten::zeros (aten::empty)");
    assert_int_equal(fake_int(t, 0, "bytes"), 3072);
    assert_int_equal(fake_int(t, 0, "allocations"), 2);
    assert_true(fake_null(t, 1, "op") && fake_null(t, 1, "allocations"));
    assert_int_equal(fake_int(t, 1, "bytes"), 500);
    assert_string_equal(out.verdict.id, "memory_near_capacity");
    arena_fini(&a);
    fake_fini(&f);
}

static void a_duplicate_op_is_not_counted_twice(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_OP, "aten::mm", 0, 100);
    fake_add(&f, host, KIND_OP, "aten::mm", 5, 90);
    fake_add(&f, host, KIND_OP, "aten::resize_", 10, 20);
    fake_add(&f, host, KIND_OP, "aten::copy_", 40, 20);
    ADD(&f, GPU, 15, 1, 100);
    ADD(&f, GPU, 70, 2, 7);
    answer out = ask(&f, &a);
    table *t = fake_table(&out, "statistics");
    CHECK_ROW(t, "GPU0", "aten::mm", 7, 7, 1, 107, 107, 2, 1);
    CHECK_ROW(t, "GPU0", "aten::resize_", 100, 100, 1, 100, 100, 1, 1);
    assert_int_equal(fake_table(&out, "curve")->n_rows, 0); /* no totals recorded */
    assert_int_equal(fake_table(&out, "peaks")->n_rows, 0);
    arena_fini(&a);
    fake_fini(&f);
}

static void every_kind_of_device_has_a_name(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    fake_thread(&f);
    for (int i = 0; i < 3; i++) {
        ADD_TOTAL(&f, i == 0 ? DEVICE_XPU : i == 1 ? DEVICE_MPS : CPU, 10 + i, 1, 5, 5, 5);
        ADD_TOTAL(&f, GPU, 20 + i, 1 + i, 5, 5 * (i + 1), 15);
    }
    answer out = ask(&f, &a);
    table *t = fake_table(&out, "peaks");
    assert_int_equal(t->n_rows, 4);
    assert_text(fake_text(t, 0, "device"), "GPU0"); /* accelerators first, the host last */
    assert_text(fake_text(t, 1, "device"), "XPU0");
    assert_text(fake_text(t, 2, "device"), "MPS0");
    assert_text(fake_text(t, 3, "device"), "CPU");
    arena_fini(&a);
    fake_fini(&f);
}

static void memory_that_rises_in_every_step_is_reported(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    fake_thread(&f);
    for (int i = 0; i < 5; i++) {
        ADD_TOTAL(&f, GPU, 100 * i + 10, 10 + i, 50, 100 + 50 * i, 1000);
        ADD_TOTAL(&f, GPU, 100 * i + 20, 90, 500, 600 + 50 * i, 1000);
        ADD_TOTAL(&f, GPU, 100 * i + 30, 90, -500, 100 + 50 * i, 1000);
        fake_step(&f, i, 100 * i, 100 * i + 100);
    }
    answer out = ask(&f, &a);
    assert_string_equal(out.verdict.id, "memory_grows");
    assert_int_equal(out.verdict.args[0].u.i, 50);
    arena_fini(&a);
    fake_fini(&f);
}

static void memory_that_returns_to_its_level_is_not_the_limit(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    fake_thread(&f);
    for (int i = 0; i < 3; i++) {
        ADD_TOTAL(&f, GPU, 100 * i + 20, 90, 500, 600, 1000);
        ADD_TOTAL(&f, GPU, 100 * i + 30, 90, -500, 100, 1000);
        fake_step(&f, i, 100 * i, 100 * i + 100);
    }
    f.t.device.n = 2;
    FAKE_SET(&f, device, id, 1, 0);
    FAKE_SET(&f, device, memory, 1, 3600);
    answer out = ask(&f, &a);
    assert_string_equal(out.verdict.id, "memory_fits");
    assert_int_equal(out.verdict.args[0].u.i, 600);
    assert_int_equal(out.verdict.args[1].u.i, 3600);
    assert_string_equal(out.verdict.args[3].name, "flat");
    params one = fake_params();
    one.first_step = one.last_step = 1; /* with one step it is unknown whether it grows */
    answer window = fake_ask(analyse_memory, &f.t, &one, &a);
    assert_string_equal(window.verdict.id, "memory_fits");
    for (uint32_t i = 0; i < window.verdict.n_args; i++)
        assert_string_not_equal(window.verdict.args[i].name, "flat");
    arena_fini(&a);
    fake_fini(&f);
}

static void without_events_the_verdict_says_how_to_record_them(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    answer out = ask(&f, &a);
    assert_string_equal(out.verdict.id, "memory_not_recorded");
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_by_operator_and_device),
        cmocka_unit_test(blocks_are_pairs_of_allocation_and_release),
        cmocka_unit_test(a_window_chooses_among_whole_blocks),
        cmocka_unit_test(the_peak_and_what_holds_it),
        cmocka_unit_test(a_duplicate_op_is_not_counted_twice),
        cmocka_unit_test(every_kind_of_device_has_a_name),
        cmocka_unit_test(memory_that_rises_in_every_step_is_reported),
        cmocka_unit_test(memory_that_returns_to_its_level_is_not_the_limit),
        cmocka_unit_test(without_events_the_verdict_says_how_to_record_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
