/* advice_decide.c: when the recording decides before the program does.
 *
 * Whatever the rules find in such a trace, the first thing to change is the recording: too much
 * is missing (recording_judge.h), or the profiler takes more time than what costs most. A trace
 * that was truncated or has no device records at all is judged where it is found:
 * input_quality.h, lost_work.h. */
#include "analyse/advise/advice.h"

#include "analyse/device/recording_judge.h"
#include "base/message_ids_advice.h"

/* From here on the overview calls a device idle; see its rules. */
#define BUSY_SHARE 0.7

static double busy_share(const advice_facts *f) {
    return advice_share(f, f->busy_ns);
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

status advice_decide(const advice_facts *f, const advice_claim *first, verdict *out,
                     bool *incomplete, error *err) {
    recording_question q = {.t = f->t, .steps = &f->steps, .idle = &f->idle, .arena = f->arena};
    *out = (verdict){.id = NULL};
    *incomplete = false;
    if (f->run || !f->steps.n) return OK;
    TRY(recording_judge(&q, out, err));
    *incomplete = out->id != NULL;
    if (!out->id) (void)is_slowed(f, first, out);
    return OK;
}

bool advice_is_sure(claim_sort claim) {
    return claim == CLAIM_KERNELS || claim == CLAIM_INTERVAL || claim == CLAIM_REST;
}
