/* job_replayed.c: the answer of `whatif` about a job whose ranks have whole traces: all of them
 * are replayed together. */
#include "analyse/job/job_changes.h"
#include "analyse/job/job_path.h"
#include "analyse/job/replayed_steps.h"
#include "analyse/rules.h"
#include "analyse/run/summary_filter.h"
#include "base/message_ids_advice.h"
#include "base/num.h"

typedef struct {
    arena *arena;
    answer *out;
    job job;
    job_graph graph;
    ranks_replay replay;
    replayed_steps steps;
} replayed;

static void run_replay(void *of, uint64_t changes, int64_t *out_ns) {
    replayed *w = of;
    ranks_replay_run(&w->replay, changes);
    for (uint32_t i = 0; i < w->graph.n_steps; i++)
        out_ns[i] = sub_i64(w->replay.end[i], w->replay.start[i]);
}

static str change_text(const void *of, uint32_t change) {
    return ((const replayed *)of)->replay.scenarios[0].v[change].text;
}

static void set_recording(void *of, double times) {
    replayed *w = of;
    for (uint32_t i = 0; i < w->graph.n_ranks; i++) w->replay.ranks[i].recording = times;
}

static status prepare(replayed *w, const params *p, error *err) {
    w->replay = (ranks_replay){.jg = &w->graph, .job = &w->job};
    TRY(job_changes_read(&w->replay, p, w->arena, err));
    TRY(ranks_replay_init(&w->replay, w->arena, err));
    TRY(replayed_steps_init(&w->steps, w->graph.n_steps, w->arena, err));
    w->steps.n_changes = w->replay.n_changes;
    w->steps.n_ranks = w->graph.n_ranks;
    for (uint32_t i = 0; i < w->graph.n_steps; i++) {
        w->steps.number[i] = w->graph.steps[i].number;
        w->steps.recorded_ns[i] = sub_i64(w->graph.steps[i].end_ns, w->graph.steps[i].start_ns);
    }
    return OK;
}

/* What a pattern touches on all ranks. */
static void set_matched(const void *of, row_whatif_whatif *row, uint32_t change) {
    const replayed *w = of;
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
        row->calls = calls;
        row->host_time = host;
    }
    row->kernels = kernels;
    row->device_time = device;
}

/* What the answer is based on. */
static status add_notes(const replayed *w, error *err) {
    verdict note = {.message = MSG_NOTE_WHATIF_RANKS};
    why_graph sum = {0};
    verdict_add(&note, arg_int("ranks", w->graph.n_ranks));
    verdict_add(&note, arg_int("meetings", w->graph.n_meetings));
    verdict_add(&note, arg_share("error", replayed_steps_error(&w->steps)));
    if (w->graph.n_alone) verdict_add(&note, arg_int("alone", w->graph.n_alone));
    TRY(answer_note(w->out, w->arena, &note, err));
    TRY(replayed_steps_note(&w->steps, w->arena, w->out, err));
    TRY(scenario_notes(&w->replay.scenarios[0], w->arena, w->out, err));
    for (uint32_t i = 0; i < w->graph.n_ranks; i++)
        why_assumed_add(&sum.assumed, &w->graph.ranks[i].graph.assumed);
    return why_graph_note(&sum, w->arena, w->out, err);
}

/* Ranks that are late, without a device: how much later they are than the others is known, but
 * not which of the host's calls would be shorter. */
static bool is_for_sums(const replayed *w) {
    const scenario *s = &w->replay.scenarios[0];
    for (uint32_t i = 0; i < w->graph.n_ranks; i++)
        if (w->graph.ranks[i].t->kernel.n > 1) return false;
    for (uint32_t c = 0; c < w->replay.n_changes; c++)
        if (s->v[c].kind != CHANGE_TO_LISTED) return false;
    return w->replay.n_changes > 0;
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
    step_replayer by = {w, run_replay, change_text, set_matched, set_recording, 0};
    TRY(prepare(w, p, err));
    if (is_for_sums(w)) return job_whatif(in, p, a, out, err);
    by.estimated = scenario_of_kind(&w->replay.scenarios[0], CHANGE_UNPROFILED);
    TRY(replayed_steps_write(&w->steps, &by, out, a, err));
    replayed_steps_judge(&w->steps, &out->verdict);
    TRY(add_notes(w, err));
    TRY(summary_filter_notes(in, p, w->job.s, a, out, err));
    answer_finish(out, p);
    return OK;
}
