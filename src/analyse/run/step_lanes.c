/* step_lanes.c: one step of every worker as it went; see step_lanes.h. */
#include "analyse/run/step_lanes.h"

#include "base/num.h"
#include "base/sort.h"

#define SEEN 500 /* a piece of a step shorter than that part of it cannot be seen */

str lane_name(int kind) {
    static const char *const names[] = {"device", "transfer", "wait"};
    if (kind < 0 || kind >= N_LANES) return STR_NONE;
    return kind < N_STAGES ? stage_name((stage)kind) : str_of(names[kind - N_STAGES]);
}

/* ---- a worker's own time ----------------------------------------------------------------- */

typedef struct {
    interval at;
    int kind;
} piece;

typedef struct {
    piece *v;
    uint32_t n, cap;
    arena *arena;
    bool failed;
} piece_list;

static void add_pieces(piece_list *l, const intervals *of, int kind) {
    l->failed |= of->failed;
    for (size_t i = 0; i < of->n && !l->failed; i++) {
        if (l->n == l->cap) {
            uint32_t cap = l->cap ? 2 * l->cap : 64;
            void *grown = arena_grow(l->arena, l->v, l->cap * sizeof *l->v, cap * sizeof *l->v);
            l->failed = !grown;
            if (!grown) return;
            l->v = grown;
            l->cap = cap;
        }
        l->v[l->n++] = (piece){of->v[i], kind};
    }
}

static int compare_pieces(uint32_t a, uint32_t b, const void *context) {
    const piece *v = context;
    return (v[a].at.start > v[b].at.start) - (v[a].at.start < v[b].at.start);
}

static status sort_pieces(piece_list *l, error *err) {
    uint32_t *order = ARENA_ARRAY(l->arena, uint32_t, (size_t)l->n + 1),
             *scratch = ARENA_ARRAY(l->arena, uint32_t, (size_t)l->n + 1);
    piece *sorted = ARENA_ARRAY(l->arena, piece, (size_t)l->n + 1);
    if (!order || !scratch || !sorted || l->failed) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < l->n; i++) order[i] = i;
    sort_index(order, scratch, l->n, compare_pieces, l->v);
    for (uint32_t i = 0; i < l->n; i++) sorted[i] = l->v[order[i]];
    l->v = sorted;
    return OK;
}

/* Leaves out what is shorter than `least`, and joins what follows its like within that time. */
static void coarsen(piece_list *l, int64_t least) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        piece p = l->v[i], *last = n ? &l->v[n - 1] : NULL;
        if (last && last->kind == p.kind && sub_i64(p.at.start, last->at.end) <= least)
            last->at.end = max_i64(last->at.end, p.at.end);
        else if (sub_i64(p.at.end, p.at.start) >= least)
            l->v[n++] = p;
    }
    l->n = n;
}

/* What the host did while the device did nothing, by stage. */
static status add_host(piece_list *l, const trace *t, intervals host, error *err) {
    stage_segments segments;
    TRY(stages_find(t, l->arena, &segments, err));
    for (int k = 0; k < STAGE_OTHER; k++) {
        intervals of = intervals_in(l->arena);
        for (size_t i = 0; i < segments.n; i++)
            if ((int)segments.v[i].stage == k)
                intervals_add(&of, segments.v[i].range.start, segments.v[i].range.end);
        intervals_merge(&of);
        intervals here = intervals_and(&host, &of);
        add_pieces(l, &here, k);
        host = intervals_minus(&host, &of);
    }
    add_pieces(l, &host, STAGE_OTHER);
    return OK;
}

static status write_pieces(const piece_list *l, int64_t step, str worker, summary *out,
                           error *err) {
    for (uint32_t i = 0; i < l->n; i++) {
        summary_lane *row = summary_add_lane(out);
        if (!row) FAIL_MEMORY(err);
        *row = (summary_lane){.worker = worker,
                              .step = step,
                              .start = l->v[i].at.start,
                              .end = l->v[i].at.end,
                              .kind = l->v[i].kind,
                              .whom = summary_text(out, STR("")),
                              .name = summary_text(out, STR(""))};
        if (!row->whom.p || !row->name.p) FAIL_MEMORY(err);
    }
    return OK;
}

static status make_pieces(piece_list *l, const trace *t, const step_span *step,
                          const role_ranges *ranges, error *err) {
    intervals own = intervals_in(l->arena);
    intervals_add(&own, step->start, step->end);
    own = intervals_minus(&own, &ranges->exposed);
    intervals device = intervals_and(&own, &ranges->device);
    add_pieces(l, &device, LANE_DEVICE);
    TRY(add_host(l, t, intervals_minus(&own, &ranges->device), err));
    TRY(sort_pieces(l, err));
    int64_t least = max_i64(1, sub_i64(step->end, step->start) / SEEN);
    do {
        coarsen(l, least);
        least = mul_i64(least, 2);
    } while (l->n > LANES_MOST);
    return OK;
}

