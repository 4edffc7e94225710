/* bisect_test.c: the first index that is not before, wherever that is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bisect.h"

static void finds_the_first_that_is_not_before(void **state) {
    static const int v[] = {2, 4, 4, 4, 9};
    for (int wanted = 0; wanted <= 10; wanted++) {
        size_t expected = 0;
        while (expected < 5 && v[expected] < wanted) expected++;
        assert_int_equal(SEARCH_FIRST(i, 0, sizeof v / sizeof *v, v[i] < wanted), expected);
    }
}

static void an_empty_range_gives_its_start(void **state) {
    uint32_t end = 0;
    assert_int_equal(SEARCH_FIRST(i, 0, end, i < 7), 0);
    assert_int_equal(SEARCH_FIRST(i, 1, end, i < 7), 1);
}

static void looks_inside_the_range_only(void **state) {
    const uint32_t first = 3, end = UINT32_MAX;
    assert_int_equal(SEARCH_FIRST(i, first, end, i < 1), 3);
    assert_true(SEARCH_FIRST(i, first, end, i < UINT32_MAX - 1) == UINT32_MAX - 1);
    assert_true(SEARCH_FIRST(i, first, end, true) == UINT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_first_that_is_not_before),
        cmocka_unit_test(an_empty_range_gives_its_start),
        cmocka_unit_test(looks_inside_the_range_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
