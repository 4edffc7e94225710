/* chakra.c: the trace as a Chakra graph, for simulators such as ASTRA-sim: what was done, how
 * long it took, and what it had to wait for.
 *
 *     host     op ──> op ──> op ──────────────> op  program order; ctrl_deps: the op around it
 *               │      └────────┐                ↑
 *     stream    └─> kernel ──> kernel ──> copy ──┘  stream order; the launch; the end of a wait
 *
 * Nodes are device work, operators and collectives of the host, and launching calls outside of
 * every operator. A host node has its own time, without that of the nodes inside it: a
 * simulator adds all of them up. Time between operators is in none. What one stream waits for
 * of another (cudaStreamWaitEvent) is not among the dependencies.
 *
 * Order: a node's key is its start, of device work also not before that of its launch and of
 * what its stream did before. Every dependency has a smaller key, or the same one and comes
 * first (the host before devices, then by slice): so the file, which is in this order, holds no
 * circle, whatever clocks did. */
#include "analyse/kind_names.h"
#include "base/bisect.h"
#include "base/num.h"
#include "base/sort.h"
#include "export/chakra_int.h"

/* Kernels that one may overlap, of those that are looked at. */
enum { MOST_OVERLAPS = 64 };

typedef struct {
    export_ctx *x;
    arena arena;
    uint8_t *is_node; /* by slice */
    uint8_t
        *is_wait;    /* by string id: 0 not looked at, 1 no, 2 a call that waits for a device */
    uint32_t *above; /* by slice: the nearest node around it; 0 = none */
    int64_t *self_ns; /* by slice, of host nodes */
    uint32_t *before; /* by slice: node before it on its track; 0 = none */
    int64_t
        *waited_ns;   /* by slice: of a host node, until when a call before it waited; 0: no */
    uint32_t *kernel; /* by slice: row of table kernel */
    int64_t *kernel_key; /* by row */
    uint32_t *comm;      /* by slice: row + 1 of the collectives */
    int64_t *op_ns;      /* by row of table op: device time */
    collective_list collectives;
    op_work work;
    selection select;
    buf scratch[2];
} chakra;

static bool is_host_kind(uint8_t kind) {
    return kind == KIND_OP || kind == KIND_COLLECTIVE;
}

static bool in_window(const chakra *c, uint32_t slice) {
    return export_holds(c->x, c->x->t->slice.start[slice]);
}

/* ---- which slices are nodes -------------------------------------------------------------- */

static void mark_nodes(chakra *c) {
    const trace *t = c->x->t;
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint32_t parent = t->slice.parent[i];
        c->above[i] = parent && c->is_node[parent] ? parent : c->above[parent];
        c->is_node[i] = is_host_kind(t->slice.kind[i]) && in_window(c, i);
    }
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k], launch = t->kernel.launch[k];
        c->kernel[slice] = k;
        c->is_node[slice] = in_window(c, slice);
        if (launch && !c->above[launch] && !kind_is_device(t->slice.kind[launch]))
            c->is_node[launch] = in_window(c, launch);
    }
}

/* Launching calls became nodes after their insides were looked at; they have none. */
static void find_self(chakra *c) {
    const trace *t = c->x->t;
    for (uint32_t i = 1; i < t->slice.n; i++) {
        if (!c->is_node[i] || c->kernel[i]) continue;
        c->self_ns[i] = max_i64(t->slice.dur[i], 0);
        uint32_t around = c->above[i];
        if (around) c->self_ns[around] = max_i64(0, c->self_ns[around] - c->self_ns[i]);
    }
}

/* ---- order ------------------------------------------------------------------------------- */

static bool waits(chakra *c, uint32_t slice) {
    const trace *t = c->x->t;
    uint8_t *known = &c->is_wait[t->slice.name[slice]];
    if (!kind_is_call(t->slice.kind[slice])) return false;
    if (!*known)
        *known = str_find(trace_str(t, t->slice.name[slice]), STR("Synchronize"), 0) == SIZE_MAX
                     ? 1
                     : 2;
    return *known == 2;
}

/* Kernels of one stream may overlap (graphs, dependent launches): the last one that had
 * ended. */
static uint32_t ended_before(const chakra *c, uint32_t last, int64_t start) {
    for (int n = 0; last && c->kernel[last] && trace_slice_end(c->x->t, last) > start; n++)
        last = n < MOST_OVERLAPS ? c->before[last] : 0;
    return last;
}

static void order_track(chakra *c, uint32_t track) {
    const trace *t = c->x->t;
    uint32_t last = 0;
    int64_t until = 0;
    for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++) {
        if (waits(c, i)) until = max_i64(until, trace_slice_end(t, i));
        if (!c->is_node[i]) continue;
        c->before[i] = ended_before(c, last, t->slice.start[i]);
        last = i;
        if (c->kernel[i] || !until || t->slice.start[i] < until) continue;
        c->waited_ns[i] = until;
        until = 0;
    }
}

