/* step_limit.h: what limits a step.
 *
 * The one answer to that question: overview, advise and critical give it as `limited_by`, and
 * the headlines of operators, kernels and roofline follow it. A device that computes or copies
 * for half of the steps limits them; otherwise the largest cause of its idle time does
 * (idle_causes.h). Unknown without device work, after a cold start, where that cause is not
 * known, and where nothing marks steps and most idle time is before or after all device
 * work. */
#ifndef ANALYSE_STEP_LIMIT_H
#define ANALYSE_STEP_LIMIT_H

#include "analyse/device/idle_causes.h"
#include "analyse/rules.h"

typedef enum {
    LIMIT_UNKNOWN,
    LIMIT_DEVICE,
    LIMIT_CPU, /* it launches late, or waits for the device */
    LIMIT_DATA,
    LIMIT_COMMUNICATION,
    LIMIT_DEPENDENCY,
    N_LIMITS,
} limit_kind;

typedef struct {
    limit_kind by;
    double share; /* of the steps that it takes */
} step_limit;

str limit_name(limit_kind by);

/* From pieces that idle_pieces_find gave for these steps. */
step_limit step_limit_of(const trace *t, const step_spans *steps, const idle_pieces *idle);
/* The same, of the steps whose operators were recorded. */
status step_limit_find(const trace *t, const step_spans *steps, arena *a, step_limit *out,
                       error *err) MUST_USE;

/* The value `limited_by`, where it is known. */
void step_limit_name(const step_limit *l, verdict *v);
/* For a headline about the device's work: if that does not limit the steps of the selection,
 * adds `limit`, the words for what does, and makes it no warning. */
status step_limit_say(const trace *t, const selection *s, arena *a, verdict *v,
                      error *err) MUST_USE;

#endif
