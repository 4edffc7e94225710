/* str_test.c: searching, comparing and number reading, with slices that do not end in NUL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"

static void order_is_by_bytes_and_a_prefix_comes_first(void **state) {
    assert_true(str_cmp(STR("a"), STR("b")) < 0);
    assert_true(str_cmp(STR("ab"), STR("a")) > 0);
    assert_true(str_cmp(STR("\xFF"), STR("a")) > 0);
    assert_true(str_cmp(STR("a\0b"), STR("a\0c")) < 0);
    assert_int_equal(str_cmp(STR("same"), STR("same")), 0);
    assert_int_equal(str_cmp(STR_NONE, STR("")), 0);
    assert_true(str_cmp(STR_NONE, STR("a")) < 0);
}

static void case_is_ignored_for_ascii_letters_only(void **state) {
    assert_true(str_eq_nocase(STR("AbZ19"), STR("aBz19")));
    assert_false(str_eq_nocase(STR("a"), STR("ab")));
    assert_false(str_eq_nocase(STR("@"), STR("`"))); /* neighbors of A and a */
    assert_false(str_eq_nocase(STR("["), STR("{")));
    assert_false(str_eq_nocase(STR("\xC4"), STR("\xE4")));
}

static void find_gives_the_first_place_at_or_after(void **state) {
    str s = STR("abcabc");
    assert_int_equal(str_find(s, STR("bc"), 0), 1);
    assert_int_equal(str_find(s, STR("bc"), 2), 4);
    assert_int_equal(str_find(s, STR("bc"), 5), SIZE_MAX);
    assert_int_equal(str_find(s, STR("abcabcd"), 0), SIZE_MAX);
    assert_int_equal(str_find(s, STR(""), 6), 6);
    assert_int_equal(str_find(s, STR(""), 7), SIZE_MAX);
    assert_int_equal(str_find(STR_NONE, STR("x"), 0), SIZE_MAX);
    assert_int_equal(str_find(str_n("abc", 2), STR("bc"), 0), SIZE_MAX);
    assert_int_equal(str_find_nocase(STR("xxABc"), STR("abC"), 0), 2);
    assert_int_equal(str_find_nocase(STR("xxABc"), STR("abC"), 3), SIZE_MAX);
    assert_int_equal(str_find_nocase(STR("ab"), STR(""), 1), 1);
}

static void cut_takes_what_is_before_a_mark_and_the_mark(void **state) {
    str rest = STR("a::bc::");
    assert_true(str_eq(str_cut(&rest, STR("::")), STR("a")));
    assert_true(str_eq(rest, STR("bc::")));
    assert_true(str_eq(str_cut(&rest, STR("::")), STR("bc")));
    assert_int_equal(rest.n, 0);
    assert_non_null(rest.p); /* an empty text follows the last mark */
    rest = STR("all");
    assert_true(str_eq(str_cut(&rest, STR("::")), STR("all")));
    assert_null(rest.p);
    assert_true(str_eq(str_before(STR("run.pt"), STR(".")), STR("run")));
    assert_true(str_eq(str_before(STR("run"), STR(".")), STR("run")));
}

static void rfind_gives_the_last_place(void **state) {
    assert_int_equal(str_rfind_byte(STR("a/b/c"), '/'), 3);
    assert_int_equal(str_rfind_byte(STR("abc"), '/'), SIZE_MAX);
    assert_int_equal(str_rfind_byte(STR_NONE, '/'), SIZE_MAX);
}

static void trim_takes_white_space_from_both_ends(void **state) {
    assert_true(str_eq(str_trim(STR(" \t\r\n a b \v\f")), STR("a b")));
    assert_int_equal(str_trim(STR("   ")).n, 0);
    assert_int_equal(str_trim(STR("")).n, 0);
}

