/* why_replay.c: when everything would have happened.
 *
 * One pass over the events of the graph in recorded order; each takes the times of what it
 * follows, which are known by then:
 *
 *   begin of a point  end of the point before it + host time between them; of a batch that was
 *                     waited for: when its loader has it ready + what passed after that
 *   end of a point    begin + its own time; of a call that waited, or stayed in its copy, at
 *                     least the end of that work + what the call took after it
 *   work              the latest of launch + latency, work before it + gap, work of another
 *                     stream + what passed after that; it ends its duration later
 *
 * Host time between two points is that of the threads on which it was spent, each stretch of it
 * times the factors of the changes that apply there; sums before each stretch make it two
 * binary searches. */
#include "analyse/replay/why_replay.h"

#include <math.h>

#include "analyse/intervals.h"
#include "base/bisect.h"

enum {
    GRAPH_GAP_NS = 600, /* between two nodes of a CUDA graph, on current devices */
    MOST_RECORDING = 3, /* quarters of host time that recording may have cost */
};

typedef struct {
    why_replay *r;
    const why_graph *g;
    const scenario *s;
    uint64_t on, own, overlap; /* as in why_playing */
    bool graph, no_launch, no_sync, unprofiled, no_meeting;
    double base;
} player;

#define NOT_YET INT64_MIN /* when work ends that waits for other ranks */

static int64_t scale_ns(int64_t ns, double factor) {
    return round_i64((double)ns * factor);
}

static bool is_pattern(const scenario_change *v) {
    return v->pattern.n != 0 || v->kind == CHANGE_TO_LISTED;
}

/* The factor for host time in an interval with these changes. */
static double host_factor(const player *p, uint64_t mask) {
    double f = 1;
    bool in_graph = p->graph;
    for (uint32_t c = 0; c < p->s->n; c++) {
        if (!(mask & p->on & (uint64_t)1 << c)) continue;
        if (p->s->v[c].kind == CHANGE_CUDA_GRAPH)
            in_graph = false; /* loading data stays outside */
        else
            f *= p->s->v[c].merged ? 0 : p->s->v[c].factor;
    }
    return in_graph ? 0 : f;
}

/* Did it become part of another piece of work? */
static bool is_merged(const player *p, uint64_t mask) {
    for (uint32_t c = 0; mask & p->on && c < p->s->n; c++)
        if (mask & p->on & (uint64_t)1 << c && p->s->v[c].merged) return true;
    return false;
}

/* For device work, or a call as a whole: only changes that name it. */
static double work_factor(const player *p, uint64_t mask) {
    double f = 1;
    for (uint32_t c = 0; mask & p->on && c < p->s->n; c++) {
        const scenario_change *v = &p->s->v[c];
        if (mask & p->on & (uint64_t)1 << c &&
            (is_pattern(v) || v->kind == CHANGE_NO_COMMUNICATION || v->kind == CHANGE_OVERLAP))
            f *= v->factor;
    }
    return f;
}

static void add_up(player *p) {
    const scenario *s = p->s;
    for (uint32_t track = 0; track < p->g->t->track.n; track++) {
        int64_t sum = 0;
        for (uint32_t i = s->first[track]; i < s->first[track + 1]; i++) {
            const scenario_stretch *v = &s->stretches[i];
            p->r->changed[i] = sum;
            double f = host_factor(p, v->mask) - p->base;
            sum = add_i64(sum, scale_ns(sub_i64(v->end, v->start), f));
        }
    }
}

/* What changes of the thread's time up to `time`. */
static int64_t changed_until(const player *p, uint32_t track, int64_t time) {
    const scenario *s = p->s;
    uint32_t low = s->first[track];
    uint32_t i = SEARCH_FIRST(k, low, s->first[track + 1], s->stretches[k].start < time);
    if (i == low) return 0;
    const scenario_stretch *v = &s->stretches[--i];
    int64_t part = sub_i64(min_i64(v->end, time), v->start);
    return add_i64(p->r->changed[i], scale_ns(part, host_factor(p, v->mask) - p->base));
}

