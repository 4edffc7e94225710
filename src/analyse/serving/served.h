/* served.h: the iterations of a server on the clock. */
#ifndef ANALYSE_SERVED_H
#define ANALYSE_SERVED_H

#include "analyse/serving/iterations.h"

/* Iterations do not overlap: one that is launched while the one before it runs starts when that
 * one ends, as steps do (step_spans.h). */
typedef struct {
    uint32_t step; /* row of table step */
    iteration it;
    int64_t start, end; /* ns from the trace's base, with their device work */
    int64_t gap;        /* from the end of the one before; 0 for the first */
} served_iteration;

typedef struct {
    served_iteration *v; /* by start */
    uint32_t n;
} served;

static inline int64_t served_ns(const served_iteration *one) {
    return sub_i64(one->end, one->start);
}

/* All of the trace; none when the program does not serve. Reads SELECT_TABLES and table op. */
status served_find(const trace *t, arena *a, served *out, error *err) MUST_USE;

#endif
