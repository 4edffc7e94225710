/* call_tree.c: nodes by parent and name. */
#include "analyse/compare/call_tree.h"

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
    if (!arena_on_reset(a, free_names, t->names)) {
        intern_free(t->names);
        FAIL_MEMORY(err);
    }
    TRY(groups_init(&t->nodes, a, sizeof(call_node), err));
    if (groups_add(&t->nodes) == GROUP_NONE) FAIL_MEMORY(err);
    return groups_init(&t->kernels, a, sizeof(name_sum), err);
}

uint32_t call_tree_child(call_tree *t, uint32_t parent, str name) {
    bool is_new;
    node_key key = {parent, intern_add(t->names, name)};
    if (key.name == UINT32_MAX) return GROUP_NONE;
    uint32_t node =
        groups_at(&t->nodes, hash_pair(key.parent, key.name), same_node, &key, &is_new);
    if (node != GROUP_NONE && is_new) {
        call_tree_node(t, node)->parent = key.parent;
        call_tree_node(t, node)->name = key.name;
    }
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
