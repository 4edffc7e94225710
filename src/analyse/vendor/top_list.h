/* top_list.h: the few that take longest for each call, and the rest as one: what a pie or a bar
 * chart shows. */
#ifndef ANALYSE_TOP_LIST_H
#define ANALYSE_TOP_LIST_H

#include "analyse/analysis.h"

typedef struct {
    str name, side;
    int64_t calls, total; /* calls ABSENT_I64: not recorded */
} top_item;

/* Writes the table `top` of an analysis (columns name, side, calls, total, mean, share): the
 * `most` items of the longest mean, then one row Others with the sum of what is left. Sorts the
 * items. */
status top_list_write(answer *out, arena *a, top_item *items, size_t n, size_t most,
                      error *err) MUST_USE;

#endif
