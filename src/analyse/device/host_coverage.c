/* host_coverage.c: what of the host's work is in no record, though it must have worked.
 *
 * Of a range around the backward pass the part counts in which no operator, call, data loader
 * or collective ran, where that lasts longer than an interpreter takes between two operators;
 * of ranges only those that are silent most of the time and have no other thread at work. Our
 * own recorder sees all threads. */
#include "analyse/device/host_coverage.h"

#include "base/message_ids_advice.h"
#include "store/traits.h"

/* Ranges of the program itself that tell more than calls do. */
static const uint8_t host_kinds[] = {KIND_OP,      KIND_PYTHON,   KIND_MODULE,
                                     KIND_FORWARD, KIND_BACKWARD, KIND_FRAMEWORK};

static bool is_without_ops(const trace *t) {
    for (size_t i = 0; i < N_OF(host_kinds); i++)
        if (t->kind_count[host_kinds[i]]) return false;
    return t->kernel.n > 1 && (t->kind_count[KIND_RUNTIME] || t->kind_count[KIND_DRIVER]);
}

static bool is_backward(const trace *t, uint32_t slice) {
    uint8_t kind = t->slice.kind[slice];
    if (kind == KIND_BACKWARD) return true;
    return kind == KIND_ANNOTATION &&
           str_find_nocase(trace_slice_name(t, slice), STR("backward"), 0) != SIZE_MAX;
}

intervals host_silence(intervals in, const role_ranges *ranges) {
    static const role loud[] = {ROLE_RUNTIME, ROLE_DATA_LOADER, ROLE_CPU_EXEC,
                                ROLE_COMMUNICATION};
    for (size_t i = 0; i < N_OF(loud); i++) intervals_cut(&in, &ranges->at[loud[i]]);
    return in;
}

/* When nothing ran on the host in the steps, long enough. */
static intervals find_silence(const step_spans *steps, const role_ranges *ranges, arena *a) {
    intervals out = intervals_in(a);
    intervals left = host_silence(step_moments(steps, a), ranges);
    for (size_t i = 0; i < left.n; i++)
        if (sub_i64(left.v[i].end, left.v[i].start) >= HOST_PAUSE_NS)
            intervals_add(&out, left.v[i].start, left.v[i].end);
    out.failed |= left.failed;
    return out;
}

/* Does another thread run operators meanwhile? Then autograd's is there. */
static bool has_helper(const trace *t, uint32_t range) {
    int64_t start = t->slice.start[range], end = slice_end(t, range);
    uint32_t own = trace_track_of(t, range);
    for (uint32_t track = 1; track < t->track.n; track++) {
        if (track == own) continue;
        uint32_t i = trace_lower_bound(t, track, start), last = t->track.end[track];
        for (; i < last && t->slice.start[i] < end; i++)
            if (t->slice.kind[i] == KIND_OP) return true;
    }
    return false;
}

bool host_coverage_may_lack(const trace *t) {
    if (steps_are_ours(t) || !t->kind_count[KIND_OP]) return false;
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (is_backward(t, i) && !has_helper(t, i)) return true;
    return false;
}

status host_coverage_find(const trace *t, const step_spans *steps, const role_ranges *ranges,
                          arena *a, host_coverage *out, error *err) {
    *out = (host_coverage){.without_ops = is_without_ops(t), .at = intervals_in(a)};
    if (steps_are_ours(t) || !t->kind_count[KIND_OP]) return OK;
    intervals silent = {.n = 0};
    bool looked = false;
    for (uint32_t i = 1; i < t->slice.n; i++) {
        if (!is_backward(t, i)) continue;
        if (!looked) silent = find_silence(steps, ranges, a);
        looked = true;
        int64_t ns = intervals_ns_in(&silent, t->slice.start[i], slice_end(t, i));
        if (ns <= t->slice.dur[i] / 2 || has_helper(t, i)) continue;
        intervals_add(&out->at, t->slice.start[i], slice_end(t, i));
        if (ns <= out->longest_ns) continue;
        out->backward = i;
        out->longest_ns = ns;
    }
    intervals_merge(&out->at);
    if (!looked) return OK;
    out->at = intervals_and(&out->at, &silent);
    if (out->at.failed || silent.failed) FAIL_MEMORY(err);
    return OK;
}

#define MUCH 0.2 /* of the steps */

static void say_missing(const trace *t, const host_coverage *c, verdict *v) {
    verdict_add(v, arg_text("range", trace_slice_name(t, c->backward)));
    verdict_add(v, arg_time("time", c->longest_ns));
}

bool host_coverage_judge(const trace *t, const host_coverage *c, int64_t all_ns, verdict *out) {
    if (!c->backward || (double)intervals_ns(&c->at) < MUCH * (double)all_ns) return false;
    *out = (verdict){.id = "thread_not_recorded",
                     .message = MSG_VERDICT_THREAD_MISSING,
                     .severity = SEVERITY_WARNING};
    say_missing(t, c, out);
    verdict_add(out, arg_share("share", (double)intervals_ns(&c->at) / (double)all_ns));
    if (t->kernel.n <= 1) verdict_add(out, arg_int("host", 1));
    return true;
}

status host_coverage_note(const trace *t, const host_coverage *c, arena *a, answer *out,
                          error *err) {
    if (c->without_ops) {
        verdict note = {.id = "operators_not_recorded",
                        .message = MSG_NOTE_WITHOUT_OPS,
                        .severity = SEVERITY_INFO};
        if (format_framework(t->format) == FRAMEWORK_PYTORCH)
            verdict_add(&note, arg_int("pytorch", 1));
        TRY(answer_note(out, a, &note, err));
    }
    if (!c->backward) return OK;
    verdict note = {.id = "thread_not_recorded",
                    .message = MSG_NOTE_THREAD_MISSING,
                    .severity = SEVERITY_WARNING};
    say_missing(t, c, &note);
    return answer_note(out, a, &note, err);
}
