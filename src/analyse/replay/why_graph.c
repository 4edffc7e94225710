/* why_graph.c: what of a recording had to wait for what.
 *
 * Three passes. Threads are walked for points and for when each thread was busy; streams for
 * the work before each work; then everything once more in order of time, with two moving ends:
 * the point that ended last and the work that ended last. They answer what a point follows and
 * what a call or a work waited for without a search.
 *
 * A point follows the one before it on its thread, unless its thread was idle in between and
 * another thread ended its work just then: autograd hands the backward pass to a separate
 * thread and gets it back. Latency of work that had to queue is not known: it is taken as
 * typical. */
#include "analyse/replay/why_graph.h"

#include "analyse/comm/comm_kind.h"
#include "analyse/lexicon.h"
#include "analyse/replay/why_waits.h"
#include "analyse/rules.h"
#include "base/bisect.h"
#include "base/message_ids_advice.h"
#include "base/sort.h"

enum {
    OTHER_WAIT_NS = 3000, /* work of another stream that ended so shortly before is its cause */
    OTHER_WAIT_MOST_NS = 200000, /* likewise where the wait was very long */
    OTHER_WAIT_PART = 20,        /* that is the wait divided by this */
    QUEUE_FULL_NS = 20000, /* a launch call that waited for room returns so soon after an end */
    QUEUE_FULL_TIMES = 5,  /* and is so much longer than others */
    HAND_OVER_NS = 20000,  /* a thread may end its last call so long after handing over */
    NEXT_BATCH_NS =
        200000, /* a loader begins the next batch this soon, unless it has to wait */
    DEFAULT_LATENCY_NS = 5000,
    DEFAULT_GAP_NS = 1000,
    LOOK_BACK = 8, /* works looked at that ended last */
};
#define MOST_ROWS (1u << 30) /* a row and its kind share 32 bits */

typedef struct {
    why_graph *g;
    const trace *t;
    const step_spans *spans;
    arena *arena, *scratch;
    uint32_t *point_of; /* by slice: point + 1, 1: to become one */
    uint8_t *blocks;    /* by string: 0 not looked at, 1 no, 2 yes */
    uint32_t cap_points;
    sort_pair *pairs, *other; /* room to sort */
    uint32_t *by_end;         /* rows of table kernel */
    uint32_t *stream;         /* by row: its track */
    uint32_t n_streams;
    why_waits waits;
    comm_names names; /* where the host has collectives */
    uint32_t taker;   /* thread that takes batches which another one loads; 0: there is none */
    uint8_t *helpers; /* by process: it only loads data for another one */
    bool piped;       /* both processes and another thread than the consumer's have ranges of
                         batches */
} maker;

/* ---- points ------------------------------------------------------------------------------ */

static bool call_blocks(maker *m, uint32_t slice) {
    uint32_t name = m->t->slice.name[slice];
    if (name >= m->t->n_strings) return false;
    if (!m->blocks[name])
        m->blocks[name] = lexicon_means(trace_str(m->t, name), MEANS_BLOCKS) ? 2 : 1;
    return m->blocks[name] == 2;
}

static status add_point(maker *m, const why_point *p, error *err) {
    why_graph *g = m->g;
    if (g->n_points == m->cap_points) {
        uint32_t cap = m->cap_points ? 2 * m->cap_points : 4096;
        if (cap > MOST_ROWS) FAIL_MEMORY(err);
        why_point *more =
            arena_grow(m->arena, g->points, m->cap_points * sizeof *more, cap * sizeof *more);
        if (!more) FAIL_MEMORY(err);
        g->points = more;
        m->cap_points = cap;
    }
    g->points[g->n_points++] = *p;
    return OK;
}

typedef struct {
    int64_t from, until; /* of the thread's present activity */
    uint32_t first;      /* its first point */
    uint32_t inside;     /* collective of the host or data loading; 0: none */
} activity;

static void close_activity(why_graph *g, const activity *a) {
    for (uint32_t i = a->first; i < g->n_points; i++) g->points[i].active_until = a->until;
}

static status add_range(maker *m, uint32_t track, uint32_t slice, const activity *now,
                        why_point_kind kind, error *err) {
    int64_t time = kind == POINT_ENTER ? m->t->slice.start[slice] : slice_end(m->t, slice);
    why_point p = {.start = time,
                   .end = time,
                   .active_from = now->from,
                   .slice = slice,
                   .track = track,
                   .kind = (uint8_t)kind};
    if (kind == POINT_LEAVE && m->g->points[m->g->n_points - 1].end > time) return OK;
    return add_point(m, &p, err);
}

