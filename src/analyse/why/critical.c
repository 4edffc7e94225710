/* critical.c: the critical path of a step.
 *
 * The path of every step (critical_path.h) is one row for each of its pieces; sums over all
 * steps say what is on it by kind, by name, by module and by line of Python. A kernel that is
 * not on the path may become slower or faster without any effect on the step: how much slower
 * is its slack (slack.h). */
#include "analyse/device/recording_judge.h"
#include "analyse/device/step_limit.h"
#include "analyse/job/job.h"
#include "analyse/job/job_path.h"
#include "analyse/job/path_owners.h"
#include "analyse/job/path_sums.h"
#include "analyse/operators/module_work.h"
#include "analyse/replay/unprofiled_step.h"
#include "analyse/rows.h"
#include "analyse/rules.h"
#include "analyse/steps/lost_work.h"
#include "analyse/why/slack_table.h"
#include "base/message_ids_advice.h"
#include "base/num.h"

#define CRITICAL_TABLES                                                                       \
    (UNPROFILED_TABLES | TRACE_TABLE(comm) | TRACE_TABLE(module) | TRACE_TABLE(module_call) | \
     LINE_TABLES)

enum { RECENT_TRACKS = 4 }; /* a path changes between few: a thread or two, a stream or two */

typedef struct {
    const trace *t;
    arena *arena;
    answer *out;
    selection select;
    step_spans spans;
    step_limit limit;
    why_graph graph;
    comm_names names;
    path_pieces pieces;
    path_owners owners;
    path_sums by_name, by_module, by_line;
    int64_t kind_ns[N_PATH_KINDS], kind_n[N_PATH_KINDS];
    int64_t all_ns;
    slack_question slack;
    bool wants_path; /* its pieces as rows: most of the memory */
    uint32_t own_slices;
    uint32_t recent[RECENT_TRACKS], n_recent; /* tracks of the last pieces */
    uint32_t last_work;
} critical;

/* Is it in the worker's own trace, so that others can point at it? */
static bool is_own(const critical *c, uint32_t slice) {
    return slice && (!c->own_slices || slice < c->own_slices);
}

/* ---- adding up --------------------------------------------------------------------------- */

static uint64_t key_of_name(const critical *c, const path_piece *p) {
    return (uint64_t)p->kind << 32 | (p->slice ? c->t->slice.name[p->slice] : 0);
}

static status add_up(critical *c, const path_piece *p, error *err) {
    int64_t ns = sub_i64(p->end, p->start);
    TRY(path_sums_add(&c->by_name, key_of_name(c, p), STR(""), p, err));
    if (c->owners.has_modules)
        TRY(path_sums_add(&c->by_module, path_module_of(&c->owners, p), STR(""), p, err));
    c->kind_ns[p->kind] = add_i64(c->kind_ns[p->kind], ns);
    c->kind_n[p->kind]++;
    c->all_ns = add_i64(c->all_ns, ns);
    return OK;
}

/* Neighbors of one line are one piece. */
typedef struct {
    critical *c;
    path_piece part;
    uint32_t site;
} line_adder;

static status flush_line(line_adder *to, error *err) {
    critical *c = to->c;
    uint32_t name = to->site ? c->t->frame.name[to->site] : 0;
    if (to->part.start >= to->part.end) return OK;
    return path_sums_add(&c->by_line, name, STR(""), &to->part, err);
}

static status add_line(void *context, const line_piece *p, error *err) {
    line_adder *to = context;
    uint32_t site = line_site(&to->c->owners.lines, p->frame);
    if (site != to->site) {
        TRY(flush_line(to, err));
        to->part.start = p->range.start;
    }
    to->site = site;
    to->part.end = p->range.end;
    return OK;
}

static status add_lines(critical *c, size_t k, error *err) {
    line_adder to = {c, c->pieces.v[k], 0};
    line_cutter cutter = {&c->owners.lines, add_line, &to};
    if (!c->owners.lines.has_lines) return OK;
    to.part.end = to.part.start;
    TRY(path_lines_cut(&cutter, &c->pieces, k, err));
    return flush_line(&to, err);
}

