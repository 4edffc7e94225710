/* device_report.c: steps, links, operations and memory of each device of a run.
 *
 * Everything here comes from small tables a producer had added up (producer_rows.h), joined
 * with the steps of each trace by their numbers. The producer's average stays its own: versions
 * differ in whether the first step counts. Only where it gave none, the mean of the steps is
 * taken.
 *
 * The bandwidth of a link is bytes over time. MindSpore's own column adds up the bandwidths of
 * its collectives, which is not a bandwidth of anything; it is not used. */
#include "analyse/vendor/device_report.h"

#include <math.h>

#include "analyse/comm/comm_kind.h"
#include "analyse/device/breakdown.h"
#include "analyse/vendor/producer_rows.h"
#include "analyse/vendor/step_trace.h"
#include "base/bisect.h"
#include "base/map.h"
#include "base/num.h"

/* ---- steps ------------------------------------------------------------------------------- */

static device_report_step no_parts(int64_t number) {
    device_report_step s = {.number = number};
    for (int i = 0; i < N_REPORT_PARTS; i++) s.part[i] = ABSENT_I64;
    return s;
}

/* Steps by their numbers; the average is the first. */
static status number_steps(const device_report_worker *w, map *out, error *err) {
    for (uint32_t i = 1; i < w->n_steps; i++) {
        uint32_t *at = map_at(out, (uint64_t)w->steps[i].number);
        if (!at) FAIL_MEMORY(err);
        *at = i;
    }
    return OK;
}

const device_report_step *device_report_average(const device_report_worker *w) {
    for (uint32_t i = 0; i < w->n_steps; i++)
        if (w->steps[i].number == ABSENT_I64) return &w->steps[i];
    return NULL;
}

/* The steps of the trace, after a first row for their average. */
static status take_steps(device_report_worker *w, arena *a, uint32_t more, error *err) {
    const trace *t = w->at->trace;
    step_trace s = {.rows = NULL};
    w->steps = ARENA_ARRAY(a, device_report_step, (size_t)t->step.n + more + 2);
    if (!w->steps) FAIL_MEMORY(err);
    if (step_trace_is_likely(t)) TRY(step_trace_find(t, &(params)PARAMS_WHOLE, a, &s, err));
    if (!s.rows && !more) return OK;
    w->steps[w->n_steps++] = no_parts(ABSENT_I64);
    for (uint32_t i = 1; s.rows && i < t->step.n; i++) {
        const step_trace_row *r = &s.rows[i];
        device_report_step one = no_parts(t->step.number[i]);
        if (!r->known) continue;
        one.part[REPORT_INTERVAL] = r->gap == ABSENT_I64 ? 0 : r->gap;
        one.part[REPORT_PASSES] = sub_i64(r->passes.end, r->passes.start);
        one.part[REPORT_TAIL] = r->tail;
        one.part[REPORT_TOTAL] = sub_i64(t->step.end[i], t->step.start[i]);
        w->steps[w->n_steps++] = one;
    }
    return OK;
}

/* What the producer gave as its average. */
static void take_given_average(device_report_worker *w) {
    static const char *const stages[] = {
        [REPORT_INTERVAL] = "interval",
        [REPORT_PASSES] = "forward_backward",
        [REPORT_TAIL] = "tail",
        [REPORT_TOTAL] = "total",
    };
    const trace *t = w->at->trace;
    for (uint32_t g = 1; w->n_steps && g < t->producer_step.n; g++) {
        if (t->producer_step.number[g] != ABSENT_I64) continue;
        str stage = trace_str(t, t->producer_step.stage[g]);
        for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
            if (str_eq(stage, str_of(stages[i])))
                w->steps[0].part[i] = t->producer_step.duration[g];
    }
}

static void take_parts(device_report_step *to, const trace *t, uint32_t row) {
    to->part[REPORT_COMPUTATION] = t->step_part.computation[row];
    to->part[REPORT_COMMUNICATION] = t->step_part.communication[row];
    to->part[REPORT_STAGE] = t->step_part.stage[row];
    to->part[REPORT_RECEIVE] = t->step_part.receive[row];
    to->part[REPORT_COLLECTIVE] = t->step_part.collective[row];
}

/* The parts that the producer had added up. */
static void take_given_parts(device_report_worker *w, const map *by_number) {
    const trace *t = w->at->trace;
    for (uint32_t i = 1; i < t->step_part.n; i++) {
        int64_t number = t->step_part.number[i];
        uint32_t at = number == ABSENT_I64 ? 0 : map_get(by_number, (uint64_t)number);
        if (at == MAP_NONE) {
            at = w->n_steps++;
            w->steps[at] = no_parts(number);
        }
        take_parts(&w->steps[at], t, i);
    }
}

