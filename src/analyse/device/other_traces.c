/* other_traces.c: the verdict about requests of a server, functions of a program, and tensors
 * that a job exchanges.
 *
 * Requests: how long they take on average, and whether they wait or are computed. Functions:
 * the one with most self time, which is its time without that of the functions it calls; the
 * whole is the time of the outermost ones of all threads. Tensors: when any was negotiated
 * (ranks wait until the last one is ready) and when any was exchanged, and the rank that is
 * ready last most often. */
#include "analyse/device/other_traces.h"

#include "analyse/intervals.h"
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

/* ---- tensors of a job -------------------------------------------------------------------- */

#define MOST_RANKS 65536

typedef struct {
    intervals negotiations, exchanges;
    int64_t n;          /* negotiations */
    uint32_t *last;     /* by rank: how often it was ready last */
    int64_t most, rank; /* of these */
} job_tensors;

/* The rank that was ready last in a negotiation; -1: unknown. `end`: of its track. */
static int64_t last_rank(const trace *t, uint32_t slice, uint32_t end) {
    int64_t rank = -1, when = INT64_MIN, number;
    /* The last one is ready at the very end: the range is over then. */
    for (uint32_t i = slice + 1; i < end && t->slice.start[i] <= slice_end(t, slice); i++) {
        if (!str_to_i64(trace_str(t, t->slice.name[i]), &number) || t->slice.start[i] < when)
            continue;
        when = t->slice.start[i];
        rank = number;
    }
    return rank;
}

static void add_tensor(const trace *t, uint32_t slice, uint32_t end, job_tensors *sum) {
    bool negotiates = str_starts(trace_str(t, t->slice.name[slice]), STR("NEGOTIATE_"));
    intervals_add(negotiates ? &sum->negotiations : &sum->exchanges, t->slice.start[slice],
                  slice_end(t, slice));
    if (!negotiates) return;
    int64_t rank = last_rank(t, slice, end);
    sum->n++;
    if (rank < 0 || rank >= MOST_RANKS) return;
    if (++sum->last[rank] <= sum->most) return;
    sum->most = sum->last[rank];
    sum->rank = rank;
}

static status judge_tensors(const trace *t, arena *a, verdict *out, error *err) {
    job_tensors sum = {.negotiations = intervals_in(a),
                       .exchanges = intervals_in(a),
                       .last = ARENA_ARRAY(a, uint32_t, MOST_RANKS)};
    TRY(trace_require(t, SELECT_TABLES | TRACE_TABLE(track), err));
    if (!sum.last) FAIL_MEMORY(err);
    for (uint32_t track = 1; track < t->track.n; track++)
        for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++)
            if (t->slice.kind[i] == KIND_COLLECTIVE)
                add_tensor(t, i, t->track.end[track], &sum);
    intervals_merge(&sum.negotiations);
    intervals_merge(&sum.exchanges);
    if (sum.negotiations.failed || sum.exchanges.failed) FAIL_MEMORY(err);
    int64_t waits = intervals_ns(&sum.negotiations), moves = intervals_ns(&sum.exchanges);
    int64_t span = sub_i64(t->end_ns, t->start_ns);
    if (!waits && !moves) return OK;
    *out = (verdict){.id = "negotiations",
                     .message = MSG_VERDICT_NEGOTIATIONS,
                     .severity = waits > moves ? SEVERITY_WARNING : SEVERITY_INFO};
    verdict_add(out, arg_time("total", span));
    verdict_add(out, arg_time("negotiating", waits));
    verdict_add(out, arg_share("share", span > 0 ? (double)waits / (double)span : 0));
    verdict_add(out, arg_time("exchanging", moves));
    verdict_add(out, arg_int("count", sum.n));
    if (sum.most > sum.n / 2) {
        verdict_add(out, arg_id("rank", sum.rank));
        verdict_add(out, arg_int("last", sum.most));
        if (sum.rank == 0) verdict_add(out, arg_int("coordinates", 1));
    }
    return OK;
}

status other_traces_judge(const trace *t, arena *a, verdict *out, error *err) {
    if (trace_has(t, TRAIT_REQUESTS)) return judge_requests(t, out, err);
    if (trace_has(t, TRAIT_NEGOTIATIONS)) return judge_tensors(t, a, out, err);
    return trace_has(t, TRAIT_CALLS) ? judge_calls(t, a, out, err) : OK;
}

bool trace_is_memory_alone(const trace *t) {
    return t->memory.n > 1 && t->kernel.n <= 1 && !t->kind_count[KIND_OP] &&
           !t->kind_count[KIND_RUNTIME] && !t->kind_count[KIND_DRIVER];
}
