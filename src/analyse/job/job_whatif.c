/* job_whatif.c: the answer of `whatif` about a job: how long its step would be if no rank were
 * late, one rank were repaired, the network were faster, the stages were balanced.
 *
 * What needs the events of a rank (kernels, operators, launches) cannot be asked about
 * summaries and is refused. */
#include <math.h>

#include "analyse/job/job.h"
#include "analyse/rules.h"
#include "analyse/run/summary_filter.h"
#include "base/message_ids_advice.h"
#include "base/num.h"

#define COL_W(name) COL(whatif, whatif, name)
#define COL_S(name) COL(whatif, steps, name)
#define SAME 0.005

enum { MOST_JOB_CHANGES = 40 };

typedef struct {
    str text;
    job_change change;
} named_change;

typedef struct {
    const params *params;
    arena *arena;
    answer *out;
    job job;
    named_change v[MOST_JOB_CHANGES];
    uint32_t n;
    int64_t changed;
    int64_t *by_step;
} job_question;

/* ---- words ------------------------------------------------------------------------------- */

static named_change *add_change(job_question *q, str text) {
    named_change *c = &q->v[q->n++];
    *c = (named_change){text, JOB_AS_RECORDED};
    return c;
}

static status read_flags(job_question *q) {
    const params *p = q->params;
    if (param_flag(p, STR("no_stragglers")))
        add_change(q, STR("no_stragglers"))->change.no_stragglers = true;
    if (param_flag(p, STR("balance_stages")))
        add_change(q, STR("balance_stages"))->change.balance_stages = true;
    if (param_flag(p, STR("no_bubbles")))
        add_change(q, STR("no_bubbles"))->change.no_bubbles = true;
    if (param_flag(p, STR("no_data_wait")))
        add_change(q, STR("no_data_wait"))->change.part[LATE_DATA] = 0;
    if (param_flag(p, STR("no_communication")))
        add_change(q, STR("no_communication"))->change.part[LATE_NETWORK] = 0;
    if (param_flag(p, STR("overlap_communication")))
        add_change(q, STR("overlap_communication"))->change.part[LATE_NETWORK] = 0;
    return OK;
}

/* bandwidth=2 or 2: summaries know what transfers took, not what of it was latency. */
static status read_network(job_question *q, error *err) {
    str text = param_text(q->params, STR("network")), value = text;
    double times;
    if (!text.n) return OK;
    if (str_starts(value, STR("bandwidth="))) value = str_from(value, 10);
    if (!str_to_f64(str_trim(value), &times) || times <= 0 || times > 1e6)
        FAIL(err, ERR_ARG, NOPOS, MSG_WHATIF_BAD_JOB_NETWORK, arg_text("text", text));
    str shown = arena_printf(q->arena, "network %.*s", STR_ARG(text));
    if (!shown.p) FAIL_MEMORY(err);
    add_change(q, shown)->change.part[LATE_NETWORK] = 1 / times;
    return OK;
}

static uint32_t find_rank(const job *j, int64_t rank) {
    for (uint32_t i = 0; i < j->who.n; i++)
        if (j->who.v[i]->rank == rank) return i;
    return UINT32_MAX;
}

status job_read_rank(const job *j, str text, uint32_t *worker, double *factor, error *err) {
    size_t equal = str_find(text, STR("="), 0);
    str number = equal == SIZE_MAX ? text : str_n(text.p, equal);
    int64_t rank;
    *factor = -1;
    bool reads = str_to_i64(str_trim(number), &rank);
    if (reads && equal != SIZE_MAX)
        reads = str_to_f64(str_trim(str_from(text, equal + 1)), factor) && *factor >= 0 &&
                *factor <= 1e6;
    *worker = reads ? find_rank(j, rank) : UINT32_MAX;
    if (*worker == UINT32_MAX)
        FAIL(err, ERR_ARG, NOPOS, MSG_WHATIF_BAD_RANK, arg_text("text", text));
    return OK;
}

