/* input_quality.c: events that were dropped or changed, and how much device work is joined to
 * what caused it: what is shown below every answer.
 *
 * Counts are taken from a trace once; a summary carries them as sums, so that an answer about a
 * thousand workers says the same about all of them together. */
#include "analyse/input_quality.h"

#include "analyse/rules.h"

#include "base/message_ids_advice.h"
#include "base/num.h"
#include "store/traits.h"

static const struct {
    const char *name;
    uint16_t message;
} CAUSE_NAMES[N_CAUSES] = {
#define CAUSE_ROW(name) [CAUSE_##name] = {#name, MSG_CAUSE_##name},
    CAUSES(CAUSE_ROW)
#undef CAUSE_ROW
};

/* Nothing is missing because of these: what was written oddly was read all the same. Device
 * work without a launch is counted among the links. */
static const bool HARMLESS[N_CAUSES] = {
    [CAUSE_UNESCAPED_QUOTE] = true,   [CAUSE_BAD_ESCAPE] = true,
    [CAUSE_CONTROL_CHARACTER] = true, [CAUSE_BAD_LITERAL] = true,
    [CAUSE_TRAILING_COMMA] = true,    [CAUSE_DUPLICATE_KEY] = true,
    [CAUSE_BAD_UTF8] = true,          [CAUSE_MISSING_CATEGORY] = true,
    [CAUSE_PARTIAL_OVERLAP] = true,   [CAUSE_NUMBER_RANGE] = true,
    [CAUSE_TOO_DEEP] = true,          [CAUSE_DANGLING_FLOW] = true,
    [CAUSE_TRAILING_GARBAGE] = true,  [CAUSE_ORPHAN_CORRELATION] = true,
};

/* ---- counting ---------------------------------------------------------------------------- */

static status count_operators(const trace *t, quality_counts *c, error *err) {
    if (t->kind_count[KIND_KERNEL] == 0) return OK;
    TRY(trace_require(t, TRACE_TABLE(slice) | TRACE_TABLE(kernel), err));
    for (uint32_t i = 1; i < t->kernel.n; i++) {
        if (t->slice.kind[t->kernel.slice[i]] != KIND_KERNEL) continue;
        c->kernels++;
        c->kernels_with_op += t->kernel.op[i] != 0;
        c->kernels_inferred += t->kernel.link[i] == LINK_INFERRED;
    }
    return OK;
}

status quality_count(const trace *t, bool links, quality_counts *out, error *err) {
    quality_counts c = {.device_work = t->kernel.n > 1 ? (int64_t)t->kernel.n - 1 : 0};
    for (uint32_t i = 1; i < t->quality.n; i++) {
        uint16_t why = t->quality.cause[i];
        if (why < N_CAUSES && t->quality.count[i] > 0)
            c.cause[why] = add_i64(c.cause[why], t->quality.count[i]);
    }
    c.with_launch =
        c.device_work - min_i64(c.device_work, max_i64(0, c.cause[CAUSE_ORPHAN_CORRELATION]));
    if (links) TRY(count_operators(t, &c, err));
    *out = c;
    return OK;
}

static void add_summary(const summary *s, quality_counts *c) {
    for (uint32_t i = 0; i < SUMMARY_N(s, damage); i++) {
        const summary_damage *d = &SUMMARY_ROWS(s, damage)[i];
        if (d->cause > CAUSE_NONE && d->cause < N_CAUSES)
            c->cause[d->cause] = add_i64(c->cause[d->cause], max_i64(0, d->count));
    }
    for (uint32_t i = 0; i < SUMMARY_N(s, worker); i++) {
        const summary_worker *w = &SUMMARY_ROWS(s, worker)[i];
        c->device_work = add_i64(c->device_work, max_i64(0, w->device_work));
        c->with_launch = add_i64(c->with_launch, max_i64(0, w->with_launch));
        c->kernels = add_i64(c->kernels, max_i64(0, w->kernels));
        c->kernels_with_op = add_i64(c->kernels_with_op, max_i64(0, w->kernels_with_op));
    }
}

static status add_trace(const trace *t, bool links, quality_counts *c, error *err) {
    quality_counts one;
    TRY(quality_count(t, links, &one, err));
    for (int i = 0; i < N_CAUSES; i++) c->cause[i] = add_i64(c->cause[i], one.cause[i]);
    c->device_work = add_i64(c->device_work, one.device_work);
    c->with_launch = add_i64(c->with_launch, one.with_launch);
    c->kernels = add_i64(c->kernels, one.kernels);
    c->kernels_with_op = add_i64(c->kernels_with_op, one.kernels_with_op);
    c->kernels_inferred = add_i64(c->kernels_inferred, one.kernels_inferred);
    return OK;
}

/* ---- as an answer has it ----------------------------------------------------------------- */

static status fill_dropped(const quality_counts *c, arena *a, quality *q, error *err) {
    q->dropped = ARENA_ARRAY(a, struct dropped, N_CAUSES);
    if (!q->dropped) FAIL_MEMORY(err);
    for (int i = CAUSE_NONE + 1; i < N_CAUSES; i++) {
        if (c->cause[i] <= 0) continue;
        str lower = arena_str(a, str_of(CAUSE_NAMES[i].name));
        if (!lower.p) FAIL_MEMORY(err);
        for (char *p = (char *)(uintptr_t)lower.p; *p; p++)
            if (*p >= 'A' && *p <= 'Z') *p = (char)(*p - 'A' + 'a');
        q->dropped[q->n_dropped++] = (struct dropped){.cause = lower.p,
                                                      .message = CAUSE_NAMES[i].message,
                                                      .harmless = HARMLESS[i],
                                                      .count = c->cause[i]};
    }
    return OK;
}

