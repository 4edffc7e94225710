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
 * average rests on the others, where there are any. */
#include <math.h>

#include "analyse/cost/step_mfu.h"
#include "analyse/kind_names.h"
#include "analyse/producer/mindspore_overview.h"
#include "analyse/producer/untraced_steps.h"
#include "analyse/rules.h"
#include "analyse/run/advice_workers.h"
#include "analyse/run/summary_answers.h"
#include "analyse/scan/breakdown.h"
#include "analyse/scan/device_metrics.h"
#include "analyse/scan/group.h"
#include "analyse/scan/idle.h"
#include "analyse/scan/iterations.h"
#include "analyse/scan/lost_work.h"
#include "analyse/scan/range_scan.h"
#include "analyse/scan/stage_times.h"
#include "analyse/why/idle_sums.h"
#include "base/message_ids_advice.h"
#include "base/sort.h"
#include "store/traits.h"

#define COL_O(table, name) COL(overview, table, name)

/* Everything the rules of the verdict look at. */
typedef struct {
    bool has_device;
    bool only_timed;       /* of no step more than its step trace is known */
    double share[N_ROLES]; /* of the average step */
    double busy;           /* share of it in which a device did anything */
    double exposed;        /* share of it in communication that nothing hides (exposed.h) */
    double dependency;     /* share in which launched work waited for other work (idle.h) */
    int64_t step_ns;
    str device;         /* what it is called */
    advice_cause cause; /* what costs most: the first row of `advise` */
} overview_facts;

typedef struct {
    const trace *t;
    selection select;
    arena *arena;
    answer *out;
    step_spans steps;
    step_spans with_ops; /* of them those whose operators were recorded */
    step_parts *parts;
    untraced_steps bare;
    stage_times stages;
    idle_gaps idle; /* of all steps; blocking calls are the host's here */
    role_ranges ranges;
    int64_t device_ns, exposed_ns; /* in the steps that count: devices work; exposed.h */
    bool evidence;                 /* asked for: where each part of a step costs most */
} overview;

/* ---- verdict ----------------------------------------------------------------------------- */

/* Is this what costs most? */
static bool is_cause(const overview_facts *f, const char *const *ids, size_t n) {
    for (size_t i = 0; i < n && f->cause.id; i++)
        if (strcmp(f->cause.id, ids[i]) == 0) return true;
    return false;
}

