/* wire.c: protobuf, for all forms that are written in it. */
#include "export/wire_int.h"

void wire_put_varint(buf *b, uint64_t v) {
    char bytes[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7) bytes[n++] = (char)(v | 0x80);
    bytes[n++] = (char)v;
    buf_add(b, bytes, n);
}

void wire_put_number(buf *b, uint32_t field, uint64_t v) {
    wire_put_varint(b, (uint64_t)field << 3);
    wire_put_varint(b, v);
}

void wire_put_bytes(buf *b, uint32_t field, str bytes) {
    wire_put_varint(b, (uint64_t)field << 3 | 2);
    wire_put_varint(b, bytes.n);
    buf_add_str(b, bytes);
}

void wire_put_fixed(buf *b, uint32_t field, uint64_t v) {
    char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (char)(v >> 8 * i);
    wire_put_varint(b, (uint64_t)field << 3 | 1);
    buf_add(b, bytes, sizeof bytes);
}

void wire_put_real(buf *b, uint32_t field, double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    wire_put_fixed(b, field, bits);
}
