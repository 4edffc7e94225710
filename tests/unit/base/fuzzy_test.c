/* fuzzy_test.c: what a few letters find. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fuzzy.h"

static int score(const char *needle, const char *text) {
    return fuzzy_score(str_of(needle), str_of(text));
}

static void letters_in_order_are_found(void **state) {
    assert_true(score("cnv", "aten::conv2d") > 0);
    assert_true(score("cnvbw", "aten::convolution_backward") > 0);
    assert_true(score("abn", "aten::batch_norm") > 0);
    assert_true(score("CONV", "aten::conv2d") > 0);
    assert_true(score("", "anything") > 0);
}

static void letters_out_of_order_or_missing_are_not(void **state) {
    assert_int_equal(score("vnoc", "aten::conv2d"), 0);
    assert_int_equal(score("convx", "aten::conv2d"), 0);
    assert_int_equal(score("a", ""), 0);
}

static void letters_far_apart_fit_only_at_beginnings_of_words(void **state) {
    assert_int_equal(score("az", "abcdefghz"), 0);
    assert_true(score("az", "abcdefgh_z") > 0);
    assert_true(score("ag", "abcdefGhz") > 0);
    assert_true(score("ae", "abcde") > 0); /* three letters skipped */
    assert_int_equal(score("af", "abcdef"), 0);
}

static void a_text_as_it_is_beats_letters(void **state) {
    assert_true(score("mm", "aten::mm") > score("mm", "aten::max_min"));
    assert_true(score("mm", "aten::mm") > score("mm", "aten::addmm")); /* begins a word */
    assert_true(score("mm", "aten::mm") > score("mm", "aten::mm_with_a_long_tail"));
}

static void beginnings_of_words_beat_other_letters(void **state) {
    assert_true(score("bn", "batch_norm") > score("bn", "bang"));
    assert_true(score("fb", "foo_bar") > score("fb", "foob"));
}

/* The first c is the wrong one to begin with: only the second has a v near it. */
static void the_best_placing_is_found_not_the_first(void **state) {
    assert_true(score("cv", "cxxxxxxxcv") > 0);
    assert_true(score("cv", "cudaxxxxxconv") > 0);
}

static void a_long_needle_must_match_exactly(void **state) {
    char text[200];
    for (int i = 0; i < 199; i++) text[i] = (char)('a' + i % 26);
    text[199] = '\0';
    assert_true(fuzzy_score(str_n(text, 100), str_of(text)) > 0);
    text[150] = '-';
    assert_int_equal(fuzzy_score(str_n(text + 60, 100), str_n(text, 140)), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_in_order_are_found),
        cmocka_unit_test(letters_out_of_order_or_missing_are_not),
        cmocka_unit_test(letters_far_apart_fit_only_at_beginnings_of_words),
        cmocka_unit_test(a_text_as_it_is_beats_letters),
        cmocka_unit_test(beginnings_of_words_beat_other_letters),
        cmocka_unit_test(the_best_placing_is_found_not_the_first),
        cmocka_unit_test(a_long_needle_must_match_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
