/* prove_pairs_test.c: medians and intervals of pairs against numbers worked out by hand, and
 * against noise whose truth is known. */
#include "cli/prove_pairs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static prove_pairs pairs_of(const int64_t *first, const int64_t *second, uint32_t n) {
    prove_pairs p = {.n = n};
    for (uint32_t i = 0; i < n; i++) {
        p.first_ns[i] = first[i];
        p.second_ns[i] = second[i];
    }
    return p;
}

static void nine_pairs_leave_one_out_at_each_end(void **state) {
    const int64_t first[] = {100, 100, 100, 100, 100, 100, 100, 100, 200},
                  second[] = {90, 80, 70, 60, 50, 40, 30, 20, 20};
    (void)state;
    prove_pairs p = pairs_of(first, second, 9);
    prove_saving s = prove_saving_of(&p);
    assert_true(s.sure);
    assert_int_equal(s.first_ns, 100);
    assert_true(fabs(s.saved - 0.5) < 1e-9);
    assert_true(fabs(s.low - 0.2) < 1e-9);
    assert_true(fabs(s.high - 0.8) < 1e-9);
}

static void fewer_than_six_pairs_are_not_sure(void **state) {
    const int64_t first[] = {100, 100, 100, 100, 100, 100}, second[] = {50, 50, 50, 50, 50, 60};
    (void)state;
    prove_pairs five = pairs_of(first, second, 5), six = pairs_of(first, second, 6);
    assert_false(prove_saving_of(&five).sure);
    assert_true(prove_saving_of(&six).sure);
    assert_true(fabs(prove_saving_of(&six).low - 0.4) < 1e-9);
    prove_pairs none = {.n = 0};
    assert_int_equal(prove_saving_of(&none).first_ns, 0);
}

static uint64_t next_random(uint64_t *x) {
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return *x >> 33;
}

/* Pairs that share the machine's noise, and one in ten that a burst of other work hits alone:
 * the interval must hold the true saving about as often as it says. */
static void the_interval_holds_the_truth_in_19_of_20(void **state) {
    uint64_t seed = 1;
    int held = 0, n = 2000;
    (void)state;
    for (int k = 0; k < n; k++) {
        prove_pairs p = {.n = 9};
        for (uint32_t i = 0; i < p.n; i++) {
            int64_t machine = 1000000 + (int64_t)(next_random(&seed) % 800000);
            int64_t own = (int64_t)(next_random(&seed) % 100001) - 50000;
            p.first_ns[i] = machine;
            p.second_ns[i] = machine * 7 / 10 + own * machine / 1000000;
            if (next_random(&seed) % 10 == 0) p.second_ns[i] *= 3;
        }
        prove_saving s = prove_saving_of(&p);
        held += s.low <= 0.3 && 0.3 <= s.high;
    }
    /* The bursts move the median itself a little. */
    assert_true(held >= n * 93 / 100);
}

static void losses_are_compared_over_the_steps_that_both_have(void **state) {
    prove_losses a = {.n = 3, .v = {4, 2, 3}}, b = {.n = 2, .v = {4.3, 2.3}}, none = {.n = 0};
    (void)state;
    assert_true(fabs(prove_loss_change(&a, &b) - 0.1) < 1e-9);
    assert_true(prove_loss_change(&a, &a) == 0);
    assert_true(isnan(prove_loss_change(&a, &none)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nine_pairs_leave_one_out_at_each_end),
        cmocka_unit_test(fewer_than_six_pairs_are_not_sure),
        cmocka_unit_test(the_interval_holds_the_truth_in_19_of_20),
        cmocka_unit_test(losses_are_compared_over_the_steps_that_both_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
