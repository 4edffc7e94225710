/* job_critical.c: the answer of `critical` about a job: which rank decides its steps, and with
 * what; how its stages compare; what a step is made of. */
#include "analyse/job/job.h"
#include "analyse/rules.h"
#include "analyse/run/summary_filter.h"
#include "base/message_ids_advice.h"
#include "base/num.h"

#define COL_R(name) COL(critical, ranks, name)
#define COL_S(name) COL(critical, stages, name)
#define COL_K(name) COL(critical, by_kind, name)
#define MATTERS 0.02 /* of the step */

static double share_of(int64_t part, int64_t all) {
    return all > 0 ? (double)part / (double)all : 0;
}

static str group_text(const job *j, const comm_group *g) {
    if (g->source == ABSENT_I64) return g->name;
    return arena_printf(j->arena, "%lld → %lld", (long long)g->source, (long long)g->target);
}

static status write_rank(const job *j, table *t, const job_cause *c, error *err) {
    size_t row;
    TRY(table_add_row(t, &row, err));
    if (c->group) {
        table_set_text(t, row, COL_R(group), group_text(j, c->group));
    } else {
        const summary_worker *w = j->who.v[c->worker];
        table_set_text(t, row, COL_R(worker), w->name);
        if (w->rank != ABSENT_I64) table_set_int(t, row, COL_R(rank), w->rank);
        if (w->host.n) table_set_text(t, row, COL_R(host), w->host);
        if (j->groups.n_stages > 1)
            table_set_int(t, row, COL_R(stage), j->groups.stage_of[c->worker]);
    }
    table_set_text(t, row, COL_R(part), job_part_name(c->part));
    table_set_int(t, row, COL_R(decided), c->decided);
    table_set_real(t, row, COL_R(share), share_of(c->decided, j->n_steps));
    table_set_int(t, row, COL_R(late), c->late);
    table_set_int(t, row, COL_R(steps), c->steps);
    table_set_int(t, row, COL_R(lost), c->lost);
    table_set_int(t, row, COL_R(step_after), c->step_after);
    return OK;
}

status job_write_ranks(const job *j, answer *out, error *err) {
    table *t = answer_table(out, j->arena, "ranks");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < j->n_causes; i++)
        if (j->causes[i].steps) TRY(write_rank(j, t, &j->causes[i], err));
    return OK;
}

status job_write_stages(const job *j, answer *out, error *err) {
    table *t = answer_table(out, j->arena, "stages");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t s = 0; j->n_steps && s < j->groups.n_stages; s++) {
        const job_stage *v = &j->stages[s];
        size_t row;
        TRY(table_add_row(t, &row, err));
        table_set_int(t, row, COL_S(stage), s);
        table_set_int(t, row, COL_S(ranks), v->ranks);
        table_set_int(t, row, COL_S(own), v->own);
        table_set_int(t, row, COL_S(compute), v->part[LATE_COMPUTE]);
        table_set_int(t, row, COL_S(communication), v->part[LATE_NETWORK]);
        table_set_int(t, row, COL_S(host), add_i64(v->part[LATE_HOST], v->part[LATE_MEMORY]));
        table_set_int(t, row, COL_S(data), v->part[LATE_DATA]);
        table_set_int(t, row, COL_S(waiting), v->waiting);
    }
    return OK;
}

static int64_t late_ns(const job *j) {
    int64_t after = j->n_causes ? j->causes[j->n_causes - 1].step_after : j->recorded;
    return max_i64(0, sub_i64(j->recorded, after));
}

static status add_kind(table *t, str kind, int64_t ns, int64_t all, error *err) {
    size_t row;
    if (ns <= 0) return OK;
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_K(kind), kind);
    table_set_int(t, row, COL_K(time), ns);
    table_set_real(t, row, COL_K(share), share_of(ns, all));
    return OK;
}

/* What the median step is made of; the rows add up to it. */
static status write_kinds(const job *j, answer *out, error *err) {
    table *t = answer_table(out, j->arena, "by_kind");
    int64_t left = j->recorded;
    if (!t) FAIL_MEMORY(err);
    if (!j->n_steps) return OK;
    int64_t late = min_i64(left, late_ns(j));
    TRY(add_kind(t, STR("late"), late, j->recorded, err));
    left = sub_i64(left, late);
    for (int k = 0; k < N_LATE; k++) {
        int64_t ns = min_i64(left, j->stages[j->longest].part[k]);
        TRY(add_kind(t, job_part_name((late_cause)k), ns, j->recorded, err));
        left = sub_i64(left, ns);
    }
    return add_kind(t, j->groups.n_stages > 1 ? STR("bubble") : STR("waiting"), left,
                    j->recorded, err);
}

/* ---- words ------------------------------------------------------------------------------- */

static const job_cause *first_cause(const job *j) {
    const job_cause *best = NULL;
    for (uint32_t i = 0; i < j->n_causes; i++)
        if (j->causes[i].decided && (!best || j->causes[i].decided > best->decided))
            best = &j->causes[i];
    return best;
}

static bool has_no_steps(const void *facts, verdict *v) {
    (void)v;
    return ((const job *)facts)->recorded <= 0;
}

