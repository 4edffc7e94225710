/* bytes16.h: sixteen bytes looked at together, where every machine of the architecture can:
 * SSE2, NEON, and the vectors of WebAssembly. BYTES16 is defined then; its users have a
 * portable version for the other machines.
 *
 * A comparison has all bits of each byte that is equal. NEON cannot make one bit of each byte
 * in one step, so there are two ways from a comparison to a number: bytes16_marks of one vector
 * has BYTES16_MARK bits for each byte, bytes16_bits of four vectors has one. Where the first
 * has one bit, too, comparing two texts so is faster than by words: BYTES16_SAME. */
#ifndef BASE_BYTES16_H
#define BASE_BYTES16_H

#include <stdint.h>

#if defined __SSE2__
#include <emmintrin.h>
#define BYTES16
#define BYTES16_MARK 1

typedef __m128i bytes16;

static inline bytes16 bytes16_load(const char *p) {
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}
static inline bytes16 bytes16_equal(bytes16 v, char c) {
    return _mm_cmpeq_epi8(v, _mm_set1_epi8(c));
}
static inline bytes16 bytes16_or(bytes16 a, bytes16 b) {
    return _mm_or_si128(a, b);
}
static inline uint64_t bytes16_marks(bytes16 found) {
    return (uint32_t)_mm_movemask_epi8(found);
}
static inline uint64_t bytes16_bits(bytes16 a, bytes16 b, bytes16 c, bytes16 d) {
    return bytes16_marks(a) | bytes16_marks(b) << 16 | bytes16_marks(c) << 32 |
           bytes16_marks(d) << 48;
}
/* Every byte with these bits set. */
static inline bytes16 bytes16_set(bytes16 v, char bits) {
    return _mm_or_si128(v, _mm_set1_epi8(bits));
}

#elif defined __ARM_NEON && defined __aarch64__
#include <arm_neon.h>
#define BYTES16
#define BYTES16_MARK 4

typedef uint8x16_t bytes16;

static inline bytes16 bytes16_load(const char *p) {
    return vld1q_u8((const uint8_t *)p);
}
static inline bytes16 bytes16_equal(bytes16 v, char c) {
    return vceqq_u8(v, vdupq_n_u8((uint8_t)c));
}
static inline bytes16 bytes16_or(bytes16 a, bytes16 b) {
    return vorrq_u8(a, b);
}
/* Half of each byte, by a shift that makes bytes of pairs of them. */
static inline uint64_t bytes16_marks(bytes16 found) {
    uint8x8_t halves = vshrn_n_u16(vreinterpretq_u16_u8(found), 4);
    return vget_lane_u64(vreinterpret_u64_u8(halves), 0);
}
/* Each byte keeps the bit of its place in eight; adding neighbors three times brings eight
 * together. */
static inline uint64_t bytes16_bits(bytes16 a, bytes16 b, bytes16 c, bytes16 d) {
    const bytes16 place = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201ull));
    bytes16 low = vpaddq_u8(vandq_u8(a, place), vandq_u8(b, place));
    bytes16 high = vpaddq_u8(vandq_u8(c, place), vandq_u8(d, place));
    bytes16 all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}
static inline bytes16 bytes16_set(bytes16 v, char bits) {
    return vorrq_u8(v, vdupq_n_u8((uint8_t)bits));
}

#elif defined __wasm_simd128__
#include <wasm_simd128.h>
#define BYTES16
#define BYTES16_MARK 1

typedef v128_t bytes16;

static inline bytes16 bytes16_load(const char *p) {
    return wasm_v128_load(p);
}
static inline bytes16 bytes16_equal(bytes16 v, char c) {
    return wasm_i8x16_eq(v, wasm_i8x16_splat((int8_t)c));
}
static inline bytes16 bytes16_or(bytes16 a, bytes16 b) {
    return wasm_v128_or(a, b);
}
static inline uint64_t bytes16_marks(bytes16 found) {
    return wasm_i8x16_bitmask(found);
}
static inline uint64_t bytes16_bits(bytes16 a, bytes16 b, bytes16 c, bytes16 d) {
    return bytes16_marks(a) | bytes16_marks(b) << 16 | bytes16_marks(c) << 32 |
           bytes16_marks(d) << 48;
}
static inline bytes16 bytes16_set(bytes16 v, char bits) {
    return wasm_v128_or(v, wasm_i8x16_splat((int8_t)bits));
}
#endif

#if defined BYTES16 && BYTES16_MARK == 1
#define BYTES16_SAME
/* One bit for each byte that is equal in both. */
static inline uint32_t bytes16_same(const char *p, const char *q) {
#ifdef __SSE2__
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes16_load(p), bytes16_load(q)));
#else
    return wasm_i8x16_bitmask(wasm_i8x16_eq(bytes16_load(p), bytes16_load(q)));
#endif
}
#endif

#ifdef BYTES16
/* Place of the first byte in marks, which are not 0. */
static inline unsigned bytes16_first(uint64_t marks) {
    return (unsigned)__builtin_ctzll(marks) / BYTES16_MARK;
}
#endif

#endif
