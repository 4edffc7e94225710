/* job_graph.c: the graphs of all ranks of a job, and where they meet; see job_graph.h. */
#include "analyse/job/job_graph.h"

#include "analyse/run/comm_match.h"
#include "base/bisect.h"
#include "base/num.h"

#define JOB_GRAPH_TABLES (WHY_TABLES | TRACE_TABLE(comm) | TRACE_TABLE(group))

bool job_graph_is_possible(const analysis_input *in) {
    if (in->n_traces < 2 || in->n_traces > UINT16_MAX) return false;
    for (uint32_t i = 0; i < in->n_traces; i++) {
        if (in->traces[i].trace->summary) return false;
        for (uint32_t k = 0; k < i; k++) /* then it is ambiguous */
            if (str_eq(in->traces[k].worker, in->traces[i].worker)) return false;
    }
    return true;
}

/* ---- clocks ------------------------------------------------------------------------------ */

int64_t job_time(const job_rank *r, int64_t ns) {
    return clock_apply(&r->clock, ns);
}

int64_t job_time_of_rank(const job_rank *r, int64_t job_ns) {
    const worker_clock *c = &r->clock;
    int64_t ns = sub_i64(add_i64(job_ns, c->offset), c->base);
    if (!c->drift_ppb) return ns;
    double d = (double)c->drift_ppb * 1e-9, since = (double)sub_i64(job_ns, c->at);
    return add_i64(ns, real_i64(since * d / (1 - d)));
}

static void take_clock(job_graph *g, job_rank *r, const job *j) {
    const summary_worker *w = j->who.v[r->place];
    r->clock = (worker_clock){.base = w->base == ABSENT_I64 ? 0 : w->base};
    for (uint32_t i = 0; i < SUMMARY_N(j->s, clock); i++) {
        const summary_clock *c = &SUMMARY_ROWS(j->s, clock)[i];
        if (!str_eq(c->worker, w->name)) continue;
        r->clock.at = c->at;
        r->clock.offset = c->offset;
        r->clock.drift_ppb = c->drift_ppb;
        r->clock.aligned = c->aligned != 0;
        if (c->residual > g->residual) g->residual = c->residual;
    }
}

/* ---- meetings ---------------------------------------------------------------------------- */

typedef struct {
    job_graph *g;
    arena *arena;
    collective_list list; /* worker: place in g->ranks */
    comm_matches found;
} meeter;

/* The points where a thread enters and leaves a collective of the host are by its slice, as all
 * points of threads are; 0: not there. */
static uint32_t entered_at(const why_graph *g, uint32_t slice) {
    uint32_t i = SEARCH_FIRST(k, 1u, g->first_mark, g->points[k].slice < slice);
    return i < g->first_mark && g->points[i].slice == slice && g->points[i].kind == POINT_ENTER
               ? i
               : 0;
}

/* What a collective of the host does on its device (copies) is before and after the transfer:
 * the transfer is the longest time without a call. */
static bool find_transfer(const why_graph *g, uint32_t slice, job_member *m) {
    uint32_t enter = entered_at(g, slice);
    int64_t longest = -1;
    if (!enter) return false;
    for (uint32_t i = enter + 1; i < g->first_mark; i++) {
        const why_point *p = &g->points[i], *b = &g->points[i - 1];
        if (p->track != b->track) return m->after != 0;
        int64_t ns = sub_i64(p->start, b->end);
        if (ns > longest) {
            longest = ns;
            m->before = i - 1;
            m->after = i;
        }
        if (p->kind == POINT_LEAVE) break;
    }
    return m->after != 0;
}