/* The host node that launched it; 0 when that is not known, or outside of the window. */
static uint32_t launcher(const chakra *c, uint32_t kernel) {
    uint32_t launch = c->x->t->kernel.launch[kernel];
    if (!launch || c->is_node[launch]) return launch;
    return c->above[launch];
}

static void find_kernel_keys(chakra *c) {
    const trace *t = c->x->t;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k], host = launcher(c, k), last = c->before[slice];
        int64_t key = t->slice.start[slice];
        if (host) key = max_i64(key, t->slice.start[host]);
        if (last && c->kernel[last]) key = max_i64(key, c->kernel_key[c->kernel[last]]);
        c->kernel_key[k] = key;
    }
}

static int64_t key_of(const chakra *c, uint32_t slice) {
    uint32_t k = c->kernel[slice];
    return k ? c->kernel_key[k] : c->x->t->slice.start[slice];
}

/* ---- one node ---------------------------------------------------------------------------- */

static void depend(chakra_node *n, uint32_t on) {
    if (on && n->n_deps < CHAKRA_MOST_DEPS) n->deps[n->n_deps++] = on;
}

/* A call before this node waited for the device: the last work of each stream that had ended by
 * then. */
static void depend_on_streams(const chakra *c, chakra_node *n) {
    const trace *t = c->x->t;
    int64_t until = c->waited_ns[n->slice], start = t->slice.start[n->slice];
    for (uint32_t track = 1; until && track < t->track.n; track++) {
        if (t->track.kind[track] != TRACK_STREAM) continue;
        uint32_t i = trace_lower_bound(t, track, until), first = t->track.first[track];
        while (i > first && (!c->is_node[i - 1] || trace_slice_end(t, i - 1) > until)) i--;
        if (i > first && c->kernel[i - 1] && key_of(c, i - 1) < start) depend(n, i - 1);
    }
}

static chakra_type type_of_copy(const trace *t, uint32_t slice) {
    static const chakra_type types[] = {[COPY_ELSEWHERE] = CHAKRA_COMP,
                                        [COPY_TO_DEVICE] = CHAKRA_LOAD,
                                        [COPY_TO_HOST] = CHAKRA_STORE};
    if (t->slice.kind[slice] != KIND_MEMCPY) return CHAKRA_COMP;
    return types[copy_way_of(trace_str(t, t->slice.name[slice]))];
}

static chakra_type type_of_comm(const chakra *c, const collective *comm) {
    if (comm_type_of(comm->name) != COMM_POINT)
        return chakra_comm_type(comm->name) < 0 ? CHAKRA_COMP : CHAKRA_COLLECTIVE;
    bool receives = str_find_nocase(comm->name, STR("recv"), 0) != SIZE_MAX ||
                    (comm->target != ABSENT_I64 && comm->target == trace_rank(c->x->t));
    return receives ? CHAKRA_RECEIVE : CHAKRA_SEND;
}

static uint32_t op_row_of(const trace *t, uint32_t slice) {
    uint32_t row = SEARCH_FIRST(i, 1, t->op.n, t->op.slice[i] < slice);
    return slice && row < t->op.n && t->op.slice[row] == slice ? row : 0;
}

/* Operations and bytes of an operator, shared among its device work by time. */
static status fill_cost(chakra *c, chakra_node *n) {
    const trace *t = c->x->t;
    op_cost cost;
    uint32_t row = n->kernel ? op_row_of(t, t->kernel.op[n->kernel]) : 0;
    if (n->kernel) n->bytes = t->kernel.bytes[n->kernel];
    if (!row || n->type != CHAKRA_COMP || t->slice.kind[n->slice] != KIND_KERNEL ||
        c->op_ns[row] <= 0)
        return OK;
    TRY(op_work_cost(&c->work, row, &cost, c->x->err));
    double share = (double)n->dur_ns / (double)c->op_ns[row];
    n->flops = cost.flops * share;
    double bytes = cost.bytes * share;
    if (n->bytes == ABSENT_I64 && bytes >= 1 && bytes < 9e18) n->bytes = (int64_t)bytes;
    return OK;
}

static status make_node(chakra *c, uint32_t slice, chakra_node *n) {
    const trace *t = c->x->t;
    uint32_t k = c->kernel[slice], comm = c->comm[slice];
    *n = (chakra_node){.slice = slice,
                       .type = CHAKRA_COMP,
                       .on_host = !k,
                       .dur_ns = k ? max_i64(t->slice.dur[slice], 0) : c->self_ns[slice],
                       .kernel = k,
                       .op = k ? 0 : op_row_of(t, slice),
                       .flops = (double)NAN,
                       .bytes = ABSENT_I64,
                       .control = k ? 0 : c->above[slice]};
    if (comm) n->type = type_of_comm(c, &c->collectives.v[comm - 1]);
    if (comm && n->type != CHAKRA_COMP) n->comm = &c->collectives.v[comm - 1];
    if (k && !comm) n->type = type_of_copy(t, slice);
    depend(n, c->before[slice]);
    if (k) depend(n, launcher(c, k));
    if (!k) depend_on_streams(c, n);
    return fill_cost(c, n);
}

