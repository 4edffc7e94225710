/* seal_tracks.c: the processes and tracks of all parts as one list each, in an order that
 * depends on nothing but their ids: numbers ascending, then texts by their bytes; a thread
 * before the row of its async ranges. */
#include "base/bisect.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sort.h"
#include "store/builder_int.h"

typedef struct {
    ident pid, tid;
    bool async;
    uint32_t process;
} track_row;

typedef struct {
    seal_ctx *s;
    track_row *rows; /* from 0 */
    uint32_t n;
    map by_key;
    ident *pids;
    uint32_t n_pids;
    uint32_t *row_of; /* by index in rows: the sealed row */
} gather;

static int cmp_ident(const builder *b, ident x, ident y) {
    if (x.text != y.text) return x.text ? 1 : -1;
    if (x.text)
        return str_cmp(intern_get(b->strings, (uint32_t)x.v),
                       intern_get(b->strings, (uint32_t)y.v));
    return x.v < y.v ? -1 : x.v > y.v;
}

static int cmp_tracks(uint32_t x, uint32_t y, const void *context) {
    const gather *g = context;
    const track_row *a = &g->rows[x], *b = &g->rows[y];
    int c = cmp_ident(g->s->b, a->pid, b->pid);
    if (c == 0) c = cmp_ident(g->s->b, a->tid, b->tid);
    return c ? c : (int)a->async - (int)b->async;
}

static int cmp_pids(uint32_t x, uint32_t y, const void *context) {
    const gather *g = context;
    return cmp_ident(g->s->b, g->pids[x], g->pids[y]);
}

static uint64_t key_of(ident pid, ident tid, bool async) {
    return hash_pair(hash_pair((uint64_t)pid.v, pid.text),
                     hash_pair((uint64_t)tid.v, tid.text)) +
           async;
}

/* Index of the track in g->rows, added when new; UINT32_MAX when out of memory. */
static uint32_t add_track(gather *g, const part_track_row *t) {
    for (uint64_t key = key_of(t->pid, t->tid, t->async);; key += 2) {
        uint32_t *at = map_at(&g->by_key, key);
        if (!at) return UINT32_MAX;
        if (*at == MAP_NONE) {
            g->rows[g->n] = (track_row){.pid = t->pid, .tid = t->tid, .async = t->async};
            return *at = g->n++;
        }
        const track_row *r = &g->rows[*at];
        if (ident_eq(r->pid, t->pid) && ident_eq(r->tid, t->tid) && r->async == t->async)
            return *at;
    }
}

static status collect_tracks(gather *g, error *err) {
    seal_ctx *s = g->s;
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_parts; i++) n += s->part_list[i]->tracks.n;
    g->rows = seal_scratch(s, n + 1, sizeof(track_row));
    if (!g->rows) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < s->n_parts; i++) {
        part *p = s->part_list[i];
        for (size_t k = 0; k < p->tracks.n; k++) {
            part_track_row *t = &VEC(&p->tracks, part_track_row)[k];
            t->sealed = add_track(g, t);
            if (t->sealed == UINT32_MAX) FAIL_MEMORY(err);
        }
    }
    return OK;
}

/* The process ids of all tracks, sorted, each once. Kineto announces sixteen GPUs whether they
 * are there or not: a process without a single event is left out. */
static status collect_pids(gather *g, error *err) {
    seal_ctx *s = g->s;
    size_t n = g->n;
    g->pids = seal_scratch(s, n + 1, sizeof(ident));
    uint32_t *order = seal_scratch(s, 2 * n + 1, sizeof(uint32_t));
    ident *sorted = seal_scratch(s, n + 1, sizeof(ident));
    if (!g->pids || !order || !sorted) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < g->n; i++) g->pids[i] = g->rows[i].pid;
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    sort_index(order, order + n, n, cmp_pids, g);
    for (size_t i = 0; i < n; i++)
        if (g->n_pids == 0 || !ident_eq(sorted[g->n_pids - 1], g->pids[order[i]]))
            sorted[g->n_pids++] = g->pids[order[i]];
    g->pids = sorted;
    return OK;
}

/* Row (from 1) of a process. */
static uint32_t process_row(const gather *g, ident pid) {
    uint32_t lo = SEARCH_FIRST(i, 0, g->n_pids, cmp_ident(g->s->b, g->pids[i], pid) < 0);
    return lo < g->n_pids && ident_eq(g->pids[lo], pid) ? lo + 1 : 0;
}

