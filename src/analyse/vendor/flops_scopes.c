/* flops_scopes.c: how the floating-point operations of a network spread over its scopes, as the
 * links of a Sankey diagram: Total -> Default -> net -> conv1.
 *
 * The producer's own links are taken where it wrote them (table scope_flops). Else every
 * operator's operations are added to each link of its path. A scope below the top has the
 * sub-graph after its name, conv1-Conv2d(Default), because forward and backward use the same
 * words. */
#include "analyse/vendor/flops_scopes.h"

#include <math.h>

#include "analyse/group.h"
#include "analyse/rows.h"
#include "base/intern.h"

enum { MOST_LEVELS = 64 };

typedef struct {
    str source, target;
    double flops;
} scope_link;

static bool same_link(const void *row, const void *key) {
    const scope_link *x = row, *y = key;
    return str_eq(x->source, y->source) && str_eq(x->target, y->target);
}

static status add_link(groups *links, const scope_link *one, error *err) {
    bool is_new;
    uint64_t hash = hash_pair(intern_hash(one->source), intern_hash(one->target));
    uint32_t at = groups_at(links, hash, same_link, one, &is_new);
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    scope_link *row = GROUP_ROW(links, scope_link, at);
    if (is_new) *row = (scope_link){one->source, one->target, 0};
    row->flops += one->flops;
    return OK;
}

static status add_operator(groups *links, arena *a, str path, double flops, error *err) {
    str top = STR_NONE, above = STR("Total");
    for (int level = 0; level < MOST_LEVELS; level++) {
        size_t slash = str_find(path, STR("/"), 0);
        if (slash == SIZE_MAX) return OK;
        str part = str_n(path.p, slash);
        if (!level) top = part;
        str name = level ? arena_printf(a, "%.*s(%.*s)", STR_ARG(part), STR_ARG(top)) : part;
        if (!name.p) FAIL_MEMORY(err);
        TRY(add_link(links, &(scope_link){above, name, flops}, err));
        above = name;
        path = str_from(path, slash + 1);
    }
    return OK;
}

static status sum_operators(const trace *t, arena *a, groups *links, error *err) {
    for (uint32_t i = 1; i < t->producer_op.n; i++) {
        double cube = t->producer_op.flops[i], vector = t->producer_op.vector_flops[i];
        double flops = (isnan(cube) ? 0 : cube) + (isnan(vector) ? 0 : vector);
        if (t->producer_op.level[i] != PRODUCER_OPERATOR || !(flops > 0)) continue;
        TRY(add_operator(links, a, trace_str(t, t->producer_op.full_name[i]), flops, err));
    }
    return OK;
}

static status take_given(const trace *t, groups *links, error *err) {
    for (uint32_t i = 1; i < t->scope_flops.n; i++) {
        scope_link l = {trace_str(t, t->scope_flops.source[i]),
                        trace_str(t, t->scope_flops.target[i]), t->scope_flops.flops[i]};
        TRY(add_link(links, &l, err));
    }
    return OK;
}

status flops_scopes_write(const trace *t, arena *a, answer *out, error *err) {
    groups links;
    TRY(groups_init(&links, a, sizeof(scope_link), err));
    TRY(trace_require(t, TRACE_TABLE(scope_flops), err));
    TRY(t->scope_flops.n > 1 ? take_given(t, &links, err) : sum_operators(t, a, &links, err));
    if (!links.n) return OK;
    table *result = answer_table(out, a, "flops_scopes");
    if (!result) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < links.n; i++) {
        const scope_link *l = GROUP_ROW(&links, scope_link, i);
        row_operators_flops_scopes row = row_operators_flops_scopes_none();
        row.source = l->source;
        row.target = l->target;
        row.flops = l->flops;
        TRY(put_operators_flops_scopes(result, &row, err));
    }
    return OK;
}
