/* seal_sort.c: slices in their one order: (track, start ascending, duration descending, tie).
 *
 * Rows are dealt to their tracks by counting, each track is radix-sorted by start on its own (so
 * tracks sort in parallel), and runs of equal starts are put in order by comparison. Then the
 * columns are written by gathering from the raw rows. */
#include <stdatomic.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/sort.h"
#include "store/builder_int.h"

enum { GRAIN = 16384 };   /* rows gathered by one job */
enum { SPARE_PAIRS = 8 }; /* room for row 0 of the arrays that live in the pairs afterwards */

typedef struct {
    sealing *s;
    uint64_t *part_base; /* first global index of each part */
    sort_pair *pairs, *scratch;
    size_t n;
    uint32_t *first; /* by track: first pair; n_tracks + 1 */
    atomic_int failed;
} sorting;

static const raw_slice *raw_of(const sorting *q, uint32_t i) {
    uint32_t p = 0;
    while (p + 1 < q->s->n_parts && q->part_base[p + 1] <= i) p++;
    return &VEC(&q->s->part_list[p]->slices, raw_slice)[i - q->part_base[p]];
}

enum { N_TELLING = 4 };

/* Numbers that tell apart two slices of one name that cover the same time. */
static void tell_apart(const sealing *s, const raw_slice *r, int64_t to[N_TELLING]) {
    const part *p = seal_part_of(s, r, s->part_list[0]);
    memset(to, 0, N_TELLING * sizeof *to);
    to[N_TELLING - 1] = r->flags;
    if (!r->extra) return;
    if (kind_is_device(r->kind)) {
        const raw_kernel *k = &VEC(&p->kernels, raw_kernel)[r->extra - 1];
        to[0] = k->correlation;
        to[1] = k->external;
        to[2] = k->graph_node;
    } else if (r->kind == KIND_RUNTIME || r->kind == KIND_DRIVER) {
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

/* Neither the order in the file nor the thread that read it decides, as long as a column differs. */
static int cmp_twins(const sealing *s, const raw_slice *a, const raw_slice *b) {
    const uint32_t *category = VEC(&s->b->categories, uint32_t);
    int c = str_cmp(intern_get(s->b->strings, category[a->category]),
                    intern_get(s->b->strings, category[b->category]));
    int64_t x[N_TELLING], y[N_TELLING];
    tell_apart(s, a, x);
    tell_apart(s, b, y);
    for (int i = 0; i < N_TELLING && !c; i++) c = x[i] < y[i] ? -1 : x[i] > y[i];
    return c;
}

/* Order of two slices that start together on the same track. */
static int cmp_ties(uint32_t x, uint32_t y, const void *context) {
    const sorting *q = context;
    const raw_slice *a = raw_of(q, x), *b = raw_of(q, y);
    if (a->dur != b->dur) return a->dur > b->dur ? -1 : 1;
    if (a->kind != b->kind) return kind_rank(a->kind) < kind_rank(b->kind) ? -1 : 1;
    if (a->tie != b->tie) return a->tie < b->tie ? -1 : 1;
    if (a->name == b->name) return cmp_twins(q->s, a, b);
    return str_cmp(intern_get(q->s->b->strings, a->name),
                   intern_get(q->s->b->strings, b->name));
}

/* Sorts a run of equal starts. Most runs are two long. */
static bool sort_run(const sorting *q, sort_pair *run, size_t n) {
    if (n == 2) {
        if (cmp_ties(run[0].row, run[1].row, q) > 0) {
            uint32_t row = run[0].row;
            run[0].row = run[1].row;
            run[1].row = row;
        }
        return true;
    }
    uint32_t few[64], *rows = n <= 32 ? few : mem_alloc(2 * n * sizeof *rows);
    if (!rows) return false;
    for (size_t i = 0; i < n; i++) rows[i] = run[i].row;
    sort_index(rows, rows + n, n, cmp_ties, q);
    for (size_t i = 0; i < n; i++) run[i].row = rows[i];
    if (rows != few) mem_free(rows);
    return true;
}

static void sort_track(void *context, size_t track, int worker) {
    sorting *q = context;
    size_t from = q->first[track], n = q->first[track + 1] - from;
    sort_pair *a = q->pairs + from;
    (void)worker;
    bool sorted = true;
    for (size_t i = 1; i < n && sorted; i++) sorted = a[i - 1].key <= a[i].key;
    if (!sorted) sort_radix(a, q->scratch + from, n);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && a[end].key == a[i].key;) end++;
        if (end - i > 1 && !sort_run(q, a + i, end - i)) atomic_store(&q->failed, 1);
    }
}

/* Writes rows of the slice table from the sorted order. Slice ids start at 1. */
static void gather_rows(void *context, size_t job, int worker) {
    sorting *q = context;
    sealing *s = q->s;
    size_t end = (job + 1) * GRAIN < q->n ? (job + 1) * GRAIN : q->n;
    (void)worker;
    for (size_t i = job * GRAIN; i < end; i++) {
        const raw_slice *r = raw_of(q, q->pairs[i].row);
        size_t id = i + 1;
        s->raw[id] = r;
        s->slice.start[id] = r->start;
        s->slice.dur[id] = r->dur;
        s->slice.name[id] = r->name;
        s->slice.args[id] = r->args;
        s->slice.category[id] = r->category;
        s->slice.kind[id] = r->kind == KIND_OTHER && s->b->other_is_op ? KIND_OP : r->kind;
        s->slice.flags[id] = r->flags;
    }
}

