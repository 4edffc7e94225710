/* step_owners.c: every moment of a step to one node. One step after the other: memory is that
 * of the calls of the longest step, and a number for each slice. */
#include "analyse/compare/step_owners_int.h"

#include <math.h>

#include "analyse/lexicon.h"
#include "analyse/operators/op_scan.h"
#include "base/hash.h"

/* ---- nodes ------------------------------------------------------------------------------- */

enum { NAME_SEEN = 1, NAME_BLOCKS = 2, NAME_REPLAYS = 4, NAME_ALLOCATES = 8 };

static uint8_t look_up(owners *o, uint32_t name) {
    if (!o->names[name]) {
        str text = trace_str(o->t, name);
        o->names[name] =
            (uint8_t)(NAME_SEEN | (lexicon_means(text, MEANS_BLOCKS) ? NAME_BLOCKS : 0) |
                      (lexicon_means(text, MEANS_REPLAYS) ? NAME_REPLAYS : 0) |
                      (lexicon_means(text, MEANS_ALLOCATES) ? NAME_ALLOCATES : 0));
    }
    return o->names[name];
}

uint8_t owners_call_flags(owners *o, uint32_t name) {
    uint8_t says = look_up(o, name);
    return (uint8_t)((says & NAME_BLOCKS ? NODE_BLOCKS : 0) |
                     (says & NAME_ALLOCATES ? NODE_ALLOCATES : 0));
}

bool owners_is_replayed(owners *o, uint32_t kernel) {
    uint32_t call = o->t->kernel.launch[kernel];
    return o->t->kernel.graph_node[kernel] > 0 ||
           (call && look_up(o, o->t->slice.name[call]) & NAME_REPLAYS);
}

uint32_t owners_name(owners *o, uint32_t string) {
    if (!o->name_of[string]) {
        uint32_t id = intern_add(o->tree->names, trace_str(o->t, string));
        if (id != UINT32_MAX) o->name_of[string] = id + 1;
    }
    return o->name_of[string];
}

WRAPS static uint32_t known_place(uint32_t parent, uint32_t name) {
    return (parent * 2654435761u ^ name * 2246822519u) >> 20;
}

/* The child of a node; GROUP_NONE when out of memory. */
static uint32_t child_of(owners *o, uint32_t parent, uint32_t name) {
    known_child *k = &o->known[known_place(parent, name)];
    if (k->node && k->parent == parent && k->name == name) return k->node - 1;
    if (!owners_name(o, name)) return GROUP_NONE;
    uint32_t node = call_tree_child_named(o->tree, parent, o->name_of[name] - 1);
    if (node != GROUP_NONE) *k = (known_child){parent, name, node + 1};
    return node;
}

/* Slices come after those around them, so the node of the parent is known. */
static status name_nodes(owners *o, error *err) {
    const trace *t = o->t;
    bool on_host = !comm_on_device(&o->comms);
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint8_t kind = t->slice.kind[i];
        uint32_t parent = t->slice.parent[i];
        uint32_t node = parent && parent < i ? o->node_of[parent] : 0;
        bool is_call = kind_is_call(kind);
        uint8_t flags = is_call ? owners_call_flags(o, t->slice.name[i]) : 0;
        bool named = op_kind_counts(kind) && kind != KIND_STEP && (!is_call || flags);
        if (named && !trace_is_call_again(t, i)) {
            node = child_of(o, node, t->slice.name[i]);
            if (node == GROUP_NONE) FAIL_MEMORY(err);
            call_tree_node(o->tree, node)->flags |= flags;
            call_tree_node(o->tree, node)->kind = kind;
            if (kind == KIND_DATA) call_tree_node(o->tree, node)->flags |= NODE_LOADS;
            if (on_host && comm_host_id(&o->comms, t->slice.name[i]))
                call_tree_node(o->tree, node)->flags |= NODE_COMMUNICATES;
        }
        o->node_of[i] = node;
        if (o->module_of && !o->module_of[i] && parent < i)
            o->module_of[i] = o->module_of[parent];
    }
    return OK;
}

