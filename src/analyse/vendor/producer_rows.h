/* producer_rows.h: what a producer had added up about each worker, from its trace or its
 * summary.
 *
 * Steps, links, operations, memory, the plan of a split network: small tables of the trace
 * (schema.def) that a summary keeps under the same names. */
#ifndef ANALYSE_PRODUCER_ROWS_H
#define ANALYSE_PRODUCER_ROWS_H

#include "analyse/analysis.h"
#include "store/summary.h"

/* One entry for each worker: a trace is one, a summary as many as it holds, by rank. */
status producer_workers(const analysis_input *in, arena *a, analysis_input *out,
                        error *err) MUST_USE;
/* The rows of a worker in a table that both have, valid as long as its trace and the arena:
 *     const summary_link *links;
 *     TRY(producer_rows(at, SUMMARY_link, a, (const void **)&links, &n, err)); */
status producer_rows(const analysis_trace *at, int kind, arena *a, const void **rows,
                     uint32_t *n, error *err) MUST_USE;
/* All of these rows of a worker for its summary. */
status producer_reduce(const analysis_trace *at, str worker, summary *out, error *err) MUST_USE;
/* A summary is too large: the longest of these tables goes. False when none is left. */
bool producer_drop_longest(summary *s);

#endif