/* What recording the events that begin in this time cost. */
static int64_t recording_ns(const player *p, uint32_t track, int64_t from, int64_t to) {
    const trace *t = p->g->t;
    if (!p->unprofiled || !track) return 0;
    uint32_t first = trace_lower_bound(t, track, from), end = trace_lower_bound(t, track, to);
    return end > first ? sub_i64(p->s->cost.until_ns[end], p->s->cost.until_ns[first]) : 0;
}

/* Host time of which recording took `spent`, and never all. */
static int64_t host_less_ns(const player *p, uint32_t track, interval at, int64_t spent) {
    if (at.end <= at.start) return 0;
    int64_t ns = p->base > 0 ? sub_i64(at.end, at.start) : 0;
    if (!p->on) return ns;
    if (spent > 0 && ns > 0)
        ns = sub_i64(
            ns, min_i64(scale_ns(spent, p->r->recording), mul_i64(ns / 4, MOST_RECORDING)));
    if (p->s->first[track] == p->s->first[track + 1]) return ns;
    int64_t change =
        sub_i64(changed_until(p, track, at.end), changed_until(p, track, at.start));
    return max_i64(0, add_i64(ns, change));
}

static int64_t host_ns(const player *p, uint32_t track, int64_t from, int64_t to) {
    return host_less_ns(p, track, (interval){from, to}, recording_ns(p, track, from, to));
}

/* From the end of a point to the start of another, on the thread of both. */
static int64_t between_ns(const player *p, uint32_t before, uint32_t after) {
    const why_point *a = &p->g->points[before], *b = &p->g->points[after];
    uint32_t track = b->track ? b->track : a->track;
    bool calls = p->unprofiled && a->track == b->track && before < p->g->first_mark &&
                 after < p->g->first_mark;
    if (!calls) return host_ns(p, track, a->end, b->start);
    int64_t spent = sub_i64(p->s->cost.at[after].start_ns, p->s->cost.at[before].end_ns);
    return host_less_ns(p, track, (interval){a->end, b->start}, spent);
}

static int64_t own_ns(const player *p, uint32_t i) {
    const why_point *point = &p->g->points[i];
    if (!p->unprofiled || i >= p->g->first_mark)
        return host_ns(p, point->track, point->start, point->end);
    int64_t spent = sub_i64(p->s->cost.at[i].end_ns, p->s->cost.at[i].start_ns);
    return host_less_ns(p, point->track, (interval){point->start, point->end}, spent);
}

/* From the end of the point before to the start of this one; handed over when its thread
 * woke. */
static int64_t gap_ns(const player *p, uint32_t i) {
    const why_point *point = &p->g->points[i], *before = &p->g->points[point->before];
    /* A mark that is on no thread hands nothing over. */
    if (!point->handed_over || !before->track) return between_ns(p, point->before, i);
    int64_t woke = max_i64(before->end, min_i64(point->active_from, point->start));
    return add_i64(host_ns(p, before->track, before->end, woke),
                   host_ns(p, point->track, woke, point->start));
}

static void end_point(const player *p, uint32_t i) {
    const why_point *point = &p->g->points[i];
    int64_t begin = p->r->begin[i], *out = &p->r->end[i];
    int64_t own = own_ns(p, i);
    bool gone = (p->no_sync && point->kind == POINT_BLOCK) ||
                (p->no_launch && point->kind == POINT_LAUNCH);
    uint64_t mask = p->on ? scenario_mask_at(p->s, point->track, point->start) : 0;
    double f = is_merged(p, mask) ? 0 : work_factor(p, mask);
    uint32_t waits = point->waits ? point->waits : why_copy(point);
    if (!waits || f <= 0 || (p->no_sync && point->kind == POINT_BLOCK)) {
        *out = gone ? begin : add_i64(begin, own);
        return;
    }
    own = gone ? 0 : min_i64(own, scale_ns(min_i64(WAIT_CALL_NS, p->g->launch_ns), f));
    int64_t tail = sub_i64(point->end, why_work_end(p->g, waits));
    *out = max_i64(add_i64(begin, own), add_i64(p->r->work_end[waits], scale_ns(tail, f)));
}

