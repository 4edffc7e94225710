/* history.c: how the measures of a program went over its commits.
 *
 * Every input is a baseline (baseline.h), a point of the history; points are in the order of
 * the times at which their runs were recorded. Changes of level are found for each measure
 * apart (change_points.h). */
#include <math.h>

#include "analyse/check/baseline.h"
#include "analyse/check/change_points.h"
#include "analyse/check/measures.h"
#include "analyse/rows.h"
#include "analyse/rules.h"
#include "base/message_ids_columns.h"
#include "base/num.h"
#include "base/sort.h"

#define USUAL_LEAST 0.01
enum { LEAST_POINTS = 4 };

typedef struct {
    int64_t time_unix_ns;
    str commit, name;
    measures m;
} history_point;

typedef struct {
    measure_id measure;
    change_point c;
    uint32_t at, before; /* points */
} history_change;

typedef struct {
    history_point *v; /* by time */
    uint32_t n, n_skipped;
    history_change *changes;
    uint32_t n_changes, cap_changes;
    double least_share;
    arena *arena;
    answer *out;
} history;

/* ---- points ------------------------------------------------------------------------------ */

/* Baselines say when they were recorded; other files are not points. */
static bool read_time(const analysis_trace *t, int64_t *out) {
    const summary *s = t->trace->summary;
    return s && str_to_i64(baseline_about(s, STR("time")), out);
}

static int compare_times(uint32_t a, uint32_t b, const void *context) {
    const history_point *v = context;
    if (v[a].time_unix_ns != v[b].time_unix_ns)
        return v[a].time_unix_ns < v[b].time_unix_ns ? -1 : 1;
    int names = str_cmp(v[a].name, v[b].name);
    return names ? names : a < b ? -1 : a > b;
}

static status sort_points(history *h, error *err) {
    uint32_t *order = ARENA_ARRAY(h->arena, uint32_t, (size_t)h->n + 1);
    uint32_t *scratch = ARENA_ARRAY(h->arena, uint32_t, (size_t)h->n + 1);
    history_point *sorted = ARENA_ARRAY(h->arena, history_point, (size_t)h->n + 1);
    if (!order || !scratch || !sorted) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < h->n; i++) order[i] = i;
    sort_index(order, scratch, h->n, compare_times, h->v);
    for (uint32_t i = 0; i < h->n; i++) sorted[i] = h->v[order[i]];
    h->v = sorted;
    return OK;
}

static status collect(history *h, const analysis_input *in, error *err) {
    h->v = ARENA_ARRAY(h->arena, history_point, (size_t)in->n_traces + 1);
    if (!h->v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < in->n_traces; i++) {
        const analysis_trace *t = &in->traces[i];
        history_point p = {.name = t->worker};
        if (!read_time(t, &p.time_unix_ns)) {
            h->n_skipped++;
            continue;
        }
        p.commit = baseline_about(t->trace->summary, STR("commit"));
        TRY(measures_make(t->trace->summary, h->arena, &p.m, err));
        h->v[h->n++] = p;
    }
    if (!h->n)
        FAIL(err, ERR_ARG, NOPOS, MSG_HISTORY_NO_BASELINES,
             arg_text("path", in->traces[0].path));
    return sort_points(h, err);
}

/* ---- changes ----------------------------------------------------------------------------- */

static status add_change(history *h, const history_change *c, error *err) {
    if (h->n_changes == h->cap_changes) {
        uint32_t cap = h->cap_changes ? 2 * h->cap_changes : 16;
        h->changes =
            arena_grow(h->arena, h->changes, h->cap_changes * sizeof *c, cap * sizeof *c);
        if (!h->changes) FAIL_MEMORY(err);
        h->cap_changes = cap;
    }
    h->changes[h->n_changes++] = *c;
    return OK;
}