static void mark_work(critical *c, const path_piece *p) {
    const trace *t = c->t;
    bool work = p->kind == PATH_DEVICE || p->kind == PATH_COPY || p->kind == PATH_COMMUNICATION;
    if (!work) return;
    uint32_t next = c->last_work + 1; /* mostly the one after the last on its stream */
    bool follows = next < t->kernel.n && t->kernel.slice[next] == p->slice;
    c->last_work = follows ? next : trace_kernel_of(t, p->slice);
    c->slack.on_path[c->last_work] = 1;
}

/* trace_track_of, without a search where the track is one of the last ones. */
static uint32_t track_of(critical *c, uint32_t slice) {
    const trace *t = c->t;
    for (uint32_t i = 0; i < RECENT_TRACKS; i++)
        if (slice >= t->track.first[c->recent[i]] && slice < t->track.end[c->recent[i]])
            return c->recent[i];
    return c->recent[c->n_recent++ % RECENT_TRACKS] = trace_track_of(t, slice);
}

static status write_piece(critical *c, table *t, int64_t step, const path_piece *p,
                          error *err) {
    row_critical_path row = row_critical_path_none();
    row.step = step;
    row.kind = path_kind_name(p->kind);
    if (p->slice) row.name = trace_slice_name(c->t, p->slice);
    if (is_own(c, p->slice)) {
        row.track = track_of(c, p->slice);
        row.slice = p->slice;
    }
    row.start = sub_i64(p->start, c->t->start_ns);
    row.duration = sub_i64(p->end, p->start);
    return put_critical_path(t, &row, err);
}

static status write_path(critical *c, table *path, error *err) {
    for (uint32_t i = 0; i < c->graph.n_steps; i++) {
        TRY(critical_path_find(&c->graph, &c->names, i, c->arena, &c->pieces, err));
        /* Steps are similar: the first one says about how many rows there will be. */
        if (!i && c->wants_path)
            TRY(table_reserve(path, (c->pieces.n + c->pieces.n / 32) * c->graph.n_steps, err));
        for (size_t k = 0; k < c->pieces.n; k++) {
            TRY(add_up(c, &c->pieces.v[k], err));
            TRY(add_lines(c, k, err));
            mark_work(c, &c->pieces.v[k]);
            if (!c->wants_path) continue;
            TRY(write_piece(c, path, c->graph.steps[i].number, &c->pieces.v[k], err));
        }
    }
    return OK;
}

/* ---- sums -------------------------------------------------------------------------------- */

static int64_t per_step(const critical *c, int64_t sum) {
    return mean_i64(sum, max_i64(1, c->graph.n_steps));
}

static double share_of_path(const critical *c, int64_t ns) {
    return c->all_ns > 0 ? (double)ns / (double)c->all_ns : 0;
}

static status write_kinds(critical *c, table *t, error *err) {
    for (int k = 0; k < N_PATH_KINDS; k++) {
        if (!c->kind_n[k]) continue;
        row_critical_by_kind row = row_critical_by_kind_none();
        row.kind = path_kind_name((path_kind)k);
        row.time = per_step(c, c->kind_ns[k]);
        row.share = share_of_path(c, c->kind_ns[k]);
        row.pieces = c->kind_n[k];
        TRY(put_critical_by_kind(t, &row, err));
    }
    return OK;
}

/* Sets what all three tables of sums have. */
#define SET_SUM(row, c, s)                                   \
    do {                                                     \
        (row).time = per_step(c, (s)->ns);                   \
        (row).share = share_of_path(c, (s)->ns);             \
        (row).pieces = (s)->n;                               \
        if (is_own(c, (s)->slice)) (row).slice = (s)->slice; \
    } while (0)

static status write_names(critical *c, table *t, error *err) {
    const uint32_t *order = path_sums_order(&c->by_name);
    if (!order) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < c->by_name.rows.n; i++) {
        const path_sum *s = path_sums_at(&c->by_name, order[i]);
        row_critical_by_name row = row_critical_by_name_none();
        row.kind = path_kind_name((path_kind)(s->key >> 32));
        if ((uint32_t)s->key) row.name = trace_str(c->t, (uint32_t)s->key);
        SET_SUM(row, c, s);
        TRY(put_critical_by_name(t, &row, err));
    }
    return OK;
}

