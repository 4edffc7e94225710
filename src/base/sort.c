/* sort.c: a radix sort for keys, a merge sort for everything that needs a comparison.
 *
 * The radix sort goes from the least to the most significant digit of the bits that differ
 * between keys; the pass that finds those bits also notes where keys fall. An array that is in
 * order already ends there (traces mostly are, thread by thread); one of a few runs that rise
 * is merged, two runs at a time: reading and writing in order is quicker than dealing to
 * thousands of places. More runs are merged when each but overlaps the next, as where threads
 * write out what they have from time to time. An odd number of passes leaves the result in the
 * scratch, from where it is copied back. At most 2^32 - 1 pairs, as many as a row number can
 * count.
 *
 * The merge sort sorts short runs by insertion, skips a merge when both halves are already in
 * order, and copies only the left half out before merging. Both are stable: equal keys keep the
 * order they came in, which makes results the same on every machine. */
#include "base/sort.h"
#include "base/bisect.h"

#include <stdbool.h>
#include <string.h>

#define SHORT_PAIRS 48
#define SHORT_RUN 8
#define MAX_RUNS 64       /* merged in 6 passes, as many as a radix sort of full keys has */
#define MAX_DIGIT_BITS 11 /* 2,048 targets: more strain the caches, fewer need more passes */

static void insert_pairs(sort_pair *a, size_t n) {
    for (size_t i = 1; i < n; i++) {
        sort_pair x = a[i];
        size_t j = i;
        for (; j > 0 && a[j - 1].key > x.key; j--) a[j] = a[j - 1];
        a[j] = x;
    }
}

/* Runs of keys that never fall. */
typedef struct {
    size_t n;                   /* more than MAX_RUNS: not all are in `first` */
    size_t first[MAX_RUNS + 1]; /* and after the last one the end of all */
} run_list;

/* Which bits differ between any two keys. */
static uint64_t varying_bits(const sort_pair *a, size_t n, run_list *runs) {
    uint64_t varying = 0, before = a[0].key;
    runs->n = 1;
    runs->first[0] = 0;
    for (size_t i = 1; i < n; i++) {
        if (__builtin_expect(a[i].key < before, 0)) {
            if (runs->n < MAX_RUNS) runs->first[runs->n] = i;
            runs->n++;
        }
        varying |= before ^ a[i].key;
        before = a[i].key;
    }
    if (runs->n <= MAX_RUNS) runs->first[runs->n] = n;
    return varying;
}

/* How many of a run's keys are not beyond `key`. */
static size_t n_until(const sort_pair *a, size_t n, uint64_t key) {
    return SEARCH_FIRST(i, 0, n, a[i].key <= key);
}

/* Do runs reach beyond the start of the next one with half of the keys at most? Then most of a
 * merge is copying. */
static bool is_nearly_in_order(const sort_pair *a, size_t n, const run_list *runs) {
    size_t n_beyond = 0;
    for (size_t i = 1; i < runs->n; i++) {
        size_t first = runs->first[i - 1], next = runs->first[i];
        n_beyond += next - first - n_until(a + first, next - first, a[next].key);
    }
    return n_beyond <= n / 2;
}

/* Two runs that follow each other, from … mid … end, merged to `to`. */
static void merge_two(const sort_pair *left, const sort_pair *mid, const sort_pair *end,
                      sort_pair *to) {
    const sort_pair *right = mid;
    if (mid < end) { /* everything before the right run: often nearly all */
        size_t n = n_until(left, (size_t)(mid - left), mid->key);
        memcpy(to, left, n * sizeof *to);
        left += n;
        to += n;
    }
    while (left < mid && right < end) {
        bool later = right->key < left->key;
        *to++ = later ? *right : *left;
        right += later;
        left += !later;
    }
    memcpy(to, left, (size_t)(mid - left) * sizeof *to);
    memcpy(to + (mid - left), right, (size_t)(end - right) * sizeof *to);
}

static void merge_runs(sort_pair *a, sort_pair *scratch, size_t n, run_list *runs) {
    sort_pair *from = a, *to = scratch;
    while (runs->n > 1) {
        size_t n_merged = 0;
        for (size_t i = 0; i < runs->n; i += 2) {
            size_t first = runs->first[i], mid = runs->first[i + 1];
            size_t end = i + 2 <= runs->n ? runs->first[i + 2] : mid;
            merge_two(from + first, from + mid, from + end, to + first);
            runs->first[n_merged++] = first;
        }
        runs->first[n_merged] = n;
        runs->n = n_merged;
        sort_pair *swap = from;
        from = to;
        to = swap;
    }
    if (from != a) memcpy(a, from, n * sizeof *a);
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
    run_list runs;
    uint64_t varying = varying_bits(a, n, &runs);
    if (runs.n == 1) return;
    unsigned low = (unsigned)__builtin_ctzll(varying);
    unsigned span = 64 - (unsigned)__builtin_clzll(varying) - low;
    unsigned passes = (span + MAX_DIGIT_BITS - 1) / MAX_DIGIT_BITS;
    unsigned bits = (span + passes - 1) / passes; /* equal digits: the smallest tables */
    if (runs.n <= MAX_RUNS &&
        (runs.n <= (size_t)1 << (passes + 1) || is_nearly_in_order(a, n, &runs))) {
        merge_runs(a, scratch, n, &runs);
        return;
    }
    sort_pair *from = a, *to = scratch;
    for (unsigned d = 0; d < passes; d++) {
        sort_digit(from, to, n, low + d * bits, ((size_t)1 << bits) - 1);
        sort_pair *swap = from;
        from = to;
        to = swap;
    }
    if (from != a) memcpy(a, from, n * sizeof *a);
}

bool sort_radix_in(arena *from, sort_pair *a, size_t n) {
    sort_pair *scratch = arena_alloc(from, n * sizeof *scratch);
    if (!scratch) return false;
    sort_radix(a, scratch, n);
    arena_drop(from, scratch, n * sizeof *scratch);
    return true;
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