status lanes_reduce(const trace *t, const step_spans *steps, const role_ranges *ranges,
                    str worker, summary *out, error *err) {
    arena scratch;
    if (!steps->n) return OK;
    const step_span *step = &steps->v[steps->n / 2];
    arena_init(&scratch, ranges->exposed.arena->limit_bytes);
    piece_list l = {.arena = &scratch};
    status st = make_pieces(&l, t, step, ranges, err);
    if (st == OK) st = write_pieces(&l, step->number, worker, out, err);
    arena_fini(&scratch);
    return st;
}

/* ---- its collectives --------------------------------------------------------------------- */

void lane_calls_begin(lane_calls *l, const summary *s, lane_place *at, str worker, arena *a) {
    const summary_lane *v = SUMMARY_ROWS(s, lane);
    const summary_step *steps = SUMMARY_ROWS(s, step);
    uint32_t n = SUMMARY_N(s, lane), n_steps = SUMMARY_N(s, step);
    *l = (lane_calls){.arena = a, .worker = worker};
    while (at->lane < n && str_cmp(v[at->lane].worker, worker) < 0) at->lane++;
    if (at->lane >= n || !str_eq(v[at->lane].worker, worker)) return;
    l->number = v[at->lane].step;
    while (at->step < n_steps && str_cmp(steps[at->step].worker, worker) < 0) at->step++;
    for (uint32_t i = at->step; i < n_steps && str_eq(steps[i].worker, worker); i++) {
        if (steps[i].number != l->number) continue;
        l->step = (interval){steps[i].start, steps[i].end};
        l->wanted = true;
    }
}

status lane_calls_add(lane_calls *l, int64_t step, const lane_call *c, error *err) {
    if (!l->wanted || step != l->step.start) return OK;
    if (l->n == l->cap) {
        uint32_t cap = l->cap ? 2 * l->cap : 64;
        void *grown = arena_grow(l->arena, l->v, l->cap * sizeof *l->v, cap * sizeof *l->v);
        if (!grown) FAIL_MEMORY(err);
        l->v = grown;
        l->cap = cap;
    }
    l->v[l->n++] = *c;
    return OK;
}

static int compare_ends(uint32_t a, uint32_t b, const void *context) {
    const lane_call *v = context;
    return (v[a].end > v[b].end) - (v[a].end < v[b].end);
}

/* The part of [start, end) in which it did nothing else. */
static status write_part(const lane_calls *l, const lane_call *c, interval part,
                         const intervals *alone, summary *out, error *err) {
    intervals one = intervals_in(l->arena);
    int64_t least = max_i64(1, sub_i64(l->step.end, l->step.start) / SEEN);
    bool waits =
        part.end <= c->moved && !str_eq(c->whom, l->worker); /* the last one does not */
    int kind = waits ? LANE_WAIT : LANE_TRANSFER;
    intervals_add(&one, max_i64(part.start, l->step.start), min_i64(part.end, l->step.end));
    intervals here = intervals_and(&one, alone);
    if (here.failed) FAIL_MEMORY(err);
    for (size_t i = 0; i < here.n; i++) {
        if (sub_i64(here.v[i].end, here.v[i].start) < least) continue;
        summary_lane *row = summary_add_lane(out);
        if (!row) FAIL_MEMORY(err);
        *row = (summary_lane){
            .worker = summary_text(out, l->worker),
            .step = l->number,
            .start = here.v[i].start,
            .end = here.v[i].end,
            .kind = kind,
            .whom = summary_text(out, kind == LANE_WAIT ? c->whom : STR("")),
            .lot = c->lot,
            .name = summary_text(out, c->name),
        };
        if (!row->worker.p || !row->whom.p || !row->name.p) FAIL_MEMORY(err);
    }
    return OK;
}

/* A worker that is in several at once waits for the one that ends first, then for the next. */
status lane_calls_write(lane_calls *l, const intervals *alone, summary *out, error *err) {
    uint32_t *order = ARENA_ARRAY(l->arena, uint32_t, (size_t)l->n + 1),
             *scratch = ARENA_ARRAY(l->arena, uint32_t, (size_t)l->n + 1);
    int64_t at = INT64_MIN;
    if (!order || !scratch) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < l->n; i++) order[i] = i;
    sort_index(order, scratch, l->n, compare_ends, l->v);
    for (uint32_t i = 0; i < l->n; i++) {
        const lane_call *c = &l->v[order[i]];
        int64_t from = max_i64(at, c->start), moved = max_i64(from, min_i64(c->moved, c->end));
        TRY(write_part(l, c, (interval){from, min_i64(moved, c->moved)}, alone, out, err));
        TRY(write_part(l, c, (interval){moved, c->end}, alone, out, err));
        at = max_i64(at, c->end);
    }
    return OK;
}

