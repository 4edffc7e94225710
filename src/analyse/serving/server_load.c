/* server_load.c: see server_load.h. Everything is a pass over the iterations, which are sorted
 * and do not overlap. */
#include "analyse/serving/server_load.h"

#include "analyse/lexicon.h"
#include "base/sort.h"

/* Fewer decodes have no typical length. */
enum { LEAST_DECODES = 4 };

status server_gaps_find(const served *s, const intervals *busy, arena *a, server_gaps *out,
                        error *err) {
    *out = (server_gaps){.at = intervals_in(a)};
    for (uint32_t i = 1; i < s->n; i++) {
        const served_iteration *one = &s->v[i];
        if (one->gap <= 0 || !iteration_decodes(&one->it)) continue;
        intervals_add(&out->at, sub_i64(one->start, one->gap), one->start);
        out->n++;
    }
    intervals_merge(&out->at);
    if (busy) out->at = intervals_minus(&out->at, busy);
    if (out->at.failed) FAIL_MEMORY(err);
    out->ns = intervals_ns(&out->at);
    return OK;
}

/* ---- prompts ----------------------------------------------------------------------------- */

static status find_median(const served *s, arena *a, int64_t *out, error *err) {
    sort_pair *pairs = ARENA_ARRAY(a, sort_pair, (size_t)s->n + 1);
    uint32_t n = 0;
    if (!pairs) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < s->n; i++)
        if (s->v[i].it.kind == ITERATION_DECODE)
            pairs[n++] = (sort_pair){(uint64_t)served_ns(&s->v[i]), i};
    if (!sort_radix_in(a, pairs, n)) FAIL_MEMORY(err);
    *out = n >= LEAST_DECODES ? sat_i64(pairs[(n - 1) / 2].key) : 0;
    return OK;
}

/* The next iteration that decodes, from `from`; n when none does. */
static uint32_t next_decode(const served *s, uint32_t from) {
    while (from < s->n && !iteration_decodes(&s->v[from].it)) from++;
    return from;
}

/* Requests that decode before and after prefills, and wait meanwhile: those after them
 * without the ones whose prompts were computed, no more than there were before. */
static int64_t waiting_for(const served *s, uint32_t first, uint32_t end) {
    int64_t new = 0;
    if (first == 0 || end >= s->n) return 0;
    const iteration *before = &s->v[first - 1].it, *after = &s->v[end].it;
    if (before->decodes == ABSENT_I64 || after->decodes == ABSENT_I64) return 0;
    for (uint32_t i = first; i < end; i++) {
        if (s->v[i].it.prompts == ABSENT_I64) return 0;
        new = add_i64(new, s->v[i].it.prompts);
    }
    return max_i64(0, min_i64(before->decodes, sub_i64(after->decodes, new)));
}

static void add_stall(const served *s, uint32_t i, int64_t held, server_stalls *out) {
    int64_t ns = served_ns(&s->v[i]);
    out->all_ns = add_i64(out->all_ns, mul_i64(ns, held));
    if (held <= 0 || !iteration_prefills(&s->v[i].it)) return;
    out->held_ns = add_i64(out->held_ns, mul_i64(ns, held));
    out->n++;
    out->ns = add_i64(out->ns, ns);
    out->n_mixed += s->v[i].it.kind == ITERATION_MIXED;
    if (out->longest == UINT32_MAX || ns > served_ns(&s->v[out->longest])) out->longest = i;
}

status server_stalls_find(const served *s, arena *a, server_stalls *out, error *err) {
    *out = (server_stalls){.longest = UINT32_MAX};
    TRY(find_median(s, a, &out->decode_ns, err));
    for (uint32_t i = 0; i < s->n;) {
        if (iteration_decodes(&s->v[i].it)) {
            int64_t held = s->v[i].it.decodes;
            add_stall(s, i, held == ABSENT_I64 ? 0 : held, out);
            i++;
            continue;
        }
        uint32_t end = next_decode(s, i);
        int64_t held = waiting_for(s, i, end);
        for (; i < end; i++) add_stall(s, i, held, out);
    }
    return OK;
}

/* ---- graphs ------------------------------------------------------------------------------ */

static void add_decode(server_decodes *sum, const served_iteration *one) {
    sum->least = sum->n ? min_i64(sum->least, one->it.batch) : one->it.batch;
    sum->most = max_i64(sum->most, one->it.batch);
    sum->n++;
    sum->ns = add_i64(sum->ns, served_ns(one));
}

void server_graphs_find(const served *s, const bool *replayed, server_decodes *graphs,
                        server_decodes *eager) {
    *graphs = *eager = (server_decodes){0};
    for (uint32_t i = 0; i < s->n; i++)
        if (s->v[i].it.kind == ITERATION_DECODE)
            add_decode(replayed[i] ? graphs : eager, &s->v[i]);
}

/* By row of table step: the iteration + 1; 0 for none. */
static uint32_t *by_step(const trace *t, const served *s, arena *a) {
    uint32_t *out = ARENA_ARRAY(a, uint32_t, (size_t)t->step.n + 1);
    for (uint32_t i = 0; out && i < s->n; i++) out[s->v[i].step] = i + 1;
    return out;
}

status server_replays(const trace *t, const served *s, arena *a, bool **out, error *err) {
    int64_t *kernels = ARENA_ARRAY(a, int64_t, (size_t)s->n + 1);
    uint32_t *iteration_of = by_step(t, s, a);
    bool *named = ARENA_ARRAY(a, bool, (size_t)t->n_strings + 1);
    *out = ARENA_ARRAY(a, bool, (size_t)s->n + 1);
    if (!kernels || !iteration_of || !named || !*out) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->n_strings; i++)
        named[i] = lexicon_means(trace_str(t, i), MEANS_REPLAYS);
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t call = t->kernel.launch[k];
        uint32_t at = call ? iteration_of[trace_step_of_work(t, k)] : 0;
        if (at && t->slice.kind[t->kernel.slice[k]] == KIND_KERNEL)
            kernels[at - 1] += named[t->slice.name[call]] ? 1 : -1;
    }
    for (uint32_t i = 0; i < s->n; i++) (*out)[i] = kernels[i] > 0;
    return OK;
}

/* ---- the limit of a batch ---------------------------------------------------------------- */

status server_limit_find(const served *s, const request_list *r, const autopsies *bodies,
                         arena *a, server_limit *out, error *err) {
    intervals full = intervals_in(a);
    *out = (server_limit){.first = UINT32_MAX};
    for (uint32_t i = 0; i < s->n; i++)
        if (iteration_decodes(&s->v[i].it)) out->batch = max_i64(out->batch, s->v[i].it.batch);
    for (uint32_t i = 0; i < s->n && out->batch > 0; i++) {
        const served_iteration *one = &s->v[i];
        if (one->it.batch < out->batch || !iteration_decodes(&one->it)) continue;
        if (!out->n++) out->first = i;
        out->full_ns = add_i64(out->full_ns, served_ns(one));
        intervals_add(&full, one->start, one->end);
    }
    intervals_merge(&full);
    if (full.failed) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < r->n; i++) {
        int64_t queue = bodies->v[i].queue, from = r->v[i].arrival;
        out->latency_ns = add_i64(out->latency_ns, request_latency(&r->v[i]));
        if (queue == ABSENT_I64 || queue <= 0) continue;
        int64_t waited = intervals_ns_in(&full, from, add_i64(from, queue));
        out->queued_ns = add_i64(out->queued_ns, waited);
    }
    return OK;
}
