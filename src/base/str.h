/* str.h: a borrowed slice of bytes; never owns, does not have to end in NUL, may hold any
 * byte. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const char *p;
    size_t n;
} str;

#define STR(literal) ((str){(literal), sizeof(literal) - 1})
#define STR_NONE ((str){NULL, 0})
/* For printf: printf("%.*s", STR_ARG(s)). */
#define STR_ARG(s) (int)(s).n, (s).p

static inline str str_of(const char *c) {
    return (str){c, c ? strlen(c) : 0};
}
static inline str str_n(const char *p, size_t n) {
    return (str){p, n};
}
static inline bool str_eq(str a, str b) {
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
static inline bool str_starts(str s, str prefix) {
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}
static inline bool str_ends(str s, str suffix) {
    return s.n >= suffix.n &&
           (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}
static inline str str_from(str s, size_t at) {
    return at >= s.n ? (str){s.p + s.n, 0} : (str){s.p + at, s.n - at};
}

/* The number in n bytes (at most 8), the lowest first. */
static inline uint64_t read_le(const char *p, size_t n) {
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) v |= (uint64_t)(unsigned char)p[i] << 8 * i;
    return v;
}

/* Byte order; a prefix comes first. */
int str_cmp(str a, str b);
/* Compares without regard to ASCII case. */
bool str_eq_nocase(str a, str b);
/* Position of the first `needle` in `s` at or after `from`, or SIZE_MAX. */
size_t str_find(str s, str needle, size_t from);
size_t str_find_nocase(str s, str needle, size_t from);
/* What is before the first `mark`; all of it when there is none. */
str str_before(str s, str mark);
/* Takes that off the front of *rest, and the mark; nothing is left when there is none. */
str str_cut(str *rest, str mark);
/* Is any of these in it, in whatever case? */
bool str_has_any_nocase(str s, const char *const *parts, size_t n);
/* The last position of byte `c`, or SIZE_MAX. */
size_t str_rfind_byte(str s, char c);
str str_trim(str s);
/* Length of the valid UTF-8 character at s[at], or 0 when there is none (or the end). */
size_t str_utf8(str s, size_t at);
/* Whole-string decimal integer, optional sign; false when it is anything else or too large. */
bool str_to_i64(str s, int64_t *out);
/* Whole-string decimal number with optional sign, fraction and exponent, correctly rounded, in
 * one pass however long it is; false when it is anything else or too large for a double. */
bool str_to_f64(str s, double *out);

#endif
