/* seal_marks.c: begin and end marks become slices. B/E pairs form a stack on their thread; b/e
 * pairs are matched within their (process, category, id), on a row next to the thread because
 * they may overlap anything. A begin without an end lasts to the end of the trace and is
 * flagged; an end without a begin is dropped and counted. What a slice is comes from its begin,
 * unless the end says that it knows better; arguments from whichever has them. Begins are
 * counted through, so that of two ranges over the same time the one that began first is the
 * outer one.
 *
 *   order   | thread 1 … | thread 2 … |   | id by id … |      marks, counted over all parts
 *
 * The marks of a thread are nearly always written in the order of time: they are dealt to their
 * threads, and only where that order is broken they are sorted. Marks with an id are sorted. */
#include "base/bisect.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/pages.h"
#include "base/sort.h"
#include "store/builder_int.h"
#include "store/trace_int.h"

typedef struct {
    const raw_mark *m;
    const part *part;
} mark_ref;

typedef struct {
    builder *b;
    part *out;
    part **parts; /* oldest first, without `out` */
    uint32_t n_parts;
    uint32_t n, n_stacked, n_begins; /* marks; those without an id; those that begin */
    uint32_t *order;
    uint32_t
        *ends; /* by place in `order`: of a begin, its end's; of an end, 0. Scratch before */
    size_t order_bytes;
    int64_t end_of_trace; /* INT64_MIN: not asked for yet */
    map async; /* track of a thread's ranges with an id, by the thread's track in `out` */
} marks_ctx;

static int cmp_i64(int64_t a, int64_t b) {
    return a < b ? -1 : a > b;
}

static const part *find_part(const marks_ctx *q, uint32_t i) {
    return q->parts[SEARCH_FIRST(k, 1, q->n_parts, q->parts[k]->first_mark <= i) - 1];
}

/* Mark i, counted over all parts; marks come in runs of one part, so `guess` is tried first. */
static inline mark_ref mark_at(const marks_ctx *q, uint32_t i, const part *guess) {
    if (i < guess->first_mark || i - guess->first_mark >= guess->marks.n)
        guess = find_part(q, i);
    return (mark_ref){&VEC(&guess->marks, raw_mark)[i - guess->first_mark], guess};
}

static inline part_track_row *track_of(mark_ref r) {
    return &VEC(&r.part->tracks, part_track_row)[r.m->track];
}

