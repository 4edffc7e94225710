/* seal_flows.c: arrows between slices: forward to backward, and any other the producer drew. The
 * ends of one arrow share name and id; s begins it, t continues it, f ends it. An end belongs to
 * the innermost slice around its time (for an autograd arrow: the operator that starts there). */
#include "base/mem.h"
#include "base/sort.h"
#include "store/builder_int.h"

typedef struct {
    const raw_arrow *a;
    uint32_t track; /* sealed */
} arrow_ref;

typedef struct {
    sealing *s;
    arrow_ref *arrows;
    uint32_t n, *order;
} drawing;

static int rank_of(char c) {
    return c == 's' ? 0 : c == 't' ? 1 : 2;
}

static int cmp_arrows(uint32_t x, uint32_t y, const void *context) {
    const drawing *q = context;
    const raw_arrow *a = q->arrows[x].a, *b = q->arrows[y].a;
    const builder *u = q->s->b;
    const uint32_t *category = VEC(&u->categories, uint32_t);
    if (a->category !=
        b->category) /* by their words: row numbers depend on the order of reading */
        return str_cmp(intern_get(u->strings, category[a->category]),
                       intern_get(u->strings, category[b->category]));
    if (a->name != b->name)
        return str_cmp(intern_get(u->strings, a->name), intern_get(u->strings, b->name));
    /* One id may be used again later: time first, then s before t before f. */
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    if (a->phase != b->phase) return rank_of(a->phase) - rank_of(b->phase);
    if (q->arrows[x].track != q->arrows[y].track)
        return q->arrows[x].track < q->arrows[y].track ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Last slice of the track that starts at or before the time; 0 when none. */
static uint32_t last_start(const sealing *s, uint32_t track, int64_t time) {
    uint32_t lo = s->track.first[track], hi = s->track.end[track];
    uint32_t first = lo;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (s->slice.start[mid] <= time)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > first ? lo - 1 : 0;
}

static uint32_t slice_at(const sealing *s, uint32_t track, const raw_arrow *a) {
    uint32_t i = last_start(s, track, a->time), inner = 0;
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

static status collect(drawing *q, error *err) {
    size_t n = 0;
    for (uint32_t i = 0; i < q->s->n_parts; i++) n += q->s->part_list[i]->arrows.n;
    if (n > UINT32_MAX / 2) FAIL0(err, ERR_LIMIT, NOPOS, MSG_TOO_MANY_ROWS);
    q->arrows = mem_map((n + 1) * sizeof *q->arrows);
    q->order = mem_map((2 * n + 1) * sizeof *q->order);
    if (!q->arrows || !q->order) FAIL_MEMORY(err);
    q->n = (uint32_t)n;
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
    return a->category == b->category && a->name == b->name && a->id == b->id;
}

/* Draws the arrows of all groups; with `write` false it only counts them. */
static uint32_t draw(drawing *q, bool write, int64_t *dangling) {
    sealing *s = q->s;
    uint32_t row = 1, from = 0;
    bool open = false, used = false;
    const raw_arrow *begin = NULL;
    *dangling = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        const arrow_ref *r = &q->arrows[q->order[i]];
        if (begin && !same_arrow(begin, r->a)) open = false;
        if (!open && begin && !used && !same_arrow(begin, r->a)) (*dangling)++;
        if (r->a->phase == 's' || !begin || !same_arrow(begin, r->a)) {
            if (begin && same_arrow(begin, r->a) && !used) (*dangling)++;
            begin = r->a;
            open = r->a->phase == 's';
            used = false;
            if (!open) {
                (*dangling)++; /* an end whose beginning was not recorded */
                used = true;
            }
            if (write) from = slice_at(s, r->track, r->a);
            continue;
        }
        if (!open) {
            (*dangling)++;
            continue;
        }
        used = true;
        if (write) {
            uint32_t to = slice_at(s, r->track, r->a);
            s->flow.from[row] = from;
            s->flow.to[row] = to;
            s->flow.kind[row] = r->a->kind;
            s->flow.name[row] = r->a->name;
            s->flow.id[row] = r->a->id;
            from = to;
        }
        row++;
        if (r->a->phase == 'f') open = false;
    }
    if (begin && !used) (*dangling)++;
    return row;
}

/* Arrows of one id side by side: by id first, quickly, then each run by everything. */
static status sort_arrows(drawing *q, error *err) {
    size_t bytes = (2 * (size_t)q->n + 1) * sizeof(sort_pair);
    sort_pair *pairs = mem_map(bytes);
    if (!pairs) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < q->n; i++) pairs[i] = (sort_pair){(uint64_t)q->arrows[i].a->id, i};
    sort_radix(pairs, pairs + q->n, q->n);
    for (uint32_t i = 0; i < q->n; i++) q->order[i] = pairs[i].row;
    for (uint32_t i = 0, end; i < q->n; i = end) {
        for (end = i + 1; end < q->n && pairs[end].key == pairs[i].key;) end++;
        if (end - i > 1) sort_index(q->order + i, q->order + q->n, end - i, cmp_arrows, q);
    }
    mem_unmap(pairs, bytes);
    return OK;
}

status seal_flows(sealing *s, error *err) {
    drawing q = {.s = s};
    int64_t dangling = 0;
    status st = collect(&q, err);
    if (st == OK) st = sort_arrows(&q, err);
    if (st == OK) {
        st = seal_table(s, TABLE_flow, draw(&q, false, &dangling), err);
    }
    if (st == OK) {
        draw(&q, true, &dangling);
        seal_lost(s, CAUSE_DANGLING_FLOW, dangling, NOPOS, 0);
    }
    if (q.arrows) mem_unmap(q.arrows, ((size_t)q.n + 1) * sizeof *q.arrows);
    if (q.order) mem_unmap(q.order, (2 * (size_t)q.n + 1) * sizeof *q.order);
    return st;
}