static status write_modules(critical *c, table *t, error *err) {
    const uint32_t *order = path_sums_order(&c->by_module);
    if (!order) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < c->by_module.rows.n; i++) {
        const path_sum *s = path_sums_at(&c->by_module, order[i]);
        row_critical_by_module row = row_critical_by_module_none();
        if (s->key) row.module = module_short_name(c->t, (uint32_t)s->key);
        SET_SUM(row, c, s);
        TRY(put_critical_by_module(t, &row, err));
    }
    return OK;
}

static status write_lines(critical *c, table *t, error *err) {
    const uint32_t *order = path_sums_order(&c->by_line);
    if (!order) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < c->by_line.rows.n; i++) {
        const path_sum *s = path_sums_at(&c->by_line, order[i]);
        row_critical_by_line row = row_critical_by_line_none();
        if (s->key) row.line = trace_str(c->t, (uint32_t)s->key);
        SET_SUM(row, c, s);
        TRY(put_critical_by_line(t, &row, err));
    }
    return OK;
}

/* ---- words ------------------------------------------------------------------------------- */

static bool is_of_device(int kind) {
    return kind == PATH_DEVICE || kind == PATH_COPY || kind == PATH_QUEUE;
}

static int64_t sum_of(const critical *c, bool device) {
    int64_t ns = 0;
    for (int k = 0; k < PATH_UNKNOWN; k++)
        if (k != PATH_COMMUNICATION && is_of_device(k) == device)
            ns = add_i64(ns, c->kind_ns[k]);
    return ns;
}

/* The largest sum of one side that has a name; of time outside of operators what came after. */
static void add_most(const critical *c, bool device, verdict *v) {
    const path_sum *most = NULL;
    for (uint32_t i = 0; i < c->by_name.rows.n; i++) {
        const path_sum *s = path_sums_at(&c->by_name, i);
        int kind = (int)(s->key >> 32);
        if (!(uint32_t)s->key || kind == PATH_COMMUNICATION || is_of_device(kind) != device)
            continue;
        if (!most || s->ns > most->ns) most = s;
    }
    if (!most) return;
    bool before = (int)(most->key >> 32) == PATH_BETWEEN;
    verdict_add(v, arg_text(before ? "before" : "name", trace_str(c->t, (uint32_t)most->key)));
    verdict_add(v, arg_time("time", per_step(c, most->ns)));
    if (most->slice) verdict_add(v, arg_id("slice", most->slice));
}

static bool has_no_path(const void *facts, verdict *v) {
    (void)v;
    return ((const critical *)facts)->all_ns <= 0;
}

/* Profilers of devices alone know when a step began and ended, and nothing of the host. */
static bool has_no_host(const void *facts, verdict *v) {
    const critical *c = facts;
    bool is_partial = c->t->kernel.n > 1 || c->t->op.n <= 1;
    (void)v;
    return is_partial && c->kind_ns[PATH_BETWEEN] == c->all_ns;
}

/* Work of a device without its launches: what it waited for is nowhere. */
static bool has_no_launches(const critical *c) {
    return share_of_path(c, c->kind_ns[PATH_UNKNOWN]) >= 0.5;
}

static bool is_unknown(const void *facts, verdict *v) {
    const critical *c = facts;
    if (!has_no_launches(c) || c->limit.by != LIMIT_UNKNOWN) return false;
    if (c->limit.share > 0) verdict_add(v, arg_share("share", c->limit.share));
    verdict_add(v, arg_time("step", per_step(c, c->all_ns)));
    return true;
}

/* From here on one side is called the bottleneck. */
#define MOST_OF_PATH 0.55

static bool decides(const critical *c, bool device, verdict *v) {
    double share = share_of_path(c, sum_of(c, device));
    if (share < MOST_OF_PATH) return false;
    verdict_add(v, arg_share("share", share));
    verdict_add(v, arg_time("step", per_step(c, c->all_ns)));
    add_most(c, device, v);
    double between = share_of_path(c, c->kind_ns[PATH_BETWEEN]);
    if (!device && between >= 0.1) verdict_add(v, arg_share("between", between));
    return true;
}

