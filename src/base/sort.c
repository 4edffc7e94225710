/* sort.c: a radix sort for keys, a merge sort for everything that needs a comparison.
 *
 * The radix sort goes from the least to the most significant digit. All histograms come from one
 * pass over the keys, which also notices an array that is in order already (traces mostly are,
 * thread by thread) and ends there. A digit that is the same in every key needs no pass; an odd
 * number of passes leaves the result in the scratch, from where it is copied back.
 *
 * The merge sort sorts short runs by insertion, skips a merge when both halves are already in order,
 * and copies only the left half out before merging. Both are stable: equal keys keep the order they
 * came in, which makes results the same on every machine. */
#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

#define SHORT_PAIRS 48
#define SHORT_RUN 8
/* Few keys: 8 bits at a time, counters of 16 KiB. Many: 11 bits and six passes instead of eight,
 * a fifth faster on two million times although its 2,048 targets strain the caches more. */
#define MANY_PAIRS 8192

static void insert_pairs(sort_pair *a, size_t n) {
    for (size_t i = 1; i < n; i++) {
        sort_pair x = a[i];
        size_t j = i;
        for (; j > 0 && a[j - 1].key > x.key; j--) a[j] = a[j - 1];
        a[j] = x;
    }
}

/* The loops below are compiled twice, with `bits` as a constant. */
#define INLINE static inline __attribute__((always_inline))

INLINE size_t digit_of(uint64_t key, unsigned digit, unsigned bits) {
    return (size_t)(key >> (digit * bits)) & (((size_t)1 << bits) - 1);
}

/* Counts every digit of every key; true when the keys are in order already. */
INLINE bool count_digits(const sort_pair *a, size_t n, size_t *counts, unsigned bits) {
    bool in_order = true;
    uint64_t before = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = a[i].key;
        in_order &= before <= key;
        before = key;
        for (unsigned d = 0; d * bits < 64; d++) counts[(d << bits) + digit_of(key, d, bits)]++;
    }
    return in_order;
}

/* counts: 2^bits zeroes for each digit. */
INLINE void sort_digits(sort_pair *a, sort_pair *scratch, size_t n, size_t *counts,
                        unsigned bits) {
    if (count_digits(a, n, counts, bits)) return;
    sort_pair *from = a, *to = scratch;
    for (unsigned d = 0; d * bits < 64; d++, counts += (size_t)1 << bits) {
        if (counts[digit_of(from[0].key, d, bits)] == n) continue;
        size_t sum = 0;
        for (size_t v = 0; v < (size_t)1 << bits; v++) {
            size_t count = counts[v];
            counts[v] = sum; /* from now on: where the next key with this digit goes */
            sum += count;
        }
        for (size_t i = 0; i < n; i++) to[counts[digit_of(from[i].key, d, bits)]++] = from[i];
        sort_pair *swap = from;
        from = to;
        to = swap;
    }
    if (from != a) memcpy(a, from, n * sizeof *a);
}

static void sort_few(sort_pair *a, sort_pair *scratch, size_t n) {
    size_t counts[8 << 8] = {0};
    sort_digits(a, scratch, n, counts, 8);
}

static void sort_many(sort_pair *a, sort_pair *scratch, size_t n) {
    size_t counts[6 << 11] = {0};
    sort_digits(a, scratch, n, counts, 11);
}

void sort_radix(sort_pair *a, sort_pair *scratch, size_t n) {
    if (n <= SHORT_PAIRS) {
        insert_pairs(a, n);
    } else if (n < MANY_PAIRS) {
        sort_few(a, scratch, n);
    } else {
        sort_many(a, scratch, n);
    }
}

static void insert_run(uint32_t *a, size_t n, sort_cmp cmp, const void *context) {
    for (size_t i = 1; i < n; i++) {
        uint32_t x = a[i];
        size_t j = i;
        for (; j > 0 && cmp(a[j - 1], x, context) > 0; j--) a[j] = a[j - 1];
        a[j] = x;
    }
}

void sort_index(uint32_t *a, uint32_t *scratch, size_t n, sort_cmp cmp, const void *context) {
    if (n <= SHORT_RUN) {
        insert_run(a, n, cmp, context);
        return;
    }
    size_t half = n / 2;
    sort_index(a, scratch, half, cmp, context);
    sort_index(a + half, scratch, n - half, cmp, context);
    if (cmp(a[half - 1], a[half], context) <= 0) return;
    memcpy(scratch, a, half * sizeof *a);
    size_t left = 0, right = half, to = 0;
    while (left < half && right < n) {
        a[to++] = cmp(scratch[left], a[right], context) <= 0 ? scratch[left++] : a[right++];
    }
    memcpy(a + to, scratch + left, (half - left) * sizeof *a);
}
