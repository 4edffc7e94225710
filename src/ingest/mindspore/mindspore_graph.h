/* mindspore_graph.h: the memory of a compiled graph, as it is built up from one file or another
 * and then becomes allocations and releases. */
#ifndef INGEST_MINDSPORE_GRAPH_H
#define INGEST_MINDSPORE_GRAPH_H

#include "ingest/mindspore/mindspore_int.h"

enum { MOST_NODES = 1 << 20, MOST_TENSORS = 1 << 20 };
#define GIB 1073741824.0

typedef struct {
    int64_t id, time;
    int64_t line; /* bytes in use while it runs; ABSENT_I64: not reported */
    uint32_t name, full_name;
    uint32_t first, last; /* tensors that begin here, that end before here; index + 1 */
} graph_node;

typedef struct {
    int64_t id, bytes;
    uint32_t from, to;    /* nodes, both included */
    uint32_t next, after; /* of the lists of their nodes; index + 1 */
    uint32_t name, block;
} graph_tensor;

typedef struct {
    ms *m;
    vec nodes, tensors;
    map by_tensor; /* its number -> index + 1 */
    int64_t static_bytes, total;
} graph;

graph graph_begin(ms *m);
void graph_fini(graph *g);
/* A tensor whose number, size, name and life are known. */
status graph_add_tensor(graph *g, const graph_tensor *t, error *err) MUST_USE;
/* Its allocations and releases; *clock is where the graph before it ended. */
status graph_emit(graph *g, int64_t *clock, error *err) MUST_USE;
/* Where the first graph starts: with the first execution, so that a clock of its own does not
 * stretch the trace. */
int64_t graph_first_time(const ms *m);

#endif
