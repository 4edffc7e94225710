/* str.c: searching, comparing and reading numbers in slices of bytes.
 *
 * Everything works on bytes and knows only ASCII case and white space, so the answer never
 * depends on the locale. Numbers are read whole: a slice that is not entirely a number is not
 * one.
 *
 * str_to_f64 hands strtod a text it has put together itself: digits, an exponent and no point.
 * That way the locale's decimal comma cannot matter, slices need no NUL, and a number of a
 * million digits costs one pass over it. 768 significant digits decide the rounding of any
 * double; all digits after them only say whether the rest was zero, so a single 1 stands for
 * them. */
#include "base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_DIGITS 768

int str_cmp(str a, str b) {
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    if (c) return c;
    return a.n < b.n ? -1 : a.n > b.n;
}

static inline unsigned char to_lower(char c) {
    unsigned char u = (unsigned char)c;
    return (unsigned char)(u - 'A') < 26 ? (unsigned char)(u + 32) : u;
}

static bool eq_nocase(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (to_lower(a[i]) != to_lower(b[i])) return false;
    }
    return true;
}

bool str_eq_nocase(str a, str b) {
    return a.n == b.n && eq_nocase(a.p, b.p, a.n);
}

size_t str_find(str s, str needle, size_t from) {
    if (from > s.n || needle.n > s.n - from) return SIZE_MAX;
    if (needle.n == 0) return from;
    const char *hit = memmem(s.p + from, s.n - from, needle.p, needle.n);
    return hit ? (size_t)(hit - s.p) : SIZE_MAX;
}

str str_cut(str *rest, str mark) {
    str all = *rest;
    size_t at = str_find(all, mark, 0);
    *rest = at == SIZE_MAX ? STR_NONE : str_from(all, at + mark.n);
    return at == SIZE_MAX ? all : str_n(all.p, at);
}

str str_before(str s, str mark) {
    return str_cut(&s, mark);
}

size_t str_find_nocase(str s, str needle, size_t from) {
    if (from > s.n || needle.n > s.n - from) return SIZE_MAX;
    if (needle.n == 0) return from;
    unsigned char first = to_lower(needle.p[0]);
    for (size_t i = from; i <= s.n - needle.n; i++) {
        if (to_lower(s.p[i]) == first && eq_nocase(s.p + i, needle.p, needle.n)) return i;
    }
    return SIZE_MAX;
}

bool str_has_any_nocase(str s, const char *const *parts, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (str_find_nocase(s, str_of(parts[i]), 0) != SIZE_MAX) return true;
    return false;
}

size_t str_rfind_byte(str s, char c) {
    const char *hit = s.n ? memrchr(s.p, c, s.n) : NULL;
    return hit ? (size_t)(hit - s.p) : SIZE_MAX;
}

static inline bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

str str_trim(str s) {
    while (s.n && is_space(s.p[0])) s = str_from(s, 1);
    while (s.n && is_space(s.p[s.n - 1])) s.n--;
    return s;
}

size_t str_utf8(str s, size_t at) {
    if (at >= s.n) return 0;
    const unsigned char *p = (const unsigned char *)s.p + at;
    size_t left = s.n - at;
    if (p[0] < 0x80) return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4) return 0;
    size_t n = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (left < n) return 0;
    /* The second byte also rules out overlong forms, surrogates and values over U+10FFFF. */
    unsigned low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
    unsigned high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
    if (p[1] < low || p[1] > high) return 0;
    for (size_t i = 2; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
    }
    return n;
}

static inline bool is_digit(char c) {
    return (unsigned char)(c - '0') < 10;
}

bool str_to_i64(str s, int64_t *out) {
    size_t i = 0;
    bool minus = s.n && s.p[0] == '-';
    if (s.n && (s.p[0] == '-' || s.p[0] == '+')) i = 1;
    if (i == s.n) return false;
    int64_t v = 0; /* gathered as a negative number: its range is larger by one */
    for (; i < s.n; i++) {
        if (!is_digit(s.p[i])) return false;
        if (__builtin_mul_overflow(v, 10, &v)) return false;
        if (__builtin_sub_overflow(v, s.p[i] - '0', &v)) return false;
    }
    if (!minus && v == INT64_MIN) return false;
    *out = minus ? v : -v;
    return true;
}

/* The parts of a decimal number: digits × 10^exponent. */
typedef struct {
    char text[MAX_DIGITS + 32]; /* sign, digits; the exponent is put after them for strtod */
    size_t n;                   /* characters in text */
    size_t n_digits;            /* significant digits kept */
    int64_t exponent;
    bool any, rest; /* a digit was seen; one after the kept ones was not zero */
} decimal;

static void add_digit(decimal *d, char c, bool after_point) {
    d->any = true;
    if (d->n_digits == 0 && c == '0') {
        d->exponent -= after_point; /* a leading zero only moves the point */
        return;
    }
    if (d->n_digits < MAX_DIGITS) {
        d->text[d->n++] = c;
        d->n_digits++;
        d->exponent -= after_point;
        return;
    }
    d->rest |= c != '0';
    d->exponent += !after_point;
}

/* Reads "e+12" at s[i…]; false when there is something else. Huge exponents saturate. */
static bool read_exponent(str s, size_t i, int64_t *exponent) {
    if (s.p[i] != 'e' && s.p[i] != 'E') return false;
    i++;
    bool minus = i < s.n && s.p[i] == '-';
    if (i < s.n && (s.p[i] == '-' || s.p[i] == '+')) i++;
    if (i == s.n) return false;
    int64_t e = 0;
    for (; i < s.n; i++) {
        if (!is_digit(s.p[i])) return false;
        if (e < INT64_MAX / 32) e = e * 10 + (s.p[i] - '0');
    }
    *exponent += minus ? -e : e;
    return true;
}

bool str_to_f64(str s, double *out) {
    decimal d;
    d.n = d.n_digits = 0;
    d.exponent = 0;
    d.any = d.rest = false;
    size_t i = 0;
    if (s.n && (s.p[0] == '-' || s.p[0] == '+')) {
        if (s.p[0] == '-') d.text[d.n++] = '-';
        i = 1;
    }
    for (; i < s.n && is_digit(s.p[i]); i++) add_digit(&d, s.p[i], false);
    if (i < s.n && s.p[i] == '.') {
        for (i++; i < s.n && is_digit(s.p[i]); i++) add_digit(&d, s.p[i], true);
    }
    if (!d.any || (i < s.n && !read_exponent(s, i, &d.exponent))) return false;
    if (d.n_digits == 0) d.text[d.n++] = '0';
    if (d.rest) {
        d.text[d.n++] = '1';
        d.exponent--;
    }
    /* Nothing beyond ±99999 can come back into range with 769 digits. */
    int64_t e = d.exponent > 99999 ? 99999 : d.exponent < -99999 ? -99999 : d.exponent;
    snprintf(d.text + d.n, sizeof d.text - d.n, "e%d", (int)e);
    double v = strtod(d.text, NULL);
    if (!isfinite(v)) return false;
    *out = v;
    return true;
}
