/* execution_spelling_int.h: the inputs of an execution trace's node as Kineto spells them. */
#ifndef INGEST_EXECUTION_SPELLING_INT_H
#define INGEST_EXECUTION_SPELLING_INT_H

#include "base/buf.h"
#include "base/vec.h"
#include "ingest/pytorch/execution_trace.h"

typedef struct {
    intern *strings; /* the builder's */
    intern *seen;    /* texts that were spelled before */
    vec made;        /* uint32_t by id in `seen`: string id + 1; 0 = not yet */
    buf key, text, normal;
} spelling;

/* Lists of the same length, raw JSON; STR_NONE: unknown. */
typedef struct {
    str values, shapes, types, strides;
} spelled_inputs;

status spelling_init(spelling *s, intern *strings) MUST_USE;
void spelling_fini(spelling *s);
uint64_t spelling_bytes(const spelling *s);

/* String ids, UINT32_MAX when out of memory, 0 for nothing: of a JSON string, decoded; of any
 * JSON, made valid; of s->text (pass STR_NONE) as it is. */
uint32_t spelling_text(spelling *s, str json);
uint32_t spelling_json(spelling *s, str json);
uint32_t spelling_id(spelling *s, str text);
/* Fills shapes, types, strides and inputs of the node. */
status spelling_inputs(spelling *s, const spelled_inputs *in, execution_node *node) MUST_USE;

#endif
