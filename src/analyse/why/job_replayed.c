/* job_replayed.c: the answer of `whatif` about a job whose ranks have whole traces: all of them are
 * replayed together. Lengths are medians of the steps, as everywhere. */
#include <math.h>

#include "analyse/rules.h"
#include "analyse/run/summary_filter.h"
#include "analyse/why/job_changes.h"
#include "analyse/why/job_path.h"
#include "base/message_ids_advice.h"
#include "base/num.h"
#include "base/sort.h"

#define COL_W(name) COL(whatif, whatif, name)
#define COL_S(name) COL(whatif, steps, name)
#define INEXACT 0.05 /* a replay that is so far off is said first */
#define SAME 0.005

typedef struct {
    arena *arena;
    answer *out;
    job job;
    job_graph graph;
    ranks_replay replay;
    int64_t *recorded_ns, *replayed_ns, *changed_ns; /* by step */
    sort_pair *pairs, *scratch;
    int64_t recorded, replayed, changed; /* medians */
} replayed;

static int64_t median_ns(const replayed *w, const int64_t *ns) {
    uint32_t n = w->graph.n_steps;
    for (uint32_t i = 0; i < n; i++) w->pairs[i] = (sort_pair){(uint64_t)max_i64(0, ns[i]), i};
    sort_radix(w->pairs, w->scratch, n);
    return n ? (int64_t)w->pairs[(n - 1) / 2].key : 0;
}

static int64_t replay(replayed *w, uint64_t changes, int64_t *out) {
    ranks_replay_run(&w->replay, changes);
    for (uint32_t i = 0; i < w->graph.n_steps; i++)
        out[i] = sub_i64(w->replay.end[i], w->replay.start[i]);
    return median_ns(w, out);
}

static status prepare(replayed *w, const params *p, error *err) {
    size_t n = (size_t)w->graph.n_steps + 1;
    w->replay = (ranks_replay){.jg = &w->graph, .job = &w->job};
    TRY(job_changes_read(&w->replay, p, w->arena, err));
    TRY(ranks_replay_init(&w->replay, w->arena, err));
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

static status add_row(const replayed *w, table *t, str change, int64_t after, size_t *row,
                      error *err) {
    double before = (double)w->recorded;
    TRY(table_add_row(t, row, err));
    table_set_text(t, *row, COL_W(change), change);
    table_set_int(t, *row, COL_W(step_before), w->recorded);
    table_set_int(t, *row, COL_W(step_after), after);
    table_set_int(t, *row, COL_W(saves), sub_i64(w->recorded, after));
    if (w->recorded > 0)
        table_set_real(t, *row, COL_W(share), (before - (double)after) / before);
    if (after > 0) table_set_real(t, *row, COL_W(speedup), before / (double)after);
    return OK;
}

/* What a pattern touches on all ranks. */
static void set_matched(const replayed *w, table *t, size_t row, uint32_t change) {
    const scenario *s = w->replay.scenarios;
    int64_t calls = 0, kernels = 0, host = 0, device = 0;
    if (!s[0].v[change].pattern.n) return;
    for (uint32_t i = 0; i < w->graph.n_ranks; i++) {
        const scenario_change *v = &s[i].v[change];
        calls = add_i64(calls, v->calls);
        kernels = add_i64(kernels, v->kernels);
        host = add_i64(host, v->host_ns);
        device = add_i64(device, v->device_ns);
    }
    if (s[0].v[change].kind != CHANGE_TO_KERNEL) {
        table_set_int(t, row, COL_W(calls), calls);
        table_set_int(t, row, COL_W(host_time), host);
    }
    table_set_int(t, row, COL_W(kernels), kernels);
    table_set_int(t, row, COL_W(device_time), device);
}

static status write_changes(replayed *w, error *err) {
    table *t = answer_table(w->out, w->arena, "whatif");
    size_t row;
    if (!t) FAIL_MEMORY(err);
    w->replayed = replay(w, 0, w->replayed_ns);
    w->changed = w->replayed;
    TRY(add_row(w, t, STR("replay"), w->replayed, &row, err));
    for (uint32_t c = 0; c < w->replay.n_changes; c++) {
        w->changed = replay(w, (uint64_t)1 << c, w->changed_ns);
        TRY(add_row(w, t, w->replay.scenarios[0].v[c].text, w->changed, &row, err));
        set_matched(w, t, row, c);
    }
    if (w->replay.n_changes <= 1) return OK; /* a single change is all of them */
    w->changed = replay(w, ALL_CHANGES, w->changed_ns);
    return add_row(w, t, STR("all"), w->changed, &row, err);
}

static status write_steps(const replayed *w, error *err) {
    table *t = answer_table(w->out, w->arena, "steps");
    if (!t) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < w->graph.n_steps; i++) {
        size_t row;
        TRY(table_add_row(t, &row, err));
        table_set_int(t, row, COL_S(step), w->graph.steps[i].number);
        table_set_int(t, row, COL_S(recorded), w->recorded_ns[i]);
        table_set_int(t, row, COL_S(replayed), w->replayed_ns[i]);
        if (w->replay.n_changes) table_set_int(t, row, COL_S(whatif), w->changed_ns[i]);
    }
    return OK;
}