static status read_rank(job_question *q, str text, error *err) {
    uint32_t place;
    double factor;
    TRY(job_read_rank(&q->job, text, &place, &factor, err));
    str shown = arena_printf(q->arena, "rank %.*s", STR_ARG(text));
    double *by_worker = ARENA_ARRAY(q->arena, double, (size_t)q->job.who.n + 1);
    if (!shown.p || !by_worker) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->job.who.n; i++) by_worker[i] = 1;
    by_worker[place] = factor;
    add_change(q, shown)->change.rank = by_worker;
    return OK;
}

static status read_changes(job_question *q, error *err) {
    static const char *const of_one[] = {"scale",      "remove", "no_launch_cost", "no_sync",
                                         "cuda_graph", "batch",  "unprofiled"};
    const params *p = q->params;
    for (size_t i = 0; i < sizeof of_one / sizeof *of_one; i++) {
        str name = str_of(of_one[i]);
        if (param_flag(p, name) || (i < 2 || i == 5 ? param_text(p, name).n != 0 : false))
            FAIL(err, ERR_ARG, NOPOS, MSG_WHATIF_OF_ONE,
                 arg_text("text", param_written(p, name)));
    }
    TRY(read_flags(q));
    TRY(read_network(q, err));
    for (uint32_t i = 0; i < p->n_extra; i++)
        if (str_eq(p->extra[i].name, STR("rank"))) TRY(read_rank(q, p->extra[i].value, err));
    return OK;
}

/* All of them at once. */
static status join_changes(const job_question *q, job_change *all, error *err) {
    *all = JOB_AS_RECORDED;
    for (uint32_t c = 0; c < q->n; c++) {
        const job_change *one = &q->v[c].change;
        for (int k = 0; k < N_LATE; k++) all->part[k] *= one->part[k];
        all->no_stragglers |= one->no_stragglers;
        all->balance_stages |= one->balance_stages;
        all->no_bubbles |= one->no_bubbles;
        if (!one->rank) continue;
        if (!all->rank) {
            all->rank = ARENA_ARRAY(q->arena, double, (size_t)q->job.who.n + 1);
            if (!all->rank) FAIL_MEMORY(err);
            for (uint32_t i = 0; i < q->job.who.n; i++) all->rank[i] = 1;
        }
        for (uint32_t i = 0; i < q->job.who.n; i++)
            if (one->rank[i] < 1 || one->rank[i] > 1) all->rank[i] = one->rank[i];
    }
    return OK;
}

/* ---- tables ------------------------------------------------------------------------------ */

static status add_row(const job_question *q, table *t, str change, int64_t after, error *err) {
    int64_t before = q->job.recorded;
    size_t row;
    TRY(table_add_row(t, &row, err));
    table_set_text(t, row, COL_W(change), change);
    if (!q->job.n_steps) return OK;
    table_set_int(t, row, COL_W(step_before), before);
    table_set_int(t, row, COL_W(step_after), after);
    table_set_int(t, row, COL_W(saves), sub_i64(before, after));
    if (before > 0)
        table_set_real(t, row, COL_W(share), (double)sub_i64(before, after) / (double)before);
    if (after > 0) table_set_real(t, row, COL_W(speedup), (double)before / (double)after);
    return OK;
}

static status write_changes(job_question *q, error *err) {
    table *t = answer_table(q->out, q->arena, "whatif");
    job_change all;
    q->by_step = ARENA_ARRAY(q->arena, int64_t, (size_t)q->job.n_steps + 1);
    if (!t || !q->by_step) FAIL_MEMORY(err);
    TRY(join_changes(q, &all, err));
    job_change as_recorded = JOB_AS_RECORDED;
    TRY(add_row(q, t, STR("replay"), job_replay(&q->job, &as_recorded, NULL), err));
    for (uint32_t c = 0; c < q->n; c++)
        TRY(add_row(q, t, q->v[c].text, job_replay(&q->job, &q->v[c].change, NULL), err));
    q->changed = job_replay(&q->job, &all, q->by_step);
    return q->n > 1 ? add_row(q, t, STR("all"), q->changed, err) : OK;
}

