/* seal_sort.c: slices in their one order: (track, start ascending, duration descending, tie).
 *
 * A producer writes a thread's events kind by kind, and each kind in the order of time: the
 * rows of a track are a few long runs that rise. The part has counted them while it was filled.
 * So rows are dealt to their tracks, the runs of a track are merged by start, slices that start
 * together are put in order by comparison, and the columns are written. All of it is done in
 * pieces of a track (from one start to another), which are small enough for the cache and run
 * side by side.
 *
 *   dealt  | track 1: run run run | track 2: run …      row numbers, counted over all parts
 *   piece            └──┴──┴─ those that start in a certain time
 *
 * A track of one run is in order as it came: its rows are not dealt, the columns are written at
 * once. A track of many short runs is sorted by radix instead. */
#include <stdatomic.h>

#include "base/bisect.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/pages.h"
#include "base/sort.h"
#include "store/builder_int.h"
#include "store/trace_int.h"

enum {
    PIECE = 32768,      /* rows merged by one job, about: what it touches fits the L2 cache */
    SAMPLE = PIECE / 8, /* one row in this many of a run is a candidate for a cut */
    MAX_RUNS = 1024,    /* beyond it a radix sort is quicker */
    LOCAL_HEADS = 64,   /* runs merged without asking for memory */
    N_PER_SLICE = 4,    /* arrays of the seal with a number for each slice */
};

/* What part_track_row.run is of a track that is not merged. */
#define MANY_RUNS UINT32_MAX
#define IN_ORDER (UINT32_MAX - 1)

typedef struct {
    uint32_t at; /* its first place in `dealt`; it ends where the next of the track starts */
    uint32_t part;
} run;

/* The slices of a track that start at `from` or later and before `to`. */
typedef struct {
    uint32_t track; /* from 0 */
    int64_t from, to;
} piece;

typedef struct {
    seal_ctx *s;
    uint32_t *dealt;
    uint32_t n_tracks;
    uint32_t *first;     /* by track: its first place in `dealt`; n_tracks + 1 */
    uint32_t *first_run; /* by track, into `runs`; n_tracks + 1. None: nothing to merge */
    uint32_t *n_runs;    /* by track */
    uint8_t *has_ties;   /* by track that is in order: some slices start together */
    run *runs;
    vec pieces;
    atomic_int failed;
} seal_sort_ctx;

/* What is left of a run in a merge. */
typedef struct {
    int64_t key; /* start of its next row */
    const uint32_t *at, *end;
    const part *p;
} head;

static inline int64_t start_of(const part *p, uint32_t row) {
    return VEC(&p->slices, raw_slice)[row - p->first_slice].start;
}

/* ---- ties ---- */

enum { N_TELLING = 4 };

/* Numbers that tell apart two slices of one name that cover the same time. */
static void tell_apart(const part *p, const raw_slice *r, int64_t to[N_TELLING]) {
    memset(to, 0, N_TELLING * sizeof *to);
    to[N_TELLING - 1] = r->flags;
    if (!r->extra) return;
    if (kind_is_device(r->kind)) {
        const raw_kernel *k = &VEC(&p->kernels, raw_kernel)[r->extra - 1];
        to[0] = k->correlation;
        to[1] = k->external;
        to[2] = k->graph_node;
    } else if (kind_is_call(r->kind)) {
        const raw_call *c = &VEC(&p->calls, raw_call)[r->extra - 1];
        to[0] = c->correlation;
        to[1] = c->external;
    } else if (r->kind == KIND_MODULE) {
        to[0] = VEC(&p->modules, raw_module)[r->extra - 1].id;
    } else {
        const raw_op *o = &VEC(&p->ops, raw_op)[r->extra - 1];
        to[0] = o->external;
        to[1] = o->sequence;
        to[2] = o->forward_thread;
    }
}

/* Order of two slices that start together on the same track. Neither the order in the file nor
 * the thread that read it decides, as long as a column differs. */
