/* requests.c: how long the requests of a server took, and what they waited for.
 *
 * A percentile is the value of a request, which is named: the smallest that this share of the
 * requests does not exceed. */
#include "analyse/rows.h"
#include "analyse/rules.h"
#include "analyse/select.h"
#include "analyse/serving/autopsy.h"
#include "base/message_ids_advice.h"
#include "base/sort.h"

/* Rows of blocked_by for one request, before the rest. */
enum { MOST_BLOCKERS = 8 };

/* Share of its latency that the slowest request waits for others: above it the sentence says
 * so. */
#define WAIT_SHARE 0.1

typedef struct {
    const trace *t;
    selection select;
    arena *arena;
    served iterations;
    request_list list;
    prefills turns;
    autopsies bodies;
    uint32_t n_shown, slowest; /* slowest: UINT32_MAX when none is shown */
} question;

/* A window selects by arrival. */
static bool is_shown(const question *q, const served_request *r) {
    return r->arrival >= q->select.from_ns && r->arrival < q->select.to_ns;
}

/* ---- percentiles ------------------------------------------------------------------------- */

typedef enum { METRIC_TTFT, METRIC_PER_TOKEN, METRIC_QUEUE, METRIC_LATENCY, N_METRICS } metric;

static const str METRIC_NAMES[N_METRICS] = {[METRIC_TTFT] = STR("ttft"),
                                            [METRIC_PER_TOKEN] = STR("per_token"),
                                            [METRIC_QUEUE] = STR("queue"),
                                            [METRIC_LATENCY] = STR("latency")};

static int64_t metric_of(const question *q, uint32_t i, metric m) {
    const served_request *r = &q->list.v[i];
    switch (m) {
    case METRIC_TTFT: return request_ttft(r);
    case METRIC_PER_TOKEN: return request_per_token(r);
    case METRIC_QUEUE: return q->bodies.v[i].queue;
    default: return request_latency(r);
    }
}

/* The values of those shown, ascending. */
typedef struct {
    sort_pair *v;
    uint32_t n;
    int64_t sum;
} spread;

static status spread_of(const question *q, metric m, spread *out, error *err) {
    *out = (spread){.v = ARENA_ARRAY(q->arena, sort_pair, (size_t)q->list.n + 1)};
    if (!out->v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->list.n; i++) {
        int64_t ns = metric_of(q, i, m);
        if (ns == ABSENT_I64 || ns < 0 || !is_shown(q, &q->list.v[i])) continue;
        out->v[out->n++] = (sort_pair){(uint64_t)ns, i};
        out->sum = add_i64(out->sum, ns);
    }
    if (!sort_radix_in(q->arena, out->v, out->n)) FAIL_MEMORY(err);
    return OK;
}

/* The row of the smallest value that this percentage does not exceed. */
static const sort_pair *percentile(const spread *s, uint32_t percent) {
    uint64_t rank = ((uint64_t)s->n * percent + 99) / 100;
    return &s->v[rank ? rank - 1 : 0];
}

static int64_t value_at(const spread *s, uint32_t percent) {
    return sat_i64(percentile(s, percent)->key);
}

static status write_latency(const question *q, table *to, metric m, const spread *s,
                            error *err) {
    static const uint32_t percents[] = {50, 90, 99, 100};
    row_requests_latency row = row_requests_latency_none();
    int64_t *values[] = {&row.p50, &row.p90, &row.p99, &row.max};
    str *ids[] = {&row.p50_request, &row.p90_request, &row.p99_request, &row.max_request};
    if (!s->n) return OK;
    row.metric = METRIC_NAMES[m];
    row.requests = s->n;
    row.mean = mean_i64(s->sum, s->n);
    for (size_t i = 0; i < N_OF(percents); i++) {
        *values[i] = value_at(s, percents[i]);
        *ids[i] = q->list.v[percentile(s, percents[i])->row].id;
    }
    return put_requests_latency(to, &row, err);
}

/* ---- the other tables -------------------------------------------------------------------- */

