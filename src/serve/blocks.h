/* blocks.h: typed arrays in one answer, framed like the binary columns of present/
 * (docs/SERVER.md).
 *
 *     blocks b;
 *     blocks_begin(&b);                       then members of the description into b.head
 *     blocks_add(&b, "start", BLOCK_U32, v.start, v.n);
 *     blocks_end(&b, &out);                   appends everything; false when out of memory
 *
 * Arrays are borrowed until blocks_end. */
#ifndef SERVE_BLOCKS_H
#define SERVE_BLOCKS_H

#include "base/buf.h"

typedef enum { BLOCK_U8, BLOCK_U16, BLOCK_U32, BLOCK_F32, BLOCK_F64 } block_type;

enum { MOST_BLOCKS = 32 };

typedef struct {
    buf head; /* begins as "{" */
    uint32_t n;
    struct {
        const char *name;
        block_type type;
        const void *p;
        size_t n;
    } list[MOST_BLOCKS];
} blocks;

void blocks_begin(blocks *b);
void blocks_add(blocks *b, const char *name, block_type type, const void *p, size_t n);
bool blocks_end(blocks *b, buf *out);

#endif
