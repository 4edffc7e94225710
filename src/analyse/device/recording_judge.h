/* recording_judge.h: does the recording decide before the program does?
 *
 * Where so much is missing that what is left says nothing about idle time, the answer is what
 * is missing: the one home of that decision. Overview, advise, idle and critical ask it and
 * give its verdict instead of other ones. In this order: partial_recording.h, cold_start.h, a
 * clock of the device that is not the host's, device records that are lost, graphs whose
 * kernels were not recorded, a thread that was not (host_coverage.h), steps that nothing marks
 * in a recording of which the device uses a part. */
#ifndef ANALYSE_RECORDING_JUDGE_H
#define ANALYSE_RECORDING_JUDGE_H

#include "analyse/device/idle_causes.h"
#include "analyse/rules.h"

typedef struct {
    const trace *t;
    const step_spans *steps;
    const idle_pieces *idle; /* of these steps; NULL: found when it is needed */
    arena *arena;
} recording_question;

/* What the trace must have; for trace_require. */
#define RECORDING_TABLES (IDLE_CAUSES_TABLES | TRACE_TABLE(quality))

/* The verdict; without an id where the recording does not decide. */
status recording_judge(const recording_question *q, verdict *out, error *err) MUST_USE;

#endif
