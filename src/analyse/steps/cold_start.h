/* cold_start.h: what a program does once, when it is not warm yet.
 *
 *   host     ▐── first aten::conv2d ───────────▌  ▐conv2d▌ ▐conv2d▌
 *              ▐ cudaFree ▌ ▐ cudaLaunchKernel ▌    ▐▌       ▐▌
 *   device                                      ▐▌   ▐▌       ▐▌
 *
 * The first calls make the context, load the code of kernels and choose algorithms. Seen in the
 * recording: a call takes long while no device works and nothing is waited for, and no later
 * call of the kind does. Its time is neither idle time nor a step, and advice cannot save it: a
 * program that keeps running never has it again. */
#ifndef ANALYSE_COLD_START_H
#define ANALYSE_COLD_START_H

#include "analyse/intervals.h"
#include "analyse/rules.h"
#include "store/trace.h"

typedef struct {
    int64_t ns;     /* in calls that happen once, each moment once; 0: there are none */
    int64_t of_ns;  /* length of what was looked at */
    int64_t until;  /* end of the last of them */
    uint32_t call;  /* slice of the longest: a runtime call if there is one, else an operator */
    bool is_before; /* it is before the one step of a recording without steps */
} cold_start;

/* Of calls inside the range. Reads SELECT_TABLES and tracks. */
status cold_start_find(const trace *t, interval range, arena *a, cold_start *out,
                       error *err) MUST_USE;
/* Is it so long that the rest says little? Then the verdict. */
bool cold_start_judge(const trace *t, const cold_start *c, verdict *out);
/* Its values for sentences: call, op, longest, share, total. */
void cold_start_say(const trace *t, const cold_start *c, verdict *v);

#endif
