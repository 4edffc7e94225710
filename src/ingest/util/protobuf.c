/* protobuf.c: the wire format of protobuf, the part that any bytes go through.
 *
 * A message is a row of fields; a field is a varint (number << 3 | wire type) and then a
 * varint, four or eight bytes, or a length and as many bytes. Groups (wire types 3 and 4) are
 * of the 2000s and in no file we read: they are damage. A varint has at most ten bytes; field
 * numbers below 2^29. Nothing is allocated and every length is checked against what is left.
 *
 * What is common is read in the header, where the loops are (pb_next); this is its portable
 * twin: byte by byte, with every check, never a byte beyond the end. */
#include "ingest/util/protobuf.h"

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
    out->v = read_le(p, n);
    return p + n;
}

const char *pb_head(const char *p, const char *end, pb_field *out, bool *cut) {
    uint64_t key;
    *cut = false;
    p = read_varint(p, end, &key, cut);
    if (!p || key >> 3 == 0 || key >> 3 >= 1u << 29) return NULL;
    *out = (pb_field){.tag = (uint32_t)key};
    switch (key & 7) {
    case WIRE_VARINT:
    case WIRE_BYTES: return read_varint(p, end, &out->v, cut);
    case WIRE_FIXED64: return read_fixed(p, end, 8, out, cut);
    case WIRE_FIXED32: return read_fixed(p, end, 4, out, cut);
    default: return NULL;
    }
}

pb_step pb_next_any(pb_reader r) {
    pb_step s = {.r = r};
    bool cut;
    if (r.damaged || r.p == r.end) return s;
    const char *p = pb_head(r.p, r.end, &s.f, &cut);
    bool bytes = p && (s.f.tag & 7) == WIRE_BYTES;
    if (!p || (bytes && s.f.v > (uint64_t)(r.end - p))) {
        s.r = (pb_reader){.p = r.end, .end = r.end, .damaged = true};
        return s;
    }
    s.f.p = p;
    s.r.p = bytes ? p + s.f.v : p;
    s.found = true;
    return s;
}

double pb_float(const pb_field *f) {
    uint32_t bits = (uint32_t)f->v;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}
