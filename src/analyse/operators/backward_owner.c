/* backward_owner.c: which module a piece of backward work belongs to.
 *
 * Two walks. The first finds the engine's outermost nodes on every thread with the device
 * work launched inside them. The second goes through the arrows in order of their forward
 * ends with a stack of open module calls, and gives the node around the backward end to the
 * innermost module. Two forward ops that end in one node: the first owns it. A node of gradient
 * accumulation that comes first, or whose predecessor has no owner, has none. */
#include "analyse/operators/backward_owner.h"

#include "analyse/lexicon.h"

#include "analyse/operators/work_by_op.h"
#include "base/bisect.h"
#include "base/map.h"
#include "base/sort.h"

static const str accumulate = {
    "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 68};

typedef struct {
    const trace *t;
    const selection *select;
    arena *arena;
    uint8_t *name_kind; /* by string id: 0 unknown, 1 no, 2 engine's node, 3 accumulation */
    backward_nodes nodes;
    uint32_t cap;
} finder;

static uint8_t look_at_name(finder *f, uint32_t name) {
    if (name >= f->t->n_strings) return 1;
    if (!f->name_kind[name]) {
        str text = trace_str(f->t, name);
        f->name_kind[name] = str_eq(text, accumulate)                   ? 3
                             : lexicon_means(text, MEANS_RUNS_BACKWARD) ? 2
                                                                        : 1;
    }
    return f->name_kind[name];
}

static backward_node *add_node(finder *f, uint32_t slice) {
    if (f->nodes.n == f->cap) {
        uint32_t cap = f->cap ? f->cap * 2 : 256;
        void *grown = arena_grow(f->arena, f->nodes.v, f->cap * sizeof *f->nodes.v,
                                 cap * sizeof *f->nodes.v);
        if (!grown) return NULL;
        f->nodes.v = grown;
        f->cap = cap;
    }
    backward_node *n = &f->nodes.v[f->nodes.n++];
    *n = (backward_node){.slice = slice, .ns = select_ns(f->select, slice)};
    return n;
}

/* The outermost nodes of every thread and the device work inside them. */
static status find_nodes(finder *f, error *err) {
    const trace *t = f->t;
    work_list work;
    TRY(work_by_host(t, t->kernel.launch, f->arena, &work, err));
    for (uint32_t track = 1; track < t->track.n; track++) {
        int64_t until = INT64_MIN;
        for (uint32_t i = t->track.first[track]; i && i < t->track.end[track]; i++) {
            if (t->slice.start[i] >= until && t->slice.kind[i] == KIND_OP &&
                look_at_name(f, t->slice.name[i]) > 1) {
                if (!add_node(f, i)) FAIL_MEMORY(err);
                until = slice_end(t, i);
            }
            for (uint32_t k; (k = work_next(&work, i));) {
                if (t->slice.start[i] >= until || !f->nodes.n) continue;
                backward_node *n = &f->nodes.v[f->nodes.n - 1];
                n->device = add_i64(n->device, select_work_ns(f->select, k));
            }
        }
    }
    return OK;
}

/* The node around a backward op: nodes are in order of slices, and so are the slices inside. */
static backward_node *node_around(const finder *f, uint32_t slice) {
    uint32_t low = SEARCH_FIRST(i, 0, f->nodes.n, f->nodes.v[i].slice <= slice);
    if (!low) return NULL;
    backward_node *n = &f->nodes.v[low - 1];
    const trace *t = f->t;
    if (t->slice.start[slice] < t->slice.start[n->slice] ||
        slice_end(t, slice) > slice_end(t, n->slice))
        return NULL;
    return n;
}

/* Arrows from forward to backward, by forward slice. */
static sort_pair *sort_arrows(const finder *f, size_t *n) {
    const trace *t = f->t;
    sort_pair *pairs = ARENA_ARRAY(f->arena, sort_pair, (size_t)t->flow.n + 1);
    if (!pairs) return NULL;
    for (uint32_t i = 1; i < t->flow.n; i++)
        if (t->flow.kind[i] == FLOW_FORWARD_BACKWARD && t->flow.from[i] && t->flow.to[i])
            pairs[(*n)++] = (sort_pair){t->flow.from[i], i};
    return sort_radix_in(f->arena, pairs, *n) ? pairs : NULL;
}

/* The innermost module call (row) that is open when each arrow's forward op begins. */
static status give_to_modules(finder *f, error *err) {
    const trace *t = f->t;
    size_t n = 0, at = 0;
    sort_pair *arrows = sort_arrows(f, &n);
    uint32_t *open = ARENA_ARRAY(f->arena, uint32_t, (size_t)t->module_call.n + 1); /* rows */
    if (!arrows || !open) FAIL_MEMORY(err);
    uint32_t call = 1;
    for (uint32_t track = 1; track < t->track.n && at < n; track++) {
        uint32_t n_open = 0, end = t->track.end[track];
        for (; at < n && arrows[at].key < end; at++) {
            uint32_t from = (uint32_t)arrows[at].key;
            while (call < t->module_call.n && t->module_call.slice[call] < from) {
                uint32_t slice = t->module_call.slice[call];
                while (n_open && slice_end(t, t->module_call.slice[open[n_open - 1]]) <
                                     slice_end(t, slice))
                    n_open--;
                if (slice >= t->track.first[track]) open[n_open++] = call;
                call++;
            }
            while (n_open &&
                   slice_end(t, t->module_call.slice[open[n_open - 1]]) <= t->slice.start[from])
                n_open--;
            backward_node *node = node_around(f, t->flow.to[arrows[at].row]);
            if (node && !node->module_call && n_open) node->module_call = open[n_open - 1];
            if (node && !node->forward) node->forward = from;
        }
    }
    return OK;
}

static void give_accumulation(finder *f) {
    for (uint32_t i = 1; i < f->nodes.n; i++) {
        backward_node *n = &f->nodes.v[i], *before = n - 1;
        if (look_at_name(f, f->t->slice.name[n->slice]) != 3 ||
            (n->module_call && n->forward) ||
            trace_track_of(f->t, n->slice) != trace_track_of(f->t, before->slice))
            continue;
        if (!n->module_call) n->module_call = before->module_call;
        if (!n->forward) n->forward = before->forward;
    }
}

static bool has_sequence(const trace *t, uint32_t op) {
    return op && t->op.sequence[op] != ABSENT_I64 && t->op.sequence[op] >= 0;
}

/* Nodes that no arrow reaches: the first operator of the forward pass with their number. */
static status give_by_sequence(finder *f, error *err) {
    const trace *t = f->t;
    map first = {0};
    status st = OK;
    for (uint32_t i = 1; i < t->op.n && st == OK; i++) {
        bool backward = t->op.forward_thread[i] != ABSENT_I64 && t->op.forward_thread[i] > 0;
        if (backward || !has_sequence(t, i) || t->slice.kind[t->op.slice[i]] != KIND_OP)
            continue;
        uint32_t *at = map_at(&first, (uint64_t)t->op.sequence[i]);
        if (!at) st = ERR_MEMORY;
        if (at && (*at == MAP_NONE ||
                   t->slice.start[t->op.slice[i]] < t->slice.start[t->op.slice[*at]]))
            *at = i;
    }
    for (uint32_t i = 0; i < f->nodes.n && st == OK; i++) {
        backward_node *n = &f->nodes.v[i];
        uint32_t op = n->forward ? 0 : trace_op_of(t, n->slice);
        if (!has_sequence(t, op)) continue;
        uint32_t forward = map_get(&first, (uint64_t)t->op.sequence[op]);
        if (forward != MAP_NONE && t->op.slice[forward] != n->slice)
            n->forward = t->op.slice[forward];
    }
    map_fini(&first);
    if (st != OK) FAIL_MEMORY(err);
    return OK;
}

status backward_find(const trace *t, const selection *s, arena *a, backward_nodes *out,
                     error *err) {
    finder f = {.t = t, .select = s, .arena = a};
    f.name_kind = ARENA_ARRAY(a, uint8_t, (size_t)t->n_strings + 1);
    if (!f.name_kind) FAIL_MEMORY(err);
    TRY(find_nodes(&f, err));
    TRY(give_to_modules(&f, err));
    TRY(give_by_sequence(&f, err));
    give_accumulation(&f);
    *out = f.nodes;
    return OK;
}
