/* line_sums.h: what each call stack of a program costs: CPU time, device time, idle time it
 * caused, its part of the critical path, memory at the peak.
 *
 * Everything is added up by the stack that it belongs to (scan/line_of.h); stack 0 is "not
 * known". So every sum over all stacks is the sum of the answer it comes from: device work of
 * the selection, idle time of `idle`, the path of `critical`, the peak of `memory`. */
#ifndef ANALYSE_LINE_SUMS_H
#define ANALYSE_LINE_SUMS_H

#include "analyse/operators/line_of.h"

typedef enum {
    LINE_CALLS,    /* of the function; where only operators have stacks, operators started */
    LINE_CPU,      /* ns of threads */
    LINE_GPU,      /* ns of device work */
    LINE_BACKWARD, /* of that: of the backward pass */
    LINE_IDLE,     /* ns of idle devices */
    LINE_CRITICAL, /* ns of the critical path */
    LINE_PEAK,     /* bytes allocated at the peak */
    LINE_SYNCS,    /* calls that wait for the device */
    LINE_SAMPLES,
    N_LINE_VALUES
} line_value;

typedef struct {
    int64_t v[N_LINE_VALUES];
} line_values;

typedef struct {
    line_view view;
    line_values *self;         /* by frame; 0: not known */
    uint32_t *longest;         /* by frame: the longest call of the function, 0: none */
    bool known[N_LINE_VALUES]; /* false: the trace does not tell; absent, not zero */
    line_values all;           /* over all frames */
    uint32_t n_path_steps, n_idle_steps, n_devices;
} line_sums;

/* What it reads; for trace_require. */
#define LINE_SUMS_TABLES \
    (LINE_TABLES | TRACE_TABLE(comm) | TRACE_TABLE(memory) | TRACE_TABLE(module))

status line_sums_make(const trace *t, const params *p, arena *a, line_sums *out,
                      error *err) MUST_USE;

#endif
