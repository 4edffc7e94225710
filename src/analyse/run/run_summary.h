/* run_summary.h: the resolved summary that a question about all workers uses. */
#ifndef ANALYSE_RUN_SUMMARY_H
#define ANALYSE_RUN_SUMMARY_H

#include "analyse/analysis.h"
#include "analyse/comm/worker_order.h"
#include "store/summary.h"

/* Of traces (reduced now, cut to the selection), of workers' summaries, or of a reduced run,
 * both cut to the steps that are asked about (summary_filter.h). The result lives as long as
 * the arena. */
status run_summary_make(const analysis_input *in, const params *p, arena *a,
                        const summary **out, error *err) MUST_USE;
/* The same, always newly made and owned by the caller; `limit_bytes` for memory on the way. The
 * above takes what this makes as it is, for the same selection. */
status run_summary_join(const analysis_input *in, const params *p, size_t limit_bytes,
                        summary **out, error *err) MUST_USE;
/* Operators, kernels and workers of all of them, settled but not resolved: of traces inside the
 * selection, of summaries whole. Lives as long as the arena. */
status run_summary_names(const analysis_input *in, const params *p, arena *a,
                         const summary **out, error *err) MUST_USE;

#endif
