/* step_host.c: what the host does in a step: the innermost calls of all threads, one after the
 * other. */
#include "analyse/compare/step_owners_int.h"
#include "analyse/operators/op_scan.h"
#include "base/bisect.h"
#include "base/hash.h"

static status add_stretch(owners *o, int64_t start, int64_t end, uint32_t slice, error *err) {
    if (end <= start) return OK;
    if (o->n_host == o->cap_host) {
        size_t cap = o->cap_host ? 2 * o->cap_host : 4096;
        stretch *more =
            arena_grow(o->arena, o->host, o->cap_host * sizeof *more, cap * sizeof *more);
        if (!more) FAIL_MEMORY(err);
        o->host = more;
        o->cap_host = cap;
    }
    o->host[o->n_host++] = (stretch){start, end, slice};
    return OK;
}

static status close_call(owners *o, error *err) {
    open_call *top = &o->open[--o->n_open];
    TRY(add_stretch(o, top->from, top->end, top->slice, err));
    if (o->n_open) o->open[o->n_open - 1].from = max_i64(o->open[o->n_open - 1].from, top->end);
    return OK;
}

static status open_one(owners *o, uint32_t slice, const step_span *s, error *err) {
    int64_t start = o->t->slice.start[slice];
    int64_t end = min_i64(slice_end(o->t, slice), s->end);
    if (o->n_open) {
        open_call *top = &o->open[o->n_open - 1];
        TRY(add_stretch(o, top->from, start, top->slice, err));
        end = min_i64(end, top->end);
        top->from = max_i64(top->from, start);
    }
    if (o->n_open == o->cap_open) {
        size_t cap = o->cap_open ? 2 * o->cap_open : 64;
        open_call *more =
            arena_grow(o->arena, o->open, o->cap_open * sizeof *more, cap * sizeof *more);
        if (!more) FAIL_MEMORY(err);
        o->open = more;
        o->cap_open = cap;
    }
    o->open[o->n_open++] = (open_call){slice, end, start};
    return OK;
}

static status count_in_module(owners *o, uint32_t slice, error *err) {
    if (!o->module_of || !o->module_of[slice]) return OK;
    module_calls *c =
        call_modules_at(&o->tree->modules, o->node_of[slice], o->module_of[slice]);
    if (!c) FAIL_MEMORY(err);
    c->calls[SIDE_A]++;
    return OK;
}

/* row: the first of table op that is not before the slice. */
static status count_call(owners *o, uint32_t slice, uint32_t row, error *err) {
    const trace *t = o->t;
    if (kind_is_call(t->slice.kind[slice]) && !owners_call_flags(o, t->slice.name[slice]))
        return OK;
    if (trace_is_call_again(t, slice)) return OK;
    node_cost *c = owners_cost_now(o, o->node_of[slice]);
    c->calls++;
    c->now_calls++;
    TRY(count_in_module(o, slice, err));
    if (row >= t->op.n || t->op.slice[row] != slice || !t->op.shapes[row]) return OK;
    c->shapes = hash_add(c->shapes, hash_u64(owners_string_hash(o, t->op.shapes[row])));
    c->with_shapes++;
    if (!c->example.n) c->example = trace_str(t, t->op.shapes[row]);
    return OK;
}

/* A slice of a thread, after those before it. *row: the first of table op that is not before
 * the slice before it. */
static status read_slice(owners *o, uint32_t i, const step_span *s, uint32_t *row, error *err) {
    const trace *t = o->t;
    while (o->n_open && o->open[o->n_open - 1].end <= t->slice.start[i])
        TRY(close_call(o, err));
    TRY(open_one(o, i, s, err));
    while (*row < t->op.n && t->op.slice[*row] < i) (*row)++;
    return count_call(o, i, *row, err);
}

static status end_thread(owners *o, error *err) {
    while (o->n_open) TRY(close_call(o, err));
    return OK;
}

static bool is_of_host(const trace *t, uint32_t i) {
    return op_kind_counts(t->slice.kind[i]) && t->slice.kind[i] != KIND_STEP;
}

static status read_thread(owners *o, uint32_t track, const step_span *s, error *err) {
    const trace *t = o->t;
    uint32_t end = t->track.end[track];
    uint32_t i = SEARCH_FIRST(k, t->track.first[track], end, t->slice.start[k] < s->start);
    uint32_t row = SEARCH_FIRST(k, 1u, t->op.n, t->op.slice[k] < i);
    for (; i < end && t->slice.start[i] < s->end; i++)
        if (is_of_host(t, i)) TRY(read_slice(o, i, s, &row, err));
    return end_thread(o, err);
}

