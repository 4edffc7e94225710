/* protobuf.c: the wire format of protobuf.
 *
 * A message is a row of fields; a field is a varint (number << 3 | wire type) and then a varint, four
 * or eight bytes, or a length and as many bytes. Groups (wire types 3 and 4) are of the 2000s and in no
 * file we read: they are damage. A varint has at most ten bytes; field numbers below 2^29. Nothing is
 * allocated and every length is checked against what is left. */
#include "ingest/protobuf.h"

#include <string.h>

static const char *read_varint(const char *p, const char *end, uint64_t *v, bool *cut) {
    uint64_t sum = 0;
    for (unsigned shift = 0; shift < 70; shift += 7, p++) {
        if (p == end) {
            *cut = true;
            return NULL;
        }
        uint8_t byte = (uint8_t)*p;
        if (shift == 63 && byte > 1) return NULL;
        sum |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *v = sum;
            return p + 1;
        }
    }
    return NULL;
}

static const char *read_fixed(const char *p, const char *end, size_t n, pb_field *out,
                              bool *cut) {
    if ((size_t)(end - p) < n) {
        *cut = true;
        return NULL;
    }
    out->v = 0;
    for (size_t i = 0; i < n; i++) out->v |= (uint64_t)(uint8_t)p[i] << 8 * i;
    return p + n;
}

const char *pb_head(const char *p, const char *end, pb_field *out, bool *cut) {
    uint64_t key;
    *cut = false;
    p = read_varint(p, end, &key, cut);
    if (!p || key >> 3 == 0 || key >> 3 >= 1u << 29) return NULL;
    *out = (pb_field){.number = (uint32_t)(key >> 3), .wire = (uint8_t)(key & 7)};
    switch (out->wire) {
    case WIRE_VARINT:
    case WIRE_BYTES: return read_varint(p, end, &out->v, cut);
    case WIRE_FIXED64: return read_fixed(p, end, 8, out, cut);
    case WIRE_FIXED32: return read_fixed(p, end, 4, out, cut);
    default: return NULL;
    }
}

pb_reader pb_open(str message) {
    return (pb_reader){.p = message.p, .end = message.p + message.n};
}

bool pb_next(pb_reader *r, pb_field *out) {
    bool cut;
    if (r->damaged || r->p == r->end) return false;
    const char *p = pb_head(r->p, r->end, out, &cut);
    if (!p || (out->wire == WIRE_BYTES && out->v > (uint64_t)(r->end - p))) {
        r->damaged = true;
        return false;
    }
    if (out->wire == WIRE_BYTES) {
        out->bytes = str_n(p, (size_t)out->v);
        p += out->v;
    }
    r->p = p;
    return true;
}

double pb_float(const pb_field *f) {
    uint32_t bits = (uint32_t)f->v;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}