/* The path alone cannot tell: work that waits in a queue for a collective or an event is on the
 * device, and a CPU that launches just in time is on the path. What limits the step has the
 * last word. */
static bool is_limited(const critical *c, limit_kind by) {
    return c->limit.by == by;
}

static bool is_device(const void *facts, verdict *v) {
    const critical *c = facts;
    return (is_limited(c, LIMIT_DEVICE) || is_limited(c, LIMIT_UNKNOWN)) && decides(c, true, v);
}

static bool is_host(const void *facts, verdict *v) {
    const critical *c = facts;
    bool may =
        is_limited(c, LIMIT_CPU) || is_limited(c, LIMIT_DATA) || is_limited(c, LIMIT_UNKNOWN);
    return may && decides(c, false, v);
}

static void add_limit(const critical *c, verdict *v) {
    verdict_add(v, arg_share("share", c->limit.share));
    verdict_add(v, arg_time("step", per_step(c, c->all_ns)));
}

static bool is_exposed(const void *facts, verdict *v) {
    const critical *c = facts;
    if (!is_limited(c, LIMIT_COMMUNICATION)) return false;
    add_limit(c, v);
    return true;
}

static bool is_waiting(const void *facts, verdict *v) {
    const critical *c = facts;
    if (!is_limited(c, LIMIT_DEPENDENCY)) return false;
    add_limit(c, v);
    return true;
}

static bool is_busy(const void *facts, verdict *v) {
    const critical *c = facts;
    double host = share_of_path(c, sum_of(c, false));
    bool alone = has_no_launches(c);
    if (!is_limited(c, LIMIT_DEVICE) || (!alone && host < MOST_OF_PATH)) return false;
    add_limit(c, v);
    if (!alone) verdict_add(v, arg_share("host", host));
    if (c->limit.share < 0.7) verdict_add(v, arg_int("part", 1));
    return true;
}

/* Collectives, and waiting for other ranks in them. */
static bool is_communication(const void *facts, verdict *v) {
    const critical *c = facts;
    int64_t ns = c->kind_ns[PATH_COMMUNICATION];
    if (is_limited(c, LIMIT_DEVICE) || ns <= sum_of(c, true) || ns <= sum_of(c, false))
        return false;
    verdict_add(v, arg_share("share", share_of_path(c, ns)));
    verdict_add(v, arg_time("step", per_step(c, c->all_ns)));
    return true;
}

static bool is_both(const void *facts, verdict *v) {
    const critical *c = facts;
    int64_t communication = c->kind_ns[PATH_COMMUNICATION];
    verdict_add(v, arg_share("device", share_of_path(c, sum_of(c, true))));
    verdict_add(v, arg_share("host", share_of_path(c, sum_of(c, false))));
    if (communication)
        verdict_add(v, arg_share("communication", share_of_path(c, communication)));
    verdict_add(v, arg_time("step", per_step(c, c->all_ns)));
    return true;
}

static const rule rules[] = {
    {"critical_no_steps", MSG_VERDICT_CRITICAL_NO_STEPS, SEVERITY_INFO, has_no_path},
    {"critical_no_host", MSG_VERDICT_CRITICAL_NO_HOST, SEVERITY_INFO, has_no_host},
    {"critical_unknown", MSG_VERDICT_CRITICAL_UNKNOWN, SEVERITY_INFO, is_unknown},
    {"critical_host", MSG_VERDICT_CRITICAL_HOST, SEVERITY_WARNING, is_host},
    {"critical_device", MSG_VERDICT_CRITICAL_DEVICE, SEVERITY_GOOD, is_device},
    {"critical_communication", MSG_VERDICT_CRITICAL_COMMUNICATION, SEVERITY_WARNING,
     is_communication},
    {"critical_exposed", MSG_VERDICT_CRITICAL_EXPOSED, SEVERITY_WARNING, is_exposed},
    {"critical_waits", MSG_VERDICT_CRITICAL_WAITS, SEVERITY_WARNING, is_waiting},
    {"critical_busy", MSG_VERDICT_CRITICAL_BUSY, SEVERITY_GOOD, is_busy},
    {"critical_both", MSG_VERDICT_CRITICAL_BOTH, SEVERITY_INFO, is_both},
};