static status write_steps(const job_question *q, error *err) {
    table *t = answer_table(q->out, q->arena, "steps");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->job.n_steps; i++) {
        size_t row;
        TRY(table_add_row(t, &row, err));
        table_set_int(t, row, COL_S(step), q->job.number[i]);
        table_set_int(t, row, COL_S(recorded), q->job.step_ns[i]);
        table_set_int(t, row, COL_S(replayed), q->job.step_ns[i]);
        if (q->n) table_set_int(t, row, COL_S(whatif), q->by_step[i]);
    }
    return OK;
}

/* ---- the answer -------------------------------------------------------------------------- */

static void add_lengths(const job_question *q, verdict *v) {
    verdict_add(v, arg_time("after", q->changed));
    verdict_add(v, arg_time("before", q->job.recorded));
    if (q->changed > 0)
        verdict_add(v, arg_real("times", (double)q->job.recorded / (double)q->changed));
}

static bool has_no_steps(const void *facts, verdict *v) {
    (void)v;
    return ((const job_question *)facts)->job.recorded <= 0;
}

static bool is_plain(const void *facts, verdict *v) {
    const job_question *q = facts;
    if (q->n) return false;
    verdict_add(v, arg_time("before", q->job.recorded));
    verdict_add(v, arg_int("ranks", q->job.who.n));
    return true;
}

static bool is_same(const void *facts, verdict *v) {
    const job_question *q = facts;
    if (fabs((double)q->changed / (double)q->job.recorded - 1) > SAME) return false;
    add_lengths(q, v);
    return true;
}

static bool is_shorter(const void *facts, verdict *v) {
    const job_question *q = facts;
    if (q->changed > q->job.recorded) return false;
    add_lengths(q, v);
    return true;
}

static bool is_longer(const void *facts, verdict *v) {
    const job_question *q = facts;
    add_lengths(q, v);
    verdict_add(v, arg_share("share", (double)q->changed / (double)q->job.recorded - 1));
    return true;
}

static const rule rules[] = {
    {"whatif_no_steps", MSG_VERDICT_WHATIF_NO_STEPS, SEVERITY_INFO, has_no_steps},
    {"whatif_job", MSG_VERDICT_WHATIF_JOB, SEVERITY_INFO, is_plain},
    {"whatif_same", MSG_VERDICT_WHATIF_SAME, SEVERITY_INFO, is_same},
    {"whatif_shorter", MSG_VERDICT_WHATIF_SHORTER, SEVERITY_INFO, is_shorter},
    {"whatif_longer", MSG_VERDICT_WHATIF_LONGER, SEVERITY_INFO, is_longer},
};

static status add_model_note(const job_question *q, error *err) {
    verdict note = {.message = MSG_NOTE_WHATIF_JOB};
    verdict_add(&note, arg_int("ranks", q->job.who.n));
    return answer_note(q->out, q->arena, &note, err);
}

status job_whatif(const analysis_input *in, const params *p, arena *a, answer *out,
                  error *err) {
    job_question *q = ARENA_NEW(a, job_question);
    if (!q) FAIL_MEMORY(err);
    *q = (job_question){.params = p, .arena = a, .out = out};
    TRY(job_make(in, p, a, &q->job, err));
    TRY(read_changes(q, err));
    TRY(write_changes(q, err));
    TRY(write_steps(q, err));
    rules_apply(rules, sizeof rules / sizeof *rules, q, &out->verdict);
    TRY(add_model_note(q, err));
    TRY(summary_filter_notes(in, p, q->job.s, a, out, err));
    answer_finish(out, p);
    return OK;
}
