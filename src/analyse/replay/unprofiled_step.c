/* unprofiled_step.c: the replay without the cost of recording, with the least and the most that
 * it may have been. */
#include "analyse/replay/unprofiled_step.h"

#include "analyse/replay/typical_step.h"
#include "analyse/replay/why_replay.h"
#include "analyse/rules.h"
#include "base/message_ids_advice.h"
#include "store/traits.h"

#define INEXACT 0.05    /* a replay that is so far off says nothing about a change */
#define MATTERS 0.05    /* of the recorded step; less is within what steps differ by */
#define LONG_STEPS 1.25 /* a mean above the median by this factor comes from long steps */
#define SHORT_STEPS 0.95 /* below it, from short ones: the mean step has no more to save */
enum { FEW_STEPS = 3 };

typedef struct {
    const why_graph *g;
    why_replay replay;
    int64_t *ns; /* by step */
    sort_pair *pairs, *scratch;
} estimator;

bool unprofiled_step_applies(const trace *t) {
    return trace_has(t, TRAIT_KNOWN_COST);
}

static bool has_launches(const why_graph *g) {
    for (uint32_t i = 1; i < g->first_mark; i++)
        if (g->points[i].kind == POINT_LAUNCH) return true;
    return false;
}

static typical_step recorded_of(const estimator *e) {
    const why_graph *g = e->g;
    for (uint32_t i = 0; i < g->n_steps; i++)
        e->ns[i] = sub_i64(g->steps[i].end_ns, g->steps[i].start_ns);
    return typical_step_of(e->ns, g->n_steps, e->pairs, e->scratch);
}

static typical_step replay_of(estimator *e, uint64_t changes, double recording) {
    e->replay.recording = recording;
    why_replay_run(&e->replay, changes);
    for (uint32_t i = 0; i < e->g->n_steps; i++) e->ns[i] = why_replay_step_ns(&e->replay, i);
    return typical_step_of(e->ns, e->g->n_steps, e->pairs, e->scratch);
}

static status estimator_init(estimator *e, scenario *s, arena *a, error *err) {
    size_t n = (size_t)e->g->n_steps + 1;
    e->ns = ARENA_ARRAY(a, int64_t, n);
    e->pairs = ARENA_ARRAY(a, sort_pair, n);
    e->scratch = ARENA_ARRAY(a, sort_pair, n);
    if (!e->ns || !e->pairs || !e->scratch) FAIL_MEMORY(err);
    s->v[s->n++] = (scenario_change){.kind = CHANGE_UNPROFILED};
    TRY(scenario_match(s, e->g, a, err));
    return why_replay_init(&e->replay, s, a, err);
}

static void estimate(estimator *e, unprofiled_step *out) {
    typical_step recorded = recorded_of(e), same = replay_of(e, 0, 1);
    if (recorded.mean <= 0 || lengths_differ(same.mean, recorded.mean, INEXACT)) return;
    typical_step least = replay_of(e, ALL_CHANGES, RECORDING_MOST),
                 most = replay_of(e, ALL_CHANGES, RECORDING_LEAST),
                 bare = replay_of(e, ALL_CHANGES, 1);
    bool mean = recorded.uneven || same.uneven || bare.uneven;
    *out = (unprofiled_step){.known = true,
                             .is_mean = mean,
                             .recorded_ns = mean ? recorded.mean : recorded.median,
                             .step_ns = mean ? bare.mean : bare.median,
                             .least_ns = mean ? least.mean : least.median,
                             .most_ns = mean ? most.mean : most.median,
                             .recorded_mean_ns = same.mean,
                             .mean_ns = bare.mean,
                             .cost = e->replay.s->cost};
    double mean_of_step = (double)out->mean_ns / (double)max_i64(1, out->step_ns);
    bool apart = mean_of_step > LONG_STEPS || mean_of_step < SHORT_STEPS;
    out->average_ns = apart ? out->mean_ns : out->step_ns;
}

status unprofiled_step_find(const why_graph *g, const step_spans *steps, arena *a,
                            unprofiled_step *out, error *err) {
    *out = (unprofiled_step){.known = false};
    if (!unprofiled_step_applies(g->t) || !g->n_steps || !has_launches(g) ||
        why_lacks_launches(g) || g->launch_ns > LONGEST_LAUNCH_NS)
        return OK;
    estimator e = {.g = g};
    scenario *s = ARENA_NEW(a, scenario);
    if (!s) FAIL_MEMORY(err);
    TRY(estimator_init(&e, s, a, err));
    estimate(&e, out);
    out->sound = out->known && steps->marked && g->n_steps >= FEW_STEPS &&
                 out->step_ns < out->recorded_ns &&
                 lengths_differ(out->step_ns, out->recorded_ns, MATTERS);
    return OK;
}

status unprofiled_step_note(const unprofiled_step *u, bool savings, arena *a, answer *out,
                            error *err) {
    verdict note = {
        .id = "unprofiled", .message = MSG_NOTE_UNPROFILED, .severity = SEVERITY_INFO};
    if (!u->sound) return OK;
    verdict_add(&note, arg_time("recorded", u->recorded_ns));
    verdict_add(&note, arg_time("step", u->step_ns));
    verdict_add(&note, arg_time("least", u->least_ns));
    verdict_add(&note, arg_time("most", u->most_ns));
    if (u->is_mean) verdict_add(&note, arg_int("mean", 1));
    if (savings) verdict_add(&note, arg_int("savings", 1));
    return answer_note(out, a, &note, err);
}

status unprofiled_step_tell(const trace *t, const step_spans *steps, arena *a, answer *out,
                            error *err) {
    why_graph graph;
    unprofiled_step found;
    if (!unprofiled_step_applies(t) || t->kernel.n <= 1 || steps->n < FEW_STEPS) return OK;
    TRY(why_graph_make(t, steps, a, &graph, err));
    TRY(unprofiled_step_find(&graph, steps, a, &found, err));
    return unprofiled_step_note(&found, false, a, out, err);
}
