/* scan.c: the end of a bracketed value. Brackets inside strings do not count; which bracket
 * closes which is not checked here (json_normal does that once for every distinct text). */
#include "ingest/util/scan.h"

#include "base/json.h"

/* What a byte means to the bracket counter: nothing, open, close, quote. */
static const uint8_t MEANING[256] = {['['] = 1, ['{'] = 1, [']'] = 2, ['}'] = 2, ['"'] = 3};

/* Continues from p with `depth` brackets open. */
static const char *count_bytes(const char *p, const char *end, size_t depth) {
    while (p < end) {
        uint8_t meaning = MEANING[(uint8_t)*p++];
        if (__builtin_expect(meaning == 0, 1)) continue;
        if (meaning == 1) {
            depth++;
        } else if (meaning == 2) {
            if (--depth == 0) return p;
        } else {
            const char *close = scan_string(p, end);
            if (close < end && *close == '\\') close = json_string_end(p, end);
            if (!close || close >= end) return NULL;
            p = close + 1;
        }
    }
    return NULL;
}

const char *scan_brackets_bytes(const char *p, const char *end) {
    return count_bytes(p, end, 0);
}

#ifdef BYTES16_SAME
/* Every bit between an odd and an even quote: the exclusive or of all bits below it. */
static inline uint32_t inside_quotes(uint32_t quotes) {
    quotes ^= quotes << 1;
    quotes ^= quotes << 2;
    quotes ^= quotes << 4;
    quotes ^= quotes << 8;
    return quotes & 0xFFFF;
}

static inline uint32_t bits_of(bytes16 v, char c) {
    return (uint32_t)bytes16_marks(bytes16_equal(v, c));
}

/* Bits set in the low and in the high half of x, each in its half. Not every x86-64 machine has
 * an instruction for it. */
static inline uint32_t count_halves(uint32_t x) {
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0F0F0F0F;
    return (x + (x >> 8)) & 0x001F001F;
}

/* Sixteen bytes at a time. [ and { differ in one bit, as do ] and }. A block whose closing
 * brackets cannot reach the outermost level is only counted; the others are walked bit by bit.
 * A backslash hands over to the byte loop, at the start of the string it is in. */
const char *scan_brackets(const char *p, const char *end) {
    const char *start = p;
    int64_t depth = 0;
    uint32_t carry = 0; /* all ones inside a string */
    for (; p < end; p += 16) {
        bytes16 v = bytes16_load(p), folded = bytes16_set(v, 0x20);
        if (__builtin_expect(bits_of(v, '\\') != 0, 0)) return count_bytes(start, end, 0);
        uint32_t inside = inside_quotes(bits_of(v, '"')) ^ (carry & 0xFFFF);
        carry = inside >> 15 ? UINT32_MAX : 0;
        uint32_t open = bits_of(folded, '{') & ~inside, close = bits_of(folded, '}') & ~inside;
        uint32_t counts = count_halves(open | close << 16);
        int64_t n_close = counts >> 16;
        if (depth > n_close) {
            depth = add_i64(depth, sub_i64((int64_t)(counts & 0xFFFF), n_close));
            continue;
        }
        for (uint32_t both = open | close; both; both &= both - 1) {
            uint32_t bit = both & ~(both - 1);
            depth += bit & open ? 1 : -1;
            if (depth == 0) {
                p += __builtin_ctz(bit) + 1;
                return p <= end ? p : NULL;
            }
        }
    }
    return NULL;
}
#else
const char *scan_brackets(const char *p, const char *end) {
    return count_bytes(p, end, 0);
}
#endif
