/* rank_changes.h: each worker of a run against the same one of the other.
 *
 * Ranks wait for each other, so the step of all of them grows when one becomes slower: what a
 * rank changed by itself is its step without exposed communication. */
#ifndef ANALYSE_RANK_CHANGES_H
#define ANALYSE_RANK_CHANGES_H

#include "analyse/compare/sides.h"

typedef struct {
    const compared_worker *of[N_SIDES]; /* NULL: only the other run has it */
    noise_change own;                   /* of MEASURE_OWN */
    bool known;
} rank_change;

typedef struct {
    rank_change *v; /* largest own change first; those of one run alone last */
    uint32_t n, n_both;
    /* The one that changed alone, by at least 5 % of a step: the others changed less than a
     * third as much by themselves. */
    const rank_change *alone;
} rank_changes;

/* Workers are the same by rank, else by name, else by place. */
status rank_changes_make(const compared_side sides[N_SIDES], arena *a, rank_changes *out,
                         error *err) MUST_USE;
/* Rows of table `ranks`. */
status rank_changes_write(const rank_changes *r, table *out, error *err) MUST_USE;

#endif
