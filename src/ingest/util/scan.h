/* scan.h: the inner loops of the trace-event tokenizer: words of eight bytes, and vectors of
 * sixteen where every machine of the architecture has them (base/bytes16.h; some of them on all
 * that it knows); each vector loop has a portable twin.
 *
 * All of them may read SOURCE_PAD bytes beyond `end` but never report a position beyond it. */
#ifndef INGEST_SCAN_H
#define INGEST_SCAN_H

#include "base/bytes16.h"
#include "base/num.h"
#include "base/str.h"

#ifdef __SANITIZE_THREAD__
#define SCAN_EXACT
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define SCAN_EXACT
#endif
#endif

static inline uint64_t scan_word(const char *p) {
    uint64_t w;
    memcpy(&w, p, 8);
    return w;
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "scan.h reads little-endian words"
#endif

/* Are the n bytes at p those at g? Both have SCAN_EQUAL_PAD readable bytes after them. */
#define SCAN_EQUAL_PAD 16

static inline bool scan_equal_words(const char *p, const char *g, size_t n) {
    for (; n >= 8; p += 8, g += 8, n -= 8)
        if (scan_word(p) != scan_word(g)) return false;
    return n == 0 || (scan_word(p) ^ scan_word(g)) << (64 - 8 * n) == 0;
}

#ifdef BYTES16_SAME
/* One bit for each equal byte. */
static inline uint32_t scan_equal_32(const char *p, const char *g) {
    return bytes16_same(p, g) | bytes16_same(p + 16, g + 16) << 16;
}
#endif

/* What follows the n bytes at g is read, too, and thrown away: another thread may be writing
 * the next text there. ThreadSanitizer cannot know that it does not count. */
#ifdef SCAN_EXACT
static inline bool scan_equal(const char *p, const char *g, size_t n) {
    return memcmp(p, g, n) == 0;
}
#elif defined BYTES16_SAME
static inline bool scan_equal(const char *p, const char *g, size_t n) {
    for (; n > 16; p += 16, g += 16, n -= 16)
        if (bytes16_same(p, g) != 0xFFFF) return false;
    return (~bytes16_same(p, g) & ((1u << n) - 1)) == 0;
}
#else
#define scan_equal scan_equal_words
#endif

/* The same for two that have twice SCAN_FRONT readable bytes each and differ, if they do,
 * mostly in the first ones: `front` is scan_front(n). No loop for anything up to twice as
 * many. */
#define SCAN_FRONT 32

static inline uint32_t scan_front(size_t n) {
    return n < SCAN_FRONT ? (1u << n) - 1 : UINT32_MAX;
}

#ifdef BYTES16_SAME
static inline bool scan_equal_front(const char *p, const char *g, size_t n, uint32_t front) {
    if (~scan_equal_32(p, g) & front) return false;
    if (n <= SCAN_FRONT) return true;
    p += SCAN_FRONT;
    g += SCAN_FRONT;
    n -= SCAN_FRONT;
    if (~scan_equal_32(p, g) & scan_front(n)) return false;
    return n <= SCAN_FRONT || scan_equal(p + SCAN_FRONT, g + SCAN_FRONT, n - SCAN_FRONT);
}
#else
static inline bool scan_equal_front(const char *p, const char *g, size_t n, uint32_t front) {
    (void)front;
    return scan_equal_words(p, g, n);
}
#endif

/* The same for SCAN_WIDE readable bytes: no branch for anything up to so many. */
#define SCAN_WIDE 64

static inline uint64_t scan_wide(size_t n) {
    return n < SCAN_WIDE ? (1ull << n) - 1 : UINT64_MAX;
}

#ifdef BYTES16_SAME
static inline bool scan_equal_wide(const char *p, const char *g, size_t n, uint64_t wide) {
    uint64_t low = scan_equal_32(p, g), high = scan_equal_32(p + 32, g + 32);
    if (~(low | high << 32) & wide) return false;
    return n <= SCAN_WIDE || scan_equal(p + SCAN_WIDE, g + SCAN_WIDE, n - SCAN_WIDE);
}
#else
static inline bool scan_equal_wide(const char *p, const char *g, size_t n, uint64_t wide) {
    (void)wide;
    return scan_equal_words(p, g, n);
}
#endif

/* The same for texts of any length that are nearly always equal: no branch for each word, and
 * nothing is read after them. The compiler has vectors for it on every machine. */
typedef uint64_t scan_vector __attribute__((vector_size(16)));

static inline scan_vector scan_differ_16(const char *p, const char *g) {
    scan_vector a, b;
    memcpy(&a, p, sizeof a);
    memcpy(&b, g, sizeof b);
    return a ^ b;
}

static inline scan_vector scan_differ_32(const char *p, const char *g) {
    return scan_differ_16(p, g) | scan_differ_16(p + 16, g + 16);
}

static inline bool scan_equal_long(const char *p, const char *g, size_t n) {
    if (n < 32) return scan_equal(p, g, n);
    scan_vector d = scan_differ_32(p, g) | scan_differ_32(p + n - 32, g + n - 32);
    for (size_t at = 32; at + 32 < n; at += 32) d |= scan_differ_32(p + at, g + at);
    return !(d[0] | d[1]);
}

/* High bit of every byte of w that equals c. Exact for the lowest set one, which is all we
 * use. */
WRAPS static inline uint64_t scan_match(uint64_t w, uint8_t c) {
    uint64_t x = w ^ (0x0101010101010101ull * c);
    return (x - 0x0101010101010101ull) & ~x & 0x8080808080808080ull;
}

/* First quote or backslash at or after p; `end` when there is none before it. */
static inline const char *scan_string_words(const char *p, const char *end) {
    for (; p < end; p += 8) {
        uint64_t w = scan_word(p);
        uint64_t m = scan_match(w, '"') | scan_match(w, '\\');
        if (m) {
            p += __builtin_ctzll(m) >> 3;
            return p < end ? p : end;
        }
    }
    return end;
}

#ifdef BYTES16
static inline const char *scan_string(const char *p, const char *end) {
    for (; p < end; p += 16) {
        bytes16 v = bytes16_load(p);
        uint64_t found =
            bytes16_marks(bytes16_or(bytes16_equal(v, '"'), bytes16_equal(v, '\\')));
        if (found) {
            p += bytes16_first(found);
            return p < end ? p : end;
        }
    }
    return end;
}
#else
#define scan_string scan_string_words
#endif

/* A decimal number: v / 10^digits. */
typedef struct {
    int64_t v;
    uint8_t digits; /* after the point */
    bool exact;     /* written back from v and digits it is the same text */
} scanned;

/* Value of eight digits (bytes 0 … 9), the first in the lowest byte. */
WRAPS static inline uint64_t scan_eight(uint64_t w) {
    w = w * 2561 >> 8;
    w = (w & 0x00FF00FF00FF00FFull) * 6553601 >> 16;
    return (w & 0x0000FFFF0000FFFFull) * 42949672960001ull >> 32;
}

static const uint32_t SCAN_POWER[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};

/* The eight bytes at p less '0': a digit is 0 … 9. */
static inline uint64_t scan_less_zero(const char *p) {
    return scan_word(p) ^ 0x3030303030303030ull;
}

/* The high bit of each of the eight bytes of t that is not a digit. A carry can only come from
 * a byte that is not a digit: the first of them is right. */
WRAPS static inline uint64_t scan_others(uint64_t t) {
    return ((t + 0x7676767676767676ull) | t) & 0x8080808080808080ull;
}

/* How many of the eight bytes of t are digits before the first other byte. */
static inline unsigned scan_count(uint64_t t) {
    uint64_t other = scan_others(t);
    return other ? (unsigned)__builtin_ctzll(other) >> 3 : 8;
}

/* Reads the digits at p, as many as there are up to eight: their number; the value is added to
 * *v after the digits already there (more than 19 wrap: count them). No loop over digits:
 * most numbers are one word. */
WRAPS static inline unsigned scan_digits(const char *p, uint64_t *v) {
    uint64_t t = scan_less_zero(p);
    unsigned n = scan_count(t);
    if (n == 0) return 0;
    *v = *v * SCAN_POWER[n] + scan_eight(t << (64 - 8 * n));
    return n;
}

/* The general case of scan_number: a sign, more than sixteen digits, no number at all. */
__attribute__((noinline)) static const char *scan_any_number(const char *p, const char *end,
                                                             scanned *s) {
    bool minus = *p == '-';
    p += minus;
    const char *first = p;
    uint64_t v = 0;
    unsigned n = scan_digits(p, &v), whole = n, digits = 0;
    p += n;
    while (n == 8 && whole <= 16) {
        n = scan_digits(p, &v);
        whole += n;
        p += n;
    }
    if (*p == '.') {
        p++;
        do {
            n = scan_digits(p, &v);
            digits += n;
            p += n;
        } while (__builtin_expect(n == 8 && digits <= 16, 0));
        if (digits == 0) return NULL;
    }
    if (whole == 0 || whole + digits > 19 || v > INT64_MAX || digits > 18 || p >= end)
        return NULL;
    if ((uint8_t)(*p - '0') < 10 || *p == 'e' || *p == 'E' || *p == '.') return NULL;
    s->v = minus ? -(int64_t)v : (int64_t)v;
    s->digits = (uint8_t)digits;
    s->exact = (whole == 1 || *first != '0') && !(minus && v == 0);
    return p;
}

/* Bytes that a number can go on with. */
static const bool SCAN_CONTINUES[256] = {
    ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1,
    ['7'] = 1, ['8'] = 1, ['9'] = 1, ['.'] = 1, ['e'] = 1, ['E'] = 1};

/* Reads -?digits[.digits] of at most 19 digits that fit an int64. Returns its end, or NULL when
 * it is anything else (exponent, more digits) or could go on after `end`. Up to eight digits,
 * or eight and up to eight more, are one or two words: what is after the point is moved up to
 * it. Fewer than eight before the point and up to eight after it are two words too. */
static inline __attribute__((always_inline)) const char *scan_number(const char *p,
                                                                     const char *end,
                                                                     scanned *s) {
    const char *q = p;
    uint64_t t = scan_less_zero(q), high = 0;
    unsigned n = scan_count(t), digits = 0;
    if (n == 8) {
        high = scan_eight(t);
        q += 8;
        t = scan_less_zero(q);
        n = scan_count(t);
    }
    const char *stop = q + n;
    size_t whole = (size_t)(stop - p);
    if (*stop == '.' && n < 8) {
        uint64_t fraction = scan_less_zero(stop + 1);
        digits = scan_count(fraction);
        stop += digits + 1;
        if (digits == 0) return NULL;
        if (n + digits <= 8) {
            t = (t & ((1ull << 8 * n) - 1)) | fraction << 8 * n;
            n += digits;
        } else if (q == p) {
            high = scan_eight(t << (64 - 8 * n));
            t = fraction;
            n = digits;
        } else {
            return scan_any_number(p, end, s);
        }
    }
    if (__builtin_expect(whole == 0 || stop >= end || SCAN_CONTINUES[(uint8_t)*stop], 0))
        return scan_any_number(p, end, s);
    s->v = (int64_t)(n ? high * SCAN_POWER[n] + scan_eight(t << (64 - 8 * n)) : high);
    s->digits = (uint8_t)digits;
    s->exact = whole == 1 || *p != '0';
    return stop;
}

/* Reads microseconds with one to three digits after the point and at most fifteen before it as
 * nanoseconds. Returns their end, or NULL when it is anything else: that is for scan_number. */
static inline __attribute__((always_inline)) const char *scan_micros(const char *p,
                                                                     const char *end,
                                                                     int64_t *ns) {
    uint64_t t = scan_less_zero(p), whole = 0;
    unsigned n = scan_count(t), none = n == 0;
    if (n == 8) {
        whole = scan_eight(t);
        p += 8;
        t = scan_less_zero(p);
        n = scan_count(t);
    }
    uint64_t fraction = scan_less_zero(p + n + 1);
    unsigned digits = scan_count(fraction);
    const char *stop = p + n + 1 + digits;
    if (p[n] != '.' || none || n == 8 || digits == 0 || digits > 3 || stop >= end ||
        SCAN_CONTINUES[(uint8_t)*stop])
        return NULL;
    if (n) whole = whole * SCAN_POWER[n] + scan_eight(t << (64 - 8 * n));
    fraction &= (1u << 8 * digits) - 1;
    *ns = (int64_t)(whole * 1000 + (fraction & 15) * 100 + (fraction >> 8 & 15) * 10 +
                    (fraction >> 16));
    return stop;
}

/* Reads one to seven digits, a point and one to `places` digits (seven at most) in units of
 * 10^-places. Returns the end of the digits, or NULL when it is anything else; what follows is
 * for the caller to judge. */
static inline __attribute__((always_inline)) const char *scan_fixed(const char *p,
                                                                    unsigned places,
                                                                    int64_t *v) {
    uint64_t t = scan_less_zero(p), other = scan_others(t);
    if (!other) return NULL;
    unsigned whole =
        (unsigned)__builtin_ctzll(other) - 7; /* bits of the digits before the point */
    p += whole / 8;
    uint64_t fraction = scan_less_zero(p + 1);
    if (whole == 0 || *p != '.' || !(other = scan_others(fraction))) return NULL;
    unsigned digits = (unsigned)__builtin_ctzll(other) - 7;
    if (digits == 0 || digits > 8 * places) return NULL;
    /* Zeros before and after those that are there. */
    fraction = fraction << (64 - digits) >> (64 - digits) << (64 - 8 * places);
    *v = (int64_t)(scan_eight(t << (64 - whole)) * SCAN_POWER[places] + scan_eight(fraction));
    return p + 1 + digits / 8;
}

/* p is at an opening bracket: one past the matching closing one, NULL when `end` comes
 * first. */
const char *scan_brackets(const char *p, const char *end);
/* Its portable twin; the same function where there are no vectors. */
const char *scan_brackets_bytes(const char *p, const char *end);

#endif
