/* idle_answer.c: why the device is idle.
 *
 * Pieces of idle time (idle_causes.h) are added up by cause, by what happened meanwhile and by
 * step; neighboring ones are one gap. The tables of streams and launches (idle_streams.h) are
 * about all of the selection, not only its steps. */
#include "analyse/device/host_coverage.h"
#include "analyse/device/recording_judge.h"
#include "analyse/group.h"
#include "analyse/kind_names.h"
#include "analyse/operators/in_use.h"
#include "analyse/replay/unprofiled_step.h"
#include "analyse/rows.h"
#include "analyse/rules.h"
#include "analyse/steps/lost_work.h"
#include "analyse/why/idle_streams.h"
#include "analyse/why/idle_sums.h"
#include "base/message_ids_advice.h"
#include "base/sort.h"
#include "store/traits.h"

enum { MOST_GAPS = 1000, HELD_GAPS = 8 * MOST_GAPS };

typedef struct {
    uint8_t cause, doing;
    uint32_t name, op; /* strings */
    int64_t ns, n, longest_ns;
    uint32_t slice;
} detail;

typedef struct {
    interval range;
    uint32_t step, device, before, after;
    int64_t ns[N_IDLE_CAUSES], most_ns[N_IDLE_CAUSES];
    idle_piece longest[N_IDLE_CAUSES];
} gap;

typedef struct {
    interval range;
    uint32_t step, device, before, after, slice;
    uint8_t cause, doing;
} gap_row;

typedef struct {
    const trace *t;
    selection select;
    arena *arena;
    answer *out;
    step_spans steps;
    idle_sums sums;
    in_use uses;
    groups details;
    gap open;                  /* range is empty: none */
    gap_row *gaps;             /* the longest so far, and some more; room for HELD_GAPS */
    uint32_t *order, *scratch; /* of the gaps */
    size_t n_gaps;
    int64_t (*step_ns[MOST_IDLE_DEVICES])
        [N_IDLE_CAUSES]; /* by device, then step; NULL: never idle */
    table *causes, *rows, *longest, *by_step;
    int64_t pauses, pauses_ns; /* of the host, in long gaps for which it is late */
    interval longest_pause;
    uint32_t after_pause; /* kernel */
} idle_answer;

/* ---- pieces ------------------------------------------------------------------------------ */

static uint32_t name_of(const trace *t, uint32_t slice) {
    return slice ? t->slice.name[slice] : 0;
}

static bool same_detail(const void *row, const void *key) {
    const detail *x = row, *y = key;
    return x->cause == y->cause && x->doing == y->doing && x->name == y->name && x->op == y->op;
}

static status add_detail(idle_answer *k, const idle_piece *p, error *err) {
    detail key = {.cause = p->cause,
                  .doing = p->doing,
                  .name = name_of(k->t, p->slice),
                  .op = p->op == p->slice ? 0 : name_of(k->t, p->op)};
    uint64_t hash = ((uint64_t)key.name << 32 | key.op) * 31 + key.cause * 64u + key.doing;
    bool is_new;
    uint32_t i = groups_at(&k->details, hash, same_detail, &key, &is_new);
    if (i == GROUP_NONE) FAIL_MEMORY(err);
    detail *d = GROUP_ROW(&k->details, detail, i);
    int64_t ns = sub_i64(p->range.end, p->range.start);
    if (is_new) *d = key;
    d->ns = add_i64(d->ns, ns);
    d->n++;
    if (ns <= d->longest_ns) return OK;
    d->longest_ns = ns;
    d->slice = p->slice;
    return OK;
}

