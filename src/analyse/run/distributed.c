/* distributed.c: which rank, doing what, and what it costs the others.
 *
 * Looks at all workers of a run at once, by their summaries alone (run_summary.h): a trace is
 * reduced first. For each worker: how much of the average step it computes, communicates, does
 * both, or neither (overlap); how long it spends in collectives moving data or waiting for
 * others (synchronization; comm_resolve.h defines them); its collectives by name. For all of
 * them: which worker arrived when at the collectives that cost most (all, in a small run). What
 * follows from comparing the workers (stragglers, groups, clocks, what if) is in
 * distributed_compare.c.
 *
 * Times of different machines are compared after their clocks have been aligned (clocks.h). */
#include "analyse/run/distributed.h"

#include "analyse/device/breakdown.h"
#include "analyse/device/other_traces.h"
#include "analyse/lexicon.h"
#include "analyse/rules.h"
#include "analyse/run/origins.h"
#include "analyse/run/summary_filter.h"
#include "analyse/vendor/device_report.h"
#include "analyse/vendor/untraced_steps.h"
#include "base/message_ids_advice.h"

#define COL_D(table, name) COL(distributed, table, name)

/* ---- tables of each worker --------------------------------------------------------------- */

static void set_worker(const run_question *q, table *t, size_t row, uint32_t worker) {
    const summary_worker *w = q->who.v[worker];
    table_set_text(t, row, 0, w->name);
    if (w->rank != ABSENT_I64) table_set_int(t, row, 1, w->rank);
}

/* All waiting is attributed to the ranks that arrived last, in proportion to how late they made
 * the others: lateness of collectives that overlap in time would add up to more than was
 * waited. */
static void share_out_waiting(run_question *q) {
    int64_t waited = 0, given = 0;
    double late = 0, seen = 0;
    for (uint32_t i = 0; i < q->who.n; i++) {
        waited = add_i64(waited, q->sums[i].waiting);
        late += (double)q->sums[i].caused;
    }
    for (uint32_t i = 0; i < q->who.n && late > 0; i++) {
        seen += (double)q->sums[i].caused;
        int64_t until = round_i64((double)waited * (seen / late));
        q->sums[i].caused = sub_i64(until, given);
        given = until;
    }
}

static status find_sums(run_question *q, error *err) {
    q->sums = ARENA_ARRAY(q->arena, worker_sums, (size_t)q->who.n + 1);
    bool all_bare = untraced_steps_are_all(q->s);
    if (!q->sums) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < SUMMARY_N(q->s, step); i++) {
        const summary_step *s = &SUMMARY_ROWS(q->s, step)[i];
        uint32_t place = worker_order_find(&q->who, s->worker);
        if (place == UINT32_MAX) continue;
        worker_sums *w = &q->sums[place];
        w->steps++;
        if (!untraced_row_counts(s, all_bare)) continue;
        w->whole++;
        w->part[0] = add_i64(w->part[0], s->computation);
        w->part[1] = add_i64(w->part[1], s->overlapping);
        w->part[2] = add_i64(w->part[2], s->exposed);
        w->part[3] = add_i64(w->part[3], s->neither);
    }
    for (uint32_t i = 0; i < SUMMARY_N(q->s, sync); i++) {
        const summary_sync *s = &SUMMARY_ROWS(q->s, sync)[i];
        uint32_t place = worker_order_find(&q->who, s->worker);
        if (place == UINT32_MAX) continue;
        q->sums[place].transfer = s->transfer;
        q->sums[place].waiting = s->waiting;
    }
    for (uint32_t i = 0; i < SUMMARY_N(q->s, blame); i++) {
        const summary_blame *b = &SUMMARY_ROWS(q->s, blame)[i];
        uint32_t place = worker_order_find(&q->who, b->worker);
        if (place == UINT32_MAX) continue;
        q->sums[place].caused = b->caused;
        q->sums[place].last = b->last;
    }
    share_out_waiting(q);
    return OK;
}

