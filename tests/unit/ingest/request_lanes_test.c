/* request_lanes_test.c: requests that overlap, on as few lanes as hold them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ingest/serving/request_lanes.h"

static void ranges_that_overlap_have_separate_lanes(void **state) {
    (void)state;
    lane_range v[] = {{0, 15, 16, 3, 9},
                      {0, 0, 10, 0, 9},
                      {0, 10, 20, 2, 9},
                      {0, 5, 15, 1, 9},
                      {1, 0, 99, 4, 9}};
    assert_int_equal(request_lanes_assign(v, 5), OK);
    static const uint32_t items[] = {0, 1, 2, 3, 4}, lanes[] = {0, 1, 0, 1, 0};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(v[i].item, items[i]);
        assert_int_equal(v[i].lane, lanes[i]);
    }
}

static void ranges_without_length_keep_their_order(void **state) {
    (void)state;
    lane_range v[] = {{0, 5, 5, 1, 0}, {0, 5, 5, 0, 0}, {0, 5, 6, 2, 0}};
    assert_int_equal(request_lanes_assign(v, 3), OK);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(v[i].item, i);
    assert_int_equal(v[2].lane, 0);
    assert_int_equal(request_lanes_assign(NULL, 0), OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_that_overlap_have_separate_lanes),
        cmocka_unit_test(ranges_without_length_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