/* Meetings of ranks on the host; 0: none. */
static uint32_t member_before(const player *p, uint32_t i) {
    return p->r->meets && !p->no_meeting ? p->r->meets->of_before[i] : 0;
}

static uint32_t member_after(const player *p, uint32_t i) {
    return p->r->meets && !p->no_meeting ? p->r->meets->of_after[i] : 0;
}

/* The point before a transfer has ended: this rank has come. */
static void tell_end(const player *p, uint32_t i) {
    const why_point *point = &p->g->points[i];
    uint32_t member = member_before(p, i);
    if (!member) return;
    double f = p->on ? work_factor(p, scenario_mask_at(p->s, point->track, point->end)) : 1;
    p->r->meets->came(p->r->meets->context, member, p->r->end[i], f);
}

/* A batch that was waited for is there when its loader has it ready; without waiting, taking it
 * takes as long as it did after that. */
static void begin_fetched(const player *p, uint32_t i) {
    const why_point *point = &p->g->points[i];
    int64_t ready = p->g->points[point->fetched].end;
    int64_t tail = host_ns(p, point->track, ready, point->start);
    int64_t own = min_i64(tail, gap_ns(p, i));
    int64_t alone = point->before ? add_i64(p->r->end[point->before], own) : point->start;
    p->r->begin[i] = max_i64(alone, add_i64(p->r->end[point->fetched], tail));
}

static void begin_point(const player *p, uint32_t i) {
    const why_point *point = &p->g->points[i];
    int64_t left;
    p->r->begin[i] =
        point->before ? add_i64(p->r->end[point->before], gap_ns(p, i)) : point->start;
    if (why_fetched(point)) begin_fetched(p, i);
    uint32_t member = member_after(p, i);
    if (member && p->r->meets->left(p->r->meets->context, member, &left)) p->r->begin[i] = left;
    if (point->end > point->start) return;
    p->r->end[i] = p->r->begin[i];
    tell_end(p, i);
}

/* When it may begin: without its latency and gaps when it is itself gone. */
static int64_t begin_of_work(const player *p, uint32_t k, bool gone) {
    const why_graph *g = p->g;
    const why_work *w = &g->works[k];
    int64_t latency = p->no_launch ? 0 : w->latency_ns, gap = w->gap_ns;
    int64_t begin = INT64_MIN;
    if (p->graph) {
        latency = min_i64(latency, g->latency_ns);
        gap = min_i64(gap, GRAPH_GAP_NS);
    }
    if (!w->point && !w->before) return why_work_start(g, k);
    if (w->point) begin = add_i64(p->r->begin[w->point], gone ? 0 : latency);
    if (w->before) begin = max_i64(begin, add_i64(p->r->work_end[w->before], gone ? 0 : gap));
    if (w->other) {
        int64_t after = gone ? 0 : sub_i64(why_work_start(g, k), why_work_end(g, w->other));
        begin = max_i64(begin, add_i64(p->r->work_end[w->other], after));
    }
    return begin;
}

static int64_t work_ns(const player *p, uint32_t k, double factor) {
    bool own = p->s->work_mask[k] & p->on & p->own;
    int64_t ns = own ? p->s->own_ns[k] : p->g->t->slice.dur[p->g->t->kernel.slice[k]];
    return factor < 1 || factor > 1 ? scale_ns(ns, factor) : ns;
}

static void play_work(const player *p, uint32_t k) {
    double f = work_factor(p, p->s->work_mask[k]);
    int64_t begin = begin_of_work(p, k, f <= 0 || is_merged(p, p->s->work_mask[k]));
    uint32_t member = p->r->meets ? p->r->meets->of_work[k] : 0;
    p->r->work_end[k] = add_i64(begin, work_ns(p, k, f));
    if (!member) return;
    p->r->meets->came(p->r->meets->context, member, begin, f);
    if (f > 0) p->r->work_end[k] = NOT_YET;
}