/* The thread leaves what it is in before anything that begins at `time`. */
static status leave_range(maker *m, uint32_t track, int64_t time, activity *now, error *err) {
    uint32_t in = now->inside;
    if (!in || slice_end(m->t, in) > time) return OK;
    now->inside = 0;
    return add_range(m, track, in, now, POINT_LEAVE, err);
}

/* A collective that no device runs, where ranks meet on the host; data loading. */
static status enter_range(maker *m, uint32_t track, uint32_t slice, activity *now, error *err) {
    uint8_t kind = m->t->slice.kind[slice];
    bool meets = kind == KIND_COLLECTIVE && !comm_is_call(&m->names, slice);
    if (now->inside || (!meets && (kind != KIND_DATA || !m->taker))) return OK;
    if (m->g->points[m->g->n_points - 1].track == track &&
        m->g->points[m->g->n_points - 1].end > m->t->slice.start[slice])
        return OK; /* inside a call that is a point */
    now->inside = slice;
    return add_range(m, track, slice, now, POINT_ENTER, err);
}

/* A call inside another point is part of that one. */
static status add_call(maker *m, uint32_t track, uint32_t slice, const activity *now,
                       uint32_t first, error *err) {
    why_graph *g = m->g;
    int64_t start = m->t->slice.start[slice];
    bool launches = m->point_of[slice] != 0, blocks = call_blocks(m, slice);
    if (!launches && !blocks) return OK;
    if (g->n_points > first && g->points[g->n_points - 1].end > start) {
        m->point_of[slice] = g->n_points;
        if (blocks) g->points[g->n_points - 1].kind = POINT_BLOCK;
        return OK;
    }
    why_point p = {.start = start,
                   .end = slice_end(m->t, slice),
                   .active_from = now->from,
                   .slice = slice,
                   .track = track,
                   .kind = blocks ? POINT_BLOCK : POINT_LAUNCH};
    TRY(add_point(m, &p, err));
    m->point_of[slice] = g->n_points;
    return OK;
}

static status walk_thread(maker *m, uint32_t track, error *err) {
    const trace *t = m->t;
    uint32_t first = m->g->n_points;
    activity now = {INT64_MIN, INT64_MIN, first, 0};
    for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++) {
        uint8_t kind = t->slice.kind[i];
        if (!why_is_active(kind)) continue;
        TRY(leave_range(m, track, t->slice.start[i], &now, err));
        if (t->slice.start[i] > now.until) {
            close_activity(m->g, &now);
            now = (activity){t->slice.start[i], now.until, m->g->n_points, 0};
        }
        now.until = max_i64(now.until, slice_end(t, i));
        if (kind == KIND_COLLECTIVE || kind == KIND_DATA)
            TRY(enter_range(m, track, i, &now, err));
        if (kind_is_call(kind)) TRY(add_call(m, track, i, &now, first, err));
    }
    TRY(leave_range(m, track, INT64_MAX, &now, err));
    close_activity(m->g, &now);
    return OK;
}

static uint32_t count_ops(const trace *t, uint32_t track) {
    uint32_t n = 0;
    for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++)
        n += t->slice.kind[i] == KIND_OP;
    return n;
}

static bool is_helper(const maker *m, uint32_t track) {
    return m->helpers && m->helpers[m->t->track.process[track]];
}

static void find_op_threads(maker *m) {
    why_graph *g = m->g;
    uint32_t most = 0;
    for (uint32_t track = 1; track < m->t->track.n; track++) {
        bool counts = m->t->track.kind[track] == TRACK_THREAD && !is_helper(m, track);
        uint32_t n = counts ? count_ops(m->t, track) : 0;
        if (n && g->n_op_threads < MOST_OP_THREADS) g->op_threads[g->n_op_threads++] = track;
        if (n <= most) continue;
        most = n;
        g->main_thread = track;
    }
}

static bool loads_data(const trace *t, uint32_t track) {
    if (t->track.kind[track] != TRACK_THREAD) return false;
    for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++)
        if (t->slice.kind[i] == KIND_DATA) return true;
    return false;
}

/* The thread of the first step; 0: it is not on one. */
static uint32_t thread_of_steps(const maker *m) {
    const step_spans *s = m->spans;
    uint32_t row = s->n ? s->v[0].row : 0, slice = row ? m->t->step.slice[row] : 0;
    return slice ? trace_track_of(m->t, slice) : 0;
}

