/* other_traces.c: what is said first of requests of a server and of functions of a program.
 *
 * Requests: how long they take on average, and whether they wait or are computed. Functions:
 * the one with most time of its own, which is its time without that of the functions it calls;
 * the whole is the time of the outermost ones of all threads. */
#include "analyse/scan/other_traces.h"

#include "analyse/rules.h"
#include "analyse/select.h"
#include "base/arena.h"
#include "base/message_ids_advice.h"
#include "base/num.h"

/* The longest so far of one sort of range. */
static void keep_longest(const trace *t, uint32_t slice, uint32_t *longest) {
    if (!*longest || t->slice.dur[slice] > t->slice.dur[*longest]) *longest = slice;
}

/* Adds a range; true when it is a request. */
static bool add_range(const trace *t, uint32_t slice, request_sums *sum) {
    str name = trace_str(t, t->slice.name[slice]);
    int64_t ns = t->slice.dur[slice];
    if (str_starts(name, STR("compute_"))) sum->compute_ns = add_i64(sum->compute_ns, ns);
    if (str_eq(name, STR("queue"))) {
        sum->queue_ns = add_i64(sum->queue_ns, ns);
        keep_longest(t, slice, &sum->longest_queue);
    }
    if (!str_eq(name, STR("request"))) return false;
    sum->n++;
    sum->request_ns = add_i64(sum->request_ns, ns);
    keep_longest(t, slice, &sum->longest);
    return true;
}

status requests_sum(const trace *t, request_sums *out, error *err) {
    request_sums sum = {0};
    int64_t first = INT64_MAX, last = INT64_MIN;
    TRY(trace_require(t, SELECT_TABLES | TRACE_TABLE(track), err));
    for (uint32_t track = 1; track < t->track.n; track++) {
        bool any = false;
        for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++) {
            if (!add_range(t, i, &sum)) continue;
            any = true;
            first = min_i64(first, t->slice.start[i]);
            last = max_i64(last, slice_end(t, i));
        }
        sum.n_lanes += any;
    }
    sum.span_ns = sum.n ? sub_i64(last, first) : 0;
    *out = sum;
    return OK;
}

static status judge_requests(const trace *t, verdict *out, error *err) {
    request_sums sum;
    TRY(requests_sum(t, &sum, err));
    if (!sum.n) return OK;
    bool waits = sum.queue_ns > sum.compute_ns;
    *out = (verdict){.id = waits ? "requests_queued" : "requests",
                     .message = waits ? MSG_VERDICT_REQUESTS_QUEUED : MSG_VERDICT_REQUESTS,
                     .severity = waits ? SEVERITY_WARNING : SEVERITY_INFO};
    verdict_add(out, arg_int("count", sum.n));
    verdict_add(out, arg_time("request", mean_i64(sum.request_ns, sum.n)));
    verdict_add(out, arg_time("queue", mean_i64(sum.queue_ns, sum.n)));
    verdict_add(out, arg_time("compute", mean_i64(sum.compute_ns, sum.n)));
    return OK;
}

static status judge_calls(const trace *t, arena *a, verdict *out, error *err) {
    TRY(trace_require(t, TRACE_TABLE(slice), err));
    int64_t *own = ARENA_ARRAY(a, int64_t, (size_t)t->n_strings + 1), total = 0;
    uint32_t most = 0;
    if (!own) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint32_t name = t->slice.name[i], parent = t->slice.parent[i];
        own[name] = add_i64(own[name], t->slice.dur[i]);
        if (!parent) total = add_i64(total, t->slice.dur[i]);
        if (parent)
            own[t->slice.name[parent]] = sub_i64(own[t->slice.name[parent]], t->slice.dur[i]);
    }
    for (uint32_t i = 1; i < t->n_strings; i++)
        if (own[i] > own[most]) most = i;
    if (!most || total <= 0) return OK;
    *out = (verdict){.id = "calls", .message = MSG_VERDICT_CALLS, .severity = SEVERITY_INFO};
    verdict_add(out, arg_text("name", trace_str(t, most)));
    verdict_add(out, arg_share("self_share", (double)own[most] / (double)total));
    verdict_add(out, arg_time("self_time", own[most]));
    verdict_add(out, arg_time("total", total));
    return OK;
}

status other_traces_judge(const trace *t, arena *a, verdict *out, error *err) {
    if (trace_has(t, TRAIT_REQUESTS)) return judge_requests(t, out, err);
    return trace_has(t, TRAIT_CALLS) ? judge_calls(t, a, out, err) : OK;
}