static int cmp_ties(uint32_t x, uint32_t y, const void *context) {
    const seal_ctx *s = context;
    const intern *strings = s->b->strings;
    const part *p = seal_part_of(s, x, s->part_list[0]), *o = seal_part_of(s, y, p);
    const raw_slice *a = &VEC(&p->slices, raw_slice)[x - p->first_slice],
                    *b = &VEC(&o->slices, raw_slice)[y - o->first_slice];
    if (a->dur != b->dur) return a->dur > b->dur ? -1 : 1;
    if (a->kind != b->kind) return kind_rank(a->kind) < kind_rank(b->kind) ? -1 : 1;
    if (a->tie != b->tie) return a->tie < b->tie ? -1 : 1;
    if (a->name != b->name)
        return str_cmp(intern_get(strings, a->name), intern_get(strings, b->name));
    const uint32_t *category = VEC(&s->b->categories, uint32_t);
    int c = str_cmp(intern_get(strings, category[a->category]),
                    intern_get(strings, category[b->category]));
    int64_t u[N_TELLING], v[N_TELLING];
    tell_apart(p, a, u);
    tell_apart(o, b, v);
    for (int i = 0; i < N_TELLING && !c; i++) c = u[i] < v[i] ? -1 : u[i] > v[i];
    return c;
}

/* Sorts rows of equal starts. Most are two. */
static bool sort_equal(const seal_ctx *s, uint32_t *rows, size_t n) {
    if (n == 2) {
        if (cmp_ties(rows[0], rows[1], s) > 0) {
            uint32_t row = rows[0];
            rows[0] = rows[1];
            rows[1] = row;
        }
        return true;
    }
    uint32_t few[32], *scratch = n <= 32 ? few : mem_alloc(n * sizeof *scratch);
    if (!scratch) return false;
    sort_index(rows, scratch, n, cmp_ties, s);
    if (scratch != few) mem_free(scratch);
    return true;
}

/* The slices from … end-1 are in order of their starts: puts those that start together in
 * order. */
static void sort_ties(seal_sort_ctx *q, uint32_t from, uint32_t end) {
    const int64_t *start = q->s->slice.start;
    for (uint32_t i = from, next; i < end; i = next) {
        for (next = i + 1; next < end && start[next] == start[i];) next++;
        if (next - i > 1 && !sort_equal(q->s, q->s->raw_row + i, next - i))
            atomic_store(&q->failed, 1);
    }
}

/* ---- columns ---- */

/* All but start and raw row. */
static inline void write_slice(const seal_ctx *s, uint32_t id, const raw_slice *r,
                               bool other_is_op) {
    s->slice.dur[id] = r->dur;
    s->slice.name[id] = r->name;
    s->slice.args[id] = r->args;
    s->slice.category[id] = r->category;
    s->slice.kind[id] = r->kind == KIND_OTHER && other_is_op ? KIND_OP : r->kind;
    s->slice.flags[id] = r->flags;
    s->detail[id] = r->extra;
}

static void gather(seal_sort_ctx *q, uint32_t from, uint32_t end) {
    const seal_ctx *s = q->s;
    const part *p = s->part_list[0];
    bool other_is_op = s->b->other_is_op;
    for (uint32_t id = from; id < end; id++) {
        uint32_t row = s->raw_row[id];
        p = seal_part_of(s, row, p);
        write_slice(s, id, &VEC(&p->slices, raw_slice)[row - p->first_slice], other_is_op);
    }
}

/* The slices of a track that came in order: those that start together may have to change
 * places. */
static void settle_ties(seal_sort_ctx *q, uint32_t track) {
    const int64_t *start = q->s->slice.start;
    uint32_t end = q->first[track + 1] + 1;
    for (uint32_t i = q->first[track] + 1, next; i < end; i = next) {
        for (next = i + 1; next < end && start[next] == start[i];) next++;
        if (next - i == 1) continue;
        if (!sort_equal(q->s, q->s->raw_row + i, next - i)) atomic_store(&q->failed, 1);
        gather(q, i, next);
    }
}

