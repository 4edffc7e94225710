/* run_summary.c: from what was opened to one resolved summary of all workers.
 *
 * A trace is reduced first, inside the selection; a worker's summary is taken as it is; then
 * what concerns them all is resolved once (resolve.h). A reduced run is resolved already: steps
 * can still be chosen in it, because its rows are sums of steps; windows cannot. Workers of the
 * same name (files of different runs side by side) are told apart by a number. */
#include "analyse/run_summary.h"

#include "analyse/reduce.h"
#include "analyse/resolve.h"

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
    /* Names differ unless there are many traces of one name, which nobody asks about. */
    if (in->n_traces <= 1024) TRY(own_name(in, i, a, &at.worker, err));
    reduce_question q = {.at = &at, .params = p};
    return reduce_trace(&q, a->limit_bytes, s, err);
}

static bool has_steps(const params *p) {
    return p->first_step != ABSENT_I64 || p->last_step != ABSENT_I64;
}

static bool is_chosen(const params *p, int64_t number) {
    return (p->first_step == ABSENT_I64 || number >= p->first_step) &&
           (p->last_step == ABSENT_I64 || number <= p->last_step);
}

/* Keeps the chosen steps, and adds up anew what is known by step. */
static void choose_steps(summary *s, const params *p) {
    summary_step *steps = SUMMARY_ROWS(s, step);
    summary_step_sync *syncs = SUMMARY_ROWS(s, step_sync);
    summary_sync *sums = SUMMARY_ROWS(s, sync);
    uint32_t n = 0, k = 0;
    for (uint32_t i = 0; i < SUMMARY_N(s, step); i++)
        if (is_chosen(p, steps[i].number)) steps[n++] = steps[i];
    s->tables[SUMMARY_step].n = n;
    n = 0;
    for (uint32_t i = 0; i < SUMMARY_N(s, step_sync); i++)
        if (is_chosen(p, syncs[i].number)) syncs[n++] = syncs[i];
    s->tables[SUMMARY_step_sync].n = n;
    for (uint32_t i = 0; i < SUMMARY_N(s, sync); i++) {
        sums[i].transfer = sums[i].waiting = 0;
        for (; k < n && str_eq(syncs[k].worker, sums[i].worker); k++) {
            sums[i].transfer = add_i64(sums[i].transfer, syncs[k].transfer);
            sums[i].waiting = add_i64(sums[i].waiting, syncs[k].waiting);
        }
    }
}

status run_summary_make(const analysis_input *in, const params *p, arena *a,
                        const summary **out, error *err) {
    bool summaries = input_is_summary(in);
    if (summaries && (p->from_ns != ABSENT_I64 || p->to_ns != ABSENT_I64))
        FAIL0(err, ERR_ARG, NOPOS, MSG_SUMMARY_NO_WINDOW);
    if (summaries && in->n_traces == 1 && !has_steps(p) &&
        SUMMARY_N(in->traces[0].trace->summary, sync)) {
        *out = in->traces[0].trace->summary;
        return OK;
    }
    summary *s = summary_new();
    if (!s || !arena_on_reset(a, free_summary, s)) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < in->n_traces; i++) TRY(add_trace(s, in, i, p, a, err));
    TRY(summary_settle(s, err));
    if (!SUMMARY_N(s, sync)) TRY(resolve_all(s, a, err));
    if (summaries && has_steps(p)) choose_steps(s, p);
    *out = s;
    return OK;
}
