/* noise_test.c: intervals against values of tables of Student's t and a worked Welch test. */
#include "analyse/compare/noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_near(double a, double b, double most) {
    if (!(fabs(a - b) <= most)) fail_msg("%.9g is not %.9g", a, b);
}

static void quantiles_are_those_of_the_tables(void **state) {
    static const struct {
        double p, freedom, t;
    } rows[] = {{.975, 1, 12.7062},    {.975, 1.5, 6.01666}, {.975, 2, 4.30265},
                {.975, 3, 3.18245},    {.975, 10, 2.22814},  {.975, 30, 2.04227},
                {.975, 1000, 1.96234}, {.975, 1e9, 1.95996}, {.8, 1, 1.37638},
                {.8, 3, .978472},      {.8, 30, .853767}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_near(noise_t(rows[i].p, rows[i].freedom), rows[i].t, 1e-3 * rows[i].t);
    assert_near(noise_t(0.5, 4), 0, 1e-9);
}

static void samples_have_a_mean_and_a_variance(void **state) {
    noise_samples s = noise_of((int64_t[]){10, 12, 11, 13, 9}, 5);
    assert_int_equal(s.n, 5);
    assert_near(s.mean, 11, 1e-12);
    assert_near(s.variance, 2.5, 1e-12);
    s = noise_of((int64_t[]){7}, 1);
    assert_near(s.mean, 7, 0);
    assert_near(s.variance, 0, 0);
    s = noise_of(NULL, 0);
    assert_near(s.mean, 0, 0);
    s = noise_of_reals((double[]){1.5, 2.5}, 2);
    assert_near(s.mean, 2, 0);
    assert_near(s.variance, .5, 1e-12);
}

static void welch_gives_the_interval(void **state) {
    noise_samples a = noise_of((int64_t[]){10, 12, 11, 13, 9}, 5);
    noise_samples b = noise_of((int64_t[]){14, 15, 17, 13}, 4);
    noise_change c;
    assert_true(noise_compare(&a, &b, 0, &c));
    assert_near(c.change, 3.75, 1e-12);
    assert_near(c.low, 1.06840, 1e-4);
    assert_near(c.high, 6.43160, 1e-4);
    assert_true(c.detectable > c.change - c.low && c.detectable < 2 * (c.change - c.low));
    assert_true(noise_is_real(&c));
    noise_change back;
    assert_true(noise_compare(&b, &a, 0, &back));
    assert_near(back.low, -c.high, 1e-12);
    assert_true(noise_is_real(&back));
}

static void without_spread_any_change_is_real(void **state) {
    noise_samples a = {3, 100, 0}, b = {3, 101, 0};
    noise_change c;
    assert_true(noise_compare(&a, &b, 0, &c));
    assert_near(c.low, 1, 0);
    assert_near(c.high, 1, 0);
    assert_near(c.detectable, 0, 0);
    assert_true(noise_is_real(&c));
    assert_true(noise_compare(&a, &a, 0, &c));
    assert_false(noise_is_real(&c));
}

static void one_sample_says_nothing(void **state) {
    noise_samples a = {1, 100, 0}, b = {3, 101, 2};
    noise_change c = {42, 0, 0, 0};
    assert_false(noise_compare(&a, &b, 0, &c));
    assert_false(noise_compare(&b, &a, 0, &c));
    assert_false(noise_compare_runs(&a, &b, &c));
    assert_near(c.change, 42, 0);
}

static void runs_that_differ_make_it_less_sure(void **state) {
    noise_samples a = {50, 100, 4}, b = {50, 103, 4};
    noise_change within, between;
    assert_true(noise_compare(&a, &b, 0, &within));
    assert_true(noise_is_real(&within));
    assert_true(noise_compare(&a, &b, 9, &between));
    assert_false(noise_is_real(&between));
    assert_true(between.detectable > 5 * within.detectable);
    /* Five runs of 100 ± 3: one more is within t(4) * 3 * sqrt(1 + 1 / 5) = 9.12 of their
     * mean. */
    noise_samples runs = {5, 100, 9};
    assert_true(noise_compare_runs(&runs, &b, &between));
    assert_near(between.high - between.change, 9.124, 0.01);
    /* Runs are similar, but the steps of the new one are not. */
    runs.variance = 1e-6;
    b.variance = 200;
    assert_true(noise_compare_runs(&runs, &b, &between));
    assert_near(between.high - between.change, 2.7764 * 2, 0.01);
}

static void a_weighted_median_is_where_half_of_the_weight_is_reached(void **state) {
    const noise_weighted v[] = {{3, 1}, {1, 1}, {2, 5}};
    arena a = {0};
    double m = 0;
    assert_int_equal(noise_weighted_median(v, 3, 7, &a, &m, NULL), OK);
    assert_true(fabs(m - 2) < 1e-12);
    assert_int_equal(noise_weighted_median(v, 2, 7, &a, &m, NULL), OK); /* 3 and 1 */
    assert_true(fabs(m - 1) < 1e-12);
    assert_int_equal(noise_weighted_median(v, 0, 7, &a, &m, NULL), OK);
    assert_true(fabs(m - 7) < 1e-12);
    arena_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_weighted_median_is_where_half_of_the_weight_is_reached),
        cmocka_unit_test(quantiles_are_those_of_the_tables),
        cmocka_unit_test(samples_have_a_mean_and_a_variance),
        cmocka_unit_test(welch_gives_the_interval),
        cmocka_unit_test(without_spread_any_change_is_real),
        cmocka_unit_test(one_sample_says_nothing),
        cmocka_unit_test(runs_that_differ_make_it_less_sure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
