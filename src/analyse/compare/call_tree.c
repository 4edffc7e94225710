/* call_tree.c: nodes by parent and name. */
#include "analyse/compare/call_tree.h"

#include <math.h>

#include "analyse/compare/graph_merge.h"
#include "base/hash.h"
#include "base/num.h"

typedef struct {
    uint32_t parent, name;
} node_key;

static void free_names(void *names) {
    intern_free(names);
}

static bool same_node(const void *row, const void *key) {
    const call_node *n = row;
    const node_key *k = key;
    return n->parent == k->parent && n->name == k->name;
}

status call_tree_init(call_tree *t, arena *a, error *err) {
    t->names = intern_new();
    if (!t->names) FAIL_MEMORY(err);
    if (!arena_on_reset(a, free_names, t->names)) FAIL_MEMORY(err);
    TRY(groups_init(&t->nodes, a, sizeof(call_node), err));
    if (groups_add(&t->nodes) == GROUP_NONE) FAIL_MEMORY(err);
    TRY(groups_init(&t->kernels, a, sizeof(name_sum), err));
    return call_modules_init(&t->modules, a, err);
}

uint32_t call_tree_child(call_tree *t, uint32_t parent, str name) {
    uint32_t id = intern_add(t->names, name);
    return id == UINT32_MAX ? GROUP_NONE : call_tree_child_named(t, parent, id);
}

uint32_t call_tree_child_named(call_tree *t, uint32_t parent, uint32_t name) {
    bool is_new;
    node_key key = {parent, name};
    uint32_t node =
        groups_at(&t->nodes, hash_pair(key.parent, key.name), same_node, &key, &is_new);
    if (node != GROUP_NONE && is_new) {
        call_tree_node(t, node)->parent = key.parent;
        call_tree_node(t, node)->name = key.name;
    }
    return node;
}

uint32_t call_tree_graph_node(call_tree *t, uint32_t parent, uint32_t name) {
    uint32_t node = groups_add(&t->nodes);
    if (node == GROUP_NONE) return node;
    call_tree_node(t, node)->parent = parent;
    call_tree_node(t, node)->name = name;
    return node;
}

static bool same_name(const void *row, const void *name) {
    return ((const name_sum *)row)->name == *(const uint32_t *)name;
}

name_sum *name_sum_at(groups *sums, uint32_t name) {
    bool is_new;
    uint32_t at = groups_at(sums, hash_u64(name), same_name, &name, &is_new);
    if (at == GROUP_NONE) return NULL;
    name_sum *s = GROUP_ROW(sums, name_sum, at);
    s->name = name;
    return s;
}

name_sum *call_tree_kernel(call_tree *t, str name) {
    uint32_t id = intern_add(t->names, name);
    return id == UINT32_MAX ? NULL : name_sum_at(&t->kernels, id);
}

/* ---- workers to a side ------------------------------------------------------------------- */

static double distance_squares(double squares, double sum, double n) {
    return n > 1 ? fmax(0, squares - sum * sum / n) : 0;
}

static void add_cost(node_cost *to, const node_cost *c, const tree_origin *o) {
    double host = (double)c->host_ns + (double)c->gap_ns;
    to->device_squares += distance_squares(c->device_squares, (double)c->device_ns, o->n_steps);
    to->call_squares += distance_squares(c->call_squares, (double)c->calls, o->n_steps);
    to->host_squares += distance_squares(c->host_squares, host, o->n_steps);
    to->device_ns = add_i64(to->device_ns, c->device_ns);
    to->host_ns = add_i64(to->host_ns, c->host_ns);
    to->gap_ns = add_i64(to->gap_ns, c->gap_ns);
    to->first_ns = add_i64(to->first_ns, c->first_ns);
    to->calls += c->calls;
    to->kernels += c->kernels;
    to->replayed += c->replayed;
    to->shapes = hash_add(to->shapes, c->shapes);
    to->names = hash_add(to->names, c->names);
    to->with_shapes += c->with_shapes;
    if (!to->example.n) to->example = c->example;
    if (!o->shown || (to->slowest && c->slowest_ns <= to->slowest_ns)) return;
    to->slowest = c->slowest;
    to->slowest_ns = c->slowest_ns;
    to->worker = o->worker;
}

/* Where a node of a graph is on this side, and what it runs there: of the first worker. */
static status note_place(call_tree *into, node_cost *to, const call_tree *from, uint32_t node,
                         error *err) {
    if (to->place) return OK;
    to->place = call_tree_node(from, node)->place;
    to->kernel = intern_add(into->names, call_tree_text(from, node));
    if (to->kernel == UINT32_MAX) FAIL_MEMORY(err);
    return OK;
}

static status merge_kernels(call_tree *into, const call_tree *from, int side, error *err) {
    for (uint32_t i = 0; i < from->kernels.n; i++) {
        const name_sum *k = GROUP_ROW(&from->kernels, name_sum, i);
        name_sum *to = call_tree_kernel(into, intern_get(from->names, k->name));
        if (!to) FAIL_MEMORY(err);
        to->calls[side] += k->calls[SIDE_A];
        to->device_ns[side] = add_i64(to->device_ns[side], k->device_ns[SIDE_A]);
    }
    return OK;
}

status call_tree_merge(call_tree *into, const call_tree *from, const tree_origin *origin,
                       arena *scratch, error *err) {
    uint32_t *there = ARENA_ARRAY(scratch, uint32_t, (size_t)from->nodes.n + 1);
    if (!there) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < from->nodes.n; i++) {
        const call_node *n = call_tree_node(from, i);
        if (n->place) continue;
        if (i) there[i] = call_tree_child(into, there[n->parent], call_tree_text(from, i));
        if (there[i] == GROUP_NONE) FAIL_MEMORY(err);
    }
    TRY(graph_merge(into, from, there, scratch, err));
    for (uint32_t i = 0; i < from->nodes.n; i++) {
        const call_node *n = call_tree_node(from, i);
        call_node *to = call_tree_node(into, there[i]);
        to->flags |= n->flags;
        to->kind = n->kind;
        add_cost(&to->cost[origin->side], &n->cost[SIDE_A], origin);
        if (n->place) TRY(note_place(into, &to->cost[origin->side], from, i, err));
    }
    TRY(merge_kernels(into, from, origin->side, err));
    modules_origin modules = {&from->modules, from->names, into->names, there, origin->side};
    return call_modules_merge(&into->modules, &modules, scratch, err);
}

static void end_run(run_sums *r, int64_t now_ns, double n_steps) {
    double mean = (double)sub_i64(now_ns, r->before_ns) / n_steps;
    r->sum += mean;
    r->squares += mean * mean;
    r->before_ns = now_ns;
}

void call_tree_end_run(call_tree *t, int side, double n_steps) {
    if (n_steps <= 0) return;
    for (uint32_t i = 0; i < t->nodes.n; i++) {
        node_cost *c = &call_tree_node(t, i)->cost[side];
        end_run(&c->device_runs, c->device_ns, n_steps);
        end_run(&c->host_runs, add_i64(c->host_ns, c->gap_ns), n_steps);
    }
}
