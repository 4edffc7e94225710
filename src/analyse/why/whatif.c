/* whatif.c: how long a step would be if something were different.
 *
 * The recording is replayed on its graph (why_graph.h): first as it is, which says how far the
 * replay can be trusted; then with each change alone and with all together, since what two save
 * is seldom the sum. Lengths are medians of the steps, as everywhere. */
#include <math.h>

#include "analyse/replay/why_replay.h"
#include "analyse/rules.h"
#include "analyse/run/job.h"
#include "analyse/scan/lost_work.h"
#include "analyse/why/job_path.h"
#include "base/message_ids_advice.h"
#include "base/sort.h"

#define COL_W(name) COL(whatif, whatif, name)
#define COL_S(name) COL(whatif, steps, name)
#define INEXACT 0.05 /* a replay that is so far off is said first */
#define SAME 0.005

typedef struct {
    arena *arena;
    answer *out;
    step_spans spans;
    why_graph graph;
    scenario scenario;
    why_replay replay;
    int64_t *recorded_ns, *replayed_ns, *changed_ns; /* by step */
    sort_pair *pairs, *scratch;
    int64_t recorded, replayed, changed; /* medians */
} whatif;

static int64_t median_ns(whatif *w, const int64_t *ns) {
    uint32_t n = w->graph.n_steps;
    for (uint32_t i = 0; i < n; i++) w->pairs[i] = (sort_pair){(uint64_t)max_i64(0, ns[i]), i};
    sort_radix(w->pairs, w->scratch, n);
    return n ? (int64_t)w->pairs[(n - 1) / 2].key : 0;
}

static int64_t replay(whatif *w, uint64_t changes, int64_t *out) {
    why_replay_run(&w->replay, changes);
    for (uint32_t i = 0; i < w->graph.n_steps; i++) out[i] = why_replay_step_ns(&w->replay, i);
    return median_ns(w, out);
}

static status prepare(whatif *w, const trace *t, const params *p, error *err) {
    selection s;
    select_init(&s, t, p);
    TRY(step_spans_make(t, &s, w->arena, &w->spans, err));
    TRY(why_graph_make(t, &w->spans, w->arena, &w->graph, err));
    TRY(scenario_match(&w->scenario, &w->graph, w->arena, err));
    TRY(why_replay_init(&w->replay, &w->scenario, w->arena, err));
    size_t n = (size_t)w->graph.n_steps + 1;
    w->recorded_ns = ARENA_ARRAY(w->arena, int64_t, n);
    w->replayed_ns = ARENA_ARRAY(w->arena, int64_t, n);
    w->changed_ns = ARENA_ARRAY(w->arena, int64_t, n);
    w->pairs = ARENA_ARRAY(w->arena, sort_pair, n);
    w->scratch = ARENA_ARRAY(w->arena, sort_pair, n);
    if (!w->recorded_ns || !w->replayed_ns || !w->changed_ns || !w->pairs || !w->scratch)
        FAIL_MEMORY(err);
    for (uint32_t i = 0; i < w->graph.n_steps; i++)
        w->recorded_ns[i] = sub_i64(w->graph.steps[i].end_ns, w->graph.steps[i].start_ns);
    w->recorded = median_ns(w, w->recorded_ns);
    return OK;
}

/* ---- tables ------------------------------------------------------------------------------ */

static status add_row(whatif *w, table *t, str change, int64_t after, size_t *row, error *err) {
    TRY(table_add_row(t, row, err));
    table_set_text(t, *row, COL_W(change), change);
    if (!w->graph.n_steps) return OK;
    table_set_int(t, *row, COL_W(step_before), w->recorded);
    table_set_int(t, *row, COL_W(step_after), after);
    table_set_int(t, *row, COL_W(saves), sub_i64(w->recorded, after));
    if (w->recorded > 0)
        table_set_real(t, *row, COL_W(share),
                       (double)sub_i64(w->recorded, after) / (double)w->recorded);
    if (after > 0) table_set_real(t, *row, COL_W(speedup), (double)w->recorded / (double)after);
    return OK;
}

/* What a change touches, per step; a flag that is about all of the host touches no list. */
static void set_matched(const whatif *w, table *t, size_t row, const scenario_change *v) {
    bool patterns = v->pattern.n != 0 || v->kind == CHANGE_NO_DATA_WAIT ||
                    v->kind == CHANGE_NO_COMMUNICATION || v->kind == CHANGE_OVERLAP ||
                    v->kind == CHANGE_NETWORK || v->kind == CHANGE_BATCH;
    if (!patterns || !w->graph.n_steps) return;
    if (v->kind != CHANGE_TO_KERNEL && v->kind != CHANGE_BATCH) {
        table_set_int(t, row, COL_W(calls), v->calls);
        table_set_int(t, row, COL_W(host_time), v->host_ns);
    }
    if (v->kind == CHANGE_NO_DATA_WAIT) return;
    table_set_int(t, row, COL_W(kernels), v->kernels);
    table_set_int(t, row, COL_W(device_time), v->device_ns);
}

static status write_changes(whatif *w, error *err) {
    table *t = answer_table(w->out, w->arena, "whatif");
    const scenario *s = &w->scenario;
    size_t row;
    if (!t) FAIL_MEMORY(err);
    w->replayed = replay(w, 0, w->replayed_ns);
    TRY(add_row(w, t, STR("replay"), w->replayed, &row, err));
    w->changed = w->replayed;
    for (uint32_t c = 0; c < s->n; c++) {
        w->changed = replay(w, (uint64_t)1 << c, w->changed_ns);
        TRY(add_row(w, t, s->v[c].text, w->changed, &row, err));
        set_matched(w, t, row, &s->v[c]);
    }
    if (s->n <= 1) return OK; /* a single change is all of them */
    w->changed = replay(w, ALL_CHANGES, w->changed_ns);
    return add_row(w, t, STR("all"), w->changed, &row, err);
}

