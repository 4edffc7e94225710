/* scan.h: the inner loops of the trace-event tokenizer, in plain C with words of eight bytes.
 *
 * All of them may read SOURCE_PAD bytes beyond `end` but never report a position beyond it. Strings
 * in traces are short, so eight bytes at a time beat vector instructions with their set-up cost
 * (measured: 1276 against 938 MB/s). */
#ifndef INGEST_SCAN_H
#define INGEST_SCAN_H

#include "base/str.h"

static inline uint64_t scan_word(const char *p) {
    uint64_t w;
    memcpy(&w, p, 8);
    return w;
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "scan.h reads little-endian words"
#endif

/* Are the n bytes at p those at g? g is padded with zeros to a multiple of eight. */
static inline bool scan_equal(const char *p, const char *g, size_t n) {
    while (n >= 8) {
        if (scan_word(p) != scan_word(g)) return false;
        p += 8;
        g += 8;
        n -= 8;
    }
    return n == 0 || (scan_word(p) ^ scan_word(g)) << (64 - 8 * n) == 0;
}

/* High bit of every byte of w that equals c. Exact for the lowest set one, which is all we use. */
static inline uint64_t scan_match(uint64_t w, uint8_t c) {
    uint64_t x = w ^ (0x0101010101010101ull * c);
    return (x - 0x0101010101010101ull) & ~x & 0x8080808080808080ull;
}

/* First quote or backslash at or behind p; `end` when there is none before it. */
static inline const char *scan_string(const char *p, const char *end) {
    while (p < end) {
        uint64_t w = scan_word(p);
        uint64_t m = scan_match(w, '"') | scan_match(w, '\\');
        if (m) {
            p += __builtin_ctzll(m) >> 3;
            return p < end ? p : end;
        }
        p += 8;
    }
    return end;
}

/* A decimal number: v / 10^digits. */
typedef struct {
    int64_t v;
    uint8_t digits; /* behind the point */
    bool exact;     /* written back from v and digits it is the same text */
} scanned;

/* Value of eight digits, the first in the lowest byte; only called when all are digits. */
static inline uint64_t scan_eight(uint64_t w) {
    w = (w & 0x0F0F0F0F0F0F0F0Full) * 2561 >> 8;
    w = (w & 0x00FF00FF00FF00FFull) * 6553601 >> 16;
    return (w & 0x0000FFFF0000FFFFull) * 42949672960001ull >> 32;
}

static inline bool scan_all_digits(uint64_t w) {
    return ((w & 0xF0F0F0F0F0F0F0F0ull) |
            ((w + 0x0606060606060606ull) & 0xF0F0F0F0F0F0F0F0ull) >> 4) == 0x3333333333333333ull;
}

/* Reads -?digits[.digits] of at most 19 digits that fit an int64. Returns its end, or NULL when it
 * is anything else (exponent, more digits) or could go on behind `end`. */
static inline const char *scan_number(const char *p, const char *end, scanned *s) {
    bool minus = *p == '-';
    p += minus;
    const char *first = p;
    uint64_t v = 0, w = scan_word(p);
    if (scan_all_digits(w)) { /* times and addresses */
        v = scan_eight(w);
        p += 8;
    }
    while ((uint8_t)(*p - '0') < 10 && p - first < 19) v = v * 10 + (uint8_t)(*p++ - '0');
    ptrdiff_t whole = p - first;
    uint8_t digits = 0;
    if (*p == '.') {
        const char *point = ++p;
        while ((uint8_t)(*p - '0') < 10 && whole + (p - point) < 19)
            v = v * 10 + (uint8_t)(*p++ - '0');
        digits = (uint8_t)(p - point);
        if (digits == 0) return NULL;
    }
    if (whole == 0 || v > INT64_MAX || digits > 18 || p >= end) return NULL;
    if ((uint8_t)(*p - '0') < 10 || *p == 'e' || *p == 'E' || *p == '.') return NULL;
    s->v = minus ? -(int64_t)v : (int64_t)v;
    s->digits = digits;
    s->exact = (whole == 1 || *first != '0') && !(minus && v == 0);
    return p;
}

/* p is at an opening bracket: one past the matching closing one, NULL when `end` comes first. */
const char *scan_brackets(const char *p, const char *end);

#endif
