/* seal_link.c: device work finds the host call that launched it and the operator it belongs to.
 *
 *   kernel ──correlation──> runtime or driver call ──external id + containment,
 *                                                     else innermost──> op
 *
 * Kineto of 2022 to early 2024 wrote the correlation id as external id everywhere; such a file
 * is recognized (99 % of its kernels) and its external ids are not used. An external id is
 * believed only when the op it names is on the thread of the call and contains the call's
 * start. Device work of a producer that records no calls (no correlation) belongs to the op its
 * external id names. Where the producer draws launches as arrows instead, seal_flows does
 * this. */
#include "base/pages.h"
#include "store/builder_int.h"

enum { NEARBY_OPS = 64 };

typedef struct {
    seal_ctx *s;
    bool trust_external;
    map op_by_external; /* op row + 1 of the last op with that id; made on first need */
    bool has_op_map, failed;
} link_ctx;

static bool is_unlinked_vintage(const seal_ctx *s) {
    if (!s->b->external_may_be_correlation) return false;
    size_t equal = 0, n = 0;
    for (uint32_t i = 1; i < s->kernel.n; i++) {
        if (s->kernel.correlation[i] == ABSENT_I64 ||
            s->slice.kind[s->kernel.slice[i]] != KIND_KERNEL)
            continue;
        n++;
        equal += s->kernel_external[i] == s->kernel.correlation[i];
    }
    return n > 0 && equal * 100 >= n * 99;
}

/* Is op row `op` on the track of the call and does it contain its start? */
static bool op_holds(const seal_ctx *s, uint32_t op, uint32_t call_slice, uint32_t track_first,
                     uint32_t track_end) {
    uint32_t i = s->op.slice[op];
    int64_t at = s->slice.start[call_slice];
    return i >= track_first && i < track_end && s->slice.start[i] <= at &&
           at <= s->slice.start[i] + s->slice.dur[i];
}

/* The op with this external id, by the map; only asked when the open ops do not have it. */
static uint32_t op_with_id(link_ctx *q, int64_t external) {
    seal_ctx *s = q->s;
    if (!q->has_op_map) {
        q->has_op_map = true;
        for (uint32_t i = 1; i < s->op.n; i++) {
            if (s->op.external[i] == ABSENT_I64 || s->slice.kind[s->op.slice[i]] != KIND_OP)
                continue;
            uint32_t *at = map_at(&q->op_by_external, (uint64_t)s->op.external[i]);
            if (at)
                *at = i;
            else
                q->failed = true;
        }
    }
    uint32_t row = map_get(&q->op_by_external, (uint64_t)external);
    return row == MAP_NONE ? 0 : row;
}

/* The op of a call: open[0 … n-1] are the ops still running, innermost last. */
static uint32_t op_of_call(link_ctx *q, uint32_t call, const uint32_t *open, uint32_t n,
                           uint32_t track) {
    seal_ctx *s = q->s;
    int64_t external = q->trust_external ? s->call_external[call] : ABSENT_I64;
    uint32_t innermost = n ? s->op.slice[open[n - 1]] : 0;
    if (external == ABSENT_I64 || external == 0) return innermost;
    /* Nearly always one of the innermost; a hostile file must not make this a long search. */
    for (uint32_t i = n; i > 0 && n - i < NEARBY_OPS; i--)
        if (s->op.external[open[i - 1]] == external) return s->op.slice[open[i - 1]];
    uint32_t named = op_with_id(q, external);
    if (named &&
        op_holds(s, named, s->call.slice[call], s->track.first[track], s->track.end[track]))
        return s->op.slice[named];
    return innermost;
}

/* Gives every call of a track its op: one pass over the track's ops and calls with a stack. */
static void link_calls(link_ctx *q, uint32_t track, uint32_t *op, uint32_t *call,
                       uint32_t *open) {
    seal_ctx *s = q->s;
    uint32_t n = 0, end = s->track.end[track];
    while (*call < s->call.n && s->call.slice[*call] < end) {
        uint32_t slice = s->call.slice[*call];
        int64_t at = s->slice.start[slice];
        for (; *op < s->op.n && s->op.slice[*op] < slice; (*op)++) {
            uint32_t i = s->op.slice[*op];
            if (s->slice.kind[i] != KIND_OP || i < s->track.first[track]) continue;
            while (n && s->slice.start[s->op.slice[open[n - 1]]] +
                                s->slice.dur[s->op.slice[open[n - 1]]] <=
                            s->slice.start[i])
                n--;
            open[n++] = *op;
        }
        while (n && s->slice.start[s->op.slice[open[n - 1]]] +
                            s->slice.dur[s->op.slice[open[n - 1]]] <=
                        at)
            n--;
        s->call.op[*call] = op_of_call(q, *call, open, n, track);
        (*call)++;
    }
    while (*op < s->op.n && s->op.slice[*op] < end) (*op)++;
}

