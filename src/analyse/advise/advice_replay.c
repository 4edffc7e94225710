/* advice_replay.c: what a change would really save: the step replayed with it (why_replay.h).
 *
 * A rule adds up the time that its remedy takes away. The step does not become shorter by that
 * much when something else is the bottleneck: kernels twice as fast save nothing when the step
 * is CPU-bound. So each finding whose change can be replayed is, alone, and saves what the step
 * lost then, at most its sum (calls that hold the host back: see take_saved). Recording made
 * the host slower than it is: where what it cost is known, all are replayed without it. */
#include <math.h>

#include "analyse/advise/advice.h"
#include "analyse/replay/why_replay.h"
#include "base/sort.h"

#define INEXACT 0.05 /* a replay that is so far off says nothing about a change */
#define HOLDS_BACK 1.2

typedef struct {
    const advice_facts *f;
    const why_graph *graph;
    scenario scenario;
    why_replay replay;
    advice *of[MOST_CHANGES]; /* by change: the finding it stands for; NULL: the profiler */
    uint64_t unprofiled;      /* the bit of that change; 0: there is none */
    int64_t replayed;         /* of the average step, as recorded */
    uint8_t *has_points;      /* by track: of the graph */
} replayer;

/* ---- what recording cost ----------------------------------------------------------------- */

/* Is this host time with records in it, which the profiler made longer? Pauses and waits for
 * data and other ranks have none. */
static bool is_slowed(claim_sort claim) {
    return claim == CLAIM_LATE || claim == CLAIM_SMALL_KERNELS || claim == CLAIM_OPTIMIZER ||
           claim == CLAIM_BLOCKED || claim == CLAIM_ITEM || claim == CLAIM_VALUE ||
           claim == CLAIM_REST;
}

/* What of the average step takes as long without the profiler: the device, pauses, waits. */
static int64_t as_long_ns(const advice_facts *f) {
    int64_t pauses = advice_per_step(f, add_i64(f->pause.ns, f->load_pause.ns));
    return add_i64(add_i64(f->busy_ns, pauses), f->part_ns[ROLE_DATA_LOADER]);
}

/* The host was slower by the same part everywhere it has records. */
void advice_take_recording_off(const advice_facts *f, claim_sort claim, advice *a) {
    const unprofiled_step *bare = &f->bare;
    a->recorded = a->saves;
    if (!bare->sound || a->saves <= 0 || !is_slowed(claim)) return;
    int64_t same = claim == CLAIM_REST ? 0 : as_long_ns(f);
    int64_t recorded = sub_i64(bare->recorded_mean_ns, same),
            left = sub_i64(bare->mean_ns, same);
    left = max_i64(left, recorded / 4); /* recording never took more, why_replay.c */
    if (recorded > left)
        a->saves = advice_ns((double)a->saves * (double)left / (double)recorded);
}

/* ---- calls ------------------------------------------------------------------------------- */

/* Does its thread launch work, or wait for it? What others do is not connected to the
 * device. */
static bool is_connected(const replayer *r, uint32_t slice) {
    return r->has_points[trace_track_of(r->f->t, slice)];
}

static status list_data(const replayer *r, scenario_change *out, error *err) {
    const advice_facts *f = r->f;
    const trace *t = f->t;
    int64_t all = 0, connected = 0;
    uint32_t *calls = ARENA_ARRAY(f->arena, uint32_t, (size_t)t->kind_count[KIND_DATA] + 1);
    if (!calls) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->slice.n && out->n_calls < t->kind_count[KIND_DATA]; i++) {
        if (t->slice.kind[i] != KIND_DATA) continue;
        all = add_i64(all, t->slice.dur[i]);
        if (is_connected(r, i)) connected = add_i64(connected, t->slice.dur[i]);
        calls[out->n_calls++] = i;
    }
    if (connected < all / 2) out->n_calls = 0;
    out->listed = calls;
    return OK;
}

