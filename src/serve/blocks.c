/* blocks.c: the binary form of viewport and tape: a frame (base/frame.h) "TACHOBLK". */
#include "serve/blocks.h"

#include "base/frame.h"
#include "base/status.h"
#include "serve/json_put.h"

static const struct {
    const char *name;
    size_t bytes;
} TYPES[] = {
    [BLOCK_U8] = {"u8", 1},   [BLOCK_U16] = {"u16", 2}, [BLOCK_U32] = {"u32", 4},
    [BLOCK_F32] = {"f32", 4}, [BLOCK_F64] = {"f64", 8},
};

void blocks_begin(blocks *b) {
    *b = (blocks){.n = 0};
    buf_add_byte(&b->head, '{');
}

void blocks_add(blocks *b, const char *name, block_type type, const void *p, size_t n) {
    if (b->n == MOST_BLOCKS) BUG("too many blocks");
    b->list[b->n].name = name;
    b->list[b->n].type = type;
    b->list[b->n].p = p;
    b->list[b->n++].n = n;
}

static size_t bytes_of(const blocks *b, uint32_t i) {
    return b->list[i].n * TYPES[b->list[i].type].bytes;
}

static void describe(blocks *b) {
    uint64_t at = 0;
    put_key(&b->head, "blocks");
    buf_add_byte(&b->head, '{');
    for (uint32_t i = 0; i < b->n; i++) {
        put_key(&b->head, b->list[i].name);
        buf_printf(&b->head, "{\"type\":\"%s\",\"at\":%llu,\"n\":%zu}",
                   TYPES[b->list[i].type].name, (unsigned long long)at, b->list[i].n);
        at += frame_room(bytes_of(b, i));
    }
    buf_add_cstr(&b->head, "}}");
}

bool blocks_end(blocks *b, buf *out) {
    describe(b);
    frame_begin(out, "TACHOBLK", &b->head);
    for (uint32_t i = 0; i < b->n; i++) {
        if (b->list[i].n) buf_add(out, b->list[i].p, bytes_of(b, i));
        frame_pad(out, bytes_of(b, i));
    }
    return buf_ok(out);
}