/* Points without the measure are skipped: a change is then between their neighbors. */
static status find_changes(history *h, measure_id m, error *err) {
    series_point *series = ARENA_ARRAY(h->arena, series_point, (size_t)h->n + 1);
    uint32_t *point = ARENA_ARRAY(h->arena, uint32_t, (size_t)h->n + 1), n = 0;
    change_points found;
    if (!series || !point) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < h->n; i++) {
        const measured *v = &h->v[i].m.v[m];
        if (!v->known) continue;
        double of_mean = v->samples.n > 1 ? v->samples.variance / v->samples.n : 0;
        series[n] = (series_point){.value = v->value, .variance = of_mean};
        point[n++] = i;
    }
    TRY(change_points_find(series, n, h->least_share, h->arena, &found, err));
    for (uint32_t i = 0; i < found.n; i++) {
        history_change c = {.measure = m,
                            .c = found.v[i],
                            .at = point[found.v[i].at],
                            .before = point[found.v[i].at - 1]};
        TRY(add_change(h, &c, err));
    }
    return OK;
}

static bool is_worse(const history_change *c) {
    return (c->c.to > c->c.from) == (c->measure != MEASURE_MFU);
}

/* ---- tables ------------------------------------------------------------------------------ */

static status write_points(history *h, error *err) {
    table *t = answer_table(h->out, h->arena, "points");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < h->n; i++) {
        const history_point *p = &h->v[i];
        const measured *v = p->m.v;
        row_history_points row = row_history_points_none();
        row.point = i;
        row.time_unix = p->time_unix_ns;
        row.commit = p->commit;
        row.name = p->name;
        row.steps = p->m.steps;
        if (v[MEASURE_STEP].known) row.step = round_i64(v[MEASURE_STEP].value);
        if (v[MEASURE_STEP].samples.n > 1)
            row.spread = round_i64(sqrt(v[MEASURE_STEP].samples.variance));
        if (v[MEASURE_DEVICE].known) row.device = round_i64(v[MEASURE_DEVICE].value);
        if (v[MEASURE_HOST].known) row.host = round_i64(v[MEASURE_HOST].value);
        if (v[MEASURE_MEMORY].known) row.memory = round_i64(v[MEASURE_MEMORY].value);
        if (v[MEASURE_KERNELS].known) row.kernels = v[MEASURE_KERNELS].value;
        if (v[MEASURE_MFU].known) row.mfu = v[MEASURE_MFU].value;
        TRY(put_history_points(t, &row, err));
    }
    return OK;
}

static arg arg_of(const char *name, measure_id m, double v) {
    switch (measure_unit(m)) {
    case UNIT_NS: return arg_time(name, round_i64(v));
    case UNIT_BYTES: return arg_bytes(name, round_i64(v));
    case UNIT_SHARE: return arg_share(name, v);
    default: return arg_real(name, v);
    }
}

static void add_levels(verdict *v, const history_change *c) {
    verdict_add(v, arg_of("before", c->measure, c->c.from));
    verdict_add(v, arg_of("after", c->measure, c->c.to));
}

static status write_change(history *h, table *t, const history_change *c, error *err) {
    double of = fabs(c->c.from);
    row_history_changes row = row_history_changes_none();
    row.metric = str_of(measure_name(c->measure));
    row.at = c->at;
    row.commit = h->v[c->at].commit;
    row.commit_before = h->v[c->before].commit;
    if (of > 0) {
        row.change = (c->c.to - c->c.from) / of;
        row.low = c->c.low / of;
        row.high = c->c.high / of;
    }
    row.certain = c->c.certain;
    row.worse = is_worse(c);
    row.runs_before = c->c.before;
    row.runs_after = c->c.after;
    row.unit = str_of(budget_unit_word(measure_unit(c->measure)));
    row.value_before = c->c.from;
    row.value_after = c->c.to;
    return put_history_changes(t, &row, err);
}

static status write_changes(history *h, error *err) {
    table *t = answer_table(h->out, h->arena, "changes");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < h->n_changes; i++) TRY(write_change(h, t, &h->changes[i], err));
    return OK;
}

