/* producer_rows.c: tables that producers had added up, wherever they lie. */
#include "analyse/vendor/producer_rows.h"

#include "analyse/comm/worker_order.h"
#include "store/summary_rows.h"

/* What questions about all workers ask of a producer's tables: a summary keeps these. */
static const int KEPT[] = {SUMMARY_parallel,     SUMMARY_plan_op, SUMMARY_comm_cost,
                           SUMMARY_comm_cost_op, SUMMARY_link,    SUMMARY_resource};

enum { N_KEPT = sizeof KEPT / sizeof *KEPT };

static status add_summary(const analysis_trace *at, arena *a, analysis_trace *to, uint32_t *n,
                          error *err) {
    worker_order who;
    TRY(worker_order_make(&who, at->trace->summary, a, err));
    for (uint32_t i = 0; i < who.n; i++) {
        to[*n] = *at;
        to[*n].worker = who.v[i]->name;
        to[(*n)++].rank = who.v[i]->rank;
    }
    return OK;
}

status producer_workers(const analysis_input *in, arena *a, analysis_input *out, error *err) {
    size_t most = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->n_traces; i++) {
        const summary *s = in->traces[i].trace->summary;
        most += s ? SUMMARY_N(s, worker) : 1;
    }
    analysis_trace *v = ARENA_ARRAY(a, analysis_trace, most + 1);
    if (!v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < in->n_traces; i++) {
        const analysis_trace *at = &in->traces[i];
        if (at->trace->summary)
            TRY(add_summary(at, a, v, &n, err));
        else
            v[n++] = *at;
    }
    *out = (analysis_input){.traces = v, .n_traces = n};
    return OK;
}

status producer_rows(const analysis_trace *at, int kind, arena *a, const void **rows,
                     uint32_t *n, error *err) {
    void *found = NULL;
    if (at->trace->summary)
        summary_rows_of_worker(at->trace->summary, kind, at->worker, &found, n);
    else
        TRY(summary_rows_of_trace(at->trace, kind, at->worker, a, &found, n, err));
    *rows = found;
    return OK;
}

status producer_reduce(const analysis_trace *at, str worker, summary *out, error *err) {
    for (int i = 0; i < N_KEPT; i++)
        TRY(summary_take_rows(out, at->trace, KEPT[i], worker, err));
    return OK;
}

bool producer_drop_longest(summary *s) {
    int longest = KEPT[0];
    for (int i = 1; i < N_KEPT; i++)
        if (s->tables[KEPT[i]].n > s->tables[longest].n) longest = KEPT[i];
    if (!s->tables[longest].n) return false;
    summary_drop(s, (uint64_t)1 << longest);
    return true;
}
