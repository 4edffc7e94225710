/* idle.c: when no device did anything, and what it waited for.
 *
 * Device work is put in order of start once; a sweep with the latest end so far finds the gaps.
 *
 *   host    ▐launch a▌        ▐─── synchronize ───▌  …  ▐launch b▌
 *   device            ▐──── a ────────────────────▌               ▐ b
 *                             |── ahead ──────────|── gap ────────|
 *   blocked = min(ahead, gap); the rest of the gap is the host's own
 *
 * A step is as long as its host interval or its device work, whichever ends later
 * (step_spans.h); a gap at the end of the last step, with no piece after it, is the host's.
 * All devices of the process count as one: a moment is idle when none of them works. */
#include "analyse/scan/idle.h"

#include "analyse/lexicon.h"
#include "base/bisect.h"
#include "base/sort.h"

#define LOOK_BACK 64  /* blocking calls looked at for one gap */
#define SHORT_NS 5000 /* from one queued piece to the next: some 1 to 2 µs on current devices */

bool idle_blocks(str name) {
    return lexicon_means(name, MEANS_BLOCKS);
}

typedef struct {
    const idle_question *q;
    intervals others; /* what is somebody else's: data loading, collectives on the host */
    idle_gaps out;
} finder;

static status add_gap(finder *f, idle_gap gap, error *err) {
    idle_gaps *o = &f->out;
    if (o->n == o->cap) {
        size_t cap = o->cap ? o->cap * 2 : 256;
        idle_gap *grown =
            arena_grow(f->q->arena, o->v, o->cap * sizeof *grown, cap * sizeof *grown);
        if (!grown) FAIL_MEMORY(err);
        o->v = grown;
        o->cap = cap;
    }
    o->v[o->n++] = gap;
    o->ns[IDLE_BLOCKED] = add_i64(o->ns[IDLE_BLOCKED], gap.blocked);
    o->ns[gap.cause] = add_i64(o->ns[gap.cause], sub_i64(gap.ns, gap.blocked));
    return OK;
}

/* The last blocking call that began before `time`; NULL when there is none. */
static const blocking_call *call_before(const finder *f, int64_t time) {
    size_t low = SEARCH_FIRST(i, 0, f->q->n_calls, f->q->calls[i].start < time);
    return low ? &f->q->calls[low - 1] : NULL;
}

/* The thread that was to launch on sat in blocking calls inside the gap: that time is
 * theirs. */
static void add_inside(const finder *f, idle_gap *gap, uint32_t launch) {
    const trace *t = f->q->t;
    const blocking_call *call = call_before(f, gap->range.end);
    int64_t inside = 0, longest = 0, until = gap->range.end;
    uint32_t slice = 0;
    if (!launch) return;
    /* Calls of one thread do not overlap, so those before the gap end before it; a bounded look
     * back passes over calls of other threads. */
    for (int back = 0; call && call >= f->q->calls && back < LOOK_BACK; back++, call--) {
        if (trace_track_of(t, call->slice) != trace_track_of(t, launch)) continue;
        int64_t ns = sub_i64(min_i64(call->end, until), max_i64(call->start, gap->range.start));
        if (ns <= 0) break;
        inside = add_i64(inside, ns);
        until = min_i64(until, call->start);
        if (ns > longest) {
            longest = ns;
            slice = call->slice;
        }
    }
    if (inside <= gap->blocked) return;
    gap->blocked = inside;
    gap->blocking = slice;
}

/* Fills in cause and what was blocked of a whole gap that ends with `work`. */
static void idle_judge(const finder *f, idle_gap *gap, uint32_t work) {
    const trace *t = f->q->t;
    uint32_t launch = work ? t->kernel.launch[work] : 0;
    gap->work = work;
    gap->cause = IDLE_HOST;
    if (work && !launch) gap->cause = IDLE_UNKNOWN;
    if (launch && slice_end(t, launch) <= gap->range.start)
        gap->cause = sub_i64(gap->range.end, gap->range.start) < SHORT_NS ? IDLE_BETWEEN
                                                                          : IDLE_DEPENDENCY;
    if (gap->cause != IDLE_HOST) return;
    const blocking_call *call = call_before(f, gap->range.start);
    if (call && call->end > gap->range.start) {
        gap->blocked = sub_i64(gap->range.start, call->start);
        gap->blocking = call->slice;
    }
    add_inside(f, gap, launch);
}

