/* scan_test.c: the inner loops against slow twins, on random bytes and at every distance from the
 * end of the bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "ingest/util/scan.h"
#include "io/source.h"
#include "unit/ingest/read_helper.h"

enum { ROUNDS = 200000, MOST = 170 };

/* Random bytes of an alphabet in the middle of others of it: what is after the end must not
 * matter. Fills all of `text`. */
static void fill(char text[MOST + SOURCE_PAD], const char *alphabet, uint32_t *seed) {
    size_t n = strlen(alphabet);
    for (size_t i = 0; i < MOST + SOURCE_PAD; i++) text[i] = alphabet[next_random(seed) % n];
}

static void equal_bytes_are_equal_and_others_not(void **state) {
    uint32_t seed = 1;
    char a[MOST + SOURCE_PAD], b[MOST + SOURCE_PAD];
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = next_random(&seed) % MOST, at = next_random(&seed) % MOST;
        fill(a, "ab", &seed);
        memcpy(b, a, sizeof a);
        if (i % 2) b[at] ^= 1; /* inside or after what is compared */
        bool same = memcmp(a, b, n) == 0;
        if (scan_equal(a, b, n) != same || scan_equal_words(a, b, n) != same ||
            scan_equal_front(a, b, n, scan_front(n)) != same ||
            scan_equal_wide(a, b, n, scan_wide(n)) != same || scan_equal_long(a, b, n) != same)
            fail_msg("%zu bytes, changed at %zu", n, at);
    }
}

static const char *string_end_slowly(const char *p, const char *end) {
    while (p < end && *p != '"' && *p != '\\') p++;
    return p;
}

static void a_string_ends_at_the_first_quote_or_backslash(void **state) {
    uint32_t seed = 2;
    char text[MOST + SOURCE_PAD];
    for (int i = 0; i < ROUNDS; i++) {
        /* Neighbors of the two in the code, and bytes with the high bit, must not confuse it. */
        fill(text, i % 3 ? "abcdefghijklmno\"\\" : "!#[]\xA2\xDC\x80\xFF\x01", &seed);
        size_t from = next_random(&seed) % 20, n = from + next_random(&seed) % (MOST - from);
        const char *expected = string_end_slowly(text + from, text + n);
        assert_ptr_equal(scan_string(text + from, text + n), expected);
        assert_ptr_equal(scan_string_words(text + from, text + n), expected);
    }
}

/* -?digits[.digits] of at most 19 digits that fit, not followed by more of a number. */
static const char *number_slowly(const char *p, const char *end, scanned *s) {
    const char *start = p;
    bool minus = *p == '-', point = false;
    unsigned __int128 v = 0;
    unsigned n = 0, digits = 0;
    for (p += minus; (*p >= '0' && *p <= '9') || (*p == '.' && !point && n); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        if (++n > 19) return NULL;
        v = v * 10 + (unsigned)(*p - '0');
        digits += point;
    }
    if (n == 0 || (point && digits == 0) || digits > 18 || v > INT64_MAX || p >= end)
        return NULL;
    if (*p == 'e' || *p == 'E' || *p == '.') return NULL;
    char text[64];
    *s = (scanned){.v = minus ? -(int64_t)v : (int64_t)v, .digits = (uint8_t)digits};
    /* Exact: the usual way of writing v / 10^digits gives the same text again. */
    char body[64];
    snprintf(body, sizeof body, "%0*llu", (int)digits + 1, (unsigned long long)v);
    int whole = (int)strlen(body) - (int)digits;
    snprintf(text, sizeof text, "%s%.*s%s%s", minus && v ? "-" : "", whole, body,
             digits ? "." : "", body + whole);
    s->exact = strlen(text) == (size_t)(p - start) && memcmp(text, start, strlen(text)) == 0;
    return p;
}

/* What the quick way takes for microseconds is what the slow one reads, and it takes the usual ones. */
static void check_micros(const char *p, const char *stop, const scanned *s) {
    static const int64_t scale[] = {1000, 100, 10, 1};
    int64_t ns = 0;
    const char *x = scan_micros(p, stop ? stop + 1 : p, &ns);
    bool usual =
        stop && *p != '-' && s->digits >= 1 && s->digits <= 3 && stop - p - 1 - s->digits <= 15;
    if ((x != NULL) != usual || (x && (x != stop || ns != s->v * scale[s->digits])))
        fail_msg("%.30s: %td %lld ns", p, x ? x - p : -1, (long long)ns);
}

/* The same for numbers with a point, in their units. */
static void check_fixed(const char *p, const char *stop, const scanned *s) {
    for (unsigned places = 1; stop && places <= 7; places++) {
        int64_t v = 0;
        const char *x = scan_fixed(p, places, &v);
        bool usual =
            *p != '-' && s->digits >= 1 && s->digits <= places && stop - p - 1 - s->digits <= 7;
        if ((x != NULL) != usual ||
            (x && (x != stop || v != s->v * (int64_t)SCAN_POWER[places - s->digits])))
            fail_msg("%.30s in %u places: %td %lld", p, places, x ? x - p : -1, (long long)v);
    }
}

