/* partial_recording.c: is what was recorded no picture of the run? */
#include "analyse/steps/partial_recording.h"

#include "analyse/intervals.h"
#include "analyse/select.h"
#include "base/message_ids_advice.h"
#include "store/traits.h"

enum {
    FEW_OPERATORS = 50, /* say nothing */
    SAMPLED = 10,       /* of as many operators one is there; nearly all are in 40 recordings */
};
#define LONGEST_NS 2592000000000000 /* 30 days: no profiler records for so long */

/* Most events have another clock than the recording: what is left does not represent the
 * run. */
static bool is_of_other_clock(const trace *t, verdict *out) {
    int64_t n = trace_quality(t, CAUSE_OTHER_CLOCK);
    if (n <= 0 || n < sat_i64(t->events_read / 2)) return false;
    *out = (verdict){.id = "clocks_differ",
                     .message = MSG_VERDICT_CLOCKS_DIFFER,
                     .severity = SEVERITY_WARNING};
    verdict_add(out, arg_int("count", n));
    verdict_add(out, arg_int("events", sat_i64(t->events_read)));
    return true;
}

/* Tasks are missing between those that are there. */
static bool is_excerpt(const trace *t, verdict *out) {
    int64_t n = trace_quality(t, CAUSE_ROWS_MISSING);
    if (n <= 0) return false;
    *out = (verdict){
        .id = "excerpt", .message = MSG_VERDICT_EXCERPT, .severity = SEVERITY_WARNING};
    verdict_add(out, arg_int("count", n));
    verdict_add(out, arg_int("events", sat_i64(t->events_read)));
    return true;
}

/* torch.profiler numbers the operators as they begin, and hardly leaves one out. */
static bool is_sampled(const trace *t, verdict *out) {
    int64_t n = 0, least = INT64_MAX, most = 0;
    for (uint32_t i = 1; i < t->op.n && trace_has(t, TRAIT_TORCH_PROFILER); i++) {
        int64_t id = t->op.external[i];
        if (id == ABSENT_I64 || id <= 0 || t->slice.kind[t->op.slice[i]] != KIND_OP) continue;
        n++;
        least = min_i64(least, id);
        most = max_i64(most, id);
    }
    if (n < FEW_OPERATORS || sub_i64(most, least) / n < SAMPLED) return false;
    *out = (verdict){
        .id = "excerpt", .message = MSG_VERDICT_SAMPLED, .severity = SEVERITY_WARNING};
    verdict_add(out, arg_int("count", n));
    verdict_add(out, arg_int("events", add_i64(sub_i64(most, least), 1)));
    return true;
}

/* Times that cannot be: a damaged file, or one with several clocks. */
static bool has_wrong_times(const trace *t, verdict *out) {
    int64_t all = sub_i64(t->end_ns, t->start_ns);
    if (all < LONGEST_NS) return false;
    *out = (verdict){
        .id = "times_wrong", .message = MSG_VERDICT_TIMES_WRONG, .severity = SEVERITY_WARNING};
    verdict_add(out, arg_time("time", all));
    return true;
}

/* From where to where the profiler says that it recorded; empty: it does not say. */
static interval recorded_range(const trace *t) {
    interval range = {INT64_MAX, INT64_MIN};
    for (uint32_t i = 1; i < t->slice.n && t->kind_count[KIND_SPAN]; i++) {
        if (t->slice.kind[i] != KIND_SPAN) continue;
        range.start = min_i64(range.start, t->slice.start[i]);
        range.end = max_i64(range.end, slice_end(t, i));
    }
    return range;
}

/* A mark of a step can end long after the profiler was stopped. */
static bool ends_early(const trace *t, verdict *out) {
    interval range = recorded_range(t);
    int64_t all = 0, covered = 0;
    if (range.start > range.end) return false;
    for (uint32_t i = 1; i < t->step.n; i++) {
        int64_t start = t->step.start[i], end = t->step.end[i];
        all = add_i64(all, sub_i64(end, start));
        covered = add_i64(
            covered, max_i64(0, sub_i64(min_i64(end, range.end), max_i64(start, range.start))));
    }
    if (covered >= all / 2) return false;
    *out = (verdict){.id = "recording_ends",
                     .message = MSG_VERDICT_RECORDING_ENDS,
                     .severity = SEVERITY_WARNING};
    verdict_add(out, arg_int("steps", (int64_t)t->step.n - 1));
    verdict_add(out, arg_share("share", (double)covered / (double)all));
    verdict_add(out, arg_time("step_time", all));
    return true;
}

bool partial_recording_judge(const trace *t, verdict *out) {
    return is_of_other_clock(t, out) || is_excerpt(t, out) || is_sampled(t, out) ||
           has_wrong_times(t, out) || ends_early(t, out);
}