/* Processes other than that of the steps that load data, launch nothing and have no step are
 * data loaders. Without a thread of the steps the first process with operators has them. */
static status find_helpers(maker *m, error *err) {
    const trace *t = m->t;
    uint32_t home = t->track.process[thread_of_steps(m)];
    if (t->process.n < 3 || !t->kind_count[KIND_DATA]) return OK;
    m->helpers = ARENA_ARRAY(m->scratch, uint8_t, (size_t)t->process.n);
    if (!m->helpers) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->track.n; i++) {
        if (!home && t->track.kind[i] == TRACK_THREAD && count_ops(t, i))
            home = t->track.process[i];
        if (loads_data(t, i)) m->helpers[t->track.process[i]] = 1;
    }
    for (uint32_t k = 1; k < t->kernel.n; k++)
        if (t->kernel.launch[k])
            m->helpers[t->track.process[trace_track_of(t, t->kernel.launch[k])]] = 0;
    for (uint32_t i = 1; i < t->step.n; i++)
        if (t->step.slice[i])
            m->helpers[t->track.process[trace_track_of(t, t->step.slice[i])]] = 0;
    m->helpers[home] = 0;
    return OK;
}

/* The thread of the steps, if it and another thread load data: that one works ahead. */
static void find_taker(maker *m) {
    const trace *t = m->t;
    uint32_t steps = thread_of_steps(m), track = steps ? steps : m->g->main_thread;
    bool other = false, helped = false;
    if (!track || !t->kind_count[KIND_DATA] || !loads_data(t, track)) return;
    for (uint32_t i = 1; i < t->track.n; i++) {
        if (i == track || !loads_data(t, i)) continue;
        helped |= is_helper(m, i);
        other |= !is_helper(m, i);
    }
    m->taker = helped || other ? track : 0;
    m->piped = helped && other;
}

/* Batches that other processes loaded, of which nothing is recorded. */
static void count_workers(maker *m) {
    const trace *t = m->t;
    if (m->taker || !t->kind_count[KIND_DATA]) return;
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (t->slice.kind[i] == KIND_DATA &&
            lexicon_means(trace_slice_name(t, i), MEANS_WORKER_LOADER))
            m->g->assumed.workers++;
}

static status find_points(maker *m, error *err) {
    const trace *t = m->t;
    TRY(find_helpers(m, err));
    find_op_threads(m);
    find_taker(m);
    count_workers(m);
    for (uint32_t k = 1; k < t->kernel.n; k++) m->point_of[t->kernel.launch[k]] = 1;
    m->point_of[0] = 0;
    for (uint32_t track = 1; track < t->track.n; track++)
        if (t->track.kind[track] == TRACK_THREAD) TRY(walk_thread(m, track, err));
    return OK;
}

static status add_mark(maker *m, uint32_t row, int64_t time, uint32_t *out, error *err) {
    uint32_t slice = row ? m->t->step.slice[row] : 0;
    uint32_t host_only = m->t->kernel.n < 2 ? m->g->main_thread : 0;
    why_point p = {.start = time,
                   .end = time,
                   .active_from = time,
                   .active_until = time,
                   .track = slice ? trace_track_of(m->t, slice) : host_only,
                   .kind = POINT_MARK};
    *out = m->g->n_points;
    return add_point(m, &p, err);
}

static status add_steps(maker *m, error *err) {
    const step_spans *s = m->spans;
    why_graph *g = m->g;
    g->steps = ARENA_ARRAY(m->arena, why_step, (size_t)s->n + 1);
    if (!g->steps) FAIL_MEMORY(err);
    g->first_mark = g->n_points;
    for (uint32_t i = 0; i < s->n; i++) {
        const step_span *v = &s->v[i];
        why_step *step = &g->steps[i];
        int64_t end = i + 1 < s->n ? min_i64(v->host_end, v[1].host_start) : v->host_end;
        step->number = v->number;
        TRY(add_mark(m, v->row, v->host_start, &step->start, err));
        TRY(add_mark(m, v->row, max_i64(v->host_start, end), &step->end, err));
    }
    g->n_steps = s->n;
    return OK;
}

/* ---- work -------------------------------------------------------------------------------- */

/* Copies from and to pageable memory: the call returns when the copy is about done. */
static bool call_is_in_copy(const why_graph *g, uint32_t k) {
    int64_t start = why_work_start(g, k), end = why_work_end(g, k);
    int64_t in_call = sub_i64(min_i64(end, g->points[g->works[k].point].end), start);
    return g->t->slice.kind[g->t->kernel.slice[k]] == KIND_MEMCPY &&
           in_call > sub_i64(end, start) / 2 && sub_i64(end, start) - in_call < QUEUE_FULL_NS;
}