#define CAUSE_IS(f, ...)                            \
    is_cause(f, (const char *const[]){__VA_ARGS__}, \
             sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Does it cost idle time of the device, or time in which that works: kernels, copies? */
static bool is_idle_time(const overview_facts *f) {
    claim_sort claim = f->cause.claim;
    return claim != CLAIM_KERNELS && claim != CLAIM_OPTIMIZER && claim != CLAIM_REST &&
           claim != CLAIM_INTERVAL && f->cause.share <= 1 - f->busy + 0.01;
}

static bool is_idle(const overview_facts *f) {
    return f->has_device && f->step_ns > 0 && f->busy < 0.7;
}

/* The rule of `advise` whose time it is, and what that saves; named in words where the sentence
 * has no words of its own for it. */
static void add_cause(const overview_facts *f, verdict *v) {
    if (!f->cause.id) return;
    verdict_add(v, arg_cstr("advice", f->cause.id));
    verdict_add(v, arg_share("saves_share", f->cause.share));
    verdict_add(v, arg_words("cause", f->cause.title));
    for (uint32_t i = 0; i < f->cause.words.n_args; i++) /* the only value titles have */
        if (strcmp(f->cause.words.args[i].name, "dimension") == 0)
            verdict_add(v, f->cause.words.args[i]);
}

static void add_idle(const overview_facts *f, verdict *v) {
    verdict_add(v, arg_share("idle_share", 1 - f->busy));
    verdict_add(v, arg_text("device", f->device));
}

static bool data_loader_is_late(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    if (!f->has_device ||
        !CAUSE_IS(f, "data_loader_no_workers", "data_loader_slow", "data_loader_unmarked"))
        return false;
    add_idle(f, v);
    verdict_add(v, arg_share("data_loader_share", f->cause.share));
    add_cause(f, v);
    return true;
}

/* A device that waits for collectives on the host is idle, and they are why. */
static bool communication_is_late(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    if (!CAUSE_IS(f, "communication_exposed", "nccl_missing")) return false;
    verdict_add(v, arg_share("communication_share", f->exposed));
    add_cause(f, v);
    return true;
}

static bool dependency_is_late(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    if (!f->has_device || !CAUSE_IS(f, "dependency_wait")) return false;
    add_idle(f, v);
    verdict_add(v, arg_share("dependency_share", f->dependency));
    add_cause(f, v);
    return true;
}

static bool host_is_late(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    double host = f->share[ROLE_CPU_EXEC] + f->share[ROLE_RUNTIME];
    bool alone = !f->cause.id && is_idle(f);
    if (!f->has_device || host < f->share[ROLE_OTHER] || (!alone && !CAUSE_IS(f, "host_late")))
        return false;
    add_idle(f, v);
    verdict_add(v, arg_share("host_share", host));
    add_cause(f, v);
    return true;
}

static bool nothing_is_recorded(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    bool alone = !f->cause.id && is_idle(f);
    if (!f->has_device || (!alone && !CAUSE_IS(f, "host_late", "host_pause"))) return false;
    add_idle(f, v);
    verdict_add(v, arg_share("other_share", f->share[ROLE_OTHER]));
    add_cause(f, v);
    return true;
}

/* Whatever else the device waits for. */
static bool device_waits(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    if (!f->has_device || !f->cause.id || !is_idle_time(f)) return false;
    add_idle(f, v);
    add_cause(f, v);
    return true;
}

static bool only_steps_are_timed(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    if (!f->only_timed || f->step_ns <= 0) return false;
    verdict_add(v, arg_time("step_time", f->step_ns));
    verdict_add(v, arg_text("device", f->device));
    add_cause(f, v);
    return true;
}

/* The interval before the forward pass of a step trace is data, too. */
static bool data_loader_on_cpu(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    bool is_interval = f->cause.id && f->cause.claim == CLAIM_INTERVAL;
    if (f->has_device ||
        (!is_interval && !CAUSE_IS(f, "data_loader_no_workers", "data_loader_slow")))
        return false;
    verdict_add(v, arg_share("data_loader_share", f->cause.share));
    add_cause(f, v);
    return true;
}

static bool only_host(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    if (f->has_device || f->step_ns <= 0) return false;
    verdict_add(v, arg_time("step_time", f->step_ns));
    verdict_add(v, arg_share("host_share", f->share[ROLE_CPU_EXEC]));
    add_cause(f, v);
    return true;
}

static bool device_is_busy(const void *facts, verdict *v) {
    const overview_facts *f = facts;
    if (!f->has_device || f->step_ns <= 0) return false;
    verdict_add(v, arg_share("busy_share", f->busy));
    verdict_add(v, arg_time("step_time", f->step_ns));
    verdict_add(v, arg_text("device", f->device));
    add_cause(f, v);
    return true;
}

/* The words for what costs most, which is what `advise` puts first; then for a run without a
 * cause. */
static const rule rules[] = {
    {"gpu_idle_data_loader", MSG_VERDICT_GPU_IDLE_DATA_LOADER, SEVERITY_CRITICAL,
     data_loader_is_late},
    {"communication_exposed", MSG_VERDICT_COMMUNICATION_EXPOSED, SEVERITY_WARNING,
     communication_is_late},
    {"gpu_idle_dependency", MSG_VERDICT_GPU_IDLE_DEPENDENCY, SEVERITY_CRITICAL,
     dependency_is_late},
    {"gpu_idle_host", MSG_VERDICT_GPU_IDLE_HOST, SEVERITY_CRITICAL, host_is_late},
    {"gpu_idle_unknown", MSG_VERDICT_GPU_IDLE_UNKNOWN, SEVERITY_CRITICAL, nothing_is_recorded},
    {"gpu_idle", MSG_VERDICT_GPU_IDLE, SEVERITY_CRITICAL, device_waits},
    {"cpu_data_loader", MSG_VERDICT_CPU_DATA_LOADER, SEVERITY_WARNING, data_loader_on_cpu},
    {"steps_timed_only", MSG_VERDICT_STEPS_TIMED_ONLY, SEVERITY_INFO, only_steps_are_timed},
    {"cpu_only", MSG_VERDICT_CPU_ONLY, SEVERITY_INFO, only_host},
    {"gpu_busy", MSG_VERDICT_GPU_BUSY, SEVERITY_GOOD, device_is_busy},
};

/* ---- devices, breakdown, steps ----------------------------------------------------------- */

/* Row of table device with this number, 0 when there is none. */
static uint32_t overview_find_device(const trace *t, int32_t id) {
    for (uint32_t i = 1; i < t->device.n; i++)
        if (t->device.id[i] == id) return i;
    return 0;
}

static bool all_bare(const overview *o) {
    return o->bare.n && o->bare.n == o->steps.n;
}

/* Is the work of step i recorded, on the device and on the host, or is there nothing better? */
static bool counts(const overview *o, uint32_t i) {
    bool some_have_ops = o->with_ops.n < o->steps.n;
    return untraced_step_counts(&o->bare, &o->steps, i) &&
           !(some_have_ops && o->steps.v[i].without_ops);
}

/* From the first step that counts to the last. */
static interval recorded_range(const overview *o) {
    interval range = {0, 0};
    bool any = false;
    for (uint32_t i = 0; i < o->steps.n; i++) {
        if (!counts(o, i)) continue;
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

/* NaN when it is not known: no shapes, or a device without a peak. */
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
    *out = m.mfu;
    return OK;
}

static status write_devices(overview *o, error *err) {
    table *t = answer_table(o->out, o->arena, "devices");
    if (!t) FAIL_MEMORY(err);
    device_metrics_list list;
    double mfu = NAN;
    TRY(device_metrics_make(o->t, recorded_range(o), o->arena, &list, err));
    if (list.n == 1)
        TRY(find_mfu(o, &mfu, err)); /* of several, nobody knows whose steps they are */
    for (uint32_t i = 0; i < list.n; i++) {
        size_t row;
        TRY(table_add_row(t, &row, err));
        uint32_t device = overview_find_device(o->t, list.v[i].device);
        table_set_int(t, row, COL_O(devices, device), list.v[i].device);
        if (device)
            table_set_text(t, row, COL_O(devices, name),
                           trace_str(o->t, o->t->device.name[device]));
        if (all_bare(o)) continue;
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

/* Without operators it is not known when the host was at work. */
static bool needs_ops(int r) {
    return r == ROLE_CPU_EXEC || r == ROLE_OTHER;
}

static bool is_recorded_in(const overview *o, int r, uint32_t i) {
    return is_recorded(o, r, o->bare.bare[i]) && !(o->steps.v[i].without_ops && needs_ops(r));
}

/* In the average: of none of its steps, or of all. */
static bool is_averaged(const overview *o, int r) {
    bool without_ops = o->with_ops.n && o->with_ops.v[0].without_ops;
    return is_recorded(o, r, all_bare(o)) && !(without_ops && needs_ops(r));
}

static void set_place(table *t, size_t row, const overview *o, const role_place *p) {
    if (p->range.end <= p->range.start) return;
    if (p->slice) table_set_int(t, row, COL_O(breakdown, slice), p->slice);
    table_set_int(t, row, COL_O(breakdown, from), sub_i64(p->range.start, o->t->start_ns));
    table_set_int(t, row, COL_O(breakdown, to), sub_i64(p->range.end, o->t->start_ns));
}

static status write_breakdown(overview *o, overview_facts *facts, error *err) {
    role_place places[N_ROLES] = {0};
    if (o->evidence) TRY(breakdown_places(o->t, &o->ranges, &o->steps, o->arena, places, err));
    int64_t sum[N_ROLES] = {0}, mean[N_ROLES], total = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->steps.n; i++) {
        if (!counts(o, i)) continue;
        for (int r = 0; r < N_ROLES; r++) sum[r] = add_i64(sum[r], o->parts[i].ns[r]);
        n++;
    }
    mean_parts(sum, n, mean, N_ROLES);
    for (int r = 0; r < N_ROLES; r++) total = add_i64(total, sum[r]);
    table *t = answer_table(o->out, o->arena, "breakdown");
    if (!t) FAIL_MEMORY(err);
    facts->only_timed = all_bare(o);
    facts->has_device = o->t->kernel.n > 1 && !all_bare(o);
    facts->device = device_noun(o->t);
    facts->step_ns = n ? mean_i64(total, n) : 0;
    share_parts(sum, facts->share, N_ROLES);
    facts->busy = total ? (double)o->device_ns / (double)total : 0;
    facts->dependency = total ? (double)o->idle.ns[IDLE_DEPENDENCY] / (double)total : 0;
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

static status overview_write_steps(overview *o, error *err) {
    static const uint32_t columns[N_ROLES] = {
        [ROLE_KERNEL] = COL_overview_steps_kernel,
        [ROLE_MEMCPY] = COL_overview_steps_memcpy,
        [ROLE_MEMSET] = COL_overview_steps_memset,
        [ROLE_COMMUNICATION] = COL_overview_steps_communication,
        [ROLE_RUNTIME] = COL_overview_steps_runtime,
        [ROLE_DATA_LOADER] = COL_overview_steps_data_loader,
        [ROLE_CPU_EXEC] = COL_overview_steps_cpu_exec,
        [ROLE_OTHER] = COL_overview_steps_other,
    };
    table *t = answer_table(o->out, o->arena, "steps");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < o->steps.n; i++) {
        const step_span *s = &o->steps.v[i];
        size_t row;
        TRY(table_add_row(t, &row, err));
        table_set_int(t, row, COL_O(steps, step), s->number);
        table_set_int(t, row, COL_O(steps, total), sub_i64(s->end, s->start));
        for (int r = 0; r < N_ROLES; r++)
            if (is_recorded_in(o, r, i)) table_set_int(t, row, columns[r], o->parts[i].ns[r]);
    }
    return OK;
}

/* Why each device computes nothing, in the steps that the averages are of. */
static status write_idle(overview *o, error *err) {
    table *t = answer_table(o->out, o->arena, "idle");
    step_spans counted = {.v = ARENA_ARRAY(o->arena, step_span, (size_t)o->steps.n + 1)};
    idle_sums sums;
    if (!t || !counted.v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < o->steps.n && !all_bare(o); i++)
        if (counts(o, i)) counted.v[counted.n++] = o->steps.v[i];
    TRY(idle_sums_make(o->t, &counted, &o->ranges.at[ROLE_COMMUNICATION], o->arena, &sums,
                       err));
    return idle_sums_write(&sums, t, err);
}

/* Which steps the averages leave out because they warm up. */
static status note_warm_up(overview *o, error *err) {
    const step_spans *s = &o->steps;
    if (!s->n_warm_up) return OK;
    int64_t sum = 0, typical = 0;
    for (uint32_t i = 0; i < s->n_warm_up; i++)
        sum = add_i64(sum, sub_i64(s->warm_up[i].end, s->warm_up[i].start));
    for (uint32_t i = 0; i < s->n; i++)
        typical = add_i64(typical, sub_i64(s->v[i].end, s->v[i].start));
    verdict note = {.id = "warm_up",
                    .message = s->n_warm_up > 1 ? MSG_NOTE_WARM_UP : MSG_NOTE_WARM_UP_ONE,
                    .severity = SEVERITY_INFO};
    verdict_add(&note, arg_id("first", s->warm_up[0].number));
    verdict_add(&note, arg_id("last", s->warm_up[s->n_warm_up - 1].number));
    verdict_add(&note, arg_time("time", mean_i64(sum, s->n_warm_up)));
    verdict_add(&note, arg_time("typical", mean_i64(typical, s->n)));
    return answer_note(o->out, o->arena, &note, err);
}

/* Which steps the averages are of where the operators of the others were left out. */
static status note_without_ops(overview *o, error *err) {
    const step_spans *s = &o->steps;
    if (o->with_ops.n == s->n) return OK;
    step_spans others = {.v = ARENA_ARRAY(o->arena, step_span, (size_t)s->n + 1)};
    int64_t median;
    if (!others.v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < s->n; i++)
        if (s->v[i].without_ops) others.v[others.n++] = s->v[i];
    TRY(step_spans_median(&others, o->arena, &median, err));
    verdict note = {.id = "sampled", .message = MSG_NOTE_SAMPLED, .severity = SEVERITY_INFO};
    verdict_add(&note, arg_int("sampled", o->with_ops.n));
    verdict_add(&note, arg_int("steps", s->n));
    verdict_add(&note, arg_time("median", median));
    return answer_note(o->out, o->arena, &note, err);
}

static status note_left_out(overview *o, error *err) {
    TRY(note_warm_up(o, err));
    TRY(note_without_ops(o, err));
    for (uint32_t i = 0; i < o->steps.n_left_out; i++) {
        verdict note = {.id = "step_left_out",
                        .message = MSG_NOTE_STEP_LEFT_OUT,
                        .severity = SEVERITY_INFO};
        verdict_add(&note, arg_id("step", o->steps.left_out[i].number));
        TRY(answer_note(o->out, o->arena, &note, err));
    }
    if (o->bare.n) {
        verdict note = {.id = "bare_steps",
                        .message = all_bare(o) ? MSG_NOTE_ALL_BARE : MSG_NOTE_BARE_STEPS,
                        .severity = SEVERITY_INFO};
        verdict_add(&note, arg_int("bare", o->bare.n));
        verdict_add(&note, arg_int("steps", o->steps.n));
        verdict_add(&note, arg_time("comm", mean_i64(o->bare.comm_ns, o->bare.n)));
        verdict_add(&note, arg_time("outside", mean_i64(o->bare.outside_ns, o->bare.n)));
        TRY(answer_note(o->out, o->arena, &note, err));
    }
    if (o->steps.marked || !o->steps.n) return OK;
    verdict note = {.id = "no_steps", .message = MSG_NOTE_NO_STEPS, .severity = SEVERITY_INFO};
    return answer_note(o->out, o->arena, &note, err);
}

/* ---- stages ------------------------------------------------------------------------------ */

static str stage_row_name(int s) {
    return s == STAGE_STEP ? STR("step") : stage_name((stage)s);
}

static void set_stage(table *t, size_t row, const stage_total *s, bool device) {
    table_set_int(t, row, COL_O(stages, calls), s->calls);
    table_set_int(t, row, COL_O(stages, host_time), s->host);
    table_set_int(t, row, COL_O(stages, host_mean), mean_i64(s->host, s->calls));
    table_set_int(t, row, COL_O(stages, host_max), s->host_max);
    table_set_int(t, row, COL_O(stages, host_min), s->host_min);
    if (!device) return;
    table_set_int(t, row, COL_O(stages, device_time), s->device);
    table_set_int(t, row, COL_O(stages, device_mean), mean_i64(s->device, s->calls));
    table_set_int(t, row, COL_O(stages, device_max), s->device_max);
    table_set_int(t, row, COL_O(stages, device_min), s->device_min);
}

/* The stages' shares of the whole step, which add up to 1; null when there is nothing to
 * share. */
static void stage_shares(const overview *o, double *host, double *device) {
    int64_t ns[2][N_STAGES];
    for (int s = 0; s < N_STAGES; s++) {
        ns[0][s] = o->stages.total[s].host;
        ns[1][s] = o->stages.total[s].device;
    }
    share_parts(ns[0], host, N_STAGES);
    share_parts(ns[1], device, N_STAGES);
    host[STAGE_STEP] = o->stages.total[STAGE_STEP].host ? 1 : NAN;
    device[STAGE_STEP] = o->stages.total[STAGE_STEP].device ? 1 : NAN;
}

static void keep_longer(interval *longest, interval one) {
    if (sub_i64(one.end, one.start) > sub_i64(longest->end, longest->start)) *longest = one;
}

/* The longest piece of each stage, and the longest step. What is left between stages has no piece
 * of its own. */
static void longest_pieces(const overview *o, interval out[N_STAGES + 1]) {
    for (int s = 0; s <= N_STAGES; s++) out[s] = (interval){0};
    for (size_t i = 0; i < o->stages.segments.n; i++) {
        const stage_segment *g = &o->stages.segments.v[i];
        if (select_clip(&o->select, g->range.start, g->range.end) > 0)
            keep_longer(&out[g->stage], g->range);
    }
    for (uint32_t i = 0; i < o->with_ops.n; i++)
        keep_longer(&out[STAGE_STEP], (interval){o->with_ops.v[i].start, o->with_ops.v[i].end});
}

static void set_piece(const overview *o, table *t, size_t row, interval piece) {
    if (piece.end <= piece.start) return;
    table_set_int(t, row, COL_O(stages, from), sub_i64(piece.start, o->t->start_ns));
    table_set_int(t, row, COL_O(stages, to), sub_i64(piece.end, o->t->start_ns));
}

/* The whole step first, then the stages that occur. */
static status write_stages(overview *o, error *err) {
    static const int order[] = {STAGE_STEP,     STAGE_DATA,      STAGE_FORWARD,
                                STAGE_BACKWARD, STAGE_OPTIMIZER, STAGE_OTHER};
    bool device = o->t->kernel.n > 1;
    double host[N_STAGES + 1], work[N_STAGES + 1];
    interval pieces[N_STAGES + 1];
    table *t = answer_table(o->out, o->arena, "stages");
    if (!t) FAIL_MEMORY(err);
    stage_shares(o, host, work);
    longest_pieces(o, pieces);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const stage_total *s = &o->stages.total[order[i]];
        size_t row;
        if (!s->calls) continue;
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, COL_O(stages, stage), stage_row_name(order[i]));
        set_stage(t, row, s, device);
        table_set_real(t, row, COL_O(stages, host_share),
                       isnan(host[STAGE_STEP]) ? NAN : host[order[i]]);
        if (device)
            table_set_real(t, row, COL_O(stages, device_share),
                           isnan(work[STAGE_STEP]) ? NAN : work[order[i]]);
        set_piece(o, t, row, pieces[order[i]]);
    }
    return OK;
}

static status write_stage_steps(overview *o, error *err) {
    table *t = answer_table(o->out, o->arena, "stage_steps");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < o->with_ops.n; i++)
        for (int s = 0; s < N_STAGES; s++) {
            size_t row;
            if (!o->stages.total[s].calls) continue;
            TRY(table_add_row(t, &row, err));
            table_set_int(t, row, COL_O(stage_steps, step), o->with_ops.v[i].number);
            table_set_text(t, row, COL_O(stage_steps, stage), stage_name((stage)s));
            table_set_int(t, row, COL_O(stage_steps, host_time), o->stages.host[i][s]);
            if (o->t->kernel.n > 1)
                table_set_int(t, row, COL_O(stage_steps, device_time), o->stages.device[i][s]);
        }
    return OK;
}

