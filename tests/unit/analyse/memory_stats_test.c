/* memory_stats_test.c: sums climb to the ops around, whatever is in between. */
#include "fake_trace.h"

static void sums_climb_through_frames_and_ranges(void **state) {
    fake f;
    arena a = {0};
    fake_init(&f);
    int host = fake_thread(&f);
    fake_add(&f, host, KIND_OP, "outer", 0, 100);
    fake_add(&f, host, KIND_ANNOTATION, "range", 5, 80);
    fake_add(&f, host, KIND_PYTHON, "frame", 8, 70);
    fake_add(&f, host, KIND_OP, "inner", 10, 20);
    fake_add(&f, host, KIND_OP, "inner", 40, 20);
    for (int i = 0; i < 2; i++)
        fake_add_memory(&f, (fake_memory){.time = 15 + 30 * i,
                                          .track = host,
                                          .address = (uint64_t)i + 1,
                                          .bytes = 10 + i,
                                          .allocated = ABSENT_I64,
                                          .reserved = ABSENT_I64,
                                          .device_type = DEVICE_CUDA});
    params p = fake_params();
    answer out = fake_ask(analyse_memory, fake_seal(&f), &p, &a);
    table *t = fake_table(&out, "statistics");
    assert_int_equal(t->n_rows, 2);
    assert_int_equal(fake_int(t, fake_row(t, "inner"), "self_size_increase"), 21);
    assert_int_equal(fake_int(t, fake_row(t, "inner"), "calls"), 2);
    assert_int_equal(fake_int(t, fake_row(t, "outer"), "self_size_increase"), 0);
    assert_int_equal(fake_int(t, fake_row(t, "outer"), "size_increase"), 21);
    assert_int_equal(fake_int(t, fake_row(t, "outer"), "allocations"), 2);
    arena_fini(&a);
    fake_fini(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_climb_through_frames_and_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