static status write_overlap(run_question *q, error *err) {
    table *t = answer_table(q->out, q->arena, "overlap");
    table *sync = answer_table(q->out, q->arena, "synchronization");
    if (!t || !sync) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->who.n; i++) {
        const worker_sums *w = &q->sums[i];
        int64_t mean[4];
        size_t row;
        mean_parts(w->part, w->whole, mean, 4);
        TRY(table_add_row(t, &row, err));
        set_worker(q, t, row, i);
        table_set_int(t, row, COL_D(overlap, computation), mean[0]);
        table_set_int(t, row, COL_D(overlap, overlapping), mean[1]);
        table_set_int(t, row, COL_D(overlap, communication), mean[2]);
        table_set_int(t, row, COL_D(overlap, other), mean[3]);
        TRY(table_add_row(sync, &row, err));
        set_worker(q, sync, row, i);
        table_set_int(sync, row, COL_D(synchronization, transfer),
                      mean_i64(w->transfer, w->steps));
        table_set_int(sync, row, COL_D(synchronization, waiting),
                      mean_i64(w->waiting, w->steps));
        table_set_int(sync, row, COL_D(synchronization, last), w->last);
        table_set_int(sync, row, COL_D(synchronization, caused), w->caused);
    }
    return OK;
}

/* Without its device's records a collective of NCCL is the call that starts it; gloo and MPI
 * exchange inside theirs. */
static bool is_only_launch(const run_question *q, str name) {
    return q->without_device && lexicon_means(name, MEANS_COLLECTIVE) &&
           !lexicon_means(name, MEANS_HOST_COLLECTIVE);
}

static bool has_no_device(const analysis_input *in) {
    for (uint32_t i = 0; i < in->n_traces; i++)
        if (in->traces[i].trace->kernel.n > 1) return false;
    return !input_is_summary(in);
}

static status write_call(run_question *q, table *t, uint32_t worker, const summary_call *c,
                         error *err) {
    size_t row;
    TRY(table_add_row(t, &row, err));
    set_worker(q, t, row, worker);
    table_set_text(t, row, COL_D(collectives, name), c->name);
    table_set_int(t, row, COL_D(collectives, calls), c->calls);
    table_set_int(t, row, COL_D(collectives, total), c->total);
    table_set_int(t, row, COL_D(collectives, transfer), c->transfer);
    table_set_int(t, row, COL_D(collectives, waiting), sub_i64(c->total, c->transfer));
    if (c->sized <= 0) return OK;
    table_set_int(t, row, COL_D(collectives, bytes), c->bytes);
    table_set_int(t, row, COL_D(collectives, mean_bytes), mean_i64(c->bytes, c->sized));
    if (c->sized != c->calls || c->transfer <= 0 || is_only_launch(q, c->name)) return OK;
    double rate = (double)c->bytes / ((double)c->transfer * 1e-9);
    int64_t members = c->group_size != ABSENT_I64 ? c->group_size : q->who.n;
    table_set_real(t, row, COL_D(collectives, algorithm_bandwidth), rate);
    table_set_real(t, row, COL_D(collectives, bus_bandwidth),
                   rate * bus_factor(comm_type_of(c->name), members));
    return OK;
}

static status write_collectives(run_question *q, error *err) {
    table *t = answer_table(q->out, q->arena, "collectives");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < SUMMARY_N(q->s, call); i++) {
        const summary_call *c = &SUMMARY_ROWS(q->s, call)[i];
        uint32_t worker = worker_order_find(&q->who, c->worker);
        if (worker != UINT32_MAX) TRY(write_call(q, t, worker, c, err));
    }
    return table_sort(t, COL_D(collectives, worker), false, err);
}

/* The first of the rows that are wanted: they ascend by what was lost, and no meeting is
 * cut. */
static uint32_t first_arrival(const summary *s, int64_t most) {
    const summary_arrival *v = SUMMARY_ROWS(s, arrival);
    uint32_t n = SUMMARY_N(s, arrival), from = n;
    while (from > 0 && most > 0) {
        uint32_t first = from;
        while (first > 0 && v[first - 1].lost == v[from - 1].lost &&
               v[first - 1].lot == v[from - 1].lot)
            first--;
        if (from < n && (int64_t)(n - first) > most) break;
        from = first;
    }
    return most > 0 ? from : 0;
}