static void check_number(const char *p, const char *end) {
    scanned a = {0}, b = {0};
    const char *x = scan_number(p, end, &a), *y = number_slowly(p, end, &b);
    if (x != y || (x && (a.v != b.v || a.digits != b.digits || a.exact != b.exact)))
        fail_msg("%.30s: %td %lld %u %d, not %td %lld %u %d", p, x ? x - p : -1, (long long)a.v,
                 a.digits, a.exact, y ? y - p : -1, (long long)b.v, b.digits, b.exact);
    check_micros(p, y, &b);
    check_fixed(p, y, &b);
}

static void numbers_are_read_digit_by_digit(void **state) {
    uint32_t seed = 3;
    char text[MOST + SOURCE_PAD];
    for (int i = 0; i < ROUNDS; i++) {
        fill(text, i % 4 ? "0123456789" : "0123456789.,e-", &seed);
        size_t n = 1 + next_random(&seed) % 24;
        if (i % 2) text[next_random(&seed) % 12] = '.';
        if (i % 3 == 0) text[0] = '-';
        text[n] = ",}. e"[next_random(&seed) % 5];
        size_t end = next_random(&seed) % 8 ? n + 1 + next_random(&seed) % 9 : n;
        check_number(text, text + end);
    }
}

static void numbers_at_the_limits_are_read_or_refused(void **state) {
    static const char *const texts[] = {"9223372036854775807,",
                                        "9223372036854775808,",
                                        "-9223372036854775807,",
                                        "9999999999999999999,",
                                        "00,",
                                        "-0,",
                                        "-0.0,",
                                        "0.5,",
                                        "0.000000000000000001,",
                                        "0.0000000000000000001,",
                                        "12345678,",
                                        "123456789.123456789,",
                                        "1.,",
                                        ".5,",
                                        "-,",
                                        "1..2,",
                                        "1e5,",
                                        "1E5,",
                                        "1720000000000000.123,",
                                        "7}",
                                        "12345678901234567890.5,"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[MOST + SOURCE_PAD] = {0};
        memcpy(text, texts[i], strlen(texts[i]));
        check_number(text, text + strlen(texts[i]));
        check_number(text, text + strlen(texts[i]) - 1); /* it could go on */
    }
}

static void digits_are_counted_up_to_eight(void **state) {
    for (unsigned n = 0; n <= 12; n++) {
        char text[32] = "123456789012";
        text[n] = '/'; /* the byte before '0' */
        uint64_t v = 5, expected = 5;
        unsigned most = n < 8 ? n : 8;
        for (unsigned i = 0; i < most; i++)
            expected = expected * 10 + (unsigned)(text[i] - '0');
        assert_int_equal(scan_digits(text, &v), most);
        assert_int_equal(v, expected);
        text[n] = ':'; /* the byte after '9' */
        v = 5;
        assert_int_equal(scan_digits(text, &v), most);
        assert_int_equal(v, expected);
    }
}

static const char *brackets_slowly(const char *p, const char *end) {
    size_t depth = 0;
    bool quoted = false;
    for (; p < end; p++) {
        if (quoted) {
            if (*p == '\\')
                p++;
            else
                quoted = *p != '"';
        } else if (*p == '"') {
            quoted = true;
        } else if (*p == '[' || *p == '{') {
            depth++;
        } else if ((*p == ']' || *p == '}') && --depth == 0) {
            return p + 1;
        }
    }
    return NULL;
}

static void brackets_are_matched_outside_strings(void **state) {
    static const char *const alphabets[] = {"[]", "[[[]]1,", "[]{}\"x", "[]{}\"\\ab1,",
                                            "[1,2,3"};
    uint32_t seed = 4;
    char text[MOST + SOURCE_PAD];
    for (int i = 0; i < ROUNDS; i++) {
        fill(text, alphabets[i % 5], &seed);
        size_t n = 1 + next_random(&seed) % MOST;
        text[0] = "[{"[i % 2];
        const char *expected = brackets_slowly(text, text + n);
        if (scan_brackets(text, text + n) != expected ||
            scan_brackets_bytes(text, text + n) != expected)
            fail_msg("%.*s", (int)n, text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_bytes_are_equal_and_others_not),
        cmocka_unit_test(a_string_ends_at_the_first_quote_or_backslash),
        cmocka_unit_test(numbers_are_read_digit_by_digit),
        cmocka_unit_test(numbers_at_the_limits_are_read_or_refused),
        cmocka_unit_test(digits_are_counted_up_to_eight),
        cmocka_unit_test(brackets_are_matched_outside_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
