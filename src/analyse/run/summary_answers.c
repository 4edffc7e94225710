/* summary_answers.c: info, operators, kernels and overview of a run's summary.
 *
 * Operators and kernels are sums over all workers; in addition they show how long calls last
 * (quantiles of the merged histograms, exact to an eighth) and the worker that spent most in
 * them. The overview is that of the average step of all workers. What needs events is refused
 * with a sentence that says what can be asked. */
#include "analyse/run/summary_answers.h"

#include "analyse/input_quality.h"
#include "analyse/kind_names.h"
#include "analyse/operators/op_verdict.h"
#include "analyse/operators/tensor_core.h"
#include "analyse/registry.h"
#include "analyse/rules.h"
#include "analyse/run/culprit.h"
#include "analyse/run/rank_spread.h"
#include "analyse/run/summary_filter.h"
#include "analyse/vendor/untraced_steps.h"
#include "base/bisect.h"
#include "base/message_ids_advice.h"
#include "base/sort.h"

bool summary_is_enough(const analysis_info *is, const params *p, uint32_t n_workers) {
    if (is->workers == WORKERS_EVERY || !analysis_has(is, OF_SUMMARY)) return false;
    if (analysis_has(is, ABOUT_FILE) || n_workers > SUMMARY_FEW_WORKERS) return true;
    if (analysis_has(is, EVENTS_FIRST)) return false;
    return analysis_has(is, BY_NAME) ? !summary_is_filtered(p)
                                     : window_is_open(params_window(p));
}

/* ---- info -------------------------------------------------------------------------------- */

static status add_number(table *t, const char *key, int64_t value, error *err) {
    size_t row;
    str text = arena_printf(t->arena, "%lld", (long long)value);
    if (!text.p) FAIL_MEMORY(err);
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL(info, trace, key), str_of(key));
    table_set_text(t, row, COL(info, trace, value), text);
    return OK;
}

static int64_t count_hosts(const summary *s, arena *a) {
    worker_order who;
    int64_t n = 0;
    if (worker_order_make(&who, s, a, NULL) != OK) return 0;
    for (uint32_t i = 0; i < who.n; i++) {
        bool seen = who.v[i]->host.n == 0;
        for (uint32_t k = i; k > 0 && !seen && i - k < 64; k--)
            seen = str_eq(who.v[i]->host, who.v[k - 1]->host);
        n += !seen;
    }
    return n;
}

/* What there is of events is their number: enough to know which questions have an answer. */
static status add_counts(const summary *s, int64_t collectives, table *t, error *err) {
    int64_t ops = 0, kernels = 0;
    for (uint32_t i = 0; i < SUMMARY_N(s, op); i++)
        ops = add_i64(ops, SUMMARY_ROWS(s, op)[i].calls);
    for (uint32_t i = 0; i < SUMMARY_N(s, kernel); i++)
        kernels = add_i64(kernels, SUMMARY_ROWS(s, kernel)[i].calls);
    const struct {
        const char *kind;
        int64_t n;
    } counts[] = {{"op", ops}, {"kernel", kernels}, {"collective", collectives}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        size_t row;
        if (!counts[i].n) continue;
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, COL(info, events, kind), str_of(counts[i].kind));
        table_set_int(t, row, COL(info, events, count), counts[i].n);
    }
    return OK;
}

status summary_info(const analysis_input *in, arena *a, answer *out, error *err) {
    const params whole = PARAMS_WHOLE;
    const summary *s;
    table *facts = answer_table(out, a, "trace");
    table *events = answer_table(out, a, "events");
    table *devices = answer_table(out, a, "devices");
    int64_t collectives = 0, read = 0, dropped = 0, bytes = 0;
    size_t row;
    if (!facts || !events || !devices) FAIL_MEMORY(err);
    TRY(run_summary_make(in, &whole, a, &s, err));
    TRY(table_add_row(facts, &row, err));
    table_set_text(facts, row, COL(info, trace, key), STR("format"));
    table_set_text(facts, row, COL(info, trace, value), STR("tacho_summary"));
    for (uint32_t i = 0; i < SUMMARY_N(s, worker); i++) {
        const summary_worker *w = &SUMMARY_ROWS(s, worker)[i];
        collectives = add_i64(collectives, w->collectives);
        read = add_i64(read, w->events_read);
        dropped = add_i64(dropped, w->events_dropped);
        bytes = add_i64(bytes, w->input_bytes);
    }
    TRY(add_counts(s, collectives, events, err));
    TRY(add_number(facts, "workers", SUMMARY_N(s, worker), err));
    int64_t hosts = count_hosts(s, a); /* 0: unknown where they ran */
    if (hosts) TRY(add_number(facts, "hosts", hosts, err));
    TRY(add_number(facts, "worker_steps", SUMMARY_N(s, step), err));
    TRY(add_number(facts, "collectives", collectives, err));
    TRY(add_number(facts, "operators", SUMMARY_N(s, op), err));
    TRY(add_number(facts, "kernels", SUMMARY_N(s, kernel), err));
    TRY(add_number(facts, "events_read", read, err));
    TRY(add_number(facts, "events_dropped", dropped, err));
    TRY(add_number(facts, "input_bytes", bytes, err));
    TRY(add_number(facts, "resolved", SUMMARY_N(s, sync) > 0, err));
    return add_number(facts, "files_failed", SUMMARY_N(s, failure), err);
}

