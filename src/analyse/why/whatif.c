/* whatif.c: how long a step would be if something were different.
 *
 * The recording is replayed on its graph (why_graph.h): first as it is, which says how far the
 * replay can be trusted; then with each change alone and with all together, since what two save
 * is seldom the sum. */
#include "analyse/job/job.h"
#include "analyse/job/job_path.h"
#include "analyse/job/replayed_steps.h"
#include "analyse/replay/unprofiled_step.h"
#include "analyse/replay/why_replay.h"
#include "analyse/rules.h"
#include "analyse/steps/lost_work.h"
#include "base/message_ids_advice.h"

typedef struct {
    arena *arena;
    step_spans spans;
    why_graph graph;
    scenario scenario;
    why_replay replay;
    replayed_steps steps;
} whatif;

static void run_replay(void *of, uint64_t changes, int64_t *out_ns) {
    whatif *w = of;
    why_replay_run(&w->replay, changes);
    for (uint32_t i = 0; i < w->graph.n_steps; i++)
        out_ns[i] = why_replay_step_ns(&w->replay, i);
}

static str change_text(const void *of, uint32_t change) {
    return ((const whatif *)of)->scenario.v[change].text;
}

static void set_recording(void *of, double times) {
    ((whatif *)of)->replay.recording = times;
}

static status prepare(whatif *w, const trace *t, const params *p, error *err) {
    selection s;
    select_init(&s, t, p);
    TRY(step_spans_make(t, &s, w->arena, &w->spans, err));
    TRY(why_graph_make(t, &w->spans, w->arena, &w->graph, err));
    TRY(scenario_match(&w->scenario, &w->graph, w->arena, err));
    TRY(why_replay_init(&w->replay, &w->scenario, w->arena, err));
    TRY(replayed_steps_init(&w->steps, w->graph.n_steps, w->arena, err));
    w->steps.n_changes = w->scenario.n;
    for (uint32_t i = 0; i < w->graph.n_steps; i++) {
        w->steps.number[i] = w->graph.steps[i].number;
        w->steps.recorded_ns[i] = sub_i64(w->graph.steps[i].end_ns, w->graph.steps[i].start_ns);
    }
    return OK;
}

/* What a change touches, per step; a flag that is about all of the host touches no list. */
static void set_matched(const void *of, row_whatif_whatif *row, uint32_t change) {
    const whatif *w = of;
    const scenario_change *v = &w->scenario.v[change];
    bool patterns = v->pattern.n != 0 || v->kind == CHANGE_NO_DATA_WAIT ||
                    v->kind == CHANGE_NO_COMMUNICATION || v->kind == CHANGE_OVERLAP ||
                    v->kind == CHANGE_NETWORK || v->kind == CHANGE_BATCH;
    if (!patterns || !w->graph.n_steps) return;
    if (v->kind != CHANGE_TO_KERNEL && v->kind != CHANGE_BATCH) {
        row->calls = v->calls;
        row->host_time = v->host_ns;
    }
    if (v->kind == CHANGE_NO_DATA_WAIT) return;
    row->kernels = v->kernels;
    row->device_time = v->device_ns;
}

/* How far the replay without a change is from the recording: all else is at best as good. */
static status add_error_note(const whatif *w, answer *out, error *err) {
    verdict note = {.message = MSG_NOTE_WHATIF_ERROR};
    if (!w->graph.n_steps) return OK;
    verdict_add(&note, arg_share("error", replayed_steps_error(&w->steps)));
    return answer_note(out, w->arena, &note, err);
}

/* Other changes are of the step as recorded, which is shorter without the profiler. */
static status add_unprofiled_note(const whatif *w, answer *out, error *err) {
    unprofiled_step bare;
    if (scenario_of_kind(&w->scenario, CHANGE_UNPROFILED)) return OK;
    TRY(unprofiled_step_find(&w->graph, &w->spans, w->arena, &bare, err));
    return unprofiled_step_note(&bare, false, w->arena, out, err);
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
    whatif w = {.arena = a};
    step_replayer by = {&w, run_replay, change_text, set_matched, set_recording, 0};
    TRY(answer_begin("whatif", in, a, out, err));
    if (job_is_meant(in)) return job_path_whatif(in, p, a, out, err);
    TRY(refuse_job_changes(p, err));
    TRY(scenario_read(p, a, &w.scenario, err));
    TRY(trace_require(t, SCENARIO_TABLES, err));
    TRY(prepare(&w, t, p, err));
    by.estimated = scenario_of_kind(&w.scenario, CHANGE_UNPROFILED);
    TRY(replayed_steps_write(&w.steps, &by, out, a, err));
    bool lost = false;
    TRY(lost_work_judge(t, a, out, &lost, err));
    if (!lost) replayed_steps_judge(&w.steps, &out->verdict);
    TRY(add_error_note(&w, out, err));
    TRY(replayed_steps_note(&w.steps, a, out, err));
    TRY(add_unprofiled_note(&w, out, err));
    TRY(scenario_notes(&w.scenario, a, out, err));
    TRY(why_graph_note(&w.graph, a, out, err));
    answer_finish(out, p);
    return OK;
}
