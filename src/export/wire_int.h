/* wire_int.h: fields of protobuf messages, appended to a buffer. A message inside another is
 * written to a separate buffer first: its length comes before it. */
#ifndef EXPORT_WIRE_INT_H
#define EXPORT_WIRE_INT_H

#include "base/buf.h"

void wire_put_varint(buf *b, uint64_t v);
/* A field that is a number; a negative one as protobuf has it, in ten bytes. */
void wire_put_number(buf *b, uint32_t field, uint64_t v);
/* A text, or a message. */
void wire_put_bytes(buf *b, uint32_t field, str bytes);
/* Eight bytes, whatever the number. */
void wire_put_fixed(buf *b, uint32_t field, uint64_t v);
void wire_put_real(buf *b, uint32_t field, double v);

#endif