static int64_t offset(const question *q, int64_t at) {
    return at == ABSENT_I64 ? at : sub_i64(at, q->t->start_ns);
}

static status write_request(const question *q, table *to, uint32_t i, error *err) {
    const served_request *r = &q->list.v[i];
    const request_autopsy *body = &q->bodies.v[i];
    row_requests_requests row = row_requests_requests_none();
    row.id = r->id;
    row.arrival = offset(q, r->arrival);
    row.first_token = offset(q, r->first_token);
    row.end = offset(q, r->end);
    row.other = body->other;
    row.latency = request_latency(r);
    row.ttft = request_ttft(r);
    row.per_token = request_per_token(r);
    row.queue = body->queue;
    if (body->known) {
        row.own = add_i64(body->prefill, body->decode);
        row.waiting = body->waiting;
        row.scheduler = body->scheduler;
        row.prefill = body->prefill;
        row.decode = body->decode;
    }
    if (body->blocker != UINT32_MAX) {
        row.blocker = q->list.v[body->blocker].id;
        row.blocked = body->blocked;
    }
    row.prompt_tokens = r->prompt_tokens;
    row.output_tokens = r->output_tokens;
    return put_requests_requests(to, &row, err);
}

static status write_wait(const question *q, table *to, const request_wait *w, error *err) {
    const served_request *r = &q->list.v[w->request];
    row_requests_blocked_by row = row_requests_blocked_by_none();
    int64_t latency = request_latency(r);
    row.request = r->id;
    if (w->blocker != UINT32_MAX) row.blocker = q->list.v[w->blocker].id;
    row.time = w->ns;
    if (latency > 0) row.share = (double)w->ns / (double)latency;
    return put_requests_blocked_by(to, &row, err);
}

/* ---- Little's law ------------------------------------------------------------------------ */

/* Arrivals per second times the mean time, against what is counted at each iteration. */
typedef struct {
    int64_t time;   /* of all requests, in the time of the iterations */
    double counted; /* requests × ns */
} load_sum;

/* How many have come and gone at a time; asked with times that ascend. */
typedef struct {
    const question *q;
    sort_pair *ends;
    uint32_t come, gone;
} presence;

static status presence_open(const question *q, presence *out, error *err) {
    *out = (presence){.q = q, .ends = ARENA_ARRAY(q->arena, sort_pair, (size_t)q->list.n + 1)};
    if (!out->ends) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->list.n; i++)
        out->ends[i] = (sort_pair){(uint64_t)q->list.v[i].end ^ 1ull << 63, i};
    if (!sort_radix_in(q->arena, out->ends, q->list.n)) FAIL_MEMORY(err);
    return OK;
}

/* Requests that are there in the middle of a stretch, times its length. */
static double present_in(presence *p, int64_t start, int64_t ns) {
    const request_list *r = &p->q->list;
    int64_t at = add_i64(start, ns / 2);
    while (p->come < r->n && r->v[p->come].arrival <= at) p->come++;
    while (p->gone < r->n && r->v[p->ends[p->gone].row].end <= at) p->gone++;
    return ((double)p->come - (double)p->gone) * (double)ns;
}

static status count_present(const question *q, double *sum, error *err) {
    presence p;
    TRY(presence_open(q, &p, err));
    *sum = 0;
    for (uint32_t i = 0; i < q->iterations.n; i++) {
        const served_iteration *one = &q->iterations.v[i];
        *sum += present_in(&p, sub_i64(one->start, one->gap), one->gap);
        *sum += present_in(&p, one->start, served_ns(one));
    }
    return OK;
}

static status write_load(const question *q, table *to, str part, const load_sum *s,
                         int64_t over, error *err) {
    row_requests_load row = row_requests_load_none();
    int64_t span = sub_i64(q->list.v[q->list.n - 1].arrival, q->list.v[0].arrival);
    row.part = part;
    if (span > 0) row.arrivals_per_s = (double)(q->list.n - 1) * 1e9 / (double)span;
    row.mean_time = mean_i64(s->time, q->list.n);
    row.expected = (double)s->time / (double)over;
    row.counted = s->counted / (double)over;
    if (row.counted > 0) row.difference = fabs(row.expected - row.counted) / row.counted;
    return put_requests_load(to, &row, err);
}

