/* seal_flows.c: arrows between slices: forward to backward, and any other the producer drew.
 * The ends of one arrow share name, scope and id; s begins it, t continues it, f ends it. An
 * end belongs to the innermost slice around its time (for an autograd arrow: the operator that
 * starts there). A dispatch and a value have one beginning and any number of ends.
 *
 * Launch arrows are not kept as arrows: they are how device work finds its launch and its
 * operator where there are no correlation ids. Pieces of device work may touch and have no
 * length, so of those that start at the arrow's end the one with the operator's own id is
 * taken. */
#include "base/bisect.h"
#include "base/pages.h"
#include "base/sort.h"
#include "store/builder_int.h"

typedef struct {
    const raw_arrow *a;
    uint32_t track; /* sealed */
} arrow_ref;

/* A row of the table to be. */
typedef struct {
    int64_t id;
    uint32_t from, to, name;
    uint8_t kind;
} drawn;

typedef struct {
    seal_ctx *s;
    arrow_ref *arrows;
    uint32_t n, *order;
    uint32_t *cursor; /* by track: where the last search ended */
    drawn *rows;      /* at most one for each end of an arrow */
    uint32_t n_rows;
} flows_ctx;

/* One block of memory serves the sort, then the rows. */
_Static_assert(sizeof(drawn) <= 2 * sizeof(sort_pair), "what was sorted has room for the rows");

static int rank_of(char c) {
    return c == 's' ? 0 : c == 't' ? 1 : 2;
}

