/* step_spans.h: the steps of the overview: host intervals adjusted for device work.
 *
 * A step begins when it begins on the host or, if later, when the device work of the step
 * before it is done, or what had been launched before the recording; it ends when both its host
 * interval and its device work have ended. So steps tile the device's time. Where nothing marks
 * steps there is one, number 0, over the whole recording. */
#ifndef ANALYSE_STEP_SPANS_H
#define ANALYSE_STEP_SPANS_H

#include "analyse/select.h"
#include "analyse/steps/cold_start.h"

typedef struct {
    int64_t number;
    int64_t host_start, host_end; /* as recorded */
    int64_t start, end;           /* adjusted */
    int64_t n_work;               /* pieces of device work launched inside it */
    int64_t work_ns;              /* their time, added up */
    uint32_t row;                 /* of table step; 0: nothing marks it */
    bool without_ops;             /* its operators were left out (tacho record --sample) */
} step_span;

typedef struct {
    step_span *v;
    uint32_t n; /* kept and selected, by start */
    step_span *left_out;
    uint32_t n_left_out; /* at the end: their device work is missing or incomplete */
    step_span *warm_up;
    uint32_t n_warm_up; /* at the beginning: much longer than the steps that follow */
    bool marked;        /* false: the one step stands for a recording without markers */
    int64_t held_until; /* held_device.h; INT64_MIN: the device was not held */
    cold_start cold;    /* of the steps, or of the recording where they say little of it */
} step_spans;

/* True for traces of our own recorder: it found the steps itself, set-up and warm-up among
 * them, where other producers' are those that a program chose. */
bool steps_are_ours(const trace *t);

/* All steps of the trace, adjusted; those at the end whose device work was cut off are left
 * out, and those at the beginning that warm up; of the others those of the selection, clipped
 * to its window. Who selects a part gets its warm-up, too. */
status step_spans_make(const trace *t, const selection *s, arena *a, step_spans *out,
                       error *err) MUST_USE;

/* Those whose operators were recorded, where others' were left out; else all. What the host did
 * is known of them alone. */
status step_spans_with_ops(const step_spans *s, arena *a, step_spans *out, error *err) MUST_USE;

/* The length of a step, and the only one there is. */
static inline int64_t step_span_ns(const step_span *s) {
    return sub_i64(s->end, s->start);
}

/* What an average is of, for sentences: `recording` (its length) without steps, `one` (its
 * number) of a single step; of several neither. */
void step_spans_say(const step_spans *s, int64_t mean_ns, verdict *v);
/* Median length of the steps kept: the smallest length that at least half of them do not
 * exceed. 0 without steps. The only median of steps there is: verdicts, advice and tables take
 * it from here. */
status step_spans_median(const step_spans *s, arena *a, int64_t *out, error *err) MUST_USE;

#endif
