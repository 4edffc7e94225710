/* overview.c: is the device busy, and if not, what does it wait for.
 *
 * Puts together what its neighbors compute: steps adjusted for device work (step_spans),
 * what every moment of them was spent on (breakdown), how well the devices were used
 * (device_metrics), the stages of training (stages, stage_times), the user's own ranges
 * (range_scan) and what is known of the configuration. Parts of a step add up to the step;
 * the average step's parts are rounded so that they still do.
 *
 * Steps at the end whose device work was cut off are left out of all tables, and a note says
 * so. Steps of which only a step trace is known (untraced_steps) have no kernels, not none: the
 * average is that of the others, where there are any. */
#include <math.h>

#include "analyse/cost/step_mfu.h"
#include "analyse/device/device_metrics.h"
#include "analyse/device/other_traces.h"
#include "analyse/kind_names.h"
#include "analyse/questions/in_use_table.h"
#include "analyse/questions/overview_int.h"
#include "analyse/run/summary_answers.h"
#include "analyse/vendor/mindspore_overview.h"
#include "analyse/why/idle_sums.h"
#include "store/traits.h"

/* ---- devices, breakdown, steps ----------------------------------------------------------- */

/* Row of table device with this number, 0 when there is none. */
static uint32_t find_device(const trace *t, int32_t id) {
    for (uint32_t i = 1; i < t->device.n; i++)
        if (t->device.id[i] == id) return i;
    return 0;
}

/* From the first step that counts to the last. */
static interval recorded_range(const overview *o) {
    interval range = {0, 0};
    bool any = false;
    for (uint32_t i = 0; i < o->steps.n; i++) {
        if (!overview_counts(o, i)) continue;
        if (!any) range.start = o->steps.v[i].start;
        range.end = o->steps.v[i].end;
        any = true;
    }
    return range;
}

static bool has_shapes(const trace *t) {
    for (uint32_t i = 1; i < t->op.n; i++)
        if (t->op.shapes[i]) return true;
    return false;
}

/* NaN when it is not known: no shapes, a device without a peak, or operators of unknown
 * cost. */
static status find_mfu(overview *o, double *out, error *err) {
    op_work work;
    op_claims claims;
    step_mfu m;
    device_peaks peaks;
    *out = NAN;
    TRY(device_peaks_find(o->t, &(params){.n_extra = 0}, &peaks, err));
    if (!peaks.device.n || !has_shapes(o->t)) return OK;
    TRY(op_work_init(&work, &o->select, &(params){.n_extra = 0}, o->arena, err));
    TRY(op_work_claim(&work, &claims, err));
    TRY(step_mfu_find(&work, &claims, &m, err));
    if (step_mfu_is_whole(&m)) *out = m.mfu;
    return OK;
}

/* How many devices work, and which of them does far less than another. */
static void note_devices(const device_metrics_list *list, overview_facts *facts) {
    double most = 0;
    facts->n_devices = list->n;
    facts->idlest_busy = 1;
    for (uint32_t i = 0; i < list->n; i++) {
        most = fmax(most, list->v[i].utilization);
        if (!(list->v[i].utilization < facts->idlest_busy)) continue;
        facts->idlest = list->v[i].device;
        facts->idlest_busy = list->v[i].utilization;
    }
    facts->one_is_idle = list->n > 1 && facts->idlest_busy < most / 2;
}

static status write_devices(overview *o, overview_facts *facts, error *err) {
    table *t = answer_table(o->out, o->arena, "devices");
    if (!t) FAIL_MEMORY(err);
    device_metrics_list list;
    double mfu = NAN;
    TRY(device_metrics_make(o->t, recorded_range(o), o->arena, &list, err));
    if (list.n == 1)
        TRY(find_mfu(o, &mfu, err)); /* with several, their steps cannot be attributed */
    note_devices(&list, facts);
    for (uint32_t i = 0; i < list.n; i++) {
        size_t row;
        TRY(table_add_row(t, &row, err));
        uint32_t device = find_device(o->t, list.v[i].device);
        table_set_int(t, row, COL_O(devices, device), list.v[i].device);
        if (device)
            table_set_text(t, row, COL_O(devices, name),
                           trace_str(o->t, o->t->device.name[device]));
        if (overview_is_bare(o)) continue;
        table_set_real(t, row, COL_O(devices, utilization), list.v[i].utilization);
        table_set_real(t, row, COL_O(devices, sm_efficiency), list.v[i].sm_efficiency);
        table_set_real(t, row, COL_O(devices, occupancy), list.v[i].occupancy);
        table_set_real(t, row, COL_O(devices, tensor_core_share), list.v[i].tensor_core_share);
        table_set_real(t, row, COL_O(devices, mfu), mfu);
    }
    return OK;
}