static status write_loads(const question *q, table *to, error *err) {
    const served *s = &q->iterations;
    load_sum system = {0}, batch = {0};
    int64_t inside = 0;
    if (!s->n || !q->list.n) return OK;
    int64_t from = s->v[0].start, end = s->v[s->n - 1].end;
    for (uint32_t i = 0; i < q->list.n; i++) {
        const served_request *r = &q->list.v[i];
        const request_autopsy *body = &q->bodies.v[i];
        system.time = add_i64(
            system.time, max_i64(0, sub_i64(min_i64(r->end, end), max_i64(r->arrival, from))));
        batch.time = add_i64(batch.time, add_i64(body->prefill, body->decode));
    }
    for (uint32_t i = 0; i < s->n; i++) {
        inside = add_i64(inside, served_ns(&s->v[i]));
        batch.counted += (double)s->v[i].it.batch * (double)served_ns(&s->v[i]);
    }
    if (inside <= 0 || end <= from) return OK;
    TRY(count_present(q, &system.counted, err));
    TRY(write_load(q, to, STR("system"), &system, sub_i64(end, from), err));
    return write_load(q, to, STR("batch"), &batch, inside, err);
}

/* ---- sentences --------------------------------------------------------------------------- */

static void judge_waits(const question *q, const spread *ttft, verdict *v) {
    const request_autopsy *body = &q->bodies.v[q->slowest];
    const served_request *r = &q->list.v[q->slowest];
    *v = (verdict){.id = "request_waits",
                   .message = MSG_VERDICT_REQUEST_WAITS,
                   .severity = SEVERITY_WARNING};
    verdict_add(v, arg_int("count", q->n_shown));
    verdict_add(v, arg_time("ttft_p50", value_at(ttft, 50)));
    verdict_add(v, arg_time("ttft_p99", value_at(ttft, 99)));
    verdict_add(v, arg_text("slowest", r->id));
    verdict_add(v, arg_time("latency", request_latency(r)));
    verdict_add(v, arg_time("waiting", body->waiting));
    if (body->blocker == UINT32_MAX) return;
    verdict_add(v, arg_text("blocker", q->list.v[body->blocker].id));
    verdict_add(v, arg_time("blocker_time", body->blocked));
}

static void judge(const question *q, const spread *s, verdict *v) {
    if (q->slowest == UINT32_MAX) {
        *v = (verdict){
            .id = "no_requests", .message = MSG_VERDICT_NO_REQUESTS, .severity = SEVERITY_INFO};
        return;
    }
    const request_autopsy *body = &q->bodies.v[q->slowest];
    int64_t latency = request_latency(&q->list.v[q->slowest]);
    if (s[METRIC_TTFT].n && (double)body->waiting >= WAIT_SHARE * (double)latency &&
        body->waiting > 0) {
        judge_waits(q, &s[METRIC_TTFT], v);
        return;
    }
    *v = (verdict){
        .id = "request_times", .message = MSG_VERDICT_REQUEST_TIMES, .severity = SEVERITY_INFO};
    verdict_add(v, arg_int("count", q->n_shown));
    verdict_add(v, arg_time("latency_p50", value_at(&s[METRIC_LATENCY], 50)));
    verdict_add(v, arg_time("latency_p99", value_at(&s[METRIC_LATENCY], 99)));
    if (s[METRIC_TTFT].n) {
        verdict_add(v, arg_time("ttft_p50", value_at(&s[METRIC_TTFT], 50)));
        verdict_add(v, arg_time("ttft_p99", value_at(&s[METRIC_TTFT], 99)));
    }
    if (s[METRIC_QUEUE].n)
        verdict_add(v, arg_time("queue_p50", value_at(&s[METRIC_QUEUE], 50)));
}

