/* judge_test.c: a limit held against samples: kept, exceeded, lost in the noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "analyse/check/judge.h"

/* So many samples that alternate between mean − spread and mean + spread. */
static measured samples(uint32_t n, double mean, double spread) {
    double v[64];
    for (uint32_t i = 0; i < n; i++) v[i] = mean + (i % 2 ? spread : -spread);
    return (measured){.known = true, .samples = noise_of_reals(v, n), .value = mean};
}

static const budget_rule AT_MOST_5 = {.measure = MEASURE_STEP,
                                      .side = LIMIT_AT_MOST,
                                      .relative = true,
                                      .limit = 0.05,
                                      .unit = UNIT_NS};

static judged judge(const budget_rule *r, measured a, measured b) {
    return judge_measure(r, &a, &b, -INFINITY);
}

static void quiet_steps_are_judged_by_the_limit(void **state) {
    measured a = samples(20, 1000, 1);
    assert_int_equal(judge(&AT_MOST_5, a, samples(20, 1030, 1)).result, CHECK_OK);
    assert_int_equal(judge(&AT_MOST_5, a, samples(20, 900, 1)).result, CHECK_OK);
    judged j = judge(&AT_MOST_5, a, samples(20, 1060, 1));
    assert_int_equal(j.result, CHECK_REGRESSION);
    assert_float_equal(j.limit, 1050, 1e-9);
    assert_float_equal(j.change, 60, 1e-9);
    assert_true(j.low > 59 && j.low < 60 && j.high > 60 && j.high < 61);
}

static void noise_larger_than_the_limit_is_inconclusive(void **state) {
    measured a = samples(6, 1000, 150);
    judged j = judge(&AT_MOST_5, a, samples(6, 1000, 150));
    assert_int_equal(j.result, CHECK_INCONCLUSIVE);
    assert_int_equal(j.reason, REASON_NOISE);
    assert_int_equal(judge(&AT_MOST_5, a, samples(6, 1100, 150)).result, CHECK_INCONCLUSIVE);
    /* So much that the noise does not matter, either way. */
    assert_int_equal(judge(&AT_MOST_5, a, samples(6, 1500, 150)).result, CHECK_REGRESSION);
    assert_int_equal(judge(&AT_MOST_5, a, samples(6, 500, 150)).result, CHECK_OK);
}

static void a_change_beyond_the_limit_is_real_when_noise_is_below_it(void **state) {
    /* 60 ± 30: the interval holds the limit and excludes 0. */
    judged j = judge(&AT_MOST_5, samples(20, 1000, 45), samples(20, 1060, 45));
    assert_int_equal(j.result, CHECK_REGRESSION);
    assert_true(j.low > 0 && j.low < 50);
}

static void less_than_two_steps_say_nothing_of_noise(void **state) {
    judged j = judge(&AT_MOST_5, samples(1, 1000, 0), samples(20, 1100, 1));
    assert_int_equal(j.result, CHECK_INCONCLUSIVE);
    assert_int_equal(j.reason, REASON_FEW_STEPS);
    assert_int_equal(judge(&AT_MOST_5, samples(1, 1000, 0), samples(1, 1000, 0)).result,
                     CHECK_OK);
}

static void less_of_what_should_be_more_is_a_regression(void **state) {
    budget_rule r = {.side = LIMIT_AT_LEAST, .relative = true, .limit = -0.05};
    measured a = samples(20, 1000, 1);
    assert_int_equal(judge(&r, a, samples(20, 960, 1)).result, CHECK_OK);
    assert_int_equal(judge(&r, a, samples(20, 1200, 1)).result, CHECK_OK);
    assert_int_equal(judge(&r, a, samples(20, 930, 1)).result, CHECK_REGRESSION);
    assert_int_equal(judge(&r, samples(6, 1000, 150), samples(6, 960, 150)).result,
                     CHECK_INCONCLUSIVE);
}

static void an_absolute_limit_needs_no_base(void **state) {
    budget_rule r = {.side = LIMIT_BELOW, .limit = 1000};
    measured b = samples(20, 990, 30);
    assert_int_equal(judge_measure(&r, NULL, &b, 0).result, CHECK_OK);
    b = samples(20, 1005, 30); /* ± 14 */
    assert_int_equal(judge_measure(&r, NULL, &b, 0).result, CHECK_INCONCLUSIVE);
    b = samples(20, 1030, 30);
    assert_int_equal(judge_measure(&r, NULL, &b, 0).result, CHECK_REGRESSION);
    b = (measured){.known = true, .value = 1000};
    assert_int_equal(judge_measure(&r, NULL, &b, 0).result, CHECK_REGRESSION); /* not below */
    r.side = LIMIT_AT_MOST;
    assert_int_equal(judge_measure(&r, NULL, &b, 0).result, CHECK_OK);
}

static void a_part_may_change_by_a_little_of_the_step(void **state) {
    measured a = samples(20, 100, 1), b = samples(20, 120, 1);
    assert_int_equal(judge_measure(&AT_MOST_5, &a, &b, -INFINITY).result, CHECK_REGRESSION);
    assert_int_equal(judge_measure(&AT_MOST_5, &a, &b, 30).result, CHECK_OK);
}

static void what_is_not_recorded_is_not_judged(void **state) {
    measured none = {.known = false}, b = samples(20, 100, 1);
    assert_int_equal(judge(&AT_MOST_5, none, b).result, CHECK_NOT_RECORDED);
    assert_int_equal(judge(&AT_MOST_5, b, none).result, CHECK_NOT_RECORDED);
    assert_int_equal(judge_numbers(&AT_MOST_5, NAN, 3).result, CHECK_NOT_RECORDED);
}

static void numbers_are_compared_as_they_are(void **state) {
    assert_int_equal(judge_numbers(&AT_MOST_5, 100, 105).result, CHECK_OK);
    assert_int_equal(judge_numbers(&AT_MOST_5, 100, 106).result, CHECK_REGRESSION);
    assert_int_equal(judge_numbers(&AT_MOST_5, 0, 0).result, CHECK_OK);
    assert_int_equal(judge_numbers(&AT_MOST_5, 0, 1).result, CHECK_REGRESSION);
    judged j = judge_numbers(&AT_MOST_5, 100, 115);
    assert_float_equal(judged_excess(&j), 10, 1e-9);
    assert_true(judged_survives(&j, 5));
    assert_false(judged_survives(&j, 12));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quiet_steps_are_judged_by_the_limit),
        cmocka_unit_test(noise_larger_than_the_limit_is_inconclusive),
        cmocka_unit_test(a_change_beyond_the_limit_is_real_when_noise_is_below_it),
        cmocka_unit_test(less_than_two_steps_say_nothing_of_noise),
        cmocka_unit_test(less_of_what_should_be_more_is_a_regression),
        cmocka_unit_test(an_absolute_limit_needs_no_base),
        cmocka_unit_test(a_part_may_change_by_a_little_of_the_step),
        cmocka_unit_test(what_is_not_recorded_is_not_judged),
        cmocka_unit_test(numbers_are_compared_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
