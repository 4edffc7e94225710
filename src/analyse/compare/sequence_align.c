/* sequence_align.c: the shortest list of insertions and deletions that makes one sequence of
 * the other, found by furthest-reaching paths: `reach[k]` is how far in a one gets on diagonal
 * k (place in a - place in b) with d edits. The states after each d are kept to walk back. What
 * both have in common at their ends is cut off first, so the usual case costs one
 * comparison. */
#include "analyse/compare/sequence_align.h"

#include <string.h>

#include "base/num.h"
#include "base/sort.h"

typedef struct {
    sequence a, b; /* without the ends they have in common */
    uint32_t skip; /* items cut off at the start */
    uint32_t *of_b;
    int32_t **kept; /* by number of edits: reach before it, of diagonals -d … d */
} aligner;

/* How far one gets from a place on a diagonal where items are equal. */
static int32_t slide(const aligner *x, int32_t at, int32_t k) {
    while (at < (int32_t)x->a.n && at - k < (int32_t)x->b.n && x->a.v[at] == x->b.v[at - k])
        at++;
    return at;
}

/* From which diagonal d edits come to k: k + 1 by an item of b, k - 1 by one of a. */
static bool comes_by_b(const int32_t *reach, int32_t k, int32_t d) {
    return k == -d || (k != d && reach[k - 1] < reach[k + 1]);
}

static void walk_back(aligner *x, int32_t d) {
    int32_t at = (int32_t)x->a.n, k = (int32_t)x->a.n - (int32_t)x->b.n;
    for (; d >= 0; d--) {
        const int32_t *reach = x->kept[d] + d + 1;
        int32_t from = 0, came = 0;
        if (d) {
            came = comes_by_b(reach, k, d) ? k + 1 : k - 1;
            from = came == k + 1 ? reach[came] : reach[came] + 1;
        }
        while (at > from) {
            at--;
            x->of_b[(int32_t)x->skip + at - k] = x->skip + (uint32_t)at + 1;
        }
        at = d ? reach[came] : 0;
        k = came;
    }
}

/* False: more edits than are looked for. */
static status find_path(aligner *x, arena *scratch, bool *found, error *err) {
    int32_t most = (int32_t)min_i64((int64_t)x->a.n + x->b.n, SEQUENCE_MOST_EDITS);
    int32_t goal = (int32_t)x->a.n - (int32_t)x->b.n;
    int32_t *all = ARENA_ARRAY(scratch, int32_t, 2 * (size_t)most + 3);
    x->kept = ARENA_ARRAY(scratch, int32_t *, (size_t)most + 1);
    if (!all || !x->kept) FAIL_MEMORY(err);
    int32_t *reach = all + most + 1;
    for (int32_t d = 0; d <= most; d++) {
        size_t n = 2 * (size_t)d + 3;
        x->kept[d] = ARENA_ARRAY(scratch, int32_t, n);
        if (!x->kept[d]) FAIL_MEMORY(err);
        memcpy(x->kept[d], reach - d - 1, n * sizeof *reach);
        for (int32_t k = -d; k <= d; k += 2) {
            int32_t at = d == 0 ? 0 : comes_by_b(reach, k, d) ? reach[k + 1] : reach[k - 1] + 1;
            reach[k] = slide(x, at, k);
            if (k != goal || reach[k] < (int32_t)x->a.n) continue;
            walk_back(x, d);
            *found = true;
            return OK;
        }
    }
    *found = false;
    return OK;
}

/* ---- by counting ------------------------------------------------------------------------- */

static int compare_items(uint32_t a, uint32_t b, const void *context) {
    const uint32_t *v = context;
    if (v[a] != v[b]) return v[a] < v[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

static status in_order(sequence s, arena *scratch, uint32_t **out, error *err) {
    uint32_t *order = ARENA_ARRAY(scratch, uint32_t, (size_t)s.n + 1);
    uint32_t *more = ARENA_ARRAY(scratch, uint32_t, (size_t)s.n + 1);
    if (!order || !more) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < s.n; i++) order[i] = i;
    sort_index(order, more, s.n, compare_items, s.v);
    *out = order;
    return OK;
}

static status pair_by_count(aligner *x, arena *scratch, error *err) {
    uint32_t *a, *b;
    TRY(in_order(x->a, scratch, &a, err));
    TRY(in_order(x->b, scratch, &b, err));
    for (uint32_t i = 0, j = 0; i < x->a.n && j < x->b.n;) {
        uint32_t p = x->a.v[a[i]], q = x->b.v[b[j]];
        if (p == q) x->of_b[x->skip + b[j]] = x->skip + a[i] + 1;
        if (p <= q) i++;
        if (q <= p) j++;
    }
    return OK;
}

/* ---- one item instead of another --------------------------------------------------------- */

/* Stretches without partners that are as long in both. */
static void pair_gaps(sequence a, sequence b, uint32_t *of_b) {
    uint32_t paired = 0;
    for (uint32_t j = 0; j < b.n; j++) paired += of_b[j] > 0;
    if (2 * (uint64_t)paired < (a.n > b.n ? a.n : b.n)) return;
    for (uint32_t j = 0, at = 0; j <= b.n;) {
        uint32_t end = j;
        while (end < b.n && !of_b[end]) end++;
        uint32_t next = end < b.n ? of_b[end] - 1 : a.n;
        if (next - at == end - j)
            for (uint32_t i = j; i < end; i++) of_b[i] = at + (i - j) + 1;
        at = next + 1;
        j = end + 1;
    }
}

status sequence_align(sequence a, sequence b, arena *scratch, uint32_t *of_b, error *err) {
    aligner x = {.a = a, .b = b, .of_b = of_b};
    uint32_t least = a.n < b.n ? a.n : b.n, tail = 0;
    bool found = true;
    memset(of_b, 0, b.n * sizeof *of_b);
    while (x.skip < least && a.v[x.skip] == b.v[x.skip]) x.skip++;
    while (tail < least - x.skip && a.v[a.n - 1 - tail] == b.v[b.n - 1 - tail]) tail++;
    for (uint32_t i = 0; i < x.skip; i++) of_b[i] = i + 1;
    for (uint32_t i = 0; i < tail; i++) of_b[b.n - 1 - i] = a.n - i;
    x.a = (sequence){a.v + x.skip, a.n - x.skip - tail};
    x.b = (sequence){b.v + x.skip, b.n - x.skip - tail};
    if (x.a.n && x.b.n) TRY(find_path(&x, scratch, &found, err));
    if (!found) return pair_by_count(&x, scratch, err);
    pair_gaps(a, b, of_b);
    return OK;
}
