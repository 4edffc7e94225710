/* prove_pairs.h: two programs whose steps were timed in turns: how much shorter the second is.
 *
 * Each pair is a block of steps of one and then of the other. The saving is the median of 1 -
 * second / first over the pairs; its interval is between two of the sorted pairs such that the
 * true median is outside of them in at most one of twenty cases, whatever the distribution.
 * With fewer than six pairs there is no such interval. */
#ifndef CLI_PROVE_PAIRS_H
#define CLI_PROVE_PAIRS_H

#include "base/num.h"

enum { PAIRS_LEAST = 6, PAIRS_MOST = 64, LOSSES_MOST = 1024 };

typedef struct {
    uint32_t n;
    int64_t first_ns[PAIRS_MOST], second_ns[PAIRS_MOST]; /* of a step */
} prove_pairs;

typedef struct {
    int64_t first_ns;        /* median step of the first */
    double saved, low, high; /* share of the step */
    bool sure;               /* there were enough pairs for an interval */
} prove_saving;

/* Without pairs all is 0. */
prove_saving prove_saving_of(const prove_pairs *p);

/* The losses of a program, in the order of its steps. */
typedef struct {
    uint32_t n;
    double v[LOSSES_MOST];
} prove_losses;

/* |mean of a - mean of b| over the steps that both have, as a share of the former; NaN: one of
 * them has none. */
double prove_loss_change(const prove_losses *a, const prove_losses *b);

#endif
