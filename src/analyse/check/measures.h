/* measures.h: what a run is judged by, with their samples; and what two runs differ in before
 * they are judged. All from their baselines (baseline.h). */
#ifndef ANALYSE_MEASURES_H
#define ANALYSE_MEASURES_H

#include "analyse/check/budget.h"
#include "analyse/compare/noise.h"
#include "store/summary.h"

/* The parts of a step, each moment in one of them: what a device does first, then the host. */
typedef enum {
    PART_DEVICE,
    PART_RUNTIME,
    PART_DATA,
    PART_OPERATORS,
    PART_OTHER,
    N_PARTS
} step_part;

typedef struct {
    bool known;            /* recorded */
    noise_samples samples; /* one a step; n 0: one number, without noise */
    double value;          /* the mean */
    noise_samples runs;    /* means of several runs of one program; n 0: there is one run */
} measured;

typedef struct {
    const summary *of;
    measured v[N_MEASURES];
    noise_samples part[N_PARTS];
    int64_t steps;   /* of one worker */
    int64_t workers; /* that have steps */
} measures;

/* Steps of several ranks with one number are one sample, their mean: ranks wait for each
 * other. */
status measures_make(const summary *of, arena *a, measures *out, error *err) MUST_USE;

/* Further runs of the same program: their means become the samples `runs` of the first, and its
 * values the means of all. */
status measures_add_runs(measures *to, const measures *also, uint32_t n, arena *a,
                         error *err) MUST_USE;

/* How much longer the host of the second run takes for the same calls of operators: the
 * median, by time, of what they take themselves. 1 when they have none in common. */
status measures_host_ratio(const measures *a, const measures *b, arena *scratch_arena,
                           double *out, error *err) MUST_USE;
/* The share of the calls of operators that both runs make which have other shapes; NaN when
 * shapes were not recorded. */
double measures_reshaped(const measures *a, const measures *b);
/* More than this is a different workload. */
#define MEASURES_OTHER_WORK 0.5

#endif
