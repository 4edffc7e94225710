/* pickle.h: the data inside a Python pickle (protocols 0 to 5), read without running anything.
 *
 * A pickle is a program for a small stack machine, and a part of its instructions imports and
 * calls what it likes. This reader knows the instructions that make plain data: None, booleans,
 * integers, floats, texts, lists, tuples, dictionaries. Anything that would import, call or
 * construct is refused with the name of what was asked for. Bytes, sets and integers beyond 64
 * bits are skipped and become opaque values.
 *
 *     pickle *p;
 *     TRY(pickle_read(src, &(ingest_options){0}, &p, err));
 *     pickle_value key = pickle_key(p, STR("segments"));
 *     for (pickle_iter it = pickle_items(p, pickle_get(p, pickle_root(p), key));
 *          pickle_next(p, &it, &item);) …
 *     pickle_free(p);
 *
 * A value is four bytes, and equal texts are one value, so a list of shared dictionaries costs
 * less than the pickle it came from. Lists may contain themselves: never walk values without a
 * bound.
 */
#ifndef INGEST_PICKLE_H
#define INGEST_PICKLE_H

#include "ingest/ingest.h"

typedef struct pickle pickle;
typedef uint32_t pickle_value;

#define PICKLE_ABSENT 0 /* no such value: what pickle_get returns for a missing key */

typedef enum {
    PICKLE_KIND_ABSENT,
    PICKLE_KIND_NONE,
    PICKLE_KIND_BOOL,
    PICKLE_KIND_INT,
    PICKLE_KIND_FLOAT,
    PICKLE_KIND_TEXT,
    PICKLE_KIND_LIST, /* or tuple */
    PICKLE_KIND_DICT,
    PICKLE_KIND_OPAQUE,
} pickle_kind;

/* Reads one pickle; of the options its progress and its limit of memory count. A pickle that
 * ends early is not failure: what was complete is valid, the open lists and dictionaries are
 * closed, and pickle_is_cut says so. ERR_UNSUPPORTED when it asks for more than data,
 * ERR_FORMAT when it is not a pickle, ERR_LIMIT when it is too large. */
status pickle_read(source *src, const ingest_options *o, pickle **out, error *err) MUST_USE;
void pickle_free(pickle *p); /* NULL is allowed */

pickle_value pickle_root(const pickle *p);
bool pickle_is_cut(const pickle *p);
/* Bytes of the input up to and with the end of the pickle; and whether more followed. */
uint64_t pickle_input_bytes(const pickle *p);
bool pickle_has_more(const pickle *p);
/* Bytes held. */
uint64_t pickle_size_bytes(const pickle *p);

pickle_kind pickle_kind_of(pickle_value v);
/* False, and *out untouched, when the value is of another kind. Booleans are integers; an
 * integer above 2^63 - 1 is one only for pickle_u64, a negative one only for pickle_i64. */
bool pickle_i64(const pickle *p, pickle_value v, int64_t *out);
bool pickle_u64(const pickle *p, pickle_value v, uint64_t *out);
bool pickle_f64(const pickle *p, pickle_value v, double *out);
/* Valid while the pickle lives. */
bool pickle_text(const pickle *p, pickle_value v, str *out);

/* The value of a text, for pickle_get; PICKLE_ABSENT when the pickle does not hold it. */
pickle_value pickle_key(const pickle *p, str text);
/* The last value given to the key; PICKLE_ABSENT when there is none or d is not a
 * dictionary. */
pickle_value pickle_get(const pickle *p, pickle_value d, pickle_value key);

/* Elements of a list or tuple, pairs of a dictionary (in the order they were set, a key set
 * twice comes twice); 0 for anything else. */
uint32_t pickle_count(const pickle *p, pickle_value v);
typedef struct {
    uint32_t chunk, i;
} pickle_iter;
pickle_iter pickle_items(const pickle *p, pickle_value list);
bool pickle_next(const pickle *p, pickle_iter *it, pickle_value *item);
/* For finding lists of the same elements (the same values, not values that look the same). */
uint64_t pickle_hash(const pickle *p, pickle_value list);
bool pickle_same(const pickle *p, pickle_value list, pickle_value other);
/* A list whose elements lie side by side, as nearly all do: false for any other, which is to be
 * walked through. */
bool pickle_run(const pickle *p, pickle_value list, const pickle_value **items, uint32_t *n);
pickle_iter pickle_pairs(const pickle *p, pickle_value dict);
bool pickle_next_pair(const pickle *p, pickle_iter *it, pickle_value *key, pickle_value *value);
/* A dictionary with keys that others have too, all set at once: those of the same keys in
 * the same order give the same pointer to them. False for any other. */
bool pickle_row(const pickle *p, pickle_value dict, const pickle_value **keys,
                const pickle_value **values, uint32_t *n);

#endif
