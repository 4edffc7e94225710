/* step_trace.h: a step as MindSpore's users know it: the interval before its forward pass,
 * forward and backward together, the tail after them.
 *
 *     end of the step before      fp start                       bp end          end
 *              |----- gap -----------|------ forward_backward ------|--- tail -----|
 *
 * The producer's own step trace is believed (table producer_step). Where there are operators,
 * the points are found among them: the forward pass starts with the first operator that fetches
 * no data, the backward pass ends with the last operator before the last collective or, without
 * one, with the last but one. Either point may be given by name instead, and so may the
 * operator that ends a step. */
#ifndef ANALYSE_STEP_TRACE_H
#define ANALYSE_STEP_TRACE_H

#include "analyse/analysis.h"
#include "analyse/intervals.h"

typedef enum {
    POINTS_NONE,  /* nothing to tell from */
    POINTS_GIVEN, /* the producer's */
    POINTS_FOUND, /* among the operators */
    POINTS_ASKED, /* at least one was named */
} points_source;

typedef struct {
    bool known;
    int64_t gap;     /* ABSENT_I64: no step before it */
    interval passes; /* forward and backward */
    int64_t tail;    /* ABSENT_I64: an inference */
} step_trace_row;

typedef struct {
    step_trace_row *rows; /* by row of table step */
    points_source source;
    bool fp_asked,
        bp_asked; /* of POINTS_ASKED: this one was; the other is the producer's, or found */
    bool timed;   /* there is a step trace of the producer's */
    str fp, bp;   /* names of the operators; empty when not known */
    str end;      /* of the last operator, where it was asked for */
} step_trace;

/* Is it worth looking for points? Only where the producer gave them or operators are those of a
 * compiled graph: elsewhere they are only named. Looks at a few thousand slices. */
bool step_trace_is_likely(const trace *t);
/* ERR_ARG when points are asked for and there are no operators, or none of that name. */
status step_trace_find(const trace *t, const params *p, arena *a, step_trace *out,
                       error *err) MUST_USE;
/* The tables `average` and `points` of the analysis steps; `steps` is its finished first
 * table. */
status step_trace_write(const step_trace *s, const trace *t, const table *steps, arena *a,
                        answer *out, error *err) MUST_USE;

#endif