static void valid_utf8_has_a_length_and_anything_else_has_none(void **state) {
    assert_int_equal(str_utf8(STR("a"), 0), 1);
    assert_int_equal(str_utf8(STR("\xC2\xB5"), 0), 2);
    assert_int_equal(str_utf8(STR("x\xE4\xB8\xAD"), 1), 3);
    assert_int_equal(str_utf8(STR("\xF0\x9F\x98\x80"), 0), 4);
    assert_int_equal(str_utf8(STR("\xF4\x8F\xBF\xBF"), 0), 4);
    static const char *const bad[] = {
        "\x80",             /* continuation alone */
        "\xC0\x80",         /* overlong */
        "\xC1\xBF",         /* overlong */
        "\xE0\x9F\xBF",     /* overlong */
        "\xF0\x8F\xBF\xBF", /* overlong */
        "\xED\xA0\x80",     /* surrogate */
        "\xF4\x90\x80\x80", /* beyond U+10FFFF */
        "\xF5\x80\x80\x80", /* beyond U+10FFFF */
        "\xE4\xB8",         /* cut */
        "\xE4\xB8x",        /* broken */
        "\xF0\x9F\x98x",    /* broken */
        "\xFF",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(str_utf8(str_of(bad[i]), 0), 0);
    assert_int_equal(str_utf8(STR("a"), 1), 0);
}

static void integers_are_read_to_their_limits(void **state) {
    int64_t v = 7;
    assert_true(str_to_i64(STR("9223372036854775807"), &v) && v == INT64_MAX);
    assert_true(str_to_i64(STR("-9223372036854775808"), &v) && v == INT64_MIN);
    assert_true(str_to_i64(STR("+12"), &v) && v == 12);
    assert_true(str_to_i64(STR("-0"), &v) && v == 0);
    assert_true(str_to_i64(STR("00012"), &v) && v == 12);
    assert_true(str_to_i64(str_n("123456", 3), &v) && v == 123);
}

static void what_is_not_an_integer_leaves_the_output_alone(void **state) {
    static const char *const bad[] = {"",
                                      "-",
                                      "+",
                                      "1 ",
                                      " 1",
                                      "1.0",
                                      "1e3",
                                      "0x1",
                                      "--1",
                                      "12a",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999999999"};
    int64_t v = 7;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(str_to_i64(str_of(bad[i]), &v));
        assert_int_equal(v, 7);
    }
}

static double read_f64(const char *text) {
    double v = -12345;
    if (!str_to_f64(str_of(text), &v)) fail_msg("%s is a number", text);
    return v;
}

static void reals_are_rounded_as_the_c_library_does(void **state) {
    static const char *const good[] = {
        "0",
        "1",
        "-1",
        "+1",
        "1.5",
        "-0.25",
        ".5",
        "5.",
        "1e3",
        "1E+3",
        "1e-3",
        "12.5e1",
        "0.1",
        "123456789012345678901234567890",
        "1.7976931348623157e308",
        "4.9e-324",
        "2e-324",
        "1e-400",
        "0e999999999999",
        "2.2250738585072011e-308",
        "9007199254740993",
        "9007199254740993.00000000000000000000000000000000000001",
        "0.000000000000000000001e21",
        "1000000000000000000000000000e-27",
        "8.5",
        "1e22",
        "1e23",
        "0.30000000000000004"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(read_f64(good[i]) == strtod(good[i], NULL));
    assert_true(signbit(read_f64("-0")));
}

static void random_reals_are_rounded_as_the_c_library_does(void **state) {
    uint64_t x = 88172645463325252U;
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        double d;
        memcpy(&d, &x, sizeof d);
        if (!isfinite(d)) continue;
        char text[64];
        snprintf(text, sizeof text, "%.*e", (int)(x % 20), d);
        double want = strtod(text, NULL), got;
        if (!isfinite(want)) continue;
        assert_true(str_to_f64(str_of(text), &got));
        assert_memory_equal(&got, &want, sizeof got);
    }
}

static void a_number_of_thousands_of_digits_is_still_right(void **state) {
    static char text[5000];
    /* 2^53 + 1 exactly between two doubles; a far away 1 decides. */
    size_t n = (size_t)snprintf(text, sizeof text, "9007199254740993.");
    memset(text + n, '0', 4000);
    assert_true(read_f64(text) == 9007199254740992.0);
    text[n + 3999] = '1';
    assert_true(read_f64(text) == 9007199254740994.0);
    memset(text, '9', 400);
    text[400] = 0;
    double v = 3;
    assert_false(str_to_f64(str_of(text), &v)); /* too large */
    assert_true(v == 3);
    memset(text, '0', sizeof text - 1);
    text[1] = '.';
    text[sizeof text - 2] = '1';
    assert_true(read_f64(text) == 0);
    memcpy(text + sizeof text - 6, "1e4995", 6); /* not terminated: the slice has a length */
    assert_true(str_to_f64(str_n(text, sizeof text), &v));
    assert_true(v == 100); /* 4993 zeros and a 1 after the point */
}

static void what_is_not_a_real_is_refused(void **state) {
    static const char *const bad[] = {"",
                                      "-",
                                      ".",
                                      "e5",
                                      "1e",
                                      "1e+",
                                      "1.2.3",
                                      "1,5",
                                      " 1",
                                      "1 ",
                                      "nan",
                                      "inf",
                                      "0x10",
                                      "1e5x",
                                      "--1",
                                      "1e400",
                                      "1e99999999999999999999"};
    double v = 3;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(str_to_f64(str_of(bad[i]), &v));
        assert_true(v == 3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_by_bytes_and_a_prefix_comes_first),
        cmocka_unit_test(case_is_ignored_for_ascii_letters_only),
        cmocka_unit_test(find_gives_the_first_place_at_or_after),
        cmocka_unit_test(cut_takes_what_is_before_a_mark_and_the_mark),
        cmocka_unit_test(rfind_gives_the_last_place),
        cmocka_unit_test(trim_takes_white_space_from_both_ends),
        cmocka_unit_test(valid_utf8_has_a_length_and_anything_else_has_none),
        cmocka_unit_test(integers_are_read_to_their_limits),
        cmocka_unit_test(what_is_not_an_integer_leaves_the_output_alone),
        cmocka_unit_test(reals_are_rounded_as_the_c_library_does),
        cmocka_unit_test(random_reals_are_rounded_as_the_c_library_does),
        cmocka_unit_test(a_number_of_thousands_of_digits_is_still_right),
        cmocka_unit_test(what_is_not_a_real_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
