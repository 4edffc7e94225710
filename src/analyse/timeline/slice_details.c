/* slice_details.c: what one slice is connected with, and how it compares.
 *
 * Why device work ran is followed backwards: the call that launched it, the operator around the
 * call, the node of the backward pass around the operator, the matching forward operator of
 * that node, the Python frame that called it. What is not recorded is left out of the chain,
 * never guessed.
 *
 * Why it started when it did:
 *   after      other work ran on its stream when its launch call ended: it waited for that to
 *              end
 *   host_pace   the stream was free, and it started within 20 µs of the end of its launch call,
 *               or before: the usual way of a launch to the device; the host was not ahead
 *   dependency  the stream was free and it waited longer: for an event, a copy, another stream
 *   unknown     the launch was not recorded
 *
 * A histogram has equal bins from the shortest to the longest; where the longest is more than
 * 100 times the shortest, the bins are equal steps of the logarithm. */
#include "analyse/timeline/slice_details.h"
#include "base/bisect.h"

#define LAUNCH_LATENCY_NS 20000

typedef struct {
    const lod *l;
    const trace *t;
    arena *arena;
    slice_details *d;
} details_ctx;

/* ---- lists ------------------------------------------------------------------------------- */

static status list_init(slice_list *s, arena *a, error *err) {
    *s = (slice_list){.v = ARENA_ARRAY(a, uint32_t, DETAILS_MOST)};
    if (!s->v) FAIL_MEMORY(err);
    return OK;
}

static void list_add(slice_list *s, uint32_t slice) {
    if (s->n < DETAILS_MOST) s->v[s->n++] = slice;
    s->n_all++;
}

/* ---- around ------------------------------------------------------------------------------ */

static void find_children(details_ctx *q) {
    const trace *t = q->t;
    slice_details *d = q->d;
    uint32_t end = trace_subtree_end(t, d->slice);
    d->self_ns = t->slice.dur[d->slice];
    for (uint32_t i = d->slice + 1; i < end; i++) {
        if (t->slice.parent[i] != d->slice) continue;
        list_add(&d->children, i);
        d->self_ns -= min_i64(t->slice.dur[i], d->self_ns);
    }
}

static void find_neighbors(details_ctx *q) {
    slice_details *d = q->d;
    uint32_t place;
    if (!lod_find(q->l, d->slice, &d->lane, &d->row, &place)) return;
    const lod_row *r = &q->l->rows[q->l->lanes[d->lane].first_row + d->row];
    if (place > r->first) d->previous = q->l->entries[place - 1].id;
    if (place + 1 < r->end) d->next = q->l->entries[place + 1].id;
}

/* Device work the slice, or what is inside it, caused. */
static void find_kernels(details_ctx *q) {
    const trace *t = q->t;
    slice_details *d = q->d;
    uint32_t end = trace_subtree_end(t, d->slice);
    if (t->track.kind[d->track] == TRACK_STREAM) return;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t host = t->kernel.launch[k] ? t->kernel.launch[k] : t->kernel.op[k];
        if (host < d->slice || host >= end) continue;
        list_add(&d->kernels, t->kernel.slice[k]);
        d->kernel_ns = add_i64(d->kernel_ns, t->slice.dur[t->kernel.slice[k]]);
    }
}

bool frame_is_built_in(str name) {
    return str_starts(name, STR("<built-in "));
}

/* ---- causes ------------------------------------------------------------------------------ */

static void add_cause(details_ctx *q, const char *role, uint32_t slice) {
    slice_details *d = q->d;
    if (!slice || d->n_why == DETAILS_WHY) return;
    d->why[d->n_why++] = (slice_cause){
        .role = role,
        .slice = slice,
        .delay_ns = sub_i64(q->t->slice.start[d->slice], q->t->slice.start[slice])};
}

/* Built-ins are skipped: the frame around them has the line that calls them. */
static uint32_t ancestor_of_kind(const trace *t, uint32_t slice, uint8_t kind,
                                 uint8_t or_kind) {
    for (uint32_t i = slice; i; i = t->slice.parent[i])
        if ((t->slice.kind[i] == kind || t->slice.kind[i] == or_kind) &&
            !frame_is_built_in(trace_slice_name(t, i)))
            return i;
    return 0;
}

/* A slice and all around it, innermost first: descending ids. */
typedef struct {
    uint32_t *v;
    uint32_t n;
} lineage;

