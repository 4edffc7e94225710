/* program_changes.c: see program_changes.h. Outermost changed calls are put together by name,
 * then what is in modules that changed is left to these. */
#include "analyse/compare/program_changes.h"

#include <math.h>

#include "analyse/compare/changed_calls.h"
#include "analyse/compare/forward_names.h"
#include "analyse/compare/matched.h"
#include "analyse/compare/parity.h"
#include "analyse/compare/shape_change.h"
#include "analyse/lexicon.h"
#include "base/hash.h"
#include "base/sort.h"

/* Fewer calls per step than this are chance: something done occasionally. */
static const double LEAST_CALLS = 0.5;
/* And so is what differs no more than from step to step: spreads of the difference. */
static const double SURE_TIMES = 2.5;
/* So much of a change must be in modules that changed for these to stand for it. */
static const double IN_MODULES = 0.9;

/* And a change must be so much of a cause to be named as the cause. */
static const double MOST_OF_IT = 0.8;

typedef struct {
    uint32_t name, where;
    program_form form; /* PROGRAM_COUNT: calls that were changed, in any form */
} row_key;

typedef struct {
    row_key key;
    program_change c;
    double forward[N_SIDES], backward[N_SIDES]; /* calls of a step */
    double variance;                            /* of the difference of the calls */
    double most_ns;
    double in_modules, in_changed; /* calls that changed: in any module; in one that changed */
    double most_calls;             /* of these in one module */
    uint32_t module_row;           /* the row of the module that stands for it + 1; 0: none */
} program_row;

typedef struct {
    const call_tree *tree;
    const compared_side *sides;
    arena *arena;
    double steps[N_SIDES];
    changed_calls calls;
    double *top_ns[N_SIDES]; /* by outermost changed node: it and all inside it */
    intern *stems;           /* name_without_pass of what changed in the forward pass */
    uint32_t *top_of_stem;   /* by its number: the outermost changed node around it */
    uint32_t *row_of;        /* by outermost changed node: its row + 1 */
    uint32_t *module_top;    /* by module: the outermost changed one around it; 0: none */
    uint32_t *row_of_module; /* by such a module: its row + 1; 0: not listed */
    groups rows;             /* program_row */
} program_ctx;

static const call_node *node_at(const program_ctx *x, uint32_t n) {
    return call_tree_node(x->tree, n);
}

static str text_of(const program_ctx *x, uint32_t node) {
    return call_tree_text(x->tree, node);
}

static program_row *row_at(const program_ctx *x, uint32_t row) {
    return GROUP_ROW(&x->rows, program_row, row);
}

/* ---- rows -------------------------------------------------------------------------------- */

static bool same_row(const void *row, const void *key) {
    const row_key *a = &((const program_row *)row)->key, *b = key;
    return a->name == b->name && a->where == b->where && a->form == b->form;
}

static uint32_t find_row(program_ctx *x, row_key key) {
    bool is_new;
    uint64_t hash = hash_pair(hash_pair(key.name, key.where), key.form);
    uint32_t at = groups_at(&x->rows, hash, same_row, &key, &is_new);
    if (at != GROUP_NONE && is_new) {
        row_at(x, at)->key = key;
        row_at(x, at)->c.name = key.name;
        row_at(x, at)->c.where = key.where;
        row_at(x, at)->most_ns = -1;
    }
    return at;
}

/* The node with most of it is the one to look at. */
static void add_ns(program_row *r, uint32_t node, double a, double b) {
    r->c.ns[SIDE_A] += a;
    r->c.ns[SIDE_B] += b;
    if (fabs(b - a) <= r->most_ns) return;
    r->most_ns = fabs(b - a);
    r->c.most = node;
}

/* ---- calls ------------------------------------------------------------------------------- */

static status sum_tops(program_ctx *x, error *err) {
    for (int s = 0; s < N_SIDES; s++) {
        x->top_ns[s] = ARENA_ARRAY(x->arena, double, (size_t)x->tree->nodes.n + 1);
        if (!x->top_ns[s]) FAIL_MEMORY(err);
        for (uint32_t i = 1; i < x->tree->nodes.n; i++)
            x->top_ns[s][x->calls.top[i]] += changed_calls_ns(x->sides, node_at(x, i), s);
    }
    return OK;
}

