/* check.c: is a run worse than its base, or than it may be?
 *
 * The rules of a budget (budget.h), or one for each measure, are held against both runs
 * (judge.h). A change that is only a slower CPU, the same in all calls, is inconclusive: runs
 * of one program often differ by that much. Where the steps are longer for sure, but too noisy
 * to tell by how much, causes that are certain and exceed the limit make it a regression.
 * A different workload is not judged at all. */
#include <math.h>

#include "analyse/check/baseline.h"
#include "analyse/check/column_values.h"
#include "analyse/check/run_changes.h"
#include "analyse/rows.h"
#include "analyse/rules.h"
#include "base/message_ids_columns.h"
#include "base/num.h"

#define USUAL_SHARE 0.05
/* A change of device or host below this share of the step is never a regression. */
#define LEAST_OF_STEP 0.01

typedef struct {
    const analysis_input *in;
    const params *params;
    arena *arena;
    answer *out;
    budget rules;
    const summary *sides[N_CHECKED]; /* the base NULL when there is none */
    measures measured[N_CHECKED];
    run_changes changes;
    judged *v;           /* by rule */
    uint32_t n, n_usual; /* the first n_usual rules are not the user's */
    uint32_t n_skipped;  /* relative rules without a base */
    column_asker asker;
} check;

/* ---- rules ------------------------------------------------------------------------------- */

static status add_required(check *c, error *err) {
    for (uint32_t i = 0; i < c->params->n_extra; i++) {
        if (!value_same_name(c->params->extra[i].name, STR("require"))) continue;
        str name = c->params->extra[i].as.name;
        budget_text text = {.text = c->params->extra[i].value,
                            .name = name.n ? name : STR("require"),
                            .wrong = ERR_ARG};
        TRY(budget_add(&c->rules, &text, err));
    }
    return OK;
}

/* One budget serves the first run, which has no base yet, and all later ones. */
static void skip_relative(check *c) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->rules.n; i++)
        if (!c->rules.v[i].relative) c->rules.v[n++] = c->rules.v[i];
    c->n_skipped = c->rules.n - n;
    c->rules.n = n;
}

/* The usual ones where the user gives none, or gives the share that they allow. */
static status find_rules(check *c, error *err) {
    str given = param_text(c->params, STR("max_regress"));
    bool required = param_text(c->params, STR("require")).p != NULL;
    double share = USUAL_SHARE;
    c->rules.arena = c->arena;
    TRY(budget_share_param(c->params, STR("max_regress"), &share, err));
    if (c->in->against && (!required || given.p))
        for (int m = 0; m < N_MEASURES; m++)
            TRY(budget_add_default(&c->rules, (measure_id)m, share, err));
    c->n_usual = c->rules.n;
    TRY(add_required(c, err));
    if (!c->rules.n) FAIL0(err, ERR_ARG, NOPOS, MSG_CHECK_NEEDS_BASE);
    if (!c->in->against) skip_relative(c);
    return OK;
}

/* ---- judging ----------------------------------------------------------------------------- */

/* How much of a change of this measure a slower CPU explains; 0: nothing. */
static double host_part(const check *c, const judged *j) {
    double ns = c->changes.host_speed_ns, step = c->measured[CHECK_CANDIDATE].v[0].value;
    switch (j->rule->measure) {
    case MEASURE_STEP:
    case MEASURE_HOST: return ns;
    case MEASURE_MFU: return step > ns ? j->candidate * (1 - step / (step - ns)) : 0;
    default: return 0;
    }
}

static double certain_part(const check *c, measure_id m) {
    if (m == MEASURE_STEP) return c->changes.certain_ns;
    return m == MEASURE_HOST ? c->changes.certain_host_ns : 0;
}

static void weigh_changes(const check *c, judged *j) {
    const budget_rule *r = j->rule;
    if (!r->relative || j->result == CHECK_NOT_RECORDED) return;
    if (c->changes.other_work) {
        j->result = CHECK_INCONCLUSIVE;
        j->reason = REASON_OTHER_WORK;
        return;
    }
    double certain = certain_part(c, r->measure), limit = j->limit - j->base;
    bool by_causes = limit_is_upper(r->side) && limit >= 0 && certain > limit;
    if (by_causes && j->low > 0 && j->change > limit) {
        if (j->result != CHECK_REGRESSION) j->reason = REASON_CAUSES;
        j->result = CHECK_REGRESSION;
    } else if (by_causes && j->result == CHECK_OK) { /* other things make up for them */
        j->reason = REASON_OFFSET;
        j->result = CHECK_INCONCLUSIVE;
    } else if (j->result == CHECK_REGRESSION && !c->in->n_also &&
               c->changes.host_speed_ns > 0 && !judged_survives(j, host_part(c, j))) {
        j->result = CHECK_INCONCLUSIVE;
        j->reason = REASON_HOST_SPEED;
    }
}

