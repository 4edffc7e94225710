/* num.h: checked narrowing, and how many. -Wconversion makes every silent cast visible; these
 * are the loud ones. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Elements of an array (not of a pointer). */
#define N_OF(array) (sizeof(array) / sizeof *(array))

/* A number that was not recorded, or not given. */
#define ABSENT_I64 INT64_MIN

/* Saturating: the nearest value of the target type. */
static inline uint32_t sat_u32(uint64_t v) {
    return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}
static inline uint16_t sat_u16(uint64_t v) {
    return v > UINT16_MAX ? UINT16_MAX : (uint16_t)v;
}
static inline int64_t sat_i64(uint64_t v) {
    return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}
static inline int32_t sat_i32(int64_t v) {
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}
/* Saturating sum and difference of times: a hostile file must not overflow. */
static inline int64_t add_i64(int64_t a, int64_t b) {
    int64_t r;
    return __builtin_add_overflow(a, b, &r) ? (b > 0 ? INT64_MAX : INT64_MIN) : r;
}
static inline int64_t sub_i64(int64_t a, int64_t b) {
    int64_t r;
    return __builtin_sub_overflow(a, b, &r) ? (b < 0 ? INT64_MAX : INT64_MIN) : r;
}
static inline uint64_t min_u64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}
static inline int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static inline int64_t max_i64(int64_t a, int64_t b) {
    return a > b ? a : b;
}
/* Mean rounded to the nearest, halves to even; 0 when n is 0. */
int64_t mean_i64(int64_t sum, int64_t n);

/* The whole part; what no int64_t holds becomes the nearest one that it does, NaN 0. */
static inline int64_t real_i64(double v) {
    if (!(v > -9.2e18)) return v < 0 ? INT64_MIN + 1 : 0;
    return v >= 9.2e18 ? INT64_MAX : (int64_t)v;
}

#endif