/* Outermost nodes first: a name that changed by itself is not looked for inside others. */
static status find_stems(program_ctx *x, error *err) {
    uint32_t n = x->tree->nodes.n;
    x->top_of_stem = ARENA_ARRAY(x->arena, uint32_t, (size_t)n + 2);
    if (!x->top_of_stem) FAIL_MEMORY(err);
    for (int inner = 0; inner < 2; inner++)
        for (uint32_t i = 1; i < n; i++) {
            uint32_t top = x->calls.top[i];
            if (!top || (top == i) == inner || name_is_backward(text_of(x, top))) continue;
            str stem = name_without_pass(text_of(x, i), x->arena);
            uint32_t id = stem.p ? intern_add(x->stems, stem) : UINT32_MAX;
            if (id == UINT32_MAX) FAIL_MEMORY(err);
            if (!x->top_of_stem[id]) x->top_of_stem[id] = top;
        }
    return OK;
}

/* The outermost changed call of the forward pass that this one undoes; itself: none, or it is
 * of the forward pass. */
static status forward_top(const program_ctx *x, uint32_t top, uint32_t *out, error *err) {
    *out = top;
    if (!name_is_backward(text_of(x, top))) return OK;
    str stem = name_without_pass(text_of(x, top), x->arena);
    if (!stem.p) FAIL_MEMORY(err);
    uint32_t id = intern_find(x->stems, stem);
    if (stem.n && id != UINT32_MAX && x->top_of_stem[id]) *out = x->top_of_stem[id];
    return OK;
}

static double calls_of(const program_ctx *x, const call_node *n, int side) {
    const node_cost *c = &n->cost[side];
    return (double)(c->calls ? c->calls : c->kernels) / x->steps[side];
}

static status add_call(program_ctx *x, uint32_t top, error *err) {
    uint32_t forward;
    TRY(forward_top(x, top, &forward, err));
    const call_node *n = node_at(x, forward);
    bool backward = name_is_backward(text_of(x, top));
    str shown = name_without_engine(text_of(x, forward));
    uint32_t name = intern_add(x->tree->names, shown);
    if (name == UINT32_MAX) FAIL_MEMORY(err);
    uint32_t at = find_row(x, (row_key){name, x->calls.anchor[forward], PROGRAM_COUNT});
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    program_row *r = row_at(x, at);
    r->c.kind = n->kind;
    r->c.is_compiled = lexicon_means(shown, MEANS_COMPILED);
    r->c.is_of_backward |= name_is_backward(text_of(x, r->c.where));
    for (int s = 0; s < N_SIDES; s++)
        (backward ? r->backward : r->forward)[s] += calls_of(x, node_at(x, top), s);
    for (int s = 0; s < N_SIDES; s++)
        r->variance += node_calls_variance(&x->sides[s], &node_at(x, top)->cost[s]);
    add_ns(r, top, x->top_ns[SIDE_A][top], x->top_ns[SIDE_B][top]);
    x->row_of[top] = at + 1;
    return OK;
}

static void finish_calls(program_row *r) {
    bool forward = r->forward[SIDE_A] > 0 || r->forward[SIDE_B] > 0;
    for (int s = 0; s < N_SIDES; s++) r->c.calls[s] = forward ? r->forward[s] : r->backward[s];
    r->c.is_of_backward |= !forward;
    r->c.form = r->c.calls[SIDE_A] <= 0   ? PROGRAM_NEW
                : r->c.calls[SIDE_B] <= 0 ? PROGRAM_GONE
                                          : PROGRAM_COUNT;
}

static status add_calls(program_ctx *x, error *err) {
    x->row_of = ARENA_ARRAY(x->arena, uint32_t, (size_t)x->tree->nodes.n + 1);
    if (!x->row_of) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < x->tree->nodes.n; i++)
        if (x->calls.top[i] == i) TRY(add_call(x, i, err));
    for (uint32_t i = 0; i < x->rows.n; i++) finish_calls(row_at(x, i));
    return OK;
}

/* ---- modules ----------------------------------------------------------------------------- */

static double module_calls_each(const program_ctx *x, const int64_t calls[N_SIDES], int side) {
    return (double)calls[side] / x->steps[side];
}

static double calls_change(const program_ctx *x, const int64_t calls[N_SIDES]) {
    return module_calls_each(x, calls, SIDE_B) - module_calls_each(x, calls, SIDE_A);
}

/* Where one run was recorded without modules, nothing is known about them. */
static bool both_have_modules(const program_ctx *x) {
    bool has[N_SIDES] = {false, false};
    for (uint32_t i = 1; i < x->tree->modules.nodes.n; i++)
        for (int s = 0; s < N_SIDES; s++)
            has[s] |= module_node_at(&x->tree->modules, i)->calls[s] > 0;
    return has[SIDE_A] && has[SIDE_B];
}