/* Is it known when the work ended? */
static bool has_ended(const player *p, uint32_t k) {
    int64_t left;
    if (!k || !p->r->meets || p->r->work_end[k] != NOT_YET) return true;
    if (!p->r->meets->left(p->r->meets->context, p->r->meets->of_work[k], &left)) return false;
    p->r->work_end[k] = left;
    return true;
}

static bool is_ready(const player *p, uint32_t event) {
    uint32_t row = why_event_row(event);
    const why_point *point = &p->g->points[row];
    int64_t left;
    switch (why_event_kind(event)) {
    case EVENT_WORK:
        return has_ended(p, p->g->works[row].before) && has_ended(p, p->g->works[row].other);
    case EVENT_END: return has_ended(p, point->waits ? point->waits : why_copy(point));
    case EVENT_BEGIN: break;
    }
    uint32_t member = member_after(p, row);
    return !member || p->r->meets->left(p->r->meets->context, member, &left);
}

/* ---- communication that is hidden -------------------------------------------------------- */

/* The step that a moment of the host is in, + 1; 0: none. */
static uint32_t step_at(const why_graph *g, int64_t time) {
    uint32_t i = SEARCH_FIRST(k, 0u, g->n_steps, g->points[g->steps[k].start].start <= time);
    return i && time < g->points[g->steps[i - 1].end].start ? i : 0;
}

/* What of a step's communication one stream or thread carries, the most of all of them. */
static void keep_most(const player *p) {
    for (uint32_t i = 0; i < p->g->n_steps; i++) {
        p->r->network_ns[i] = max_i64(p->r->network_ns[i], p->r->stream_ns[i]);
        p->r->stream_ns[i] = 0;
    }
}

/* However well it is hidden, a step lasts as long as its communication. */
static void add_network(const player *p) {
    const why_graph *g = p->g;
    const scenario *s = p->s;
    player bare = *p;
    bare.on &= ~p->overlap;
    for (uint32_t i = 0; i < g->n_steps; i++) p->r->network_ns[i] = p->r->stream_ns[i] = 0;
    for (uint32_t k = 1, until = 0; k < g->n_works; k++) {
        uint32_t slice = g->t->kernel.slice[k];
        if (slice >= until) {
            keep_most(p);
            until = g->t->track.end[trace_track_of(g->t, slice)];
        }
        if (!(s->work_mask[k] & p->overlap) || !g->works[k].step) continue;
        int64_t *to = &p->r->stream_ns[g->works[k].step - 1];
        *to = add_i64(*to, work_ns(&bare, k, work_factor(&bare, s->work_mask[k])));
    }
    for (uint32_t track = 0; track < g->t->track.n; track++) {
        keep_most(p);
        for (uint32_t i = s->first[track]; i < s->first[track + 1]; i++) {
            const scenario_stretch *v = &s->stretches[i];
            uint32_t step = v->mask & p->overlap ? step_at(g, v->start) : 0;
            if (!step) continue;
            int64_t ns = scale_ns(sub_i64(v->end, v->start), host_factor(&bare, v->mask));
            p->r->stream_ns[step - 1] = add_i64(p->r->stream_ns[step - 1], ns);
        }
    }
    keep_most(p);
}

/* A step begins when the device's work of the one before it is done, as recorded ones do. */
static void measure(const player *p) {
    const why_graph *g = p->g;
    why_replay *r = p->r;
    int64_t done = why_done_before(g, g->earlier ? r->work_end[g->earlier] : INT64_MIN);
    for (uint32_t i = 0; i < g->n_steps; i++) r->step_end[i] = INT64_MIN;
    for (uint32_t k = 1; k < g->n_works; k++) {
        uint32_t step = g->works[k].step;
        if (step) r->step_end[step - 1] = max_i64(r->step_end[step - 1], r->work_end[k]);
    }
    for (uint32_t i = 0; i < g->n_steps; i++) {
        r->step_start[i] = max_i64(done, r->begin[g->steps[i].start]);
        done = max_i64(done, r->step_end[i]);
        if (p->overlap) done = max_i64(done, add_i64(r->step_start[i], r->network_ns[i]));
        r->step_end[i] = max_i64(r->step_start[i], max_i64(done, r->begin[g->steps[i].end]));
    }
}

