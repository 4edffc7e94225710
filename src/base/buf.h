/* buf.h: the one growable byte buffer, for writing. A failed growth sets `failed`, further
 * writes do nothing: check once at the end with buf_ok. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/str.h"

typedef struct {
    char *p;
    size_t n, cap;
    bool failed;
} buf;

void buf_fini(buf *b);
static inline void buf_clear(buf *b) {
    b->n = 0;
}
static inline bool buf_ok(const buf *b) {
    return !b->failed;
}
static inline str buf_str(const buf *b) {
    return (str){b->p, b->n};
}
/* Room for n more bytes; false when there is none. */
bool buf_reserve(buf *b, size_t n);
void buf_add(buf *b, const void *p, size_t n);
void buf_add_str(buf *b, str s);
void buf_add_cstr(buf *b, const char *s);
void buf_add_byte(buf *b, char c);
/* A character as UTF-8; c is below 0x110000. */
void buf_add_utf8(buf *b, uint32_t c);
void buf_add_repeat(buf *b, char c, size_t n);
void buf_add_i64(buf *b, int64_t v);
void buf_add_u64(buf *b, uint64_t v);
void buf_printf(buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* s as a JSON string with quotes; invalid UTF-8 becomes U+FFFD. */
void buf_add_json(buf *b, str s);
/* The shortest decimal that reads back as v (JSON number; null for NaN and infinities). */
void buf_add_f64(buf *b, double v);

#endif
