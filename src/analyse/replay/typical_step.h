/* typical_step.h: the length that stands for many steps: their median, or their mean where
 * they differ.
 *
 * Two workers of a data loader that deliver together make a long step and a short one in turn:
 * the median is the length of one sort of them and says nothing about the other. */
#ifndef ANALYSE_TYPICAL_STEP_H
#define ANALYSE_TYPICAL_STEP_H

#include <stdbool.h>

#include "base/sort.h"

typedef struct {
    int64_t median, mean;
    bool uneven; /* without the shortest and the longest, they still differ */
} typical_step;

/* Of n lengths; `pairs` and `scratch` are room for as many. All 0 without a step. */
typical_step typical_step_of(const int64_t *ns, uint32_t n, sort_pair *pairs,
                             sort_pair *scratch);

/* Is a length off from another one by more than a part of it? */
bool lengths_differ(int64_t ns, int64_t from_ns, double by);

#endif