static bool make_member(const meeter *x, const collective *c, job_member *m) {
    const job_rank *r = &x->g->ranks[c->worker];
    *m = (job_member){.rank = c->worker};
    int64_t came = INT64_MAX, left = INT64_MIN;
    for (uint32_t i = 0; i < c->n_ranges; i++) {
        uint32_t k = x->list.kernels[c->first_range + i];
        interval v = x->list.ranges[c->first_range + i];
        if (!k) continue;
        if (v.start < came) m->first = k;
        if (v.end > left) m->last = k;
        came = min_i64(came, v.start);
        left = max_i64(left, v.end);
    }
    if (!m->first) {
        if (!find_transfer(&r->graph, c->slice, m)) return false;
        came = r->graph.points[m->before].end;
        left = r->graph.points[m->after].start;
    }
    m->came = job_time(r, came);
    m->left = job_time(r, left);
    return true;
}

static void add_meeting(meeter *x, uint32_t found) {
    job_graph *g = x->g;
    job_meeting *meeting = &g->meetings[g->n_meetings];
    const collective *any = &x->list.v[x->found.member[x->found.first[found]]];
    *meeting = (job_meeting){.first = g->n_members,
                             .group = any->group,
                             .source = any->source,
                             .target = any->target};
    for (uint32_t i = x->found.first[found]; i < x->found.first[found + 1]; i++) {
        job_member *m = &g->members[g->n_members];
        if (!make_member(x, &x->list.v[x->found.member[i]], m)) continue;
        if (!meeting->n || m->came > g->members[meeting->last].came)
            meeting->last = g->n_members;
        g->meeting_of[g->n_members++] = g->n_meetings;
        meeting->n++;
    }
    if (meeting->n > 1) {
        g->n_meetings++;
    } else {
        g->n_members = meeting->first;
        g->n_alone += x->found.first[found + 1] - x->found.first[found];
    }
}

static void mark_members(meeter *x) {
    job_graph *g = x->g;
    for (uint32_t i = 0; i < x->list.n; i++) {
        const collective *c = &x->list.v[i];
        job_rank *r = &g->ranks[c->worker];
        for (uint32_t k = 0; k < c->n_ranges; k++) /* until they are known: the collective */
            r->of_work[x->list.kernels[c->first_range + k]] = i + 1;
        r->of_work[0] = 0;
    }
}

/* All works of a collective lead to its member. */
static status link_members(meeter *x, error *err) {
    job_graph *g = x->g;
    uint32_t *member_of = ARENA_ARRAY(x->arena, uint32_t, (size_t)x->list.n + 1);
    if (!member_of) FAIL_MEMORY(err);
    mark_members(x);
    for (uint32_t i = 0; i < g->n_members; i++) {
        const job_member *m = &g->members[i];
        job_rank *r = &g->ranks[m->rank];
        if (m->after) r->of_point[m->after] = r->of_before[m->before] = i + 1;
        if (m->first) r->of_first[m->first] = i + 1;
        if (m->first) member_of[r->of_work[m->first] - 1] = i + 1;
    }
    for (uint32_t n = 0; n < g->n_ranks; n++) {
        job_rank *r = &g->ranks[n];
        for (uint32_t k = 1; k < r->graph.n_works; k++)
            if (r->of_work[k]) r->of_work[k] = member_of[r->of_work[k] - 1];
    }
    return OK;
}

static status find_meetings(job_graph *g, arena *a, error *err) {
    meeter x = {.g = g, .arena = a, .list = {.arena = a}};
    for (uint32_t i = 0; i < g->n_ranks; i++)
        if (g->ranks[i].clock.aligned) TRY(collectives_add(&x.list, g->ranks[i].t, i, err));
    TRY(comm_match_find(&x.list, g->n_ranks, a, &x.found, err));
    g->meetings = ARENA_ARRAY(a, job_meeting, (size_t)x.found.n + 1);
    g->members = ARENA_ARRAY(a, job_member, (size_t)x.list.n + 1);
    g->meeting_of = ARENA_ARRAY(a, uint32_t, (size_t)x.list.n + 1);
    if (!g->meetings || !g->members || !g->meeting_of) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < x.found.n; i++) add_meeting(&x, i);
    return link_members(&x, err);
}

/* ---- ranks and steps --------------------------------------------------------------------- */

