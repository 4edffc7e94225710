/* typical_step_test.c: medians of steps, and when they are not typical. */
#include "analyse/replay/typical_step.h"
#include "fake_trace.h"

static typical_step of(const int64_t *ns, uint32_t n) {
    sort_pair pairs[16], scratch[16];
    return typical_step_of(ns, n, pairs, scratch);
}

static void one_slow_step_leaves_the_median_typical(void **state) {
    typical_step t = of((const int64_t[]){100, 101, 99, 100, 900}, 5);
    assert_int_equal(t.median, 100);
    assert_int_equal(t.mean, 260);
    assert_false(t.uneven);
}

static void long_and_short_steps_in_turn_are_uneven(void **state) {
    typical_step t = of((const int64_t[]){100, 300, 100, 300, 100, 300}, 6);
    assert_int_equal(t.median, 100);
    assert_int_equal(t.mean, 200);
    assert_true(t.uneven);
}

static void without_a_step_there_is_no_length(void **state) {
    typical_step t = of(NULL, 0);
    assert_int_equal(t.median, 0);
    assert_int_equal(t.mean, 0);
    assert_false(t.uneven);
}

static void lengths_differ_by_a_part_of_the_second(void **state) {
    assert_true(lengths_differ(94, 100, 0.05));
    assert_false(lengths_differ(96, 100, 0.05));
    assert_false(lengths_differ(5, 0, 0.05)); /* of nothing there is no part */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_slow_step_leaves_the_median_typical),
        cmocka_unit_test(long_and_short_steps_in_turn_are_uneven),
        cmocka_unit_test(without_a_step_there_is_no_length),
        cmocka_unit_test(lengths_differ_by_a_part_of_the_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