static status lineage_of(const trace *t, uint32_t slice, arena *a, lineage *out, error *err) {
    uint32_t n = 0;
    for (uint32_t i = slice; i; i = t->slice.parent[i]) n++;
    out->v = ARENA_ARRAY(a, uint32_t, n + 1);
    if (!out->v) FAIL_MEMORY(err);
    out->n = n;
    n = 0;
    for (uint32_t i = slice; i; i = t->slice.parent[i]) out->v[n++] = i;
    return OK;
}

static bool lineage_has(const lineage *l, uint32_t slice) {
    uint32_t at = SEARCH_FIRST(i, 0, l->n, l->v[i] > slice);
    return at < l->n && l->v[at] == slice;
}

/* The arrow from forward to backward whose head is the slice or the nearest one around it. */
static status find_backward(details_ctx *q, uint32_t slice, uint32_t *best, error *err) {
    const trace *t = q->t;
    lineage around = {.n = 0};
    TRY(lineage_of(t, slice, q->arena, &around, err));
    for (uint32_t i = 1; i < t->flow.n; i++) {
        if (t->flow.kind[i] != FLOW_FORWARD_BACKWARD || t->flow.to[i] > slice) continue;
        if (*best && t->flow.to[i] < t->flow.to[*best]) continue;
        if (lineage_has(&around, t->flow.to[i])) *best = i;
    }
    return OK;
}

static status find_causes(details_ctx *q, error *err) {
    const trace *t = q->t;
    uint32_t slice = q->d->slice, k = trace_kernel_of(t, slice), call = trace_call_of(t, slice);
    uint32_t op = slice;
    if (k) {
        add_cause(q, "launch", t->kernel.launch[k]);
        op = t->kernel.op[k];
        add_cause(q, "operator", op);
        if (!op) op = t->kernel.launch[k];
    } else if (call && t->call.op[call]) {
        op = t->call.op[call];
        add_cause(q, "operator", op);
    }
    if (!op) return OK;
    q->d->stack_of = op;
    uint32_t arrow = 0, caller = op;
    TRY(find_backward(q, op, &arrow, err));
    if (arrow) {
        if (t->flow.to[arrow] != op) add_cause(q, "backward", t->flow.to[arrow]);
        caller = t->flow.from[arrow];
        add_cause(q, "forward", caller);
        q->d->stack_of = caller;
    }
    uint32_t module = ancestor_of_kind(t, caller, KIND_MODULE, KIND_MODULE);
    uint32_t python = ancestor_of_kind(t, caller, KIND_PYTHON, KIND_MODULE);
    if (python == slice) python = 0;
    if (module == slice) module = 0;
    add_cause(q, "python", python != module ? python : 0);
    add_cause(q, "module", module);
    if (!k || t->kernel.op[k] == trace_own_op(t, k)) return OK;
    for (uint32_t i = 0; i < q->d->n_why; i++) /* the others are of another time */
        if (q->d->why[i].slice != t->kernel.launch[k]) q->d->why[i].delay_ns = ABSENT_I64;
    return OK;
}

static status find_flows(details_ctx *q, error *err) {
    const trace *t = q->t;
    slice_details *d = q->d;
    d->flows = ARENA_ARRAY(q->arena, slice_flow, DETAILS_MOST);
    if (!d->flows) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->flow.n; i++) {
        bool out = t->flow.from[i] == d->slice;
        if (!out && t->flow.to[i] != d->slice) continue;
        d->n_flows_all++;
        if (d->n_flows == DETAILS_MOST) continue;
        d->flows[d->n_flows++] = (slice_flow){.kind = t->flow.kind[i],
                                              .out = out,
                                              .slice = out ? t->flow.to[i] : t->flow.from[i],
                                              .name = t->flow.name[i]};
    }
    return OK;
}

/* The device work on the track that was running, or the last that ran, when another was
 * launched. */
static uint32_t work_before(const trace *t, uint32_t track, uint32_t slice) {
    for (uint32_t i = slice - 1; i >= t->track.first[track] && i; i--)
        if (kind_is_device(t->slice.kind[i])) return i;
    return 0;
}

static void find_wait(details_ctx *q) {
    const trace *t = q->t;
    slice_details *d = q->d;
    uint32_t k = trace_kernel_of(t, d->slice);
    if (!k) return;
    d->wait = "unknown";
    uint32_t launch = t->kernel.launch[k], before = work_before(t, d->track, d->slice);
    if (!launch) return;
    int64_t launched = trace_slice_end(t, launch), start = t->slice.start[d->slice];
    d->wait_ns = max_i64(0, sub_i64(start, launched));
    if (before && trace_slice_end(t, before) > launched) {
        d->wait = "behind";
        d->behind = before;
    } else {
        d->wait = d->wait_ns <= LAUNCH_LATENCY_NS ? "host_pace" : "dependency";
    }
}

