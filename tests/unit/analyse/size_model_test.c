/* size_model_test.c: the size of an allocation at a batch that was never recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyse/fits/size_model.h"

static const size_guess GROWS_WITH_BOTH = {.batch_power = 1, .length_power = 1, .known = true};

static int64_t at_batch(int64_t small, int64_t large, int64_t batch) {
    run_size at[2] = {{4, 10}, {8, 10}};
    int64_t bytes[2] = {small, large};
    size_law law = size_law_of_two(at, bytes, GROWS_WITH_BOTH, 1);
    return size_law_at(&law, (run_size){batch, 10});
}

static void two_batches_tell_how_a_size_grows(void **state) {
    assert_int_equal(at_batch(400, 400, 64), 400);             /* not at all */
    assert_int_equal(at_batch(400, 800, 64), 6400);            /* in proportion */
    assert_int_equal(at_batch(1400, 1800, 64), 1000 + 6400);   /* on top of a constant */
    assert_int_equal(at_batch(160, 640, 64), 40960);           /* with the square */
    assert_int_equal(at_batch(400 + 16, 800 + 64, 64), 10496); /* with both */
}

static void a_size_that_shrinks_is_never_below_nothing(void **state) {
    assert_int_equal(at_batch(800, 400, 8), 400);
    assert_int_equal(at_batch(800, 400, 64), 0);
}

static void the_length_follows_from_shapes_where_only_the_batch_differs(void **state) {
    run_size at[2] = {{4, 10}, {8, 10}};
    int64_t bytes[2] = {400, 800};
    size_guess square = {.batch_power = 1, .length_power = 2, .known = true};
    size_law law = size_law_of_two(at, bytes, square, 1);
    assert_int_equal(size_law_at(&law, (run_size){8, 30}), 7200);
    assert_false(law.assumed_length);
    square.known = false;
    law = size_law_of_two(at, bytes, square, 1);
    assert_true(law.assumed_length);
}

static void two_lengths_tell_a_square_from_a_line(void **state) {
    run_size at[2] = {{3, 16}, {3, 32}};
    int64_t line[2] = {160, 320}, square[2] = {768, 3072};
    size_law a = size_law_of_two(at, line, GROWS_WITH_BOTH, 1);
    size_law b = size_law_of_two(at, square, GROWS_WITH_BOTH, 1);
    assert_int_equal(size_law_at(&a, (run_size){3, 64}), 640);
    assert_int_equal(size_law_at(&a, (run_size){6, 64}), 1280);
    assert_int_equal(size_law_at(&b, (run_size){3, 64}), 12288);
}

static void both_may_differ_with_the_same_product(void **state) {
    run_size at[2] = {{5, 24}, {3, 40}};
    int64_t tokens[2] = {1200, 1200}, square[2] = {5 * 24 * 24, 3 * 40 * 40};
    size_law a = size_law_of_two(at, tokens, GROWS_WITH_BOTH, 1);
    size_law b = size_law_of_two(at, square, GROWS_WITH_BOTH, 1);
    assert_int_equal(size_law_at(&a, (run_size){10, 24}), 2400);
    assert_int_equal(size_law_at(&b, (run_size){2, 80}), 2 * 80 * 80);
}

static void rounded_sizes_are_seen_as_in_proportion(void **state) {
    run_size at[2] = {{4, 1}, {8, 1}};
    int64_t bytes[2] = {1024, 1536}; /* 700 and 1400, in steps of 512 */
    size_law law = size_law_of_two(at, bytes, GROWS_WITH_BOTH, 512);
    int64_t least, most;
    size_law_range(&law, (run_size){64, 1}, &least, &most);
    assert_in_range(11200, least, most);
    assert_true(most - least <= 2 * 512 * (64 - 8) / 4);
}

static void one_recording_gives_what_is_assumed_and_a_range_for_a_guess(void **state) {
    size_guess guess = {.batch_power = 1, .length_power = 0, .known = false};
    size_law law = size_law_of_one((run_size){4, 10}, 400, guess);
    int64_t least, most;
    assert_int_equal(size_law_at(&law, (run_size){8, 10}), 800);
    size_law_range(&law, (run_size){8, 10}, &least, &most);
    assert_int_equal(least, 400);
    assert_int_equal(most, 800);
}

static void growth_is_that_of_the_steepest_term(void **state) {
    run_size at[2] = {{4, 10}, {8, 10}};
    int64_t bytes[2] = {1400, 1800};
    uint8_t batch, length;
    size_law law = size_law_of_two(at, bytes, GROWS_WITH_BOTH, 1);
    size_law_growth(&law, &batch, &length);
    assert_int_equal(batch, 1);
    assert_int_equal(length, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_batches_tell_how_a_size_grows),
        cmocka_unit_test(a_size_that_shrinks_is_never_below_nothing),
        cmocka_unit_test(the_length_follows_from_shapes_where_only_the_batch_differs),
        cmocka_unit_test(two_lengths_tell_a_square_from_a_line),
        cmocka_unit_test(both_may_differ_with_the_same_product),
        cmocka_unit_test(rounded_sizes_are_seen_as_in_proportion),
        cmocka_unit_test(one_recording_gives_what_is_assumed_and_a_range_for_a_guess),
        cmocka_unit_test(growth_is_that_of_the_steepest_term),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