/* ---- merging ---- */

/* The heap's first head may be too large for its place. */
static void sift_down(head *heap, size_t n) {
    head moved = heap[0];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && heap[child + 1].key < heap[child].key) child++;
        if (moved.key <= heap[child].key) break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
}

static void sift_up(head *heap, size_t i) {
    head moved = heap[i];
    for (size_t parent; i && heap[parent = (i - 1) / 2].key > moved.key; i = parent)
        heap[i] = heap[parent];
    heap[i] = moved;
}

/* Writes the rows of all heads by start, as slices from `id` on. Returns the slice after
 * them. */
static uint32_t merge(seal_ctx *s, head *heap, size_t n, uint32_t id) {
    while (n) {
        int64_t limit = n > 1 ? heap[1].key : INT64_MAX;
        if (n > 2 && heap[2].key < limit) limit = heap[2].key;
        do { /* as long as no other run has an earlier one */
            s->raw_row[id] = *heap->at;
            s->slice.start[id++] = heap->key;
            if (++heap->at == heap->end) {
                heap[0] = heap[--n];
                break;
            }
            heap->key = start_of(heap->p, *heap->at);
        } while (heap->key <= limit);
        if (n) sift_down(heap, n);
    }
    return id;
}

static uint32_t run_end(const seal_sort_ctx *q, uint32_t track, uint32_t r) {
    return r + 1 < q->first_run[track + 1] ? q->runs[r + 1].at : q->first[track + 1];
}

/* The first place of a run whose row starts at `time` or later. */
static uint32_t first_from(const seal_sort_ctx *q, const part *p, uint32_t at, uint32_t end,
                           int64_t time) {
    if (time == INT64_MAX || start_of(p, q->dealt[end - 1]) < time) return end;
    return SEARCH_FIRST(i, at, end, start_of(p, q->dealt[i]) < time);
}

static void merge_piece(seal_sort_ctx *q, const piece *pc) {
    uint32_t r = q->first_run[pc->track], end_run = q->first_run[pc->track + 1];
    uint32_t id = q->first[pc->track] + 1; /* slice ids start at 1 */
    head local[LOCAL_HEADS], *heap = local;
    size_t n = 0;
    if (end_run - r > LOCAL_HEADS) heap = mem_alloc((end_run - r) * sizeof *heap);
    if (!heap) {
        atomic_store(&q->failed, 1);
        return;
    }
    for (; r < end_run; r++) {
        const part *p = q->s->part_list[q->runs[r].part];
        uint32_t end = run_end(q, pc->track, r), from = q->runs[r].at;
        if (from == end) continue;
        uint32_t at = first_from(q, p, from, end, pc->from);
        uint32_t to = at < end ? first_from(q, p, at, end, pc->to) : end;
        id += at - from;
        if (at == to) continue;
        heap[n] = (head){start_of(p, q->dealt[at]), q->dealt + at, q->dealt + to, p};
        sift_up(heap, n++);
    }
    uint32_t end = merge(q->s, heap, n, id);
    if (heap != local) mem_free(heap);
    sort_ties(q, id, end);
    gather(q, id, end);
}

/* A whole track by radix. */
static void sort_track(seal_sort_ctx *q, uint32_t track) {
    seal_ctx *s = q->s;
    uint32_t from = q->first[track], n = q->first[track + 1] - from;
    size_t bytes = 2 * (size_t)n * sizeof(sort_pair);
    sort_pair *pairs = pages_take(bytes);
    if (!pairs) {
        atomic_store(&q->failed, 1);
        return;
    }
    const part *p = s->part_list[0];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = q->dealt[from + i];
        p = seal_part_of(s, row, p);
        /* Flipping the sign bit makes the order of int64 that of uint64. */
        pairs[i] = (sort_pair){(uint64_t)start_of(p, row) ^ 1ull << 63, row};
    }
    sort_radix(pairs, pairs + n, n);
    for (uint32_t i = 0; i < n; i++) {
        s->raw_row[from + 1 + i] = pairs[i].row;
        s->slice.start[from + 1 + i] = (int64_t)(pairs[i].key ^ 1ull << 63);
    }
    pages_give(pairs, bytes);
    sort_ties(q, from + 1, from + 1 + n);
    gather(q, from + 1, from + 1 + n);
}

