/* seal_nest.c: which slice encloses which on a track, and on which display row each slice is
 * drawn.
 *
 * One stack per track, in slice order: what ended before the new slice starts, or ends before
 * the new slice does, is popped; what is left on top is the parent. A slice that pops something
 * still running overlaps it partially: it is kept as a sibling, flagged and counted, never
 * clipped. Ranges on a stream or of an async id may overlap; there it is not damage and is not
 * counted. */
#include <stdatomic.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/pages.h"
#include "store/builder_int.h"

enum { MAX_ROWS = 4096 }; /* beyond it overlapping slices share the last row */

typedef struct {
    seal_ctx *s;
    atomic_llong n_overlaps;
    atomic_int failed;
} nest_ctx;

/* Rows of a track: when each is free again. */
typedef struct {
    int64_t *free_at;
    uint32_t n, cap;
} row_list;

/* A slice that has not ended yet. */
typedef struct {
    int64_t end;
    uint32_t id;
    uint32_t next_row; /* where its children go at least */
} open_slice;

/* The first row from `least` on that is free at `start`: nearly always that one. */
static inline bool take_row(row_list *r, uint32_t least, int64_t start, int64_t end,
                            uint16_t *out) {
    if (least < r->n && least < MAX_ROWS && r->free_at[least] <= start) {
        r->free_at[least] = max_i64(end, start + 1);
        *out = (uint16_t)least;
        return true;
    }
    uint32_t row = least < MAX_ROWS ? least : MAX_ROWS;
    while (row < r->n && row < MAX_ROWS && r->free_at[row] > start) row++;
    if (row >= r->cap) {
        uint32_t cap = row * 2 + 64;
        int64_t *p = mem_grow(r->free_at, cap * sizeof *p);
        if (!p) return false;
        r->free_at = p;
        r->cap = cap;
    }
    while (r->n <= row) r->free_at[r->n++] = INT64_MIN;
    r->free_at[row] = max_i64(end, start + 1);
    *out = (uint16_t)row;
    return true;
}

/* Slices from `from` on as long as each starts when row 0 is free: neither inside another nor
 * around it, as most device work is. Their parent, depth and row are zero, as they are from the
 * start. Returns the last. */
static uint32_t skip_flat(const seal_ctx *s, uint32_t from, uint32_t end, int64_t *free_at) {
    const int64_t *starts = s->slice.start, *durs = s->slice.dur;
    int64_t free = *free_at;
    for (; from < end && starts[from] >= free; from++)
        free = max_i64(starts[from] + durs[from], starts[from] + 1);
    *free_at = free;
    return from - 1;
}

static bool nest_track(nest_ctx *q, uint32_t track, open_slice *stack, row_list *rows) {
    const seal_ctx *s = q->s;
    const int64_t *starts = s->slice.start, *durs = s->slice.dur;
    uint32_t *parents = s->slice.parent;
    uint16_t *depths = s->slice.depth, *row_of = s->slice.row;
    uint32_t depth = 0; /* entries on the stack, above one that never ends */
    int64_t overlaps = 0;
    stack[0] = (open_slice){INT64_MAX, 0, 0};
    for (uint32_t i = s->track.first[track]; i < s->track.end[track]; i++) {
        int64_t start = starts[i], end = start + durs[i];
        if (depth == 1 && stack[1].next_row == 1 && start >= rows->free_at[0]) {
            i = skip_flat(s, i, s->track.end[track], rows->free_at);
            stack[1] = (open_slice){starts[i] + durs[i], i, 1};
            continue;
        }
        bool overlap = false;
        while (start >= stack[depth].end || end > stack[depth].end) {
            overlap |= start < stack[depth].end;
            depth--;
        }
        const open_slice *parent = &stack[depth];
        uint16_t row;
        if (!take_row(rows, parent->next_row, start, end, &row)) return false;
        parents[i] = parent->id;
        depths[i] = sat_u16(depth);
        row_of[i] = row;
        if (overlap) {
            s->slice.flags[i] |= SLICE_SPILLED;
            overlaps++;
        }
        stack[++depth] = (open_slice){end, i, row + 1u};
    }
    s->track.rows[track] = rows->n;
    if (s->track.kind[track] == TRACK_THREAD) atomic_fetch_add(&q->n_overlaps, overlaps);
    return true;
}

/* The stack of a track cannot be deeper than the track is long; most are shallow, so the map's
 * untouched pages cost nothing. */
static void nest_job(void *context, size_t job, int worker) {
    nest_ctx *q = context;
    uint32_t track = (uint32_t)job + 1;
    size_t n = q->s->track.end[track] - q->s->track.first[track];
    (void)worker;
    if (n == 0) return;
    open_slice *stack = pages_take((n + 1) * sizeof *stack);
    row_list rows = {0};
    if (!stack || !nest_track(q, track, stack, &rows)) atomic_store(&q->failed, 1);
    if (stack) pages_give(stack, (n + 1) * sizeof *stack);
    mem_free(rows.free_at);
}

status seal_nest(seal_ctx *s, error *err) {
    nest_ctx q = {.s = s};
    pool_for(s->pool, s->track.n - 1, nest_job, &q);
    if (atomic_load(&q.failed)) FAIL_MEMORY(err);
    seal_lost(s, CAUSE_PARTIAL_OVERLAP, atomic_load(&q.n_overlaps), NOPOS, 0);
    return OK;
}
