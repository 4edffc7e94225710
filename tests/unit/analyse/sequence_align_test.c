/* sequence_align_test.c: pairs by hand, and against the longest common subsequence found the
 * slow way. */
#include "analyse/compare/sequence_align.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 2400 };

static uint32_t letters(const char *text, uint32_t *out) {
    for (size_t i = 0; text[i]; i++) out[i] = (uint32_t)text[i];
    return (uint32_t)strlen(text);
}

/* expected: for each item of b the letter of its partner's place (a, b, c …), or a dot. */
static void assert_pairs(const char *a, const char *b, const char *expected) {
    arena scratch = {0};
    uint32_t x[64], y[64], of_b[64];
    char got[65] = {0};
    error err;
    sequence p = {x, letters(a, x)}, q = {y, letters(b, y)};
    assert_int_equal(sequence_align(p, q, &scratch, of_b, &err), OK);
    for (uint32_t j = 0; j < q.n; j++) got[j] = of_b[j] ? (char)('a' + of_b[j] - 1) : '.';
    assert_string_equal(got, expected);
    arena_fini(&scratch);
}

static void equal_sequences_are_paired_by_place(void **state) {
    assert_pairs("", "", "");
    assert_pairs("grgrg", "grgrg", "abcde");
    assert_pairs("", "gr", "..");
    assert_pairs("gr", "", "");
}

static void what_is_added_or_removed_has_no_partner(void **state) {
    assert_pairs("grgsg", "gxxrgsg", "a..bcde");
    assert_pairs("gxxrgsg", "grgsg", "adefg");
    assert_pairs("grgsg", "grgsgyz", "abcde..");
    assert_pairs("abcd", "xd", ".d");
}

static void a_stretch_of_equal_length_is_paired(void **state) {
    assert_pairs("grgsg", "grxsg", "abcde");
    assert_pairs("grgsg", "xrgsg", "abcde");
    assert_pairs("grgsgt", "grxysgt", "ab..def"); /* one became two: which of them? */
    assert_pairs("abcdefgh", "ijklmnop", "........");
}

/* Length of the longest common subsequence, by its table. */
static uint32_t common(sequence a, sequence b) {
    static uint32_t row[MOST + 1];
    memset(row, 0, sizeof row);
    for (uint32_t i = 0; i < a.n; i++)
        for (uint32_t j = 0, above_left = 0; j < b.n; j++) {
            uint32_t above = row[j + 1];
            if (a.v[i] == b.v[j])
                row[j + 1] = above_left + 1;
            else if (row[j] > above)
                row[j + 1] = row[j];
            above_left = above;
        }
    return row[b.n];
}

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

/* Pairs with equal items are as many as can be, in order, and nothing is paired twice. */
static void as_many_pairs_as_there_can_be(void **state) {
    static uint32_t x[MOST], y[MOST], of_b[MOST];
    uint32_t seed = 7;
    for (int round = 0; round < 200; round++) {
        arena scratch = {0};
        error err;
        uint32_t n = next_random(&seed) % 60, m = next_random(&seed) % 60, equal = 0, last = 0;
        uint32_t kinds = 1 + next_random(&seed) % 6;
        for (uint32_t i = 0; i < n; i++) x[i] = next_random(&seed) % kinds;
        for (uint32_t i = 0; i < m; i++) y[i] = next_random(&seed) % kinds;
        assert_int_equal(
            sequence_align((sequence){x, n}, (sequence){y, m}, &scratch, of_b, &err), OK);
        for (uint32_t j = 0; j < m; j++) {
            if (!of_b[j]) continue;
            assert_true(of_b[j] > last && of_b[j] <= n);
            last = of_b[j];
            equal += x[of_b[j] - 1] == y[j];
        }
        assert_int_equal(equal, common((sequence){x, n}, (sequence){y, m}));
        arena_fini(&scratch);
    }
}

/* More edits than are looked for: the third of a kind is the third of that kind. */
static void very_different_ones_are_paired_by_counting(void **state) {
    static uint32_t x[MOST], y[MOST], of_b[MOST];
    arena scratch = {0};
    error err;
    for (uint32_t i = 0; i < MOST; i++) {
        x[i] = i;
        y[i] = MOST - 1 - i;
    }
    assert_int_equal(
        sequence_align((sequence){x, MOST}, (sequence){y, MOST}, &scratch, of_b, &err), OK);
    for (uint32_t j = 0; j < MOST; j++) assert_int_equal(of_b[j], MOST - j);
    arena_fini(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_sequences_are_paired_by_place),
        cmocka_unit_test(what_is_added_or_removed_has_no_partner),
        cmocka_unit_test(a_stretch_of_equal_length_is_paired),
        cmocka_unit_test(as_many_pairs_as_there_can_be),
        cmocka_unit_test(very_different_ones_are_paired_by_counting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
