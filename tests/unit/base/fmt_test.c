/* fmt_test.c: three significant digits at every border, and reading them back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/fmt.h"

static void is(buf *b, const char *want) {
    buf_add_byte(b, 0);
    assert_string_equal(b->p, want);
    buf_clear(b);
}

typedef struct {
    int64_t v;
    const char *text;
} whole;
typedef struct {
    double v;
    const char *text;
} real;
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void durations_have_three_digits(void **state) {
    static const whole cases[] = {
        {0, "0 ns"},
        {812, "812 ns"},
        {999, "999 ns"},
        {1000, "1.00 µs"},
        {1004, "1.00 µs"},
        {1005, "1.01 µs"},
        {9994, "9.99 µs"},
        {9995, "10.0 µs"},
        {15300, "15.3 µs"},
        {99949, "99.9 µs"},
        {99950, "100 µs"},
        {999499, "999 µs"},
        {999500, "1.00 ms"},
        {12500000, "12.5 ms"},
        {3210000000, "3.21 s"},
        {75300000000, "75.3 s"},
        {999499999999, "999 s"},
        {999500000000, "16.7 min"},
        {5969999999999, "99.5 min"},
        {5970000000000, "1.66 h"},
        {3600000000000 * 24, "24.0 h"},
        {3600000000000 * 1234, "1,234 h"},
        {INT64_MAX, "2,562,048 h"},
        {INT64_MIN, "-2,562,048 h"},
        {-15300, "-15.3 µs"},
        {-1, "-1 ns"},
    };
    buf b = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        fmt_duration(&b, cases[i].v);
        is(&b, cases[i].text);
    }
    buf_fini(&b);
}

static void sizes_are_powers_of_1024(void **state) {
    static const whole cases[] = {
        {0, "0 B"},
        {999, "999 B"},
        {1023, "1023 B"},
        {1024, "1.00 KiB"},
        {1536, "1.50 KiB"},
        {1500000, "1.43 MiB"},
        {24 << 20, "24.0 MiB"},
        {1023 << 10, "1,023 KiB"},
        {(1 << 20) - 1, "1.00 MiB"},
        {150109880320, "140 GiB"},
        {-2048, "-2.00 KiB"},
        {INT64_MAX, "8.00 EiB"},
        {INT64_MIN, "-8.00 EiB"},
    };
    buf b = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        fmt_bytes(&b, cases[i].v);
        is(&b, cases[i].text);
    }
    buf_fini(&b);
}

static void counts_are_grouped_by_thousands(void **state) {
    static const whole cases[] = {
        {0, "0"},          {999, "999"},
        {1000, "1,000"},   {1234567, "1,234,567"},
        {-1000, "-1,000"}, {INT64_MIN, "-9,223,372,036,854,775,808"},
    };
    buf b = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        fmt_count(&b, cases[i].v);
        is(&b, cases[i].text);
    }
    buf_fini(&b);
}

static void shares_have_one_decimal(void **state) {
    static const real cases[] = {{0, "0.0 %"},        {0.34, "34.0 %"},   {1, "100.0 %"},
                                 {0.12345, "12.3 %"}, {-0.0001, "0.0 %"}, {-0.05, "-5.0 %"},
                                 {NAN, "-"},          {INFINITY, "-"}};
    buf b = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        fmt_share(&b, cases[i].v);
        is(&b, cases[i].text);
    }
    buf_fini(&b);
}

static void reals_have_three_digits(void **state) {
    static const real cases[] = {
        {0, "0"},
        {-0.0, "0"},
        {5, "5"},
        {12, "12"},
        {1.5, "1.50"},
        {12.54, "12.5"},
        {99.96, "100"},
        {9.996, "10.0"},
        {123.4, "123"},
        {0.5, "0.500"},
        {0.9996, "1.00"},
        {0.00123, "0.00123"},
        {0.000123, "0.000123"},
        {0.00001, "1.00e-05"},
        {1234.5, "1,235"},
        {-1.5, "-1.50"},
        {1e18, "1.00e+18"},
        {NAN, "-"},
        {123456, "123,456"},
    };
    buf b = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        fmt_real(&b, cases[i].v);
        is(&b, cases[i].text);
    }
    buf_fini(&b);
}

static void rates_take_a_prefix(void **state) {
    static const struct {
        double v;
        const char *unit, *text;
    } cases[] = {{812, "", "812 /s"},
                 {0, "B", "0 B/s"},
                 {1.25e9, "B", "1.25 GB/s"},
                 {1e9, "B", "1.00 GB/s"},
                 {3.4e12, "FLOP", "3.40 TFLOP/s"},
                 {999.7, "B", "1.00 kB/s"},
                 {45.67, "", "45.7 /s"},
                 {123456, "", "123 k/s"},
                 {5e21, "B", "5,000 EB/s"},
                 {-2500, "B", "-2.50 kB/s"},
                 {NAN, "B", "-"}};
    buf b = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        fmt_rate(&b, cases[i].v, cases[i].unit);
        is(&b, cases[i].text);
    }
    buf_fini(&b);
}

static void durations_are_read_exactly(void **state) {
    static const whole cases[] = {
        {12500000, "12.5ms"},
        {3000000000, "3s"},
        {200000, "200us"},
        {200000, "200 µs"},
        {200000, "200\xCE\xBCs"},
        {800, "800ns"},
        {90000000000, "1.5min"},
        {7200000000000, "2h"},
        {0, "0"},
        {0, "0.0"},
        {500000000, ".5s"},
        {5000000000, "5.s"},
        {1234567890123456789, "1234567890.123456789s"},
        {2, "1.5ns"},
        {1, "1.4ns"},
        {333333333, "0.33333333333333333333333333333333s"},
        {INT64_MAX, "9223372036854775807ns"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t v = -1;
        assert_true(fmt_parse_duration(str_of(cases[i].text), &v));
        assert_int_equal(v, cases[i].v);
    }
}

static void what_is_not_a_duration_is_refused(void **state) {
    static const char *const bad[] = {"",
                                      "5",
                                      "ms",
                                      ".ms",
                                      "1..5s",
                                      "1.2.3s",
                                      "-5ms",
                                      "+5ms",
                                      "5 m s",
                                      "5MS",
                                      "5sec",
                                      "1e3s",
                                      "9223372036854775808ns",
                                      "99999999999999999999s",
                                      "9223372037s",
                                      "5ms x",
                                      " 5ms",
                                      "0x5s"};
    int64_t v = 42;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_false(fmt_parse_duration(str_of(bad[i]), &v));
        assert_int_equal(v, 42);
    }
}

static void sizes_are_read_in_both_powers(void **state) {
    static const whole cases[] = {
        {4000000000, "4G"},
        {512000000, "512M"},
        {1500000000, "1.5GB"},
        {64000, "64k"},
        {64000, "64 kB"},
        {100, "100"},
        {100, "100B"},
        {4294967296, "4GiB"},
        {536870912, "512Mi"},
        {536870912, "512mib"},
        {2000000000000, "2T"},
        {1536, "1.5KiB"},
        {0, "0"},
        {5000000000000000, "5P"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t v = -1;
        assert_true(fmt_parse_bytes(str_of(cases[i].text), &v));
        assert_int_equal(v, cases[i].v);
    }
    static const char *const bad[] = {"",    "G",      "4X",  "4GX",   "4iB", "4GBB",
                                      "-4G", "10000P", "4GG", "4 G B", "."};
    int64_t v = 42;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_false(fmt_parse_bytes(str_of(bad[i]), &v));
        assert_int_equal(v, 42);
    }
}

static void assert_safe(const char *text, const char *keep, const char *wanted) {
    buf b = {0};
    fmt_safe(&b, str_of(text), keep);
    buf_add_byte(&b, '\0');
    assert_string_equal(b.p, wanted);
    buf_fini(&b);
}

static void control_characters_are_written_out(void **state) {
    assert_safe("a\033]8;;x\007b", "", "a\\x1b]8;;x\\x07b");
    assert_safe("a\nb\tc\x7f", "\n\t", "a\nb\tc\\x7f");
    assert_safe("\xc2\x9b!\xe2\x80\xae!", "", "\\x9b!\\u202e!");
    /* Another direction, a space without width, a mark of bytes, a tag: none is seen. */
    assert_safe("\xd8\x9c!\xe2\x80\x8b!\xef\xbb\xbf!\xf3\xa0\x81\x81", "",
                "\\u061c!\\u200b!\\ufeff!\\U000e0041");
    assert_safe("\x9b!\xff", "", "\\x9b!\xff"); /* not UTF-8 */
    assert_safe("矩阵 µs │ \xf0\x9f\x98\x80", "", "矩阵 µs │ \xf0\x9f\x98\x80");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_written_out),
        cmocka_unit_test(durations_have_three_digits),
        cmocka_unit_test(sizes_are_powers_of_1024),
        cmocka_unit_test(counts_are_grouped_by_thousands),
        cmocka_unit_test(shares_have_one_decimal),
        cmocka_unit_test(reals_have_three_digits),
        cmocka_unit_test(rates_take_a_prefix),
        cmocka_unit_test(durations_are_read_exactly),
        cmocka_unit_test(what_is_not_a_duration_is_refused),
        cmocka_unit_test(sizes_are_read_in_both_powers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
