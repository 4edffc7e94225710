/* merge.h: several sealed traces as one, on one clock.
 *
 *     merge_input in[] = {{a, STR("7001")}, {b, STR("7002")}};
 *     TRY(trace_merge(in, 2, &one, &n_clockless, err));
 *
 * Every row of every input is in the result; times are moved by the difference of the inputs'
 * times of day, to the nanosecond. What is unique in one input stays unique in the result:
 * numbers of processes and devices that two workers share are replaced, correlation and
 * operator ids are moved apart. Inputs of one name are one worker (two of its recordings): they
 * keep their numbers. Tracks and slices of the first input keep their rows. */
#ifndef STORE_MERGE_H
#define STORE_MERGE_H

#include "store/trace.h"

typedef struct {
    const trace *trace;
    str name; /* of the worker: its processes carry it */
    /* it works for the first input: no steps, and no length, of the whole are its own */
    bool helper;
} merge_input;

/* *n_clockless: inputs that tell no time of day although others do; they begin where the whole
 * begins. Where none tells one, the times stay as they are. ERR_LIMIT when there are too many
 * rows or arguments for one trace. */
status trace_merge(const merge_input *in, uint32_t n, trace **out, uint32_t *n_clockless,
                   error *err) MUST_USE;

#endif