static status judge_rule(check *c, const budget_rule *r, judged *out, error *err) {
    const measures *base = &c->measured[CHECK_BASE], *b = &c->measured[CHECK_CANDIDATE];
    if (r->measure == N_MEASURES) {
        TRY(column_judge(&c->asker, r, out, err));
    } else {
        bool part =
            (r->measure == MEASURE_DEVICE || r->measure == MEASURE_HOST) && r->limit >= 0;
        double least = part ? LEAST_OF_STEP * base->v[MEASURE_STEP].value : -INFINITY;
        *out = judge_measure(r, c->in->against ? &base->v[r->measure] : NULL, &b->v[r->measure],
                             least);
    }
    weigh_changes(c, out);
    return OK;
}

/* A measure that is neither recorded nor asked for is not listed. */
static bool is_idle(const check *c, uint32_t i_rule, const judged *j) {
    return i_rule < c->n_usual && j->result == CHECK_NOT_RECORDED;
}

static status judge_all(check *c, error *err) {
    c->v = ARENA_ARRAY(c->arena, judged, (size_t)c->rules.n + 1);
    if (!c->v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < c->rules.n; i++) {
        TRY(judge_rule(c, &c->rules.v[i], &c->v[c->n], err));
        if (!is_idle(c, i, &c->v[c->n])) c->n++;
    }
    return OK;
}

/* ---- tables ------------------------------------------------------------------------------ */

static arg arg_value(const char *name, column_unit unit, double v) {
    if (unit == UNIT_NS) return arg_time(name, round_i64(v));
    if (unit == UNIT_BYTES) return arg_bytes(name, round_i64(v));
    if (unit == UNIT_SHARE) return arg_share(name, v);
    bool whole = fabs(v) < 1e15 && fabs(v - nearbyint(v)) < 1e-9;
    return whole ? arg_int(name, round_i64(v)) : arg_real(name, v);
}

/* {before}, {after}, and {allowed} or {least}: what is known of them. */
static void add_values(verdict *v, const judged *j) {
    column_unit unit = j->rule->unit;
    if (!isnan(j->base)) verdict_add(v, arg_value("before", unit, j->base));
    if (!isnan(j->candidate)) verdict_add(v, arg_value("after", unit, j->candidate));
    const char *side = limit_is_upper(j->rule->side) ? "allowed" : "least";
    if (!isnan(j->limit)) verdict_add(v, arg_value(side, unit, j->limit));
}

static const uint16_t REASONS[] = {
    [REASON_NONE] = MSG_NONE,
    [REASON_NOISE] = MSG_CHECK_REASON_NOISE,
    [REASON_FEW_STEPS] = MSG_CHECK_REASON_FEW,
    [REASON_HOST_SPEED] = MSG_CHECK_REASON_HOST,
    [REASON_CAUSES] = MSG_CHECK_REASON_CAUSES,
    [REASON_OFFSET] = MSG_CHECK_REASON_OFFSET,
    [REASON_OTHER_WORK] = MSG_CHECK_REASON_WORK,
    [REASON_NO_ROW] = MSG_CHECK_REASON_NONE,
    [REASON_ROW] = MSG_CHECK_REASON_ROW,
};

static verdict *sentence(check *c, uint16_t message) {
    verdict *v = ARENA_NEW(c->arena, verdict);
    if (v) *v = (verdict){.id = "check", .message = message};
    return v;
}

static status set_reason(check *c, row_check_checks *row, const judged *j, error *err) {
    if (j->reason == REASON_NONE) return OK;
    verdict *v = sentence(c, REASONS[j->reason]);
    if (!v) FAIL_MEMORY(err);
    if (j->row.n) verdict_add(v, arg_text("row", j->row));
    if (!isnan(j->low))
        verdict_add(v, arg_value("noise", j->rule->unit, (j->high - j->low) / 2));
    verdict_add(v, arg_time("host", round_i64(c->changes.host_speed_ns)));
    verdict_add(v, arg_time("certain", round_i64(certain_part(c, j->rule->measure))));
    row->reason = v;
    return OK;
}