static status write_rows(gather *g, error *err) {
    seal_ctx *s = g->s;
    uint32_t *order = seal_scratch(s, 2 * (size_t)g->n + 1, sizeof(uint32_t));
    g->row_of = seal_scratch(s, (size_t)g->n + 1, sizeof(uint32_t));
    if (!order || !g->row_of) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < g->n; i++) order[i] = i;
    sort_index(order, order + g->n, g->n, cmp_tracks, g);
    TRY(seal_table(s, TABLE_process, (size_t)g->n_pids + 1, err));
    TRY(seal_table(s, TABLE_track, (size_t)g->n + 1, err));
    for (uint32_t i = 0; i < g->n_pids; i++) {
        s->process.pid[i + 1] = g->pids[i].text ? ABSENT_I64 : g->pids[i].v;
        s->process.pid_text[i + 1] = g->pids[i].text ? (uint32_t)g->pids[i].v : 0;
        s->process.sort[i + 1] = ABSENT_I64;
    }
    for (uint32_t i = 0; i < g->n; i++) {
        const track_row *r = &g->rows[order[i]];
        g->row_of[order[i]] = i + 1;
        s->track.process[i + 1] = process_row(g, r->pid);
        s->track.tid[i + 1] = r->tid.text ? ABSENT_I64 : r->tid.v;
        s->track.tid_text[i + 1] = r->tid.text ? (uint32_t)r->tid.v : 0;
        s->track.kind[i + 1] = r->async ? TRACK_ASYNC : TRACK_THREAD;
        s->track.device[i + 1] = ABSENT_I32;
        s->track.sort[i + 1] = ABSENT_I64;
    }
    for (uint32_t i = 0; i < s->n_parts; i++) {
        part *p = s->part_list[i];
        for (size_t k = 0; k < p->tracks.n; k++) {
            part_track_row *t = &VEC(&p->tracks, part_track_row)[k];
            t->sealed = g->row_of[t->sealed];
        }
    }
    return OK;
}

/* Gives a label to its process or track; of several the last in the file counts. */
static void apply_label(gather *g, const raw_label *l, uint64_t *seen) {
    seal_ctx *s = g->s;
    uint32_t process = process_row(g, l->pid);
    if (!process) return;
    uint64_t *at = &seen[l->kind];
    if (l->kind <= LABEL_PROCESS_SORT) {
        at = &seen[(size_t)process * 8 + l->kind];
        if (*at > l->offset + 1) return;
        *at = l->offset + 1;
        if (l->kind == LABEL_PROCESS_NAME) s->process.name[process] = (uint32_t)l->value;
        if (l->kind == LABEL_PROCESS_LABELS) s->process.labels[process] = (uint32_t)l->value;
        if (l->kind == LABEL_PROCESS_SORT) s->process.sort[process] = l->value;
        return;
    }
    size_t base = ((size_t)s->process.n + 1) * 8;
    for (uint64_t key = key_of(l->pid, l->tid, false);; key += 2) {
        uint32_t at_row = map_get(&g->by_key, key);
        if (at_row == MAP_NONE) return;
        const track_row *r = &g->rows[at_row];
        if (!ident_eq(r->pid, l->pid) || !ident_eq(r->tid, l->tid) || r->async) continue;
        uint32_t row = g->row_of[at_row];
        at = &seen[base + (size_t)row * 8 + l->kind];
        if (*at > l->offset + 1) return;
        *at = l->offset + 1;
        if (l->kind == LABEL_THREAD_NAME) s->track.name[row] = (uint32_t)l->value;
        if (l->kind == LABEL_THREAD_SORT) s->track.sort[row] = l->value;
        if (l->kind == LABEL_THREAD_DEVICE) s->track.device[row] = sat_i32(l->value);
        return;
    }
}

status seal_tracks(seal_ctx *s, error *err) {
    gather g = {.s = s};
    status st = collect_tracks(&g, err);
    if (st == OK) st = collect_pids(&g, err);
    if (st == OK) st = write_rows(&g, err);
    if (st == OK) {
        uint64_t *seen =
            seal_scratch(s, ((size_t)s->process.n + s->track.n + 2) * 8, sizeof(uint64_t));
        for (uint32_t i = 0; seen && i < s->n_parts; i++)
            for (size_t k = 0; k < s->part_list[i]->labels.n; k++)
                apply_label(&g, &VEC(&s->part_list[i]->labels, raw_label)[k], seen);
        if (!seen) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    map_fini(&g.by_key);
    return st;
}