static uint64_t has(const scenario *s, uint64_t on, scenario_kind kind) {
    return on & scenario_of_kind(s, kind);
}

static player player_of(why_replay *r) {
    const why_playing *h = &r->how;
    return (player){.r = r,
                    .g = r->s->g,
                    .s = r->s,
                    .on = h->on,
                    .own = h->own,
                    .overlap = h->overlap,
                    .graph = h->graph,
                    .no_launch = h->no_launch,
                    .no_sync = h->no_sync,
                    .unprofiled = h->unprofiled,
                    .no_meeting = h->no_meeting,
                    .base = h->base};
}

void why_replay_start(why_replay *r, uint64_t changes) {
    const scenario *s = r->s;
    uint64_t on = changes & (((uint64_t)1 << s->n) - 1);
    r->how = (why_playing){.on = on,
                           .own = has(s, on, CHANGE_NETWORK) | has(s, on, CHANGE_BATCH),
                           .overlap = has(s, on, CHANGE_OVERLAP),
                           .graph = has(s, on, CHANGE_CUDA_GRAPH) != 0,
                           .no_launch = has(s, on, CHANGE_NO_LAUNCH_COST) != 0,
                           .no_sync = has(s, on, CHANGE_NO_SYNC) != 0,
                           .unprofiled = has(s, on, CHANGE_UNPROFILED) != 0};
    r->how.no_meeting = r->how.overlap || has(s, on, CHANGE_NO_COMMUNICATION);
    r->how.base = r->how.graph ? 0 : 1;
    player p = player_of(r);
    add_up(&p);
}

bool why_replay_play(why_replay *r) {
    const why_graph *g = r->s->g;
    player p = player_of(r);
    for (; r->how.at < g->n_events; r->how.at++) {
        uint32_t event = g->events[r->how.at], row = why_event_row(event);
        if (r->meets && !is_ready(&p, event)) return false;
        switch (why_event_kind(event)) {
        case EVENT_END:
            end_point(&p, row);
            tell_end(&p, row);
            break;
        case EVENT_BEGIN: begin_point(&p, row); break;
        case EVENT_WORK: play_work(&p, row);
        }
    }
    return true;
}

void why_replay_finish(why_replay *r) {
    player p = player_of(r);
    for (uint32_t k = 1; r->meets && k < p.g->n_works; k++) (void)has_ended(&p, k);
    if (p.overlap) add_network(&p);
    measure(&p);
}

void why_replay_run(why_replay *r, uint64_t changes) {
    why_replay_start(r, changes);
    (void)why_replay_play(r);
    why_replay_finish(r);
}

status why_replay_init(why_replay *r, const scenario *s, arena *a, error *err) {
    const why_graph *g = s->g;
    *r = (why_replay){.s = s,
                      .recording = 1,
                      .begin = ARENA_ARRAY(a, int64_t, (size_t)g->n_points + 1),
                      .end = ARENA_ARRAY(a, int64_t, (size_t)g->n_points + 1),
                      .work_end = ARENA_ARRAY(a, int64_t, (size_t)g->n_works + 1),
                      .changed = ARENA_ARRAY(a, int64_t, (size_t)s->first[g->t->track.n] + 1),
                      .network_ns = ARENA_ARRAY(a, int64_t, (size_t)g->n_steps + 1),
                      .stream_ns = ARENA_ARRAY(a, int64_t, (size_t)g->n_steps + 1),
                      .step_start = ARENA_ARRAY(a, int64_t, (size_t)g->n_steps + 1),
                      .step_end = ARENA_ARRAY(a, int64_t, (size_t)g->n_steps + 1)};
    if (!r->begin || !r->end || !r->work_end || !r->changed || !r->step_start || !r->step_end ||
        !r->network_ns || !r->stream_ns)
        FAIL_MEMORY(err);
    return OK;
}
