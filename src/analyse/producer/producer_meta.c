/* producer_meta.c: metadata of workers, wherever it lies.
 *
 * A name that a question about all workers asks for must stand in KEPT: what is not there is not in
 * a summary, and asking for it is a mistake of ours. */
#include "analyse/producer/producer_meta.h"

#include "analyse/scan/worker_order.h"

static const char *const KEPT[] = {
    "cluster_steps",     "flops_summary",        "hccl",
    "hccl_links",        "memory_usage_summary", "parallel_mode",
    "parallel_strategy", "pipeline_stage_num",   "rank_size",
    "stage_num",
};

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

/* Rows ascend by worker and name. */
static str find_row(const summary *s, str worker, str name) {
    const summary_given *v = SUMMARY_ROWS(s, given);
    uint32_t low = 0, high = SUMMARY_N(s, given);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = str_cmp(v[middle].worker, worker);
        if (!order) order = str_cmp(v[middle].name, name);
        if (!order) return v[middle].value;
        if (order > 0)
            high = middle;
        else
            low = middle + 1;
    }
    return STR_NONE;
}

str producer_text(const analysis_trace *at, str name) {
    bool kept = false;
    for (int i = 0; i < N_KEPT && !kept; i++) kept = str_eq(str_of(KEPT[i]), name);
    if (!kept) BUG("a summary does not keep this name");
    return at->trace->summary ? find_row(at->trace->summary, at->worker, name)
                              : trace_meta(at->trace, name);
}

status producer_reduce(const analysis_trace *at, str worker, summary *out, error *err) {
    for (int i = 0; i < N_KEPT; i++) {
        str value = trace_meta(at->trace, str_of(KEPT[i]));
        if (!value.n) continue;
        summary_given *row = summary_add_given(out);
        if (!row) FAIL_MEMORY(err);
        *row = (summary_given){.worker = worker,
                               .name = summary_text(out, str_of(KEPT[i])),
                               .value = summary_text(out, value)};
        if (!row->name.p || !row->value.p) FAIL_MEMORY(err);
    }
    return OK;
}
