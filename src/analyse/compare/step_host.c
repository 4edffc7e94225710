/* step_host.c: what the host does in a step: the innermost calls of all threads, one after the
 * other. */
#include "analyse/compare/step_owners_int.h"
#include "analyse/scan/op_scan.h"
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

/* row: the first of table op that is not before the slice. */
static void count_call(owners *o, uint32_t slice, uint32_t row) {
    const trace *t = o->t;
    if (owners_is_call(t->slice.kind[slice]) && !owners_call_flags(o, t->slice.name[slice]))
        return;
    if (owners_is_call_again(t, slice)) return;
    node_cost *c = owners_cost_now(o, o->node_of[slice]);
    c->calls++;
    if (row >= t->op.n || t->op.slice[row] != slice || !t->op.shapes[row]) return;
    c->shapes += hash_u64(owners_string_hash(o, t->op.shapes[row]));
    c->with_shapes++;
    if (!c->example.n) c->example = trace_str(t, t->op.shapes[row]);
}

static status read_thread(owners *o, uint32_t track, const step_span *s, error *err) {
    const trace *t = o->t;
    uint32_t first = t->track.first[track], end = t->track.end[track];
    /* Many threads and many steps: most of them have nothing to do with each other. */
    if (first >= end || t->slice.start[first] >= s->end || t->slice.start[end - 1] < s->start)
        return OK;
    uint32_t i = SEARCH_FIRST(k, first, end, t->slice.start[k] < s->start);
    uint32_t row = SEARCH_FIRST(k, 1u, t->op.n, t->op.slice[k] < i);
    for (; i < end && t->slice.start[i] < s->end; i++) {
        uint8_t kind = t->slice.kind[i];
        if (!op_kind_counts(kind) || kind == KIND_STEP) continue;
        while (o->n_open && o->open[o->n_open - 1].end <= t->slice.start[i])
            TRY(close_call(o, err));
        TRY(open_one(o, i, s, err));
        while (row < t->op.n && t->op.slice[row] < i) row++;
        count_call(o, i, row);
    }
    while (o->n_open) TRY(close_call(o, err));
    return OK;
}

static status room_to_sort(owners *o, error *err) {
    if (o->cap_sorted >= o->n_host) return OK;
    o->cap_sorted = o->cap_host;
    o->pairs = ARENA_ARRAY(o->arena, sort_pair, o->cap_sorted);
    o->scratch = ARENA_ARRAY(o->arena, sort_pair, o->cap_sorted);
    o->sorted = ARENA_ARRAY(o->arena, stretch, o->cap_sorted);
    if (!o->pairs || !o->scratch || !o->sorted) FAIL_MEMORY(err);
    return OK;
}

/* Stretches of all threads in order of time; of two at once the earlier one up to its end. */
static status order_host(owners *o, int64_t from, error *err) {
    size_t n = o->n_host;
    TRY(room_to_sort(o, err));
    for (size_t i = 0; i < n; i++)
        o->pairs[i] = (sort_pair){(uint64_t)o->host[i].start - (uint64_t)from, (uint32_t)i};
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
    o->n_host = 0;
    for (uint32_t track = 1; track < o->t->track.n; track++)
        if (o->t->track.kind[track] == TRACK_THREAD) TRY(read_thread(o, track, s, err));
    return order_host(o, s->start, err);
}