static status write_check(check *c, table *t, const judged *j, error *err) {
    verdict *found = sentence(c, MSG_CHECK_FOUND);
    if (!found) FAIL_MEMORY(err);
    add_values(found, j);
    row_check_checks row = row_check_checks_none();
    row.metric = j->rule->subject;
    row.result = str_of(check_result_name(j->result));
    row.found = found;
    double of = fabs(j->base);
    if (of > 0) {
        row.change = j->change / of;
        row.low = j->low / of;
        row.high = j->high / of;
    }
    row.base = j->base;
    row.candidate = j->candidate;
    row.limit = j->limit;
    row.unit = str_of(budget_unit_word(j->rule->unit));
    row.rule = j->rule->text;
    TRY(set_reason(c, &row, j, err));
    return put_check_checks(t, &row, err);
}

static const verdict *cause_sentence(const table *from, size_t at, const char *name) {
    uint32_t source = table_column(from, str_of(name));
    return source == UINT32_MAX ? NULL : from->columns[source].v.sentence[at];
}

static status write_causes(check *c, error *err) {
    table *t = answer_table(c->out, c->arena, "causes");
    const table *from = c->changes.causes;
    if (!t) FAIL_MEMORY(err);
    for (size_t i = 0; from && i < from->n_rows; i++) {
        row_check_causes row = row_check_causes_none();
        row.id = cause_text(from, i, "id");
        row.title = cause_sentence(from, i, "title");
        row.evidence = cause_sentence(from, i, "evidence");
        row.change = round_i64(cause_number(from, i, "change"));
        row.share = cause_number(from, i, "share");
        double certain = cause_number(from, i, "certain");
        if (!isnan(certain)) row.certain = certain > 0;
        row.name = cause_text(from, i, "name");
        TRY(put_check_causes(t, &row, err));
    }
    return OK;
}

/* All values of a fact, joined. */
static str about_text(const summary *s, str key, arena *a) {
    str all = STR_NONE;
    for (uint32_t i = 0; s && i < SUMMARY_N(s, about); i++) {
        const summary_about *row = &SUMMARY_ROWS(s, about)[i];
        if (!str_eq(row->key, key)) continue;
        all = all.n ? arena_printf(a, "%.*s, %.*s", STR_ARG(all), STR_ARG(row->value))
                    : row->value;
    }
    return all;
}

static status add_parity(check *c, table *t, str key, error *err) {
    uint32_t col = COL(check, parity, key);
    for (size_t i = 0; i < t->n_rows; i++)
        if (str_eq(t->columns[col].v.s[i], key)) return OK;
    str a = about_text(c->sides[CHECK_BASE], key, c->arena);
    str b = about_text(c->sides[CHECK_CANDIDATE], key, c->arena);
    row_check_parity row = row_check_parity_none();
    row.key = key;
    row.a = a;
    row.b = b;
    row.same = str_eq(a, b);
    return put_check_parity(t, &row, err);
}

static status write_parity(check *c, error *err) {
    table *t = answer_table(c->out, c->arena, "parity");
    if (!t) FAIL_MEMORY(err);
    for (int s = 0; s < N_CHECKED && c->sides[CHECK_BASE]; s++)
        for (uint32_t i = 0; i < SUMMARY_N(c->sides[s], about); i++)
            TRY(add_parity(c, t, SUMMARY_ROWS(c->sides[s], about)[i].key, err));
    return OK;
}

static status write_tables(check *c, error *err) {
    table *t = answer_table(c->out, c->arena, "checks");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < c->n; i++) TRY(write_check(c, t, &c->v[i], err));
    TRY(write_causes(c, err));
    return write_parity(c, err);
}

/* ---- verdict ----------------------------------------------------------------------------- */

static uint32_t count(const check *c, check_result r, const judged **first) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->v[i].result != r) continue;
        if (!n++ && first) *first = &c->v[i];
    }
    return n;
}

/* The first cause of diff, in its own words, where it is certain. */
static void add_cause(const check *c, verdict *v) {
    const table *t = c->changes.causes;
    if (!t || !t->n_rows || !(cause_number(t, 0, "certain") > 0)) return;
    uint32_t col = table_column(t, STR("title"));
    const verdict *title = t->columns[col].v.sentence[0];
    verdict_add(v, arg_words("cause", title->message));
    for (uint32_t i = 0; i < title->n_args; i++) verdict_add(v, title->args[i]);
}

static bool is_regression(const void *facts, verdict *v) {
    const check *c = facts;
    const judged *first = NULL;
    uint32_t n = count(c, CHECK_REGRESSION, &first);
    if (!n) return false;
    verdict_add(v, arg_int("count", n));
    verdict_add(v, arg_text("metric", first->rule->subject));
    add_values(v, first);
    add_cause(c, v);
    return true;
}