static void sort_piece(void *context, size_t i, int worker) {
    seal_sort_ctx *q = context;
    const piece *pc = &VEC(&q->pieces, piece)[i];
    (void)worker;
    if (q->n_runs[pc->track] == 1)
        settle_ties(q, pc->track);
    else if (q->first_run[pc->track] == q->first_run[pc->track + 1])
        sort_track(q, pc->track);
    else
        merge_piece(q, pc);
}

/* ---- dealing ---- */

/* Whatever a reader let through: sums of two times fit from here on. */
static inline void bound_times(raw_slice *r) {
    const int64_t most = TRACE_TIME_LIMIT - 1, least = sub_i64(0, most);
    if (r->start >= least && r->start <= most && r->dur >= 0 && r->dur <= most) return;
    r->start = max_i64(least, min_i64(r->start, most));
    r->dur = max_i64(0, min_i64(r->dur, most));
}

/* Deals the rows of a part to their tracks and notes where runs start; those that are in order
 * become slices. */
static void deal_part(void *context, size_t i, int worker) {
    seal_sort_ctx *q = context;
    const part *p = q->s->part_list[i];
    part_track_row *tracks = VEC(&p->tracks, part_track_row);
    raw_slice *rows = VEC(&p->slices, raw_slice);
    const seal_ctx s = *q->s; /* a copy: no column that is written can be one of its pointers */
    bool other_is_op = s.b->other_is_op;
    (void)worker;
    for (size_t k = 0; k < p->slices.n; k++) {
        part_track_row *t = &tracks[rows[k].track];
        uint32_t row = p->first_slice + (uint32_t)k;
        bool is_first = !t->is_dealt;
        t->is_dealt = true;
        bound_times(&rows[k]);
        if (t->run == IN_ORDER) {
            uint32_t id = ++t->at; /* slice ids start at 1 */
            if (!is_first && rows[k].start == t->last_start) q->has_ties[t->sealed - 1] = 1;
            t->last_start = rows[k].start;
            s.raw_row[id] = row;
            s.slice.start[id] = rows[k].start;
            write_slice(&s, id, &rows[k], other_is_op);
            continue;
        }
        if ((is_first || rows[k].start < t->last_start) && t->run != MANY_RUNS) {
            if (t->n_runs-- == 0) BUG("more runs than were counted");
            q->runs[t->run++] = (run){t->at, (uint32_t)i};
        }
        t->last_start = rows[k].start;
        q->dealt[t->at++] = row;
    }
    for (size_t k = 0; k < p->tracks.n; k++) /* fewer than were counted: those left are empty */
        for (part_track_row *t = &tracks[k]; t->run < IN_ORDER && t->n_runs; t->n_runs--)
            q->runs[t->run++] = (run){t->at, (uint32_t)i};
}

/* Where each part puts its rows and runs. */
static void share_out(seal_sort_ctx *q) {
    seal_ctx *s = q->s;
    uint32_t *at = q->first + 1, *run_at = q->first_run + 1; /* fill marks: ends afterwards */
    for (uint32_t i = 0; i < s->n_parts; i++) {
        part *p = s->part_list[i];
        for (size_t k = 0; k < p->tracks.n; k++) {
            part_track_row *t = &VEC(&p->tracks, part_track_row)[k];
            uint32_t track = t->sealed - 1;
            t->at = at[track];
            at[track] += t->n_slices;
            uint32_t n_runs = q->n_runs[track];
            t->run = n_runs == 1 ? IN_ORDER : n_runs <= MAX_RUNS ? run_at[track] : MANY_RUNS;
            if (t->run < IN_ORDER) run_at[track] += t->n_runs;
            t->is_dealt = false; /* the first row starts a run, whatever its time */
        }
    }
}