static void link_work(maker *m) {
    const trace *t = m->t;
    why_graph *g = m->g;
    uint32_t track = 0, until = 0;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        why_work *w = &g->works[k];
        uint32_t slice = t->kernel.slice[k], launch = t->kernel.launch[k];
        bool first = slice >= until;
        int64_t start = why_work_start(g, k);
        if (first) {
            track = trace_track_of(t, slice);
            until = t->track.end[track];
            m->n_streams++;
        }
        m->stream[k] = track;
        /* Works of one stream that overlap (branches of a graph) follow what came before
         * both. */
        if (!first) w->before = k - 1;
        if (w->before && why_work_end(g, w->before) > start) w->before = g->works[k - 1].before;
        if (w->before && why_work_end(g, w->before) > start) w->before = 0;
        if (launch && m->point_of[launch] > 1) w->point = m->point_of[launch] - 1;
        if (w->point && g->points[w->point].start > start) w->point = 0;
        if (!w->point) g->assumed.no_launch++;
        if (w->point && call_is_in_copy(g, k)) g->points[w->point].copy = k;
    }
}

static int64_t median_of(sort_pair *pairs, sort_pair *scratch, size_t n, int64_t otherwise) {
    if (!n) return otherwise;
    sort_radix(pairs, scratch, n);
    return (int64_t)pairs[(n - 1) / 2].key;
}

static int64_t raw_latency(const why_graph *g, uint32_t k) {
    return sub_i64(why_work_start(g, k), g->points[g->works[k].point].start);
}

static int64_t end_before(const why_graph *g, uint32_t k) {
    return g->works[k].before ? why_work_end(g, g->works[k].before) : INT64_MIN;
}

static uint64_t time_key(int64_t time) {
    return (uint64_t)time ^ (uint64_t)1 << 63;
}

static void sort_ends(maker *m) {
    size_t n = 0;
    for (uint32_t k = 1; k < m->t->kernel.n; k++)
        m->pairs[n++] = (sort_pair){time_key(why_work_end(m->g, k)), k};
    sort_radix(m->pairs, m->other, n);
    for (size_t i = 0; i < n; i++) m->by_end[i] = m->pairs[i].row;
}

/* Did work of another stream end just before it began? Then it may have waited for that. */
static bool follows_other(const maker *m, uint32_t k) {
    int64_t start = why_work_start(m->g, k);
    uint32_t n = m->t->kernel.n - 1;
    if (m->n_streams < 2) return false;
    uint32_t i = SEARCH_FIRST(e, 0u, n, why_work_end(m->g, m->by_end[e]) <= start);
    return i && m->stream[m->by_end[i - 1]] != m->stream[k] &&
           why_work_end(m->g, m->by_end[i - 1]) > sub_i64(start, OTHER_WAIT_NS);
}

/* Latency of work whose stream was empty when it was launched and that waited for no other one;
 * of none, the least of all. */
static void find_typical_latency(maker *m) {
    why_graph *g = m->g;
    size_t n = 0;
    int64_t least = DEFAULT_LATENCY_NS;
    for (uint32_t k = 1; k < m->t->kernel.n; k++) {
        if (!g->works[k].point) continue;
        least = min_i64(least, raw_latency(g, k));
        if (end_before(g, k) > g->points[g->works[k].point].start || follows_other(m, k))
            continue;
        m->pairs[n++] = (sort_pair){(uint64_t)raw_latency(g, k), k};
    }
    g->latency_ns = median_of(m->pairs, m->other, n, least);
}

static void find_typical_call(maker *m) {
    size_t n = 0;
    for (uint32_t i = 1; i < m->g->first_mark; i++) {
        const why_point *p = &m->g->points[i];
        if (p->kind != POINT_LAUNCH) continue;
        m->pairs[n++] = (sort_pair){(uint64_t)max_i64(0, sub_i64(p->end, p->start)), i};
    }
    m->g->launch_ns = median_of(m->pairs, m->other, n, DEFAULT_LATENCY_NS);
}

