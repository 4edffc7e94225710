/* args.h: argument records: what a producer wrote in `args` of an event, packed small.
 *
 * slice.args, instant.args and memory.args hold a record reference: block << 16 | index, the
 * index counts from 1 inside the block; 0 = none. A block is the bytes arg_block[b] …
 * arg_block[b + 1] of arg_bytes: records one after the other, up to ARGS_BLOCK_BYTES and one
 * record more.
 *
 *     record = varint shape, then one value for each key of the shape, first key first
 *     shape  = a place in a trie: shape_parent[s] < s (0 at the root), shape_key[s] = string
 *              id; its keys are those on the path from the root to s
 *     value  = varint v, tag = v & 3, rest = v >> 2:
 *              0 integer:  zigzag(rest) is added to the previous tag-0 integer at the same
 *                          place of the trie in this block (0 at first); wraps at 64 bits
 *              1 string:   rest = id of its decoded bytes
 *              2 raw JSON: rest = id of the text as written (array, object, literal, odd
 *                          number)
 *              3 decimal:  rest = number of fraction digits (0 … 18), then varint
 *                          zigzag(mantissa); with 0 digits an integer whose difference
 *                          does not fit tag 0
 *
 * One shape is special: ARGS_SHAPE_RAW is one value of tag 2, the whole object as text. A
 * number that would not be printed as it was written ("-0.0", "1e5", 20 digits) is a raw value.
 * Because of the differences a record is found by walking its block from the start.
 *
 * The encoder is in seal and ingest (through the inline functions here); args.c reads. */
#ifndef STORE_ARGS_H
#define STORE_ARGS_H

#include "base/buf.h"
#include "base/num.h"
#include "base/status.h"

enum {
    ARGS_SHAPE_RAW = 1,
    ARGS_BLOCK_BYTES = 64 * 1024, /* a block is closed when it has reached this */
    ARGS_MAX_INDEX = 65535,       /* records in a block */
    ARGS_MAX_BLOCKS = 65536,
    ARGS_MAX_KEYS = 4096,
    ARGS_VARINT_BYTES = 10,                   /* the most a varint takes */
    ARGS_VALUE_BYTES = 2 * ARGS_VARINT_BYTES, /* the most a value takes */
    ARGS_RECORD_BYTES = ARGS_VARINT_BYTES + ARGS_MAX_KEYS * ARGS_VALUE_BYTES,
    ARGS_MAX_DIGITS = 18,
};

typedef enum {
    ARGS_INTEGER = 0,
    ARGS_STRING = 1,
    ARGS_RAW = 2,
    ARGS_DECIMAL = 3,
} args_tag;

static inline uint32_t args_reference(uint32_t block, uint32_t index) {
    return block << 16 | index;
}
static inline uint64_t args_zigzag(int64_t v) {
    return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}
WRAPS static inline int64_t args_unzigzag(uint64_t v) {
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* ---- writing: the caller has made room, ARGS_VALUE_BYTES a value ------------------------- */

static inline void args_put_varint(uint8_t **p, uint64_t v) {
    uint8_t *at = *p;
    while (v >= 0x80) {
        *at++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *at++ = (uint8_t)v;
    *p = at;
}
static inline void args_put_string(uint8_t **p, uint32_t string_id) {
    args_put_varint(p, (uint64_t)string_id << 2 | ARGS_STRING);
}
static inline void args_put_raw(uint8_t **p, uint32_t string_id) {
    args_put_varint(p, (uint64_t)string_id << 2 | ARGS_RAW);
}
static inline void args_put_decimal(uint8_t **p, int64_t mantissa, uint32_t n_digits) {
    args_put_varint(p, (uint64_t)n_digits << 2 | ARGS_DECIMAL);
    args_put_varint(p, args_zigzag(mantissa));
}
/* *previous belongs to the place of the trie and is 0 at the start of each block. */
WRAPS static inline void args_put_integer(uint8_t **p, int64_t v, int64_t *previous) {
    uint64_t z = args_zigzag((int64_t)((uint64_t)v - (uint64_t)*previous));
    if (__builtin_expect(z >> 62 != 0, 0)) {
        args_put_decimal(p, v, 0);
        return;
    }
    *previous = v;
    args_put_varint(p, z << 2 | ARGS_INTEGER);
}

/* ---- reading ----------------------------------------------------------------------------- */

struct trace;

/* One decoded record. Value i has the key with string id keys[i]. Valid until the next call. */
typedef struct {
    uint32_t n;
    const uint32_t *keys;
    const uint8_t *tags;     /* args_tag | fraction digits << 2 */
    const int64_t *payloads; /* the integer, the string id, or the mantissa */
    bool raw; /* one payload, the string id of the object's text; keys is unset */
} args_record;

/* Decodes blocks and keeps the last few, so that reading records in about the order they were
 * written costs one decoding per block. One reader per thread; any number per trace. Every
 * length, id and offset is checked: the bytes may come from a hostile file. */
typedef struct args_reader args_reader;

/* Checks the arguments of a mapped file once (trace_require), so it can fail with
 * ERR_FORMAT. */
status args_reader_new(const struct trace *t, args_reader **out, error *err) MUST_USE;
void args_reader_free(args_reader *r);

/* Record 0 has no values. ERR_FORMAT when the record is damaged or not there. */
status args_read(args_reader *r, uint32_t record, args_record *out, error *err) MUST_USE;
/* The record as a JSON object appended to out; ERR_MEMORY or what args_read says. */
status args_read_json(args_reader *r, uint32_t record, buf *out, error *err) MUST_USE;
/* Value i of a record as JSON text. Always valid JSON: raw text that is not JSON (a bare NaN,
 * damage) comes as a JSON string. */
void args_value_json(const struct trace *t, const args_record *rec, uint32_t i, buf *out);

/* Appends the bytes of a block with other ids: string s becomes strings[s], a shape above
 * ARGS_SHAPE_RAW moves by add_shapes. Damage ends the block, as it does for a reader. ERR_LIMIT
 * when the larger ids make it longer than a block may be, ERR_MEMORY. */
status args_copy_block(args_reader *r, uint32_t block, const uint32_t *strings,
                       uint32_t add_shapes, buf *out) MUST_USE;

#endif