static status add_module(program_ctx *x, uint32_t module, error *err) {
    const module_node *m = module_node_at(&x->tree->modules, module);
    uint32_t at = groups_add(&x->rows);
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    program_row *r = row_at(x, at);
    r->most_ns = -1;
    r->c.kind = KIND_MODULE;
    r->c.name = m->name;
    r->c.module = m->parent;
    for (int s = 0; s < N_SIDES; s++) r->forward[s] = module_calls_each(x, m->calls, s);
    finish_calls(r);
    x->row_of_module[module] = at + 1;
    return OK;
}

static status add_modules(program_ctx *x, error *err) {
    const call_modules *all = &x->tree->modules;
    x->module_top = ARENA_ARRAY(x->arena, uint32_t, (size_t)all->nodes.n + 1);
    x->row_of_module = ARENA_ARRAY(x->arena, uint32_t, (size_t)all->nodes.n + 1);
    if (!x->module_top || !x->row_of_module) FAIL_MEMORY(err);
    if (!both_have_modules(x)) return OK;
    for (uint32_t i = 1; i < all->nodes.n; i++) {
        const module_node *m = module_node_at(all, i);
        uint32_t around = x->module_top[m->parent];
        bool changed = fabs(calls_change(x, m->calls)) >= LEAST_CALLS;
        x->module_top[i] = around ? around : changed ? i : 0;
        if (x->module_top[i] == i) TRY(add_module(x, i, err));
    }
    return OK;
}

/* Which modules the calls that changed are in. */
static void find_owners(program_ctx *x) {
    const call_modules *all = &x->tree->modules;
    for (uint32_t i = 0; i < all->calls.n; i++) {
        const module_calls *c = GROUP_ROW(&all->calls, module_calls, i);
        if (!x->row_of[c->node]) continue;
        program_row *r = row_at(x, x->row_of[c->node] - 1);
        double change = fabs(calls_change(x, c->calls));
        uint32_t top = x->module_top[c->module];
        r->in_modules += change;
        if (top) r->in_changed += change;
        if (change <= r->most_calls) continue;
        r->most_calls = change;
        r->c.module = c->module;
        r->module_row = top ? x->row_of_module[top] : 0;
    }
}

/* What is inside a module that changed is reported with the module. */
static void give_to_modules(program_ctx *x) {
    for (uint32_t i = 0; i < x->rows.n; i++) {
        program_row *r = row_at(x, i);
        if (r->in_modules <= 0 || r->in_changed < IN_MODULES * r->in_modules) r->module_row = 0;
        if (!r->module_row) continue;
        program_row *to = row_at(x, r->module_row - 1);
        to->c.parts++;
        to->c.is_compiled |= r->c.is_compiled;
        add_ns(to, r->c.most, r->c.ns[SIDE_A], r->c.ns[SIDE_B]);
    }
}

/* ---- other shapes and kernels ------------------------------------------------------------ */

static bool has_other_kernels(const program_ctx *x, const call_node *n) {
    const node_cost *c = n->cost;
    return node_sums_differ(x->sides, (uint64_t)c[SIDE_A].kernels,
                            (uint64_t)c[SIDE_B].kernels) ||
           node_sums_differ(x->sides, c[SIDE_A].names, c[SIDE_B].names);
}

static status add_otherwise(program_ctx *x, uint32_t node, uint32_t top, program_form form,
                            error *err) {
    const call_node *n = node_at(x, node);
    matched m = node_match(x->sides, n);
    uint32_t at = find_row(x, (row_key){node_at(x, top)->name, 0, form});
    if (at == GROUP_NONE) FAIL_MEMORY(err);
    program_row *r = row_at(x, at);
    r->c.form = form;
    r->c.kind = node_at(x, top)->kind;
    for (int s = 0; s < N_SIDES && node == top; s++)
        r->c.calls[s] += form == PROGRAM_SHAPES ? calls_of(x, n, s)
                                                : (double)n->cost[s].kernels / x->steps[s];
    add_ns(r, node, m.device[SIDE_A], m.device[SIDE_B]);
    return OK;
}

static bool may_differ(const program_ctx *x, uint32_t node) {
    const call_node *n = node_at(x, node);
    return !x->calls.top[node] && !n->place &&
           !(n->flags & (NODE_ALLOCATES | NODE_COMMUNICATES));
}

/* The outermost call with other shapes is listed, with all inside it; those of the backward
 * pass follow from the others. A different workload has other shapes everywhere: its verdict
 * says so. */
