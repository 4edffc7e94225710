/* num_test.c: saturation at the edges, means rounded half to even. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/num.h"

#include "base/div128.h"

static void narrowing_saturates(void **state) {
    assert_int_equal(sat_u32(UINT32_MAX), UINT32_MAX);
    assert_int_equal(sat_u32((uint64_t)UINT32_MAX + 1), UINT32_MAX);
    assert_int_equal(sat_u32(5), 5);
    assert_int_equal(sat_u16(65536), 65535);
    assert_true(sat_i64(UINT64_MAX) == INT64_MAX);
    assert_int_equal(sat_i32(INT64_MAX), INT32_MAX);
    assert_true(sat_i32(INT64_MIN) == INT32_MIN);
    assert_true(sat_i32(-7) == -7);
}

static void sums_saturate(void **state) {
    assert_true(add_i64(INT64_MAX, 1) == INT64_MAX);
    assert_true(add_i64(INT64_MIN, -1) == INT64_MIN);
    assert_true(add_i64(INT64_MAX, INT64_MIN) == -1);
    assert_true(sub_i64(INT64_MIN, 1) == INT64_MIN);
    assert_true(sub_i64(0, INT64_MIN) == INT64_MAX);
    assert_true(sub_i64(5, 7) == -2);
    assert_true(add_u64(UINT64_MAX, 1) == UINT64_MAX && add_u64(2, 3) == 5);
    assert_true(mul_u64(UINT64_C(1) << 33, UINT64_C(1) << 31) == UINT64_MAX);
    assert_true(mul_u64(7, 6) == 42);
    assert_true(mul_i64(INT64_MAX, -2) == INT64_MIN && mul_i64(INT64_MIN, -1) == INT64_MAX);
    assert_true(seconds_ns(3, 7) == 3000000007 && seconds_ns(INT64_MAX, 7) == INT64_MAX);
    assert_true(abs_u64(INT64_MIN) == UINT64_C(1) << 63 && abs_u64(-5) == 5 && abs_u64(5) == 5);
}

static void counting_down_ends_at_the_first(void **state) {
    size_t sum = 0, n = 0, i = 4;
    for (; COUNT_DOWN(i); n++) sum = 10 * sum + i;
    assert_int_equal(sum, 3210);
    assert_int_equal(n, 4);
    assert_int_equal(i, 0);
}

static void means_round_to_the_nearest_and_halves_to_even(void **state) {
    static const struct {
        int64_t sum, n, mean;
    } cases[] = {{0, 5, 0},
                 {7, 2, 4},
                 {5, 2, 2},
                 {1, 2, 0},
                 {3, 2, 2},
                 {-1, 2, 0},
                 {-3, 2, -2},
                 {-5, 2, -2},
                 {-7, 2, -4},
                 {10, 3, 3},
                 {11, 3, 4},
                 {-10, 3, -3},
                 {-11, 3, -4},
                 {9, 3, 3},
                 {2, 3, 1},
                 {1, 3, 0},
                 {5, 0, 0},
                 {5, -1, 0},
                 {INT64_MAX, 1, INT64_MAX},
                 {INT64_MIN, 1, INT64_MIN},
                 {INT64_MIN, INT64_MAX, -1},
                 {INT64_MAX, INT64_MAX, 1},
                 {INT64_MAX - 1, INT64_MAX, 1},
                 {INT64_MAX, 2, INT64_MAX / 2 + 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_true(mean_i64(cases[i].sum, cases[i].n) == cases[i].mean);
}

static void reals_become_the_nearest_whole_number_there_is(void **state) {
    assert_int_equal(real_i64(2.9), 2);
    assert_int_equal(real_i64(-2.9), -2);
    assert_int_equal(real_i64(1e30), INT64_MAX);
    assert_int_equal(real_i64(-1e30), INT64_MIN + 1);
    assert_int_equal(real_i64((double)NAN), 0);
    assert_int_equal(round_i64(2.5), 3);
    assert_int_equal(round_i64(-2.5), -3);
    assert_int_equal(round_i64(2.4), 2);
    assert_int_equal(round_i64(9.22e18), INT64_MAX);
    assert_int_equal(round_i64((double)INFINITY), INT64_MAX);
    assert_int_equal(round_i64(-1e300), INT64_MIN + 1);
    assert_int_equal(round_i64((double)NAN), 0);
}

/* The compiler's own division is what ours is compared with. */
static void a_division_of_128_bits_is_that_of_the_compiler(void **state) {
    static const uint64_t values[] = {0,          1,
                                      2,          3,
                                      10,         999999999,
                                      1000000000, UINT32_MAX,
                                      1ULL << 32, INT64_MAX,
                                      1ULL << 63, UINT64_MAX - 1,
                                      UINT64_MAX, 0x123456789abcdef};
    for (size_t i = 0; i < N_OF(values); i++)
        for (size_t k = 0; k < N_OF(values); k++)
            for (size_t d = 1; d < N_OF(values); d++) {
                unsigned __int128 n = (unsigned __int128)values[i] << 64 | values[k];
                uint64_t rest;
                assert_true(div_u128(n, values[d], &rest) == n / values[d]);
                assert_true(rest == n % values[d]);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_division_of_128_bits_is_that_of_the_compiler),
        cmocka_unit_test(narrowing_saturates),
        cmocka_unit_test(sums_saturate),
        cmocka_unit_test(counting_down_ends_at_the_first),
        cmocka_unit_test(means_round_to_the_nearest_and_halves_to_even),
        cmocka_unit_test(reals_become_the_nearest_whole_number_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