static status link_all_calls(link_ctx *q, error *err) {
    seal_ctx *s = q->s;
    size_t bytes = (size_t)s->op.n * sizeof(uint32_t);
    uint32_t *open = pages_take(bytes);
    if (!open) FAIL_MEMORY(err);
    uint32_t op = 1, call = 1;
    for (uint32_t t = 1; t < s->track.n; t++) link_calls(q, t, &op, &call, open);
    pages_give(open, bytes);
    if (q->failed) FAIL_MEMORY(err);
    return OK;
}

/* The op a producer without launch calls named itself by its external id; 0 when it named
 * none. */
static uint32_t named_op(link_ctx *q, uint32_t kernel) {
    seal_ctx *s = q->s;
    int64_t external = s->kernel_external[kernel];
    uint32_t op = q->trust_external && external > 0 ? op_with_id(q, external) : 0;
    return op ? s->op.slice[op] : 0;
}

/* Is call a before call b among calls with one correlation? Start, kind, then track order. */
static bool call_before(const seal_ctx *s, uint32_t a, uint32_t b) {
    uint32_t x = s->call.slice[a], y = s->call.slice[b];
    if (s->slice.start[x] != s->slice.start[y]) return s->slice.start[x] < s->slice.start[y];
    if (s->slice.kind[x] != s->slice.kind[y]) return s->slice.kind[x] < s->slice.kind[y];
    return x < y;
}

static status map_calls(link_ctx *q, map *calls, error *err) {
    seal_ctx *s = q->s;
    if (map_reserve(calls, s->call.n) != OK) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < s->call.n; i++) {
        if (s->call.correlation[i] == ABSENT_I64 || s->call.correlation[i] < 0) continue;
        uint32_t *at = map_at(calls, (uint64_t)s->call.correlation[i]);
        if (!at) FAIL_MEMORY(err);
        if (*at == MAP_NONE || call_before(s, i, *at)) *at = i;
    }
    return OK;
}

/* The call at whose capture the kernel's node was made; MAP_NONE when it was not recorded. */
static uint32_t capturing_call(const seal_ctx *s, const map *calls, uint32_t kernel) {
    int64_t node = s->kernel.graph_node[kernel];
    uint32_t at = node > 0 ? map_get(&s->b->captured, (uint64_t)node) : (uint32_t)MAP_NONE;
    if (at == MAP_NONE) return MAP_NONE;
    return map_get(calls, (uint64_t)VEC(&s->b->captured_by, int64_t)[at]);
}

static link_how how_linked(const link_ctx *q, uint32_t call, uint32_t kernel) {
    const seal_ctx *s = q->s;
    if (!s->call.op[call]) return LINK_LAUNCH_ONLY;
    if (s->kernel.graph_node[kernel] > 0) return LINK_GRAPH;
    int64_t external = s->call_external[call];
    uint32_t op = s->detail[s->call.op[call]];
    return q->trust_external && external > 0 && s->op.external[op] == external ? LINK_EXACT
                                                                               : LINK_CONTAINED;
}

static status link_kernels(link_ctx *q, error *err) {
    seal_ctx *s = q->s;
    map calls = {0};
    status st = map_calls(q, &calls, err);
    int64_t orphans = 0;
    for (uint32_t i = 1; i < s->kernel.n && st == OK; i++) {
        int64_t c = s->kernel.correlation[i];
        uint32_t call = c == ABSENT_I64 || c < 0 ? MAP_NONE : map_get(&calls, (uint64_t)c);
        if (call == MAP_NONE) {
            orphans++;
            if (c != ABSENT_I64) continue;
            s->kernel.op[i] = named_op(q, i);
            if (s->kernel.op[i]) s->kernel.link[i] = LINK_EXACT;
            continue;
        }
        s->kernel.launch[i] = s->call.slice[call];
        s->kernel.op[i] = s->call.op[call];
        s->kernel.link[i] = (uint8_t)how_linked(q, call, i);
        uint32_t named = s->b->work_names_op ? named_op(q, i) : 0;
        if (named) {
            s->kernel.op[i] = named;
            s->kernel.link[i] = LINK_EXACT;
            continue;
        }
        uint32_t captured = capturing_call(s, &calls, i);
        if (captured == MAP_NONE || !s->call.op[captured]) continue;
        s->kernel.op[i] = s->call.op[captured];
        s->kernel.link[i] = LINK_CAPTURED;
    }
    map_fini(&calls);
    if (st == OK && q->failed)
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    seal_lost(s, CAUSE_ORPHAN_CORRELATION, orphans, NOPOS, 0);
    return st;
}

status seal_link(seal_ctx *s, error *err) {
    link_ctx q = {.s = s, .trust_external = !is_unlinked_vintage(s)};
    status st = link_all_calls(&q, err);
    if (st == OK && !s->b->launch_by_arrow) st = link_kernels(&q, err);
    map_fini(&q.op_by_external);
    return st;
}