static status add_others(program_ctx *x, const change_causes *causes, error *err) {
    uint32_t *reshaped = ARENA_ARRAY(x->arena, uint32_t, (size_t)x->tree->nodes.n + 1);
    bool *backward = ARENA_ARRAY(x->arena, bool, (size_t)x->tree->nodes.n + 1);
    if (!reshaped || !backward) FAIL_MEMORY(err);
    if (parity_is_other_work(causes)) return OK;
    for (uint32_t i = 1; i < x->tree->nodes.n; i++) {
        const call_node *n = node_at(x, i);
        uint32_t around = reshaped[n->parent];
        backward[i] = backward[n->parent] || name_is_backward(text_of(x, i));
        if (backward[i] || !may_differ(x, i)) continue;
        reshaped[i] = around ? around : node_is_reshaped(x->sides, n) ? i : 0;
        if (reshaped[i])
            TRY(add_otherwise(x, i, reshaped[i], PROGRAM_SHAPES, err));
        else if (!x->calls.inside[i] && has_other_kernels(x, n))
            TRY(add_otherwise(x, i, i, PROGRAM_KERNELS, err));
    }
    return OK;
}

/* ---- order ------------------------------------------------------------------------------- */

/* Compiled code and modules stand for much else; a call that is wholly new or gone is surer to
 * be meant than one made more often; what the backward pass does follows from the rest. */
static int rank_of(const program_change *c) {
    bool whole = c->form == PROGRAM_NEW || c->form == PROGRAM_GONE;
    if (c->is_of_backward) return 5;
    if (whole && c->is_compiled) return 0;
    if (whole && c->kind == KIND_MODULE) return 1;
    if (whole) return 2;
    return c->form == PROGRAM_COUNT ? 3 : 5 + (int)(c->form - PROGRAM_COUNT);
}

static int compare_rows(uint32_t a, uint32_t b, const void *context) {
    const program_change *v = context, *x = &v[a], *y = &v[b];
    int i = rank_of(x), j = rank_of(y);
    if (i != j) return i - j;
    double p = fabs(program_change_ns(x)), q = fabs(program_change_ns(y));
    if (p != q) return p > q ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool is_listed(const program_row *r) {
    double change = fabs(r->c.calls[SIDE_B] - r->c.calls[SIDE_A]);
    if (r->module_row) return false;
    if (r->c.form > PROGRAM_COUNT) return true;
    return change >= LEAST_CALLS && change > SURE_TIMES * sqrt(r->variance);
}

static status write_out(const program_ctx *x, program_changes *out, error *err) {
    size_t n = (size_t)x->rows.n + 1;
    program_change *v = ARENA_ARRAY(x->arena, program_change, n);
    uint32_t *order = ARENA_ARRAY(x->arena, uint32_t, n);
    uint32_t *scratch = ARENA_ARRAY(x->arena, uint32_t, n), kept = 0;
    out->v = ARENA_ARRAY(x->arena, program_change, n);
    if (!v || !order || !scratch || !out->v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < x->rows.n; i++)
        if (is_listed(row_at(x, i))) v[kept++] = row_at(x, i)->c;
    for (uint32_t i = 0; i < kept; i++) order[i] = i;
    sort_index(order, scratch, kept, compare_rows, v);
    for (uint32_t i = 0; i < kept; i++) {
        out->v[i] = v[order[i]];
        if (i) out->v[i].is_compiled = false; /* the first says it */
        if (out->v[i].form <= PROGRAM_COUNT) out->n_counts++;
    }
    out->n = kept;
    return OK;
}

static status find_all(program_ctx *x, const change_causes *causes, program_changes *out,
                       error *err) {
    TRY(changed_calls_find(x->tree, x->sides, x->arena, &x->calls, err));
    TRY(groups_init(&x->rows, x->arena, sizeof(program_row), err));
    TRY(sum_tops(x, err));
    TRY(find_stems(x, err));
    TRY(add_calls(x, err));
    TRY(add_modules(x, err));
    find_owners(x);
    give_to_modules(x);
    TRY(add_others(x, causes, err));
    return write_out(x, out, err);
}

status program_changes_make(const call_tree *tree, const compared_side sides[N_SIDES],
                            const change_causes *causes, arena *a, program_changes *out,
                            error *err) {
    program_ctx x = {.tree = tree, .sides = sides, .arena = a, .stems = intern_new()};
    *out = (program_changes){.n = 0};
    if (!x.stems) FAIL_MEMORY(err);
    for (int s = 0; s < N_SIDES; s++) x.steps[s] = side_steps(&sides[s]);
    status done = causes->in_common ? find_all(&x, causes, out, err) : OK;
    intern_free(x.stems);
    return done;
}

const program_change *program_change_of(const program_changes *p, uint32_t where,
                                        const double ns[N_SIDES]) {
    int side = ns[SIDE_B] >= ns[SIDE_A] ? SIDE_B : SIDE_A;
    for (uint32_t i = 0; i < p->n_counts; i++)
        if (p->v[i].where == where && p->v[i].ns[side] >= MOST_OF_IT * ns[side])
            return &p->v[i];
    return NULL;
}