/* ---- many threads ------------------------------------------------------------------------ */

/* With many threads and many steps most have nothing to do with each other: looking through
 * all threads in each step would be quadratic. So the slices of all threads are put in order of
 * time once, and a step takes its part of them. */
enum { MANY_THREADS = 64 };

static uint64_t start_key(const trace *t, uint32_t slice) {
    return (uint64_t)t->slice.start[slice] ^ (uint64_t)1 << 63; /* in the order of the times */
}

static status sort_slices(owners *o, error *err) {
    const trace *t = o->t;
    o->by_start = ARENA_ARRAY(o->arena, sort_pair, t->slice.n + 1u);
    o->of_step = ARENA_ARRAY(o->arena, sort_pair, 2 * (size_t)t->slice.n + 2);
    if (!o->by_start || !o->of_step) FAIL_MEMORY(err);
    for (uint32_t track = 1; track < t->track.n; track++)
        for (uint32_t i = t->track.first[track];
             i < t->track.end[track] && t->track.kind[track] == TRACK_THREAD; i++)
            if (is_of_host(t, i))
                o->by_start[o->n_by_start++] = (sort_pair){start_key(t, i), i};
    sort_radix(o->by_start, o->of_step, o->n_by_start);
    return OK;
}

/* Slices of a track are neighbors, in the order of their starts: so by their numbers. */
static status read_threads_of_step(owners *o, const step_span *s, error *err) {
    const trace *t = o->t;
    if (!o->by_start) TRY(sort_slices(o, err));
    const sort_pair *v = o->by_start;
    size_t first =
        SEARCH_FIRST(k, (size_t)0, o->n_by_start, t->slice.start[v[k].row] < s->start);
    size_t n = 0;
    for (size_t k = first; k < o->n_by_start && t->slice.start[v[k].row] < s->end; k++)
        o->of_step[n++] = (sort_pair){v[k].row, v[k].row};
    sort_radix(o->of_step, o->of_step + n, n);
    uint32_t track = 0, row = 1;
    for (size_t k = 0; k < n; k++) {
        uint32_t i = o->of_step[k].row, own = trace_track_of(t, i);
        if (own != track) {
            TRY(end_thread(o, err));
            row = SEARCH_FIRST(r, 1u, t->op.n, t->op.slice[r] < i);
        }
        track = own;
        TRY(read_slice(o, i, s, &row, err));
    }
    return end_thread(o, err);
}

/* ---- together ---------------------------------------------------------------------------- */

static status room_to_sort(owners *o, error *err) {
    if (o->cap_sorted >= o->n_host) return OK;
    o->cap_sorted = o->cap_host;
    o->pairs = ARENA_ARRAY(o->arena, sort_pair, o->cap_sorted);
    o->scratch = ARENA_ARRAY(o->arena, sort_pair, o->cap_sorted);
    o->sorted = ARENA_ARRAY(o->arena, stretch, o->cap_sorted);
    if (!o->pairs || !o->scratch || !o->sorted) FAIL_MEMORY(err);
    return OK;
}

/* How far after `from`, whatever their signs are. */
WRAPS static uint64_t ns_after(int64_t time, int64_t from) {
    return (uint64_t)time - (uint64_t)from;
}

/* Stretches of all threads in order of time; of two at once the earlier one up to its end. */
static status order_host(owners *o, int64_t from, error *err) {
    size_t n = o->n_host;
    TRY(room_to_sort(o, err));
    for (size_t i = 0; i < n; i++)
        o->pairs[i] = (sort_pair){ns_after(o->host[i].start, from), (uint32_t)i};
    sort_radix(o->pairs, o->scratch, n);
    int64_t now = from;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        stretch h = o->host[o->pairs[i].row];
        h.start = max_i64(h.start, now);
        if (h.end <= h.start) continue;
        now = h.end;
        o->sorted[kept++] = h;
    }
    if (kept) memcpy(o->host, o->sorted, kept * sizeof *o->host);
    o->n_host = kept;
    return OK;
}

status owners_read_host(owners *o, const step_span *s, error *err) {
    const trace *t = o->t;
    o->n_host = 0;
    if (t->track.n > MANY_THREADS) TRY(read_threads_of_step(o, s, err));
    for (uint32_t track = 1; track < t->track.n && t->track.n <= MANY_THREADS; track++)
        if (t->track.kind[track] == TRACK_THREAD) TRY(read_thread(o, track, s, err));
    return order_host(o, s->start, err);
}
