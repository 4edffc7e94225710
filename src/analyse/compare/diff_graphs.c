/* diff_graphs.c: table graph_nodes: nodes of replayed graphs side by side. */
#include "analyse/compare/diff_int.h"
#include "analyse/rows.h"
#include "base/sort.h"

static double per_step(const diff *d, int side, int64_t n) {
    return (double)n / (double)max_i64(1, d->sides[side].n_steps);
}

static str status_of(const node_cost *c, const double calls[N_SIDES],
                     const int64_t ns[N_SIDES]) {
    if (c[SIDE_A].place && c[SIDE_B].place && c[SIDE_A].kernel != c[SIDE_B].kernel)
        return STR("replaced");
    return diff_status_word(calls, ns);
}

static status write_node(diff *d, table *t, const call_node *n, error *err) {
    double calls[N_SIDES];
    int64_t ns[N_SIDES];
    row_diff_graph_nodes row = row_diff_graph_nodes_none();
    int64_t *const positions[] = {&row.position_a, &row.position_b};
    str *const names[] = {&row.name_a, &row.name_b};
    str call = call_tree_text(&d->tree, n->parent);
    if (call.n) row.call = call;
    for (int s = 0; s < N_SIDES; s++) {
        const node_cost *c = &n->cost[s];
        calls[s] = per_step(d, s, c->kernels);
        ns[s] = mean_i64(c->device_ns, max_i64(1, d->sides[s].n_steps));
        if (!c->place) continue;
        *positions[s] = c->place;
        *names[s] = intern_get(d->tree.names, c->kernel);
    }
    row.calls_a = calls[SIDE_A];
    row.calls_b = calls[SIDE_B];
    row.a = ns[SIDE_A];
    row.b = ns[SIDE_B];
    row.change = sub_i64(ns[SIDE_B], ns[SIDE_A]);
    row.status = status_of(n->cost, calls, ns);
    return put_diff_graph_nodes(t, &row, err);
}

/* Largest change first, then by place. */
static int compare_nodes(uint32_t a, uint32_t b, const void *context) {
    const diff *d = context;
    const call_node *x = call_tree_node(&d->tree, a), *y = call_tree_node(&d->tree, b);
    double p = 0, q = 0;
    for (int s = 0; s < N_SIDES; s++) {
        double sign = s == SIDE_A ? -1 : 1;
        p += sign * per_step(d, s, x->cost[s].device_ns);
        q += sign * per_step(d, s, y->cost[s].device_ns);
    }
    p = p < 0 ? -p : p;
    q = q < 0 ? -q : q;
    if (p != q) return p > q ? -1 : 1;
    if (x->parent != y->parent) return x->parent < y->parent ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

status diff_write_graphs(diff *d, error *err) {
    uint32_t n = d->tree.nodes.n, kept = 0;
    uint32_t *order = ARENA_ARRAY(d->arena, uint32_t, (size_t)n + 1);
    uint32_t *scratch = ARENA_ARRAY(d->arena, uint32_t, (size_t)n + 1);
    if (!order || !scratch) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) {
        const call_node *node = call_tree_node(&d->tree, i);
        if (node->place && node->cost[SIDE_A].kernels + node->cost[SIDE_B].kernels)
            order[kept++] = i;
    }
    if (!kept) return OK;
    table *t = answer_table(d->out, d->arena, "graph_nodes");
    if (!t) FAIL_MEMORY(err);
    sort_index(order, scratch, kept, compare_nodes, d);
    for (uint32_t i = 0; i < kept; i++)
        TRY(write_node(d, t, call_tree_node(&d->tree, order[i]), err));
    return OK;
}
