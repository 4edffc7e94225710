/* step_modules.c: the module each slice of the host is in, and how often modules are called.
 *
 * Modules are slices, and so their parents are known; nodes of the backward pass get the module
 * of their forward operator (backward_owner.h). All else takes the module of its parent while
 * the nodes are named. */
#include "analyse/compare/step_owners_int.h"
#include "analyse/operators/backward_owner.h"
#include "analyse/operators/module_work.h"
#include "base/bisect.h"

/* "Attention_3" → "Attention": equal layers differ only in their number. */
static str class_of(str name) {
    size_t n = name.n;
    while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9') n--;
    return n && n < name.n && name.p[n - 1] == '_' ? str_n(name.p, n - 1) : name;
}

static uint32_t module_around(const owners *o, uint32_t slice) {
    uint32_t parent = o->t->slice.parent[slice];
    while (parent && !o->module_of[parent]) parent = o->t->slice.parent[parent];
    return o->module_of[parent];
}

static bool is_in_step(const step_spans *s, int64_t at) {
    uint32_t next = SEARCH_FIRST(i, 0u, s->n, s->v[i].start <= at);
    return next && at < s->v[next - 1].end;
}

/* Rows of table module_call ascend by their slices, so outer ones come first. */
static status name_modules(owners *o, error *err) {
    const trace *t = o->t;
    for (uint32_t i = 1; i < t->module_call.n; i++) {
        uint32_t slice = t->module_call.slice[i];
        str class = class_of(module_short_name(t, t->module_call.module[i]));
        uint32_t name = intern_add(o->tree->names, class);
        if (name == UINT32_MAX) FAIL_MEMORY(err);
        uint32_t m = call_modules_child(&o->tree->modules, module_around(o, slice), name);
        if (m == GROUP_NONE) FAIL_MEMORY(err);
        o->module_of[slice] = m;
        if (is_in_step(&o->out->steps, t->slice.start[slice]))
            module_node_at(&o->tree->modules, m)->calls[SIDE_A]++;
    }
    return OK;
}

status owners_find_modules(owners *o, const selection *s, error *err) {
    const trace *t = o->t;
    backward_nodes nodes;
    if (t->module_call.n <= 1) return OK;
    o->module_of = ARENA_ARRAY(o->arena, uint32_t, (size_t)t->slice.n + 1);
    if (!o->module_of) FAIL_MEMORY(err);
    TRY(name_modules(o, err));
    TRY(backward_find(t, s, o->arena, &nodes, err));
    for (uint32_t i = 0; i < nodes.n; i++) {
        uint32_t call = nodes.v[i].module_call;
        if (call) o->module_of[nodes.v[i].slice] = o->module_of[t->module_call.slice[call]];
    }
    return OK;
}
