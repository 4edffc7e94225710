/* critical_path.c: the walk from the end of a step to its start. */
#include "analyse/why/critical_path.h"

#include "base/num.h"

typedef struct {
    const why_graph *g;
    comm_names *names;
    arena *arena;
    path_pieces *out;
    int64_t from, at; /* start of the step; the walk has come to here */
} walk;

str path_kind_name(path_kind k) {
    static const char *const names[N_PATH_KINDS] = {
        "device", "copy",     "communication", "queue",   "launch_latency", "launch_call",
        "sync",   "operator", "data_loading",  "between", "unknown"};
    return str_of(names[k]);
}

/* A piece from `start` to where the walk is; nothing when it has come further already. */
static status add_piece(walk *w, int64_t start, path_kind kind, uint32_t slice, error *err) {
    path_pieces *o = w->out;
    start = max_i64(start, w->from);
    if (start >= w->at) return OK;
    if (o->n == o->cap) {
        size_t cap = o->cap ? 2 * o->cap : 256;
        path_piece *more =
            arena_grow(w->arena, o->v, o->cap * sizeof *more, cap * sizeof *more);
        if (!more) FAIL_MEMORY(err);
        o->v = more;
        o->cap = cap;
    }
    o->v[o->n++] = (path_piece){start, w->at, slice, (uint8_t)kind};
    w->at = start;
    return OK;
}

/* ---- the host ---------------------------------------------------------------------------- */

/* The innermost operator or data loading around a call, and the outermost; 0: none. Frames of
 * hostile files nest deeply: a bounded climb. */
static uint32_t around(const trace *t, uint32_t slice, uint32_t *outermost) {
    uint32_t inner = 0;
    *outermost = 0;
    for (int up = 0; slice && up < 256; up++, slice = t->slice.parent[slice]) {
        uint8_t kind = t->slice.kind[slice];
        if (kind != KIND_OP && kind != KIND_DATA && kind != KIND_COLLECTIVE) continue;
        if (!inner) inner = slice;
        *outermost = slice;
    }
    return inner;
}

static path_kind host_kind(const trace *t, uint32_t slice) {
    return t->slice.kind[slice] == KIND_DATA ? PATH_DATA : PATH_OPERATOR;
}

/* ---- the host between the operators of two points ---------------------------------------- */

enum { MOST_OPEN = 64 }; /* operators inside each other; deeper ones count for those around */

typedef struct {
    walk *w;
    uint32_t open[MOST_OPEN];
    int n_open;
    size_t n; /* parts found */
    int64_t at;
} host_sweep;

static status add_part(host_sweep *s, int64_t until, error *err) {
    path_pieces *o = s->w->out;
    if (until <= s->at) return OK;
    if (s->n == o->cap_parts) {
        size_t cap = o->cap_parts ? 2 * o->cap_parts : 256;
        host_part *more =
            arena_grow(s->w->arena, o->parts, o->cap_parts * sizeof *more, cap * sizeof *more);
        if (!more) FAIL_MEMORY(err);
        o->parts = more;
        o->cap_parts = cap;
    }
    o->parts[s->n++] = (host_part){s->at, s->n_open ? s->open[s->n_open - 1] : 0};
    s->at = until;
    return OK;
}

/* What ends by `time` is left, innermost first. */
static status close_parts(host_sweep *s, int64_t time, error *err) {
    const trace *t = s->w->g->t;
    while (s->n_open && slice_end(t, s->open[s->n_open - 1]) <= time) {
        TRY(add_part(s, slice_end(t, s->open[s->n_open - 1]), err));
        s->n_open--;
    }
    return OK;
}

/* The innermost operator at each time of a stretch, by what begins in it. What runs inside data
 * loading is part of that. Stretches of a path are disjoint, so no slice is looked at twice. */
static status find_parts(host_sweep *s, uint32_t track, int64_t to, error *err) {
    const trace *t = s->w->g->t;
    uint32_t i = trace_lower_bound(t, track, s->at), end = t->track.end[track];
    for (; i < end && t->slice.start[i] < to; i++) {
        uint8_t kind = t->slice.kind[i];
        if (kind != KIND_OP && kind != KIND_DATA && kind != KIND_COLLECTIVE) continue;
        TRY(close_parts(s, t->slice.start[i], err));
        bool in_data = s->n_open && t->slice.kind[s->open[s->n_open - 1]] == KIND_DATA;
        if (in_data || s->n_open == MOST_OPEN) continue;
        TRY(add_part(s, t->slice.start[i], err));
        s->open[s->n_open++] = i;
    }
    TRY(close_parts(s, to, err));
    return add_part(s, to, err);
}

/* The host outside of the operators of points, back to `start`: operators that launch nothing,
 * data loading, and what is in none of them; `next` is the operator that follows. */
