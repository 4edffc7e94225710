/* nsight_graphs.c: which call made a node of a CUDA graph.
 *
 *     capture      op { cudaLaunchKernel ── CUDA_GRAPH_NODE_EVENTS: node 7 }
 *     instantiate  cudaGraphInstantiate  ── CUDA_GRAPH_NODE_EVENTS: node 12, a copy of 7
 *     replay       cudaGraphLaunch       ──> kernel of node 12
 *
 * The launch of a kernel of a graph is the call that launched the graph; its operator is the
 * one that was captured. Numbers of nodes are those of a process: one that two processes have
 * says nothing. */
#include <stdlib.h>

#include "base/bisect.h"
#include "ingest/nsight/nsight_int.h"

enum { MOST_COPIES = 16 }; /* a copy of a copy …; a file may go in circles */

enum { START, THREAD, NODE, ORIGINAL };

static status take_node(void *context, db_rows *row) {
    reader *r = context;
    graph_node n = {.node = db_int(row, NODE, 0),
                    .original = db_int(row, ORIGINAL, 0),
                    .thread = db_int(row, THREAD, 0),
                    .start = db_int(row, START, ABSENT_I64)};
    if (n.node <= 0 || n.start == ABSENT_I64 || !nsight_is_mine(r, n.thread)) return OK;
    uint32_t *at = map_at(&r->node_map, (uint64_t)n.node);
    graph_node *to = at ? vec_push(&r->nodes) : NULL;
    if (!to) return ERR_MEMORY;
    *to = n;
    bool another =
        *at != MAP_NONE && nsight_global_pid(VEC(&r->nodes, graph_node)[*at].thread) !=
                               nsight_global_pid(n.thread);
    if (another) to->node = VEC(&r->nodes, graph_node)[*at].node = 0;
    if (*at == MAP_NONE) *at = (uint32_t)(r->nodes.n - 1);
    return OK;
}

status nsight_read_nodes(reader *r, error *err) {
    static const char *const columns[] = {"start", "globalTid", "graphNodeId",
                                          "originalGraphNodeId"};
    return nsight_table(r, "CUDA_GRAPH_NODE_EVENTS", columns, N_OF(columns), take_node, err);
}

status nsight_graph_call(reader *r, int64_t thread, const raw_slice *s, int64_t correlation) {
    if (!r->nodes.n || correlation == ABSENT_I64) return OK;
    graph_call *c = vec_push(&r->graph_calls);
    if (!c) return ERR_MEMORY;
    *c = (graph_call){thread, s->start, add_i64(s->start, s->dur), correlation};
    return OK;
}

/* ---- joining them ---- */

static int compare_calls(const void *pa, const void *pb) {
    const graph_call *a = pa, *b = pb;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return (a->end < b->end) - (a->end > b->end);
}

/* The innermost call of the thread at that time; NULL: there is none. */
static const graph_call *call_at(const reader *r, int64_t thread, int64_t time) {
    const graph_call *v = VEC(&r->graph_calls, graph_call);
    size_t end =
        SEARCH_FIRST(i, (size_t)0, r->graph_calls.n,
                     v[i].thread < thread || (v[i].thread == thread && v[i].start <= time));
    /* Calls nest two deep, the runtime's around the driver's. */
    for (int back = 0; end > 0 && back < 4; back++, end--)
        if (v[end - 1].thread == thread && v[end - 1].end >= time) return &v[end - 1];
    return NULL;
}

static const graph_node *first_of(const reader *r, const graph_node *n) {
    for (int i = 0; n && n->original > 0 && n->original != n->node && i < MOST_COPIES; i++) {
        uint32_t at = map_get(&r->node_map, (uint64_t)n->original);
        n = at == MAP_NONE ? NULL : &VEC(&r->nodes, graph_node)[at];
    }
    return n;
}

status nsight_join_nodes(reader *r, error *err) {
    if (r->graph_calls.n > 1)
        qsort(r->graph_calls.p, r->graph_calls.n, sizeof(graph_call), compare_calls);
    for (size_t i = 0; i < r->nodes.n; i++) {
        const graph_node *n = &VEC(&r->nodes, graph_node)[i], *first = first_of(r, n);
        const graph_call *c = first ? call_at(r, first->thread, first->start) : NULL;
        if (n->node && first && first->node && c &&
            builder_captured(r->b, n->node, c->correlation) != OK)
            FAIL_MEMORY(err);
    }
    return OK;
}