static void time_work(maker *m) {
    why_graph *g = m->g;
    size_t n = 0;
    for (uint32_t k = 1; k < m->t->kernel.n; k++) {
        why_work *w = &g->works[k];
        int64_t end = end_before(g, k);
        if (w->before) w->gap_ns = sub_i64(why_work_start(g, k), end);
        w->queued =
            w->before && (!w->point || end > add_i64(g->points[w->point].start, g->latency_ns));
        if (w->queued) m->pairs[n++] = (sort_pair){(uint64_t)max_i64(0, w->gap_ns), k};
        if (!w->point) continue;
        w->latency_ns = raw_latency(g, k);
        if (!w->queued) continue;
        w->latency_ns = min_i64(w->latency_ns, g->latency_ns);
        g->assumed.typical_latency++;
    }
    g->gap_ns = median_of(m->pairs, m->other, n, DEFAULT_GAP_NS);
    for (uint32_t k = 1; k < m->t->kernel.n; k++)
        if (!g->works[k].queued) g->works[k].gap_ns = min_i64(g->works[k].gap_ns, g->gap_ns);
}

/* ---- in order of time -------------------------------------------------------------------- */

/* At one time ends come before what follows them, and calls before the work they launch. What
 * begins and ends at one time is one event. */
static status sort_events(maker *m, error *err) {
    why_graph *g = m->g;
    size_t n = 0;
    for (uint32_t i = 1; i < g->n_points; i++)
        if (g->points[i].end > g->points[i].start)
            m->pairs[n++] =
                (sort_pair){time_key(g->points[i].end), (uint32_t)EVENT_END << 30 | i};
    for (uint32_t i = 1; i < g->n_points; i++)
        m->pairs[n++] =
            (sort_pair){time_key(g->points[i].start), (uint32_t)EVENT_BEGIN << 30 | i};
    for (uint32_t k = 1; k < m->t->kernel.n; k++)
        m->pairs[n++] =
            (sort_pair){time_key(why_work_start(g, k)), (uint32_t)EVENT_WORK << 30 | k};
    sort_radix(m->pairs, m->other, n);
    g->events = arena_alloc(m->arena, (n + 1) * sizeof *g->events);
    if (!g->events) FAIL_MEMORY(err);
    for (size_t i = 0; i < n; i++) g->events[i] = m->pairs[i].row;
    g->n_events = (uint32_t)n;
    return OK;
}

typedef struct {
    uint32_t last;  /* point that ended last */
    uint32_t ready; /* point at which the last batch was ready to be taken */
    uint32_t
        loaded;     /* the same for processes whose batches are handed on by another thread than
                       the consumer's */
    uint32_t taken; /* where the taker was last asked for, or given, a batch */
    uint32_t *on;   /* by track: its last point that has begun */
    uint32_t n_ended; /* of by_end */
} sweep;

/* Among the works that ended last up to now, the first that ended after `from`, began before
 * `start`, is not on `stream` and was launched by `launched`; 0: none. */
typedef struct {
    int64_t from, start, launched;
    uint32_t stream;
} ended_query;

static uint32_t find_ended(const maker *m, const sweep *s, const ended_query *q) {
    const why_graph *g = m->g;
    for (uint32_t back = 0; back < LOOK_BACK && back < s->n_ended; back++) {
        uint32_t k = m->by_end[s->n_ended - 1 - back], point = g->works[k].point;
        if (why_work_end(g, k) <= q->from) return 0;
        if (m->stream[k] == q->stream || why_work_start(g, k) >= q->start) continue;
        if (point && g->points[point].start > q->launched) continue;
        return k;
    }
    return 0;
}

static void advance(const maker *m, sweep *s, int64_t now) {
    uint32_t n = m->t->kernel.n - 1;
    while (s->n_ended < n && why_work_end(m->g, m->by_end[s->n_ended]) <= now) s->n_ended++;
}

/* Data loading ends: on the loader's thread a batch is ready, on the other one it was waited
 * for if it became ready meanwhile. */
static void take_batch(maker *m, sweep *s, uint32_t i) {
    why_point *p = &m->g->points[i];
    const why_point *ready = &m->g->points[s->ready];
    if (p->track != m->taker) {
        *(m->piped && is_helper(m, p->track) ? &s->loaded : &s->ready) = i;
        return;
    }
    s->taken = i;
    if (!s->ready || ready->end <= m->t->slice.start[p->slice]) return;
    p->fetched = s->ready;
    m->g->assumed.fetched++;
}

/* Data loading begins. A loader that had nothing to do since its last batch was given
 * something: the batch of another process to hand on, or an order when the taker took a
 * batch. */
