/* pipe_stages.h: what the operators of an input pipeline spent their time on, stage by
 * stage. */
#ifndef ANALYSE_PIPE_STAGES_H
#define ANALYSE_PIPE_STAGES_H

#include "analyse/select.h"

/* The stage that takes the most time; total absent: none is known. Valid while the trace is
 * open. */
typedef struct {
    str operation, stage;
    int64_t calls, total;
} pipe_stage;

/* The table `dataset_stages` of the analysis pipeline; none where nothing of it was
 * recorded. */
status pipe_stages_write(const selection *s, arena *a, answer *out, pipe_stage *longest,
                         error *err) MUST_USE;

#endif