/* Parts without an average in the file: the mean over the steps that have them. */
static void fill_average(device_report_worker *w) {
    for (int k = 0; w->n_steps && k < N_REPORT_PARTS; k++) {
        int64_t sum = 0, n = 0;
        for (uint32_t i = 1; i < w->n_steps; i++) {
            if (w->steps[i].part[k] == ABSENT_I64) continue;
            sum = add_i64(sum, w->steps[i].part[k]);
            n++;
        }
        if (w->steps[0].part[k] == ABSENT_I64 && n) w->steps[0].part[k] = mean_i64(sum, n);
    }
    if (w->n_steps == 1) {
        bool any = false;
        for (int k = 0; k < N_REPORT_PARTS; k++) any |= w->steps[0].part[k] != ABSENT_I64;
        if (!any) w->n_steps = 0;
    }
}

/* ---- parts of steps from device work ----------------------------------------------------- */

typedef struct {
    intervals receive, alone, receive_alone, collective_alone;
    bool receives;
} comm_sets;

/* Which collectives receive from another stage. */
static status find_receives(const trace *t, arena *a, comm_sets *s, error *err) {
    s->receive = intervals_in(a);
    for (uint32_t c = 1; c < t->comm.n; c++) {
        uint32_t slice = t->comm.slice[c];
        if (str_find(trace_slice_name(t, slice), STR("Receive-op"), 0) == SIZE_MAX) continue;
        intervals_add(&s->receive, t->slice.start[slice], slice_end(t, slice));
        s->receives = true;
    }
    intervals_merge(&s->receive);
    if (s->receive.failed) FAIL_MEMORY(err);
    return OK;
}

static status split_communication(const trace *t, arena *a, comm_sets *s, bool *any,
                                  error *err) {
    role_ranges r;
    TRY(role_ranges_make(t, (interval){INT64_MIN, INT64_MAX}, a, &r, err));
    const intervals *comm = &r.at[ROLE_COMMUNICATION], *compute = &r.at[ROLE_KERNEL];
    *any = comm->n && compute->n;
    if (!*any) return OK;
    TRY(find_receives(t, a, s, err));
    intervals collective = intervals_minus(comm, &s->receive);
    s->alone = r.exposed;
    s->collective_alone = intervals_minus(&collective, compute);
    intervals quiet = intervals_minus(&s->receive, compute);
    s->receive_alone = intervals_minus(&quiet, &collective);
    if (collective.failed || s->alone.failed || s->collective_alone.failed || quiet.failed ||
        s->receive_alone.failed)
        FAIL_MEMORY(err);
    return OK;
}

static status find_parts(device_report_worker *w, const map *by_number, arena *a, error *err) {
    const trace *t = w->at->trace;
    comm_sets s = {.receives = false};
    bool any = false;
    if (w->n_steps < 2) return OK;
    TRY(split_communication(t, a, &s, &any, err));
    for (uint32_t i = 1; any && i < t->step.n; i++) {
        uint32_t at = map_get(by_number, (uint64_t)t->step.number[i]);
        int64_t start = t->step.start[i], end = t->step.end[i], ns = sub_i64(end, start);
        if (at == MAP_NONE || ns <= 0) continue;
        device_report_step *to = &w->steps[at];
        to->part[REPORT_COMMUNICATION] = intervals_ns_in(&s.alone, start, end);
        to->part[REPORT_COMPUTATION] = sub_i64(ns, to->part[REPORT_COMMUNICATION]);
        if (!s.receives) continue;
        to->part[REPORT_RECEIVE] = intervals_ns_in(&s.receive_alone, start, end);
        to->part[REPORT_STAGE] = sub_i64(ns, to->part[REPORT_RECEIVE]);
        to->part[REPORT_COLLECTIVE] = intervals_ns_in(&s.collective_alone, start, end);
    }
    return OK;
}

/* ---- communication ----------------------------------------------------------------------- */

static status take_communication(device_report_worker *w, arena *a, error *err) {
    TRY(producer_rows(w->at, SUMMARY_comm_cost, a, (const void **)&w->comms, &w->n_comms, err));
    TRY(producer_rows(w->at, SUMMARY_comm_cost_op, a, (const void **)&w->comm_ops,
                      &w->n_comm_ops, err));
    return producer_rows(w->at, SUMMARY_link, a, (const void **)&w->links, &w->n_links, err);
}

double device_link_rate(const summary_link *l) {
    return l->time > 0 ? (double)l->bytes / ((double)l->time * 1e-9) : (double)NAN;
}

/* ---- operations, memory, stages ---------------------------------------------------------- */

static status take_resources(device_report_worker *w, arena *a, error *err) {
    const summary_resource *r;
    uint32_t n;
    TRY(producer_rows(w->at, SUMMARY_resource, a, (const void **)&r, &n, err));
    w->flops = n ? r->flops : (double)NAN;
    w->flops_per_s = n ? r->flops_per_s : (double)NAN;
    w->utilization = n ? r->utilization : (double)NAN;
    w->memory_peak = n ? r->memory_peak : ABSENT_I64;
    w->memory_capacity = n ? r->memory_capacity : ABSENT_I64;
    return OK;
}

