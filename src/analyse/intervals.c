/* intervals.c: sets of moments, as sorted lists of half-open ranges.
 *
 * Events of one thread or stream come sorted, so most lists are built by appending and
 * joining at the end. Several threads one after the other make a list of a few sorted runs,
 * which intervals_merge merges in walks through memory in order; a list of many runs is
 * sorted by radix. Then what touches is joined. Union, intersection and difference are then
 * walks with two pointers, and every result is disjoint, so lengths can be added up: parts
 * that are cut out of a whole sum to the whole exactly, in integer nanoseconds. */
#include "analyse/intervals.h"

#include "base/bisect.h"
#include "base/num.h"
#include "base/sort.h"

static void append(intervals *s, int64_t start, int64_t end) {
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 64;
        interval *v = arena_grow(s->arena, s->v, s->cap * sizeof *v, cap * sizeof *v);
        if (!v) {
            s->failed = true;
            return;
        }
        s->v = v;
        s->cap = cap;
    }
    s->v[s->n++] = (interval){start, end};
}

/* Room for n ranges: growing by and by would touch twice the memory. */
static void reserve(intervals *s, size_t n) {
    if (!n || s->failed) return;
    s->v = arena_alloc(s->arena, n * sizeof *s->v);
    if (s->v)
        s->cap = n;
    else
        s->failed = true;
}

void intervals_add(intervals *s, int64_t start, int64_t end) {
    if (end <= start) return;
    if (s->n) {
        interval *last = &s->v[s->n - 1];
        if (start >= last->start && start <= last->end) {
            last->end = max_i64(last->end, end);
            return;
        }
        s->unsorted |= start < last->start;
    }
    append(s, start, end);
}

enum { MAX_RUNS = 64 };

/* Where the ascending runs end, and how many there are; MAX_RUNS + 1 when there are more. */
static size_t find_runs(const intervals *s, size_t ends[MAX_RUNS]) {
    size_t n_runs = 0;
    for (size_t i = 1; i <= s->n; i++) {
        if (i < s->n && s->v[i].start >= s->v[i - 1].start) continue;
        if (n_runs == MAX_RUNS) return MAX_RUNS + 1;
        ends[n_runs++] = i;
    }
    return n_runs;
}

static void merge_two(interval *to, const interval *v, size_t from, size_t middle, size_t end) {
    size_t i = from, k = middle;
    for (size_t at = from; at < end; at++)
        to[at] = k == end || (i < middle && v[i].start <= v[k].start) ? v[i++] : v[k++];
}

/* Neighbors pair by pair until one run is left: a few walks through memory, in order. */
static bool merge_runs(intervals *s, size_t ends[MAX_RUNS], size_t n_runs) {
    interval *v = s->v, *to = arena_alloc(s->arena, s->n * sizeof *to), *other;
    if (!to) return false;
    while (n_runs > 1) {
        size_t from = 0, n = 0;
        for (size_t i = 0; i < n_runs; i += 2) {
            size_t end = i + 1 < n_runs ? ends[i + 1] : ends[i];
            merge_two(to, v, from, ends[i], end);
            ends[n++] = from = end;
        }
        n_runs = n;
        other = v;
        v = to;
        to = other;
    }
    arena_drop(s->arena, to, (v == s->v ? s->n : s->cap) * sizeof *to);
    if (v != s->v) s->cap = s->n;
    s->v = v;
    return true;
}

/* Order of signed numbers as order of unsigned ones. */
static uint64_t sort_key(int64_t v) {
    return (uint64_t)v ^ (uint64_t)1 << 63;
}

static bool sort_by_start(intervals *s) {
    size_t ends[MAX_RUNS], n_runs = find_runs(s, ends);
    if (n_runs <= MAX_RUNS) return merge_runs(s, ends, n_runs);
    if (s->n > UINT32_MAX) return false;
    sort_pair *pairs = arena_alloc(s->arena, s->n * sizeof *pairs);
    interval *v = arena_alloc(s->arena, s->n * sizeof *v);
    if (!pairs || !v) return false;
    for (size_t i = 0; i < s->n; i++)
        pairs[i] = (sort_pair){.key = sort_key(s->v[i].start), .row = (uint32_t)i};
    if (!sort_radix_in(s->arena, pairs, s->n)) return false;
    for (size_t i = 0; i < s->n; i++) v[i] = s->v[pairs[i].row];
    arena_drop(s->arena, pairs, s->n * sizeof *pairs);
    arena_drop(s->arena, s->v, s->cap * sizeof *v);
    s->v = v;
    s->cap = s->n;
    return true;
}

void intervals_merge(intervals *s) {
    if (!s->unsorted || s->failed) return;
    s->unsorted = false;
    if (!sort_by_start(s)) {
        s->failed = true;
        return;
    }
    size_t n = 0;
    for (size_t i = 1; i < s->n; i++) {
        if (s->v[i].start <= s->v[n].end)
            s->v[n].end = max_i64(s->v[n].end, s->v[i].end);
        else
            s->v[++n] = s->v[i];
    }
    s->n = n + 1;
}

intervals intervals_and(const intervals *a, const intervals *b) {
    intervals out = {.arena = a->arena, .failed = a->failed || b->failed};
    if (a->n && b->n) reserve(&out, a->n + b->n);
    for (size_t i = 0, k = 0; i < a->n && k < b->n && !out.failed;) {
        int64_t start = max_i64(a->v[i].start, b->v[k].start);
        int64_t end = min_i64(a->v[i].end, b->v[k].end);
        if (start < end) append(&out, start, end);
        if (a->v[i].end < b->v[k].end)
            i++;
        else
            k++;
    }
    return out;
}

intervals intervals_minus(const intervals *a, const intervals *b) {
    intervals out = {.arena = a->arena, .failed = a->failed || b->failed};
    if (a->n) reserve(&out, a->n + b->n);
    size_t k = 0;
    for (size_t i = 0; i < a->n && !out.failed; i++) {
        int64_t start = a->v[i].start, end = a->v[i].end;
        while (k < b->n && b->v[k].end <= start) k++;
        for (size_t m = k; m < b->n && b->v[m].start < end && start < end; m++) {
            if (b->v[m].start > start) append(&out, start, b->v[m].start);
            start = max_i64(start, b->v[m].end);
            k = m; /* the next range of `a` begins after this one or inside it */
        }
        if (start < end) append(&out, start, end);
    }
    return out;
}

void intervals_drop(intervals *s) {
    arena_drop(s->arena, s->v, s->cap * sizeof *s->v);
    *s = (intervals){.arena = s->arena, .failed = s->failed};
}

void intervals_cut(intervals *a, const intervals *b) {
    intervals left = intervals_minus(a, b);
    intervals_drop(a);
    *a = left;
}

int64_t intervals_ns(const intervals *s) {
    int64_t sum = 0;
    for (size_t i = 0; i < s->n; i++) sum = add_i64(sum, sub_i64(s->v[i].end, s->v[i].start));
    return sum;
}

int64_t intervals_ns_in(const intervals *s, int64_t start, int64_t end) {
    size_t low = SEARCH_FIRST(i, 0, s->n, s->v[i].end <= start);
    int64_t sum = 0;
    for (; low < s->n && s->v[low].start < end; low++) {
        int64_t from = max_i64(s->v[low].start, start), to = min_i64(s->v[low].end, end);
        sum = add_i64(sum, sub_i64(to, from));
    }
    return sum;
}
