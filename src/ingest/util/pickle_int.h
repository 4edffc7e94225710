/* pickle_int.h: the values of a pickle as the machine makes them (pickle_read.c) and as others
 * see them (pickle.c).
 *
 *     a value: 29 bits of index or number | 3 bits of tag
 *
 *     list, dict ──> nodes[i]: count, first and last chunk ─> cells: │ used │ next │ v v v … │
 *     a dict's chunk of known keys ─────────────────> cells: │ used │ next │ shape │ v v … │
 *     int, float ──> numbers[i], 8 bytes; small integers are the value itself
 *     text       ──> an id of the interner: equal texts are equal values
 */
#ifndef INGEST_PICKLE_INT_H
#define INGEST_PICKLE_INT_H

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "ingest/util/pickle.h"

enum {
    TAG_CONSTANT,
    TAG_SMALL, /* signed, in the value */
    TAG_I64,
    TAG_U64, /* from 2^63 on */
    TAG_F64,
    TAG_TEXT,
    TAG_LIST,
    TAG_DICT,
    TAG_BITS = 3,
    TAG_MASK = 7,
};

#define VALUE(tag, index) ((pickle_value)(index) << TAG_BITS | (pickle_value)(tag))
#define MAX_INDEX ((uint32_t)1 << 29)

enum {
    VALUE_ABSENT = VALUE(TAG_CONSTANT, 0),
    VALUE_NONE = VALUE(TAG_CONSTANT, 1),
    VALUE_FALSE = VALUE(TAG_CONSTANT, 2),
    VALUE_TRUE = VALUE(TAG_CONSTANT, 3),
    VALUE_OPAQUE = VALUE(TAG_CONSTANT, 4),
};

/* Elements lie in chunks, one for each time the pickle added some (Python writes a thousand at
 * once), so a growing list is never copied. */
enum { CHUNK_USED, CHUNK_NEXT, CHUNK_HEAD };
#define CHUNK_SHAPED ((uint32_t)1 << 31) /* in CHUNK_USED: a shape and the values of its keys */
typedef struct {
    uint32_t n;           /* elements or pairs */
    uint32_t first, last; /* chunks: index of their head in cells, 0 = none */
} pickle_node;

/* Keys that came together more than once; a million events have the same eight. */
typedef struct {
    uint32_t first, n; /* in keys */
} pickle_shape;
enum { PICKLE_SHAPE_KEYS = 64 }; /* at most */

struct pickle {
    intern *texts;
    vec nodes;                              /* pickle_node */
    vec numbers;                            /* uint64_t: the bits */
    vec cells;                              /* uint32_t; cell 0 is unused */
    vec shapes;                             /* pickle_shape */
    vec keys;                               /* pickle_value */
    map by_keys;                            /* hash of keys → shape */
    uint32_t recent[PICKLE_SHAPE_KEYS + 1]; /* by number of keys: the last shape + 1 */
    pickle_value root;
    uint64_t input_bytes;
    bool is_cut, has_more;
};

pickle *pickle_new(void); /* NULL when out of memory */

/* Each makes a value; ERR_MEMORY or ERR_LIMIT without a message. */
status pickle_make_i64(pickle *p, int64_t v, pickle_value *out) MUST_USE;
status pickle_make_u64(pickle *p, uint64_t v, pickle_value *out) MUST_USE;
status pickle_make_f64(pickle *p, double v, pickle_value *out) MUST_USE;
status pickle_make_text(pickle *p, str text, pickle_value *out) MUST_USE;
/* tag: TAG_LIST or TAG_DICT */
status pickle_make_node(pickle *p, int tag, pickle_value *out) MUST_USE;
/* Adds n cells to a list or dictionary; a pair takes two. */
status pickle_add(pickle *p, pickle_value to, const pickle_value *cells, size_t n) MUST_USE;

#endif