static void order_batch(maker *m, sweep *s, uint32_t i) {
    why_point *p = &m->g->points[i];
    uint32_t own = s->on[p->track];
    if (p->track == m->taker) {
        s->taken = i;
        return;
    }
    bool hands_on = m->piped && !is_helper(m, p->track);
    uint32_t from = hands_on ? s->loaded : s->taken;
    bool continues = own && sub_i64(p->start, m->g->points[own].end) <= NEXT_BATCH_NS;
    if (!from || (!hands_on && (!own || continues))) return; /* it loads batch after batch */
    if (own) p->before = own;
    if (own && m->g->points[from].end <= m->g->points[own].end) return;
    p->fetched = from;
    m->g->assumed.queued++;
}

static void begin_point(maker *m, sweep *s, uint32_t i) {
    why_point *p = &m->g->points[i], *own = &m->g->points[s->on[p->track]];
    const why_point *last = &m->g->points[s->last];
    bool has_own = s->on[p->track] != 0 && p->kind != POINT_MARK;
    p->before = has_own ? s->on[p->track] : s->last;
    /* A thread that runs collectives is given them by one that may go on working. */
    if (has_own && s->last && last->track != p->track && own->active_from != p->active_from &&
        last->end > own->end && last->end <= p->active_from &&
        (p->kind == POINT_ENTER || last->active_until <= add_i64(p->active_from, HAND_OVER_NS)))
        p->before = s->last;
    if (has_own && own->end > p->start)
        p->before = own->before; /* never of one thread's calls */
    bool data = p->slice && m->t->slice.kind[p->slice] == KIND_DATA;
    if (data && has_own && p->track != m->taker && sub_i64(p->start, own->end) <= NEXT_BATCH_NS)
        p->before = s->on[p->track]; /* it loads batch after batch */
    if (data && p->kind == POINT_ENTER) order_batch(m, s, i);
    if (data && p->kind == POINT_LEAVE) take_batch(m, s, i);
    p->handed_over =
        p->before && p->kind != POINT_MARK && m->g->points[p->before].track != p->track;
    m->g->assumed.hand_over += p->handed_over;
    if (p->kind != POINT_MARK) s->on[p->track] = i;
}

/* The work that a call waited for, if it is recorded and ended inside the call; else 0. */
static uint32_t recorded_wait(const maker *m, const why_point *p) {
    uint32_t k = m->waits.of_call && p->slice ? m->waits.of_call[p->slice] : 0;
    bool inside = k && why_work_end(m->g, k) > p->start && why_work_end(m->g, k) <= p->end;
    return inside ? k : 0;
}

static void end_point(maker *m, sweep *s, uint32_t i) {
    why_point *p = &m->g->points[i];
    int64_t ns = sub_i64(p->end, p->start);
    ended_query q = {.from = p->start, .start = p->end, .launched = p->start};
    bool long_call = ns > max_i64(QUEUE_FULL_NS, mul_i64(QUEUE_FULL_TIMES, m->g->launch_ns));
    if (p->kind == POINT_LAUNCH && long_call)
        q.from = max_i64(p->start, sub_i64(p->end, QUEUE_FULL_NS));
    if (p->kind == POINT_BLOCK || (p->kind == POINT_LAUNCH && long_call))
        p->waits = recorded_wait(m, p) ? recorded_wait(m, p) : find_ended(m, s, &q);
    m->g->assumed.queue_full += p->kind == POINT_LAUNCH && p->waits;
    /* What a loader's thread does ahead is handed over by taking a batch alone. */
    if (p->slice && m->t->slice.kind[p->slice] == KIND_DATA && p->track != m->taker) return;
    if (p->kind != POINT_MARK || !s->last)
        s->last = i; /* the first calls follow the first mark */
}

/* It waits for work of another stream, and nothing else held it up longer. */
static void set_other(maker *m, uint32_t k, uint32_t other) {
    why_graph *g = m->g;
    why_work *w = &g->works[k];
    w->other = other;
    w->latency_ns = min_i64(w->latency_ns, g->latency_ns);
    w->gap_ns = min_i64(w->gap_ns, g->gap_ns);
}

/* A recorded wait held the work up if what it waited for ended after the launch and after the
 * work before it. */
static void begin_waiting(maker *m, uint32_t k) {
    const why_graph *g = m->g;
    uint32_t other = m->waits.of_work[k], point = g->works[k].point;
    if (!other) return;
    int64_t done = why_work_end(g, other);
    if (done <= why_work_start(g, k) && done >= end_before(g, k) &&
        (!point || done > g->points[point].start))
        set_other(m, k, other);
}

/* It began long after its launch, and not because of the work before it: for another stream.
 * Where waits are recorded, nothing is guessed. */