/* How far the log and the trace belong together. */
static status say_quality(const question *q, answer *out, error *err) {
    const served *s = &q->iterations;
    int64_t explained = 0, elsewhere = 0;
    if (!s->n || !q->list.n) return OK;
    for (uint32_t i = 0; i < s->n; i++)
        explained += s->v[i].it.batch == (int64_t)q->turns.known[i];
    for (uint32_t i = 0; i < q->list.n; i++)
        elsewhere +=
            q->list.v[i].end <= s->v[0].start || q->list.v[i].arrival >= s->v[s->n - 1].end;
    quality_link link = {.what = "iterations with all their requests",
                         .message = MSG_LINK_ITERATIONS_EXPLAINED,
                         .linked = explained,
                         .total = s->n};
    TRY(answer_link(out, q->arena, &link, err));
    if (elsewhere) {
        verdict note = {.id = "requests_elsewhere",
                        .message = MSG_NOTE_REQUESTS_ELSEWHERE,
                        .severity = SEVERITY_INFO};
        verdict_add(&note, arg_int("count", elsewhere));
        verdict_add(&note, arg_int("total", q->list.n));
        TRY(answer_note(out, q->arena, &note, err));
    }
    if (!q->bodies.n_without) return OK;
    verdict note = {.id = "requests_not_judged",
                    .message = MSG_NOTE_REQUESTS_NOT_JUDGED,
                    .severity = SEVERITY_INFO};
    verdict_add(&note, arg_int("count", q->bodies.n_without));
    return answer_note(out, q->arena, &note, err);
}

static status prepare(question *q, const params *p, error *err) {
    TRY(trace_require(
        q->t, SELECT_TABLES | TRACE_TABLE(op) | TRACE_TABLE(track) | REQUEST_TABLES, err));
    select_init(&q->select, q->t, p);
    TRY(request_list_make(q->t, q->arena, &q->list, err));
    if (q->list.n) TRY(served_find(q->t, q->arena, &q->iterations, err));
    TRY(prefills_find(&q->iterations, &q->list, q->arena, &q->turns, err));
    TRY(autopsies_make(&q->iterations, &q->list, &q->turns, MOST_BLOCKERS, q->arena, &q->bodies,
                       err));
    q->slowest = UINT32_MAX;
    for (uint32_t i = 0; i < q->list.n; i++) {
        if (!is_shown(q, &q->list.v[i])) continue;
        q->n_shown++;
        if (q->slowest == UINT32_MAX ||
            request_latency(&q->list.v[i]) > request_latency(&q->list.v[q->slowest]))
            q->slowest = i;
    }
    return OK;
}

status analyse_requests(const analysis_input *in, const params *p, arena *a, answer *out,
                        error *err) {
    question q = {.t = in->traces[0].trace, .arena = a};
    spread spreads[N_METRICS];
    TRY(answer_begin("requests", in, a, out, err));
    TRY(prepare(&q, p, err));
    table *latency = answer_table(out, a, "latency"),
          *requests = answer_table(out, a, "requests"),
          *blocked = answer_table(out, a, "blocked_by"), *load = answer_table(out, a, "load");
    if (!latency || !requests || !blocked || !load) FAIL_MEMORY(err);
    for (int m = 0; m < N_METRICS; m++) {
        TRY(spread_of(&q, (metric)m, &spreads[m], err));
        TRY(write_latency(&q, latency, (metric)m, &spreads[m], err));
    }
    for (uint32_t i = 0; i < q.list.n; i++)
        if (is_shown(&q, &q.list.v[i])) TRY(write_request(&q, requests, i, err));
    for (uint32_t i = 0; i < q.bodies.n_waits; i++)
        if (is_shown(&q, &q.list.v[q.bodies.waits[i].request]))
            TRY(write_wait(&q, blocked, &q.bodies.waits[i], err));
    TRY(write_loads(&q, load, err));
    judge(&q, spreads, &out->verdict);
    TRY(say_quality(&q, out, err));
    answer_finish(out, p);
    return OK;
}