/* ---- the same name ----------------------------------------------------------------------- */

/* Slices of a name lie far apart: the next ones are fetched while this one is looked at. */
static void fetch_ahead(const details_ctx *q, uint32_t i, uint32_t name) {
    if (i + 24 < q->l->name_first[name + 1])
        __builtin_prefetch(&q->t->slice.dur[q->l->by_name[i + 24]]);
}

static void sum_same(details_ctx *q, const selection *s, uint32_t name) {
    same_name *n = &q->d->same;
    const trace *t = q->t;
    int64_t mine = t->slice.dur[q->d->slice], shorter = 0;
    for (uint32_t i = q->l->name_first[name]; i < q->l->name_first[name + 1]; i++) {
        uint32_t slice = q->l->by_name[i];
        fetch_ahead(q, i, name);
        if ((s->by_time || s->by_step) && !select_counts(s, slice)) continue;
        int64_t dur = t->slice.dur[slice];
        if (n->count == 0 || dur < n->min) n->min = dur;
        if (n->count == 0 || dur > n->max) n->max = dur;
        n->total = add_i64(n->total, dur);
        n->count++;
        shorter += dur <= mine;
    }
    if (n->count) n->percentile = (double)shorter / (double)n->count;
    int64_t all = q->l->kind_time[t->slice.kind[q->d->slice]];
    if (!s->by_time && !s->by_step && all > 0) n->share = (double)n->total / (double)all;
}

static void set_edges(same_name *n) {
    int64_t low = n->min;
    n->logarithmic = n->max > mul_i64(100, low > 0 ? low : 1) && n->max > 100;
    double from = (double)(low > 0 ? low : 1), ratio = log((double)n->max / from);
    for (int i = 0; i <= DETAILS_BINS; i++) {
        double part = (double)i / DETAILS_BINS;
        double at = n->logarithmic ? from * exp(ratio * part)
                                   : (double)low + (double)sub_i64(n->max, low) * part;
        n->edges[i] = real_i64(at);
    }
    n->edges[0] = low;
    n->edges[DETAILS_BINS] = n->max;
}

static int bin_of(const same_name *n, int64_t dur) {
    int low = 0, high = DETAILS_BINS - 1; /* the last bin that begins at or before it */
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (n->edges[middle] <= dur)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void compare_names(details_ctx *q, const selection *s) {
    same_name *n = &q->d->same;
    uint32_t name = lod_name(q->l, q->t->slice.name[q->d->slice]);
    *n = (same_name){.share = NAN, .percentile = NAN, .own = -1};
    if (name == UINT32_MAX) return;
    sum_same(q, s, name);
    if (n->count == 0) return;
    set_edges(n);
    for (uint32_t i = q->l->name_first[name]; i < q->l->name_first[name + 1]; i++) {
        uint32_t slice = q->l->by_name[i];
        fetch_ahead(q, i, name);
        if ((s->by_time || s->by_step) && !select_counts(s, slice)) continue;
        int bin = bin_of(n, q->t->slice.dur[slice]);
        n->bins[bin]++;
        if (slice == q->d->slice) n->own = bin;
    }
}

/* ---- together ---------------------------------------------------------------------------- */

#define READS                                                                                  \
    (SELECT_TABLES | TRACE_TABLE(flow) | TRACE_TABLE(call) | TRACE_TABLE(op) |                 \
     TRACE_TABLE(comm) | TRACE_TABLE(module_call) | TRACE_TABLE(module) | TRACE_TABLE(frame) | \
     TRACE_TABLE(category) | TRACE_TABLE(group))

status details_make(const lod *l, uint32_t slice, const selection *s, arena *a,
                    slice_details *out, error *err) {
    slice_details d = {.slice = slice};
    details_ctx q = {.l = l, .t = l->t, .arena = a, .d = &d};
    if (slice == 0 || slice >= l->t->slice.n)
        FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_NO_SUCH_SLICE, arg_id("id", slice));
    TRY(trace_require(l->t, READS, err));
    TRY(list_init(&d.children, a, err));
    TRY(list_init(&d.kernels, a, err));
    d.track = trace_track_of(l->t, slice);
    d.parent = l->t->slice.parent[slice];
    d.step = trace_step_of(l->t, slice);
    find_children(&q);
    find_neighbors(&q);
    find_kernels(&q);
    TRY(find_causes(&q, err));
    TRY(find_flows(&q, err));
    find_wait(&q);
    if (s) compare_names(&q, s);
    *out = d;
    return OK;
}