static status write_stage_events(overview *o, error *err) {
    stage_event(*events)[N_KINDS] = arena_array(o->arena, N_STAGES, sizeof *events);
    table *t = answer_table(o->out, o->arena, "stage_events");
    if (!events || !t) FAIL_MEMORY(err);
    TRY(stage_events_make(&o->select, &o->with_ops, &o->stages, events, err));
    for (int s = 0; s < N_STAGES; s++)
        for (uint8_t k = 0; k < N_KINDS; k++) {
            size_t row;
            if (!events[s][k].calls && !events[s][k].ns) continue;
            TRY(table_add_row(t, &row, err));
            table_set_text(t, row, COL_O(stage_events, stage), stage_name((stage)s));
            table_set_text(t, row, COL_O(stage_events, kind), kind_name(k));
            table_set_int(t, row,
                          kind_is_device(k) ? COL_O(stage_events, device_time)
                                            : COL_O(stage_events, host_time),
                          events[s][k].ns);
            table_set_int(t, row, COL_O(stage_events, calls), events[s][k].calls);
        }
    return OK;
}

/* ---- the user's ranges ------------------------------------------------------------------- */

typedef struct {
    uint32_t name;
    int64_t calls, host, host_max, host_min, device, device_max, device_min;
    uint32_t costliest; /* the range with most device work; of equal ones the longest */
    int64_t most_device, most_host;
} user_event;