static status add_piece(seal_sort_ctx *q, uint32_t track, int64_t from, int64_t to,
                        error *err) {
    piece *pc = vec_push(&q->pieces);
    if (!pc) FAIL_MEMORY(err);
    *pc = (piece){track, from, to};
    return OK;
}

/* Cuts a track where one PIECE of rows ends, as far as every SAMPLEth row of its runs can
 * tell. */
static status cut_track(seal_sort_ctx *q, uint32_t track, error *err) {
    uint32_t n_most = (q->first[track + 1] - q->first[track]) / SAMPLE, n = 0;
    int64_t from = INT64_MIN;
    if (q->first_run[track] < q->first_run[track + 1] && n_most > PIECE / SAMPLE) {
        sort_pair *pairs = mem_alloc(2 * (size_t)n_most * sizeof *pairs);
        if (!pairs) FAIL_MEMORY(err);
        for (uint32_t r = q->first_run[track]; r < q->first_run[track + 1]; r++) {
            const part *p = q->s->part_list[q->runs[r].part];
            uint32_t end = run_end(q, track, r);
            for (uint32_t i = q->runs[r].at; end - i >= SAMPLE; i += SAMPLE)
                pairs[n++] = (sort_pair){
                    (uint64_t)start_of(p, q->dealt[i + SAMPLE - 1]) ^ 1ull << 63, 0};
        }
        sort_radix(pairs, pairs + n_most, n);
        status st = OK;
        for (uint32_t i = PIECE / SAMPLE; i < n && st == OK; i += PIECE / SAMPLE) {
            int64_t to = (int64_t)(pairs[i].key ^ 1ull << 63);
            if (to == from) continue;
            st = add_piece(q, track, from, to, err);
            from = to;
        }
        mem_free(pairs);
        TRY(st);
    }
    return add_piece(q, track, from, INT64_MAX, err);
}

/* Counts rows and runs of the tracks, and makes room. */
static status prepare(seal_sort_ctx *q, error *err) {
    seal_ctx *s = q->s;
    size_t n = 0, runs = 0;
    uint32_t *n_rows = q->first + 1;
    for (uint32_t i = 0; i < s->n_parts; i++) {
        part *p = s->part_list[i];
        p->first_slice = (uint32_t)n;
        p->n_slices = (uint32_t)p->slices.n;
        n += p->slices.n;
        if (n > UINT32_MAX - 2) FAIL0(err, ERR_LIMIT, NOPOS, MSG_TOO_MANY_ROWS);
        for (size_t k = 0; k < p->tracks.n; k++) {
            const part_track_row *t = &VEC(&p->tracks, part_track_row)[k];
            n_rows[t->sealed - 1] += t->n_slices;
            q->n_runs[t->sealed - 1] += t->n_runs;
        }
    }
    TRY(seal_table(s, TABLE_slice, n + 1, err));
    uint32_t rows_before = 0;
    for (uint32_t t = 0; t < q->n_tracks; t++) {
        uint32_t rows = n_rows[t];
        n_rows[t] = rows_before;
        rows_before += rows;
        q->first_run[t + 1] = (uint32_t)runs;
        if (q->n_runs[t] > 1 && q->n_runs[t] <= MAX_RUNS) runs += q->n_runs[t];
    }
    s->spare_bytes = N_PER_SLICE * (n + 1) * sizeof(uint32_t);
    s->spare = pages_take(s->spare_bytes);
    q->runs = seal_scratch(s, runs + 1, sizeof *q->runs);
    if (!s->spare || !q->runs) FAIL_MEMORY(err);
    s->raw_row = s->spare;
    s->detail = s->raw_row + n + 1;
    s->raw_row[0] = s->detail[0] = 0;              /* the null slice */
    s->by_slice[0] = q->dealt = s->detail + n + 1; /* dealt is done with when frames begin */
    s->by_slice[1] = s->by_slice[0] + n + 1;
    return OK;
}

