/* blocks.c: the binary form of viewport and tape.
 *
 *   0 "TACHOBLK"   8 u32 version   12 u32 length of the description   16 description, blanks   blocks
 *
 * Every block begins at a multiple of 8, so that a reader can lay a typed array over it. */
#include "serve/blocks.h"

#include "base/status.h"
#include "serve/json_put.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "blocks are written as they lie");

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

static size_t padding(size_t n) {
    return (8 - n % 8) % 8;
}

static void describe(blocks *b) {
    size_t at = 0;
    put_key(&b->head, "blocks");
    buf_add_byte(&b->head, '{');
    for (uint32_t i = 0; i < b->n; i++) {
        put_key(&b->head, b->list[i].name);
        buf_printf(&b->head, "{\"type\":\"%s\",\"at\":%zu,\"n\":%zu}",
                   TYPES[b->list[i].type].name, at, b->list[i].n);
        size_t bytes = b->list[i].n * TYPES[b->list[i].type].bytes;
        at += bytes + padding(bytes);
    }
    buf_add_cstr(&b->head, "}}");
    buf_add_repeat(&b->head, ' ', padding(b->head.n));
}

bool blocks_end(blocks *b, buf *out) {
    describe(b);
    uint32_t numbers[2] = {1, (uint32_t)b->head.n};
    buf_add(out, "TACHOBLK", 8);
    buf_add(out, numbers, sizeof numbers);
    buf_add_str(out, buf_str(&b->head));
    for (uint32_t i = 0; i < b->n; i++) {
        size_t bytes = b->list[i].n * TYPES[b->list[i].type].bytes;
        if (bytes) buf_add(out, b->list[i].p, bytes);
        buf_add_repeat(out, '\0', padding(bytes));
    }
    bool ok = buf_ok(&b->head) && buf_ok(out);
    buf_fini(&b->head);
    return ok;
}