uint64_t owners_string_hash(owners *o, uint32_t id) {
    if (!o->hash_of[id]) {
        str s = trace_str(o->t, id);
        o->hash_of[id] = hash_bytes64(s.p, s.n) | 1;
    }
    return o->hash_of[id];
}

/* ---- giving ------------------------------------------------------------------------------ */

node_cost *owners_cost_now(owners *o, uint32_t node) {
    node_cost *c = &call_tree_node(o->tree, node)->cost[SIDE_A];
    if (c->step == o->step) return c;
    c->device_squares += (double)c->now_device * (double)c->now_device;
    c->host_squares += (double)c->now_host * (double)c->now_host;
    c->call_squares += (double)c->now_calls * (double)c->now_calls;
    c->now_device = c->now_host = c->now_calls = 0;
    c->step = o->step;
    return c;
}

static void note_slowest(node_cost *c, uint32_t slice, int64_t ns) {
    if (ns <= c->slowest_ns) return;
    c->slowest_ns = ns;
    c->slowest = slice;
}

static void give_device(owners *o, uint32_t node, uint32_t slice, int64_t ns) {
    node_cost *c = owners_cost_now(o, node);
    double *all = &o->out->of[MEASURE_DEVICE][o->step - 1];
    *all += (double)ns;
    c->device_ns = add_i64(c->device_ns, ns);
    c->now_device = add_i64(c->now_device, ns);
    note_slowest(c, slice, ns);
}

static void give_host(owners *o, uint32_t slice, int64_t ns) {
    node_cost *c = owners_cost_now(o, o->node_of[slice]);
    c->host_ns = add_i64(c->host_ns, ns);
    c->now_host = add_i64(c->now_host, ns);
    note_slowest(c, slice, ns);
}

static void give_gap(owners *o, uint32_t slice, int64_t ns, bool first) {
    node_cost *c = owners_cost_now(o, slice ? o->node_of[slice] : 0);
    c->gap_ns = add_i64(c->gap_ns, ns);
    c->now_host = add_i64(c->now_host, ns);
    if (first) c->first_ns = add_i64(c->first_ns, ns);
    note_slowest(c, slice, ns);
}

/* Time in which no device works: calls of the host, and the time before them. */
static void give_idle(owners *o, int64_t from, int64_t to, size_t *next, int64_t step_start) {
    while (*next < o->n_host && o->host[*next].end <= from) (*next)++;
    for (size_t i = *next; from < to; i++) {
        const stretch *h = i < o->n_host ? &o->host[i] : NULL;
        int64_t begins = h ? min_i64(h->start, to) : to;
        if (begins > from) {
            give_gap(o, h ? h->slice : 0, sub_i64(begins, from), from == step_start);
            from = begins;
        }
        if (!h) return;
        int64_t ends = min_i64(h->end, to);
        if (ends > from) {
            give_host(o, h->slice, sub_i64(ends, from));
            from = ends;
        }
    }
}

/* Work of no known operator has a node by its own name where it was launched, work of a graph
 * by its place in the graph. */
static uint32_t node_of_work(owners *o, uint32_t k) {
    const trace *t = o->t;
    uint32_t op = t->kernel.op[k], launch = t->kernel.launch[k];
    if (o->graph_node_of && o->graph_node_of[k]) return o->graph_node_of[k] - 1;
    if (op) return o->node_of[op];
    uint32_t slice = t->kernel.slice[k];
    uint32_t node = child_of(o, launch ? o->node_of[launch] : 0, t->slice.name[slice]);
    if (node != GROUP_NONE) call_tree_node(o->tree, node)->kind = t->slice.kind[slice];
    return node;
}

static status give_work(owners *o, uint32_t k, int64_t ns, error *err) {
    const trace *t = o->t;
    uint32_t slice = t->kernel.slice[k], node = node_of_work(o, k);
    if (node == GROUP_NONE) FAIL_MEMORY(err);
    if (o->communicates[k]) call_tree_node(o->tree, node)->flags |= NODE_COMMUNICATES;
    give_device(o, node, slice, ns);
    return OK;
}

