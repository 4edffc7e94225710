/* buf.c: the growable byte buffer and the small writers everything textual is made of.
 *
 * Capacity doubles, and grows by a quarter where it is large: such a buffer mostly holds a
 * whole file, and counts against the limit for reading like a mapping. A growth that fails sets
 * `failed` and leaves the content as it was; from then on every write does nothing, so a writer
 * of many pieces checks once, at the end.
 *
 * Numbers are written without printf where it matters: integers by hand, two digits at a time,
 * and doubles that hold an integer by the same way. Other doubles try 15, 16 and 17 digits and
 * take the first that reads back as the same value.
 *
 * JSON strings copy runs of harmless bytes at once; the table below says which bytes stop a
 * run. */
#include "base/buf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/mem_int.h"
#include "base/num.h"

#define FIRST_CAPACITY ((size_t)256)
#define DOUBLING_UP_TO ((size_t)64 << 20)
#define COUNTED_FROM ((size_t)1 << 20)

static size_t counted_bytes(size_t cap) {
    return cap >= COUNTED_FROM ? cap : 0;
}

void buf_fini(buf *b) {
    mem_free(b->p);
    if (counted_bytes(b->cap)) mem_count(sub_i64(0, (int64_t)b->cap));
    *b = (buf){0};
}

bool buf_reserve(buf *b, size_t n) {
    if (b->failed) return false;
    if (n <= b->cap - b->n) return true;
    size_t need, cap = b->cap ? b->cap : FIRST_CAPACITY;
    if (__builtin_add_overflow(b->n, n, &need) || need > SIZE_MAX / 4) {
        b->failed = true;
        return false;
    }
    while (cap < need) cap += cap < DOUBLING_UP_TO ? cap : cap / 4;
    size_t more = counted_bytes(cap) - counted_bytes(b->cap);
    char *p = !more || mem_fits(more) ? mem_grow(b->p, cap) : NULL;
    if (!p) {
        b->failed = true;
        return false;
    }
    if (more) mem_count((int64_t)more);
    b->p = p;
    b->cap = cap;
    return true;
}

void buf_add(buf *b, const void *p, size_t n) {
    if (!buf_reserve(b, n) || !n) return;
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

void buf_add_str(buf *b, str s) {
    buf_add(b, s.p, s.n);
}

void buf_add_cstr(buf *b, const char *s) {
    buf_add(b, s, strlen(s));
}

void buf_add_byte(buf *b, char c) {
    if (buf_reserve(b, 1)) b->p[b->n++] = c;
}

void buf_add_repeat(buf *b, char c, size_t n) {
    if (!buf_reserve(b, n) || !n) return;
    memset(b->p + b->n, c, n);
    b->n += n;
}

void buf_add_utf8(buf *b, uint32_t c) {
    static const uint8_t FIRST[] = {0, 0, 0xc0, 0xe0, 0xf0};
    unsigned n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    buf_add_byte(b, (char)(FIRST[n] | c >> 6 * (n - 1)));
    while (--n > 0) buf_add_byte(b, (char)(0x80 | (c >> 6 * (n - 1) & 0x3f)));
}

void buf_add_u64(buf *b, uint64_t v) {
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    char text[20];
    size_t at = sizeof text;
    for (; v >= 100; v /= 100) {
        at -= 2;
        memcpy(text + at, pairs + v % 100 * 2, 2);
    }
    if (v >= 10) {
        at -= 2;
        memcpy(text + at, pairs + v * 2, 2);
    } else {
        text[--at] = (char)('0' + v);
    }
    buf_add(b, text + at, sizeof text - at);
}

void buf_add_i64(buf *b, int64_t v) {
    if (v < 0) {
        if (!buf_reserve(b, 20)) return; /* all of the number or nothing */
        buf_add_byte(b, '-');
    }
    buf_add_u64(b, abs_u64(v));
}

void buf_printf(buf *b, const char *format, ...) {
    va_list values, again;
    if (!buf_reserve(b, 1)) return;
    va_start(values, format);
    va_copy(again, values);
    int n = vsnprintf(b->p + b->n, b->cap - b->n, format, values);
    va_end(values);
    if (n < 0) {
        b->failed = true;
    } else if ((size_t)n < b->cap - b->n) {
        b->n += (size_t)n;
    } else if (buf_reserve(b, (size_t)n + 1)) {
        vsnprintf(b->p + b->n, (size_t)n + 1, format, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

/* What ends a run of bytes that stand for themselves: '"', '\\', control bytes, non-ASCII. */
static inline bool stops_run(unsigned char c) {
    return c < 0x20 || c >= 0x80 || c == '"' || c == '\\';
}

static void add_escaped(buf *b, unsigned char c) {
    static const char letters[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    char letter = c < 0x20 ? letters[c] : (char)c;
    if (letter) {
        buf_add(b, (char[2]){'\\', letter}, 2);
    } else {
        static const char hex[] = "0123456789abcdef";
        buf_add(b, (char[6]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6);
    }
}

/* Bytes of a broken sequence that one U+FFFD replaces: its longest prefix that could have begun
 * a character, as Unicode recommends, so other readers show as many of them as we do. */
static size_t broken_length(str s, size_t at) {
    static const char tails[] = "\x80\x80\x80";
    char tried[4] = {s.p[at]};
    size_t n = 1;
    for (; n < 4 && at + n < s.n; n++) {
        tried[n] = s.p[at + n];
        char whole[4];
        memcpy(whole, tried, sizeof whole);
        memcpy(whole + n + 1, tails, 3 - n);
        size_t length = str_utf8(str_n(whole, 4), 0);
        if (length <= n) break;
    }
    return n;
}

void buf_add_json(buf *b, str s) {
    buf_add_byte(b, '"');
    for (size_t i = 0; i < s.n;) {
        size_t from = i;
        while (i < s.n && !stops_run((unsigned char)s.p[i])) i++;
        buf_add(b, s.p + from, i - from);
        if (i == s.n) break;
        if ((unsigned char)s.p[i] < 0x80) {
            add_escaped(b, (unsigned char)s.p[i++]);
            continue;
        }
        size_t n = str_utf8(s, i);
        if (n) {
            buf_add(b, s.p + i, n);
            i += n;
        } else {
            buf_add(b, "\xEF\xBF\xBD", 3);
            i += broken_length(s, i);
        }
    }
    buf_add_byte(b, '"');
}

void buf_add_f64(buf *b, double v) {
    if (!isfinite(v)) {
        buf_add_cstr(b, "null");
        return;
    }
    /* Up to 15 digits every integer is exact and no shorter form exists without an exponent. */
    if (fabs(v) < 1e15 && v == (double)(int64_t)v && !(v == 0 && signbit(v))) {
        buf_add_i64(b, (int64_t)v);
        return;
    }
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v) break;
    }
    buf_add_cstr(b, text);
}