static void begin_work(maker *m, const sweep *s, uint32_t k) {
    why_graph *g = m->g;
    why_work *w = &g->works[k];
    if (m->waits.streams) {
        begin_waiting(m, k);
        return;
    }
    int64_t start = why_work_start(g, k), wait = w->point ? raw_latency(g, k) : INT64_MAX;
    if (m->n_streams < 2 || !w->point) return;
    if (w->before) wait = min_i64(wait, sub_i64(start, end_before(g, k)));
    if (wait <= add_i64(OTHER_WAIT_NS, w->queued ? g->gap_ns : g->latency_ns)) return;
    /* Several streams that wait for one event begin one after the other. */
    int64_t within =
        max_i64(OTHER_WAIT_NS, min_i64(wait / OTHER_WAIT_PART, OTHER_WAIT_MOST_NS));
    ended_query q = {sub_i64(start, within), start, INT64_MAX, m->stream[k]};
    uint32_t other = find_ended(m, s, &q);
    if (!other) return;
    set_other(m, k, other);
    g->assumed.other_stream++;
}

static status sweep_events(maker *m, error *err) {
    why_graph *g = m->g;
    sweep s = {.on = ARENA_ARRAY(m->scratch, uint32_t, (size_t)m->t->track.n + 1)};
    if (!s.on) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < g->n_events; i++) {
        uint32_t row = why_event_row(g->events[i]);
        switch (why_event_kind(g->events[i])) {
        case EVENT_END:
            advance(m, &s, g->points[row].end);
            end_point(m, &s, row);
            break;
        case EVENT_BEGIN:
            begin_point(m, &s, row);
            if (g->points[row].end > g->points[row].start) break;
            advance(m, &s, g->points[row].end);
            end_point(m, &s, row);
            break;
        case EVENT_WORK: advance(m, &s, why_work_start(g, row)); begin_work(m, &s, row);
        }
    }
    return OK;
}

/* ---- steps ------------------------------------------------------------------------------- */

static bool has_launches(const why_graph *g) {
    for (uint32_t k = 1; k < g->n_works; k++)
        if (g->works[k].point) return true;
    return false;
}

/* The latest-ending work launched between the marks of each step; then the recorded lengths.
 * Where no launch at all is recorded, work counts for the step it begins in. */
static void end_steps(why_graph *g) {
    bool by_time = !has_launches(g);
    for (uint32_t k = 1; k < g->n_works; k++) {
        if (!g->works[k].point && !by_time) continue;
        int64_t launch = by_time ? why_work_start(g, k) : g->points[g->works[k].point].start;
        uint32_t i =
            SEARCH_FIRST(s, 0u, g->n_steps, g->points[g->steps[s].start].start <= launch);
        if (!i || launch >= g->points[g->steps[i - 1].end].start) continue;
        uint32_t *last = &g->steps[i - 1].last_work;
        g->works[k].step = i;
        g->assumed.by_time += by_time;
        if (!*last || why_work_end(g, k) > why_work_end(g, *last)) *last = k;
    }
}

/* Work from before the first step pushes it back, as in step_spans.h. Work without a launch is
 * from before it, too, when it begins before any of the step's own. */
static void find_earlier(why_graph *g) {
    int64_t first = g->n_steps ? g->points[g->steps[0].start].start : INT64_MIN;
    int64_t own = g->assumed.by_time ? first : INT64_MAX;
    for (uint32_t k = 1; k < g->n_works; k++)
        if (g->works[k].step == 1) own = min_i64(own, why_work_start(g, k));
    for (uint32_t k = 1; k < g->n_works; k++) {
        uint32_t point = g->works[k].point;
        if (point ? g->points[point].start >= first : why_work_start(g, k) >= own) continue;
        if (!g->earlier || why_work_end(g, k) > why_work_end(g, g->earlier)) g->earlier = k;
    }
}

/* A step is as long as every other answer says (step_spans.h): the first begins no earlier. */
static void measure_steps(why_graph *g, const step_spans *spans) {
    int64_t done = why_done_before(g, g->earlier ? why_work_end(g, g->earlier) : INT64_MIN);
    if (spans->n && spans->v[0].start > max_i64(done, spans->v[0].host_start))
        done = g->held_until = spans->v[0].start;
    for (uint32_t i = 0; i < g->n_steps; i++) {
        why_step *s = &g->steps[i];
        s->start_ns = max_i64(done, g->points[s->start].start);
        if (s->last_work) done = max_i64(done, why_work_end(g, s->last_work));
        s->end_ns = max_i64(s->start_ns, max_i64(done, g->points[s->end].start));
    }
}