/* Calls that block, of one sort; by row. */
static status list_blocking(const advice_facts *f, block_sort which, scenario_change *out,
                            error *err) {
    uint32_t *calls = ARENA_ARRAY(f->arena, uint32_t, f->n_blocking + 1);
    if (!calls) FAIL_MEMORY(err);
    for (size_t i = 0; i < f->n_blocking; i++)
        if (advice_block_sort(f, f->blocking[i]) == which)
            calls[out->n_calls++] = f->blocking[i];
    out->listed = calls;
    return OK;
}

/* ---- changes ----------------------------------------------------------------------------- */

static status add_change(replayer *r, advice *a, error *err) {
    scenario *s = &r->scenario;
    const advice_change *c = &a->change;
    if (a->saves == ABSENT_I64 || c->how == REPLAY_NOT || s->n == MOST_CHANGES) return OK;
    scenario_change *v = &s->v[s->n];
    *v = (scenario_change){.kind = CHANGE_TO_LISTED, .factor = c->factor};
    switch (c->how) {
    case REPLAY_WORK:
        v->work_marks = r->f->work_marks;
        v->mark = c->mark;
        break;
    case REPLAY_DATA:
        TRY(list_data(r, v, err));
        if (!v->n_calls) return OK;
        break;
    case REPLAY_BLOCKING: TRY(list_blocking(r->f, (block_sort)c->mark, v, err)); break;
    case REPLAY_GRAPH: v->kind = CHANGE_CUDA_GRAPH; break;
    case REPLAY_COMMUNICATION: v->kind = CHANGE_NO_COMMUNICATION; break;
    case REPLAY_CALLS:
        v->listed = c->calls;
        v->n_calls = c->n_calls;
        v->listed_until = c->until;
        v->work_marks = r->f->work_marks;
        v->mark = c->mark;
        v->merged = true;
        break;
    case REPLAY_NOT: return OK;
    }
    r->of[s->n++] = a;
    return OK;
}

static int64_t mean_step_ns(replayer *r, uint64_t changes) {
    int64_t sum = 0;
    why_replay_run(&r->replay, changes);
    for (uint32_t i = 0; i < r->graph->n_steps; i++)
        sum = add_i64(sum, why_replay_step_ns(&r->replay, i));
    return sum / r->graph->n_steps;
}

/* Does the replay as recorded give the steps as recorded? */
static bool is_exact(replayer *r) {
    int64_t recorded = 0;
    r->replayed = r->f->bare.recorded_mean_ns; /* of which it is known */
    if (r->f->bare.known) return true;
    r->replayed = mean_step_ns(r, 0);
    for (uint32_t i = 0; i < r->graph->n_steps; i++)
        recorded =
            add_i64(recorded, sub_i64(r->graph->steps[i].end_ns, r->graph->steps[i].start_ns));
    recorded /= r->graph->n_steps;
    return recorded > 0 &&
           fabs((double)r->replayed - (double)recorded) <= INEXACT * (double)recorded;
}

/* A call that blocks costs more than the gap after it when the host never gets ahead because of
 * such calls: without them it would be late nowhere. Collectives of the host need the values
 * that such calls wait for, which the graph does not know. */
static void take_saved(const advice_facts *f, advice *a, bool holds_back, int64_t saved) {
    a->summed = a->recorded;
    a->holds_back = holds_back && (!f->collective.n || f->n_comm_work);
    a->replayed = a->holds_back ? saved : min_i64(a->saves, saved);
    a->saves = a->replayed;
    if (a->holds_back) verdict_add(&a->words, arg_time("held", advice_shown_ns(f, saved)));
}

/* What a change saves of the average step, with or without the cost of recording; of the step
 * in which the causes of idle time are gone. */
static int64_t saved_ns(replayer *r, uint64_t change, uint64_t causes, bool recorded) {
    const unprofiled_step *bare = &r->f->bare;
    bool with = recorded || !r->unprofiled;
    uint64_t always = causes | (with ? 0 : r->unprofiled);
    int64_t before = causes ? mean_step_ns(r, always) : with ? r->replayed : bare->mean_ns;
    int64_t saved = sub_i64(before, mean_step_ns(r, always | change));
    return min_i64(with ? r->f->step_ns : bare->mean_ns, max_i64(0, saved));
}