static bool group_matters(const job *j) {
    const job_cause *c = first_cause(j);
    int64_t late = late_ns(j);
    return c && c->group && (double)late >= MATTERS * (double)j->recorded &&
           late >= job_stage_gain(j);
}

static bool is_rank(const void *facts, verdict *v) {
    const job *j = facts;
    const culprit *c = &j->culprit;
    if (!c->rank || (double)c->cost_ns < MATTERS * (double)c->step_ns ||
        c->cost_ns < job_stage_gain(j))
        return false;
    const summary_worker *w = j->who.v[c->rank->worker];
    verdict_add(v, w->rank != ABSENT_I64 ? arg_id("rank", w->rank) : arg_text("rank", w->name));
    verdict_add(v, arg_share("share", share_of(c->rank->steps, j->n_steps)));
    verdict_add(v, arg_text("part", job_part_name(c->rank->cause)));
    verdict_add(v, arg_time("late", c->cost_ns));
    verdict_add(v, arg_time("step", c->step_ns));
    return true;
}

static bool is_group(const void *facts, verdict *v) {
    const job *j = facts;
    if (!group_matters(j)) return false;
    verdict_add(v, arg_text("group", group_text(j, first_cause(j)->group)));
    const job_cause *c = first_cause(j);
    verdict_add(v, arg_share("share", share_of(c->decided, j->n_steps)));
    verdict_add(v, arg_text("part", job_part_name(c->part)));
    verdict_add(v, arg_time("late", c->late));
    verdict_add(v, arg_time("step", j->recorded));
    return true;
}

static bool is_stage(const void *facts, verdict *v) {
    const job *j = facts;
    int64_t gain = job_stage_gain(j);
    if ((double)gain < MATTERS * (double)j->recorded) return false;
    verdict_add(v, arg_id("stage", j->longest));
    verdict_add(v, arg_time("own", j->stages[j->longest].own));
    verdict_add(v, arg_time("step", j->recorded));
    verdict_add(v, arg_time("after", sub_i64(j->recorded, gain)));
    return true;
}

static bool is_even(const void *facts, verdict *v) {
    const job *j = facts;
    const int64_t *part = j->stages[j->longest].part;
    int64_t all = part[0]; /* the mean, where `recorded` is a typical step */
    int most = 0;
    for (int k = 1; k < N_LATE; k++) {
        all = add_i64(all, part[k]);
        if (part[k] > part[most]) most = k;
    }
    verdict_add(v, arg_int("ranks", j->who.n));
    verdict_add(v, arg_time("step", j->recorded));
    verdict_add(v, arg_text("part", job_part_name((late_cause)most)));
    verdict_add(v, arg_share("share", share_of(part[most], max_i64(all, j->recorded))));
    return true;
}

static const rule rules[] = {
    {"critical_no_steps", MSG_VERDICT_CRITICAL_NO_STEPS, SEVERITY_INFO, has_no_steps},
    {"critical_rank", MSG_VERDICT_CRITICAL_RANK, SEVERITY_CRITICAL, is_rank},
    {"critical_group", MSG_VERDICT_CRITICAL_GROUP, SEVERITY_CRITICAL, is_group},
    {"critical_stage", MSG_VERDICT_CRITICAL_STAGE, SEVERITY_WARNING, is_stage},
    {"critical_even", MSG_VERDICT_CRITICAL_EVEN, SEVERITY_GOOD, is_even},
};

static status add_pipeline_note(const job *j, answer *out, error *err) {
    verdict note = {.message = MSG_NOTE_JOB_PIPELINE};
    if (j->groups.n_stages < 2) return OK;
    verdict_add(&note, arg_int("stages", j->groups.n_stages));
    verdict_add(&note, arg_int("batches", j->micro));
    verdict_add(&note, arg_id("stage", j->longest));
    verdict_add(&note, arg_time("bubble", j->bubble));
    verdict_add(&note, arg_time("gain", job_stage_gain(j)));
    return answer_note(out, j->arena, &note, err);
}

status job_judge(const job *j, answer *out, error *err) {
    rules_apply(rules, sizeof rules / sizeof *rules, j, &out->verdict);
    return add_pipeline_note(j, out, err);
}

/* What the answer is based on. */
static status add_model_note(const job *j, answer *out, error *err) {
    verdict note = {.message = MSG_NOTE_JOB_SUMS};
    if (!j->n_steps) return OK;
    verdict_add(&note, arg_int("ranks", j->who.n));
    return answer_note(out, j->arena, &note, err);
}

status job_critical(const analysis_input *in, const params *p, arena *a, answer *out,
                    error *err) {
    job j;
    TRY(job_make(in, p, a, &j, err));
    TRY(job_write_ranks(&j, out, err));
    TRY(job_write_stages(&j, out, err));
    TRY(write_kinds(&j, out, err));
    TRY(job_judge(&j, out, err));
    TRY(add_model_note(&j, out, err));
    TRY(summary_filter_notes(in, p, j.s, a, out, err));
    answer_finish(out, p);
    return OK;
}