static status write_steps(whatif *w, error *err) {
    table *t = answer_table(w->out, w->arena, "steps");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < w->graph.n_steps; i++) {
        size_t row;
        TRY(table_add_row(t, &row, err));
        table_set_int(t, row, COL_S(step), w->graph.steps[i].number);
        table_set_int(t, row, COL_S(recorded), w->recorded_ns[i]);
        table_set_int(t, row, COL_S(replayed), w->replayed_ns[i]);
        if (w->scenario.n) table_set_int(t, row, COL_S(whatif), w->changed_ns[i]);
    }
    return OK;
}

/* ---- words ------------------------------------------------------------------------------- */

static double replay_error(const whatif *w) {
    double most = 0;
    for (uint32_t i = 0; i < w->graph.n_steps; i++)
        if (w->recorded_ns[i] > 0)
            most = fmax(most, fabs((double)w->replayed_ns[i] / (double)w->recorded_ns[i] - 1));
    return most;
}

static void add_lengths(const whatif *w, verdict *v) {
    verdict_add(v, arg_time("after", w->scenario.n ? w->changed : w->replayed));
    verdict_add(v, arg_time("before", w->recorded));
    if (w->changed > 0)
        verdict_add(v, arg_real("times", (double)w->recorded / (double)w->changed));
    verdict_add(v, arg_share("error", replay_error(w)));
}

static bool has_no_steps(const void *facts, verdict *v) {
    const whatif *w = facts;
    (void)v;
    return !w->graph.n_steps || w->recorded <= 0;
}

static bool is_inexact(const void *facts, verdict *v) {
    const whatif *w = facts;
    if (replay_error(w) <= INEXACT) return false;
    add_lengths(w, v);
    return true;
}

static bool is_plain(const void *facts, verdict *v) {
    const whatif *w = facts;
    if (w->scenario.n) return false;
    add_lengths(w, v);
    return true;
}

static bool is_same(const void *facts, verdict *v) {
    const whatif *w = facts;
    double change = (double)w->changed / (double)w->recorded - 1;
    if (fabs(change) > SAME) return false;
    add_lengths(w, v);
    return true;
}

static bool is_shorter(const void *facts, verdict *v) {
    const whatif *w = facts;
    if (w->changed > w->recorded) return false;
    add_lengths(w, v);
    return true;
}

static bool is_longer(const void *facts, verdict *v) {
    const whatif *w = facts;
    add_lengths(w, v);
    verdict_add(v, arg_share("share", (double)w->changed / (double)w->recorded - 1));
    return true;
}

static const rule rules[] = {
    {"whatif_no_steps", MSG_VERDICT_WHATIF_NO_STEPS, SEVERITY_INFO, has_no_steps},
    {"whatif_inexact", MSG_VERDICT_WHATIF_INEXACT, SEVERITY_WARNING, is_inexact},
    {"whatif_replay", MSG_VERDICT_WHATIF_REPLAY, SEVERITY_GOOD, is_plain},
    {"whatif_same", MSG_VERDICT_WHATIF_SAME, SEVERITY_INFO, is_same},
    {"whatif_shorter", MSG_VERDICT_WHATIF_SHORTER, SEVERITY_INFO, is_shorter},
    {"whatif_longer", MSG_VERDICT_WHATIF_LONGER, SEVERITY_INFO, is_longer},
};

/* How far the replay without a change is from the recording: all else is at best as good. */
static status add_error_note(const whatif *w, answer *out, error *err) {
    verdict note = {.message = MSG_NOTE_WHATIF_ERROR};
    if (!w->graph.n_steps) return OK;
    verdict_add(&note, arg_share("error", replay_error(w)));
    return answer_note(out, w->arena, &note, err);
}

/* One worker cannot tell what the others would do. */
static status refuse_job_changes(const params *p, error *err) {
    static const char *const of_job[] = {"no_stragglers", "balance_stages", "no_bubbles"};
    for (size_t i = 0; i < N_OF(of_job); i++)
        if (param_flag(p, str_of(of_job[i])))
            FAIL(err, ERR_ARG, NOPOS, MSG_WHATIF_OF_JOB,
                 arg_text("text", param_written(p, str_of(of_job[i]))));
    if (param_text(p, STR("rank")).n)
        FAIL(err, ERR_ARG, NOPOS, MSG_WHATIF_OF_JOB,
             arg_text("text", param_written(p, STR("rank"))));
    return OK;
}

status analyse_whatif(const analysis_input *in, const params *p, arena *a, answer *out,
                      error *err) {
    const trace *t = in->traces[0].trace;
    whatif w = {.arena = a, .out = out};
    TRY(answer_begin("whatif", in, a, out, err));
    if (job_is_meant(in)) return job_path_whatif(in, p, a, out, err);
    TRY(refuse_job_changes(p, err));
    TRY(scenario_read(p, a, &w.scenario, err));
    TRY(trace_require(t, SCENARIO_TABLES, err));
    TRY(prepare(&w, t, p, err));
    TRY(write_changes(&w, err));
    TRY(write_steps(&w, err));
    bool lost = false;
    TRY(lost_work_judge(t, a, out, &lost, err));
    if (!lost) rules_apply(rules, N_OF(rules), &w, &out->verdict);
    TRY(add_error_note(&w, out, err));
    TRY(scenario_notes(&w.scenario, a, out, err));
    TRY(why_graph_note(&w.graph, a, out, err));
    answer_finish(out, p);
    return OK;
}