static status sort_slices(seal_sort_ctx *q, error *err) {
    seal_ctx *s = q->s;
    q->n_tracks = s->track.n - 1;
    q->first = seal_scratch(s, (size_t)q->n_tracks + 2, sizeof(uint32_t));
    q->first_run = seal_scratch(s, (size_t)q->n_tracks + 2, sizeof(uint32_t));
    q->n_runs = seal_scratch(s, (size_t)q->n_tracks + 1, sizeof(uint32_t));
    q->has_ties = seal_scratch(s, (size_t)q->n_tracks + 1, sizeof *q->has_ties);
    if (!q->first || !q->first_run || !q->n_runs || !q->has_ties) FAIL_MEMORY(err);
    TRY(prepare(q, err));
    share_out(q);
    pool_for(s->pool, s->n_parts, deal_part, q);
    for (uint32_t t = 0; t < q->n_tracks; t++)
        if (q->first[t] < q->first[t + 1] && (q->n_runs[t] > 1 || q->has_ties[t]))
            TRY(cut_track(q, t, err));
    pool_for(s->pool, q->pieces.n, sort_piece, q);
    if (atomic_load(&q->failed)) FAIL_MEMORY(err);
    return OK;
}

/* ---- tracks ---- */

static void write_ranges(const seal_sort_ctx *q) {
    seal_ctx *s = q->s;
    for (uint32_t t = 1; t < s->track.n; t++) {
        s->track.first[t] = q->first[t - 1] + 1;
        s->track.end[t] = q->first[t] + 1;
    }
}

/* A track is a stream when device work ran on it, and so on. */
static void name_kinds(seal_ctx *s) {
    for (uint32_t t = 1; t < s->track.n; t++) {
        if (s->track.kind[t] == TRACK_ASYNC) continue;
        for (uint32_t i = s->track.first[t]; i < s->track.end[t]; i++) {
            uint8_t k = s->slice.kind[i];
            if (k == KIND_SPAN) s->track.kind[t] = TRACK_SPAN;
            if (kind_is_device(k) || k == KIND_DEVICE_ANNOTATION)
                s->track.kind[t] = TRACK_STREAM;
            if (k != KIND_SYNC && k != KIND_OVERHEAD && k != KIND_OTHER) break;
        }
    }
}

/* Of ranges that several threads draw, those of one thread count (builder_set_stage_track). */
static void keep_stages(seal_ctx *s) {
    for (uint32_t t = 1; t < s->track.n && s->b->stage_track; t++) {
        if (s->track.name[t] == s->b->stage_track || !s->track.name[t]) continue;
        for (uint32_t i = s->track.first[t]; i < s->track.end[t]; i++) {
            uint8_t *k = &s->slice.kind[i];
            if (*k == KIND_MODULE) s->detail[i] = 0; /* a row of modules, not of ops */
            if (*k == KIND_MODULE || *k == KIND_FORWARD || *k == KIND_BACKWARD ||
                *k == KIND_OPTIMIZER)
                *k = KIND_ANNOTATION;
        }
    }
}

/* The raw slices are not read again: what is left of them is in the columns, raw_row and
 * detail. The memory of the first part is used again at once. */
static void free_raw_slices(seal_ctx *s) {
    for (uint32_t i = 0; i < s->n_parts; i++) {
        vec *v = &s->part_list[i]->slices;
        if (!s->worn && v->mapped_bytes) {
            s->worn = v->p;
            s->worn_bytes = v->mapped_bytes;
            *v = VEC_INIT(raw_slice);
        }
        vec_fini(v);
    }
}

status seal_sort(seal_ctx *s, error *err) {
    seal_sort_ctx q = {.s = s, .pieces = VEC_INIT(piece)};
    status st = sort_slices(&q, err);
    vec_fini(&q.pieces);
    if (st != OK) return st;
    write_ranges(&q);
    name_kinds(s);
    keep_stages(s);
    free_raw_slices(s);
    return OK;
}
