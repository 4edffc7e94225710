/* recording_judge.c: does the recording decide before the program does?
 *
 * What costs a pass is asked last, and only where something hints at it: the idle time of a
 * complete recording with steps is not looked at. */
#include "analyse/device/recording_judge.h"

#include "analyse/device/host_coverage.h"
#include "analyse/kind_names.h"
#include "analyse/steps/lost_work.h"
#include "analyse/steps/partial_recording.h"
#include "base/bisect.h"
#include "base/message_ids_advice.h"
#include "store/traits.h"

/* From here on the overview calls a device idle; see its rules. */
#define BUSY_SHARE 0.7
/* Share of the idle time in which kernels of a graph may have run: more, and it is unknown. */
#define SHADOW_SHARE 0.3
/* Fewer pieces of device work say nothing about where work runs. */
#define FEW_PIECES 10
/* Clocks of one machine are read microseconds apart. */
#define CLOCKS_APART_NS 50000
/* As many calls that wait for the device are looked at. */
#define FEW_SYNCS 4

typedef struct {
    const recording_question *q;
    const trace *t;
    idle_pieces idle;
    bool has_idle;
    int64_t all_ns, idle_ns; /* of the steps; a collective is work */
} judge;

static status need_idle(judge *j, error *err) {
    if (j->has_idle) return OK;
    if (j->q->idle)
        j->idle = *j->q->idle;
    else
        TRY(idle_pieces_find(j->t, j->q->steps, NULL, j->q->arena, &j->idle, err));
    for (uint32_t i = 0; i < j->q->steps->n; i++)
        j->all_ns = add_i64(j->all_ns, step_span_ns(&j->q->steps->v[i]));
    for (int c = 0; c < N_IDLE_CAUSES; c++)
        if (c != IDLE_COMMUNICATION) j->idle_ns = add_i64(j->idle_ns, j->idle.ns[c]);
    j->has_idle = true;
    return OK;
}

static double busy_share(const judge *j) {
    return j->all_ns > 0 ? 1 - (double)j->idle_ns / (double)j->all_ns : 0;
}

/* ---- clocks ------------------------------------------------------------------------------ */

/* Nothing starts before the call that launches it: how much of the device's work does, and by
 * how much most. */
static bool starts_before_launch(const trace *t, int64_t *most) {
    int64_t early = 0, linked = 0;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t launch = t->kernel.launch[k];
        if (!launch) continue;
        int64_t by = sub_i64(t->slice.start[launch], t->slice.start[t->kernel.slice[k]]);
        linked++;
        early += by > CLOCKS_APART_NS;
        *most = max_i64(*most, by);
    }
    return early > 0 && early >= linked / 10;
}

/* Is a device still at work on what had been launched, when a call returns that waits for all
 * of it? For how long. */
static int64_t works_after(const trace *t, uint32_t sync) {
    int64_t from = t->slice.start[sync], last = INT64_MIN;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t launch = t->kernel.launch[k];
        if (launch && slice_end(t, launch) <= from)
            last = max_i64(last, slice_end(t, t->kernel.slice[k]));
    }
    return last == INT64_MIN ? 0 : sub_i64(last, slice_end(t, sync));
}

static bool has_one_device(const trace *t) {
    for (uint32_t k = 2; k < t->kernel.n; k++)
        if (t->kernel.device[k] != t->kernel.device[1]) return false;
    return true;
}

/* In the first few of these calls, and in all of them: one late record alone proves nothing
 * about the clock. */
static bool returns_too_early(const trace *t, int64_t *most) {
    int seen = 0;
    for (uint32_t i = 1; i < t->slice.n && seen < FEW_SYNCS; i++) {
        if (!kind_is_call(t->slice.kind[i]) && t->slice.kind[i] != KIND_SYNC) continue;
        if (str_find(trace_slice_name(t, i), STR("DeviceSynchronize"), 0) == SIZE_MAX) continue;
        int64_t by = works_after(t, i);
        if (by < CLOCKS_APART_NS) return false;
        *most = max_i64(*most, by);
        seen++;
    }
    return seen > 1 && has_one_device(t);
}

/* The clock of the device is slower than the host's, or faster. */
static void judge_clocks(const judge *j, verdict *out) {
    int64_t by = 0;
    bool too_early = starts_before_launch(j->t, &by);
    if (!too_early && !returns_too_early(j->t, &by)) return;
    *out = (verdict){.id = "clocks_apart",
                     .message = MSG_VERDICT_CLOCKS_APART,
                     .severity = SEVERITY_WARNING};
    verdict_add(out, arg_time("time", by));
    if (too_early) verdict_add(out, arg_int("too_early", 1));
}

/* ---- device records ---------------------------------------------------------------------- */

/* Would the device be busy if what is missing took as long as what is there? */
static bool is_lost(const judge *j, const lost_work *w, verdict *out) {
    double missing = (double)w->missing / (double)w->launches, busy = busy_share(j);
    if (busy >= BUSY_SHARE || (busy < BUSY_SHARE * (1 - missing) && missing < 0.5))
        return false;
    *out = (verdict){.id = "device_records_lost",
                     .message = MSG_VERDICT_DEVICE_LOST_PART,
                     .severity = SEVERITY_CRITICAL};
    verdict_add(out, arg_int("missing", w->missing));
    verdict_add(out, arg_int("launches", w->launches));
    return true;
}

/* When the kernels of graphs may have run, of which nothing was recorded: from their launch to
 * the next work of the device. */
