/* input_quality.h: how much of its input an answer is based on. */
#ifndef ANALYSE_INPUT_QUALITY_H
#define ANALYSE_INPUT_QUALITY_H

#include "analyse/analysis.h"
#include "store/summary.h"

typedef struct {
    int64_t cause[N_CAUSES];          /* events by what is wrong with them */
    int64_t device_work, with_launch; /* device work; of it with a launch call */
    int64_t kernels, kernels_with_op; /* 0 when they were not counted */
    int64_t kernels_inferred; /* of those with one: from another step; not in summaries */
} quality_counts;

/* For a trace; `links`: also the operators of kernels, which are columns to be read. */
status quality_count(const trace *t, bool links, quality_counts *out, error *err) MUST_USE;
/* Does the input end before its recording does: truncated, or damaged from some point on? Then
 * what it lacks may decide every answer, and this is the verdict. Kineto writes device work
 * last: a file that is cut has often lost all of it. */
status quality_cut(const trace *t, bool *is_cut, verdict *out, error *err) MUST_USE;
/* The same of all workers of a run: names the first that is cut. */
bool quality_cut_run(const summary *s, verdict *out);
/* The same of all that was opened, traces and summaries; no id when all are whole. */
status input_cut(const analysis_input *in, verdict *out, error *err) MUST_USE;
/* For all traces that were opened, or their summaries; `links` as above. */
status input_quality(bool links, const analysis_input *in, arena *a, quality *out,
                     error *err) MUST_USE;

#endif