/* Was a role recorded at all? Without device work nothing is known about kernels and calls. */
static bool is_recorded(const overview *o, int r, bool bare) {
    bool device = o->t->kernel.n > 1 && !bare;
    return device || (r != ROLE_KERNEL && r != ROLE_MEMCPY && r != ROLE_MEMSET);
}

/* Without operators it is not known when the host was busy. */
static bool needs_ops(int r) {
    return r == ROLE_CPU_EXEC || r == ROLE_OTHER;
}

static bool is_recorded_in(const overview *o, int r, uint32_t i) {
    return is_recorded(o, r, o->bare.bare[i]) && !(o->steps.v[i].without_ops && needs_ops(r));
}

/* In the average: of none of its steps, or of all. */
static bool is_averaged(const overview *o, int r) {
    bool without_ops = o->with_ops.n && o->with_ops.v[0].without_ops;
    return is_recorded(o, r, overview_is_bare(o)) && !(without_ops && needs_ops(r));
}

static void set_place(table *t, size_t row, const overview *o, const role_place *p) {
    if (p->range.end <= p->range.start) return;
    if (p->slice) table_set_int(t, row, COL_O(breakdown, slice), p->slice);
    table_set_int(t, row, COL_O(breakdown, from), sub_i64(p->range.start, o->t->start_ns));
    table_set_int(t, row, COL_O(breakdown, to), sub_i64(p->range.end, o->t->start_ns));
}

static bool has_host(const trace *t) {
    for (uint32_t i = 1; i < t->track.n; i++)
        if (t->track.kind[i] == TRACK_THREAD && t->track.end[i] > t->track.first[i])
            return true;
    return false;
}

static bool has_launches(const trace *t) {
    for (uint32_t k = 1; k < t->kernel.n; k++)
        if (t->kernel.launch[k]) return true;
    return false;
}

/* The first device that is described, of a trace without device work. */
static str unused_device(const trace *t) {
    for (uint32_t i = 1; i < t->device.n && t->kernel.n <= 1; i++)
        if (t->device.type[i] != DEVICE_CPU && t->device.name[i])
            return trace_str(t, t->device.name[i]);
    return STR_NONE;
}

static status write_breakdown(overview *o, overview_facts *facts, error *err) {
    role_place places[N_ROLES] = {0};
    if (o->evidence) TRY(breakdown_places(o->t, &o->ranges, &o->steps, o->arena, places, err));
    int64_t sum[N_ROLES] = {0}, mean[N_ROLES], total = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->steps.n; i++) {
        if (!overview_counts(o, i)) continue;
        for (int r = 0; r < N_ROLES; r++) sum[r] = add_i64(sum[r], o->parts[i].ns[r]);
        n++;
    }
    mean_parts(sum, n, mean, N_ROLES);
    for (int r = 0; r < N_ROLES; r++) total = add_i64(total, sum[r]);
    table *t = answer_table(o->out, o->arena, "breakdown");
    if (!t) FAIL_MEMORY(err);
    facts->only_device = !has_host(o->t);
    facts->only_timed = overview_is_bare(o);
    facts->has_device = o->t->kernel.n > 1 && !overview_is_bare(o) && o->device_ns > 0;
    facts->no_launches = !has_launches(o->t);
    facts->device = device_noun(o->t);
    facts->unused = unused_device(o->t);
    facts->step_ns = n ? mean_i64(total, n) : 0;
    share_parts(sum, facts->share, N_ROLES);
    facts->busy = total ? (double)o->device_ns / (double)total : 0;
    facts->exposed = total ? (double)o->exposed_ns / (double)total : 0;
    for (int r = 0; r < N_ROLES; r++) {
        size_t row;
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, COL_O(breakdown, category), role_name((role)r));
        if (!is_averaged(o, r)) continue;
        table_set_int(t, row, COL_O(breakdown, time), mean[r]);
        table_set_real(t, row, COL_O(breakdown, share), facts->share[r]);
        set_place(t, row, o, &places[r]);
    }
    return OK;
}

static status write_steps(overview *o, error *err) {
    table *t = answer_table(o->out, o->arena, "steps");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < o->steps.n; i++) {
        const step_span *s = &o->steps.v[i];
        size_t row;
        TRY(table_add_row(t, &row, err));
        table_set_int(t, row, COL_O(steps, step), s->number);
        table_set_int(t, row, COL_O(steps, total), step_span_ns(s));
        for (int r = 0; r < N_ROLES; r++)
            if (is_recorded_in(o, r, i))
                table_set_int(t, row, overview_step_column((role)r), o->parts[i].ns[r]);
    }
    return OK;
}