/* Time in which no device computes: communication, and the rest. */
static status give_rest(owners *o, int64_t from, int64_t to, size_t *next, int64_t step_start,
                        error *err) {
    while (o->piece_at < o->n_pieces && o->pieces[o->piece_at].end <= from) o->piece_at++;
    for (uint32_t i = o->piece_at; i < o->n_pieces && o->pieces[i].start < to; i++) {
        const comm_piece *p = &o->pieces[i];
        int64_t start = max_i64(p->start, from), end = min_i64(p->end, to);
        if (start > from) give_idle(o, from, start, next, step_start);
        TRY(give_work(o, p->kernel, sub_i64(end, start), err));
        from = end;
    }
    if (from < to) give_idle(o, from, to, next, step_start);
    return OK;
}

static status share_out(owners *o, const step_span *s, error *err) {
    const trace *t = o->t;
    int64_t now = s->start;
    size_t next = 0;
    while (o->at < o->n_work && slice_end(t, t->kernel.slice[o->work[o->at].row]) <= now)
        o->at++;
    for (uint32_t i = o->at; i < o->n_work; i++) {
        uint32_t k = o->work[i].row, slice = t->kernel.slice[k];
        int64_t start = t->slice.start[slice], end = min_i64(slice_end(t, slice), s->end);
        if (start >= s->end) break;
        if (end <= now || o->communicates[k]) continue;
        if (start > now) {
            TRY(give_rest(o, now, start, &next, s->start, err));
            now = start;
        }
        TRY(give_work(o, k, sub_i64(end, now), err));
        now = end;
    }
    return now < s->end ? give_rest(o, now, s->end, &next, s->start, err) : OK;
}

static status read_step(owners *o, const step_span *s, error *err) {
    TRY(owners_read_host(o, s, err));
    return share_out(o, s, err);
}

/* ---- all steps --------------------------------------------------------------------------- */

/* Communication of all streams, of two at once the earlier one up to its end. */
static void find_pieces(owners *o) {
    const trace *t = o->t;
    int64_t now = INT64_MIN;
    for (uint32_t i = 0; i < o->n_work; i++) {
        uint32_t k = o->work[i].row, slice = t->kernel.slice[k];
        o->communicates[k] = comm_kernel_row(&o->comms, k);
        int64_t start = max_i64(t->slice.start[slice], now), end = slice_end(t, slice);
        if (!o->communicates[k] || end <= start) continue;
        o->pieces[o->n_pieces++] = (comm_piece){start, end, k};
        now = end;
    }
}

static status owners_init(owners *o, error *err) {
    const trace *t = o->t;
    size_t n_work = (size_t)t->kernel.n + 1;
    o->node_of = ARENA_ARRAY(o->arena, uint32_t, (size_t)t->slice.n + 1);
    o->launched = ARENA_ARRAY(o->arena, uint8_t, (size_t)t->slice.n + 1);
    o->known = ARENA_ARRAY(o->arena, known_child, KNOWN);
    o->name_of = ARENA_ARRAY(o->arena, uint32_t, (size_t)t->n_strings + 1);
    o->names = ARENA_ARRAY(o->arena, uint8_t, (size_t)t->n_strings + 1);
    o->hash_of = ARENA_ARRAY(o->arena, uint64_t, (size_t)t->n_strings + 1);
    o->work = ARENA_ARRAY(o->arena, sort_pair, n_work);
    o->pieces = ARENA_ARRAY(o->arena, comm_piece, n_work);
    o->communicates = ARENA_ARRAY(o->arena, uint8_t, n_work);
    if (!o->node_of || !o->launched || !o->known || !o->name_of || !o->names || !o->hash_of ||
        !o->work || !o->pieces || !o->communicates)
        FAIL_MEMORY(err);
    for (uint32_t k = 1; k < t->kernel.n; k++)
        o->work[o->n_work++] =
            (sort_pair){(uint64_t)t->slice.start[t->kernel.slice[k]] ^ (uint64_t)1 << 63, k};
    if (!sort_radix_in(o->arena, o->work, o->n_work)) FAIL_MEMORY(err);
    TRY(comm_names_init(&o->comms, t, o->arena, err));
    find_pieces(o);
    return OK;
}

