/* seal_marks.c: begin and end marks become slices. B/E pairs form a stack on their thread; b/e pairs
 * are matched within their (process, category, id), on a row beside the thread because they may
 * overlap anything. A begin without an end lasts to the end of the trace and is flagged; an end
 * without a begin is dropped and counted. What a slice is comes from its begin, unless the end says
 * that it knows better; arguments from whichever has them. Begins are counted through, so that of
 * two ranges over the same time the one that began first is the outer one. */
#include "base/num.h"
#include "base/pages.h"
#include "base/sort.h"
#include "store/builder_int.h"
#include "store/trace_int.h"

typedef struct {
    const raw_mark *m;
    const part_track_row *track;
    const part *part;
} mark_ref;

typedef struct {
    builder *b;
    part *out;
    mark_ref *marks;
    uint32_t n;
    uint32_t *order, *stack;
    int64_t end_of_trace;
    map async; /* track of a thread's ranges with an id, by the thread's track in `out` */
} matching;

static int cmp_i64(int64_t a, int64_t b) {
    return a < b ? -1 : a > b;
}

static int cmp_group(const mark_ref *a, const mark_ref *b) {
    if (a->track == b->track && !a->m->id && !b->m->id) return 0;
    int c = cmp_i64(a->m->id != 0, b->m->id != 0);
    if (!c) c = cmp_i64(a->track->pid.text, b->track->pid.text);
    if (!c) c = cmp_i64(a->track->pid.v, b->track->pid.v);
    if (c) return c;
    if (a->m->id) { /* async: the thread does not matter */
        c = cmp_i64(a->m->id, b->m->id);
        return c ? c : cmp_i64(a->m->category, b->m->category);
    }
    c = cmp_i64(a->track->tid.text, b->track->tid.text);
    return c ? c : cmp_i64(a->track->tid.v, b->track->tid.v);
}

static int cmp_marks(uint32_t x, uint32_t y, const void *context) {
    const matching *q = context;
    const mark_ref *a = &q->marks[x], *b = &q->marks[y];
    int c = cmp_group(a, b);
    if (!c) c = cmp_i64(a->m->time, b->m->time);
    return c ? c : (a->m->offset < b->m->offset ? -1 : a->m->offset > b->m->offset);
}

/* The order to begin with: track by track, then id by id, each as it was written. The rows of a track are
 * nearly always in order of time, so that sorting is left with little to do. */
static status deal_by_track(matching *q, error *err) {
    size_t bytes = (2 * (size_t)q->n + 1) * sizeof(sort_pair);
    sort_pair *pairs = pages_take(bytes);
    if (!pairs) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->n; i++) {
        const raw_mark *m = q->marks[i].m;
        pairs[i] = (sort_pair){m->id ? (uint64_t)1 << 32 | m->id : m->track, i};
    }
    sort_radix(pairs, pairs + q->n, q->n);
    for (uint32_t i = 0; i < q->n; i++) q->order[i] = pairs[i].row;
    pages_give(pairs, bytes);
    return OK;
}

/* All marks of all parts, and the end of everything. */
static status collect(matching *q, error *err) {
    size_t n = 0;
    q->end_of_trace = INT64_MIN;
    for (part *p = q->b->parts; p; p = p->next) {
        n += p->marks.n;
        for (size_t i = 0; i < p->slices.n; i++) {
            const raw_slice *s = &VEC(&p->slices, raw_slice)[i];
            q->end_of_trace = max_i64(q->end_of_trace, add_i64(s->start, s->dur));
        }
    }
    if (n > UINT32_MAX / 2) FAIL0(err, ERR_LIMIT, NOPOS, MSG_TOO_MANY_ROWS);
    q->marks = pages_take((n + 1) * sizeof *q->marks);
    q->order = pages_take((3 * n + 1) * sizeof *q->order);
    q->n = (uint32_t)n;
    if (!q->marks || !q->order) FAIL_MEMORY(err);
    q->stack = q->order + 2 * n;
    n = 0;
    for (part *p = q->b->parts; p; p = p->next)
        for (size_t i = 0; i < p->marks.n; i++) {
            const raw_mark *m = &VEC(&p->marks, raw_mark)[i];
            q->marks[n] = (mark_ref){m, &VEC(&p->tracks, part_track_row)[m->track], p};
            q->end_of_trace = max_i64(q->end_of_trace, m->time);
            n++;
        }
    return deal_by_track(q, err);
}