/* ---- operators and kernels --------------------------------------------------------------- */

/* The duration that a share of the calls does not exceed; rows [first, end) of the
 * histogram. */
static int64_t quantile(const summary_histogram *h, uint32_t n, double share) {
    int64_t all = 0, seen = 0;
    for (uint32_t i = 0; i < n; i++) all = add_i64(all, h[i].count);
    for (uint32_t i = 0; i < n; i++) {
        seen = add_i64(seen, h[i].count);
        if ((double)seen >= share * (double)all && h[i].bucket >= 0)
            return summary_bucket_ns((uint32_t)min_i64(h[i].bucket, 511));
    }
    return 0;
}

/* The rows of a name: the histogram ascends by what, name, bucket. */
static const summary_histogram *find_histogram(const summary *s, int64_t what, str name,
                                               uint32_t *n) {
    const summary_histogram *h = SUMMARY_ROWS(s, histogram);
    uint32_t low =
        SEARCH_FIRST(i, 0, SUMMARY_N(s, histogram),
                     h[i].what < what || (h[i].what == what && str_cmp(h[i].name, name) < 0));
    uint32_t end;
    for (end = low;
         end < SUMMARY_N(s, histogram) && h[end].what == what && str_eq(h[end].name, name);
         end++) {}
    *n = end - low;
    return h + low;
}

/* What both tables say about the workers after a row. */
typedef struct {
    str name, worst_worker;
    int64_t what, workers, least, worst, total;
} spread_row;

enum {
    SPREAD_NAME,
    SPREAD_WORKERS,
    SPREAD_P50,
    SPREAD_P90,
    SPREAD_P99,
    SPREAD_LEAST,
    SPREAD_MEDIAN,
    SPREAD_MEAN,
    SPREAD_WORST,
    SPREAD_WHO
};

/* The time of the worker in the middle, of an even number the upper one as in rank_spread.c.
 * The ends are known exactly, between them to 1/128. */
static int64_t middle_worker(const summary *s, const spread_row *r) {
    const summary_worker_time *w = SUMMARY_ROWS(s, worker_time);
    uint32_t end = SUMMARY_N(s, worker_time);
    uint32_t i = SEARCH_FIRST(k, 0, end,
                              w[k].what < r->what ||
                                  (w[k].what == r->what && str_cmp(w[k].name, r->name) < 0));
    int64_t seen = 0, middle = r->workers / 2;
    if (middle + 1 >= r->workers) return r->worst;
    for (; i < end && w[i].what == r->what && str_eq(w[i].name, r->name); i++) {
        seen = add_i64(seen, w[i].count);
        if (seen <= middle) continue;
        int64_t ns = summary_fine_bucket_ns(sat_u32((uint64_t)max_i64(0, w[i].bucket)));
        return max_i64(r->least, min_i64(ns, r->worst));
    }
    return r->worst;
}

static status write_spread(const summary *s, table *t, const spread_row *r, error *err) {
    uint32_t n;
    size_t row;
    const summary_histogram *h = find_histogram(s, r->what, r->name, &n);
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, SPREAD_NAME, r->name);
    table_set_int(t, row, SPREAD_WORKERS, r->workers);
    if (n) {
        table_set_int(t, row, SPREAD_P50, quantile(h, n, 0.5));
        table_set_int(t, row, SPREAD_P90, quantile(h, n, 0.9));
        table_set_int(t, row, SPREAD_P99, quantile(h, n, 0.99));
    }
    if (r->least != ABSENT_I64) {
        table_set_int(t, row, SPREAD_LEAST, r->least);
        table_set_int(t, row, SPREAD_MEDIAN, middle_worker(s, r));
    }
    if (r->workers > 0) table_set_int(t, row, SPREAD_MEAN, mean_i64(r->total, r->workers));
    table_set_int(t, row, SPREAD_WORST, r->worst);
    table_set_text(t, row, SPREAD_WHO, r->worst_worker);
    return OK;
}