/* Ranks are in blocks of equal size, one block for each stage. */
static status find_stages(device_report *c, arena *a, error *err) {
    int64_t ranks = c->n;
    c->n_stages = 1;
    for (uint32_t i = 0; i < c->n; i++) {
        const summary_parallel *p;
        uint32_t n;
        TRY(producer_rows(c->v[i].at, SUMMARY_parallel, a, (const void **)&p, &n, err));
        if (!n) continue;
        c->n_stages = max_i64(c->n_stages, p->stages);
        ranks = max_i64(ranks, p->ranks);
        if (!c->mode.n) c->mode = p->kind;
    }
    int64_t each = ranks / c->n_stages;
    for (uint32_t i = 0; i < c->n; i++) {
        int64_t rank = c->v[i].at->rank;
        c->v[i].stage = rank < 0 || each < 1 ? ABSENT_I64 : add_i64(rank / each, 1);
        if (c->v[i].stage > c->n_stages) c->v[i].stage = ABSENT_I64;
    }
    return OK;
}

static status take_all_parts(device_report_worker *w, arena *a, error *err) {
    uint32_t n = w->at->trace->step_part.n > 1 ? w->at->trace->step_part.n - 1 : 0;
    map by_number = {0};
    TRY(take_steps(w, a, n, err));
    take_given_average(w);
    status st = number_steps(w, &by_number, err);
    if (st == OK && n) take_given_parts(w, &by_number);
    if (st == OK && !n) st = find_parts(w, &by_number, a, err);
    map_fini(&by_number);
    fill_average(w);
    return st;
}

/* What reduce kept of the steps: the average comes first, because it has no number. */
static status take_kept_steps(device_report_worker *w, arena *a, error *err) {
    const summary *s = w->at->trace->summary;
    const summary_producer_step *v = SUMMARY_ROWS(s, producer_step);
    uint32_t low = SEARCH_FIRST(i, 0, SUMMARY_N(s, producer_step),
                                str_cmp(v[i].worker, w->at->worker) < 0);
    uint32_t n = 0;
    while (low + n < SUMMARY_N(s, producer_step) && str_eq(v[low + n].worker, w->at->worker))
        n++;
    w->steps = ARENA_ARRAY(a, device_report_step, (size_t)n + 1);
    if (!w->steps) FAIL_MEMORY(err);
    for (; w->n_steps < n; w->n_steps++) {
        const summary_producer_step *r = &v[low + w->n_steps];
        w->steps[w->n_steps] =
            (device_report_step){.number = r->number,
                                 .part = {[REPORT_INTERVAL] = r->interval,
                                          [REPORT_PASSES] = r->passes,
                                          [REPORT_TAIL] = r->tail,
                                          [REPORT_TOTAL] = r->total,
                                          [REPORT_COMPUTATION] = r->computation,
                                          [REPORT_COMMUNICATION] = r->communication,
                                          [REPORT_STAGE] = r->stage,
                                          [REPORT_RECEIVE] = r->receive,
                                          [REPORT_COLLECTIVE] = r->collective}};
    }
    return OK;
}

static status open_steps(device_report_worker *w, arena *a, error *err) {
    if (w->at->trace->summary) return take_kept_steps(w, a, err);
    TRY(trace_require(w->at->trace,
                      SELECT_TABLES | TRACE_TABLE(comm) | TRACE_TABLE(producer_step) |
                          TRACE_TABLE(step_part),
                      err));
    return take_all_parts(w, a, err);
}

static status open_worker(device_report_worker *w, arena *a, error *err) {
    TRY(open_steps(w, a, err));
    TRY(take_resources(w, a, err));
    return take_communication(w, a, err);
}

status device_report_make(const analysis_input *in, arena *a, device_report *out, error *err) {
    analysis_input workers;
    TRY(producer_workers(in, a, &workers, err));
    device_report c = {.v = ARENA_ARRAY(a, device_report_worker, (size_t)workers.n_traces + 1),
                       .n = workers.n_traces};
    if (!c.v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < c.n; i++) {
        c.v[i].at = &workers.traces[i];
        TRY(open_worker(&c.v[i], a, err));
    }
    TRY(find_stages(&c, a, err));
    *out = c;
    return OK;
}

status device_report_reduce(const analysis_trace *at, str worker, arena *a, summary *out,
                            error *err) {
    device_report_worker w = {.at = at};
    TRY(open_steps(&w, a, err));
    for (uint32_t i = 0; i < w.n_steps; i++) {
        const int64_t *part = w.steps[i].part;
        summary_producer_step *row = summary_add_producer_step(out);
        if (!row) FAIL_MEMORY(err);
        *row = (summary_producer_step){.worker = worker,
                                       .number = w.steps[i].number,
                                       .interval = part[REPORT_INTERVAL],
                                       .passes = part[REPORT_PASSES],
                                       .tail = part[REPORT_TAIL],
                                       .total = part[REPORT_TOTAL],
                                       .computation = part[REPORT_COMPUTATION],
                                       .communication = part[REPORT_COMMUNICATION],
                                       .stage = part[REPORT_STAGE],
                                       .receive = part[REPORT_RECEIVE],
                                       .collective = part[REPORT_COLLECTIVE]};
    }
    return producer_reduce(at, worker, out, err);
}
