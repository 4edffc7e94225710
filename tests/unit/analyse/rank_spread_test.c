/* rank_spread_test.c: the shortest, median and longest average step of the workers. */
#include "analyse/run/rank_spread.h"

#include "fake_trace.h"

static void add_step(summary *s, const char *worker, int64_t number, int64_t kernel,
                     int64_t communication) {
    summary_step *row = summary_add_step(s);
    *row = (summary_step){.worker = summary_text(s, str_of(worker)),
                          .number = number,
                          .kernel = kernel,
                          .communication = communication};
}

/* The first `n_devices` of them recorded device work. */
static summary *three_workers(int n_devices) {
    summary *s = summary_new();
    static const char *const names[] = {"rank0", "rank1", "rank2"};
    for (int w = 0; w < 3; w++) {
        summary_worker *row = summary_add_worker(s);
        row->name = summary_text(s, str_of(names[w]));
        row->rank = w;
        row->has_device = w < n_devices;
    }
    add_step(s, "rank0", 1, 100, 50);
    add_step(s, "rank0", 2, 200, 50); /* 150 on the average */
    add_step(s, "rank1", 1, 400, 50);
    add_step(s, "rank2", 1, 250, 50);
    assert_int_equal(summary_settle(s, NULL), OK);
    return s;
}

static void each_category_has_its_least_median_and_most(void **state) {
    arena a = {0};
    summary *s = three_workers(3);
    answer out = {.analysis = "overview"};
    assert_int_equal(rank_spread_write(s, &a, &out, NULL), OK);
    table *t = fake_table(&out, "spread");
    assert_int_equal(t->n_rows, N_ROLES + 1);
    assert_int_equal(fake_int(t, ROLE_KERNEL, "min"), 150);
    assert_int_equal(fake_int(t, ROLE_KERNEL, "median"), 250);
    assert_int_equal(fake_int(t, ROLE_KERNEL, "max"), 400);
    assert_true(str_eq(fake_text(t, ROLE_KERNEL, "min_worker"), STR("rank0")));
    assert_true(str_eq(fake_text(t, ROLE_KERNEL, "max_worker"), STR("rank1")));
    assert_int_equal(fake_int(t, N_ROLES, "max"), 450);
    assert_true(str_eq(fake_text(t, N_ROLES, "category"), STR("total")));
    /* All wait for the same time: none is named. */
    assert_int_equal(fake_int(t, ROLE_COMMUNICATION, "median"), 50);
    assert_int_equal(fake_text(t, ROLE_COMMUNICATION, "max_worker").n, 0);
    summary_free(s);
    arena_fini(&a);
}

static void device_work_is_compared_among_those_that_recorded_it(void **state) {
    for (int n_devices = 0; n_devices < 3; n_devices++) {
        arena a = {0};
        summary *s = three_workers(n_devices);
        answer out = {.analysis = "overview"};
        assert_int_equal(rank_spread_write(s, &a, &out, NULL), OK);
        table *t = fake_table(&out, "spread");
        assert_int_equal(t->n_rows, n_devices ? N_ROLES + 1 : N_ROLES - 2);
        if (n_devices) assert_int_equal(fake_int(t, 0, "min"), 150);
        if (n_devices) assert_int_equal(fake_int(t, 0, "max"), n_devices == 1 ? 150 : 400);
        summary_free(s);
        arena_fini(&a);
    }
}

static void one_worker_has_nothing_to_compare(void **state) {
    arena a = {0};
    summary *s = summary_new();
    summary_add_worker(s)->name = summary_text(s, STR("rank0"));
    add_step(s, "rank0", 1, 100, 50);
    assert_int_equal(summary_settle(s, NULL), OK);
    answer out = {.analysis = "overview"};
    assert_int_equal(rank_spread_write(s, &a, &out, NULL), OK);
    assert_int_equal(fake_table(&out, "spread")->n_rows, 0);
    summary_free(s);
    arena_fini(&a);
}

/* Step traces of two workers, and a third that recorded no times: it is not averaged, and
 * kernels, which are unknown, have no row. */
static void a_worker_without_times_and_unknown_kernels_are_left_out(void **state) {
    arena a = {0};
    summary *s = summary_new();
    static const char *const names[] = {"rank0", "rank1", "rank2"};
    for (int w = 0; w < 3; w++) {
        summary_add_worker(s)->name = summary_text(s, str_of(names[w]));
        add_step(s, names[w], 1, 0, w < 2 ? 40 + w : 0);
    }
    assert_int_equal(summary_settle(s, NULL), OK);
    for (int w = 0; w < 2; w++) {
        SUMMARY_ROWS(s, step)[w].bare = 1;
        SUMMARY_ROWS(s, step)[w].end = 100;
    }
    answer out = {.analysis = "overview"};
    assert_int_equal(rank_spread_write(s, &a, &out, NULL), OK);
    table *t = fake_table(&out, "spread");
    assert_int_equal(t->n_rows, N_ROLES + 1 - 3);
    assert_true(str_eq(fake_text(t, 0, "category"), STR("communication")));
    assert_int_equal(fake_int(t, 0, "min"), 40);
    assert_int_equal(fake_int(t, 0, "max"), 41);
    summary_free(s);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_category_has_its_least_median_and_most),
        cmocka_unit_test(a_worker_without_times_and_unknown_kernels_are_left_out),
        cmocka_unit_test(device_work_is_compared_among_those_that_recorded_it),
        cmocka_unit_test(one_worker_has_nothing_to_compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