#define COL_P(name) COL(operators, operators, name)
#define COL_K(name) COL(kernels, kernels, name)

static bool has_device(const summary *s) {
    for (uint32_t i = 0; i < SUMMARY_N(s, worker); i++)
        if (SUMMARY_ROWS(s, worker)[i].has_device == 1) return true;
    return false;
}

/* What a share is of: self time of all operators on the host; on the device all there is. */
typedef struct {
    int64_t host, device;
    bool has_device; /* else a device time is absent; summaries of earlier versions say 0 */
} self_time;

static self_time all_self(const summary *s) {
    self_time all = {.has_device = has_device(s)};
    int64_t kernels = 0;
    for (uint32_t i = 0; i < SUMMARY_N(s, op); i++) {
        all.host = add_i64(all.host, SUMMARY_ROWS(s, op)[i].host_self);
        all.device = add_i64(all.device, max_i64(0, SUMMARY_ROWS(s, op)[i].device_self));
    }
    for (uint32_t i = 0; i < SUMMARY_N(s, kernel); i++)
        kernels = add_i64(kernels, max_i64(0, SUMMARY_ROWS(s, kernel)[i].total));
    if (all.device) all.device = max_i64(all.device, kernels); /* some are of no operator */
    return all;
}

/* A share of the device's time where there is any, otherwise of the host's. */
static double self_share(const summary_op *o, self_time all) {
    if (all.device > 0) return (double)max_i64(0, o->device_self) / (double)all.device;
    return all.host > 0 ? (double)o->host_self / (double)all.host : NAN;
}

static status write_op(table *t, const summary_op *o, self_time all, error *err) {
    size_t row;
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_P(name), o->name);
    table_set_int(t, row, COL_P(calls), o->calls);
    table_set_int(t, row, COL_P(host_total), o->host_total);
    table_set_int(t, row, COL_P(host_self), o->host_self);
    if (all.has_device && o->device_total != ABSENT_I64)
        table_set_int(t, row, COL_P(device_total), o->device_total);
    if (all.has_device && o->device_self != ABSENT_I64)
        table_set_int(t, row, COL_P(device_self), o->device_self);
    table_set_real(t, row, COL_P(share), self_share(o, all));
    if (o->calls > 0) {
        table_set_int(t, row, COL_P(mean), mean_i64(o->host_total, o->calls));
        table_set_int(t, row, COL_P(max), o->max);
    }
    if (o->min != ABSENT_I64) table_set_int(t, row, COL_P(min), o->min);
    return OK;
}

/* Names are known of the whole recording only, unless they come from traces. */
static status note_whole(const analysis_input *in, const params *p, arena *a, answer *out,
                         error *err) {
    verdict note = {
        .id = "whole_recording", .message = MSG_NOTE_WHOLE_RUN, .severity = SEVERITY_INFO};
    if (!input_is_summary(in) || !summary_is_filtered(p)) return OK;
    verdict_add(&note, arg_cstr("tables", out->analysis));
    return answer_note(out, a, &note, err);
}

/* The operator that costs most; `t` is sorted. */
static void judge_operators(self_time all, const table *t, verdict *out) {
    op_facts f = {.n_rows = sat_u32(t->n_rows),
                  .has_device = all.device > 0,
                  .compute_major = ABSENT_I32};
    if (f.n_rows) {
        f.top = t->columns[COL_P(name)].v.s[0];
        f.top_calls = t->columns[COL_P(calls)].v.i[0];
        if (!table_is_null(t, 0, COL_P(share))) f.top_share = t->columns[COL_P(share)].v.d[0];
    }
    op_judge(&f, out);
}