static status prepare(critical *c, const params *p, error *err) {
    select_init(&c->select, c->t, p);
    TRY(step_spans_make(c->t, &c->select, c->arena, &c->spans, err));
    TRY(why_graph_make(c->t, &c->spans, c->arena, &c->graph, err));
    TRY(step_limit_find(c->t, &c->spans, c->arena, &c->limit, err));
    TRY(comm_names_init(&c->names, c->t, c->arena, err));
    TRY(path_owners_init(&c->owners, c->t, &c->select, c->arena, err));
    TRY(path_sums_init(&c->by_name, c->arena, err));
    TRY(path_sums_init(&c->by_module, c->arena, err));
    TRY(path_sums_init(&c->by_line, c->arena, err));
    c->slack = (slack_question){.g = &c->graph, .names = &c->names, .arena = c->arena};
    c->slack.on_path = ARENA_ARRAY(c->arena, uint8_t, (size_t)c->graph.n_works + 1);
    if (!c->slack.on_path) FAIL_MEMORY(err);
    return OK;
}

/* Tables in this order: the short ones first, `path` last. */
static status write_all(critical *c, error *err) {
    answer *out = c->out;
    table *by_kind = answer_table(out, c->arena, "by_kind");
    table *by_name = answer_table(out, c->arena, "by_name");
    table *by_module = answer_table(out, c->arena, "by_module");
    table *by_line = answer_table(out, c->arena, "by_line");
    table *slack = answer_table(out, c->arena, "slack");
    table *path = answer_table(out, c->arena, "path");
    if (!by_kind || !by_name || !by_module || !by_line || !slack || !path) FAIL_MEMORY(err);
    TRY(write_path(c, path, err));
    TRY(write_kinds(c, by_kind, err));
    TRY(write_names(c, by_name, err));
    TRY(write_modules(c, by_module, err));
    TRY(write_lines(c, by_line, err));
    return slack_table_write(&c->slack, slack, err);
}

/* How much of the device's work decides nothing. */
static status add_slack_note(const critical *c, error *err) {
    verdict note = {.message = MSG_NOTE_CRITICAL_SLACK};
    if (!c->slack.device_ns) return OK;
    verdict_add(&note, arg_time("time", per_step(c, c->slack.off_path_ns)));
    verdict_add(&note, arg_time("device", per_step(c, c->slack.device_ns)));
    step_spans_say(&c->spans, per_step(c, c->all_ns), &note);
    return answer_note(c->out, c->arena, &note, err);
}

status analyse_critical(const analysis_input *in, const params *p, arena *a, answer *out,
                        error *err) {
    critical c = {.t = in->traces[0].trace,
                  .arena = a,
                  .out = out,
                  .wants_path = params_want(p, "path"),
                  .own_slices = in->traces[0].own_slices};
    TRY(answer_begin("critical", in, a, out, err));
    if (job_is_meant(in)) return job_path_critical(in, p, a, out, err);
    TRY(trace_require(c.t, CRITICAL_TABLES | RECORDING_TABLES, err));
    TRY(prepare(&c, p, err));
    TRY(write_all(&c, err));
    bool lost = false; /* without the device's half the path says nothing */
    TRY(lost_work_judge(c.t, a, out, &lost, err));
    recording_question q = {.t = c.t, .steps = &c.spans, .arena = a};
    if (!lost) TRY(recording_judge(&q, &out->verdict, err));
    lost = lost || out->verdict.id;
    if (!lost) rules_apply(rules, N_OF(rules), &c, &out->verdict);
    if (!lost) step_limit_name(&c.limit, &out->verdict);
    if (!lost) step_spans_say(&c.spans, per_step(&c, c.all_ns), &out->verdict);
    unprofiled_step bare;
    TRY(unprofiled_step_find(&c.graph, &c.spans, a, &bare, err));
    TRY(unprofiled_step_note(&bare, false, a, out, err));
    TRY(add_slack_note(&c, err));
    TRY(why_graph_note(&c.graph, a, out, err));
    answer_finish(out, p);
    return OK;
}