/* Why each device is idle, in the steps of the averages. */
static status write_idle(overview *o, overview_facts *facts, error *err) {
    table *t = answer_table(o->out, o->arena, "idle");
    step_spans counted = {.v = ARENA_ARRAY(o->arena, step_span, (size_t)o->steps.n + 1)};
    idle_sums sums;
    if (!t || !counted.v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < o->steps.n && !overview_is_bare(o); i++)
        if (overview_counts(o, i)) counted.v[counted.n++] = o->steps.v[i];
    TRY(idle_sums_make(o->t, &counted, &o->ranges.at[ROLE_COMMUNICATION], o->arena, &sums,
                       err));
    facts->dependency = idle_sums_share(&sums, IDLE_DEPENDENCY);
    facts->no_launches |= idle_sums_share(&sums, IDLE_UNKNOWN) > (1 - facts->busy) / 2;
    return idle_sums_write(&sums, t, err);
}

static int64_t mean_step(const overview *o) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < o->steps.n; i++) sum = add_i64(sum, step_span_ns(&o->steps.v[i]));
    return o->steps.marked && o->steps.n ? mean_i64(sum, o->steps.n) : ABSENT_I64;
}

static status compute(overview *o, error *err) {
    role_ranges *ranges = &o->ranges;
    TRY(step_spans_make(o->t, &o->select, o->arena, &o->steps, err));
    TRY(step_spans_with_ops(&o->steps, o->arena, &o->with_ops, err));
    int64_t from = o->steps.n ? o->steps.v[0].start : 0;
    int64_t to = o->steps.n ? o->steps.v[o->steps.n - 1].end : 0;
    TRY(role_ranges_make(o->t, (interval){from, to}, o->arena, ranges, err));
    TRY(untraced_steps_find(o->t, &o->steps, ranges, &o->bare, err));
    TRY(breakdown_make(ranges, &o->steps, o->arena, &o->parts, err));
    for (uint32_t i = 0; i < o->steps.n; i++) {
        const step_span *s = &o->steps.v[i];
        if (!overview_counts(o, i)) continue;
        o->device_ns =
            add_i64(o->device_ns, intervals_ns_in(&ranges->device, s->start, s->end));
        o->exposed_ns =
            add_i64(o->exposed_ns, intervals_ns_in(&ranges->exposed, s->start, s->end));
    }
    return stage_times_make(&o->select, &o->with_ops, o->arena, &o->stages, err);
}

/* ---- two halves at once ------------------------------------------------------------------ */

static status write_tables(overview *o, const analysis_input *in, overview_facts *facts,
                           error *err) {
    uint32_t n_workers = in->traces[0].run_workers;
    TRY(compute(o, err));
    TRY(write_devices(o, facts, err));
    TRY(write_breakdown(o, facts, err));
    TRY(write_idle(o, facts, err));
    TRY(write_steps(o, err));
    TRY(overview_write_stages(o, err));
    TRY(overview_write_configuration(o, n_workers ? n_workers : in->n_traces, err));
    TRY(overview_write_stage_events(o, err));
    TRY(overview_write_user_events(o, err));
    TRY(overview_note_left_out(o, err));
    return overview_note_coverage(o, err);
}

/* The tables and the cause of the verdict need nothing of each other and take about as long. */
enum { HALF_TABLES, HALF_CAUSE, N_HALVES };

typedef struct {
    overview *o;
    const analysis_input *in;
    const params *params;
    overview_facts *facts;
    advice_cause cause;
    arena *own; /* of the cause: an arena is one thread's */
    status done[N_HALVES];
    error err[N_HALVES];
} halves;

static void make_half(void *context, size_t i, int worker) {
    halves *h = context;
    (void)worker;
    h->done[i] = i == HALF_TABLES ? write_tables(h->o, h->in, h->facts, &h->err[i])
                                  : advice_cause_find(h->in, h->params, &(advice_workers){0},
                                                      h->own, &h->cause, &h->err[i]);
}

static void free_own(void *own) {
    arena_fini(own);
}