/* The kernel that costs most; `t` is sorted. */
static void judge_kernels(const summary *s, const table *t, verdict *out) {
    int64_t calls = 0;
    for (uint32_t i = 0; i < SUMMARY_N(s, kernel); i++)
        calls = add_i64(calls, SUMMARY_ROWS(s, kernel)[i].calls);
    *out = (verdict){.id = "kernels_not_recorded",
                     .message = MSG_VERDICT_KERNELS_NONE,
                     .severity = SEVERITY_INFO};
    if (!calls || !t->n_rows) return;
    out->id = "kernel_leads";
    out->message = MSG_VERDICT_KERNEL_LEADS;
    verdict_add(out, arg_text("kernel", kernel_short_name(t->columns[COL_K(name)].v.s[0])));
    bool known = !table_is_null(t, 0, COL_K(share));
    verdict_add(out, arg_share("share", known ? t->columns[COL_K(share)].v.d[0] : 0));
    verdict_add(out, arg_int("count", calls));
}

status summary_operators(const analysis_input *in, const params *p, arena *a, answer *out,
                         error *err) {
    const summary *s;
    TRY(run_summary_names(in, p, a, &s, err));
    table *t = answer_table(out, a, "operators"), *spread = answer_table(out, a, "workers");
    if (!t || !spread) FAIL_MEMORY(err);
    self_time all = all_self(s);
    for (uint32_t i = 0; i < SUMMARY_N(s, op); i++) {
        const summary_op *o = &SUMMARY_ROWS(s, op)[i];
        TRY(write_op(t, o, all, err));
        spread_row r = {.name = o->name,
                        .worst_worker = o->worst_worker,
                        .what = 0,
                        .workers = o->workers,
                        .least = o->least,
                        .worst = o->worst,
                        .total = max_i64(o->host_self, o->device_self)};
        TRY(write_spread(s, spread, &r, err));
    }
    sort_by costly[] = {{COL_P(device_self), true}, {COL_P(host_self), true}};
    TRY(table_sort_by(t, costly, 2, err));
    judge_operators(all, t, &out->verdict);
    TRY(note_whole(in, p, a, out, err));
    return table_sort(spread, SPREAD_WORST, true, err);
}

status summary_kernels(const analysis_input *in, const params *p, arena *a, answer *out,
                       error *err) {
    const summary *s;
    TRY(run_summary_names(in, p, a, &s, err));
    table *t = answer_table(out, a, "kernels"), *spread = answer_table(out, a, "workers");
    int64_t all = 0;
    if (!t || !spread) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < SUMMARY_N(s, kernel); i++)
        all = add_i64(all, SUMMARY_ROWS(s, kernel)[i].total);
    for (uint32_t i = 0; i < SUMMARY_N(s, kernel); i++) {
        const summary_kernel *k = &SUMMARY_ROWS(s, kernel)[i];
        size_t row;
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, COL_K(name), k->name);
        table_set_int(t, row, COL_K(calls), k->calls);
        table_set_int(t, row, COL_K(total), k->total);
        if (k->calls > 0) {
            table_set_int(t, row, COL_K(mean), mean_i64(k->total, k->calls));
            table_set_int(t, row, COL_K(max), k->max);
        }
        if (k->min != ABSENT_I64) table_set_int(t, row, COL_K(min), k->min);
        if (all) table_set_real(t, row, COL_K(share), (double)k->total / (double)all);
        lexicon_entry known = lexicon_kernel(k->name);
        table_set_text(t, row, COL_K(class), kernel_class_word(known.class));
        if (known.matrix == MATRIX_YES || known.matrix == MATRIX_NO)
            table_set_int(t, row, COL_K(tensor_core), known.matrix == MATRIX_YES);
        spread_row r = {.name = k->name,
                        .worst_worker = k->worst_worker,
                        .what = 1,
                        .workers = k->workers,
                        .least = k->least,
                        .worst = k->worst,
                        .total = k->total};
        TRY(write_spread(s, spread, &r, err));
    }
    TRY(table_sort(t, COL_K(total), true, err));
    judge_kernels(s, t, &out->verdict);
    TRY(note_whole(in, p, a, out, err));
    return table_sort(spread, SPREAD_WORST, true, err);
}

/* ---- overview ---------------------------------------------------------------------------- */

#define COL_O(table, name) COL(overview, table, name)

/* Was the work of devices recorded? Without it nothing is known about kernels and copies. */
static bool knows_devices(const summary *s) {
    return has_device(s) && !untraced_steps_are_all(s);
}

static bool is_of_device(int r) {
    return r == ROLE_KERNEL || r == ROLE_MEMCPY || r == ROLE_MEMSET;
}

