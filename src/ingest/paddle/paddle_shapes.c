/* paddle_shapes.c: shapes and types of an operator's inputs, from protobuf to JSON. */
#include "ingest/paddle/paddle_shapes.h"

#include "ingest/util/protobuf.h"

static void put_size(buf *b, uint64_t v, bool first) {
    if (!first) buf_add_cstr(b, ", ");
    buf_add_i64(b, (int64_t)v); /* negative dimensions are their two's complement */
}

/* One shape; sizes are one by one or packed. */
static void put_shape(buf *b, str message) {
    pb_reader r = pb_open(message);
    pb_field f;
    bool first = true;
    buf_add_byte(b, '[');
    while (pb_next(&r, &f)) {
        if (f.tag >> 3 != 1) continue;
        if (f.tag == PB_VARINT(1)) put_size(b, f.v, first);
        const char *p = f.p, *end = f.tag == PB_BYTES(1) ? p + f.v : p;
        while (p < end) {
            uint64_t v = 0;
            for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
                v |= (uint64_t)((uint8_t)*p & 0x7f) << shift;
                if ((uint8_t)*p++ < 0x80) break;
            }
            put_size(b, v, first);
            first = false;
        }
        first = false;
    }
    buf_add_byte(b, ']');
}

/* The list of what is in the fields numbered 1, each written by `put`. */
static void put_list(buf *b, str message, void (*put)(buf *b, str value)) {
    pb_reader r = pb_open(message);
    pb_field f;
    bool first = true;
    buf_add_byte(b, '[');
    while (pb_next(&r, &f)) {
        if (f.tag != PB_BYTES(1)) continue;
        if (!first) buf_add_cstr(b, ", ");
        first = false;
        put(b, pb_bytes(&f));
    }
    buf_add_byte(b, ']');
}

void paddle_put_shapes(buf *b, str message) {
    put_list(b, message, put_shape);
}

void paddle_put_types(buf *b, str message) {
    put_list(b, message, buf_add_json);
}
