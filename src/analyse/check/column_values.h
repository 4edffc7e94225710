/* column_values.h: the values of columns of any analysis that a budget names, of both runs. */
#ifndef ANALYSE_COLUMN_VALUES_H
#define ANALYSE_COLUMN_VALUES_H

#include "analyse/check/judge.h"

enum { CHECK_BASE, CHECK_CANDIDATE, N_CHECKED };

typedef struct {
    const analysis_input *in[N_CHECKED]; /* NULL: there is no base */
    const measures *m[N_CHECKED];
    const params *params;
    arena *arena;
    struct asked_answer *asked; /* answers so far */
} column_asker;

/* The rule held against the rows it is about: of several the one that exceeds it most. A
 * relative limit compares rows with the same first text; rows that the base does not have are
 * not compared. ERR when the analysis cannot be asked. */
status column_judge(column_asker *q, const budget_rule *r, judged *out, error *err) MUST_USE;

#endif