static status make_halves(overview *o, const analysis_input *in, const params *p,
                          overview_facts *facts, error *err) {
    halves *h = ARENA_NEW(o->arena, halves);
    arena *own = ARENA_NEW(o->arena, arena);
    if (!h || !own) FAIL_MEMORY(err);
    *h = (halves){.o = o, .in = in, .params = p, .facts = facts, .own = own};
    arena_init(own, o->arena->limit_bytes);
    if (!arena_on_reset(o->arena, free_own, own)) FAIL_MEMORY(err);
    pool_for(p->pool, N_HALVES, make_half, h);
    for (int i = 0; i < N_HALVES; i++) {
        if (h->done[i] == OK) continue;
        if (err) error_copy(err, &h->err[i]);
        return h->done[i];
    }
    facts->cause = h->cause;
    return OK;
}

/* A picture of memory alone: its sentence is that of its first advice, or of `memory`. */
static status judge_memory(const analysis_input *in, const params *p, const advice_cause *first,
                           arena *a, answer *out, error *err) {
    answer memory = {0};
    TRY(trace_require(in->traces[0].trace, TRACE_TABLE(memory), err));
    if (!trace_is_memory_alone(in->traces[0].trace) || first->decided.id) return OK;
    if (first->evidence.id) {
        out->verdict = first->evidence;
        return OK;
    }
    TRY(analyse_memory(in, p, a, &memory, err));
    out->verdict = memory.verdict;
    return OK;
}

/* Less of a program is how it starts, or why it failed. */
#define LEAST_SAMPLED_NS 100000000

static bool is_sampled(const trace *t) {
    int64_t ns = 0;
    for (uint32_t i = 1; i < t->sample.n && ns < LEAST_SAMPLED_NS; i++)
        ns = add_i64(ns, t->sample.dur[i]);
    return ns >= LEAST_SAMPLED_NS;
}

/* A program of plain Python is known by its lines alone. */
static status judge_plain(const analysis_input *in, const params *p, arena *a, answer *out,
                          error *err) {
    const trace *t = in->traces[0].trace;
    answer lines;
    if (!out->verdict.id || strcmp(out->verdict.id, "cpu_only") != 0 || t->kind_count[KIND_OP])
        return OK;
    TRY(trace_require(t, TRACE_TABLE(sample), err));
    if (!is_sampled(t)) return OK;
    TRY(analyse_lines(in, p, a, &lines, err));
    if (lines.verdict.id && str_starts(str_of(lines.verdict.id), STR("line_leads")))
        out->verdict = lines.verdict;
    return OK;
}

status analyse_overview(const analysis_input *in, const params *p, arena *a, answer *out,
                        error *err) {
    overview o = {.t = in->traces[0].trace, .arena = a, .out = out};
    overview_facts facts = {0};
    advice_workers workers;
    TRY(answer_begin("overview", in, a, out, err));
    if (in->n_traces > 1 || input_is_summary(in)) {
        run_overview of_run = {.out = out};
        TRY(summary_overview(in, p, a, &of_run, err));
        TRY(advice_workers_find(in, p, a, &workers, err));
        TRY(advice_cause_find(in, p, &workers, a, &facts.cause, err));
        if (of_run.late.id && facts.cause.id && strcmp(facts.cause.id, "straggler") == 0) {
            verdict_add(&of_run.late, arg_cstr("advice", facts.cause.id));
            verdict_add(&of_run.late, arg_share("saves_share", facts.cause.share));
            out->verdict = of_run.late;
        } else {
            overview_add_cause(&facts, &out->verdict);
        }
        if (facts.cause.id) out->verdict.severity = facts.cause.severity;
        answer_finish(out, p);
        return OK;
    }
    TRY(trace_require(o.t,
                      SELECT_TABLES | TRACE_TABLE(track) | TRACE_TABLE(op) | TRACE_TABLE(comm) |
                          TRACE_TABLE(producer_op) | TRACE_TABLE(producer_step) |
                          TRACE_TABLE(pipe_op) | TRACE_TABLE(queue_sample) | TRACE_TABLE(meta) |
                          TRACE_TABLE(resource),
                      err));
    select_init(&o.select, o.t, p);
    o.evidence = param_flag(p, STR("evidence"));
    TRY(make_halves(&o, in, p, &facts, err));
    TRY(in_use_write(o.t, &facts.cause.uses, o.uses, err));
    TRY(overview_write_unprofiled(&o, &facts.cause, err));
    TRY(overview_judge(&o, &facts, err));
    TRY(judge_plain(in, p, a, out, err));
    TRY(judge_memory(in, p, &facts.cause, a, out, err));
    TRY(mindspore_overview_write(o.t, mean_step(&o), a, out, err));
    answer_finish(out, p);
    return OK;
}
