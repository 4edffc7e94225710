/* memory_contents_test.c: what memory holds at a moment, and the curve in few points. */
#include "example_trace.h"

static void add(fake *f, int64_t time, uint64_t address, int64_t bytes, int64_t allocated) {
    fake_add_memory(f, (fake_memory){.time = time,
                                     .track = 1,
                                     .address = address,
                                     .bytes = bytes,
                                     .allocated = allocated,
                                     .reserved = ABSENT_I64,
                                     .device_type = DEVICE_CUDA,
                                     .device = 0});
}

/* 100 bytes from before; relu takes 2000 at 15, add 50,000 at 25; relu's go at 35, all at 45. */
static void make(fake *f) {
    fake_init(f);
    int host = fake_thread(f);
    example_module(f, host, "nn.Module: Net_0", 0, 30);
    example_module(f, host, "nn.Module: ReLU_0", 10, 10);
    fake_add(f, host, KIND_OP, "aten::relu", 12, 6);
    fake_add(f, host, KIND_OP, "aten::add", 22, 6);
    add(f, 15, 1000, 2000, 2100);
    add(f, 25, 9000, 50000, 52100);
    add(f, 35, 1000, -2000, 50100);
    add(f, 45, 9000, -50000, 100);
}

static table *ask(fake *f, arena *a, const char *at, const char *by) {
    params p = fake_params();
    if (at) {
        p.extra[p.n_extra].name = STR("at");
        p.extra[p.n_extra++].value = str_of(at);
    }
    p.extra[p.n_extra].name = STR("by");
    p.extra[p.n_extra++].value = str_of(by);
    answer out = fake_ask(analyse_memory, fake_seal(f), &p, a);
    return fake_table(&out, "contents");
}

static void check(const table *t, size_t row, const char *name, int64_t bytes) {
    if (name)
        assert_text(fake_text(t, row, "name"), name);
    else
        assert_true(fake_null(t, row, "name"));
    assert_int_equal(fake_int(t, row, "bytes"), bytes);
}

/* Parts of the peak: before the recording, since then, and what the allocator holds in reserve. */
static answer ask_peaks(fake *f, arena *a) {
    params p = fake_params();
    return fake_ask(analyse_memory, fake_seal(f), &p, a);
}

static void what_was_there_before_is_a_part_of_the_peak(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_OP, "aten::relu", 12, 6);
    add(&f, 15, 1000, 2000, 12000);
    f.memories[0].reserved = 16000;
    add(&f, 35, 1000, -2000, 10000);
    answer out = ask_peaks(&f, &a);
    table *t = fake_table(&out, "peaks");
    assert_int_equal(fake_int(t, 0, "allocated"), 12000);
    assert_int_equal(fake_int(t, 0, "before"), 10000);
    assert_int_equal(fake_int(t, 0, "unused"), 4000);
    assert_string_equal(out.verdict.id, "memory_held");
    assert_string_equal(out.verdict.args[2].name, "older"); /* the row without a name */
    assert_int_equal(out.verdict.args[2].u.i, 10000);
    assert_int_equal(out.verdict.args[4].u.i, 2000); /* of aten::relu */
    arena_fini(&a);
    fake_fini(&f);
}

/* Paddle on the host: the two totals have nothing to do with each other. */
static void less_reserved_than_allocated_is_not_a_negative_rest(void **state) {
    fake f;
    arena a = {0};
    make(&f);
    for (int i = 0; i < f.n_memories; i++) f.memories[i].reserved = 40000;
    answer out = ask_peaks(&f, &a);
    table *t = fake_table(&out, "peaks");
    assert_int_equal(fake_int(t, 0, "reserved"), 40000);
    assert_true(fake_null(t, 0, "unused"));
    arena_fini(&a);
    fake_fini(&f);
}

/* A data loader's shared memory is reported in addition to the allocator's, with a total of
 * 0. */
static void a_block_the_total_does_not_hold_is_not_part_of_the_peak(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    fake_thread(&f);
    add(&f, 5, 500, 9000, 0);
    add(&f, 15, 1000, 2000, 2000);
    answer out = ask_peaks(&f, &a);
    table *t = fake_table(&out, "peak_contents");
    assert_int_equal(t->n_rows, 1);
    assert_int_equal(fake_int(t, 0, "bytes"), 2000);
    assert_int_equal(fake_int(fake_table(&out, "peaks"), 0, "before"), 0);
    arena_fini(&a);
    fake_fini(&f);
}

/* Events without addresses: who holds what is not known, nor since when. */
static void blocks_that_cannot_be_followed_are_not_from_before(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    fake_thread(&f);
    add(&f, 5, 0, 9000, 9000);
    answer out = ask_peaks(&f, &a);
    assert_true(fake_null(fake_table(&out, "peaks"), 0, "before"));
    assert_string_equal(out.verdict.id, "memory_peak");
    assert_int_equal(out.verdict.n_args, 2);
    arena_fini(&a);
    fake_fini(&f);
}

