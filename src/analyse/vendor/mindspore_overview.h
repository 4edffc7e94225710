/* mindspore_overview.h: what MindSpore's users look for first: the average step, the types that
 * take longest, the way of the data, and how much was recorded. */
#ifndef ANALYSE_MINDSPORE_OVERVIEW_H
#define ANALYSE_MINDSPORE_OVERVIEW_H

#include "analyse/analysis.h"

/* The tables step_trace, operator_types, data_flow and work of the analysis overview; empty
 * where the trace has nothing of the kind. mean_step: of the steps of the table steps,
 * ABSENT_I64 when nothing marks them; a note says what the two are based on where the step
 * trace's average differs. */
status mindspore_overview_write(const trace *t, int64_t mean_step, arena *a, answer *out,
                                error *err) MUST_USE;

#endif