static status add_between(walk *w, int64_t start, uint32_t track, uint32_t next, error *err) {
    int64_t from = max_i64(start, w->from);
    if (from >= w->at) return OK;
    if (!track) return add_piece(w, start, PATH_BETWEEN, next, err);
    host_sweep s = {.w = w, .at = from};
    TRY(find_parts(&s, track, w->at, err));
    for (size_t i = s.n; i-- > 0;) {
        const host_part *p = &w->out->parts[i];
        path_kind kind = p->slice ? host_kind(w->g->t, p->slice) : PATH_BETWEEN;
        TRY(add_piece(w, p->start, kind, p->slice ? p->slice : next, err));
        if (p->slice) next = p->slice;
    }
    return OK;
}

/* The time between two points: in the operator of the later one, outside of operators, in that of
 * the earlier one. */
static status add_host(walk *w, uint32_t before, uint32_t point, error *err) {
    const trace *t = w->g->t;
    const why_point *p = &w->g->points[point];
    const why_point *b = before ? &w->g->points[before] : NULL;
    int64_t end_of_b = b ? b->end : w->from;
    uint32_t outer, outer_b = 0, inner = around(t, p->slice, &outer);
    uint32_t inner_b = b ? around(t, b->slice, &outer_b) : 0;
    uint32_t track = p->track ? p->track : b ? b->track : 0;
    if (inner)
        TRY(add_piece(w, max_i64(end_of_b, t->slice.start[outer]), host_kind(t, inner), inner,
                      err));
    if (inner_b && slice_end(t, outer_b) > end_of_b) {
        TRY(add_between(w, slice_end(t, outer_b), track, outer, err));
        return add_piece(w, end_of_b, host_kind(t, inner_b), inner_b, err);
    }
    return add_between(w, end_of_b, track, outer, err);
}

/* ---- the walk ---------------------------------------------------------------------------- */

/* Where the walk goes on: the end of a point, or the end of work; neither: it is over. */
typedef struct {
    uint32_t point, work;
} place;

static status before_point(walk *w, uint32_t point, place *next, error *err) {
    uint32_t before = w->g->points[point].before;
    TRY(add_host(w, before, point, err));
    *next = (place){.point = before};
    return OK;
}

static status from_point(walk *w, uint32_t point, place *next, error *err) {
    const why_point *p = &w->g->points[point];
    if (p->waits && why_work_end(w->g, p->waits) > p->start &&
        why_work_end(w->g, p->waits) <= w->at) {
        TRY(add_piece(w, why_work_end(w->g, p->waits), PATH_SYNC, p->slice, err));
        *next = (place){.work = p->waits};
        return OK;
    }
    if (p->copy) {
        TRY(add_piece(w, why_work_end(w->g, p->copy), PATH_CALL, p->slice, err));
        *next = (place){.work = p->copy};
        return OK;
    }
    TRY(add_piece(w, p->start, p->kind == POINT_BLOCK ? PATH_SYNC : PATH_CALL, p->slice, err));
    return before_point(w, point, next, err);
}

path_kind path_kind_of_work(comm_names *names, uint32_t work) {
    const trace *t = names->t;
    if (t->slice.kind[t->kernel.slice[work]] != KIND_KERNEL) return PATH_COPY;
    return comm_kernel_row(names, work) ? PATH_COMMUNICATION : PATH_DEVICE;
}

static status from_work(walk *w, uint32_t work, place *next, error *err) {
    const why_graph *g = w->g;
    const why_work *k = &g->works[work];
    uint32_t slice = g->t->kernel.slice[work];
    TRY(add_piece(w, why_work_start(g, work), path_kind_of_work(w->names, work), slice, err));
    uint32_t earlier = k->other ? k->other : k->queued || !k->point ? k->before : 0;
    if (earlier) {
        TRY(add_piece(w, why_work_end(g, earlier), PATH_QUEUE, slice, err));
        *next = (place){.work = earlier};
        return OK;
    }
    *next = (place){0};
    if (!k->point) return OK;
    TRY(add_piece(w, g->points[k->point].start, PATH_LATENCY, slice, err));
    return before_point(w, k->point, next, err);
}

static void turn_round(path_pieces *p) {
    for (size_t i = 0; i < p->n / 2; i++) {
        path_piece one = p->v[i];
        p->v[i] = p->v[p->n - 1 - i];
        p->v[p->n - 1 - i] = one;
    }
}

status critical_path_find(const why_graph *g, comm_names *names, uint32_t i, arena *a,
                          path_pieces *out, error *err) {
    const why_step *s = &g->steps[i];
    walk w = {
        .g = g, .names = names, .arena = a, .out = out, .from = s->start_ns, .at = s->end_ns};
    uint32_t last = s->last_work;
    place now = {.point = s->end};
    if (last && why_work_end(g, last) >= s->end_ns) now = (place){.work = last};
    out->n = 0;
    for (uint32_t n = 0; w.at > w.from && (now.point || now.work) && n <= g->n_events; n++) {
        place next = {0};
        TRY(now.work ? from_work(&w, now.work, &next, err)
                     : from_point(&w, now.point, &next, err));
        now = next;
    }
    TRY(add_piece(&w, w.from, PATH_UNKNOWN, 0, err));
    turn_round(out);
    return OK;
}
