/* wire_int.h: fields of protobuf messages, appended to a buffer. A message inside another is
 * written to a buffer of its own first: its length stands before it. */
#ifndef EXPORT_WIRE_INT_H
#define EXPORT_WIRE_INT_H

#include "base/buf.h"

static inline void wire_varint(buf *b, uint64_t v) {
    for (; v > 127; v >>= 7) buf_add_byte(b, (char)((v & 127) | 128));
    buf_add_byte(b, (char)v);
}

/* A field that is a number; a negative one as protobuf has it, in ten bytes. */
static inline void wire_number(buf *b, unsigned field, uint64_t v) {
    wire_varint(b, (uint64_t)field << 3);
    wire_varint(b, v);
}

static inline void wire_bytes(buf *b, unsigned field, str bytes) {
    wire_varint(b, (uint64_t)field << 3 | 2);
    wire_varint(b, bytes.n);
    buf_add_str(b, bytes);
}

#endif