uint32_t overview_step_column(role r) {
    static const uint32_t columns[N_ROLES] = {
        [ROLE_KERNEL] = COL_overview_steps_kernel,
        [ROLE_MEMCPY] = COL_overview_steps_memcpy,
        [ROLE_MEMSET] = COL_overview_steps_memset,
        [ROLE_COMMUNICATION] = COL_overview_steps_communication,
        [ROLE_RUNTIME] = COL_overview_steps_runtime,
        [ROLE_DATA_LOADER] = COL_overview_steps_data_loader,
        [ROLE_CPU_EXEC] = COL_overview_steps_cpu_exec,
        [ROLE_OTHER] = COL_overview_steps_other};
    return columns[r];
}

/* A step's mean over the workers. */
static status write_step(table *t, int64_t number, const int64_t *sum, int64_t n, bool device,
                         error *err) {
    size_t row;
    int64_t mean[N_ROLES], total = 0;
    mean_parts(sum, n, mean, N_ROLES);
    for (int r = 0; r < N_ROLES; r++) total = add_i64(total, sum[r]);
    TRY(table_add_row(t, &row, err));
    table_set_int(t, row, COL_O(steps, step), number);
    table_set_int(t, row, COL_O(steps, total), mean_i64(total, n));
    for (int r = 0; r < N_ROLES; r++)
        if (device || !is_of_device(r))
            table_set_int(t, row, overview_step_column((role)r), mean[r]);
    return OK;
}

static status write_steps(const summary *s, arena *a, answer *out, error *err) {
    const summary_step *v = SUMMARY_ROWS(s, step);
    uint32_t n = SUMMARY_N(s, step);
    sort_pair *pairs = ARENA_ARRAY(a, sort_pair, (size_t)n + 1);
    table *t = answer_table(out, a, "steps");
    if (!pairs || !t) FAIL_MEMORY(err);
    bool timed = untraced_steps_are_all(s), device = knows_devices(s);
    uint32_t all = n;
    n = 0;
    for (uint32_t i = 0; i < all; i++)
        if (!timed || v[i].end > v[i].start)
            pairs[n++] = (sort_pair){(uint64_t)v[i].number ^ (uint64_t)1 << 63, i};
    if (!sort_radix_in(a, pairs, n)) FAIL_MEMORY(err);
    for (uint32_t first = 0, end; first < n; first = end) {
        int64_t sum[N_ROLES] = {0}, ns[N_ROLES];
        for (end = first; end < n && pairs[end].key == pairs[first].key; end++) {
            step_role_times(&v[pairs[end].row], ns);
            for (int r = 0; r < N_ROLES; r++) sum[r] = add_i64(sum[r], max_i64(0, ns[r]));
        }
        TRY(write_step(t, v[pairs[first].row].number, sum, end - first, device, err));
    }
    return OK;
}

/* What the verdict is based on: sums over the steps of all workers that count
 * (untraced_steps.h). */
typedef struct {
    uint32_t n; /* steps that count */
    int64_t part[N_ROLES];
    int64_t total, exposed;
    int64_t device; /* a device did anything: collectives on the host leave it idle */
    bool has_device;
} run_times;

static run_times add_steps(const summary *s) {
    run_times sum = {.total = 0};
    bool all_bare = untraced_steps_are_all(s);
    for (uint32_t i = 0; i < SUMMARY_N(s, step); i++) {
        const summary_step *one = &SUMMARY_ROWS(s, step)[i];
        int64_t ns[N_ROLES];
        if (!untraced_row_counts(one, all_bare)) continue;
        sum.n++;
        step_role_times(one, ns);
        for (int r = 0; r < N_ROLES; r++) {
            sum.part[r] = add_i64(sum.part[r], max_i64(0, ns[r]));
            sum.total = add_i64(sum.total, max_i64(0, ns[r]));
        }
        sum.exposed = add_i64(sum.exposed, max_i64(0, one->exposed));
        /* Summaries of earlier versions do not have it. */
        int64_t device = add_i64(add_i64(one->kernel, one->memcpy_ns),
                                 add_i64(one->memset_ns, one->communication));
        if (one->device != ABSENT_I64) device = one->device;
        sum.device = add_i64(sum.device, max_i64(0, device));
    }
    sum.has_device = knows_devices(s);
    return sum;
}