static void the_peak_is_listed_when_no_moment_is_given(void **state) {
    fake f;
    arena a = {0};
    make(&f);
    table *t = ask(&f, &a, NULL, "op");
    assert_int_equal(t->n_rows, 3);
    check(t, 0, "aten::add", 50000);
    check(t, 1, "aten::relu", 2000);
    check(t, 2, NULL, 100);
    assert_int_equal(fake_int(t, 0, "time"), 25);
    arena_fini(&a);
    fake_fini(&f);
}

static void a_moment_lists_what_is_alive_then(void **state) {
    fake f;
    arena a = {0};
    make(&f);
    table *t = ask(&f, &a, "40", "op");
    assert_int_equal(t->n_rows, 2);
    check(t, 0, "aten::add", 50000);
    check(t, 1, NULL, 100);
    assert_int_equal(fake_int(t, 0, "time"), 35);
    fake_fini(&f);
    make(&f);
    t = ask(&f, &a, "20ns", "op");
    assert_int_equal(t->n_rows, 2);
    check(t, 0, "aten::relu", 2000);
    fake_fini(&f);
    make(&f);
    assert_int_equal(ask(&f, &a, "3", "op")->n_rows, 0); /* before the first event */
    arena_fini(&a);
    fake_fini(&f);
}

static void blocks_are_added_up_by_module_and_by_size(void **state) {
    fake f;
    arena a = {0};
    make(&f);
    table *t = ask(&f, &a, "30", "module");
    assert_int_equal(t->n_rows, 3);
    check(t, 0, "Net_0", 50000);
    check(t, 1, "ReLU_0", 2000);
    check(t, 2, NULL, 100);
    fake_fini(&f);
    make(&f);
    t = ask(&f, &a, "30", "size");
    assert_int_equal(t->n_rows, 3);
    check(t, 0, "4.00 KiB – 64.0 KiB", 50000);
    check(t, 1, "256 B – 4.00 KiB", 2000);
    arena_fini(&a);
    fake_fini(&f);
}

static void a_bad_moment_is_an_error(void **state) {
    fake f;
    arena a = {0};
    make(&f);
    params p = fake_params();
    p.extra[0].name = STR("at");
    p.extra[0].value = STR("noon");
    p.n_extra = 1;
    answer out;
    analysis_trace one = {.trace = fake_seal(&f), .rank = ABSENT_I64};
    analysis_input in = {.traces = &one, .n_traces = 1};
    assert_int_equal(analyse_memory(&in, &p, &a, &out, NULL), ERR_ARG);
    arena_fini(&a);
    fake_fini(&f);
}

/* 400 events that go up and down, one peak and one valley far away from all others. */
static void few_points_keep_peaks_and_valleys(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    fake_add(&f, fake_thread(&f), KIND_OP, "op", 0, 4000);
    for (int i = 0; i < 400; i++)
        add(&f, i * 10, (uint64_t)i + 1, 1, i == 137 ? 90000 : i == 251 ? 3 : 1000 + i % 2);
    params p = fake_params();
    p.extra[0].name = STR("points");
    p.extra[0].value = STR("10");
    p.n_extra = 1;
    answer out = fake_ask(analyse_memory, fake_seal(&f), &p, &a);
    table *t = fake_table(&out, "curve");
    assert_in_range(t->n_rows, 10, 33);
    bool peak = false, valley = false;
    for (size_t i = 0; i < t->n_rows; i++) {
        peak |= fake_int(t, i, "allocated") == 90000 && fake_int(t, i, "time") == 1370;
        valley |= fake_int(t, i, "allocated") == 3 && fake_int(t, i, "time") == 2510;
        if (i) assert_true(fake_int(t, i, "time") > fake_int(t, i - 1, "time"));
    }
    assert_true(peak && valley);
    assert_int_equal(fake_int(t, t->n_rows - 1, "time"), 3990);
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_there_before_is_a_part_of_the_peak),
        cmocka_unit_test(less_reserved_than_allocated_is_not_a_negative_rest),
        cmocka_unit_test(a_block_the_total_does_not_hold_is_not_part_of_the_peak),
        cmocka_unit_test(blocks_that_cannot_be_followed_are_not_from_before),
        cmocka_unit_test(the_peak_is_listed_when_no_moment_is_given),
        cmocka_unit_test(a_moment_lists_what_is_alive_then),
        cmocka_unit_test(blocks_are_added_up_by_module_and_by_size),
        cmocka_unit_test(a_bad_moment_is_an_error),
        cmocka_unit_test(few_points_keep_peaks_and_valleys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
