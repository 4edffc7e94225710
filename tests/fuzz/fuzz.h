/* fuzz.h: what the targets share. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdlib.h>

#include "base/json.h"

/* A promise that was broken: the fuzzer keeps the input. */
#define CHECK(what) \
    if (!(what)) abort()

/* ---- a judge of strict JSON that shares nothing with base/json.c; depth is bounded there ---- */

static inline const char *after_string(const char *p, const char *end) {
    for (p++; p < end && *p != '"'; p++) {
        CHECK((uint8_t)*p >= 0x20);
        if (*p == '\\') CHECK(++p < end && *p && strchr("\"\\/bfnrtu", *p));
    }
    CHECK(p < end);
    return p + 1;
}

/* One past a strict JSON value. */
static inline const char *after_value(const char *p, const char *end) {
    CHECK(p < end);
    if (*p == '"') return after_string(p, end);
    if (*p == '{' || *p == '[') {
        char close = *p == '{' ? '}' : ']';
        p = json_space(p + 1, end);
        while (p < end && *p != close) {
            if (close == '}') {
                CHECK(*p == '"');
                p = json_space(after_string(p, end), end);
                CHECK(p < end && *p++ == ':');
            }
            p = json_space(after_value(json_space(p, end), end), end);
            CHECK(p < end && (*p == ',' || *p == close));
            if (*p == ',') CHECK((p = json_space(p + 1, end)) < end && *p != close);
        }
        CHECK(p < end);
        return p + 1;
    }
    const char *word = p;
    for (; p < end && !memchr(",]}: \n", *p, 6); p++)
        CHECK(*p && strchr("+-.0123456789eEtrufalsn", *p));
    CHECK(p > word);
    return p;
}

static inline void check_strict(str json) {
    CHECK(after_value(json.p, json.p + json.n) == json.p + json.n && utf8_valid(json));
}

#endif