/* ---- the whole --------------------------------------------------------------------------- */

/* The collective is its first kernel; without any it is the host's range. */
static status find_collectives(chakra *c) {
    const trace *t = c->x->t;
    c->collectives.arena = &c->arena;
    TRY(collectives_add(&c->collectives, t, 0, c->x->err));
    for (uint32_t i = 0; i < c->collectives.n; i++) {
        const collective *v = &c->collectives.v[i];
        uint32_t slice = v->slice;
        for (uint32_t r = v->n_ranges; COUNT_DOWN(r);) {
            uint32_t k = c->collectives.kernels[v->first_range + r];
            if (k) slice = t->kernel.slice[k];
        }
        if (slice) c->comm[slice] = i + 1;
    }
    return OK;
}

static void find_op_times(chakra *c) {
    const trace *t = c->x->t;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t row = op_row_of(t, t->kernel.op[k]), slice = t->kernel.slice[k];
        if (row && t->slice.kind[slice] == KIND_KERNEL)
            c->op_ns[row] = add_i64(c->op_ns[row], max_i64(t->slice.dur[slice], 0));
    }
}

static status prepare(chakra *c) {
    const trace *t = c->x->t;
    arena *a = &c->arena;
    size_t n = (size_t)t->slice.n + 1;
    c->is_node = ARENA_ARRAY(a, uint8_t, n);
    c->is_wait = ARENA_ARRAY(a, uint8_t, (size_t)t->n_strings + 1);
    c->above = ARENA_ARRAY(a, uint32_t, n);
    c->self_ns = ARENA_ARRAY(a, int64_t, n);
    c->before = ARENA_ARRAY(a, uint32_t, n);
    c->waited_ns = ARENA_ARRAY(a, int64_t, n);
    c->kernel = ARENA_ARRAY(a, uint32_t, n);
    c->comm = ARENA_ARRAY(a, uint32_t, n);
    c->kernel_key = ARENA_ARRAY(a, int64_t, (size_t)t->kernel.n + 1);
    c->op_ns = ARENA_ARRAY(a, int64_t, (size_t)t->op.n + 1);
    if (!c->is_node || !c->is_wait || !c->above || !c->self_ns || !c->before || !c->waited_ns ||
        !c->kernel || !c->comm || !c->kernel_key || !c->op_ns)
        FAIL_MEMORY(c->x->err);
    mark_nodes(c);
    find_self(c);
    for (uint32_t track = 1; track < t->track.n; track++) order_track(c, track);
    find_kernel_keys(c);
    find_op_times(c);
    const params p = {0};
    c->select = select_all(t);
    TRY(op_work_init(&c->work, &c->select, &p, a, c->x->err));
    return find_collectives(c);
}

/* By key, hosts before devices: two stable sorts. */
static status sort_nodes(chakra *c, uint32_t **out, uint32_t *n_out) {
    const trace *t = c->x->t;
    uint32_t n = 0, *order = ARENA_ARRAY(&c->arena, uint32_t, (size_t)t->slice.n + 1);
    sort_pair *pairs = ARENA_ARRAY(&c->arena, sort_pair, (size_t)t->slice.n + 1);
    if (!order || !pairs) FAIL_MEMORY(c->x->err);
    for (int device = 0; device < 2; device++)
        for (uint32_t i = 1; i < t->slice.n; i++)
            if (c->is_node[i] && (c->kernel[i] != 0) == device)
                pairs[n++] = (sort_pair){(uint64_t)key_of(c, i) ^ UINT64_C(1) << 63, i};
    if (!sort_radix_in(&c->arena, pairs, n)) FAIL_MEMORY(c->x->err);
    for (uint32_t i = 0; i < n; i++) order[i] = pairs[i].row;
    *out = order;
    *n_out = n;
    return OK;
}

static status write_all(chakra *c) {
    uint32_t *order = NULL, n = 0;
    chakra_node node;
    TRY(prepare(c));
    TRY(sort_nodes(c, &order, &n));
    chakra_write_head(c->x, c->scratch);
    for (uint32_t i = 0; i < n; i++) {
        TRY(make_node(c, order[i], &node));
        chakra_write_node(c->x, &node, c->scratch);
        TRY(export_row_done(c->x));
    }
    return OK;
}

status export_chakra(export_ctx *x) {
    chakra c = {.x = x};
    arena_init(&c.arena, 0);
    status s = write_all(&c);
    arena_fini(&c.arena);
    buf_fini(&c.scratch[0]);
    buf_fini(&c.scratch[1]);
    return s;
}