typedef struct {
    const overview *o;
    groups rows;
    uint32_t *by_name;    /* string id → row + 1 */
    int64_t host, device; /* of all */
} user_events;

static status add_user_event(void *context, const range_call *c, error *err) {
    user_events *u = context;
    const trace *t = u->o->t;
    uint32_t name = t->slice.name[c->slice];
    int64_t device = add_i64(c->device_self, c->device_children);
    bool counts = select_counts(&u->o->select, c->slice);
    if (t->slice.kind[c->slice] != KIND_ANNOTATION || name >= t->n_strings) return OK;
    if (!counts && !c->ns && !device) return OK;
    if (!u->by_name[name]) {
        uint32_t row = groups_add(&u->rows);
        if (row == GROUP_NONE) FAIL_MEMORY(err);
        GROUP_ROW(&u->rows, user_event, row)->name = name;
        u->by_name[name] = row + 1;
    }
    user_event *e = GROUP_ROW(&u->rows, user_event, u->by_name[name] - 1);
    if (counts) {
        e->host_max = max_i64(e->host_max, c->ns);
        e->host_min = e->calls ? min_i64(e->host_min, c->ns) : c->ns;
        e->device_max = max_i64(e->device_max, device);
        e->device_min = e->calls ? min_i64(e->device_min, device) : device;
    }
    if (!e->costliest || device > e->most_device ||
        (device == e->most_device && c->ns > e->most_host)) {
        e->costliest = c->slice;
        e->most_device = device;
        e->most_host = c->ns;
    }
    e->calls += counts;
    e->host = add_i64(e->host, c->ns);
    e->device = add_i64(e->device, device);
    u->host = add_i64(u->host, c->ns);
    u->device = add_i64(u->device, device);
    return OK;
}

