/* job_path.h: the answers of `critical` and `whatif` about a job whose ranks have whole
 * traces. */
#ifndef ANALYSE_JOB_PATH_H
#define ANALYSE_JOB_PATH_H

#include "analyse/analysis.h"

/* Tables ranks, stages, by_kind, by_rank, legs, by_name, by_module, by_line, path; from
 * summaries alone (run/job.h) where ranks do not meet in what is recorded. */
status job_path_critical(const analysis_input *in, const params *p, arena *a, answer *out,
                         error *err) MUST_USE;

/* Tables whatif, steps. */
status job_path_whatif(const analysis_input *in, const params *p, arena *a, answer *out,
                       error *err) MUST_USE;

#endif