/* ---- read back --------------------------------------------------------------------------- */

static int compare_lanes(uint32_t a, uint32_t b, const void *context) {
    const lane *v = context;
    if (v[a].worker != v[b].worker) return v[a].worker < v[b].worker ? -1 : 1;
    return (v[a].start > v[b].start) - (v[a].start < v[b].start);
}

/* The step that most rows are about: recordings may be of different lengths. */
static int64_t common_step(const summary_lane *v, uint32_t n, arena *a) {
    sort_pair *pairs = ARENA_ARRAY(a, sort_pair, 2 * (size_t)n + 2);
    uint32_t best = 0, most = 0;
    if (!pairs) return ABSENT_I64;
    for (uint32_t i = 0; i < n; i++) pairs[i] = (sort_pair){(uint64_t)v[i].step, i};
    sort_radix(pairs, pairs + n + 1, n);
    for (uint32_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && pairs[end].key == pairs[first].key; end++) {}
        if (end - first <= most) continue;
        most = end - first;
        best = pairs[first].row;
    }
    return n ? v[best].step : ABSENT_I64;
}

static bool is_lane(const summary_lane *v) {
    return v->kind >= 0 && v->kind < N_LANES && v->end > v->start;
}

/* Rows are by worker's name, and few workers in a row are waited for: each name is looked up
 * once in a row. */
static void take_lanes(const summary *s, const worker_order *who, const worker_clock *clocks,
                       int64_t step, lane_list *out) {
    str name = STR_NONE, waited = STR_NONE;
    uint32_t worker = UINT32_MAX, whom = UINT32_MAX;
    for (uint32_t i = 0; i < SUMMARY_N(s, lane); i++) {
        const summary_lane *v = &SUMMARY_ROWS(s, lane)[i];
        if (v->step != step || !is_lane(v)) continue;
        if (v->worker.p != name.p) worker = worker_order_find(who, v->worker);
        if (v->whom.p != waited.p)
            whom = v->whom.n ? worker_order_find(who, v->whom) : UINT32_MAX;
        name = v->worker;
        waited = v->whom;
        if (worker == UINT32_MAX || !clocks[worker].aligned) continue;
        out->v[out->n++] = (lane){.worker = worker,
                                  .whom = v->kind == LANE_WAIT ? whom : UINT32_MAX,
                                  .start = clock_apply(&clocks[worker], v->start),
                                  .end = clock_apply(&clocks[worker], v->end),
                                  .kind = (int)v->kind,
                                  .step = v->step,
                                  .lot = v->lot,
                                  .name = v->name};
    }
}

status lanes_read(const summary *s, const worker_order *who, arena *a, lane_list *out,
                  error *err) {
    uint32_t n = SUMMARY_N(s, lane);
    lane *v = ARENA_ARRAY(a, lane, (size_t)n + 1),
         *sorted = ARENA_ARRAY(a, lane, (size_t)n + 1);
    uint32_t *order = ARENA_ARRAY(a, uint32_t, (size_t)n + 1),
             *scratch = ARENA_ARRAY(a, uint32_t, (size_t)n + 1);
    worker_clock *clocks = clocks_read(s, who, a);
    *out = (lane_list){.v = v, .start = INT64_MAX, .end = INT64_MIN};
    out->first = ARENA_ARRAY(a, uint32_t, (size_t)who->n + 2);
    if (!v || !sorted || !order || !scratch || !clocks || !out->first) FAIL_MEMORY(err);
    take_lanes(s, who, clocks, common_step(SUMMARY_ROWS(s, lane), n, a), out);
    for (uint32_t i = 0; i < out->n; i++) order[i] = i;
    sort_index(order, scratch, out->n, compare_lanes, v);
    for (uint32_t i = 0; i < out->n; i++) {
        sorted[i] = v[order[i]];
        out->start = min_i64(out->start, sorted[i].start);
        out->end = max_i64(out->end, sorted[i].end);
    }
    out->v = sorted;
    for (uint32_t w = 0, i = 0; w <= who->n; w++) {
        while (i < out->n && sorted[i].worker < w) i++;
        out->first[w] = i;
    }
    return OK;
}
