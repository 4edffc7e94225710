/* producer_meta.h: what a producer wrote about each worker itself, from its trace or its summary.
 *
 * MindSpore adds up steps, links, operations and memory in small files beside its traces; they are
 * metadata of the trace, and a summary keeps the few that questions about all workers need. */
#ifndef ANALYSE_PRODUCER_META_H
#define ANALYSE_PRODUCER_META_H

#include "analyse/analysis.h"
#include "store/summary.h"

/* One entry for each worker: a trace is one, a summary as many as it holds, by rank. */
status producer_workers(const analysis_input *in, arena *a, analysis_input *out,
                        error *err) MUST_USE;
/* The text (JSON) under this name, STR_NONE when it was not written. Names a summary keeps stand in
 * producer_meta.c. */
str producer_text(const analysis_trace *at, str name);
/* Rows `given` of a worker's summary. */
status producer_reduce(const analysis_trace *at, str worker, summary *out, error *err) MUST_USE;

#endif
