/* num.h: checked narrowing, and how many. -Wconversion makes every silent cast visible; these
 * are the loud ones. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Elements of an array (not of a pointer). */
#define N_OF(array) (sizeof(array) / sizeof *(array))

/* A function that wraps around on purpose: a hash, a codec, a comparison of ranges. All other
 * arithmetic that wraps, and all that is cut by a conversion, is a finding of the builds for
 * fuzzing (VARIANT=integer, VARIANT=fuzz). It applies to the whole function, so keep that
 * small. */
#ifdef __clang__
#define WRAPS __attribute__((no_sanitize("integer")))
#else
#define WRAPS
#endif

/* for (uint32_t i = n; COUNT_DOWN(i);): n - 1 … 0; i-- > 0 would wrap at the end. */
#define COUNT_DOWN(i) ((i) > 0 && ((i)--, true))

/* A number that was not recorded, or not given. */
#define ABSENT_I64 INT64_MIN

/* Saturating: the nearest value of the target type. */
static inline uint32_t sat_u32(uint64_t v) {
    return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}
static inline uint16_t sat_u16(uint64_t v) {
    return v > UINT16_MAX ? UINT16_MAX : (uint16_t)v;
}
/* A size of memory, which has 32 bits in WebAssembly: more than it can hold is refused there as
 * what there is no room for. */
static inline size_t sat_size(uint64_t v) {
    return v > SIZE_MAX ? SIZE_MAX : (size_t)v;
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
static inline int64_t mul_i64(int64_t a, int64_t b) {
    int64_t r;
    return __builtin_mul_overflow(a, b, &r) ? ((a < 0) == (b < 0) ? INT64_MAX : INT64_MIN) : r;
}
/* A time of a clock or of a file system, which may be any. */
static inline int64_t seconds_ns(int64_t seconds, int64_t ns) {
    return add_i64(mul_i64(seconds, 1000000000), ns);
}
/* The same of counts and sizes. */
static inline uint64_t add_u64(uint64_t a, uint64_t b) {
    uint64_t r;
    return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}
static inline uint64_t mul_u64(uint64_t a, uint64_t b) {
    uint64_t r;
    return __builtin_mul_overflow(a, b, &r) ? UINT64_MAX : r;
}
/* Without its sign; all of them have one. */
static inline uint64_t abs_u64(int64_t v) {
    return v < 0 ? (uint64_t)(-(v + 1)) + 1 : (uint64_t)v;
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
/* The nearest whole number, halves away from zero; limits as above. */
static inline int64_t round_i64(double v) {
    return real_i64(__builtin_round(v));
}

#endif