static void count_launch(owners *o, uint32_t launch, double *launches) {
    if (!launch || o->launched[launch]) return;
    o->launched[launch] = 1;
    *launches += 1;
}

/* Names and numbers of kernels belong to the step in which they start. */
static status count_kernels(owners *o, const step_spans *steps, error *err) {
    const trace *t = o->t;
    for (uint32_t i = 0, s = 0; i < o->n_work && s < steps->n; i++) {
        uint32_t k = o->work[i].row, slice = t->kernel.slice[k];
        while (s < steps->n && t->slice.start[slice] >= steps->v[s].end) s++;
        if (s == steps->n || t->slice.start[slice] < steps->v[s].start) continue;
        uint32_t node = node_of_work(o, k);
        if (node == GROUP_NONE) FAIL_MEMORY(err);
        node_cost *c = &call_tree_node(o->tree, node)->cost[SIDE_A];
        o->out->of[MEASURE_KERNELS][s] += 1;
        count_launch(o, t->kernel.launch[k], &o->out->of[MEASURE_LAUNCH][s]);
        c->kernels++;
        c->replayed += owners_is_replayed(o, k);
        c->names = hash_add(c->names, hash_u64(owners_string_hash(o, t->slice.name[slice])));
        uint32_t name = owners_name(o, t->slice.name[slice]);
        name_sum *k_sum = name ? name_sum_at(&o->tree->kernels, name - 1) : NULL;
        if (!k_sum) FAIL_MEMORY(err);
        k_sum->calls[SIDE_A]++;
        k_sum->device_ns[SIDE_A] = add_i64(k_sum->device_ns[SIDE_A], t->slice.dur[slice]);
    }
    return OK;
}

/* Over all steps: their lengths, how much of them no device works, and that for each launch,
 * where their number is known. */
static status measure_steps(owned_steps *out, arena *a, error *err) {
    const step_spans *s = &out->steps;
    TRY(step_spans_median(s, a, &out->median_ns, err));
    for (uint32_t i = 0; i < s->n; i++) {
        int64_t ns = step_span_ns(&s->v[i]);
        double launches = out->of[MEASURE_LAUNCH][i];
        out->sum_ns = add_i64(out->sum_ns, ns);
        out->of[MEASURE_STEP][i] = (double)ns;
        out->of[MEASURE_HOST][i] = (double)ns - out->of[MEASURE_DEVICE][i];
        out->of[MEASURE_LAUNCH][i] = launches > 0 ? out->of[MEASURE_HOST][i] / launches : NAN;
        out->launches += (int64_t)launches;
    }
    out->mean_ns = s->n ? out->sum_ns / s->n : 0;
    return OK;
}

status step_owners_make(call_tree *tree, const trace *t, const selection *s, arena *a,
                        arena *scratch, owned_steps *out, error *err) {
    owners o = {.tree = tree, .t = t, .arena = scratch, .out = out};
    *out = (owned_steps){.sum_ns = 0};
    TRY(step_spans_make(t, s, a, &out->steps, err));
    for (int m = 0; m < N_MEASURES; m++) {
        out->of[m] = ARENA_ARRAY(a, double, (size_t)out->steps.n + 1);
        if (!out->of[m]) FAIL_MEMORY(err);
    }
    TRY(owners_init(&o, err));
    TRY(owners_find_modules(&o, s, err));
    TRY(name_nodes(&o, err));
    TRY(owners_find_graphs(&o, err));
    for (uint32_t i = 0; i < out->steps.n; i++) {
        o.step = i + 1;
        TRY(read_step(&o, &out->steps.v[i], err));
    }
    o.step++;
    for (uint32_t n = 0; n < tree->nodes.n; n++) {
        int64_t calls = owners_cost_now(&o, n)->calls;
        if (!(call_tree_node(tree, n)->flags & NODE_ALLOCATES)) out->calls += calls;
    }
    TRY(count_kernels(&o, &out->steps, err));
    for (uint32_t n = 0; n < tree->nodes.n; n++)
        out->kernels += call_tree_node(tree, n)->cost[SIDE_A].kernels;
    return measure_steps(out, scratch, err);
}
