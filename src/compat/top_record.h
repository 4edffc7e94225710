/* top_record.h: executions of operators, collected from a trace for top.c. */
#ifndef ANALYSE_TOP_RECORD_H
#define ANALYSE_TOP_RECORD_H

#include "analyse/select.h"
#include "compat/top.h"

/* Times of one side; NaN: no sample there. */
typedef struct {
    double end, kern;
} top_times;

typedef struct {
    top_record about; /* all but the times and what follows from them */
    top_times device, host;
    str dtypes; /* JSON list */
} top_execution;

typedef struct {
    top_execution *v;
    size_t n, cap;
} top_executions;

/* Every execution in the selection, in the producer's order. */
status top_collect(const trace *t, const selection *select, arena *a, top_executions *out,
                   error *err) MUST_USE;

#endif
