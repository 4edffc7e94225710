/* summary_answers.h: what a summary answers of questions that are asked of traces. */
#ifndef ANALYSE_SUMMARY_ANSWERS_H
#define ANALYSE_SUMMARY_ANSWERS_H

#include "analyse/device/breakdown.h"
#include "analyse/registry.h"
#include "analyse/run/run_summary.h"

/* Can a question about all of so many workers be answered from their summaries? Always, but for
 * a window of time that may cut steps, and for operators and kernels, which summaries do not
 * know by step, of a run small enough to read its traces. In a larger one the window chooses
 * the steps it touches, operators and kernels are those of the whole recording, and a note says
 * so. */
#define SUMMARY_FEW_WORKERS 16
bool summary_is_enough(const analysis_info *is, const params *p, uint32_t n_workers);

/* The same questions, of summaries; `out` has been begun. */
status summary_info(const analysis_input *in, arena *a, answer *out, error *err) MUST_USE;
/* Of summaries, or of several traces inside the selection. */
status summary_operators(const analysis_input *in, const params *p, arena *a, answer *out,
                         error *err) MUST_USE;
status summary_kernels(const analysis_input *in, const params *p, arena *a, answer *out,
                       error *err) MUST_USE;
/* The average step of all workers: of summaries, or of several traces. */
typedef struct {
    answer *out;
    verdict late; /* about the rank that costs the job most; without an id: there is none */
} run_overview;
status summary_overview(const analysis_input *in, const params *p, arena *a, run_overview *to,
                        error *err) MUST_USE;
/* The column of its table `steps` with the time of a role. */
uint32_t overview_step_column(role r);

#endif
