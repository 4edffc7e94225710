/* search.c: names first, then the slices of the names that fit.
 *
 * One pass over those slices counts them, sets the ticks, counts those before the place asked
 * for, and keeps the nearest `limit` hits in a heap whose top is the farthest of them: memory
 * does not grow with the number of hits, and the work is a few compares a hit.
 *
 * Hits are ordered by start, then by id: the same order for every question about a trace. */
#include "analyse/timeline/search.h"

#include "base/num.h"
#include "base/sort.h"

/* ---- hits -------------------------------------------------------------------------------- */

typedef struct {
    const lod *l;
    const trace *t;
    const search_question *q;
    search_result *out;
    search_filter *filter;
    double pixels_per_ns;
} search_ctx;

/* Does a come before b? */
static bool earlier(const trace *t, uint32_t a, uint32_t b) {
    if (t->slice.start[a] != t->slice.start[b]) return t->slice.start[a] < t->slice.start[b];
    return a < b;
}

/* In the heap the one farthest from the place asked for is on top. */
static bool farther(const search_ctx *s, uint32_t a, uint32_t b) {
    return s->q->backwards ? earlier(s->t, a, b) : earlier(s->t, b, a);
}

static void sift_down(const search_ctx *s, uint32_t *heap, uint32_t n) {
    uint32_t i = 0, slice = heap[0];
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= n) break;
        if (child + 1 < n && farther(s, heap[child + 1], heap[child])) child++;
        if (!farther(s, heap[child], slice)) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = slice;
}

static void keep_hit(const search_ctx *s, uint32_t slice) {
    search_result *out = s->out;
    uint32_t *heap = out->hits;
    if (out->n_hits == s->q->limit) {
        if (s->q->limit == 0 || farther(s, slice, heap[0])) return;
        heap[0] = slice;
        sift_down(s, heap, out->n_hits);
        return;
    }
    uint32_t i = out->n_hits++;
    for (; i > 0 && farther(s, slice, heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = slice;
}

static bool is_wanted(const search_ctx *s, uint32_t slice) {
    int64_t start = s->t->slice.start[slice];
    if (start < s->q->from_ns || start >= s->q->to_ns) return false;
    if (!search_fits_slice(s->filter, slice)) return false;
    uint32_t lane, row, place;
    if (!s->q->lanes) return true;
    return lod_find(s->l, slice, &lane, &row, &place) && s->q->lanes[lane];
}

static void take_hit(const search_ctx *s, uint32_t slice, search_name *name) {
    int64_t start = s->t->slice.start[slice], dur = s->t->slice.dur[slice];
    s->out->total++;
    if (name->count++ == 0 || dur > s->t->slice.dur[name->longest]) name->longest = slice;
    name->total_ns = add_i64(name->total_ns, dur);
    if (s->out->ticks) {
        double pixel = (double)sub_i64(start, s->q->from_ns) * s->pixels_per_ns;
        if (pixel >= 0 && pixel < s->q->width_px) s->out->ticks[(uint32_t)pixel] = 1;
    }
    if (start < s->q->at_ns) s->out->before++;
    if ((start < s->q->at_ns) == s->q->backwards) keep_hit(s, slice);
}

/* ---- names ------------------------------------------------------------------------------- */

static int compare_names(uint32_t x, uint32_t y, const void *context) {
    const search_ctx *s = context;
    const search_name *a = &s->out->names[x], *b = &s->out->names[y];
    if (a->total_ns != b->total_ns) return a->total_ns > b->total_ns ? -1 : 1;
    return str_cmp(trace_str(s->t, a->string), trace_str(s->t, b->string));
}

static int compare_hits(uint32_t x, uint32_t y, const void *context) {
    const search_ctx *s = context;
    return x == y ? 0 : earlier(s->t, x, y) ? -1 : 1;
}

/* The names with the most time in front. */
static status order_names(const search_ctx *s, uint32_t n, arena *a, error *err) {
    search_result *out = s->out;
    uint32_t *order = ARENA_ARRAY(a, uint32_t, 2 * (size_t)n + 1);
    search_name *first = ARENA_ARRAY(a, search_name, SEARCH_NAMES);
    if (!order || !first) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    sort_index(order, order + n, n, compare_names, s);
    out->n_names = n;
    out->n_listed = n < SEARCH_NAMES ? n : SEARCH_NAMES;
    for (uint32_t i = 0; i < out->n_listed; i++) first[i] = out->names[order[i]];
    out->names = first;
    return OK;
}

static status collect(search_ctx *s, arena *a, error *err) {
    const lod *l = s->l;
    uint32_t n = 0;
    s->out->names = ARENA_ARRAY(a, search_name, (size_t)l->n_names + 1);
    if (!s->out->names) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < l->n_names; i++) {
        search_name *name = &s->out->names[n];
        if (!search_fits_name(s->filter, trace_str(s->t, l->name_string[i]))) continue;
        *name = (search_name){.string = l->name_string[i]};
        for (uint32_t k = l->name_first[i]; k < l->name_first[i + 1]; k++) {
            if (k + 24 < l->name_first[i + 1]) { /* they lie far apart */
                __builtin_prefetch(&s->t->slice.start[l->by_name[k + 24]]);
                __builtin_prefetch(&s->t->slice.dur[l->by_name[k + 24]]);
            }
            if (is_wanted(s, l->by_name[k])) take_hit(s, l->by_name[k], name);
        }
        if (name->count == 0) continue;
        name->kind = s->t->slice.kind[name->longest];
        n++;
    }
    return order_names(s, n, a, err);
}

status search_make(const lod *l, const search_question *q, arena *a, search_result *out,
                   error *err) {
    search_result made = {.total = 0};
    search_ctx s = {.l = l, .t = l->t, .q = q, .out = &made};
    made.hits = ARENA_ARRAY(a, uint32_t, (size_t)q->limit + 1);
    uint32_t *scratch = ARENA_ARRAY(a, uint32_t, (size_t)q->limit + 1);
    if (!made.hits || !scratch) FAIL_MEMORY(err);
    if (q->width_px) {
        made.ticks = ARENA_ARRAY(a, uint8_t, q->width_px);
        if (!made.ticks) FAIL_MEMORY(err);
        s.pixels_per_ns = q->width_px / (double)max_i64(1, sub_i64(q->to_ns, q->from_ns));
    }
    if (!search_is_empty(&q->query)) {
        TRY(search_filter_make(&q->query, l, a, &s.filter, err));
        status collected = collect(&s, a, err);
        search_filter_fini(s.filter);
        TRY(collected);
    }
    sort_index(made.hits, scratch, made.n_hits, compare_hits, &s);
    if (q->backwards) made.before -= made.n_hits;
    *out = made;
    return OK;
}