static void judge_busy(const summary *s, const run_times *sum, verdict *out) {
    double whole = sum->total > 0 ? (double)sum->total : 1;
    double busy = sum->has_device ? (double)sum->device / whole : 0;
    *out = (verdict){.id = "workers_busy",
                     .message = MSG_VERDICT_WORKERS_BUSY,
                     .severity = busy < 0.7 ? SEVERITY_WARNING : SEVERITY_GOOD};
    if (!sum->has_device) {
        out->id = "workers_on_host";
        out->message = MSG_VERDICT_WORKERS_ON_HOST;
        out->severity = SEVERITY_INFO;
    }
    verdict_add(out, arg_int("workers", SUMMARY_N(s, worker)));
    double copies = (double)sum->part[ROLE_MEMCPY] / whole;
    if (sum->has_device) verdict_add(out, arg_share("busy_share", busy));
    if (copies_matter(copies, busy)) verdict_add(out, arg_share("copy_share", copies));
    verdict_add(out, arg_share("communication_share", (double)sum->exposed / whole));
    if (SUMMARY_N(s, step) <= SUMMARY_N(s, worker)) verdict_add(out, arg_int("single", 1));
}

static status write_breakdown(const summary *s, arena *a, answer *out, error *err) {
    run_times sum = add_steps(s);
    int64_t mean[N_ROLES];
    double share[N_ROLES];
    table *t = answer_table(out, a, "breakdown");
    if (!t) FAIL_MEMORY(err);
    mean_parts(sum.part, sum.n, mean, N_ROLES);
    share_parts(sum.part, share, N_ROLES);
    for (int r = 0; r < N_ROLES; r++) {
        size_t row;
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, COL_O(breakdown, category), role_name((role)r));
        if (!sum.has_device && is_of_device(r)) continue;
        table_set_int(t, row, COL_O(breakdown, time), mean[r]);
        table_set_real(t, row, COL_O(breakdown, share), share[r]);
    }
    if (!quality_cut_run(s, &out->verdict)) judge_busy(s, &sum, &out->verdict);
    return OK;
}

static status add_fact(table *t, const char *key, int64_t value, error *err) {
    size_t row;
    str text = arena_printf(t->arena, "%lld", (long long)value);
    if (!text.p) FAIL_MEMORY(err);
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_O(configuration, key), str_of(key));
    table_set_text(t, row, COL_O(configuration, value), text);
    return OK;
}

/* Tables that need events exist and are empty, so that no reader waits for them. */
static status add_empty(arena *a, answer *out, error *err) {
    const result_info *r;
    for (uint32_t i = 0; (r = registry_result("overview", i)) != NULL; i++) {
        bool there = false;
        for (uint32_t k = 0; k < out->n_tables; k++)
            there |= strcmp(out->tables[k]->name, r->name) == 0;
        if (!there && !answer_table(out, a, r->name)) FAIL_MEMORY(err);
    }
    return OK;
}

static status find_late(const summary *s, arena *a, verdict *late, error *err) {
    worker_order who;
    comm_groups groups;
    stragglers all;
    culprit first;
    *late = (verdict){.id = NULL};
    if (!run_fact(s, "collectives")) return OK;
    TRY(worker_order_make(&who, s, a, err));
    TRY(comm_groups_find(s, &who, a, &groups, err));
    TRY(stragglers_find(s, &who, &groups, a, &all, err));
    TRY(culprit_find(s, &who, &all, a, &first, err));
    if (!first.rank) return OK;
    *late = (verdict){
        .id = "straggler", .message = MSG_VERDICT_STRAGGLER, .severity = SEVERITY_CRITICAL};
    culprit_describe(&first, &who, late);
    return OK;
}

status summary_overview(const analysis_input *in, const params *p, arena *a, run_overview *to,
                        error *err) {
    answer *out = to->out;
    const summary *s;
    TRY(run_summary_make(in, p, a, &s, err));
    TRY(find_late(s, a, &to->late, err));
    TRY(write_breakdown(s, a, out, err));
    TRY(rank_spread_write(s, a, out, err));
    TRY(write_steps(s, a, out, err));
    table *t = answer_table(out, a, "configuration");
    if (!t) FAIL_MEMORY(err);
    TRY(add_fact(t, "workers", SUMMARY_N(s, worker), err));
    int64_t hosts = count_hosts(s, a); /* 0: unknown where they ran */
    if (hosts) TRY(add_fact(t, "hosts", hosts, err));
    TRY(add_fact(t, "devices", SUMMARY_N(s, device), err));
    TRY(add_empty(a, out, err));
    return summary_filter_notes(in, p, s, a, out, err);
}