/* A trace of the host alone has nothing to link. */
static status fill_links(const quality_counts *c, arena *a, quality *q, error *err) {
    q->links = ARENA_ARRAY(a, quality_link, 3);
    if (!q->links) FAIL_MEMORY(err);
    if (c->kernels)
        q->links[q->n_links++] = (quality_link){.what = "kernels with an operator",
                                                .message = MSG_LINK_KERNEL_OP,
                                                .linked = c->kernels_with_op,
                                                .total = c->kernels};
    if (c->kernels_inferred)
        q->links[q->n_links++] = (quality_link){.what = "kernels with an inferred operator",
                                                .message = MSG_LINK_INFERRED,
                                                .linked = c->kernels_inferred,
                                                .total = c->kernels};
    if (c->device_work)
        q->links[q->n_links++] = (quality_link){.what = "device work with a launch call",
                                                .message = MSG_LINK_LAUNCH,
                                                .linked = c->with_launch,
                                                .total = c->device_work};
    return OK;
}

status input_quality(bool links, const analysis_input *in, arena *a, quality *out, error *err) {
    quality_counts c = {.device_work = 0};
    quality q = {.events_read = 0};
    for (uint32_t i = 0; i < in->n_traces; i++) {
        const trace *one = in->traces[i].trace;
        q.events_read = add_i64(q.events_read, sat_i64(one->events_read));
        if (one->summary) add_summary(one->summary, &c);
        if (!one->summary) TRY(add_trace(one, links, &c, err));
    }
    TRY(fill_dropped(&c, a, &q, err));
    TRY(fill_links(&c, a, &q, err));
    *out = q;
    return OK;
}

/* Recordings are written while the program runs, and a folder in many files: what is lost is
 * the end of one, not the device's half. A plain trace-event file may lack its last bracket. */
static bool loses_only_its_end(str format, bool has_device) {
    uint32_t traits = format_traits(format);
    return traits & TRAIT_END_MAY_LACK || (has_device && traits & TRAIT_WRITTEN_ALONG);
}

static bool is_cutting(int64_t why) {
    return why == CAUSE_TRUNCATED || why == CAUSE_STREAM_DAMAGED;
}

/* Both tables ascend by worker. */
bool quality_cut_run(const summary *s, verdict *out) {
    const summary_damage *d = SUMMARY_ROWS(s, damage);
    const summary_worker *first = NULL;
    int64_t n_cut = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < SUMMARY_N(s, worker); i++) {
        const summary_worker *w = &SUMMARY_ROWS(s, worker)[i];
        bool is_cut = false;
        while (at < SUMMARY_N(s, damage) && str_cmp(d[at].worker, w->name) < 0) at++;
        for (; at < SUMMARY_N(s, damage) && str_eq(d[at].worker, w->name); at++)
            is_cut |= is_cutting(d[at].cause) && d[at].count > 0;
        if (!is_cut || loses_only_its_end(w->format, w->has_device == 1)) continue;
        if (!first) first = w;
        n_cut++;
    }
    if (!first) return false;
    *out = (verdict){
        .id = "trace_cut", .message = MSG_VERDICT_TRACES_CUT, .severity = SEVERITY_CRITICAL};
    verdict_add(out, arg_int("count", n_cut));
    verdict_add(out, arg_int("workers", SUMMARY_N(s, worker)));
    verdict_add(out, arg_text("worker", first->name));
    return true;
}

/* Only ranges have a device's half and steps to lose: a picture of the memory has neither. */
status quality_cut(const trace *t, bool *is_cut, verdict *out, error *err) {
    quality_counts n;
    TRY(quality_count(t, false, &n, err));
    *is_cut = n.cause[CAUSE_TRUNCATED] > 0 || n.cause[CAUSE_STREAM_DAMAGED] > 0;
    if (loses_only_its_end(t->format, t->kernel.n > 1)) *is_cut = false;
    if (!*is_cut) return OK;
    *out = (verdict){
        .id = "trace_cut", .message = MSG_VERDICT_TRACE_CUT, .severity = SEVERITY_CRITICAL};
    verdict_add(out, arg_int("events", sat_i64(t->events_read)));
    if (t->slice.n <= 1) return OK;
    if (t->kernel.n <= 1) verdict_add(out, arg_int("no_device", 1));
    if (t->step.n <= 1) verdict_add(out, arg_int("no_steps", 1));
    return OK;
}

/* For several traces: how many, and the first of them. */
static void say_several(const analysis_input *in, uint32_t first, int64_t n_cut, verdict *out) {
    *out = (verdict){
        .id = "trace_cut", .message = MSG_VERDICT_TRACES_CUT, .severity = SEVERITY_CRITICAL};
    verdict_add(out, arg_int("count", n_cut));
    verdict_add(out, arg_int("workers", in->n_traces));
    verdict_add(out, arg_text("worker", in->traces[first].worker));
}

status input_cut(const analysis_input *in, verdict *out, error *err) {
    uint32_t first = 0;
    int64_t n_cut = 0;
    *out = (verdict){.id = NULL};
    for (uint32_t i = 0; i < in->n_traces; i++) {
        bool is_cut = false;
        verdict one;
        const trace *t = in->traces[i].trace;
        if (t->summary)
            is_cut = quality_cut_run(t->summary, &one);
        else
            TRY(quality_cut(t, &is_cut, &one, err));
        if (!is_cut) continue;
        if (n_cut++ == 0) first = i;
        *out = one;
    }
    if (n_cut && in->n_traces > 1) say_several(in, first, n_cut, out);
    return OK;
}
