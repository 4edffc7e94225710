/* fault_test.c: exactly the n-th point fails, once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/fault.h"

static void exactly_the_nth_point_fails_once(void **state) {
    fault_arm(FAULT_READ, 3);
    assert_true(fault_armed);
    for (int i = 1; i <= 10; i++) assert_int_equal(fault_point(FAULT_READ), i == 3);
    assert_int_equal(fault_count(FAULT_READ), 10);
    fault_arm(FAULT_READ, 0);
    assert_false(fault_armed);
    assert_int_equal(fault_count(FAULT_READ), 0);
}

static void disarmed_points_neither_fail_nor_count(void **state) {
    for (int k = 0; k < N_FAULTS; k++) {
        assert_false(fault_point((fault_kind)k));
        assert_int_equal(fault_count((fault_kind)k), 0);
    }
}

static void kinds_are_counted_apart(void **state) {
    fault_arm(FAULT_READ, 1);
    fault_arm(FAULT_WRITE, 2);
    assert_false(fault_point(FAULT_ALLOC));
    assert_false(fault_point(FAULT_WRITE));
    assert_true(fault_point(FAULT_READ));
    fault_arm(FAULT_READ, 0);
    assert_true(fault_armed); /* the other kind still is */
    assert_true(fault_point(FAULT_WRITE));
    fault_arm(FAULT_WRITE, 0);
    assert_false(fault_armed);
}

static void the_environment_arms(void **state) {
    setenv("TACHO_FAULT", "write:2,alloc:1", 1);
    fault_init();
    assert_true(fault_point(FAULT_ALLOC));
    assert_false(fault_point(FAULT_WRITE));
    assert_true(fault_point(FAULT_WRITE));
    assert_false(fault_point(FAULT_READ));
    fault_arm(FAULT_ALLOC, 0);
    fault_arm(FAULT_WRITE, 0);
}

static void an_environment_without_sense_arms_nothing(void **state) {
    static const char *const values[] = {
        "", "x", "alloc", "alloc:", "alloc:x", "disk:3", ",,,", "allocate:3"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        setenv("TACHO_FAULT", values[i], 1);
        fault_init();
        assert_false(fault_armed);
    }
    unsetenv("TACHO_FAULT");
    fault_init();
    assert_false(fault_armed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exactly_the_nth_point_fails_once),
        cmocka_unit_test(disarmed_points_neither_fail_nor_count),
        cmocka_unit_test(kinds_are_counted_apart),
        cmocka_unit_test(the_environment_arms),
        cmocka_unit_test(an_environment_without_sense_arms_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
