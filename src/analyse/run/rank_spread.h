/* rank_spread.h: how the average step differs from worker to worker.
 *
 * Each worker has an average step, split by category as the breakdown of the overview is. For
 * each category and for the whole step: the shortest, the median and the longest of all
 * workers, and whose they are. */
#ifndef ANALYSE_RANK_SPREAD_H
#define ANALYSE_RANK_SPREAD_H

#include "analyse/analysis.h"
#include "analyse/device/breakdown.h"
#include "store/summary.h"

/* What a step of a summary was spent on, by role. */
void step_role_times(const summary_step *s, int64_t ns[N_ROLES]);

/* Table `spread` of the overview; the summary is settled. Without two workers that have steps
 * there is nothing to compare, and the table is empty. */
status rank_spread_write(const summary *s, arena *a, answer *out, error *err) MUST_USE;

#endif
