/* worker_given.h: what a producer wrote about each worker itself, from its trace or its summary.
 *
 * MindSpore adds up steps, links, operations and memory in small files beside its traces; they are
 * metadata of the trace, and a summary keeps the few that questions about all workers need. */
#ifndef ANALYSE_WORKER_GIVEN_H
#define ANALYSE_WORKER_GIVEN_H

#include "analyse/analysis.h"
#include "store/summary.h"

/* One entry for each worker: a trace is one, a summary as many as it holds, by rank. */
status given_workers(const analysis_input *in, arena *a, analysis_input *out,
                     error *err) MUST_USE;
/* The text (JSON) under this name, STR_NONE when it was not written. Names a summary keeps stand in
 * worker_given.c. */
str given_text(const analysis_trace *at, str name);
/* Rows `given` of a worker's summary. */
status given_reduce(const analysis_trace *at, str worker, summary *out, error *err) MUST_USE;

#endif
