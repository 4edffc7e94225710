/* changed_calls.c: see changed_calls.h. Parents come before their children. */
#include "analyse/compare/changed_calls.h"

#include "analyse/compare/matched.h"

status changed_calls_find(const call_tree *tree, const compared_side sides[N_SIDES], arena *a,
                          changed_calls *out, error *err) {
    size_t n = (size_t)tree->nodes.n + 1;
    changed_calls c = {ARENA_ARRAY(a, uint32_t, n), ARENA_ARRAY(a, uint32_t, n),
                       ARENA_ARRAY(a, uint8_t, n)};
    if (!c.anchor || !c.top || !c.inside) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < tree->nodes.n; i++) {
        const call_node *node = call_tree_node(tree, i);
        uint32_t around = c.top[node->parent];
        c.anchor[i] = around ? c.anchor[node->parent] : node->parent;
        bool is_new = !(node->flags & NODE_ALLOCATES) && node_is_changed(sides, node);
        c.top[i] = around ? around : is_new ? i : 0;
        if (c.top[i] == i) c.inside[node->parent] = 1;
    }
    *out = c;
    return OK;
}

double changed_calls_ns(const compared_side sides[N_SIDES], const call_node *n, int side) {
    const node_cost *c = &n->cost[side];
    double all = (double)c->device_ns + (double)c->host_ns + (double)c->gap_ns;
    return (1 - node_match(sides, n).share[side]) * all / side_steps(&sides[side]);
}
