/* serving.c: what a server does in each iteration, and what between them.
 *
 * Rates are of the time from the first iteration to the end of the last, gaps included: that is
 * what a user of the server gets. The sentence speaks of decodes where the device waits for the
 * host in a good part of them; otherwise it is that of the overview. */
#include "analyse/rows.h"
#include "analyse/rules.h"
#include "analyse/select.h"
#include "analyse/serving/cycle_parts.h"
#include "base/message_ids_advice.h"
#include "base/sort.h"

/* Share of a decode with its gap that the device waits for the host: above it, the host is what
 * limits the tokens. */
#define WAIT_SHARE 0.25

enum { LEAST_DECODES = 4 };

typedef struct {
    int64_t n, batch, prompt_tokens, output, time, longest, gaps;
    bool prompts_known; /* of all of them */
    cycle parts;
} phase_sum;

typedef struct {
    const trace *t;
    selection select;
    arena *arena;
    served all;
    cycle *cycles;
    phase_sum phase[N_ITERATIONS], total; /* of those selected */
    int64_t first, last;
} question;

static bool is_shown(const question *q, const served_iteration *one) {
    return select_step(&q->select, q->t->step.start[one->step]) &&
           one->start >= q->select.from_ns && one->start < q->select.to_ns;
}

static void add_one(phase_sum *s, const served_iteration *one, const cycle *c) {
    const iteration *it = &one->it;
    s->prompts_known = (s->n == 0 || s->prompts_known) && it->prompt_tokens != ABSENT_I64;
    if (it->prompt_tokens != ABSENT_I64)
        s->prompt_tokens = add_i64(s->prompt_tokens, it->prompt_tokens);
    s->n++;
    s->batch = add_i64(s->batch, it->batch);
    s->output = add_i64(s->output, it->batch);
    s->time = add_i64(s->time, served_ns(one));
    s->longest = max_i64(s->longest, served_ns(one));
    s->gaps = add_i64(s->gaps, one->gap);
    for (int p = 0; p < N_CYCLE_PARTS; p++) s->parts.ns[p] = add_i64(s->parts.ns[p], c->ns[p]);
}

static double per_second(int64_t n, int64_t ns) {
    return ns > 0 ? (double)n * 1e9 / (double)ns : NAN;
}

static double mean_of(int64_t sum, int64_t n) {
    return n > 0 ? (double)sum / (double)n : NAN;
}

static double share_of(int64_t ns, int64_t whole) {
    return whole > 0 ? (double)ns / (double)whole : NAN;
}

/* ---- tables ------------------------------------------------------------------------------ */

static status write_iteration(const question *q, table *to, uint32_t i, error *err) {
    const served_iteration *one = &q->all.v[i];
    const cycle *c = &q->cycles[i];
    row_serving_iterations row = row_serving_iterations_none();
    row.step = q->t->step.number[one->step];
    row.start = sub_i64(one->start, q->t->start_ns);
    row.duration = served_ns(one);
    row.phase = str_of(iteration_kind_name(one->it.kind));
    row.prompt_tokens = one->it.prompt_tokens;
    row.output_tokens = row.requests = one->it.batch;
    row.gap_before = one->gap;
    row.sampling = c->ns[PART_SAMPLING];
    row.compute = c->ns[PART_COMPUTE];
    row.communication = c->ns[PART_COMMUNICATION];
    row.copies = c->ns[PART_COPIES];
    row.launch = c->ns[PART_LAUNCH];
    row.idle = c->ns[PART_IDLE];
    if (q->t->step.slice[one->step]) row.slice = q->t->step.slice[one->step];
    return put_serving_iterations(to, &row, err);
}

/* The median length of the iterations of a kind. */
static status median_of(const question *q, iteration_kind kind, int64_t *out, error *err) {
    sort_pair *pairs = ARENA_ARRAY(q->arena, sort_pair, (size_t)q->all.n + 1);
    uint32_t n = 0;
    if (!pairs) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->all.n; i++) {
        const served_iteration *one = &q->all.v[i];
        if (one->it.kind != kind || !is_shown(q, one)) continue;
        pairs[n++] = (sort_pair){(uint64_t)served_ns(one), i};
    }
    if (!sort_radix_in(q->arena, pairs, n)) FAIL_MEMORY(err);
    *out = n ? sat_i64(pairs[(n - 1) / 2].key) : ABSENT_I64;
    return OK;
}

static status write_phase(const question *q, table *phases, table *parts, iteration_kind kind,
                          error *err) {
    const phase_sum *s = &q->phase[kind];
    if (!s->n) return OK;
    int64_t cycle_ns = add_i64(s->time, s->gaps), wall = sub_i64(q->last, q->first);
    row_serving_phases row = row_serving_phases_none();
    row.phase = str_of(iteration_kind_name(kind));
    row.iterations = s->n;
    row.time = s->time;
    row.share = share_of(s->time, wall);
    row.mean = mean_i64(s->time, s->n);
    TRY(median_of(q, kind, &row.p50, err));
    row.max = s->longest;
    row.gap_before = mean_i64(s->gaps, s->n);
    row.batch = mean_of(s->batch, s->n);
    if (s->prompts_known) row.prompt_tokens = s->prompt_tokens;
    row.output_tokens = s->output;
    TRY(put_serving_phases(phases, &row, err));
    for (int p = 0; p < N_CYCLE_PARTS; p++) {
        if (!s->parts.ns[p]) continue;
        row_serving_parts part = {.phase = row.phase,
                                  .part = cycle_part_name((cycle_part)p),
                                  .time = mean_i64(s->parts.ns[p], s->n),
                                  .share = share_of(s->parts.ns[p], cycle_ns),
                                  .total = s->parts.ns[p]};
        TRY(put_serving_parts(parts, &part, err));
    }
    return OK;
}

