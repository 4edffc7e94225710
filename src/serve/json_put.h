/* json_put.h: small JSON, written member by member. */
#ifndef SERVE_JSON_PUT_H
#define SERVE_JSON_PUT_H

#include "analyse/analysis.h"
#include "base/buf.h"

/* "key": with a comma before it when something is there already. */
static inline void put_key(buf *b, const char *key) {
    char last = b->n ? b->p[b->n - 1] : '{';
    if (last != '{' && last != '[') buf_add_byte(b, ',');
    buf_add_json(b, str_of(key));
    buf_add_byte(b, ':');
}
static inline void put_comma(buf *b) {
    char last = b->n ? b->p[b->n - 1] : '[';
    if (last != '[' && last != '{' && last != ':') buf_add_byte(b, ',');
}
static inline void put_text(buf *b, const char *key, str value) {
    put_key(b, key);
    buf_add_json(b, value);
}
static inline void put_text_or_null(buf *b, const char *key, str value) {
    put_key(b, key);
    if (value.n)
        buf_add_json(b, value);
    else
        buf_add_cstr(b, "null");
}
static inline void put_int(buf *b, const char *key, int64_t value) {
    put_key(b, key);
    buf_add_i64(b, value);
}
/* Unix times and addresses exceed 2^53. */
static inline void put_big(buf *b, const char *key, int64_t value) {
    put_key(b, key);
    if (value == ABSENT_I64)
        buf_add_cstr(b, "null");
    else
        buf_printf(b, "\"%lld\"", (long long)value);
}
static inline void put_real(buf *b, const char *key, double value) {
    put_key(b, key);
    buf_add_f64(b, value);
}
static inline void put_bool(buf *b, const char *key, bool value) {
    put_key(b, key);
    buf_add_cstr(b, value ? "true" : "false");
}
/* Left out when it was not recorded. */
static inline void put_known(buf *b, const char *key, int64_t value) {
    if (value != ABSENT_I64) put_int(b, key, value);
}

#endif