static int compare_user_events(uint32_t a, uint32_t b, const void *context) {
    const user_events *u = context;
    const user_event *x = GROUP_ROW(&u->rows, user_event, a),
                     *y = GROUP_ROW(&u->rows, user_event, b);
    if (x->host != y->host) return x->host > y->host ? -1 : 1;
    return str_cmp(trace_str(u->o->t, x->name), trace_str(u->o->t, y->name));
}

static void set_user_host(table *t, size_t row, const user_event *e, int64_t all) {
    table_set_int(t, row, COL_O(user_events, host_total), e->host);
    table_set_real(t, row, COL_O(user_events, host_share),
                   all ? (double)e->host / (double)all : 0);
    if (!e->calls) return;
    table_set_int(t, row, COL_O(user_events, host_mean), mean_i64(e->host, e->calls));
    table_set_int(t, row, COL_O(user_events, host_max), e->host_max);
    table_set_int(t, row, COL_O(user_events, host_min), e->host_min);
}

static void set_user_device(table *t, size_t row, const user_event *e, int64_t all) {
    table_set_int(t, row, COL_O(user_events, device_total), e->device);
    table_set_real(t, row, COL_O(user_events, device_share),
                   all ? (double)e->device / (double)all : 0);
    if (!e->calls) return;
    table_set_int(t, row, COL_O(user_events, device_mean), mean_i64(e->device, e->calls));
    table_set_int(t, row, COL_O(user_events, device_max), e->device_max);
    table_set_int(t, row, COL_O(user_events, device_min), e->device_min);
}

