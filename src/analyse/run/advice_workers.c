/* advice_workers.c: the joined summaries and the comparison of workers that rules of advice
 * look at.
 *
 * Advice is below this room: each trace is asked for its advice when it is reduced
 * (reduce_tables.c). What only several workers tell is therefore handed to it from here. */
#include "analyse/run/advice_workers.h"

#include "analyse/run/run_summary.h"
#include "analyse/run/summary_filter.h"

static status compare(const analysis_input *in, const params *p, arena *a, advice_workers *out,
                      error *err) {
    answer *all = ARENA_NEW(a, answer);
    if (!all) FAIL_MEMORY(err);
    TRY(analyse_distributed(in, p, a, all, err));
    out->distributed = all;
    return OK;
}

status advice_workers_find(const analysis_input *in, const params *p, arena *a,
                           advice_workers *out, error *err) {
    *out = (advice_workers){.is_part = summary_is_filtered(p)};
    if (input_is_summary(in)) {
        TRY(run_summary_make(in, p, a, &out->run, err));
        return SUMMARY_N(out->run, worker) > 1 ? compare(in, p, a, out, err) : OK;
    }
    return in->n_traces > 1 ? compare(in, p, a, out, err) : OK;
}
