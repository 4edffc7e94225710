/* summary_rows.h: tables that both a trace and a summary have: rows of the one as rows of the
 * other.
 *
 * Such a table of summary.def begins with worker and number; its other columns are those of the
 * table of the same name in schema.def. A question about all workers reads them in one form,
 * whether a worker is a trace or a part of a summary:
 *
 *     summary_link *links;
 *     TRY(summary_rows_of_trace(t, SUMMARY_link, worker, a, (void **)&links, &n, err)); */
#ifndef STORE_SUMMARY_ROWS_H
#define STORE_SUMMARY_ROWS_H

#include "store/summary.h"
#include "store/trace.h"

/* The rows of a trace, in the arena; their numbers are from 1, texts are the trace's own. */
status summary_rows_of_trace(const trace *t, int table, str worker, arena *a, void **rows,
                             uint32_t *n, error *err) MUST_USE;
/* The rows of a worker in a settled summary, valid as long as it is. */
void summary_rows_of_worker(const summary *s, int table, str worker, void **rows, uint32_t *n);
/* Adds the rows of a trace to a summary, texts included. */
status summary_take_rows(summary *to, const trace *t, int table, str worker,
                         error *err) MUST_USE;

#endif
