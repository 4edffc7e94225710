/* protobuf.h: the wire format of protobuf: fields out of bytes, nothing more. No schema: the reader of a
 * format knows what its fields mean. */
#ifndef INGEST_PROTOBUF_H
#define INGEST_PROTOBUF_H

#include "base/str.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

typedef struct {
    uint32_t number;
    uint8_t wire; /* WIRE_* */
    uint64_t v;   /* varint or fixed value; of bytes their length */
    str bytes;    /* of WIRE_BYTES: borrowed from the message */
} pb_field;

/* The fields of one message: pb_reader r = pb_open(bytes); while (pb_next(&r, &f)) … */
typedef struct {
    const char *p, *end;
    bool damaged; /* it stopped at something that is no field, or that is cut */
} pb_reader;

static inline pb_reader pb_open(str message) {
    return (pb_reader){.p = message.p, .end = message.p + message.n};
}

/* The two halves of pb_next: any field, with every check; and a varint of two to nine bytes with
 * PB_ROOM readable bytes behind it, NULL when it is longer. */
enum { PB_ROOM = 16 };
bool pb_next_any(pb_reader *r, pb_field *out);
const char *pb_varint(const char *p, uint64_t *v);

/* The next field; false at the end or at damage. Nearly every field has a number below 16 and is a
 * varint or bytes: those are read here, where the loops are. */
static inline bool pb_next(pb_reader *r, pb_field *out) {
    const char *p = r->p;
    if (r->end - p < PB_ROOM || r->damaged || (uint8_t)(*p - 8) >= 120 || (*p & 5) != 0)
        return pb_next_any(r, out);
    uint8_t key = (uint8_t)*p;
    uint64_t v = (uint8_t)p[1];
    p = v < 0x80 ? p + 2 : pb_varint(p + 1, &v);
    if (!p || ((key & 7) == WIRE_BYTES && v > (uint64_t)(r->end - p)))
        return pb_next_any(r, out);
    out->number = key >> 3;
    out->wire = key & 7;
    out->v = v;
    out->bytes = (key & 7) == WIRE_BYTES ? str_n(p, (size_t)v) : STR_NONE;
    r->p = p + out->bytes.n;
    return true;
}

/* The head of a field at p: its number and wire type, and for varints, fixed values and lengths the
 * value. Returns one past it, NULL when the bytes end first (*cut) or are no field. */
const char *pb_head(const char *p, const char *end, pb_field *out, bool *cut);

/* A float as it stands in a FIXED32. */
double pb_float(const pb_field *f);

#endif
