/* rec_cupti_graph.c: which call made each node of a CUDA graph.
 *
 * While a graph is captured, every call that would launch something makes a node instead;
 * instantiating the graph copies its nodes. Both are reported here, so that a kernel of a
 * replay, which knows only the number of its node, leads back to the call at the capture and to
 * the operator around it. */
#include "record/rec_cupti_int.h"

enum { NODE_CREATED = 13, NODE_CLONED = 20 }; /* of the domain of resources */

/* The fronts of CUpti_ResourceData and CUpti_GraphData, the same since CUDA 11. */
typedef struct {
    void *context, *handle;
    const void *description;
} resource_data;
typedef struct {
    void *graph, *original_graph, *node, *original_node;
} graph_data;

void cupti_watch_graphs(void *subscriber, bool on) {
    if (!cupti.graph_node_id) return;
    (void)cupti.enable_callback(on, subscriber, DOMAIN_RESOURCE, NODE_CREATED);
    (void)cupti.enable_callback(on, subscriber, DOMAIN_RESOURCE, NODE_CLONED);
}

static uint64_t id_of(void *node) {
    uint64_t id = 0;
    return node && cupti.graph_node_id(node, &id) == 0 ? id : 0;
}

void cupti_on_node(uint32_t id, const void *data, uint32_t correlation) {
    const resource_data *resource = data;
    const graph_data *graph = resource ? resource->description : NULL;
    bool cloned = id == NODE_CLONED;
    if (!graph || (id != NODE_CREATED && !cloned)) return;
    tacho_node_slots n = {.node = id_of(graph->node),
                          .original = cloned ? id_of(graph->original_node) : 0,
                          .correlation = cloned ? 0 : correlation};
    if (n.node && (n.original || n.correlation))
        rec_put(0, rec_what(TACHO_EVENT_NODE, 0, 0), &n, sizeof n);
}
