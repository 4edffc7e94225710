/* module_work.c: which device work a module caused.
 *
 * Work is launched on the host: forward inside a call of the module, backward inside a node of
 * the autograd engine that undoes an operator called there (backward_owner.h). Both are slices,
 * so the work of a module is what was launched inside one of a list of slices. Rows of table
 * slice are in order of their tracks and starts, and of slices inside each other the outer one
 * comes first: keeping only outer ones makes the list disjoint, and one binary search finds the
 * slice a launch may lie in.
 *
 * A call inside another call of the same module is not listed by itself. Device work without a
 * launch and without an operator belongs to no module. */
#include "analyse/operators/module_work.h"

#include "analyse/operators/backward_owner.h"
#include "base/bisect.h"
#include "base/sort.h"

str module_short_name(const trace *t, uint32_t module) {
    str name = trace_str(t, t->module.name[module]);
    return str_starts(name, STR("nn.Module: ")) ? str_from(name, 11) : name;
}

/* The slice of the list that is `slice` or contains it; 0 when there is none. */
static uint32_t slice_around(const module_work *w, uint32_t slice) {
    size_t low = SEARCH_FIRST(i, 0, w->n, w->slices[i] <= slice);
    if (!low) return 0;
    const trace *t = w->t;
    uint32_t outer = w->slices[low - 1];
    bool inside = trace_track_of(t, outer) == trace_track_of(t, slice) &&
                  t->slice.start[slice] >= t->slice.start[outer] &&
                  slice_end(t, slice) <= slice_end(t, outer);
    return inside ? outer : 0;
}

bool module_work_has(const module_work *w, uint32_t k) {
    const trace *t = w->t;
    bool is_inferred =
        trace_own_op(t, k) != t->kernel.op[k]; /* no module is around its launch */
    uint32_t host = t->kernel.launch[k] && !is_inferred ? t->kernel.launch[k] : t->kernel.op[k];
    return host && slice_around(w, host);
}

/* Adds slices that ascend, leaving out those inside the one before. */
static void add_outer(module_work *w, uint32_t slice) {
    if (!slice_around(w, slice)) w->slices[w->n++] = slice;
}

static void add_calls(module_work *w, module_fits fits, void *context) {
    const trace *t = w->t;
    for (uint32_t i = 1; i < t->module_call.n; i++)
        if (fits(context, module_short_name(t, t->module_call.module[i])))
            add_outer(w, t->module_call.slice[i]);
}

/* Nodes of the backward pass whose forward module is called inside the calls found so far. */
static status add_backward(module_work *w, const backward_nodes *nodes, arena *a, error *err) {
    size_t n = 0, most = w->n + nodes->n;
    sort_pair *pairs = ARENA_ARRAY(a, sort_pair, most + 1);
    if (!pairs) FAIL_MEMORY(err);
    for (size_t i = 0; i < w->n; i++) pairs[n++] = (sort_pair){w->slices[i], 0};
    for (uint32_t i = 0; i < nodes->n; i++) {
        uint32_t call = nodes->v[i].module_call;
        if (call && slice_around(w, w->t->module_call.slice[call]))
            pairs[n++] = (sort_pair){nodes->v[i].slice, 0};
    }
    if (!sort_radix_in(a, pairs, n)) FAIL_MEMORY(err);
    w->n = 0;
    for (size_t i = 0; i < n; i++) add_outer(w, (uint32_t)pairs[i].key);
    return OK;
}

status module_work_match(const trace *t, const selection *s, module_fits fits, void *context,
                         arena *a, module_work *out, error *err) {
    backward_nodes nodes;
    TRY(backward_find(t, s, a, &nodes, err));
    module_work w = {.t = t};
    w.slices = ARENA_ARRAY(a, uint32_t, (size_t)t->module_call.n + nodes.n + 1);
    if (!w.slices) FAIL_MEMORY(err);
    add_calls(&w, fits, context);
    TRY(add_backward(&w, &nodes, a, err));
    *out = w;
    return OK;
}

static bool is_name(void *context, str name) {
    return str_eq(*(const str *)context, name);
}

status module_work_find(const trace *t, const selection *s, str name, arena *a,
                        module_work *out, error *err) {
    return module_work_match(t, s, is_name, &name, a, out, err);
}
