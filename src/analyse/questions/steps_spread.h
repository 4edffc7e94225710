/* steps_spread.h: how the parts of steps scatter, from the finished table `steps`. */
#ifndef ANALYSE_STEPS_SPREAD_H
#define ANALYSE_STEPS_SPREAD_H

#include "analyse/analysis.h"

enum { STEPS_BANDS = 400 };

/* Adds the tables `distribution` and `bands` to the answer. A percentile is the smallest value
 * that at least so many percent of the steps do not exceed (nearest rank). */
status steps_write_spread(const table *steps, arena *a, answer *out, error *err) MUST_USE;

#endif
