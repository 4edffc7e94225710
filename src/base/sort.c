/* sort.c: a radix sort for keys, a merge sort for everything that needs a comparison.
 *
 * The radix sort goes from the least to the most significant digit of the bits that differ between
 * keys; the pass that finds those bits also notices an array that is in order already (traces mostly
 * are, thread by thread) and ends there. An odd number of passes leaves the result in the scratch,
 * from where it is copied back. At most 2^32 - 1 pairs, as many as a row number can count.
 *
 * The merge sort sorts short runs by insertion, skips a merge when both halves are already in order,
 * and copies only the left half out before merging. Both are stable: equal keys keep the order they
 * came in, which makes results the same on every machine. */
#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

#define SHORT_PAIRS 48
#define SHORT_RUN 8
#define MAX_DIGIT_BITS 11 /* 2,048 targets: more strain the caches, fewer need more passes */

static void insert_pairs(sort_pair *a, size_t n) {
    for (size_t i = 1; i < n; i++) {
        sort_pair x = a[i];
        size_t j = i;
        for (; j > 0 && a[j - 1].key > x.key; j--) a[j] = a[j - 1];
        a[j] = x;
    }
}

/* Which bits differ between any two keys; *in_order when the keys never fall. */
static uint64_t varying_bits(const sort_pair *a, size_t n, bool *in_order) {
    uint64_t varying = 0, before = a[0].key;
    bool rising = true;
    for (size_t i = 1; i < n; i++) {
        rising &= before <= a[i].key;
        varying |= before ^ a[i].key;
        before = a[i].key;
    }
    *in_order = rising;
    return varying;
}

/* One stable pass by the digit at `shift`. */
static void sort_digit(const sort_pair *from, sort_pair *to, size_t n, unsigned shift,
                       size_t mask) {
    uint32_t at[1 << MAX_DIGIT_BITS];
    memset(at, 0, (mask + 1) * sizeof *at);
    for (size_t i = 0; i < n; i++) at[from[i].key >> shift & mask]++;
    uint32_t sum = 0;
    for (size_t v = 0; v <= mask; v++) {
        uint32_t count = at[v];
        at[v] = sum; /* from now on: where the next key with this digit goes */
        sum += count;
    }
    for (size_t i = 0; i < n; i++) to[at[from[i].key >> shift & mask]++] = from[i];
}

void sort_radix(sort_pair *a, sort_pair *scratch, size_t n) {
    if (n <= SHORT_PAIRS) {
        insert_pairs(a, n);
        return;
    }
    bool in_order;
    uint64_t varying = varying_bits(a, n, &in_order);
    if (in_order) return;
    unsigned low = (unsigned)__builtin_ctzll(varying);
    unsigned span = 64 - (unsigned)__builtin_clzll(varying) - low;
    unsigned passes = (span + MAX_DIGIT_BITS - 1) / MAX_DIGIT_BITS;
    unsigned bits = (span + passes - 1) / passes; /* equal digits: the smallest tables */
    sort_pair *from = a, *to = scratch;
    for (unsigned d = 0; d < passes; d++) {
        sort_digit(from, to, n, low + d * bits, ((size_t)1 << bits) - 1);
        sort_pair *swap = from;
        from = to;
        to = swap;
    }
    if (from != a) memcpy(a, from, n * sizeof *a);
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
