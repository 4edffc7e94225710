/* advice_decide.c: when the recording decides before the program does.
 *
 * Whatever the rules find in such a trace, the first thing to change is the recording: the
 * device's records are missing, nothing marks the steps and the device was used in a part of
 * the recording only, or the profiler takes more time than what costs most. A trace that was
 * truncated or has no device records at all is judged where it is found: input_quality.h,
 * lost_work.h. */
#include "analyse/advise/advice.h"

#include "analyse/kind_names.h"
#include "analyse/steps/lost_work.h"
#include "base/message_ids_advice.h"

/* From here on the overview calls a device idle; see its rules. */
#define BUSY_SHARE 0.7
/* Fewer pieces of device work say nothing about where work runs. */
#define FEW_PIECES 10

static double busy_share(const advice_facts *f) {
    return advice_share(f, f->busy_ns);
}

/* Would the device be busy if what is missing took as long as what is there? */
static status is_lost(const advice_facts *f, arena *a, verdict *out, error *err) {
    lost_work w;
    TRY(lost_work_count(f->t, a, &w, err));
    double missing = w.launches ? (double)w.missing / (double)w.launches : 0,
           busy = busy_share(f);
    /* What was launched while a graph was captured never runs by itself. */
    if (w.captured || w.graphs || w.launches < LOST_FEW || missing < LOST_SHARE ||
        busy >= BUSY_SHARE || (busy < BUSY_SHARE * (1 - missing) && missing < 0.5))
        return OK;
    *out = (verdict){.id = "device_records_lost",
                     .message = MSG_VERDICT_DEVICE_LOST_PART,
                     .severity = SEVERITY_CRITICAL};
    verdict_add(out, arg_int("missing", w.missing));
    verdict_add(out, arg_int("launches", w.launches));
    return OK;
}

/* The time before the first and after the last device work of a recording that is not a
 * step. */
static bool is_unmarked(const advice_facts *f, verdict *out) {
    const step_span *all = f->steps.v;
    int64_t idle = 0, edges, from, to;
    if (f->steps.marked || f->steps.n != 1 || !f->ranges.device.n ||
        f->t->kernel.n <= FEW_PIECES)
        return false;
    from = max_i64(all->start, f->ranges.device.v[0].start);
    to = min_i64(all->end, f->ranges.device.v[f->ranges.device.n - 1].end);
    edges = add_i64(sub_i64(from, all->start), sub_i64(all->end, to));
    for (int c = 0; c < N_IDLE_CAUSES; c++)
        if (c != IDLE_DATA && c != IDLE_COMMUNICATION) idle = add_i64(idle, f->idle.ns[c]);
    if (busy_share(f) >= BUSY_SHARE || edges <= idle / 2) return false;
    *out = (verdict){.id = "steps_unmarked",
                     .message = MSG_VERDICT_STEPS_UNMARKED,
                     .severity = SEVERITY_WARNING};
    verdict_add(out, arg_time("step_time", sub_i64(f->t->end_ns, f->t->start_ns)));
    verdict_add(out, arg_time("from", sub_i64(from, f->t->start_ns)));
    verdict_add(out, arg_time("to", sub_i64(to, f->t->start_ns)));
    verdict_add(out, arg_text("device", device_noun(f->t)));
    return true;
}

/* Time of the host: what the profiler takes of it would not be there without it. */
static bool is_of_host(claim_sort claim) {
    return claim == CLAIM_LATE || claim == CLAIM_SMALL_KERNELS || claim == CLAIM_OPTIMIZER ||
           claim == CLAIM_PAUSES || claim == CLAIM_REST;
}

/* Most of the cause that costs most, if that is the host's. */
static bool is_slowed(const advice_facts *f, const advice_claim *first, verdict *out) {
    advice found = {.saves = ABSENT_I64};
    if (first && !is_of_host(first->sort)) return false;
    if (!advice_profiler_overhead(f, advice_limit.profiler_overhead, &found)) return false;
    double share = advice_share(f, advice_overhead_ns(f));
    if (share < 0.2 || (f->has & NEED_DEVICE && busy_share(f) >= BUSY_SHARE) ||
        (first && advice_overhead_ns(f) < first->advice->saves / 2) || (!first && share < 0.5))
        return false;
    *out = found.words;
    out->id = "profiler_overhead";
    out->message = MSG_ADVICE_PROFILER_OVERHEAD_EVIDENCE;
    out->severity = SEVERITY_WARNING;
    return true;
}

status advice_decide(const advice_facts *f, const advice_claim *first, arena *a, verdict *out,
                     error *err) {
    *out = (verdict){.id = NULL};
    if (f->run || !f->steps.n) return OK;
    if (f->has & NEED_DEVICE) {
        TRY(is_lost(f, a, out, err));
        if (out->id || is_unmarked(f, out)) return OK;
    }
    (void)is_slowed(f, first, out);
    return OK;
}
