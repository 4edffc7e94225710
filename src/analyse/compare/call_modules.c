/* call_modules.c: see call_modules.h. */
#include "analyse/compare/call_modules.h"

#include "base/hash.h"
#include "base/num.h"

typedef struct {
    uint32_t first, second;
} pair_key;

static bool same_module(const void *row, const void *key) {
    const module_node *m = row;
    const pair_key *k = key;
    return m->parent == k->first && m->name == k->second;
}

static bool same_calls(const void *row, const void *key) {
    const module_calls *c = row;
    const pair_key *k = key;
    return c->node == k->first && c->module == k->second;
}

status call_modules_init(call_modules *m, arena *a, error *err) {
    TRY(groups_init(&m->nodes, a, sizeof(module_node), err));
    if (groups_add(&m->nodes) == GROUP_NONE) FAIL_MEMORY(err);
    return groups_init(&m->calls, a, sizeof(module_calls), err);
}

uint32_t call_modules_child(call_modules *m, uint32_t parent, uint32_t name) {
    bool is_new;
    pair_key k = {parent, name};
    uint32_t at = groups_at(&m->nodes, hash_pair(parent, name), same_module, &k, &is_new);
    if (at == GROUP_NONE || !is_new) return at;
    module_node_at(m, at)->parent = parent;
    module_node_at(m, at)->name = name;
    return at;
}

module_calls *call_modules_at(call_modules *m, uint32_t node, uint32_t module) {
    bool is_new;
    pair_key k = {node, module};
    uint32_t at = groups_at(&m->calls, hash_pair(node, module), same_calls, &k, &is_new);
    if (at == GROUP_NONE) return NULL;
    module_calls *c = GROUP_ROW(&m->calls, module_calls, at);
    c->node = node;
    c->module = module;
    return c;
}

status call_modules_merge(call_modules *into, const modules_origin *o, arena *scratch,
                          error *err) {
    const call_modules *from = o->from;
    uint32_t *module = ARENA_ARRAY(scratch, uint32_t, (size_t)from->nodes.n + 1);
    if (!module) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < from->nodes.n; i++) {
        const module_node *m = module_node_at(from, i);
        uint32_t name = intern_add(o->names, intern_get(o->from_names, m->name));
        if (name == UINT32_MAX) FAIL_MEMORY(err);
        module[i] = call_modules_child(into, module[m->parent], name);
        if (module[i] == GROUP_NONE) FAIL_MEMORY(err);
        int64_t *calls = &module_node_at(into, module[i])->calls[o->side];
        *calls = add_i64(*calls, m->calls[0]);
    }
    for (uint32_t i = 0; i < from->calls.n; i++) {
        const module_calls *c = GROUP_ROW(&from->calls, module_calls, i);
        module_calls *to = call_modules_at(into, o->there[c->node], module[c->module]);
        if (!to) FAIL_MEMORY(err);
        to->calls[o->side] = add_i64(to->calls[o->side], c->calls[0]);
    }
    return OK;
}
