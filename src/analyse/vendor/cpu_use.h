/* cpu_use.h: how busy the processors were while a pipeline ran, by sample and by step. */
#ifndef ANALYSE_CPU_USE_H
#define ANALYSE_CPU_USE_H

#include "analyse/analysis.h"

/* The tables `cpu` (means) and `cpu_samples` of the analysis pipeline;
 * empty when nothing was sampled. Steps first to last; ABSENT_I64 = all. */
status cpu_use_write(const trace *t, const params *p, arena *a, answer *out,
                     error *err) MUST_USE;
/* Mean share of the machine that was busy, 0 … 1; NaN when it was not recorded. */
double cpu_busy_share(const trace *t);

#endif
