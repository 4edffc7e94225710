/* step_mfu.c: model FLOPs utilization of the steps.
 *
 * Operations are those of the recorded calls that begin in a step on the host, whatever device
 * or thread runs them. The peak is that of the type most of them are in: a model that computes
 * mostly in bfloat16 and a little in float32 is measured by what bfloat16 could reach. */
#include "analyse/cost/step_mfu.h"

#include <math.h>

#include "analyse/steps/step_spans.h"
#include "base/bisect.h"

/* Does a step that counts hold this time? Steps come by start and do not overlap. */
static bool is_in_step(const step_spans *s, int64_t time_ns) {
    uint32_t low = SEARCH_FIRST(i, 0, s->n, s->v[i].host_end <= time_ns);
    return low < s->n && s->v[low].host_start <= time_ns;
}

static void find_type(const double *by_type, step_mfu *out) {
    for (int i = 1; i < N_DTYPES; i++)
        if (by_type[i] > by_type[out->type]) out->type = (kernel_type)i;
    out->type_share = out->flops > 0 ? by_type[out->type] / out->flops : NAN;
}

/* The share of the kernels' time with known operations; 1 without kernels: the host's time is
 * that of its calls. */
static double find_known(op_work *w, const op_claims *c) {
    const trace *t = w->t;
    int64_t known = 0, all = 0;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k];
        if (t->slice.kind[slice] != KIND_KERNEL || !select_work_counts(w->select, k)) continue;
        if (!c->of_kernel[k] && lexicon_kernel_row(&w->lexicon, k).class == CLASS_COMMUNICATION)
            continue;
        all = add_i64(all, t->slice.dur[slice]);
        if (c->of_kernel[k]) known = add_i64(known, t->slice.dur[slice]);
    }
    return all > 0 ? (double)known / (double)all : 1;
}

status step_mfu_find(op_work *w, const op_claims *c, step_mfu *out, error *err) {
    const trace *t = w->t;
    step_spans spans;
    double by_type[N_DTYPES] = {0};
    *out = (step_mfu){.mfu = NAN, .type_share = NAN, .known = find_known(w, c)};
    TRY(step_spans_make(t, w->select, w->arena, &spans, err));
    for (uint32_t i = 0; i < spans.n; i++)
        out->ns = add_i64(out->ns, step_span_ns(&spans.v[i]));
    out->steps = spans.marked ? spans.n : 0;
    for (uint32_t i = 0; i < c->n; i++) {
        const op_cost *cost = &c->v[i].done.cost;
        int64_t start = t->slice.start[t->op.slice[c->v[i].op_row]];
        if (!cost->matrix || isnan(cost->flops) || (spans.marked && !is_in_step(&spans, start)))
            continue;
        double flops = cost->flops - cost->repeated;
        out->flops += flops;
        by_type[cost->type] += flops;
    }
    find_type(by_type, out);
    double narrow = device_peak(&w->peaks, out->type, true);
    out->peak = narrow > 0 ? narrow : device_peak(&w->peaks, out->type, false);
    if (out->flops > 0 && out->ns > 0 && out->peak > 0)
        out->mfu = out->flops / ((double)out->ns * 1e-9) / out->peak;
    return OK;
}