static bool is_other_work(const void *facts, verdict *v) {
    const check *c = facts;
    if (!c->changes.other_work) return false;
    if (!isnan(c->changes.reshaped)) verdict_add(v, arg_share("share", c->changes.reshaped));
    return true;
}

static bool is_inconclusive(const void *facts, verdict *v) {
    const check *c = facts;
    const judged *first = NULL;
    uint32_t n = count(c, CHECK_INCONCLUSIVE, &first);
    n += count(c, CHECK_NOT_RECORDED, n ? NULL : &first);
    if (!n) return false;
    verdict_add(v, arg_int("count", n));
    verdict_add(v, arg_text("metric", first->rule->subject));
    add_values(v, first);
    uint16_t reason = first->reason == REASON_NOISE        ? MSG_CHECK_WHY_NOISE
                      : first->reason == REASON_HOST_SPEED ? MSG_CHECK_WHY_HOST
                                                           : REASONS[first->reason];
    verdict_add(v, arg_words("reason", reason));
    if (!isnan(first->low))
        verdict_add(v, arg_value("noise", first->rule->unit, (first->high - first->low) / 2));
    verdict_add(v, arg_time("host", round_i64(c->changes.host_speed_ns)));
    verdict_add(v, arg_time("certain", round_i64(certain_part(c, first->rule->measure))));
    return true;
}

static bool is_ok(const void *facts, verdict *v) {
    const check *c = facts;
    verdict_add(v, arg_int("count", c->n));
    return true;
}

static bool is_nothing(const void *facts, verdict *v) {
    const check *c = facts;
    (void)v;
    return c->n == 0 && c->n_skipped > 0;
}

static const rule rules[] = {
    {"check_nothing", MSG_VERDICT_CHECK_NOTHING, SEVERITY_WARNING, is_nothing},
    {"check_regression", MSG_VERDICT_CHECK_REGRESSION, SEVERITY_CRITICAL, is_regression},
    {"check_other_workload", MSG_VERDICT_CHECK_OTHER_WORK, SEVERITY_WARNING, is_other_work},
    {"check_inconclusive", MSG_VERDICT_CHECK_INCONCLUSIVE, SEVERITY_WARNING, is_inconclusive},
    {"check_ok", MSG_VERDICT_CHECK_OK, SEVERITY_GOOD, is_ok},
};

/* ---- the question ------------------------------------------------------------------------ */

/* --base-runs: what runs of the base's program differ by is known, and is the noise. */
static status measure_runs(check *c, error *err) {
    uint32_t n = c->in->n_also;
    measures *also = ARENA_ARRAY(c->arena, measures, (size_t)n + 1);
    if (!also) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) {
        const summary *s;
        TRY(baseline_keep(&c->in->also[i], c->params, c->arena, &s, err));
        TRY(measures_make(s, c->arena, &also[i], err));
    }
    return measures_add_runs(&c->measured[CHECK_BASE], also, n, c->arena, err);
}

static status measure(check *c, error *err) {
    const analysis_input *inputs[N_CHECKED] = {[CHECK_BASE] = c->in->against ? c->in : NULL,
                                               [CHECK_CANDIDATE] =
                                                   c->in->against ? c->in->against : c->in};
    for (int s = 0; s < N_CHECKED; s++) {
        if (!inputs[s]) continue;
        TRY(baseline_keep(inputs[s], c->params, c->arena, &c->sides[s], err));
        TRY(measures_make(c->sides[s], c->arena, &c->measured[s], err));
        c->asker.in[s] = inputs[s];
        c->asker.m[s] = &c->measured[s];
    }
    c->asker.params = c->params;
    c->asker.arena = c->arena;
    if (!c->in->against) return OK;
    TRY(measure_runs(c, err));
    return run_changes_find(c->in, c->params, &c->measured[CHECK_BASE],
                            &c->measured[CHECK_CANDIDATE], c->arena, &c->changes, err);
}

status analyse_check(const analysis_input *in, const params *p, arena *a, answer *out,
                     error *err) {
    check c = {.in = in, .params = p, .arena = a, .out = out};
    TRY(answer_begin("check", in->against ? in->against : in, a, out, err));
    TRY(find_rules(&c, err));
    TRY(measure(&c, err));
    TRY(judge_all(&c, err));
    TRY(write_tables(&c, err));
    rules_apply(rules, N_OF(rules), &c, &out->verdict);
    if (c.n_skipped) verdict_add(&out->verdict, arg_int("skipped", c.n_skipped));
    answer_finish(out, p);
    return OK;
}
