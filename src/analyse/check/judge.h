/* judge.h: is a limit kept, exceeded, or lost in the noise?
 *
 * With samples (steps) a relative limit L, and the 95 % interval low … high of how much worse
 * it became:
 *
 *     low > L                               regression: worse than allowed for sure
 *     high > L, half the interval > L       inconclusive: the noise is larger than the limit
 *     change > L                            regression: then low > 0, the change is real
 *     otherwise                             ok
 *
 * Where several runs of the base are known, how they differ from each other is the noise.
 *
 * Of an absolute limit the mean decides, and it is a regression only when the whole interval is
 * beyond it. A number without samples is compared as it is. Less than two samples on a side
 * say nothing about noise: beyond the limit is then inconclusive. */
#ifndef ANALYSE_JUDGE_H
#define ANALYSE_JUDGE_H

#include "analyse/check/measures.h"

typedef enum {
    CHECK_OK,
    CHECK_REGRESSION,
    CHECK_INCONCLUSIVE,
    CHECK_NOT_RECORDED
} check_result;
/* "ok", "regression", "inconclusive", "not_recorded". */
const char *check_result_name(check_result r);

typedef enum {
    REASON_NONE,
    REASON_NOISE,      /* larger than the limit */
    REASON_FEW_STEPS,  /* no noise known */
    REASON_HOST_SPEED, /* the host was slower in all calls */
    REASON_CAUSES,     /* causes that are certain exceed the limit by themselves */
    REASON_OFFSET,     /* they do, but the measure itself is no worse */
    REASON_OTHER_WORK,
    REASON_NO_ROW, /* no such row, or not recorded */
    REASON_ROW,    /* the row that exceeds it most: `row` */
} check_reason;

typedef struct {
    const budget_rule *rule;
    double base, candidate, limit; /* NaN: not known; limit: the value that is allowed */
    double change, low, high;      /* candidate − base, and its interval; NaN likewise */
    check_result result;
    check_reason reason;
    str row;
} judged;

/* What a measure says; `base` NULL without a base. A change up to `least` is
 * allowed in any case. */
judged judge_measure(const budget_rule *r, const measured *base, const measured *candidate,
                     double least);
/* The same of two numbers, NaN when not known. */
judged judge_numbers(const budget_rule *r, double base, double candidate);
/* How far beyond the limit, in its own unit; below 0: kept. NaN when not known. */
double judged_excess(const judged *j);
/* The same change without a part of it: would it still be a regression? */
bool judged_survives(const judged *j, double part);

#endif