/* Every measure as a share of its first value, for curves. */
static status write_trend(history *h, error *err) {
    table *t = answer_table(h->out, h->arena, "trend");
    if (!t) FAIL_MEMORY(err);
    for (int m = 0; m < N_MEASURES; m++) {
        double first = NAN;
        for (uint32_t i = 0; i < h->n; i++) {
            const measured *v = &h->v[i].m.v[m];
            if (!v->known || !(v->value > 0)) continue;
            if (isnan(first)) first = v->value;
            row_history_trend row = row_history_trend_none();
            row.point = i;
            row.metric = str_of(measure_name((measure_id)m));
            row.relative = v->value / first;
            TRY(put_history_trend(t, &row, err));
        }
    }
    return OK;
}

/* ---- verdict ----------------------------------------------------------------------------- */

/* The latest one that is certain, of the measure that comes first. */
static const history_change *latest(const history *h, bool certain) {
    const history_change *best = NULL;
    for (uint32_t i = 0; i < h->n_changes; i++) {
        const history_change *c = &h->changes[i];
        if (c->c.certain == certain && (!best || c->at > best->at)) best = c;
    }
    return best;
}

static bool say_change(const history *h, const history_change *c, verdict *v) {
    if (!c) return false;
    verdict_add(v, arg_text("metric", str_of(measure_name(c->measure))));
    add_levels(v, c);
    double of = fabs(c->c.from);
    if (of > 0) verdict_add(v, arg_share("share", fabs(c->c.to - c->c.from) / of));
    if (h->v[c->at].commit.n) verdict_add(v, arg_text("commit", h->v[c->at].commit));
    verdict_add(v, arg_id("point", c->at));
    return true;
}

static bool is_short(const void *facts, verdict *v) {
    const history *h = facts;
    verdict_add(v, arg_int("count", h->n));
    return h->n < LEAST_POINTS;
}

static bool got_worse(const void *facts, verdict *v) {
    const history *h = facts;
    const history_change *c = latest(h, true);
    return c && is_worse(c) && say_change(h, c, v);
}

static bool got_better(const void *facts, verdict *v) {
    return say_change(facts, latest(facts, true), v);
}

static bool may_have_changed(const void *facts, verdict *v) {
    return say_change(facts, latest(facts, false), v);
}

static bool is_steady(const void *facts, verdict *v) {
    const history *h = facts;
    verdict_add(v, arg_int("count", h->n));
    return true;
}

static const rule rules[] = {
    {"history_short", MSG_VERDICT_HISTORY_SHORT, SEVERITY_INFO, is_short},
    {"history_worse", MSG_VERDICT_HISTORY_WORSE, SEVERITY_WARNING, got_worse},
    {"history_better", MSG_VERDICT_HISTORY_BETTER, SEVERITY_GOOD, got_better},
    {"history_maybe", MSG_VERDICT_HISTORY_MAYBE, SEVERITY_INFO, may_have_changed},
    {"history_steady", MSG_VERDICT_HISTORY_STEADY, SEVERITY_GOOD, is_steady},
};

/* ---- the question ------------------------------------------------------------------------ */

static status note_skipped(history *h, error *err) {
    verdict note = {.id = "history_skipped",
                    .message = MSG_NOTE_HISTORY_SKIPPED,
                    .severity = SEVERITY_INFO};
    if (!h->n_skipped) return OK;
    verdict_add(&note, arg_int("count", h->n_skipped));
    return answer_note(h->out, h->arena, &note, err);
}

status analyse_history(const analysis_input *in, const params *p, arena *a, answer *out,
                       error *err) {
    history h = {.arena = a, .out = out, .least_share = USUAL_LEAST};
    TRY(budget_share_param(p, STR("min_change"), &h.least_share, err));
    TRY(answer_begin("history", in, a, out, err));
    TRY(collect(&h, in, err));
    for (int m = 0; m < N_MEASURES && h.n >= LEAST_POINTS; m++)
        TRY(find_changes(&h, (measure_id)m, err));
    TRY(write_points(&h, err));
    TRY(write_changes(&h, err));
    TRY(write_trend(&h, err));
    TRY(note_skipped(&h, err));
    rules_apply(rules, N_OF(rules), &h, &out->verdict);
    answer_finish(out, p);
    return OK;
}
