/* run_summary.c: from what was opened to one resolved summary of all workers.
 *
 * A trace is reduced first, inside the selection; a worker's summary is taken and cut to the
 * selection (summary_filter.h); then what concerns them all is resolved once (comm_resolve.h).
 * A reduced run is resolved already and can only be cut in what it knows by step. Workers of
 * the same name (files of different runs side by side) are distinguished by a number. */
#include "analyse/run/run_summary.h"

#include "analyse/run/comm_resolve.h"
#include "analyse/run/reduce.h"
#include "analyse/run/summary_filter.h"
#include "analyse/select.h"

static void free_summary(void *s) {
    summary_free(s);
}

/* A name no trace before this one has. */
static status own_name(const analysis_input *in, uint32_t i, arena *a, str *out, error *err) {
    uint32_t same = 0;
    for (uint32_t k = 0; k < i; k++) same += str_eq(in->traces[k].worker, in->traces[i].worker);
    *out = in->traces[i].worker;
    if (!same) return OK;
    *out = arena_printf(a, "%.*s (%u)", STR_ARG(in->traces[i].worker), same + 1);
    if (!out->p) FAIL_MEMORY(err);
    return OK;
}

static status add_trace(summary *s, const analysis_input *in, uint32_t i, const params *p,
                        arena *a, error *err) {
    analysis_trace at = in->traces[i];
    if (at.trace->summary) return summary_append(s, at.trace->summary, SUMMARY_ALL, err);
    /* Names differ unless there are many traces of one name, for which they do not matter. */
    if (in->n_traces <= 1024) TRY(own_name(in, i, a, &at.worker, err));
    reduce_question q = {.at = &at, .params = p};
    return reduce_trace(&q, a->limit_bytes, s, err);
}

static status join_own(const analysis_input *in, const params *p, arena *a, summary *s,
                       error *err) {
    bool summaries = false;
    for (uint32_t i = 0; i < in->n_traces; i++) {
        TRY(add_trace(s, in, i, p, a, err));
        summaries |= in->traces[i].trace->summary != NULL;
    }
    TRY(summary_settle(s, err));
    bool resolved = SUMMARY_N(s, sync) > 0, cut = summaries && summary_is_filtered(p);
    if (cut)
        TRY(resolved ? summary_filter_resolved(s, p, err) : summary_filter_workers(s, p, err));
    return resolved ? OK : comm_resolve_all(s, a, err);
}

status run_summary_join(const analysis_input *in, const params *p, size_t limit_bytes,
                        summary **out, error *err) {
    arena scratch;
    summary *s = summary_new();
    if (!s) FAIL_MEMORY(err);
    arena_init(&scratch, limit_bytes);
    status st = join_own(in, p, &scratch, s, err);
    arena_fini(&scratch);
    if (st == OK)
        *out = s;
    else
        summary_free(s);
    return st;
}

static status add_names(summary *s, const analysis_input *in, uint32_t i, const params *p,
                        arena *a, error *err) {
    const uint64_t wanted = SUMMARY_BIT(worker) | SUMMARY_BIT(op) | SUMMARY_BIT(kernel) |
                            SUMMARY_BIT(histogram) | SUMMARY_BIT(worker_time) |
                            SUMMARY_BIT(failure);
    analysis_trace at = in->traces[i];
    if (at.trace->summary) return summary_append(s, at.trace->summary, wanted, err);
    if (in->n_traces <= 1024) TRY(own_name(in, i, a, &at.worker, err));
    TRY(trace_require(at.trace, SELECT_TABLES | TRACE_TABLE(op), err));
    reduce_question q = {.at = &at, .params = p};
    summary_worker *w = summary_add_worker(s); /* the names are those of the last one */
    if (!w) FAIL_MEMORY(err);
    *w = (summary_worker){.name = summary_text(s, at.worker),
                          .rank = at.rank,
                          .host = STR(""),
                          .format = STR(""),
                          .has_device = at.trace->kernel.n > 1};
    if (!w->name.p) FAIL_MEMORY(err);
    return reduce_names(&q, a, s, err);
}

static status join_names(const analysis_input *in, const params *p, arena *a, summary *s,
                         error *err) {
    for (uint32_t i = 0; i < in->n_traces; i++) {
        arena scratch;
        arena_init(&scratch, a->limit_bytes);
        status st = add_names(s, in, i, p, &scratch, err);
        arena_fini(&scratch);
        TRY(st);
    }
    return summary_settle(s, err);
}

/* Frees the summary with the arena, or now. */
static status keep(summary *s, arena *a, const summary **out, error *err) {
    if (!arena_on_reset(a, free_summary, s)) FAIL_MEMORY(err); /* which has freed it */
    *out = s;
    return OK;
}

status run_summary_names(const analysis_input *in, const params *p, arena *a,
                         const summary **out, error *err) {
    const summary *given = in->traces[0].trace->summary;
    if (in->n_traces == 1 && given) {
        *out = given;
        return OK;
    }
    summary *s = summary_new();
    if (!s) FAIL_MEMORY(err);
    status st = join_names(in, p, a, s, err);
    if (st == OK) return keep(s, a, out, err);
    summary_free(s);
    return st;
}

status run_summary_make(const analysis_input *in, const params *p, arena *a,
                        const summary **out, error *err) {
    const summary *given = in->traces[0].trace->summary;
    summary *s;
    if (in->n_traces == 1 && given && SUMMARY_N(given, sync) &&
        (!summary_is_filtered(p) || run_fact(given, "cut"))) {
        *out = given;
        return OK;
    }
    TRY(run_summary_join(in, p, a->limit_bytes, &s, err));
    return keep(s, a, out, err);
}
