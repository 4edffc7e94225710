/* sort.h: sorting plain arrays without allocation by the callee beyond the given scratch. */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include "base/arena.h"

/* Key with the row it came from. */
typedef struct {
    uint64_t key;
    uint32_t row;
} sort_pair;

/* Stable least-significant-digit radix sort of n pairs by key; skips digits that are the same
 * everywhere, and merges instead when the pairs are a few runs in order. Uses scratch of n
 * pairs; the result is in `a`. */
void sort_radix(sort_pair *a, sort_pair *scratch, size_t n);
/* The same with scratch of the arena for as long as it takes; false when there is none. */
bool sort_radix_in(arena *from, sort_pair *a, size_t n) __attribute__((warn_unused_result));

/* Merge sort of an index array with a comparison: stable, O(n log n), scratch of n. */
typedef int (*sort_cmp)(uint32_t a, uint32_t b, const void *context);
void sort_index(uint32_t *a, uint32_t *scratch, size_t n, sort_cmp cmp, const void *context);

#endif
