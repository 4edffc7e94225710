/* cpu_use.h: how busy the processors were while a pipeline ran, by sample and by step. */
#ifndef ANALYSE_CPU_USE_H
#define ANALYSE_CPU_USE_H

#include "analyse/analysis.h"

/* The tables `cpu` (means) and `cpu_samples` of the analysis pipeline, from the metadata
 * cpu_utilization; empty when there is none. Steps first to last; ABSENT_I64 = all. */
status cpu_use_write(const trace *t, const params *p, arena *a, answer *out,
                     error *err) MUST_USE;
/* Mean share of the machine that was busy, 0 … 1; NaN when it was not recorded. */
double cpu_busy_share(const trace *t);
/* Mean user and system use of an operator in percent of one processor; NaN when not
 * recorded. */
double cpu_of_operator(const trace *t, int64_t id);

#endif