static status write_arrivals(run_question *q, error *err) {
    table *t = answer_table(q->out, q->arena, "arrivals");
    int64_t most = 0;
    if (!t) FAIL_MEMORY(err);
    TRY(param_count(q->params, STR("arrivals"), &most, err));
    for (uint32_t i = first_arrival(q->s, most); i < SUMMARY_N(q->s, arrival); i++) {
        const summary_arrival *a = &SUMMARY_ROWS(q->s, arrival)[i];
        uint32_t worker = worker_order_find(&q->who, a->worker);
        size_t row;
        if (worker == UINT32_MAX) continue;
        int64_t rank = q->who.v[worker]->rank;
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, COL_D(arrivals, group), a->group);
        if (a->sequence != ABSENT_I64)
            table_set_int(t, row, COL_D(arrivals, sequence), a->sequence);
        table_set_text(t, row, COL_D(arrivals, name), a->name);
        if (rank != ABSENT_I64) table_set_int(t, row, COL_D(arrivals, rank), rank);
        if (a->step != ABSENT_I64) table_set_int(t, row, COL_D(arrivals, step), a->step);
        table_set_int(t, row, COL_D(arrivals, start), a->start);
        table_set_int(t, row, COL_D(arrivals, late_by), a->late_by);
        table_set_int(t, row, COL_D(arrivals, duration), a->duration);
        table_set_text(t, row, COL_D(arrivals, worker), a->worker);
    }
    return table_sort(t, COL_D(arrivals, start), false, err);
}

static status write_device(run_question *q, table *t, uint32_t worker, const summary_device *d,
                           error *err) {
    size_t row;
    TRY(table_add_row(t, &row, err));
    set_worker(q, t, row, worker);
    table_set_int(t, row, COL_D(devices, device), d->device);
    if (d->name.n) table_set_text(t, row, COL_D(devices, name), d->name);
    if (d->memory != ABSENT_I64) table_set_int(t, row, COL_D(devices, memory_bytes), d->memory);
    if (d->capability.n)
        table_set_text(t, row, COL_D(devices, compute_capability), d->capability);
    if (d->sm_count != ABSENT_I64) table_set_int(t, row, COL_D(devices, sm_count), d->sm_count);
    table_set_real(t, row, COL_D(devices, utilization), d->utilization);
    table_set_real(t, row, COL_D(devices, sm_efficiency), d->sm_efficiency);
    table_set_real(t, row, COL_D(devices, occupancy), d->occupancy);
    table_set_real(t, row, COL_D(devices, tensor_core_share), d->tensor_core);
    return OK;
}

/* In the order of the workers; the summary holds them by name. */
static status write_devices(run_question *q, error *err) {
    const summary_device *d = SUMMARY_ROWS(q->s, device);
    uint32_t n = SUMMARY_N(q->s, device);
    table *t = answer_table(q->out, q->arena, "devices");
    uint32_t *first = ARENA_ARRAY(q->arena, uint32_t, (size_t)q->who.n + 1);
    if (!t || !first) FAIL_MEMORY(err);
    for (uint32_t i = n; i > 0; i--) {
        uint32_t worker = worker_order_find(&q->who, d[i - 1].worker);
        if (worker != UINT32_MAX) first[worker] = i;
    }
    for (uint32_t w = 0; w < q->who.n; w++)
        for (uint32_t i = first[w]; i && i <= n && str_eq(d[i - 1].worker, q->who.v[w]->name);
             i++)
            TRY(write_device(q, t, w, &d[i - 1], err));
    return OK;
}

/* ---- verdict and notes ------------------------------------------------------------------- */

typedef struct {
    const run_question *q;
    double exposed_share; /* exposed communication, of the average step */
    int64_t hidden_ns;    /* communication that overlaps with computation, of all workers */
    int64_t collectives;
    bool single; /* one step of each worker, or the recording: nothing is an average */
} distributed_facts;

static bool no_communication(const void *facts, verdict *v) {
    (void)v;
    return !((const distributed_facts *)facts)->collectives;
}

static bool only_launches(const void *facts, verdict *v) {
    const run_question *q = ((const distributed_facts *)facts)->q;
    int64_t calls = 0;
    for (uint32_t i = 0; i < SUMMARY_N(q->s, call); i++) {
        const summary_call *c = &SUMMARY_ROWS(q->s, call)[i];
        if (!is_only_launch(q, c->name)) return false;
        calls = add_i64(calls, c->calls);
    }
    if (calls) verdict_add(v, arg_int("count", calls));
    return calls > 0;
}