/* Cuts a gap to the steps from *at on; both ascend. */
static status cut_gap(finder *f, interval range, uint32_t work, uint32_t *at, error *err) {
    idle_gap whole = {.range = range};
    idle_judge(f, &whole, work);
    while (*at < f->q->steps->n && f->q->steps->v[*at].end <= range.start) ++*at;
    for (uint32_t i = *at; i < f->q->steps->n && f->q->steps->v[i].start < range.end; i++) {
        idle_gap gap = whole;
        gap.step = i;
        gap.range.start = max_i64(range.start, f->q->steps->v[i].start);
        gap.range.end = min_i64(range.end, f->q->steps->v[i].end);
        gap.ns = sub_i64(gap.range.end, gap.range.start);
        gap.ns -= intervals_ns_in(&f->others, gap.range.start, gap.range.end);
        if (gap.ns <= 0) continue;
        gap.blocked = min_i64(gap.ns, whole.blocked);
        whole.blocked -= gap.blocked;
        if (!gap.blocked) gap.blocking = 0;
        TRY(add_gap(f, gap, err));
    }
    return OK;
}

static status sweep(finder *f, const sort_pair *work, size_t n, error *err) {
    const trace *t = f->q->t;
    if (!f->q->steps->n) return OK;
    int64_t until = f->q->steps->v[0].start, end = f->q->steps->v[f->q->steps->n - 1].end;
    uint32_t step = 0;
    for (size_t i = 0; i < n && until < end; i++) {
        uint32_t slice = t->kernel.slice[work[i].row];
        int64_t start = min_i64(t->slice.start[slice], end);
        if (start > until) TRY(cut_gap(f, (interval){until, start}, work[i].row, &step, err));
        until = max_i64(until, slice_end(t, slice));
    }
    return until < end ? cut_gap(f, (interval){until, end}, 0, &step, err) : OK;
}

static sort_pair *sort_work(const trace *t, arena *a, size_t *n) {
    sort_pair *pairs = arena_alloc(a, ((size_t)t->kernel.n + 1) * sizeof *pairs);
    sort_pair *scratch = arena_alloc(a, ((size_t)t->kernel.n + 1) * sizeof *pairs);
    if (!pairs || !scratch) return NULL;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        int64_t start = t->slice.start[t->kernel.slice[k]];
        pairs[(*n)++] = (sort_pair){(uint64_t)start ^ (uint64_t)1 << 63, k};
    }
    sort_radix(pairs, scratch, *n);
    return pairs;
}

/* The union of two merged sets. */
static intervals unite(const intervals *x, const intervals *y, arena *a) {
    intervals made = intervals_in(a);
    for (size_t i = 0, k = 0; i < x->n || k < y->n;) {
        bool first = k == y->n || (i < x->n && x->v[i].start <= y->v[k].start);
        interval r = first ? x->v[i++] : y->v[k++];
        intervals_add(&made, r.start, r.end);
    }
    intervals_merge(&made);
    return made;
}

status idle_find(const idle_question *q, idle_gaps *out, error *err) {
    finder f = {.q = q};
    size_t n = 0;
    const sort_pair *work = sort_work(q->t, q->arena, &n);
    f.others =
        unite(&q->ranges->at[ROLE_DATA_LOADER], &q->ranges->at[ROLE_COMMUNICATION], q->arena);
    if (!work || f.others.failed) FAIL_MEMORY(err);
    if (n) TRY(sweep(&f, work, n, err));
    *out = f.out;
    return OK;
}