/* The row for async ranges of this thread, in the new part. */
static uint32_t async_track(matching *q, const part_track_row *t) {
    uint32_t thread = part_track(q->out, t->pid, t->tid);
    uint32_t *at = thread == UINT32_MAX ? NULL : map_at(&q->async, thread);
    if (!at) return UINT32_MAX;
    if (*at == MAP_NONE) {
        *at = 0;
        part_track_row *row = vec_push(&q->out->tracks);
        if (!row) return UINT32_MAX;
        *row = (part_track_row){
            .pid = t->pid, .tid = t->tid, .async = true, .last_start = INT64_MAX};
        *at = (uint32_t)(q->out->tracks.n - 1);
    }
    return *at;
}

/* The op or device work a mark knows of, copied to the part of the slices. */
static status copy_extra(matching *q, const mark_ref *m, raw_slice *s) {
    uint32_t x = m->m->extra;
    if (!x) return OK;
    if (kind_is_device(s->kind))
        return part_kernel(q->out, &VEC(&m->part->kernels, raw_kernel)[x - 1], s);
    TRY(part_op(q->out, &VEC(&m->part->ops, raw_op)[x - 1], s));
    const raw_op_cost *costs = VEC(&m->part->op_costs, raw_op_cost);
    size_t low = 0, high = m->part->op_costs.n; /* by op: they were added with it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (costs[middle].op < x)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == m->part->op_costs.n || costs[low].op != x) return OK;
    raw_op_cost cost = costs[low];
    cost.op = s->extra;
    return part_op_cost(q->out, &cost);
}

/* end: NULL when the range was never closed. */
static status add_slice(matching *q, uint32_t i_begin, const mark_ref *end) {
    const mark_ref *begin = &q->marks[q->order[i_begin]];
    const mark_ref *tells = end && end->m->decides ? end : begin;
    int64_t until = end ? end->m->time : q->end_of_trace;
    raw_slice s = {
        .start = begin->m->time,
        .dur = min_i64(max_i64(0, sub_i64(until, begin->m->time)), TRACE_TIME_LIMIT - 1),
        .name = begin->m->name,
        .args = tells->m->args || !end ? tells->m->args : end->m->args,
        .tie = i_begin + 1,
        .category = begin->m->category,
        .kind = tells->m->kind,
        .flags = end ? 0 : SLICE_UNFINISHED,
        .track = begin->m->id ? async_track(q, begin->track)
                              : part_track(q->out, begin->track->pid, begin->track->tid),
    };
    if (s.track == UINT32_MAX) return ERR_MEMORY;
    if (!end) part_lost(q->out, CAUSE_UNMATCHED_BEGIN, begin->m->offset, begin->m->name);
    TRY(copy_extra(q, tells, &s));
    return part_slice(q->out, &s);
}

static status match(matching *q) {
    uint32_t depth = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        const mark_ref *m = &q->marks[q->order[i]];
        if (i && cmp_group(&q->marks[q->order[i - 1]], m) != 0)
            while (depth) TRY(add_slice(q, q->stack[--depth], NULL));
        if (!m->m->end) {
            q->stack[depth++] = i;
        } else if (depth) {
            TRY(add_slice(q, q->stack[--depth], m));
        } else {
            part_lost(q->out, CAUSE_UNMATCHED_END, m->m->offset, m->m->name);
            part_count(q->out, 0, 1);
        }
    }
    while (depth) TRY(add_slice(q, q->stack[--depth], NULL));
    return OK;
}

status seal_marks(sealing *s, error *err) {
    bool any = false;
    for (part *p = s->b->parts; p; p = p->next) any |= p->marks.n > 0;
    if (!any) return OK;
    matching q = {.b = s->b};
    status st = collect(&q, err);
    if (st == OK && !(q.out = builder_part(s->b))) st = ERR_MEMORY;
    if (st == OK) {
        sort_index(q.order, q.order + q.n, q.n, cmp_marks, &q);
        st = match(&q);
    }
    map_fini(&q.async);
    if (q.marks) pages_give(q.marks, ((size_t)q.n + 1) * sizeof *q.marks);
    if (q.order) pages_give(q.order, (3 * (size_t)q.n + 1) * sizeof *q.order);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}
