/* stage_times.h: host and device time of the stages, in each step and in all.
 *
 * Host time is the time the stage was active inside the steps' host intervals; what no stage
 * takes is `other`. Device time is the time in which at least one kernel launched in the stage
 * ran, wherever it ran; the step's is the sum over its stages. */
#ifndef ANALYSE_STAGE_TIMES_H
#define ANALYSE_STAGE_TIMES_H

#include "analyse/steps/stages.h"
#include "analyse/steps/step_spans.h"

#define STAGE_STEP N_STAGES /* the row of the whole step */

typedef struct {
    int64_t calls; /* segments; for `other` and the step: steps */
    int64_t host, device;
    int64_t host_max, host_min;     /* of a segment; for `other` and the step of a step */
    int64_t device_max, device_min; /* of a step */
} stage_total;

typedef struct {
    arena *arena; /* that it lives in */
    stage_segments segments;
    stage_total total[N_STAGES + 1];
    int64_t (*host)[N_STAGES + 1]; /* by step of the list, stage */
    int64_t (*device)[N_STAGES + 1];
} stage_times;

status stage_times_make(const selection *s, const step_spans *steps, arena *a, stage_times *out,
                        error *err) MUST_USE;

/* One row of `stage_events`: a kind of events in a stage. */
typedef struct {
    int64_t calls;
    int64_t ns; /* time in which at least one was active, over all threads or streams */
} stage_event;

/* By stage and kind, inside the steps: a host event belongs to the stage it starts in,
 * device work to the stage of its launch. out[N_STAGES][N_KINDS]. */
status stage_events_make(const selection *s, const step_spans *steps, const stage_times *times,
                         stage_event (*out)[N_KINDS], error *err) MUST_USE;

#endif
