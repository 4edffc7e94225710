/* execution_trace.h: PyTorch's execution traces: what each operator was given, without times.
 *
 * One is read before the Kineto trace of the same run and joined to it by the ids of record
 * functions: operators get the shapes, types, strides and inputs, collectives the process group
 * and sizes, that Kineto was not asked for. */
#ifndef INGEST_EXECUTION_TRACE_H
#define INGEST_EXECUTION_TRACE_H

#include "ingest/ingest.h"

typedef struct execution_trace execution_trace;

/* Texts are string ids of the builder, 0 = unknown; those of inputs are JSON as Kineto spells
 * it. */
typedef struct {
    uint32_t name;
    uint32_t shapes, types, strides, inputs;
    uint32_t comm; /* row + 1 for execution_trace_comm; 0: no collective */
} execution_node;

typedef struct {
    uint32_t name, dtype, group_name, group_description, group_ranks;
    int64_t in_elements, out_elements, group_size; /* ABSENT_I64: unknown */
} execution_comm;

typedef struct {
    int64_t nodes, joined; /* of operators; of them found by execution_trace_find */
    bool damaged;          /* it ends early, or parts of it cannot be read */
} execution_counts;

/* By the first bytes. */
bool execution_trace_head(str head);
/* Reads all of it. Damage is not a failure. */
status execution_trace_read(source *src, const ingest_options *o, builder *b,
                            execution_trace **out, error *err) MUST_USE;
void execution_trace_free(execution_trace *et);
/* The node with the id, when its name is this one; NULL otherwise. Threads may ask at once.
 * Valid until it is freed. */
const execution_node *execution_trace_find(execution_trace *et, int64_t id, uint32_t name);
const execution_comm *execution_trace_comm(const execution_trace *et,
                                           const execution_node *node);
execution_counts execution_trace_counts(const execution_trace *et);

#endif