static status write_user_events(overview *o, error *err) {
    user_events u = {.o = o,
                     .by_name = ARENA_ARRAY(o->arena, uint32_t, (size_t)o->t->n_strings + 1)};
    table *t = answer_table(o->out, o->arena, "user_events");
    if (!u.by_name || !t) FAIL_MEMORY(err);
    TRY(groups_init(&u.rows, o->arena, sizeof(user_event), err));
    range_scan scan = {.t = o->t,
                       .select = &o->select,
                       .arena = o->arena,
                       .kinds = 1u << KIND_ANNOTATION,
                       .visit = add_user_event,
                       .context = &u};
    if (o->t->kind_count[KIND_ANNOTATION]) TRY(range_scan_run(&scan, err));
    uint32_t *order = groups_order(&u.rows), *scratch = groups_order(&u.rows);
    if (!order || !scratch) FAIL_MEMORY(err);
    sort_index(order, scratch, u.rows.n, compare_user_events, &u);
    for (uint32_t i = 0; i < u.rows.n; i++) {
        const user_event *e = GROUP_ROW(&u.rows, user_event, order[i]);
        size_t row;
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, COL_O(user_events, name), trace_str(o->t, e->name));
        table_set_int(t, row, COL_O(user_events, calls), e->calls);
        set_user_host(t, row, e, u.host);
        if (o->t->kernel.n > 1) set_user_device(t, row, e, u.device);
        table_set_int(t, row, COL_O(user_events, slice), e->costliest);
    }
    return OK;
}

