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

pb_reader pb_open(str message);
/* The next field; false at the end or at damage. */
bool pb_next(pb_reader *r, pb_field *out);

/* The head of a field at p: its number and wire type, and for varints, fixed values and lengths the
 * value. Returns one past it, NULL when the bytes end first (*cut) or are no field. */
const char *pb_head(const char *p, const char *end, pb_field *out, bool *cut);

/* A float as it stands in a FIXED32. */
double pb_float(const pb_field *f);

#endif