static inline int cmp_times(const raw_mark *a, const raw_mark *b) {
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int cmp_stacked(uint32_t x, uint32_t y, const void *context) {
    const marks_ctx *q = context;
    mark_ref a = mark_at(q, x, q->parts[0]);
    return cmp_times(a.m, mark_at(q, y, a.part).m);
}

/* Marks with an id: the thread does not matter. */
static int cmp_group(mark_ref a, mark_ref b) {
    const part_track_row *t = track_of(a), *u = track_of(b);
    int c = cmp_i64(t->pid.text, u->pid.text);
    if (!c) c = cmp_i64(t->pid.v, u->pid.v);
    if (!c) c = cmp_i64(a.m->id, b.m->id);
    return c ? c : cmp_i64(a.m->category, b.m->category);
}

static int cmp_with_id(uint32_t x, uint32_t y, const void *context) {
    const marks_ctx *q = context;
    mark_ref a = mark_at(q, x, q->parts[0]), b = mark_at(q, y, a.part);
    int c = cmp_group(a, b);
    return c ? c : cmp_times(a.m, b.m);
}

/* ---- dealing ---- */

static status list_parts(marks_ctx *q, error *err) {
    size_t n = 0;
    for (part *p = q->b->parts; p; p = p->next, q->n_parts++) n += p->marks.n;
    if (n > UINT32_MAX / 2) FAIL0(err, ERR_LIMIT, NOPOS, MSG_TOO_MANY_ROWS);
    q->parts = mem_alloc(q->n_parts * sizeof *q->parts);
    q->n = (uint32_t)n;
    q->order_bytes = (2 * n + 1) * sizeof *q->order;
    q->order = pages_take(q->order_bytes);
    if (!q->parts || !q->order) FAIL_MEMORY(err);
    q->ends = q->order + n;
    uint32_t i = q->n_parts;
    for (part *p = q->b->parts; p; p = p->next) q->parts[--i] = p;
    for (n = 0; i < q->n_parts; i++) {
        q->parts[i]->first_mark = (uint32_t)n;
        n += q->parts[i]->marks.n;
    }
    return OK;
}

/* Counts the marks of each thread, in the `at` of its track in `out`. Tracks of the parts
 * remember theirs in `run`, + 1. */
static status count_marks(marks_ctx *q) {
    for (uint32_t k = 0; k < q->n_parts; k++) {
        const part *p = q->parts[k];
        part_track_row *tracks = VEC(&p->tracks, part_track_row);
        for (size_t i = 0; i < p->marks.n; i++) {
            const raw_mark *m = &VEC(&p->marks, raw_mark)[i];
            q->n_begins += !m->end;
            if (m->id) continue;
            part_track_row *t = &tracks[m->track];
            if (!t->run) {
                uint32_t track = part_track(q->out, t->pid, t->tid);
                if (track == UINT32_MAX) return ERR_MEMORY;
                t->run = track + 1;
            }
            VEC(&q->out->tracks, part_track_row)[t->run - 1].at++;
            q->n_stacked++;
        }
    }
    return OK;
}

/* Puts the marks in `order`; then `at` is where those of a thread end. */
static void deal_marks(marks_ctx *q) {
    part_track_row *out = VEC(&q->out->tracks, part_track_row);
    uint32_t before = 0, with_id = q->n_stacked;
    for (size_t k = 0; k < q->out->tracks.n; k++) {
        uint32_t n = out[k].at;
        out[k].at = before;
        before += n;
    }
    for (uint32_t k = 0; k < q->n_parts; k++) {
        const part *p = q->parts[k];
        const part_track_row *tracks = VEC(&p->tracks, part_track_row);
        for (size_t i = 0; i < p->marks.n; i++) {
            const raw_mark *m = &VEC(&p->marks, raw_mark)[i];
            uint32_t *to = m->id ? &with_id : &out[tracks[m->track].run - 1].at;
            q->order[(*to)++] = p->first_mark + (uint32_t)i;
        }
    }
}

/* Marks with an id: by id first, quickly, then by everything. */
static status sort_with_id(marks_ctx *q) {
    uint32_t *order = q->order + q->n_stacked, n = q->n - q->n_stacked;
    size_t bytes = 2 * (size_t)n * sizeof(sort_pair);
    if (n == 0) return OK;
    sort_pair *pairs = pages_take(bytes);
    if (!pairs) return ERR_MEMORY;
    const part *near = q->parts[0];
    for (uint32_t i = 0; i < n; i++) {
        mark_ref r = mark_at(q, order[i], near);
        near = r.part;
        pairs[i] = (sort_pair){r.m->id, order[i]};
    }
    sort_radix(pairs, pairs + n, n);
    for (uint32_t i = 0; i < n; i++) order[i] = pairs[i].row;
    pages_give(pairs, bytes);
    sort_index(order, q->ends, n, cmp_with_id, q);
    return OK;
}

/* Two runs in order of time that follow each other, from … mid … end, become one. */
static void merge_runs(marks_ctx *q, uint32_t from, uint32_t mid, uint32_t end) {
    uint32_t n_left = mid - from, *to = q->order + from, *left = q->ends,
             *right = q->order + mid;
    const uint32_t *left_end = left + n_left, *right_end = q->order + end;
    memcpy(left, to, n_left * sizeof *left);
    mark_ref a = mark_at(q, *left, q->parts[0]), b = mark_at(q, *right, q->parts[0]);
    for (;;) {
        if (cmp_times(a.m, b.m) <= 0) {
            *to++ = *left++;
            if (left == left_end) return; /* what is left of the other run is in its place */
            a = mark_at(q, *left, a.part);
        } else {
            *to++ = *right++;
            if (right == right_end) break;
            b = mark_at(q, *right, b.part);
        }
    }
    memcpy(to, left, (size_t)(left_end - left) * sizeof *to);
}

/* The end of the run that starts at `from`. */
static uint32_t run_end(const marks_ctx *q, uint32_t from, uint32_t end) {
    mark_ref before = mark_at(q, q->order[from], q->parts[0]);
    for (uint32_t i = from + 1; i < end; i++) {
        mark_ref r = mark_at(q, q->order[i], before.part);
        if (cmp_times(before.m, r.m) > 0) return i;
        before = r;
    }
    return end;
}

/* A reader that holds marks back adds one run to those in the order of the file: few are
 * merged. */
enum { FEW_RUNS = 4 };

static void sort_thread(marks_ctx *q, uint32_t from, uint32_t end) {
    uint32_t sorted = run_end(q, from, end);
    for (int n = 1; sorted < end && n < FEW_RUNS; n++) {
        uint32_t next = run_end(q, sorted, end);
        merge_runs(q, from, sorted, next);
        sorted = next;
    }
    if (sorted < end) sort_index(q->order + from, q->ends, end - from, cmp_stacked, q);
}

/* ---- matching ---- */

/* Asked for only when a range was never closed. */
static int64_t end_of_trace(marks_ctx *q) {
    if (q->end_of_trace != INT64_MIN) return q->end_of_trace;
    for (uint32_t k = 0; k < q->n_parts; k++) {
        const part *p = q->parts[k];
        for (size_t i = 0; i < p->slices.n; i++) {
            const raw_slice *s = &VEC(&p->slices, raw_slice)[i];
            q->end_of_trace = max_i64(q->end_of_trace, add_i64(s->start, s->dur));
        }
        for (size_t i = 0; i < p->marks.n; i++)
            q->end_of_trace = max_i64(q->end_of_trace, VEC(&p->marks, raw_mark)[i].time);
    }
    return q->end_of_trace;
}

/* The row for async ranges of this thread, in the new part. */
static uint32_t async_track(marks_ctx *q, const part_track_row *t) {
    uint32_t thread = part_track(q->out, t->pid, t->tid);
    uint32_t *at = thread == UINT32_MAX ? NULL : map_at(&q->async, thread);
    if (!at) return UINT32_MAX;
    if (*at == MAP_NONE) {
        *at = 0;
        part_track_row *row = vec_push(&q->out->tracks);
        if (!row) return UINT32_MAX;
        *row = (part_track_row){.pid = t->pid, .tid = t->tid, .async = true};
        *at = (uint32_t)(q->out->tracks.n - 1);
    }
    return *at;
}

/* The op or device work a mark knows of, copied to the part of the slices. */
static status copy_extra(marks_ctx *q, mark_ref m, raw_slice *s) {
    uint32_t x = m.m->extra;
    if (!x) return OK;
    if (kind_is_device(s->kind))
        return part_kernel(q->out, &VEC(&m.part->kernels, raw_kernel)[x - 1], s);
    TRY(part_op(q->out, &VEC(&m.part->ops, raw_op)[x - 1], s));
    const raw_op_cost *costs = VEC(&m.part->op_costs, raw_op_cost);
    size_t low = SEARCH_FIRST(i, 0, m.part->op_costs.n, costs[i].op < x);
    if (low == m.part->op_costs.n || costs[low].op != x) return OK;
    raw_op_cost cost = costs[low];
    cost.op = s->extra;
    return part_op_cost(q->out, &cost);
}

/* `track` in `out`; UINT32_MAX: that of an id. i_end: UINT32_MAX when the range was never
 * closed. */
static status add_slice(marks_ctx *q, uint32_t i_begin, uint32_t i_end, uint32_t track) {
    mark_ref begin = mark_at(q, q->order[i_begin], q->parts[0]), end = begin;
    bool ended = i_end != UINT32_MAX;
    if (ended) end = mark_at(q, q->order[i_end], begin.part);
    mark_ref tells = ended && end.m->decides ? end : begin;
    int64_t until = ended ? end.m->time : end_of_trace(q);
    raw_slice s = {
        .start = begin.m->time,
        .dur = min_i64(max_i64(0, sub_i64(until, begin.m->time)), TRACE_TIME_LIMIT - 1),
        .name = begin.m->name,
        .args = tells.m->args || !ended ? tells.m->args : end.m->args,
        .tie = i_begin + 1,
        .category = begin.m->category,
        .kind = tells.m->kind,
        .flags = ended ? 0 : SLICE_UNFINISHED,
        .track = track == UINT32_MAX ? async_track(q, track_of(begin)) : track,
    };
    if (s.track == UINT32_MAX) return ERR_MEMORY;
    TRY(copy_extra(q, tells, &s));
    return part_slice(q->out, &s);
}

/* Finds the ends of the marks from … end-1. The begins that are open are a list: each knows the
 * one around it, + 1, where its end will be. */
static void find_ends(marks_ctx *q, uint32_t from, uint32_t end) {
    const part *near = q->parts[0];
    uint32_t open = 0;
    for (uint32_t i = from; i < end; i++) {
        mark_ref r = mark_at(q, q->order[i], near);
        near = r.part;
        q->ends[i] = r.m->end ? 0 : open;
        if (!r.m->end) {
            open = i + 1;
        } else if (open) {
            uint32_t *begin = &q->ends[open - 1];
            open = *begin;
            *begin = i;
        } else {
            part_lost(q->out, CAUSE_UNMATCHED_END, r.m->offset, r.m->name);
            part_count(q->out, 0, 1);
        }
    }
    while (open) {
        uint32_t *begin = &q->ends[open - 1];
        mark_ref r = mark_at(q, q->order[open - 1], near);
        part_lost(q->out, CAUSE_UNMATCHED_BEGIN, r.m->offset, r.m->name);
        open = *begin;
        *begin = UINT32_MAX;
    }
}

/* The marks from … end-1 of one thread or id, in order of time. Slices in the order of their
 * begins are in their final order and do not have to be sorted. */
static status match_group(marks_ctx *q, uint32_t from, uint32_t end, uint32_t track) {
    find_ends(q, from, end);
    for (uint32_t i = from; i < end; i++)
        if (q->ends[i]) TRY(add_slice(q, i, q->ends[i], track));
    return OK;
}

static status match_with_id(marks_ctx *q) {
    for (uint32_t i = q->n_stacked, end; i < q->n; i = end) {
        mark_ref first = mark_at(q, q->order[i], q->parts[0]);
        for (end = i + 1; end < q->n; end++)
            if (cmp_group(first, mark_at(q, q->order[end], first.part)) != 0) break;
        TRY(match_group(q, i, end, UINT32_MAX));
    }
    return OK;
}

static status match_marks(marks_ctx *q, error *err) {
    TRY(list_parts(q, err));
    if (!(q->out = builder_part(q->b))) return ERR_MEMORY;
    TRY(count_marks(q));
    part_expect(q->out, q->n_begins, 0);
    deal_marks(q);
    TRY(sort_with_id(q));
    uint32_t n_threads = (uint32_t)q->out->tracks.n, from = 0; /* tracks of ids come after */
    for (uint32_t k = 0; k < n_threads; k++) {
        uint32_t end = VEC(&q->out->tracks, part_track_row)[k].at;
        if (from < end) sort_thread(q, from, end);
        TRY(match_group(q, from, end, k));
        from = end;
    }
    return match_with_id(q);
}

status seal_marks(seal_ctx *s, error *err) {
    bool any = false;
    for (part *p = s->b->parts; p; p = p->next) any |= p->marks.n > 0;
    if (!any) return OK;
    marks_ctx q = {.b = s->b, .end_of_trace = INT64_MIN};
    status st = match_marks(&q, err);
    for (part *p = s->b->parts; p; p = p->next) vec_fini(&p->marks); /* not read again */
    map_fini(&q.async);
    mem_free(q.parts);
    pages_give(q.order, q.order_bytes);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}