/* ---- configuration ----------------------------------------------------------------------- */

static status overview_add_fact(table *t, str key, str value, error *err) {
    size_t row;
    if (!value.p) return OK;
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_O(configuration, key), key);
    table_set_text(t, row, COL_O(configuration, value), value);
    return OK;
}

static status overview_add_number(table *t, const char *key, int64_t value, error *err) {
    str text = arena_printf(t->arena, "%lld", (long long)value);
    if (!text.p) FAIL_MEMORY(err);
    return overview_add_fact(t, str_of(key), text, err);
}

/* Processes that own a thread: a device's row group is none. -1 when out of memory. */
static int64_t count_processes(const trace *t, arena *a) {
    int64_t n = 0;
    uint8_t *seen = ARENA_ARRAY(a, uint8_t, (size_t)t->process.n + 1);
    for (uint32_t i = 1; i < t->track.n && seen; i++) {
        uint32_t process = t->track.process[i];
        if (t->track.kind[i] != TRACK_THREAD || seen[process]) continue;
        seen[process] = 1;
        n++;
    }
    return seen ? n : -1;
}

static status write_configuration(overview *o, uint32_t n_workers, error *err) {
    const trace *t = o->t;
    table *out = answer_table(o->out, o->arena, "configuration");
    int64_t processes = count_processes(t, o->arena);
    if (!out || processes < 0) FAIL_MEMORY(err);
    TRY(overview_add_number(out, "workers", n_workers, err));
    TRY(overview_add_number(out, "processes", processes, err));
    TRY(overview_add_number(out, "devices", t->device.n > 1 ? (int64_t)t->device.n - 1 : 0,
                            err));
    TRY(overview_add_fact(out, STR("device_type"),
                          t->kernel.n > 1 ? device_word_of_work(t) : STR("CPU"), err));
    for (uint32_t i = 1; i < t->device.n; i++)
        if (t->device.name[i])
            TRY(overview_add_fact(out, STR("device"), trace_str(t, t->device.name[i]), err));
    for (fact f = 0; f < N_FACTS; f++) {
        str value = fact_shown(f).n ? trace_fact(t, f) : STR_NONE;
        if (value.n) TRY(overview_add_fact(out, fact_shown(f), value, err));
    }
    return OK;
}

static int64_t mean_step(const overview *o) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < o->steps.n; i++)
        sum = add_i64(sum, sub_i64(o->steps.v[i].end, o->steps.v[i].start));
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
        if (!counts(o, i)) continue;
        o->device_ns =
            add_i64(o->device_ns, intervals_ns_in(&ranges->device, s->start, s->end));
        o->exposed_ns =
            add_i64(o->exposed_ns, intervals_ns_in(&ranges->exposed, s->start, s->end));
    }
    idle_question idle = {
        .t = o->t, .steps = &o->with_ops, .ranges = ranges, .arena = o->arena};
    if (!o->bare.n) TRY(idle_find(&idle, &o->idle, err));
    return stage_times_make(&o->select, &o->with_ops, o->arena, &o->stages, err);
}

/* A program that serves: its tokens, and what it waits for. */
static status judge_serving(overview *o, const overview_facts *f, bool *serves, error *err) {
    const trace *t = o->t;
    iterations_question asked = {
        .t = t,
        .spans = ARENA_ARRAY(o->arena, const step_span *, (size_t)t->step.n + 1),
        .shown = ARENA_ARRAY(o->arena, bool, (size_t)t->step.n + 1),
        .busy = o->ranges.device};
    verdict v = {.id = "serving", .message = MSG_VERDICT_SERVING, .severity = SEVERITY_INFO};
    if (!asked.spans || !asked.shown) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < o->steps.n; i++) {
        uint32_t row = o->steps.v[i].row;
        asked.spans[row] = &o->steps.v[i];
        asked.shown[row] = row != 0;
    }
    TRY(iterations_judge(&asked, o->arena, &v, serves, err));
    if (!*serves) return OK;
    add_cause(f, &v);
    o->out->verdict = v;
    return OK;
}