/* Deals the rows of all parts to their tracks. */
static void deal(sorting *q) {
    sealing *s = q->s;
    uint32_t index = 0;
    for (uint32_t i = 0; i < s->n_parts; i++) {
        const part *p = s->part_list[i];
        const part_track_row *tracks = VEC(&p->tracks, part_track_row);
        const raw_slice *rows = VEC(&p->slices, raw_slice);
        for (size_t k = 0; k < p->slices.n; k++) {
            uint32_t track = tracks[rows[k].track].sealed - 1;
            /* Flipping the sign bit makes the order of int64 that of uint64. */
            q->pairs[q->first[track + 1]++] =
                (sort_pair){(uint64_t)rows[k].start ^ 1ull << 63, index++};
        }
    }
}

static void count_rows(sorting *q, uint32_t *count) {
    sealing *s = q->s;
    for (uint32_t i = 0; i < s->n_parts; i++) {
        const part *p = s->part_list[i];
        const part_track_row *tracks = VEC(&p->tracks, part_track_row);
        for (size_t k = 0; k < p->slices.n; k++)
            count[tracks[VEC(&p->slices, raw_slice)[k].track].sealed - 1]++;
    }
}

static status prepare(sorting *q, error *err) {
    sealing *s = q->s;
    uint32_t n_tracks = s->track.n - 1;
    q->part_base = seal_scratch(s, (size_t)s->n_parts + 1, sizeof(uint64_t));
    q->first = seal_scratch(s, (size_t)n_tracks + 2, sizeof(uint32_t));
    uint32_t *count = seal_scratch(s, (size_t)n_tracks + 1, sizeof(uint32_t));
    if (!q->part_base || !q->first || !count) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < s->n_parts; i++) {
        q->part_base[i] = q->n;
        q->n += s->part_list[i]->slices.n;
    }
    TRY(seal_table(s, TABLE_slice, q->n + 1, err));
    s->spare_bytes = (2 * q->n + SPARE_PAIRS) * sizeof *q->pairs;
    s->spare = q->pairs = mem_map(s->spare_bytes);
    if (!q->pairs) FAIL_MEMORY(err);
    q->scratch = q->pairs + q->n;
    /* In the scratch half, written when the sort no longer needs it. */
    s->raw = (const raw_slice **)q->scratch;
    s->detail = (uint32_t *)(s->raw + q->n + 1);
    count_rows(q, count);
    /* first[t + 1] is the fill mark of track t while dealing and its end afterwards. */
    uint32_t at = 0;
    for (uint32_t t = 0; t < n_tracks; t++) {
        q->first[t + 1] = at;
        at += count[t];
    }
    deal(q);
    return OK;
}

static void write_ranges(const sorting *q) {
    sealing *s = q->s;
    for (uint32_t t = 1; t < s->track.n; t++) {
        s->track.first[t] = q->first[t - 1] + 1;
        s->track.end[t] = q->first[t] + 1;
    }
}

/* A track is a stream when device work ran on it, and so on. */
static void name_kinds(sealing *s) {
    for (uint32_t t = 1; t < s->track.n; t++) {
        if (s->track.kind[t] == TRACK_ASYNC) continue;
        for (uint32_t i = s->track.first[t]; i < s->track.end[t]; i++) {
            uint8_t k = s->slice.kind[i];
            if (k == KIND_SPAN) s->track.kind[t] = TRACK_SPAN;
            if (kind_is_device(k) || k == KIND_DEVICE_ANNOTATION) {
                s->track.kind[t] = TRACK_STREAM;
                int64_t pid = s->process.pid[s->track.process[t]];
                if (s->track.device[t] == ABSENT_I32 && pid != ABSENT_I64)
                    s->track.device[t] = sat_i32(pid);
            }
            if (k != KIND_SYNC && k != KIND_OVERHEAD && k != KIND_OTHER) break;
        }
    }
}

/* Of ranges that several threads draw, those of one thread count (builder_set_stage_track). */
static void keep_stages(sealing *s) {
    for (uint32_t t = 1; t < s->track.n && s->b->stage_track; t++) {
        if (s->track.name[t] == s->b->stage_track || !s->track.name[t]) continue;
        for (uint32_t i = s->track.first[t]; i < s->track.end[t]; i++) {
            uint8_t *k = &s->slice.kind[i];
            if (*k == KIND_MODULE || *k == KIND_FORWARD || *k == KIND_BACKWARD ||
                *k == KIND_OPTIMIZER)
                *k = KIND_ANNOTATION;
        }
    }
}

status seal_sort(sealing *s, error *err) {
    sorting q = {.s = s};
    status st = prepare(&q, err);
    if (st == OK) {
        pool_for(s->pool, s->track.n - 1, sort_track, &q);
        pool_for(s->pool, (q.n + GRAIN - 1) / GRAIN, gather_rows, &q);
        write_ranges(&q);
        s->by_slice[0] = (uint32_t *)q.pairs; /* the sorted half is read for the last time */
        s->by_slice[1] = s->by_slice[0] + q.n + 1;
        name_kinds(s);
        keep_stages(s);
        if (atomic_load(&q.failed))
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    return st;
}