static status write_total(const question *q, table *to, error *err) {
    const phase_sum *s = &q->total;
    if (!s->n) return OK;
    row_serving_serving row = row_serving_serving_none();
    row.iterations = s->n;
    row.wall = sub_i64(q->last, q->first);
    if (s->prompts_known) row.prompt_tokens = s->prompt_tokens;
    row.output_tokens = s->output;
    if (s->prompts_known) row.prompt_tokens_per_s = per_second(s->prompt_tokens, row.wall);
    row.output_tokens_per_s = per_second(s->output, row.wall);
    row.batch = mean_of(s->batch, s->n);
    row.gaps = s->gaps;
    row.gap_share = share_of(s->gaps, row.wall);
    return put_serving_serving(to, &row, err);
}

/* ---- the sentence ------------------------------------------------------------------------ */

static bool decode_waits(const question *q, verdict *v) {
    const phase_sum *d = &q->phase[ITERATION_DECODE];
    int64_t cycle_ns = add_i64(d->time, d->gaps);
    int64_t wait = add_i64(d->gaps, add_i64(d->parts.ns[PART_LAUNCH], d->parts.ns[PART_IDLE]));
    if (q->t->kernel.n <= 1 || d->n < LEAST_DECODES || cycle_ns <= 0) return false;
    if ((double)wait < WAIT_SHARE * (double)cycle_ns) return false;
    *v = (verdict){.id = "decode_waits",
                   .message = MSG_VERDICT_DECODE_WAITS,
                   .severity = SEVERITY_WARNING};
    verdict_add(v, arg_time("wait", mean_i64(wait, d->n)));
    verdict_add(v, arg_time("cycle", mean_i64(cycle_ns, d->n)));
    int64_t gap = mean_i64(d->gaps, d->n);
    if (gap > 0) verdict_add(v, arg_time("gap", gap));
    return true;
}

static void judge(const question *q, verdict *v) {
    const phase_sum *all = &q->total, *d = &q->phase[ITERATION_DECODE];
    static const char *const names[N_ITERATIONS] = {[ITERATION_PREFILL] = "prefills",
                                                    [ITERATION_DECODE] = "decodes",
                                                    [ITERATION_MIXED] = "mixed"};
    int64_t wall = sub_i64(q->last, q->first);
    if (!all->n) {
        *v = (verdict){.id = "no_iterations",
                       .message = MSG_VERDICT_NO_ITERATIONS,
                       .severity = SEVERITY_INFO};
        return;
    }
    bool waits = decode_waits(q, v);
    if (!waits) {
        *v = (verdict){
            .id = "serving", .message = MSG_VERDICT_SERVING, .severity = SEVERITY_INFO};
        for (int k = ITERATION_PREFILL; k < N_ITERATIONS; k++)
            if (q->phase[k].n) verdict_add(v, arg_int(names[k], q->phase[k].n));
    }
    if (wall <= 0) return;
    if (all->prompts_known && all->prompt_tokens)
        verdict_add(v, arg_int("prompt_rate", round_i64(per_second(all->prompt_tokens, wall))));
    verdict_add(v, arg_real("rate", per_second(all->output, wall)));
    if (!waits && d->n) verdict_add(v, arg_time("per_token", mean_i64(d->time, d->n)));
}

status analyse_serving(const analysis_input *in, const params *p, arena *a, answer *out,
                       error *err) {
    question q = {.t = in->traces[0].trace, .arena = a, .first = INT64_MAX, .last = INT64_MIN};
    TRY(answer_begin("serving", in, a, out, err));
    TRY(trace_require(q.t,
                      SELECT_TABLES | TRACE_TABLE(op) | TRACE_TABLE(comm) | TRACE_TABLE(track) |
                          TRACE_TABLE(meta),
                      err));
    select_init(&q.select, q.t, p);
    TRY(served_find(q.t, a, &q.all, err));
    if (q.all.n) TRY(cycles_make(q.t, &q.all, a, &q.cycles, err));
    table *iterations = answer_table(out, a, "iterations"),
          *totals = answer_table(out, a, "serving"), *phases = answer_table(out, a, "phases"),
          *parts = answer_table(out, a, "parts");
    if (!iterations || !totals || !phases || !parts) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q.all.n; i++) {
        const served_iteration *one = &q.all.v[i];
        if (!is_shown(&q, one)) continue;
        TRY(write_iteration(&q, iterations, i, err));
        add_one(&q.phase[one->it.kind], one, &q.cycles[i]);
        add_one(&q.total, one, &q.cycles[i]);
        q.first = min_i64(q.first, one->start);
        q.last = max_i64(q.last, one->end);
    }
    for (int k = ITERATION_PREFILL; k < N_ITERATIONS; k++)
        TRY(write_phase(&q, phases, parts, (iteration_kind)k, err));
    TRY(write_total(&q, totals, err));
    judge(&q, &out->verdict);
    answer_finish(out, p);
    return OK;
}
