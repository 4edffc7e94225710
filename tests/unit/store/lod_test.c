/* lod_test.c: the life of the index. */
#include "base/fault.h"
#include "unit/store/lod_helper.h"

static void the_result_does_not_depend_on_the_number_of_threads(void **state) {
    trace *t = random_trace(5, 3000);
    pool *p = pool_new(3);
    lod *one = lod_of(t), *many = NULL;
    assert_int_equal(lod_new(t, p, &many, NULL), OK);
    assert_int_equal(one->n_lanes, many->n_lanes);
    assert_int_equal(one->n_entries, many->n_entries);
    assert_memory_equal(one->lanes, many->lanes, one->n_lanes * sizeof *one->lanes);
    assert_memory_equal(one->rows, many->rows, one->n_rows * sizeof *one->rows);
    assert_memory_equal(one->entries, many->entries, one->n_entries * sizeof *one->entries);
    assert_int_equal(lod_size_bytes(one), lod_size_bytes(many));
    lod_free(one);
    lod_free(many);
    pool_free(p);
    trace_release(t);
}

static void every_failed_allocation_is_a_status_and_leaks_nothing(void **state) {
    trace *t = random_trace(2, 200);
    lod *l = NULL;
    fault_arm(FAULT_ALLOC, UINT64_MAX);
    assert_int_equal(lod_new(t, NULL, &l, NULL), OK);
    uint64_t n = fault_count(FAULT_ALLOC);
    lod_free(l);
    assert_true(n > 10);
    for (uint64_t i = 1; i <= n; i++) {
        error err;
        l = NULL;
        fault_arm(FAULT_ALLOC, i);
        status s = lod_new(t, NULL, &l, &err);
        assert_true((s == OK && l) || (s == ERR_MEMORY && !l));
        lod_free(l);
    }
    fault_arm(FAULT_ALLOC, 0);
    trace_release(t);
}

static void lanes_have_names(void **state) {
    for (int k = 0; k < N_LANE_KINDS; k++) assert_non_null(lane_kind_name((lane_kind)k));
    lod_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_result_does_not_depend_on_the_number_of_threads),
        cmocka_unit_test(every_failed_allocation_is_a_status_and_leaks_nothing),
        cmocka_unit_test(lanes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
