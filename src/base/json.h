/* json.h: small JSON, leniently: members of an object one by one as slices of the text, strings
 * decoded, damaged values made whole. The hot trace-event tokenizer is ingest/layout; it calls
 * the functions here when a byte is not what it predicted.
 *
 * Lenient means: raw control characters in strings, bad escapes, bare words (NaN, N/A),
 * trailing commas and any depth of nesting are read; each is reported so that it can be
 * counted. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"
#include "base/str.h"

/* What was met that strict JSON does not allow. */
enum {
    JSON_BAD_ESCAPE = 1,
    JSON_CONTROL = 2,
    JSON_BAD_LITERAL = 4,
    JSON_TRAILING_COMMA = 8,
    JSON_BAD_UTF8 = 16,
    JSON_TOO_DEEP = 32,
    JSON_BROKEN = 64, /* no value at all: json_normal wrote null or a string of the text */
};

static inline bool json_is_space(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}
static inline const char *json_space(const char *p, const char *end) {
    while (p < end && json_is_space(*p)) p++;
    return p;
}

/* p is after the opening quote: the closing quote, or NULL when the text ends first. */
const char *json_string_end(const char *p, const char *end);
/* p is at the first byte of a value: one past its end, or NULL when the text ends first or no
 * value starts here. Brackets are matched, strings respected, nothing else is checked. */
const char *json_value_end(const char *p, const char *end);
/* p is between two members of an object or array: one past the bracket that closes it, NULL
 * when the text ends first. */
const char *json_close(const char *p, const char *end);
/* The portable twin of json_value_end. */
const char *json_value_end_bytes(const char *p, const char *end);

/* Appends the decoded bytes of a string's inside (without quotes). Returns the flags met. */
unsigned json_decode(str inside, buf *out);
/* Appends `text` as one valid JSON value, repaired where needed. Returns the flags met. Nesting
 * beyond 1000 levels becomes a JSON string of its text. */
unsigned json_normal(str text, buf *out);
/* True when the bytes are valid UTF-8. */
bool utf8_valid(str s);

/* Walks the members of an object or array:
 *     json_iter it = json_open(text);
 *     while (json_next(&it, &key, &value)) …
 * key is the raw inside of the key's quotes (empty in an array), value its raw text (a string
 * keeps its quotes). Ends quietly at damage. */
typedef struct {
    const char *p, *end;
    bool object;
} json_iter;
json_iter json_open(str text);
bool json_next(json_iter *it, str *key, str *value);
/* The same for those who read the values themselves: stops at the first byte of a value, it->p;
 * the caller moves it->p past the value before the next call. */
bool json_key(json_iter *it, str *key);
/* The raw value of a member of an object, STR_NONE when it has none. */
str json_member(str object, str key);
/* A raw value as a number; false when it is not one. Quoted numbers count. */
bool json_i64(str value, int64_t *out);
bool json_f64(str value, double *out);
/* A raw string value without its quotes (escapes stay); any other value as it is. */
str json_text(str value);

#endif