static status find_shadows(const judge *j, const lost_work *w, intervals *out, error *err) {
    const trace *t = j->t;
    intervals work = intervals_in(j->q->arena);
    *out = intervals_in(j->q->arena);
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        int64_t start = t->slice.start[t->kernel.slice[k]];
        intervals_add(&work, start, add_i64(start, 1));
    }
    intervals_merge(&work);
    for (int64_t i = 0; i < w->n_lost_replays && !work.failed; i++) {
        int64_t from = slice_end(t, w->lost_replays[i]);
        size_t next = SEARCH_FIRST(at, 0, work.n, work.v[at].end <= from);
        intervals_add(out, from, next < work.n ? work.v[next].start : t->end_ns);
    }
    intervals_merge(out);
    if (work.failed || out->failed) FAIL_MEMORY(err);
    return OK;
}

static status judge_graphs(judge *j, const lost_work *w, verdict *out, error *err) {
    int64_t shadow = 0;
    intervals shadows;
    TRY(need_idle(j, err));
    if (busy_share(j) >= BUSY_SHARE) return OK;
    TRY(find_shadows(j, w, &shadows, err));
    for (size_t i = 0; i < j->idle.n; i++) {
        const interval *r = &j->idle.v[i].range;
        shadow = add_i64(shadow, intervals_ns_in(&shadows, r->start, r->end));
    }
    if ((double)shadow < SHADOW_SHARE * (double)j->idle_ns) return OK;
    *out = (verdict){.id = "graph_records_lost",
                     .message = MSG_VERDICT_GRAPHS_LOST,
                     .severity = SEVERITY_WARNING};
    verdict_add(out, arg_int("missing", w->n_lost_replays));
    verdict_add(out, arg_int("launches", w->replays));
    return OK;
}

/* Each operator of such a framework has its kernels: with copies alone the device was not
 * recorded. */
static bool has_copies_alone(const trace *t) {
    return trace_has(t, TRAIT_DYNAMIC_GRAPH) && t->kernel.n > 1 &&
           !t->kind_count[KIND_KERNEL] && t->kind_count[KIND_OP] >= FEW_PIECES;
}

static status judge_work(judge *j, verdict *out, error *err) {
    lost_work w;
    if (has_copies_alone(j->t)) {
        *out = (verdict){.id = "device_records_lost",
                         .message = MSG_VERDICT_DEVICE_LOST,
                         .severity = SEVERITY_CRITICAL};
        verdict_add(out, arg_int("launches", sat_i64(j->t->kind_count[KIND_OP])));
        return OK;
    }
    TRY(lost_work_count(j->t, j->q->arena, &w, err));
    if (lost_work_matters(&w)) {
        TRY(need_idle(j, err));
        if (is_lost(j, &w, out)) return OK;
    }
    return w.n_lost_replays && !w.captured ? judge_graphs(j, &w, out, err) : OK;
}

/* ---- threads and steps ------------------------------------------------------------------- */

static status judge_thread(judge *j, verdict *out, error *err) {
    role_ranges ranges;
    host_coverage coverage;
    if (!host_coverage_may_lack(j->t)) return OK;
    TRY(need_idle(j, err));
    TRY(role_ranges_make(j->t, (interval){INT64_MIN, INT64_MAX}, j->q->arena, &ranges, err));
    TRY(host_coverage_find(j->t, j->q->steps, &ranges, j->q->arena, &coverage, err));
    (void)host_coverage_judge(j->t, &coverage, j->all_ns, out);
    return OK;
}

/* The time before the first and after the last device work of a recording that is not a
 * step. */
static status judge_steps(judge *j, verdict *out, error *err) {
    const trace *t = j->t;
    const step_span *all = j->q->steps->v;
    int64_t from = INT64_MAX, to = INT64_MIN;
    if (j->q->steps->marked || j->q->steps->n != 1 || t->kernel.n <= FEW_PIECES) return OK;
    TRY(need_idle(j, err));
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k];
        from = min_i64(from, t->slice.start[slice]);
        to = max_i64(to, slice_end(t, slice));
    }
    from = max_i64(all->start, from);
    to = min_i64(all->end, to);
    int64_t edges = add_i64(sub_i64(from, all->start), sub_i64(all->end, to));
    int64_t idle = sub_i64(j->idle_ns, j->idle.ns[IDLE_DATA]);
    if (busy_share(j) >= BUSY_SHARE || edges <= idle / 2) return OK;
    *out = (verdict){.id = "steps_unmarked",
                     .message = MSG_VERDICT_STEPS_UNMARKED,
                     .severity = SEVERITY_WARNING};
    verdict_add(out, arg_time("step_time", j->all_ns));
    verdict_add(out, arg_time("from", sub_i64(from, all->start)));
    verdict_add(out, arg_time("to", sub_i64(to, all->start)));
    verdict_add(out, arg_text("device", device_noun(t)));
    return OK;
}

status recording_judge(const recording_question *q, verdict *out, error *err) {
    judge j = {.q = q, .t = q->t};
    *out = (verdict){.id = NULL};
    if (partial_recording_judge(q->t, out) || cold_start_judge(q->t, &q->steps->cold, out) ||
        !q->steps->n)
        return OK;
    if (q->t->kernel.n > 1) judge_clocks(&j, out);
    if (!out->id && q->t->kernel.n > 1) TRY(judge_work(&j, out, err));
    if (!out->id) TRY(judge_thread(&j, out, err));
    if (!out->id && q->t->kernel.n > 1) TRY(judge_steps(&j, out, err));
    return OK;
}
