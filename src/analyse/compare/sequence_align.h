/* sequence_align.h: which items of two sequences are the same ones, in order.
 *
 *     a   g r g s g        pairs that keep both orders, as many as there can be; a stretch
 *     b   g r x s g g      between two pairs that is as long in both is paired item by item,
 *                          where most of the rest is the same: the x above stands for a g
 *
 * Two sequences that differ in more than SEQUENCE_MOST_EDITS places are paired by counting: the
 * third x of one is the third x of the other. */
#ifndef ANALYSE_SEQUENCE_ALIGN_H
#define ANALYSE_SEQUENCE_ALIGN_H

#include "base/arena.h"
#include "base/status.h"

enum { SEQUENCE_MOST_EDITS = 1024 };

typedef struct {
    const uint32_t *v;
    uint32_t n;
} sequence;

/* of_b: for each item of b its partner's place in a + 1, or 0. */
status sequence_align(sequence a, sequence b, arena *scratch, uint32_t *of_b,
                      error *err) MUST_USE;

#endif