static bool one_is_late(const void *facts, verdict *v) {
    const distributed_facts *f = facts;
    if (!f->q->culprit.rank || !f->collectives) return false;
    culprit_describe(&f->q->culprit, &f->q->who, v);
    return true;
}

static bool is_exposed(const void *facts, verdict *v) {
    const distributed_facts *f = facts;
    if (f->exposed_share < 0.1) return false;
    verdict_add(v, arg_share("share", f->exposed_share));
    if (f->single) verdict_add(v, arg_int("single", 1));
    return true;
}

static bool is_hidden(const void *facts, verdict *v) {
    const distributed_facts *f = facts;
    verdict_add(v, arg_share("share", f->exposed_share));
    verdict_add(v, arg_int("workers", f->q->who.n));
    if (f->hidden_ns) verdict_add(v, arg_int("hidden", 1));
    if (f->single) verdict_add(v, arg_int("single", 1));
    return true;
}

static const rule rules[] = {
    {"communication_none", MSG_VERDICT_DISTRIBUTED_NONE, SEVERITY_INFO, no_communication},
    {"communication_launches", MSG_VERDICT_ONLY_LAUNCHES, SEVERITY_INFO, only_launches},
    {"straggler", MSG_VERDICT_STRAGGLER, SEVERITY_CRITICAL, one_is_late},
    {"communication_not_hidden", MSG_VERDICT_NOT_HIDDEN, SEVERITY_WARNING, is_exposed},
    {"communication_hidden", MSG_VERDICT_HIDDEN, SEVERITY_GOOD, is_hidden},
};

static void judge(run_question *q) {
    distributed_facts f = {.q = q, .collectives = run_fact(q->s, "collectives")};
    int64_t total = 0, exposed = 0, steps = 0;
    for (uint32_t i = 0; i < q->who.n; i++) {
        const worker_sums *w = &q->sums[i];
        total = add_i64(
            total, add_i64(add_i64(w->part[0], w->part[1]), add_i64(w->part[2], w->part[3])));
        exposed = add_i64(exposed, w->part[2]);
        f.hidden_ns = add_i64(f.hidden_ns, w->part[1]);
        steps += w->steps;
    }
    f.single = steps <= q->who.n;
    f.exposed_share = total ? (double)exposed / (double)total : 0;
    rules_apply(rules, sizeof rules / sizeof *rules, &f, &q->out->verdict);
}

static status write_link(run_question *q, error *err) {
    int64_t total = run_fact(q->s, "collectives");
    if (q->who.n < 2 || !total) return OK;
    quality_link link = {.what = "collectives with their partners",
                         .message = MSG_LINK_COLLECTIVES,
                         .linked = run_fact(q->s, "collectives_matched"),
                         .total = total};
    return answer_link(q->out, q->arena, &link, err);
}

status analyse_distributed(const analysis_input *in, const params *p, arena *a, answer *out,
                           error *err) {
    run_question q = {.params = p, .arena = a, .out = out};
    device_report devices;
    TRY(answer_begin("distributed", in, a, out, err));
    q.without_device = has_no_device(in);
    TRY(run_summary_make(in, p, a, &q.s, err));
    TRY(worker_order_make(&q.who, q.s, a, err));
    TRY(comm_groups_find(q.s, &q.who, a, &q.groups, err));
    TRY(stragglers_find(q.s, &q.who, &q.groups, a, &q.late, err));
    TRY(culprit_find(q.s, &q.who, &q.late, a, &q.culprit, err));
    TRY(find_sums(&q, err));
    TRY(write_overlap(&q, err));
    TRY(write_collectives(&q, err));
    TRY(write_arrivals(&q, err));
    TRY(write_devices(&q, err));
    TRY(device_report_make(in, a, &devices, err));
    TRY(device_report_write(&devices, p, a, out, err));
    TRY(sharding_plan_write(in, a, out, err));
    TRY(distributed_compare(&q, err));
    TRY(origins_write(&q, err));
    TRY(chain_write(&q, err));
    TRY(summary_filter_notes(in, p, q.s, a, out, err));
    TRY(write_link(&q, err));
    if (in->n_traces == 1 && trace_has(in->traces[0].trace, TRAIT_NEGOTIATIONS))
        TRY(other_traces_judge(in->traces[0].trace, a, &out->verdict, err));
    if (!out->verdict.id) judge(&q);
    answer_finish(out, p);
    return OK;
}