/* Compilation and the filling of caches, recorded as the first step: with it no average is
 * typical of anything. Three steps at least: of two nobody knows which is the odd one. */
static bool first_step_decides(const overview *o, const overview_facts *f, verdict *v) {
    int64_t all = 0, first = 0;
    const step_span *one = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->steps.n; i++) {
        const step_span *s = &o->steps.v[i];
        if (!counts(o, i)) continue;
        if (!n++) one = s;
        all = add_i64(all, sub_i64(s->end, s->start));
    }
    if (n < 3) return false;
    first = sub_i64(one->end, one->start);
    if ((double)first <= 0.5 * (double)all) return false;
    *v = (verdict){.id = "first_step_decides",
                   .message = MSG_VERDICT_FIRST_STEP,
                   .severity = SEVERITY_WARNING};
    verdict_add(v, arg_id("step", one->number));
    verdict_add(v, arg_time("duration", first));
    verdict_add(v, arg_share("share", (double)first / (double)all));
    verdict_add(v, arg_time("others", (all - first) / (n - 1)));
    add_cause(f, v);
    return true;
}

/* The recording itself, if it decides; a server's tokens; else what costs most. */
static status overview_judge(overview *o, overview_facts *facts, error *err) {
    bool done;
    verdict *v = &o->out->verdict;
    TRY(lost_work_judge(o->t, o->arena, o->out, &done, err));
    if (done) return OK;
    if (facts->cause.decided.id) {
        *v = facts->cause.decided;
        return OK;
    }
    TRY(judge_serving(o, facts, &done, err));
    if (!done && first_step_decides(o, facts, v)) return OK;
    if (!done) {
        rules_apply(rules, sizeof rules / sizeof *rules, facts, v);
        if (v->id) step_spans_say(&o->steps, facts->step_ns, v);
    }
    if (facts->cause.id) v->severity = facts->cause.severity;
    if (!v->id)
        *v = facts->cause.evidence; /* no step and no work: what is known of its input */
    return OK;
}

/* ---- two halves at once ------------------------------------------------------------------- */

static status write_tables(overview *o, const analysis_input *in, overview_facts *facts,
                           error *err) {
    uint32_t n_workers = in->traces[0].run_workers;
    TRY(compute(o, err));
    TRY(write_devices(o, err));
    TRY(write_breakdown(o, facts, err));
    TRY(write_idle(o, err));
    TRY(overview_write_steps(o, err));
    TRY(write_stages(o, err));
    TRY(write_stage_steps(o, err));
    TRY(write_configuration(o, n_workers ? n_workers : in->n_traces, err));
    TRY(write_stage_events(o, err));
    TRY(write_user_events(o, err));
    return note_left_out(o, err);
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
        if (err) *err = h->err[i];
        return h->done[i];
    }
    facts->cause = h->cause;
    return OK;
}

status analyse_overview(const analysis_input *in, const params *p, arena *a, answer *out,
                        error *err) {
    overview o = {.t = in->traces[0].trace, .arena = a, .out = out};
    overview_facts facts = {0};
    advice_workers workers;
    TRY(answer_begin("overview", in, a, out, err));
    if (in->n_traces > 1 || input_is_summary(in)) {
        TRY(summary_overview(in, p, a, out, err));
        TRY(advice_workers_find(in, p, a, &workers, err));
        TRY(advice_cause_find(in, p, &workers, a, &facts.cause, err));
        add_cause(&facts, &out->verdict);
        if (facts.cause.id) out->verdict.severity = facts.cause.severity;
        answer_finish(out, p);
        return OK;
    }
    TRY(trace_require(o.t,
                      SELECT_TABLES | TRACE_TABLE(op) | TRACE_TABLE(comm) |
                          TRACE_TABLE(producer_op) | TRACE_TABLE(producer_step) |
                          TRACE_TABLE(pipe_op) | TRACE_TABLE(queue_sample) | TRACE_TABLE(meta) |
                          TRACE_TABLE(resource),
                      err));
    select_init(&o.select, o.t, p);
    o.evidence = param_flag(p, STR("evidence"));
    TRY(make_halves(&o, in, p, &facts, err));
    TRY(overview_judge(&o, &facts, err));
    TRY(mindspore_overview_write(o.t, mean_step(&o), a, out, err));
    answer_finish(out, p);
    return OK;
}