static int compare_gaps(uint32_t a, uint32_t b, const void *context) {
    const idle_answer *k = context;
    const gap_row *x = &k->gaps[a], *y = &k->gaps[b];
    int64_t xs = sub_i64(x->range.end, x->range.start),
            ys = sub_i64(y->range.end, y->range.start);
    if (xs != ys) return xs > ys ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int compare_arrival(uint32_t a, uint32_t b, const void *context) {
    (void)context;
    return a < b ? -1 : a > b;
}

/* The longest first; of equal ones the first that came. */
static size_t order_gaps(idle_answer *k) {
    for (size_t i = 0; i < k->n_gaps; i++) k->order[i] = (uint32_t)i;
    sort_index(k->order, k->scratch, k->n_gaps, compare_gaps, k);
    return k->n_gaps < MOST_GAPS ? k->n_gaps : MOST_GAPS;
}

/* Leaves those that will be shown, as they came: a trace can have millions. */
static void drop_short_gaps(idle_answer *k) {
    size_t n = order_gaps(k);
    sort_index(k->order, k->scratch, n, compare_arrival, NULL);
    for (size_t i = 0; i < n; i++) k->gaps[i] = k->gaps[k->order[i]];
    k->n_gaps = n;
}

static void close_gap(idle_answer *k) {
    gap *g = &k->open;
    int most = 0;
    if (g->range.start >= g->range.end) return;
    for (int c = 1; c < N_IDLE_CAUSES; c++)
        if (g->ns[c] > g->ns[most]) most = c;
    if (k->n_gaps == HELD_GAPS) drop_short_gaps(k);
    const idle_piece *p = &g->longest[most];
    k->gaps[k->n_gaps++] = (gap_row){.range = g->range,
                                     .step = g->step,
                                     .device = g->device,
                                     .before = g->before,
                                     .after = g->after,
                                     .slice = p->slice,
                                     .cause = (uint8_t)most,
                                     .doing = p->doing};
}

static void add_to_gap(idle_answer *k, const idle_piece *p) {
    gap *g = &k->open;
    int64_t ns = sub_i64(p->range.end, p->range.start);
    if (g->range.start >= g->range.end || g->range.end != p->range.start ||
        g->step != p->step || g->device != p->device) {
        close_gap(k);
        *g =
            (gap){.range = p->range, .step = p->step, .device = p->device, .before = p->before};
    }
    g->range.end = p->range.end;
    g->after = p->after;
    g->ns[p->cause] = add_i64(g->ns[p->cause], ns);
    if (ns > g->most_ns[p->cause]) {
        g->most_ns[p->cause] = ns;
        g->longest[p->cause] = *p;
    }
}

/* ---- one device's steps ------------------------------------------------------------------ */

static status write_device_steps(idle_answer *k, uint32_t device, int32_t id, error *err) {
    table *t = k->by_step;
    for (uint32_t i = 0; i < k->steps.n; i++) {
        static const int64_t none[N_IDLE_CAUSES] = {0};
        const int64_t *ns = k->step_ns[device] ? k->step_ns[device][i] : none;
        row_idle_steps row = row_idle_steps_none();
        row.step = k->steps.v[i].number;
        if (id != ABSENT_I32) row.device = id;
        row.total = step_span_ns(&k->steps.v[i]);
        row.host_late = ns[IDLE_HOST_LATE];
        row.blocked = ns[IDLE_BLOCKED];
        row.dependency = ns[IDLE_DEPENDENCY];
        row.data = ns[IDLE_DATA];
        row.communication = ns[IDLE_COMMUNICATION];
        row.profiler = ns[IDLE_PROFILER];
        row.unknown = ns[IDLE_UNKNOWN];
        row.idle = 0;
        for (int c = 0; c < N_IDLE_CAUSES; c++) row.idle = add_i64(row.idle, ns[c]);
        TRY(put_idle_steps(t, &row, err));
    }
    arena_drop(k->arena, k->step_ns[device], k->steps.n * sizeof **k->step_ns);
    k->step_ns[device] = NULL;
    return OK;
}

static status take_piece(void *context, const idle_piece *p, error *err) {
    idle_answer *k = context;
    int64_t(**of)[N_IDLE_CAUSES] = &k->step_ns[p->device];
    if (!*of) *of = arena_array(k->arena, k->steps.n, sizeof **of);
    if (!*of) FAIL_MEMORY(err);
    int64_t *ns = &(*of)[p->step][p->cause];
    *ns = add_i64(*ns, sub_i64(p->range.end, p->range.start));
    add_to_gap(k, p);
    return add_detail(k, p, err);
}

/* ---- tables ------------------------------------------------------------------------------ */

static int compare_details(uint32_t a, uint32_t b, const void *context) {
    const idle_answer *k = context;
    const detail *x = GROUP_ROW(&k->details, detail, a), *y = GROUP_ROW(&k->details, detail, b);
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    if (x->cause != y->cause) return x->cause < y->cause ? -1 : 1;
    if (x->doing != y->doing) return x->doing < y->doing ? -1 : 1;
    int c = str_cmp(trace_str(k->t, x->name), trace_str(k->t, y->name));
    return c ? c : str_cmp(trace_str(k->t, x->op), trace_str(k->t, y->op));
}

static status write_details(idle_answer *k, error *err) {
    table *t = k->rows;
    double all = (double)k->sums.steps_ns * (double)max_i64(1, k->sums.devices.n);
    uint32_t *order = groups_order(&k->details), *scratch = groups_order(&k->details);
    if (!order || !scratch) FAIL_MEMORY(err);
    sort_index(order, scratch, k->details.n, compare_details, k);
    for (uint32_t i = 0; i < k->details.n; i++) {
        const detail *d = GROUP_ROW(&k->details, detail, order[i]);
        row_idle_details row = row_idle_details_none();
        row.cause = idle_cause_name((idle_cause)d->cause);
        row.what = idle_doing_name(d->doing);
        if (d->name) row.name = trace_str(k->t, d->name);
        if (d->op) row.operator_ = trace_str(k->t, d->op);
        row.time = mean_i64(d->ns, max_i64(1, k->steps.n));
        row.share = all > 0 ? (double)d->ns / all : 0;
        row.count = d->n;
        if (d->slice) row.slice = d->slice;
        TRY(put_idle_details(t, &row, err));
    }
    return OK;
}

static str work_name(const idle_answer *k, uint32_t work) {
    return work ? trace_slice_name(k->t, k->t->kernel.slice[work]) : STR_NONE;
}

static status write_gaps(idle_answer *k, error *err) {
    table *t = k->longest;
    size_t n = order_gaps(k);
    for (size_t i = 0; i < n; i++) {
        const gap_row *g = &k->gaps[k->order[i]];
        int32_t device = k->sums.devices.id[g->device];
        row_idle_gaps row = row_idle_gaps_none();
        row.step = k->steps.v[g->step].number;
        if (device != ABSENT_I32) row.device = device;
        row.start = sub_i64(g->range.start, k->t->start_ns);
        row.duration = sub_i64(g->range.end, g->range.start);
        row.cause = idle_cause_name((idle_cause)g->cause);
        row.what = idle_doing_name(g->doing);
        row.before = work_name(k, g->before);
        row.after = work_name(k, g->after);
        if (g->slice) row.name = trace_slice_name(k->t, g->slice);
        if (g->slice) row.slice = g->slice;
        TRY(put_idle_gaps(t, &row, err));
    }
    return OK;
}

/* ---- words ------------------------------------------------------------------------------- */

/* Sum over the devices. */
static int64_t idle_of(const idle_answer *k, int why) {
    int64_t ns = 0;
    for (uint32_t i = 0; i < k->sums.devices.n; i++) ns = add_i64(ns, k->sums.rows[i][why].ns);
    return ns;
}

static int64_t all_idle(const idle_answer *k) {
    int64_t ns = 0;
    for (int c = 0; c < N_IDLE_CAUSES; c++) ns = add_i64(ns, idle_of(k, c));
    return ns;
}

/* For the average step and device. */
static int64_t of_step(const idle_answer *k, int64_t ns) {
    return mean_i64(ns, max_i64(1, (int64_t)k->steps.n * k->sums.devices.n));
}

static int largest_cause(const idle_answer *k) {
    int most = 0;
    for (int c = 1; c < N_IDLE_CAUSES; c++)
        if (idle_of(k, c) > idle_of(k, most)) most = c;
    return most;
}

static bool nothing_to_explain(const void *facts, verdict *v) {
    const idle_answer *k = facts;
    (void)v;
    return !k->steps.n || !k->sums.devices.n || k->sums.steps_ns <= 0;
}

/* Share of copies in what the devices did in the steps. */
static double copy_share(const idle_answer *k) {
    const trace *t = k->t;
    int64_t from = k->steps.v[0].start, to = k->steps.v[k->steps.n - 1].end, copies = 0,
            all = 0;
    for (uint32_t i = 1; i < t->kernel.n; i++) {
        uint32_t slice = t->kernel.slice[i];
        if (t->slice.start[slice] < from || t->slice.start[slice] >= to) continue;
        all = add_i64(all, t->slice.dur[slice]);
        if (t->slice.kind[slice] == KIND_MEMCPY) copies = add_i64(copies, t->slice.dur[slice]);
    }
    return all > 0 ? (double)copies / (double)all : 0;
}

static bool computes_most(const void *facts, verdict *v) {
    const idle_answer *k = facts;
    double all = (double)k->sums.steps_ns * (double)k->sums.devices.n;
    double busy = 1 - (double)all_idle(k) / all;
    if (busy < 0.95) return false;
    verdict_add(v, arg_text("device", device_noun(k->t)));
    if (k->sums.devices.n > 1) verdict_add(v, arg_int("average", 1));
    verdict_add(v, arg_share("busy", busy));
    verdict_add(v, arg_time("step", mean_i64(k->sums.steps_ns, k->steps.n)));
    double copies = copy_share(k);
    if (copies >= 0.5) verdict_add(v, arg_share("copies", copies));
    return true;
}

/* What the host did most of the time in which it was late. */
static const char *host_did(const idle_answer *k) {
    static const char *const words[] = {"python", "operator", "allocator",
                                        "launch", "other",    "compiler"};
    int64_t ns[N_OF(words)] = {0};
    size_t most = 0;
    for (uint32_t i = 0; i < k->details.n; i++) {
        const detail *d = GROUP_ROW(&k->details, detail, i);
        if (d->cause != IDLE_HOST_LATE) continue;
        size_t at = d->doing == DOING_PYTHON                                ? 0
                    : d->doing == DOING_OPERATOR                            ? 1
                    : d->doing == DOING_ALLOCATOR                           ? 2
                    : d->doing == DOING_LAUNCH || d->doing == DOING_LATENCY ? 3
                    : d->doing == DOING_COMPILER                            ? 5
                                                                            : 4;
        ns[at] = add_i64(ns[at], d->ns);
    }
    for (size_t i = 1; i < N_OF(words); i++)
        if (ns[i] > ns[most]) most = i;
    return words[most];
}

static void add_name(const idle_answer *k, int why, verdict *v) {
    const detail *most = NULL;
    for (uint32_t i = 0; i < k->details.n; i++) {
        const detail *d = GROUP_ROW(&k->details, detail, i);
        if (d->cause == why && d->name && (!most || d->ns > most->ns)) most = d;
    }
    if (!most) return;
    verdict_add(v, arg_text("name", trace_str(k->t, most->name)));
    if (most->slice) verdict_add(v, arg_id("slice", most->slice));
}

/* What would launch less, where it exists and is not in use. */
static void say_fusing(const idle_answer *k, verdict *v) {
    const int64_t *used = k->uses.n;
    if (used[USE_PYTORCH_1]) return;
    if (k->uses.pytorch && k->uses.may_compile) verdict_add(v, arg_int("compile", 1));
    if (!used[USE_GRAPHS]) verdict_add(v, arg_text("graphs", device_graphs(k->t)));
}

static bool is_largest(const idle_answer *k, idle_cause why, verdict *v) {
    if (largest_cause(k) != (int)why) return false;
    verdict_add(v, arg_text("device", device_noun(k->t)));
    if (k->sums.devices.n > 1) verdict_add(v, arg_int("average", 1));
    verdict_add(v, arg_time("idle", of_step(k, all_idle(k))));
    verdict_add(v, arg_time("step", mean_i64(k->sums.steps_ns, k->steps.n)));
    verdict_add(v, arg_time("time", of_step(k, idle_of(k, (int)why))));
    framework made = format_framework(k->t->format);
    bool elsewhere = made != FRAMEWORK_PYTORCH && made != FRAMEWORK_NONE;
    if (device_is_cpu(k->t)) verdict_add(v, arg_int("cpu", 1));
    if (why != IDLE_COMMUNICATION && idle_of(k, IDLE_COMMUNICATION) > all_idle(k) / 100)
        verdict_add(v, arg_int("collectives", 1)); /* it works, but does not compute */
    if (why == IDLE_HOST_LATE && elsewhere) verdict_add(v, arg_int("elsewhere", 1));
    if (why == IDLE_HOST_LATE && !elsewhere) say_fusing(k, v);
    if (why == IDLE_HOST_LATE)
        verdict_add(v, arg_int(host_did(k), 1));
    else
        add_name(k, (int)why, v);
    return true;
}

#define IS_LARGEST(function, cause)                              \
    static bool function(const void *facts, verdict *v) {        \
        return is_largest((const idle_answer *)facts, cause, v); \
    }
IS_LARGEST(host_is_most, IDLE_HOST_LATE)

static bool compiler_is_most(const void *facts, verdict *v) {
    const idle_answer *k = facts;
    if (strcmp(host_did(k), "compiler") != 0 || !is_largest(k, IDLE_HOST_LATE, v)) return false;
    add_name(k, IDLE_HOST_LATE, v);
    return true;
}

/* What the host was silent for where it was late: without an operator, a call, a data loader or
 * a collective on any thread. */
static status find_pauses(idle_answer *k, error *err) {
    role_ranges ranges;
    intervals gaps = intervals_in(k->arena);
    for (size_t i = 0; i < k->n_gaps; i++) {
        const gap_row *g = &k->gaps[i];
        if (g->cause == IDLE_HOST_LATE &&
            sub_i64(g->range.end, g->range.start) >= HOST_PAUSE_NS)
            intervals_add(&gaps, g->range.start, g->range.end);
    }
    intervals_merge(&gaps);
    if (!gaps.n && !gaps.failed) return OK;
    TRY(role_ranges_make(k->t, (interval){INT64_MIN, INT64_MAX}, k->arena, &ranges, err));
    gaps = host_silence(gaps, &ranges);
    if (gaps.failed) FAIL_MEMORY(err);
    for (size_t i = 0; i < gaps.n; i++) {
        int64_t ns = sub_i64(gaps.v[i].end, gaps.v[i].start);
        if (ns < HOST_PAUSE_NS) continue;
        k->pauses++;
        k->pauses_ns = add_i64(k->pauses_ns, ns);
        if (ns > sub_i64(k->longest_pause.end, k->longest_pause.start))
            k->longest_pause = gaps.v[i];
    }
    for (size_t i = 0; i < k->n_gaps; i++)
        if (k->gaps[i].range.start <= k->longest_pause.start &&
            k->gaps[i].range.end >= k->longest_pause.end)
            k->after_pause = k->gaps[i].after;
    return OK;
}

/* Are most late launches those after a few long pauses? Then launching less does not help. */
static bool pauses_are_most(const void *facts, verdict *v) {
    const idle_answer *k = facts;
    if (k->pauses_ns <= idle_of(k, IDLE_HOST_LATE) / 2 || !is_largest(k, IDLE_HOST_LATE, v))
        return false;
    verdict_add(v, arg_int("pauses", k->pauses));
    verdict_add(v, arg_time("longest", sub_i64(k->longest_pause.end, k->longest_pause.start)));
    if (k->after_pause)
        verdict_add(
            v, arg_text("next", trace_slice_name(k->t, k->t->kernel.slice[k->after_pause])));
    return true;
}

IS_LARGEST(blocked_is_most, IDLE_BLOCKED)
IS_LARGEST(dependency_is_most, IDLE_DEPENDENCY)
IS_LARGEST(data_is_most, IDLE_DATA)
IS_LARGEST(communication_is_most, IDLE_COMMUNICATION)
IS_LARGEST(profiler_is_most, IDLE_PROFILER)
IS_LARGEST(unknown_is_most, IDLE_UNKNOWN)

static const rule rules[] = {
    {"idle_none", MSG_VERDICT_IDLE_NONE, SEVERITY_INFO, nothing_to_explain},
    {"idle_busy", MSG_VERDICT_IDLE_BUSY, SEVERITY_GOOD, computes_most},
    {"idle_compiler", MSG_VERDICT_IDLE_COMPILER, SEVERITY_WARNING, compiler_is_most},
    {"idle_pauses", MSG_VERDICT_IDLE_PAUSES, SEVERITY_WARNING, pauses_are_most},
    {"idle_host", MSG_VERDICT_IDLE_HOST, SEVERITY_WARNING, host_is_most},
    {"idle_blocked", MSG_VERDICT_IDLE_BLOCKED, SEVERITY_WARNING, blocked_is_most},
    {"idle_dependency", MSG_VERDICT_IDLE_DEPENDENCY, SEVERITY_WARNING, dependency_is_most},
    {"idle_data", MSG_VERDICT_IDLE_DATA, SEVERITY_WARNING, data_is_most},
    {"idle_communication", MSG_VERDICT_IDLE_COMMUNICATION, SEVERITY_WARNING,
     communication_is_most},
    {"idle_profiler", MSG_VERDICT_IDLE_PROFILER, SEVERITY_WARNING, profiler_is_most},
    {"idle_unknown", MSG_VERDICT_IDLE_UNKNOWN, SEVERITY_INFO, unknown_is_most},
};

/* ---- whole ------------------------------------------------------------------------------- */

static status idle_begin(idle_answer *k, error *err) {
    k->causes = answer_table(k->out, k->arena, "causes");
    k->rows = answer_table(k->out, k->arena, "details");
    k->longest = answer_table(k->out, k->arena, "gaps");
    k->by_step = answer_table(k->out, k->arena, "steps");
    k->gaps = ARENA_ARRAY(k->arena, gap_row, HELD_GAPS);
    k->order = ARENA_ARRAY(k->arena, uint32_t, HELD_GAPS);
    k->scratch = ARENA_ARRAY(k->arena, uint32_t, HELD_GAPS);
    if (!k->causes || !k->rows || !k->longest || !k->by_step) FAIL_MEMORY(err);
    if (!k->gaps || !k->order || !k->scratch) FAIL_MEMORY(err);
    TRY(groups_init(&k->details, k->arena, sizeof(detail), err));
    TRY(idle_steps_choose(k->t, &k->select, k->arena, &k->steps, err));
    return idle_sums_make(k->t, &k->steps, NULL, k->arena, &k->sums, err);
}

static status find_all(idle_answer *k, error *err) {
    idle_causes_question q = {
        .t = k->t, .steps = &k->steps, .arena = k->arena, .visit = take_piece, .context = k};
    TRY(idle_begin(k, err));
    TRY(idle_causes_find(&q, &k->sums.devices, err));
    close_gap(k);
    TRY(find_pauses(k, err));
    TRY(idle_sums_write(&k->sums, k->causes, err));
    TRY(write_details(k, err));
    TRY(write_gaps(k, err));
    for (uint32_t i = 0; i < k->sums.devices.n; i++)
        TRY(write_device_steps(k, i, k->sums.devices.id[i], err));
    TRY(idle_streams_write(&k->select, k->arena, k->out, err));
    TRY(idle_launches_write(&k->select, k->arena, k->out, err));
    return idle_ops_write(&k->select, k->arena, k->out, err);
}

status analyse_idle(const analysis_input *in, const params *p, arena *a, answer *out,
                    error *err) {
    idle_answer k = {.t = in->traces[0].trace, .arena = a, .out = out};
    TRY(answer_begin("idle", in, a, out, err));
    TRY(trace_require(k.t,
                      IDLE_CAUSES_TABLES | UNPROFILED_TABLES | TRACE_TABLE(producer_step) |
                          RECORDING_TABLES,
                      err));
    select_init(&k.select, k.t, p);
    TRY(find_all(&k, err));
    TRY(in_use_find(k.t, a, &k.uses, err));
    bool lost = false;
    TRY(lost_work_judge(k.t, a, out, &lost, err));
    recording_question q = {.t = k.t, .steps = &k.steps, .arena = a};
    if (!lost) TRY(recording_judge(&q, &out->verdict, err));
    lost = lost || out->verdict.id;
    if (!lost) rules_apply(rules, N_OF(rules), &k, &out->verdict);
    if (!lost && k.steps.n) step_spans_say(&k.steps, k.sums.steps_ns, &out->verdict);
    if (all_idle(&k)) TRY(unprofiled_step_tell(k.t, &k.steps, a, out, err));
    answer_finish(out, p);
    return OK;
}
