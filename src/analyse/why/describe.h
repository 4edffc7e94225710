/* describe.h: a list of numbers in seven: mean, standard deviation of a sample, smallest,
 * quartiles, largest. Quartiles lie between the two nearest numbers, by distance. */
#ifndef ANALYSE_DESCRIBE_H
#define ANALYSE_DESCRIBE_H

#include "base/arena.h"
#include "base/status.h"

typedef struct {
    double *v;
    size_t n, cap;
} numbers;

typedef struct {
    double mean, std, min, p25, p50, p75, max; /* std: 0 of one number */
} description;

status numbers_add(numbers *s, arena *a, double value, error *err) MUST_USE;
/* Sorts the numbers; NaN in all seven of none. None of them is NaN. */
description numbers_describe(numbers *s);

#endif