/* ---- words ------------------------------------------------------------------------------- */

static double replay_error(const replayed *w) {
    double most = 0;
    for (uint32_t i = 0; i < w->graph.n_steps; i++)
        if (w->recorded_ns[i] > 0)
            most = fmax(most, fabs((double)w->replayed_ns[i] / (double)w->recorded_ns[i] - 1));
    return most;
}

static void add_lengths(const replayed *w, verdict *v) {
    verdict_add(v, arg_time("after", w->changed));
    verdict_add(v, arg_time("before", w->recorded));
    if (w->changed > 0)
        verdict_add(v, arg_real("times", (double)w->recorded / (double)w->changed));
    verdict_add(v, arg_share("error", replay_error(w)));
}

static bool has_no_steps(const void *facts, verdict *v) {
    (void)v;
    return ((const replayed *)facts)->recorded <= 0;
}

static bool is_inexact(const void *facts, verdict *v) {
    const replayed *w = facts;
    if (replay_error(w) <= INEXACT) return false;
    add_lengths(w, v);
    return true;
}

static bool is_plain(const void *facts, verdict *v) {
    const replayed *w = facts;
    if (w->replay.n_changes) return false;
    verdict_add(v, arg_time("before", w->recorded));
    verdict_add(v, arg_int("ranks", w->graph.n_ranks));
    return true;
}

static bool is_same(const void *facts, verdict *v) {
    const replayed *w = facts;
    if (fabs((double)w->changed / (double)w->recorded - 1) > SAME) return false;
    add_lengths(w, v);
    return true;
}

static bool is_shorter(const void *facts, verdict *v) {
    const replayed *w = facts;
    if (w->changed > w->recorded) return false;
    add_lengths(w, v);
    return true;
}

static bool is_longer(const void *facts, verdict *v) {
    const replayed *w = facts;
    add_lengths(w, v);
    verdict_add(v, arg_share("share", (double)w->changed / (double)w->recorded - 1));
    return true;
}

static const rule rules[] = {
    {"whatif_no_steps", MSG_VERDICT_WHATIF_NO_STEPS, SEVERITY_INFO, has_no_steps},
    {"whatif_inexact", MSG_VERDICT_WHATIF_INEXACT, SEVERITY_WARNING, is_inexact},
    {"whatif_job", MSG_VERDICT_WHATIF_JOB, SEVERITY_INFO, is_plain},
    {"whatif_same", MSG_VERDICT_WHATIF_SAME, SEVERITY_INFO, is_same},
    {"whatif_shorter", MSG_VERDICT_WHATIF_SHORTER, SEVERITY_INFO, is_shorter},
    {"whatif_longer", MSG_VERDICT_WHATIF_LONGER, SEVERITY_INFO, is_longer},
};

/* What the answer rests on. */
static status add_notes(const replayed *w, error *err) {
    verdict note = {.message = MSG_NOTE_WHATIF_RANKS};
    why_graph sum = {0};
    verdict_add(&note, arg_int("ranks", w->graph.n_ranks));
    verdict_add(&note, arg_int("meetings", w->graph.n_meetings));
    verdict_add(&note, arg_share("error", replay_error(w)));
    if (w->graph.n_alone) verdict_add(&note, arg_int("alone", w->graph.n_alone));
    TRY(answer_note(w->out, w->arena, &note, err));
    TRY(scenario_notes(&w->replay.scenarios[0], w->arena, w->out, err));
    for (uint32_t i = 0; i < w->graph.n_ranks; i++)
        why_assumed_add(&sum.assumed, &w->graph.ranks[i].graph.assumed);
    return why_graph_note(&sum, w->arena, w->out, err);
}

status job_path_whatif(const analysis_input *in, const params *p, arena *a, answer *out,
                       error *err) {
    if (!job_graph_is_possible(in)) return job_whatif(in, p, a, out, err);
    replayed *w = ARENA_NEW(a, replayed);
    if (!w) FAIL_MEMORY(err);
    *w = (replayed){.arena = a, .out = out};
    TRY(job_make(in, p, a, &w->job, err));
    TRY(job_graph_make(in, p, &w->job, a, &w->graph, err));
    if (!w->graph.n_meetings || !w->graph.n_steps) return job_whatif(in, p, a, out, err);
    TRY(prepare(w, p, err));
    TRY(write_changes(w, err));
    TRY(write_steps(w, err));
    rules_apply(rules, N_OF(rules), w, &out->verdict);
    TRY(add_notes(w, err));
    TRY(summary_filter_notes(in, p, w->job.s, a, out, err));
    answer_finish(out, p);
    return OK;
}