static status add_rank(job_graph *g, uint32_t i, const analysis_input *in, const params *p,
                       const job *j, arena *a, error *err) {
    job_rank *r = &g->ranks[i];
    *r = (job_rank){.at = &in->traces[i], .t = in->traces[i].trace};
    r->place = worker_order_find(&j->who, r->at->worker);
    selection s;
    TRY(trace_require(r->t, JOB_GRAPH_TABLES, err));
    if (r->place != UINT32_MAX) take_clock(g, r, j);
    select_init(&s, r->t, p);
    TRY(step_spans_make(r->t, &s, a, &r->spans, err));
    TRY(why_graph_make(r->t, &r->spans, a, &r->graph, err));
    TRY(comm_names_init(&r->names, r->t, a, err));
    r->of_work = ARENA_ARRAY(a, uint32_t, (size_t)r->graph.n_works + 1);
    r->of_point = ARENA_ARRAY(a, uint32_t, (size_t)r->graph.n_points + 1);
    r->of_before = ARENA_ARRAY(a, uint32_t, (size_t)r->graph.n_points + 1);
    r->of_first = ARENA_ARRAY(a, uint32_t, (size_t)r->graph.n_works + 1);
    if (!r->of_work || !r->of_point || !r->of_before || !r->of_first) FAIL_MEMORY(err);
    if (r->clock.aligned) g->start_ns = min_i64(g->start_ns, job_time(r, r->t->start_ns));
    return OK;
}

const why_step *job_rank_step(const job_rank *r, int64_t number) {
    const why_step *v = r->graph.steps;
    uint32_t i = SEARCH_FIRST(k, 0u, r->graph.n_steps, v[k].number < number);
    return i < r->graph.n_steps && v[i].number == number ? &v[i] : NULL;
}

/* False when some rank does not have it. */
static bool measure_step(const job_graph *g, int64_t number, job_span *out) {
    *out = (job_span){.number = number, .start_ns = INT64_MIN, .end_ns = INT64_MIN};
    for (uint32_t i = 0; i < g->n_ranks; i++) {
        const job_rank *r = &g->ranks[i];
        const why_step *s = r->clock.aligned ? job_rank_step(r, number) : NULL;
        if (!r->clock.aligned) continue;
        if (!s) return false;
        int64_t end = job_time(r, s->end_ns);
        out->start_ns = max_i64(out->start_ns, job_time(r, s->start_ns));
        if (end > out->end_ns) {
            out->end_ns = end;
            out->last = i;
        }
    }
    return out->end_ns > INT64_MIN;
}

/* Without any call of a host there is nothing that a path could go through but the streams. */
static bool has_hosts(const job_graph *g) {
    for (uint32_t i = 0; i < g->n_ranks; i++)
        if (g->ranks[i].graph.first_mark > 1 || g->ranks[i].graph.n_op_threads) return true;
    return false;
}

static status find_steps(job_graph *g, arena *a, error *err) {
    const why_graph *first = &g->ranks[0].graph;
    if (!has_hosts(g)) return OK;
    g->steps = ARENA_ARRAY(a, job_span, (size_t)first->n_steps + 1);
    if (!g->steps) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < first->n_steps; i++) {
        job_span *s = &g->steps[g->n_steps];
        if (!measure_step(g, first->steps[i].number, s)) continue;
        if (g->n_steps && sub_i64(s->number, s[-1].number) == 1) s->start_ns = s[-1].end_ns;
        s->start_ns = min_i64(s->start_ns, s->end_ns);
        g->n_steps++;
    }
    return OK;
}

status job_graph_make(const analysis_input *in, const params *p, const job *j, arena *a,
                      job_graph *out, error *err) {
    *out = (job_graph){.start_ns = INT64_MAX};
    out->ranks = ARENA_ARRAY(a, job_rank, (size_t)in->n_traces + 1);
    if (!out->ranks) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < in->n_traces; i++) {
        TRY(add_rank(out, i, in, p, j, a, err));
        out->n_ranks++;
    }
    TRY(find_meetings(out, a, err));
    return find_steps(out, a, err);
}
