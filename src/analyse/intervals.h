/* intervals.h: sets of moments, as sorted lists of half-open ranges [start, end).
 *
 *     intervals busy = intervals_in(arena);
 *     intervals_add(&busy, start, end);             any order; cheap when starts ascend
 *     intervals_merge(&busy);                       sorted, disjoint, not touching
 *     idle = intervals_minus(&step, &busy);
 *
 * A failed allocation sets `failed` and is carried into every result made from the list:
 * check once at the end. All operations are linear but intervals_merge, which sorts when it
 * must. */
#ifndef ANALYSE_INTERVALS_H
#define ANALYSE_INTERVALS_H

#include "base/arena.h"

typedef struct {
    int64_t start, end;
} interval;

typedef struct {
    interval *v;
    size_t n, cap;
    arena *arena;
    bool unsorted, failed;
} intervals;

static inline intervals intervals_in(arena *a) {
    return (intervals){.arena = a};
}
/* Joins the range to the last one when it starts inside or at the end of it; empty ranges
 * are left out. */
void intervals_add(intervals *s, int64_t start, int64_t end);
void intervals_merge(intervals *s);

/* The arguments are merged, and so is the result. */
intervals intervals_and(const intervals *a, const intervals *b);
intervals intervals_minus(const intervals *a, const intervals *b);
/* Takes b out of a; the old list of a is gone, copies of it, too. */
void intervals_cut(intervals *a, const intervals *b);
/* Gives back the room of a list that is not needed any more, nor any copy of it. */
void intervals_drop(intervals *s);
/* Sum of the lengths. */
int64_t intervals_ns(const intervals *s);
/* Length of the part inside [start, end): a binary search and the ranges there. */
int64_t intervals_ns_in(const intervals *s, int64_t start, int64_t end);

#endif