/* Changes that take away what makes the device idle: what is left is for all others. */
static uint64_t changes_of_causes(const replayer *r) {
    uint64_t found = 0;
    for (uint32_t c = 0; c < r->scenario.n; c++)
        if (r->of[c] && r->of[c]->is_cause) found |= (uint64_t)1 << c;
    return found;
}

static void replay_changes(replayer *r) {
    uint64_t causes = changes_of_causes(r);
    for (uint32_t c = 0; c < r->scenario.n; c++) {
        uint64_t change = (uint64_t)1 << c;
        advice *a = r->of[c];
        if (!a) continue;
        bool blocks = a->change.how == REPLAY_BLOCKING;
        int64_t saved = saved_ns(r, change, a->is_cause ? 0 : causes, false);
        /* The sum is of the recording, and so is what it is compared with. */
        int64_t recorded = blocks && r->unprofiled ? saved_ns(r, change, 0, true) : saved;
        take_saved(r->f, a, blocks && (double)recorded > HOLDS_BACK * (double)a->recorded,
                   saved);
    }
}

static bool any_found(const replayer *r) {
    for (uint32_t c = 0; c < r->scenario.n; c++)
        if (r->of[c]) return true;
    return false;
}

static bool any_change(advice *const *found, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (found[i]->saves != ABSENT_I64 && found[i]->change.how != REPLAY_NOT) return true;
    return false;
}

static status make_graph(const advice_facts *f, const why_graph **out, error *err) {
    why_graph *graph = ARENA_NEW(f->arena, why_graph);
    if (!graph) FAIL_MEMORY(err);
    TRY(why_graph_make(f->t, &f->steps, f->arena, graph, err));
    *out = graph;
    return OK;
}

static status find_points(replayer *r, error *err) {
    r->has_points = ARENA_ARRAY(r->f->arena, uint8_t, (size_t)r->f->t->track.n + 1);
    if (!r->has_points) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < r->graph->n_points; i++)
        if (r->graph->points[i].slice) r->has_points[r->graph->points[i].track] = 1;
    return OK;
}

#define ALWAYS_BUSY 0.95 /* of the step: the host has no time that could be saved */

status advice_unprofiled_find(advice_facts *f, error *err) {
    if (f->run || !(f->has & NEED_DEVICE) || !f->steps.n || !unprofiled_step_applies(f->t) ||
        advice_share(f, f->busy_ns) > ALWAYS_BUSY)
        return OK;
    TRY(make_graph(f, &f->graph, err));
    return unprofiled_step_find(f->graph, &f->steps, f->arena, &f->bare, err);
}

static void add_unprofiled(replayer *r) {
    scenario *s = &r->scenario;
    if (!r->f->bare.sound || s->n == MOST_CHANGES) return;
    s->cost = r->f->bare.cost;
    s->v[s->n] = (scenario_change){.kind = CHANGE_UNPROFILED};
    r->unprofiled = (uint64_t)1 << s->n++;
}

status advice_replay(const advice_facts *f, advice *const *found, uint32_t n, error *err) {
    replayer *r = ARENA_ARRAY(f->arena, replayer, 1);
    if (!r) FAIL_MEMORY(err);
    r->f = f;
    r->graph = f->graph;
    if (f->run || !(f->has & NEED_DEVICE) || !f->steps.n || !any_change(found, n)) return OK;
    if (!r->graph) TRY(make_graph(f, &r->graph, err));
    TRY(find_points(r, err));
    if (!r->graph->n_steps || why_lacks_launches(r->graph)) return OK;
    add_unprofiled(r);
    for (uint32_t i = 0; i < n; i++) TRY(add_change(r, found[i], err));
    if (!any_found(r)) return OK;
    TRY(scenario_match(&r->scenario, r->graph, f->arena, err));
    TRY(why_replay_init(&r->replay, &r->scenario, f->arena, err));
    if (is_exact(r)) replay_changes(r);
    return OK;
}
