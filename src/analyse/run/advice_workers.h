/* advice_workers.h: what rules of advice learn from the other workers of a run. */
#ifndef ANALYSE_ADVICE_WORKERS_H
#define ANALYSE_ADVICE_WORKERS_H

#include "analyse/advise/advice.h"

/* Empty for one trace. The result lives as long as the arena. */
status advice_workers_find(const analysis_input *in, const params *p, arena *a,
                           advice_workers *out, error *err) MUST_USE;

#endif
