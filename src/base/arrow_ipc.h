/* arrow_ipc.h: a table as an Arrow IPC stream: messages of a schema, of dictionaries and of one
 * batch, as https://arrow.apache.org/docs/format/Columnar.html gives them.
 *
 *   arrow_add_schema(out, fields, n_fields, about, n_about);
 *   arrow_add_dictionary(out, i, n, &blocks);      for each field of type WORDS; its blocks
 *   arrow_add_batch(out, fields, blocks, n_fields, n_rows);           the blocks of all columns
 *   arrow_add_end(out);
 *
 * A message says the sizes of the blocks that follow it, so the caller knows them beforehand
 * and may send each block away as it is made: bits of validity (where any value is null),
 * values, and of texts the bytes after n + 1 positions. Each block is followed by arrow_pad.
 * Messages and blocks start at multiples of 64 bytes: a reader that maps the stream copies
 * nothing. */
#ifndef BASE_ARROW_IPC_H
#define BASE_ARROW_IPC_H

#include "base/buf.h"

typedef enum {
    ARROW_I64,
    ARROW_U64,
    ARROW_F64,
    ARROW_I32,
    ARROW_U32,
    ARROW_U16,
    ARROW_U8,
    ARROW_BOOL,      /* bits */
    ARROW_TEXT,      /* positions of 32 bits: at most ARROW_MAX_TEXT bytes */
    ARROW_LONG_TEXT, /* of 64 bits */
    ARROW_WORDS,     /* i32 places in a dictionary of TEXT, whose id is the field's place */
} arrow_type;

#define ARROW_MAX_TEXT ((uint64_t)INT32_MAX)

/* Metadata; a value with p == NULL is left out. */
typedef struct {
    const char *key;
    str value;
} arrow_pair;

enum { ARROW_MAX_PAIRS = 4 };
typedef struct {
    const char *name;
    arrow_type type;
    uint32_t n_about;
    arrow_pair about[ARROW_MAX_PAIRS];
} arrow_field;

/* The sizes of a column's blocks in bytes. */
typedef struct {
    uint64_t n_nulls;
    uint64_t validity; /* 0 where nothing is null */
    uint64_t values;   /* of texts: the positions */
    uint64_t text;
} arrow_blocks;

void arrow_add_schema(buf *out, const arrow_field *fields, uint32_t n_fields,
                      const arrow_pair *about, uint32_t n_about);
/* The dictionary of a field: n texts, none of them null. */
void arrow_add_dictionary(buf *out, uint32_t field, uint64_t n, const arrow_blocks *b);
void arrow_add_batch(buf *out, const arrow_field *fields, const arrow_blocks *blocks,
                     uint32_t n_fields, uint64_t n_rows);
/* The stream's last bytes. */
void arrow_add_end(buf *out);

/* After a block of n bytes. */
void arrow_pad(buf *out, uint64_t n);
/* Bytes of the bits of n rows. */
static inline uint64_t arrow_bits(uint64_t n) {
    return (n + 7) / 8;
}
/* Sizes of the blocks of n values, by type; texts with so many bytes in all. */
arrow_blocks arrow_sizes(arrow_type type, uint64_t n, uint64_t n_nulls, uint64_t text);

/* A text as Arrow wants it, valid UTF-8: what is not becomes U+FFFD; and its length. */
void arrow_add_text(buf *out, str s);
uint64_t arrow_text_bytes(str s);

#endif
