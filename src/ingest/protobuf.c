/* protobuf.c: the wire format of protobuf.
 *
 * A message is a row of fields; a field is a varint (number << 3 | wire type) and then a varint, four
 * or eight bytes, or a length and as many bytes. Groups (wire types 3 and 4) are of the 2000s and in no
 * file we read: they are damage. A varint has at most ten bytes; field numbers below 2^29. Nothing is
 * allocated and every length is checked against what is left. */
#include "ingest/protobuf.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a word is read as its bytes stand");

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

/* All bytes at once: the seven bits of each byte of a word are moved together in three steps. */
const char *pb_varint(const char *p, uint64_t *v) {
    uint64_t w;
    memcpy(&w, p, 8);
    uint64_t ends = ~w & 0x8080808080808080u;
    unsigned n = ends ? (unsigned)__builtin_ctzll(ends) / 8 + 1 : 8;
    uint64_t x = w & 0x7f7f7f7f7f7f7f7fu & (UINT64_MAX >> (64 - 8 * n));
    x = (x & 0x007f007f007f007fu) | (x & 0x7f007f007f007f00u) >> 1;
    x = (x & 0x00003fff00003fffu) | (x & 0x3fff00003fff0000u) >> 2;
    x = (x & 0x000000000fffffffu) | (x & 0x0fffffff00000000u) >> 4;
    if (!ends) {
        uint8_t last = (uint8_t)p[8];
        if (last >= 0x80) return NULL;
        x |= (uint64_t)last << 56;
        n = 9;
    }
    *v = x;
    return p + n;
}

static const char *read_any(const char *p, const char *end, uint64_t *v, bool *cut) {
    const char *fast = end - p >= PB_ROOM ? pb_varint(p, v) : NULL;
    return fast ? fast : read_varint(p, end, v, cut);
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
    if (p < end && (uint8_t)*p < 0x80)
        key = (uint8_t)*p++;
    else
        p = read_varint(p, end, &key, cut);
    if (!p || key >> 3 == 0 || key >> 3 >= 1u << 29) return NULL;
    *out = (pb_field){.number = (uint32_t)(key >> 3), .wire = (uint8_t)(key & 7)};
    switch (out->wire) {
    case WIRE_VARINT:
    case WIRE_BYTES: return read_any(p, end, &out->v, cut);
    case WIRE_FIXED64: return read_fixed(p, end, 8, out, cut);
    case WIRE_FIXED32: return read_fixed(p, end, 4, out, cut);
    default: return NULL;
    }
}

bool pb_next_any(pb_reader *r, pb_field *out) {
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
