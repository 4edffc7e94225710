/* noise.h: is a difference of two means more than chance?
 *
 * Samples are lengths of steps, or means of runs of one program. Welch's test, whose two sides
 * may spread differently, gives the interval that contains the true difference 95 times out of
 * 100. Steps of one run are similar because they share a machine and its load: what runs differ
 * beyond their steps is `between_variance`. */
#ifndef ANALYSE_NOISE_H
#define ANALYSE_NOISE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

typedef struct {
    uint32_t n;
    double mean, variance; /* variance: of one sample; 0 with less than two */
} noise_samples;

/* Of b − a: the change, its 95 % interval, and the smallest change that four of five such
 * comparisons would detect (the interval excludes 0). */
typedef struct {
    double change, low, high, detectable;
} noise_change;

noise_samples noise_of(const int64_t *ns, uint32_t n);
noise_samples noise_of_reals(const double *v, uint32_t n);

/* between_variance: of the means of several runs of one program, 0 when it is not known. Each
 * side is then one run, and its mean is no more certain than that. False, and `out` unchanged,
 * when a side has less than two samples. */
bool noise_compare(const noise_samples *a, const noise_samples *b, double between_variance,
                   noise_change *out);

/* The first side is the means of several runs, the second one run of which the steps are known:
 * it spreads like one of them, or like its own steps if that is more. */
bool noise_compare_runs(const noise_samples *runs, const noise_samples *b, noise_change *out);

/* Does the interval exclude 0? */
bool noise_is_real(const noise_change *c);

/* The value that Student's t with these degrees of freedom (at least 1) does not exceed with
 * probability p, 0.5 ≤ p < 1. */
double noise_t(double p, double freedom);

typedef struct {
    double value, weight;
} noise_weighted;

/* The value at which half of all weight is reached; `without` when there is none. Allocates in
 * `a`. */
status noise_weighted_median(const noise_weighted *v, uint32_t n, double without, arena *a,
                             double *out, error *err) MUST_USE;

#endif
