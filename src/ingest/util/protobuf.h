/* protobuf.h: the wire format of protobuf: fields out of bytes, nothing more. No schema: the
 * reader of a format knows what its fields mean. */
#ifndef INGEST_PROTOBUF_H
#define INGEST_PROTOBUF_H

#include "base/str.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a word is read as its bytes stand");

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* What comes before a value: one number, so that one comparison identifies a field. */
#define PB_TAG(number, wire) ((uint32_t)(number) << 3 | (uint32_t)(wire))
#define PB_VARINT(number) PB_TAG(number, WIRE_VARINT)
#define PB_BYTES(number) PB_TAG(number, WIRE_BYTES)

typedef struct {
    uint32_t tag;  /* PB_TAG */
    uint64_t v;    /* varint or fixed value; of bytes their number */
    const char *p; /* of WIRE_BYTES the first of them, in the message */
} pb_field;

/* The fields of one message: pb_reader r = pb_open(bytes); while (pb_next(&r, &f)) … PB_ROOM
 * bytes after the message must be readable; they are looked at and never used. */
enum { PB_ROOM = 16 };
typedef struct {
    const char *p, *end;
    /* it stopped at something that is not a field, or that is cut; then p == end */
    bool damaged;
} pb_reader;

static inline pb_reader pb_open(str message) {
    return (pb_reader){.p = message.p, .end = message.p + message.n};
}

static inline str pb_bytes(const pb_field *f) {
    return str_n(f->p, (size_t)f->v);
}

/* The varint at p and one past it; NULL when it has more than 64 bits. All bytes at once: the
 * seven bits of each byte of a word are moved together in three steps. PB_ROOM bytes are
 * readable. */
static inline const char *pb_varint(const char *p, uint64_t *v) {
    uint64_t w;
    memcpy(&w, p, 8);
    uint64_t ends = ~w & 0x8080808080808080u;
    if (ends) w &= ends ^ (ends - 1); /* the bytes up to the first that ends */
    uint64_t x = w & 0x7f7f7f7f7f7f7f7fu;
    x = (x & 0x007f007f007f007fu) | (x & 0x7f007f007f007f00u) >> 1;
    x = (x & 0x00003fff00003fffu) | (x & 0x3fff00003fff0000u) >> 2;
    x = (x & 0x000000000fffffffu) | (x & 0x0fffffff00000000u) >> 4;
    *v = x;
    if (ends) return p + __builtin_ctzll(ends) / 8 + 1;
    uint8_t ninth = (uint8_t)p[8], tenth = (uint8_t)p[9];
    *v = x | (uint64_t)(ninth & 0x7f) << 56;
    if (ninth < 0x80) return p + 9;
    *v |= (uint64_t)1 << 63; /* negative numbers have ten */
    return tenth == 1 ? p + 10 : NULL;
}

/* pb_next with every check, for any field. Taken and given by value: then a reader and its
 * field can live in registers where pb_next is used. */
typedef struct {
    pb_reader r;
    pb_field f;
    bool found;
} pb_step;
pb_step pb_next_any(pb_reader r);

/* The next field; false at the end or at damage. Nearly every field has a number below 16 and
 * is a varint or bytes: those are read here, where the loops are (a compiler that is left to
 * choose makes it a call in loops that do much else). */
__attribute__((always_inline)) static inline bool pb_next(pb_reader *r, pb_field *out) {
    const char *p = r->p;
    if (p == r->end) return false;
    uint8_t key = (uint8_t)p[0];
    uint64_t v = (uint8_t)p[1];
    if (key >= 8 && key < 128 && !(key & 5)) {
        p = v < 0x80 ? p + 2 : pb_varint(p + 1, &v);
        uint64_t n = key & WIRE_BYTES ? v : 0;
        if (p && p <= r->end && n <= (uint64_t)(r->end - p)) {
            *out = (pb_field){.tag = key, .v = v, .p = p};
            r->p = p + n;
            return true;
        }
    }
    pb_step s = pb_next_any(*r);
    *r = s.r;
    *out = s.f;
    return s.found;
}

/* The head of a field at p: its tag, and for varints, fixed values and lengths the value.
 * Returns one past it, NULL when the bytes end first (*cut) or are not field. Reads nothing
 * after `end`. */
const char *pb_head(const char *p, const char *end, pb_field *out, bool *cut);

/* A float as it is in a FIXED32. */
double pb_float(const pb_field *f);

#endif
