/* reduce.h: from a worker's trace to its summary (store/summary.h).
 *
 * The summary of one worker, at most 1 MB as a file: what is too much (names of operators and
 * kernels after the longest thousand, collectives after the first twenty thousand) is left
 * out and counted. */
#ifndef ANALYSE_REDUCE_H
#define ANALYSE_REDUCE_H

#include "analyse/comm/collectives.h"
#include "analyse/steps/step_spans.h"
#include "store/summary.h"

typedef struct {
    const analysis_trace *at;
    const params *params; /* what the steps and collectives are cut to */
    bool tables;          /* operators, kernels, histograms, memory and advice, too */
} reduce_question;

/* Adds the worker to `out`. Memory it needs on the way comes from a separate arena with the
 * limit of `a`. */
status reduce_trace(const reduce_question *q, size_t limit_bytes, summary *out,
                    error *err) MUST_USE;
/* A worker's whole summary as a trace without events, not larger than REDUCE_MAX_BYTES as a
 * file: what a cache keeps. */
status reduce_worker(const analysis_trace *at, size_t limit_bytes, trace **out,
                     error *err) MUST_USE;
/* The tables of operators and kernels, inside the selection. */
status reduce_names(const reduce_question *q, arena *a, summary *out, error *err) MUST_USE;
/* The most memory on each device. */
status reduce_peaks(const reduce_question *q, arena *a, summary *out, error *err) MUST_USE;
/* The tables of operators, kernels, memory and advice; part of the above. */
status reduce_tables(const reduce_question *q, arena *a, summary *out, error *err) MUST_USE;

/* The machine a worker ran on: what its producer says, else from its name (HOST_PID); empty
 * when neither tells. */
str reduce_host(const trace *t, str worker);

/* The most a worker's summary may take as a file. */
#define REDUCE_MAX_BYTES ((size_t)1 << 20)

#endif
