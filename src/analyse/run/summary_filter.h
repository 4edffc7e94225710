/* summary_filter.h: summaries cut to the steps or the window a question is about.
 *
 * Summaries know steps, so --step is exact. A window chooses the steps it touches; where it
 * ends between steps that is exact, too, otherwise the facts say how many steps it cuts. */
#ifndef ANALYSE_SUMMARY_FILTER_H
#define ANALYSE_SUMMARY_FILTER_H

#include "analyse/analysis.h"
#include "store/summary.h"

/* Is a part of the run asked about? */
bool summary_is_filtered(const params *p);
/* Before comm_resolve_all: steps that are not chosen go, collectives outside of the chosen ones
 * do not count. Both settle the summary. */
status summary_filter_workers(summary *s, const params *p, error *err) MUST_USE;
/* For a resolved run: what is known by step is added up again, the rest stays. */
status summary_filter_resolved(summary *s, const params *p, error *err) MUST_USE;

/* Notes for what the facts of a summary say about how it was cut. */
status summary_filter_notes(const analysis_input *in, const params *p, const summary *s,
                            arena *a, answer *out, error *err) MUST_USE;

/* A number about the run by its name; 0 when it is missing. */
int64_t run_fact(const summary *s, const char *name);

#endif