static int cmp_arrows(uint32_t x, uint32_t y, const void *context) {
    const flows_ctx *q = context;
    const raw_arrow *a = q->arrows[x].a, *b = q->arrows[y].a;
    const builder *u = q->s->b;
    const uint32_t *category = VEC(&u->categories, uint32_t);
    if (a->category !=
        b->category) /* by their words: row numbers depend on the order of reading */
        return str_cmp(intern_get(u->strings, category[a->category]),
                       intern_get(u->strings, category[b->category]));
    if (a->name != b->name)
        return str_cmp(intern_get(u->strings, a->name), intern_get(u->strings, b->name));
    if (a->scope != b->scope)
        return str_cmp(intern_get(u->strings, a->scope), intern_get(u->strings, b->scope));
    /* One id may be used again later: time first, then s before t before f. A launch has its id
     * to itself, and device clocks may put the work before its launch. */
    bool own_id = a->kind == FLOW_LAUNCH || a->kind == FLOW_OWNER;
    if (own_id && a->kind == b->kind && a->phase != b->phase)
        return rank_of(a->phase) - rank_of(b->phase);
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    if (a->phase != b->phase) return rank_of(a->phase) - rank_of(b->phase);
    if (q->arrows[x].track != q->arrows[y].track)
        return q->arrows[x].track < q->arrows[y].track ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* The first slice of a track that starts after the time, or its end. Arrows in the order of
 * their ids are nearly in that of time, so the search begins where the last one ended and
 * continues in steps that double. */
static uint32_t first_after(const flows_ctx *q, uint32_t track, int64_t time) {
    const int64_t *start = q->s->slice.start;
    uint32_t first = q->s->track.first[track], end = q->s->track.end[track];
    uint32_t low = first, high = end, at = q->cursor[track] > first ? q->cursor[track] : first;
    if (at < end && start[at] <= time) {
        low = at + 1;
        for (uint32_t step = 1; step < end - at; step *= 2) {
            if (start[at + step] > time) {
                high = at + step;
                break;
            }
            low = at + step + 1;
        }
    } else {
        high = at;
        for (uint32_t step = 1; step <= at - first; step *= 2) {
            if (start[at - step] <= time) {
                low = at - step + 1;
                break;
            }
            high = at - step;
        }
    }
    return q->cursor[track] = SEARCH_FIRST(i, low, high, start[i] <= time);
}

/* Last slice of the track that starts at or before the time; 0 when none. */
static uint32_t last_start(const flows_ctx *q, uint32_t track, int64_t time) {
    uint32_t after = first_after(q, track, time);
    return after > q->s->track.first[track] ? after - 1 : 0;
}

static uint32_t slice_at(const flows_ctx *q, uint32_t track, const raw_arrow *a) {
    const seal_ctx *s = q->s;
    uint32_t i = last_start(q, track, a->time), inner = 0;
    for (int level = 0; i && level < MAX_CLIMB; i = s->slice.parent[i], level++) {
        int64_t end = s->slice.start[i] + s->slice.dur[i];
        if (end < a->time || (end == a->time && s->slice.start[i] != a->time)) continue;
        if (!inner) inner = i;
        if (a->kind != FLOW_FORWARD_BACKWARD) break;
        if (s->slice.kind[i] == KIND_OP && s->slice.start[i] == a->time &&
            s->op.sequence[s->detail[i]] != ABSENT_I64)
            return i;
        if (s->slice.start[i] < a->time) break;
    }
    return inner;
}

enum { NEARBY = 64 }; /* slices looked at one by one: a forged file may pile up any number */

/* The wait that a value ends: it is over at the very moment. 0 when there is none. */
static uint32_t wait_at(const flows_ctx *q, uint32_t track, int64_t time) {
    const seal_ctx *s = q->s;
    uint32_t i = last_start(q, track, time), first = s->track.first[track];
    for (int n = 0; i && i >= first && n < NEARBY; i--, n++)
        if (s->slice.kind[i] == KIND_SYNC && s->slice.start[i] + s->slice.dur[i] == time)
            return i;
    return 0;
}

static size_t rows_bytes(const flows_ctx *q) {
    return (2 * (size_t)q->n + 1) * sizeof(sort_pair);
}

static status collect(flows_ctx *q, error *err) {
    size_t n = 0;
    for (uint32_t i = 0; i < q->s->n_parts; i++) n += q->s->part_list[i]->arrows.n;
    if (n > UINT32_MAX / 2) FAIL0(err, ERR_LIMIT, NOPOS, MSG_TOO_MANY_ROWS);
    q->n = (uint32_t)n;
    q->arrows = pages_take((n + 1) * sizeof *q->arrows);
    q->order = pages_take((2 * n + 1) * sizeof *q->order);
    q->cursor = seal_scratch(q->s, q->s->track.n, sizeof *q->cursor);
    q->rows = pages_take(rows_bytes(q));
    if (!q->arrows || !q->order || !q->cursor || !q->rows) FAIL_MEMORY(err);
    n = 0;
    for (uint32_t i = 0; i < q->s->n_parts; i++) {
        const part *p = q->s->part_list[i];
        for (size_t k = 0; k < p->arrows.n; k++) {
            const raw_arrow *a = &VEC(&p->arrows, raw_arrow)[k];
            q->arrows[n] = (arrow_ref){a, VEC(&p->tracks, part_track_row)[a->track].sealed};
            n++;
        }
    }
    return OK;
}

static bool same_arrow(const raw_arrow *a, const raw_arrow *b) {
    return a->category == b->category && a->name == b->name && a->id == b->id &&
           a->scope == b->scope;
}

/* ---- launches ---- */

static int64_t external_of(const seal_ctx *s, uint32_t slice) {
    uint32_t row = s->detail[slice];
    if (!row) return ABSENT_I64;
    return kind_is_device(s->slice.kind[slice]) ? s->kernel_external[row] : s->op.external[row];
}

/* Device work that still lacks what arrows of this kind tell. */
static bool is_unlinked_work(const seal_ctx *s, uint32_t slice, uint8_t kind) {
    if (!kind_is_device(s->slice.kind[slice]) || !s->detail[slice]) return false;
    uint32_t row = s->detail[slice];
    return kind == FLOW_OWNER ? !s->kernel.op[row] : !s->kernel.launch[row];
}

/* The device work an arrow ends at, 0 when there is none. `external`: the operator's id. */
static uint32_t work_at(const flows_ctx *q, const arrow_ref *r, int64_t external) {
    const seal_ctx *s = q->s;
    uint32_t track = r->track;
    int64_t time = r->a->time;
    uint32_t last = last_start(q, track, time), first = s->track.first[track], found = 0;
    for (uint32_t i = last, n = 0; i && i >= first && n < NEARBY; i--, n++) {
        if (s->slice.start[i] != time) break;
        if (!is_unlinked_work(s, i, r->a->kind)) continue;
        if (external_of(s, i) == external) return i;
        if (!found) found = i;
    }
    for (uint32_t i = last; i && !found; i = s->slice.parent[i])
        if (is_unlinked_work(s, i, r->a->kind) && s->slice.start[i] + s->slice.dur[i] >= time)
            found = i;
    return found;
}

/* The operator a slice is in or is; 0 when there is none. */
static uint32_t op_around(const seal_ctx *s, uint32_t slice) {
    for (int level = 0; slice && s->slice.kind[slice] != KIND_OP && level < MAX_CLIMB; level++)
        slice = s->slice.parent[slice];
    return slice && s->slice.kind[slice] == KIND_OP ? slice : 0;
}

/* Ascend: the operator runs on one thread, its launch on another, and each has its own
 * arrow. */
static void link_owner(const flows_ctx *q, uint32_t from, const arrow_ref *r) {
    seal_ctx *s = q->s;
    uint32_t op = op_around(s, from);
    uint32_t work = op ? work_at(q, r, ABSENT_I64) : 0;
    if (!work) return;
    uint32_t row = s->detail[work];
    s->kernel.op[row] = op;
    s->kernel.link[row] = LINK_EXACT;
}

static void link_launch(const flows_ctx *q, uint32_t from, const arrow_ref *r) {
    seal_ctx *s = q->s;
    uint32_t op = op_around(s, from);
    int64_t external = op ? external_of(s, op) : ABSENT_I64;
    uint32_t work = from ? work_at(q, r, external) : 0;
    if (!work) return;
    uint32_t row = s->detail[work];
    s->kernel.launch[row] = from;
    if (s->kernel.correlation[row] == ABSENT_I64) s->kernel.correlation[row] = r->a->id;
    if (s->kernel.op[row]) return; /* given by its own arrow */
    s->kernel.op[row] = op;
    bool same = external != ABSENT_I64 && external_of(s, work) == external;
    s->kernel.link[row] = (uint8_t)(!op    ? LINK_LAUNCH_ONLY
                                    : same ? LINK_EXACT
                                           : LINK_CONTAINED);
}

static void count_orphans(seal_ctx *s) {
    int64_t orphans = 0;
    for (uint32_t i = 1; i < s->kernel.n && s->b->launch_by_arrow; i++)
        orphans += !s->kernel.launch[i] && s->slice.kind[s->kernel.slice[i]] == KIND_KERNEL;
    seal_lost(s, CAUSE_ORPHAN_CORRELATION, orphans, NOPOS, 0);
}

/* ---- drawing ---- */

/* The hand that draws: where the arrow being drawn came from. */
typedef struct {
    const raw_arrow *begin;
    uint32_t from;
    bool open, used;
    int64_t dangling;
} pen;

/* A new arrow begins with this end. */
static void begin_arrow(flows_ctx *q, pen *p, const arrow_ref *r) {
    if (p->begin && !p->used) p->dangling++;
    p->begin = r->a;
    p->open = r->a->phase == 's';
    p->used = !p->open;
    p->dangling += !p->open; /* an end whose beginning was not recorded */
    p->from = slice_at(q, r->track, r->a);
}

static void continue_arrow(flows_ctx *q, pen *p, const arrow_ref *r) {
    const raw_arrow *a = r->a;
    bool fan = a->kind == FLOW_DISPATCH || a->kind == FLOW_VALUE;
    if (!p->open) {
        p->dangling++;
        return;
    }
    p->used = true;
    if (a->phase == 'f' && !fan) p->open = false;
    if (a->kind == FLOW_LAUNCH) {
        link_launch(q, p->from, r);
        return;
    }
    if (a->kind == FLOW_OWNER) {
        link_owner(q, p->from, r);
        return;
    }
    uint32_t to = a->kind == FLOW_VALUE ? wait_at(q, r->track, a->time) : 0;
    if (!to) to = slice_at(q, r->track, a);
    q->rows[q->n_rows++] = (drawn){a->id, p->from, to, a->name, a->kind};
    if (!fan) p->from = to;
}

/* Draws the arrows of all groups. Returns the ends without the other one. */
static int64_t draw(flows_ctx *q) {
    pen p = {0};
    for (uint32_t i = 0; i < q->n; i++) {
        const arrow_ref *r = &q->arrows[q->order[i]];
        if (r->a->phase == 's' || !p.begin || !same_arrow(p.begin, r->a))
            begin_arrow(q, &p, r);
        else
            continue_arrow(q, &p, r);
    }
    return p.dangling + (p.begin && !p.used);
}

/* Arrows of one id side by side: by id first, quickly, then each run by everything. */
static void sort_arrows(flows_ctx *q) {
    sort_pair *pairs = (sort_pair *)(void *)q->rows;
    for (uint32_t i = 0; i < q->n; i++) pairs[i] = (sort_pair){(uint64_t)q->arrows[i].a->id, i};
    sort_radix(pairs, pairs + q->n, q->n);
    for (uint32_t i = 0; i < q->n; i++) q->order[i] = pairs[i].row;
    for (uint32_t i = 0, end; i < q->n; i = end) {
        for (end = i + 1; end < q->n && pairs[end].key == pairs[i].key;) end++;
        if (end - i > 1) sort_index(q->order + i, q->order + q->n, end - i, cmp_arrows, q);
    }
}

static void free_arrows(flows_ctx *q) {
    if (q->arrows) pages_give(q->arrows, ((size_t)q->n + 1) * sizeof *q->arrows);
    if (q->order) pages_give(q->order, (2 * (size_t)q->n + 1) * sizeof *q->order);
    q->arrows = NULL;
    q->order = NULL;
}

static void write_rows(const flows_ctx *q) {
    seal_ctx *s = q->s;
    for (uint32_t i = 0; i < q->n_rows; i++) {
        const drawn *r = &q->rows[i];
        s->flow.from[i + 1] = r->from;
        s->flow.to[i + 1] = r->to;
        s->flow.kind[i + 1] = r->kind;
        s->flow.name[i + 1] = r->name;
        s->flow.id[i + 1] = r->id;
    }
}

status seal_flows(seal_ctx *s, error *err) {
    flows_ctx q = {.s = s};
    status st = collect(&q, err);
    if (st == OK) {
        sort_arrows(&q);
        seal_lost(s, CAUSE_DANGLING_FLOW, draw(&q), NOPOS, 0);
        count_orphans(s);
        free_arrows(&q); /* the table takes their place */
        st = seal_written_table(s, TABLE_flow, (size_t)q.n_rows + 1, err);
    }
    if (st == OK) write_rows(&q);
    free_arrows(&q);
    pages_give(q.rows, rows_bytes(&q));
    return st;
}