/* ---- whole ------------------------------------------------------------------------------- */

static status make_room(maker *m, error *err) {
    const trace *t = m->t;
    size_t n = t->kernel.n;
    if (t->kernel.n >= MOST_ROWS) FAIL_MEMORY(err);
    m->point_of = ARENA_ARRAY(m->scratch, uint32_t, (size_t)t->slice.n + 1);
    m->blocks = ARENA_ARRAY(m->scratch, uint8_t, (size_t)t->n_strings + 1);
    m->g->works = ARENA_ARRAY(m->arena, why_work, n + 1);
    m->g->n_works = t->kernel.n;
    m->stream = ARENA_ARRAY(m->scratch, uint32_t, n + 1);
    m->by_end = ARENA_ARRAY(m->scratch, uint32_t, n + 1);
    if (!m->point_of || !m->blocks || !m->g->works || !m->stream || !m->by_end)
        FAIL_MEMORY(err);
    return OK;
}

static status room_to_sort(maker *m, error *err) {
    size_t n = 2 * (size_t)m->g->n_points + m->t->kernel.n + 1;
    m->pairs = arena_alloc(m->scratch, n * sizeof *m->pairs);
    m->other = arena_alloc(m->scratch, n * sizeof *m->other);
    if (!m->pairs || !m->other) FAIL_MEMORY(err);
    return OK;
}

static status make(maker *m, error *err) {
    static const why_point none = {.kind = POINT_MARK};
    TRY(make_room(m, err));
    if (m->t->kind_count[KIND_COLLECTIVE])
        TRY(comm_names_init(&m->names, m->t, m->scratch, err));
    TRY(add_point(m, &none, err));
    TRY(find_points(m, err));
    TRY(add_steps(m, err));
    TRY(room_to_sort(m, err));
    TRY(why_waits_read(m->t, m->scratch, &m->waits, err));
    link_work(m);
    sort_ends(m);
    find_typical_latency(m);
    find_typical_call(m);
    time_work(m);
    TRY(sort_events(m, err));
    TRY(sweep_events(m, err));
    end_steps(m->g);
    if (m->spans->marked) find_earlier(m->g); /* before a whole recording is nothing */
    measure_steps(m->g, m->spans);
    return OK;
}

status why_graph_make(const trace *t, const step_spans *steps, arena *a, why_graph *out,
                      error *err) {
    arena scratch;
    maker m = {.g = out, .t = t, .spans = steps, .arena = a, .scratch = &scratch};
    *out = (why_graph){.t = t, .held_until = steps->held_until};
    arena_init(&scratch, a->limit_bytes);
    status st = make(&m, err);
    arena_fini(&scratch);
    return st;
}

void why_assumed_add(why_assumed *to, const why_assumed *from) {
    to->no_launch = add_i64(to->no_launch, from->no_launch);
    to->typical_latency = add_i64(to->typical_latency, from->typical_latency);
    to->hand_over = add_i64(to->hand_over, from->hand_over);
    to->other_stream = add_i64(to->other_stream, from->other_stream);
    to->queue_full = add_i64(to->queue_full, from->queue_full);
    to->by_time = add_i64(to->by_time, from->by_time);
    to->workers = add_i64(to->workers, from->workers);
    to->fetched = add_i64(to->fetched, from->fetched);
    to->queued = add_i64(to->queued, from->queued);
}

static void add_count(verdict *note, const char *name, int64_t n) {
    if (n) verdict_add(note, arg_int(name, n));
}

status why_graph_note(const why_graph *g, arena *a, answer *out, error *err) {
    if (!(g->assumed.no_launch | g->assumed.typical_latency | g->assumed.hand_over |
          g->assumed.other_stream | g->assumed.queue_full | g->assumed.by_time |
          g->assumed.workers | g->assumed.fetched | g->assumed.queued))
        return OK; /* everything was recorded */
    verdict note = {.message = MSG_NOTE_WHY_ASSUMED};
    add_count(&note, "no_launch", g->assumed.no_launch);
    add_count(&note, "latency", g->assumed.typical_latency);
    add_count(&note, "handed", g->assumed.hand_over);
    add_count(&note, "other", g->assumed.other_stream);
    add_count(&note, "full", g->assumed.queue_full);
    add_count(&note, "by_time", g->assumed.by_time);
    add_count(&note, "workers", g->assumed.workers);
    add_count(&note, "fetched", g->assumed.fetched);
    add_count(&note, "ordered", g->assumed.queued);
    return answer_note(out, a, &note, err);
}
