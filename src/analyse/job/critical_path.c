/* critical_path.c: the walk from the end of a step to its start. */
#include "analyse/job/critical_path.h"

#include "base/num.h"

typedef struct {
    const why_graph *g;
    comm_names *names;
    arena *arena;
    path_pieces *out;
    int64_t from, at;             /* start of the step; the walk has come to here */
    const job_graph *job;         /* NULL: of one rank */
    uint32_t rank;                /* that the walk is on; `from` and `at` are on its clock */
    int64_t shown_from, shown_at; /* the same on the job's clock, where pieces touch, too */
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
    int64_t shown = start;
    if (w->job) shown = min_i64(w->shown_at, job_time(&w->job->ranks[w->rank], start));
    o->v[o->n++] = (path_piece){shown, w->shown_at, slice, (uint16_t)w->rank, (uint8_t)kind};
    w->at = start;
    w->shown_at = shown;
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

static path_kind host_kind(walk *w, uint32_t slice) {
    uint8_t kind = w->g->t->slice.kind[slice];
    if (kind == KIND_COLLECTIVE && !comm_is_call(w->names, slice)) return PATH_COMMUNICATION;
    return kind == KIND_DATA ? PATH_DATA : PATH_OPERATOR;
}

/* ---- the host between the operators of two points ---------------------------------------- */

enum {
    MOST_OPEN = 64,   /* operators inside each other; deeper ones count for those around */
    SHORT_NS = 20000, /* what takes so long is not looked at: it counts for its neighbor */
};

typedef struct {
    walk *w;
    path_parts *parts; /* room for what is found */
    uint32_t open[MOST_OPEN];
    int n_open;
    size_t n; /* parts found */
    int64_t at;
} host_sweep;

static status add_part(host_sweep *s, int64_t until, error *err) {
    path_parts *o = s->parts;
    if (until <= s->at) return OK;
    if (s->n == o->cap) {
        size_t cap = o->cap ? 2 * o->cap : 256;
        host_part *more =
            arena_grow(s->w->arena, o->v, o->cap * sizeof *more, cap * sizeof *more);
        if (!more) FAIL_MEMORY(err);
        o->v = more;
        o->cap = cap;
    }
    o->v[s->n++] = (host_part){s->at, s->n_open ? s->open[s->n_open - 1] : 0};
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

/* What is open at the start of the stretch: of the slice before it and of those around that. */
static void open_parts(host_sweep *s, uint32_t track, uint32_t first) {
    const trace *t = s->w->g->t;
    uint32_t opened[MOST_OPEN];
    int n = 0;
    if (first <= t->track.first[track]) return;
    for (uint32_t i = first - 1; i && n < MOST_OPEN; i = t->slice.parent[i]) {
        uint8_t kind = t->slice.kind[i];
        if (kind != KIND_OP && kind != KIND_DATA && kind != KIND_COLLECTIVE) continue;
        if (slice_end(t, i) <= s->at) continue;
        if (kind == KIND_DATA) n = 0;
        opened[n++] = i;
    }
    while (n) s->open[s->n_open++] = opened[--n];
}

/* The innermost operator at each time of a stretch, by what begins in it. What runs inside data
 * loading is part of that. Stretches of a path are disjoint, so no slice is looked at twice. */
static status find_parts(host_sweep *s, uint32_t track, int64_t to, error *err) {
    const trace *t = s->w->g->t;
    uint32_t i = trace_lower_bound(t, track, s->at), end = t->track.end[track];
    open_parts(s, track, i);
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

/* ---- of another thread, where one thread waits for it ------------------------------------ */

/* When the thread's last operator before `until` ends that runs after `from`; INT64_MIN: there
 * is none. */
static int64_t op_until(const trace *t, uint32_t track, int64_t from, int64_t until) {
    uint32_t i = trace_lower_bound(t, track, until), outer;
    if (i <= t->track.first[track] || !around(t, i - 1, &outer)) return INT64_MIN;
    int64_t end = min_i64(until, slice_end(t, outer));
    return end > from ? end : INT64_MIN;
}

/* A recording of the host alone: while a thread is in no operator, as one that waits for the
 * backward pass, the path is in those of the thread that was busy last. */
static status add_joined(walk *w, int64_t start, uint32_t track, uint32_t next, error *err) {
    const why_graph *g = w->g;
    uint32_t other = 0;
    int64_t end = max_i64(start, w->from);
    bool alone = g->n_works > 1 || sub_i64(w->at, end) <= SHORT_NS;
    for (uint32_t i = 0; !alone && i < g->n_op_threads; i++) {
        int64_t until = op_until(g->t, g->op_threads[i], max_i64(start, w->from), w->at);
        if (g->op_threads[i] == track || until <= end) continue;
        end = until;
        other = g->op_threads[i];
    }
    if (!other) return add_piece(w, start, PATH_BETWEEN, next, err);
    TRY(add_piece(w, end, PATH_BETWEEN, next, err));
    host_sweep s = {.w = w, .parts = &w->out->joined, .at = max_i64(start, w->from)};
    TRY(find_parts(&s, other, w->at, err));
    for (size_t i = s.n; COUNT_DOWN(i);) {
        const host_part *p = &w->out->joined.v[i];
        path_kind kind = p->slice ? host_kind(w, p->slice) : PATH_BETWEEN;
        TRY(add_piece(w, p->start, kind, p->slice ? p->slice : next, err));
    }
    return OK;
}

/* The host outside of the operators of points, back to `start`: operators that launch nothing,
 * data loading, and what is in none of them; `next` is the operator that follows. */
static status add_between(walk *w, int64_t start, uint32_t track, uint32_t next, error *err) {
    int64_t from = max_i64(start, w->from);
    if (from >= w->at) return OK;
    if (!track) return add_piece(w, start, PATH_BETWEEN, next, err);
    host_sweep s = {.w = w, .parts = &w->out->parts, .at = from};
    TRY(find_parts(&s, track, w->at, err));
    for (size_t i = s.n; COUNT_DOWN(i);) {
        const host_part *p = &w->out->parts.v[i];
        if (!p->slice) {
            TRY(add_joined(w, p->start, track, next, err));
            continue;
        }
        TRY(add_piece(w, p->start, host_kind(w, p->slice), p->slice, err));
        next = p->slice;
    }
    return OK;
}

/* From `from` to where the walk is, in operators around `inner`: what is long is looked at. */
static status add_operators(walk *w, int64_t from, uint32_t track, uint32_t inner, error *err) {
    int64_t start = w->g->t->slice.start[inner];
    if (sub_i64(min_i64(start, w->at), max_i64(from, w->from)) <= SHORT_NS)
        return add_piece(w, from, host_kind(w, inner), inner, err);
    TRY(add_piece(w, start, host_kind(w, inner), inner, err));
    return add_between(w, from, track, inner, err);
}

/* The same after the call of an earlier point, in what is around that. */
static status add_rest(walk *w, const why_point *b, uint32_t inner, error *err) {
    int64_t end = slice_end(w->g->t, inner);
    if (sub_i64(w->at, max_i64(max_i64(b->end, end), w->from)) <= SHORT_NS)
        return add_piece(w, b->end, host_kind(w, inner), inner, err);
    TRY(add_between(w, end, b->track, 0, err));
    return add_piece(w, b->end, host_kind(w, inner), inner, err);
}

/* The time between two points: in the operator of the later one, outside of operators, in that
 * of the earlier one. A thread that was woken by another one has done nothing before. */
static status add_host(walk *w, uint32_t before, uint32_t point, error *err) {
    const trace *t = w->g->t;
    const why_point *p = &w->g->points[point];
    const why_point *b = before ? &w->g->points[before] : NULL;
    int64_t end_of_b = b ? b->end : w->from, woke = end_of_b;
    uint32_t outer, outer_b = 0, inner = around(t, p->slice, &outer);
    uint32_t inner_b = b ? around(t, b->slice, &outer_b) : 0;
    uint32_t track = p->track ? p->track : b ? b->track : 0;
    if (p->handed_over && b && b->track)
        woke = max_i64(end_of_b, min_i64(p->active_from, p->start));
    if (inner) TRY(add_operators(w, max_i64(woke, t->slice.start[outer]), track, inner, err));
    if (woke > end_of_b) {
        TRY(add_between(w, woke, track, outer, err));
        track = b->track;
    }
    if (inner_b && slice_end(t, outer_b) > end_of_b) {
        TRY(add_between(w, slice_end(t, outer_b), track, outer, err));
        return add_rest(w, b, inner_b, err);
    }
    return add_between(w, end_of_b, track, outer, err);
}

/* ---- the walk ---------------------------------------------------------------------------- */

/* Where the walk continues: the end of a point, or the end of work (`begun`: its start);
 * neither: it is over. */
typedef struct {
    uint32_t point, work;
    bool begun;
} place;

/* Goes on to another rank of the job, at the time the walk has come to. */
static void change_rank(walk *w, uint32_t rank) {
    job_rank *r = &w->job->ranks[rank];
    w->rank = rank;
    w->g = &r->graph;
    w->names = &r->names;
    w->from = job_time_of_rank(r, w->shown_from);
    w->at = max_i64(w->from, job_time_of_rank(r, w->shown_at));
}

/* For a collective: data is moved after the last rank arrived, so the walk continues with what
 * that rank did before. False: this rank arrived last itself, as far as the clocks can tell. */
static status to_last_rank(walk *w, uint32_t member, uint32_t slice, place *next, bool *went,
                           error *err) {
    const job_graph *jg = w->job;
    const job_member *own = &jg->members[member - 1];
    const job_member *last = &jg->members[jg->meetings[jg->meeting_of[member - 1]].last];
    *went = false;
    if (last->rank == own->rank || last->came >= w->shown_at ||
        last->came <= add_i64(own->came, jg->residual))
        return OK;
    *went = true;
    int64_t from = job_time_of_rank(&jg->ranks[w->rank], last->came);
    TRY(add_piece(w, from, PATH_COMMUNICATION, slice, err));
    change_rank(w, last->rank);
    *next = last->first ? (place){.work = last->first, .begun = true}
                        : (place){.point = last->before};
    return OK;
}

static status before_point(walk *w, uint32_t point, place *next, error *err) {
    uint32_t before = w->g->points[point].before;
    uint32_t member = w->job ? w->job->ranks[w->rank].of_point[point] : 0;
    bool went = false;
    if (member) {
        uint32_t slice = 0; /* of the collective around the points */
        (void)around(w->g->t, w->g->points[w->job->members[member - 1].before].slice, &slice);
        TRY(to_last_rank(w, member, slice, next, &went, err));
    }
    if (went) return OK;
    TRY(add_host(w, before, point, err));
    *next = (place){.point = before};
    return OK;
}

static status from_point(walk *w, uint32_t point, place *next, error *err) {
    const why_point *p = &w->g->points[point];
    if (why_fetched(p)) { /* the batch was ready only then */
        TRY(add_piece(w, w->g->points[p->fetched].end, PATH_DATA, p->slice, err));
        *next = (place){.point = p->fetched};
        return OK;
    }
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

/* What work waited for that has just begun. */
static status before_work(walk *w, uint32_t work, place *next, error *err) {
    const why_graph *g = w->g;
    const why_work *k = &g->works[work];
    uint32_t slice = g->t->kernel.slice[work];
    uint32_t earlier = k->other ? k->other : k->queued || !k->point ? k->before : 0;
    if (earlier) {
        int64_t end = why_work_end(g, earlier);
        /* Without a launch it is unknown why a device was idle for long. */
        bool lost = !k->point && !k->other && sub_i64(w->at, end) > SHORT_NS;
        TRY(add_piece(w, end, lost ? PATH_UNKNOWN : PATH_QUEUE, slice, err));
        *next = (place){.work = earlier};
        return OK;
    }
    *next = (place){0};
    if (!k->point) return OK;
    TRY(add_piece(w, g->points[k->point].start, PATH_LATENCY, slice, err));
    return before_point(w, k->point, next, err);
}

static status from_work(walk *w, place now, place *next, error *err) {
    const why_graph *g = w->g;
    uint32_t work = now.work, slice = g->t->kernel.slice[work];
    uint32_t member = w->job && !now.begun ? w->job->ranks[w->rank].of_work[work] : 0;
    bool went = false;
    if (member) TRY(to_last_rank(w, member, slice, next, &went, err));
    if (went) return OK;
    if (!now.begun)
        TRY(add_piece(w, why_work_start(g, work), path_kind_of_work(w->names, work), slice,
                      err));
    return before_work(w, work, next, err);
}

static void turn_round(path_pieces *p) {
    for (size_t i = 0; i < p->n / 2; i++) {
        path_piece one = p->v[i];
        p->v[i] = p->v[p->n - 1 - i];
        p->v[p->n - 1 - i] = one;
    }
}

/* What ends the step: its last work or its mark. Without any thread only the work is known. */
static status from_end(walk *w, const why_step *s, place *out, error *err) {
    uint32_t last = s->last_work;
    *out = (place){.point = s->end};
    if (!last || (why_work_end(w->g, last) < s->end_ns && w->g->first_mark > 1)) return OK;
    *out = (place){.work = last};
    return add_piece(w, why_work_end(w->g, last), PATH_BETWEEN, 0, err);
}

static status walk_back(walk *w, const why_step *s, uint64_t most, error *err) {
    path_pieces *out = w->out;
    place now;
    out->n = 0;
    TRY(from_end(w, s, &now, err));
    for (uint64_t n = 0; w->at > w->from && (now.point || now.work) && n <= most; n++) {
        place next = {0};
        TRY(now.work ? from_work(w, now, &next, err) : from_point(w, now.point, &next, err));
        now = next;
    }
    TRY(add_piece(w, w->from, PATH_UNKNOWN, 0, err));
    if (out->n) out->v[out->n - 1].start = w->shown_from; /* clocks are rounded */
    turn_round(out);
    return OK;
}

status critical_path_find(const why_graph *g, comm_names *names, uint32_t i, arena *a,
                          path_pieces *out, error *err) {
    const why_step *s = &g->steps[i];
    walk w = {.g = g,
              .names = names,
              .arena = a,
              .out = out,
              .from = s->start_ns,
              .at = s->end_ns,
              .shown_from = s->start_ns,
              .shown_at = s->end_ns};
    return walk_back(&w, s, g->n_events, err);
}

status critical_path_of_job(const job_graph *jg, uint32_t i, arena *a, path_pieces *out,
                            error *err) {
    const job_span *step = &jg->steps[i];
    walk w = {.arena = a,
              .out = out,
              .job = jg,
              .shown_from = step->start_ns,
              .shown_at = step->end_ns};
    uint64_t most = 0;
    for (uint32_t r = 0; r < jg->n_ranks; r++) most += jg->ranks[r].graph.n_events;
    change_rank(&w, step->last);
    const why_step *s = job_rank_step(&jg->ranks[step->last], step->number);
    out->n = 0;
    return s ? walk_back(&w, s, most, err) : OK;
}
