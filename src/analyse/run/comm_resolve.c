/* comm_resolve.c: the comm_keeper's side: which collectives are one, and what each member
 * waited.
 *
 * All members of a collective are taken to end it together and to need as long as the fastest
 * of them for the transfer itself: what a member takes longer than that, it waited. A
 * collective without its partners is all transfer; one between two whose partner is
 * not known takes what the fastest of its name and size takes. The last to arrive, on aligned
 * clocks, is who the others waited for.
 *
 *   rank 0   |──── waiting ────|── transfer ──|
 *   rank 1        |── waiting ─|── transfer ──|
 *   rank 2                     |── transfer ──|    the last to arrive does not wait
 *
 * Only the collectives that cost most keep a row for each member; of the others sums remain. */
#include "analyse/run/comm_resolve.h"

#include "analyse/group.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/sort.h"

static collective collective_of(const summary_comm *c) {
    return (collective){.name = c->name,
                        .group = c->group,
                        .words = c->words,
                        .source = c->source,
                        .target = c->target,
                        .sequence = c->sequence,
                        .comms_id = c->id,
                        .bytes = c->bytes,
                        .group_size = c->group_size};
}

/* ---- splitting --------------------------------------------------------------------------- */

static status copy_comm(summary *to, const summary_comm *c, error *err) {
    summary_comm *row = summary_add_comm(to);
    if (!row) FAIL_MEMORY(err);
    *row = *c;
    row->worker = summary_text(to, c->worker);
    row->name = summary_text(to, c->name);
    row->group = summary_text(to, c->group);
    row->words = summary_text(to, c->words);
    if (!row->worker.p || !row->name.p || !row->group.p || !row->words.p) FAIL_MEMORY(err);
    return OK;
}

status comm_resolve_split(const summary *own, summary **parts, uint32_t n, error *err) {
    const summary_comm *c = SUMMARY_ROWS(own, comm);
    const summary_range *r = SUMMARY_ROWS(own, range);
    uint32_t at = 0, n_ranges = SUMMARY_N(own, range);
    for (uint32_t i = 0; i < SUMMARY_N(own, comm); i++) {
        bool by_order;
        collective key = collective_of(&c[i]);
        summary *to = parts[collective_key(&key, &by_order) % n];
        TRY(copy_comm(to, &c[i], err));
        /* Both tables ascend by worker and number. */
        for (; at < n_ranges && str_cmp(r[at].worker, c[i].worker) < 0; at++) {}
        for (; at < n_ranges && str_eq(r[at].worker, c[i].worker) && r[at].comm <= c[i].number;
             at++) {
            if (r[at].comm < c[i].number) continue;
            summary_range *row = summary_add_range(to);
            if (!row) FAIL_MEMORY(err);
            *row = r[at];
            row->worker = summary_text(to, r[at].worker);
            if (!row->worker.p) FAIL_MEMORY(err);
        }
    }
    return OK;
}

/* ---- meetings ---------------------------------------------------------------------------- */

static void set_hull(collective_list *l, collective *c) {
    for (uint32_t i = 0; i < c->n_ranges; i++) {
        interval r = l->ranges[c->first_range + i];
        c->hull.start = i ? min_i64(c->hull.start, r.start) : r.start;
        c->hull.end = i ? max_i64(c->hull.end, r.end) : r.end;
    }
}

/* Collectives without a range or of a worker that is not in the roster are not taken: a file
 * from elsewhere may have them. */
static status fill_list(comm_keeper *k, error *err) {
    const summary *s = k->comms;
    const summary_comm *c = SUMMARY_ROWS(s, comm);
    const summary_range *r = SUMMARY_ROWS(s, range);
    uint32_t n = SUMMARY_N(s, comm), n_ranges = SUMMARY_N(s, range), at = 0;
    collective_list *l = &k->list;
    *l = (collective_list){.arena = k->arena,
                           .v = ARENA_ARRAY(k->arena, collective, (size_t)n + 1),
                           .ranges = ARENA_ARRAY(k->arena, interval, (size_t)n_ranges + 1)};
    if (!l->v || !l->ranges) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) {
        collective one = collective_of(&c[i]);
        bool same = i && c[i].worker.p == c[i - 1].worker.p && l->n;
        one.worker = same ? l->v[l->n - 1].worker : worker_order_find(&k->who, c[i].worker);
        one.slice = i;
        one.first_range = l->n_ranges;
        for (; at < n_ranges && str_cmp(r[at].worker, c[i].worker) < 0; at++) {}
        for (; at < n_ranges && str_eq(r[at].worker, c[i].worker) && r[at].comm <= c[i].number;
             at++)
            if (r[at].comm == c[i].number) {
                l->ranges[l->n_ranges++] =
                    (interval){r[at].start, max_i64(r[at].start, r[at].end)};
                one.n_ranges++;
            }
        if (!one.n_ranges || one.worker == UINT32_MAX) continue;
        set_hull(l, &one);
        l->v[l->n++] = one;
    }
    return OK;
}

static int64_t base_of(const summary_worker *w) {
    return w->base == ABSENT_I64 ? 0 : w->base;
}

status comm_keeper_open(comm_keeper *k, const summary *all, const summary *comms, arena *a,
                        error *err) {
    *k = (comm_keeper){.comms = comms, .arena = a};
    TRY(worker_order_make(&k->who, all, a, err));
    TRY(fill_list(k, err));
    k->clocks = ARENA_ARRAY(a, worker_clock, (size_t)k->who.n + 1);
    if (!k->clocks) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < k->who.n; i++)
        k->clocks[i] = (worker_clock){.base = base_of(k->who.v[i])};
    return comm_match_find(&k->list, k->who.n, a, &k->found, err);
}

/* The members of a meeting. */
typedef struct {
    const comm_keeper *k;
    const uint32_t *v;
    uint32_t n;
} members;

static members members_of(const comm_keeper *k, uint32_t meeting) {
    uint32_t first = k->found.first[meeting];
    return (members){k, k->found.member + first, k->found.first[meeting + 1] - first};
}

static const collective *member(const members *m, uint32_t i) {
    return &m->k->list.v[m->v[i]];
}

/* A number for the meeting that every process would draw. */
static int64_t lot_of(const members *m) {
    const collective *c = member(m, 0);
    const summary_comm *row = &SUMMARY_ROWS(m->k->comms, comm)[c->slice];
    uint64_t parts[2] = {hash_bytes64(row->worker.p, row->worker.n), (uint64_t)row->number};
    return (int64_t)(hash_bytes64(parts, sizeof parts) >> 1);
}

status comm_keeper_samples(const comm_keeper *k, summary *out, error *err) {
    for (uint32_t i = 0; i < k->found.n; i++) {
        members m = members_of(k, i);
        if (m.n < 2 || !clock_counts(comm_type_of(member(&m, 0)->name))) continue;
        const collective *first = member(&m, 0);
        int64_t at = add_i64(k->clocks[first->worker].base, first->hull.end), lot = lot_of(&m);
        for (uint32_t j = 1; j < m.n; j++) {
            const collective *c = member(&m, j);
            if (c->worker == first->worker) continue;
            summary_sample *row = summary_add_sample(out);
            if (!row) FAIL_MEMORY(err);
            int64_t end = add_i64(k->clocks[c->worker].base, c->hull.end);
            *row = (summary_sample){.first = summary_text(out, k->who.v[first->worker]->name),
                                    .second = summary_text(out, k->who.v[c->worker]->name),
                                    .lot = lot,
                                    .at = at,
                                    .apart = sub_i64(end, at)};
            if (!row->first.p || !row->second.p) FAIL_MEMORY(err);
        }
        if (SUMMARY_N(out, sample) > (1u << 18)) TRY(clock_samples_trim(out, err));
    }
    return clock_samples_trim(out, err);
}

/* ---- transfer and waiting ---------------------------------------------------------------- */

static int64_t length(interval r) {
    return max_i64(0, sub_i64(r.end, r.start));
}

/* Of which member how much is written as moved. */
typedef struct {
    uint32_t member;
    int64_t number, ns;
} moved_part;

/* `whom` arrived last; empty: not known. */
static status add_moved(const members *m, moved_part p, str whom, summary *to, error *err) {
    const summary_comm *c = &SUMMARY_ROWS(m->k->comms, comm)[member(m, p.member)->slice];
    summary_moved *row = summary_add_moved(to);
    if (!row) FAIL_MEMORY(err);
    *row = (summary_moved){.worker = summary_text(to, c->worker),
                           .comm = c->number,
                           .number = p.number,
                           .ns = p.ns,
                           .whom = summary_text(to, whom),
                           .lot = lot_of(m)};
    if (!row->worker.p || !row->whom.p) FAIL_MEMORY(err);
    return OK;
}

/* The shortest of the transfers between two of one name and size. */
typedef struct {
    uint64_t key;
    int64_t least;
} point_group;

static bool same_point(const void *row, const void *key) {
    return ((const point_group *)row)->key == *(const uint64_t *)key;
}

static bool is_lone_point(const members *m) {
    return m->n == 1 && comm_type_of(member(m, 0)->name) == COMM_POINT;
}

static point_group *find_point(groups *points, const collective *c) {
    uint64_t key = hash_pair(intern_hash(c->name), (uint64_t)c->bytes);
    bool is_new;
    uint32_t row = groups_at(points, key, same_point, &key, &is_new);
    if (row == GROUP_NONE) return NULL;
    point_group *p = GROUP_ROW(points, point_group, row);
    if (is_new) *p = (point_group){key, INT64_MAX};
    return p;
}

static status find_points(const comm_keeper *k, groups *points, error *err) {
    TRY(groups_init(points, k->arena, sizeof(point_group), err));
    for (uint32_t i = 0; i < k->found.n; i++) {
        members m = members_of(k, i);
        if (!is_lone_point(&m)) continue;
        point_group *p = find_point(points, member(&m, 0));
        if (!p) FAIL_MEMORY(err);
        p->least = min_i64(p->least, length(member(&m, 0)->hull));
    }
    return OK;
}

static status write_lone_point(const members *m, groups *points, summary *to, error *err) {
    const point_group *p = find_point(points, member(m, 0));
    if (!p) FAIL_MEMORY(err);
    return add_moved(m, (moved_part){0, -1, p->least}, STR(""), to, err);
}

/* The time the fastest member needed: for each range, or as a whole where their numbers
 * differ. */
static status write_moved(const members *m, str whom, summary *to, error *err) {
    const interval *ranges = m->k->list.ranges;
    uint32_t n_ranges = member(m, 0)->n_ranges;
    bool same_number = true;
    for (uint32_t i = 1; i < m->n; i++) same_number &= member(m, i)->n_ranges == n_ranges;
    for (uint32_t r = 0; same_number && r < n_ranges; r++) {
        int64_t least = INT64_MAX;
        for (uint32_t i = 0; i < m->n; i++)
            least = min_i64(least, length(ranges[member(m, i)->first_range + r]));
        for (uint32_t i = 0; i < m->n; i++)
            TRY(add_moved(m, (moved_part){i, r, least}, whom, to, err));
    }
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < m->n && !same_number; i++)
        least = min_i64(least, length(member(m, i)->hull));
    for (uint32_t i = 0; i < m->n && !same_number; i++)
        TRY(add_moved(m, (moved_part){i, -1, least}, whom, to, err));
    return OK;
}

/* When a member arrived, on the first worker's clock. */
static int64_t arrival_of(const members *m, uint32_t i) {
    const collective *c = member(m, i);
    return clock_apply(&m->k->clocks[c->worker], collective_arrival(&m->k->list, c));
}

/* What all members of a meeting lost to its last one. */
typedef struct {
    int64_t first, last, lost;
    uint32_t who;
} lateness;

static lateness find_lateness(const members *m) {
    lateness l = {INT64_MAX, INT64_MIN, 0, 0};
    for (uint32_t i = 0; i < m->n; i++) {
        int64_t at = arrival_of(m, i);
        l.first = min_i64(l.first, at);
        if (at <= l.last) continue;
        l.last = at;
        l.who = member(m, i)->worker;
    }
    /* A small message is under way without its receiver: its sender does not wait. */
    for (uint32_t i = 0; i < m->n; i++) {
        const collective *c = member(m, i);
        int64_t end = clock_apply(&m->k->clocks[c->worker], c->hull.end);
        int64_t until = max_i64(arrival_of(m, i), min_i64(l.last, end));
        l.lost = add_i64(l.lost, sub_i64(until, arrival_of(m, i)));
    }
    return l;
}

/* Does any member lie in a step that is asked about? */
static bool is_counted(const members *m) {
    for (uint32_t i = 0; i < m->n; i++)
        if (SUMMARY_ROWS(m->k->comms, comm)[member(m, i)->slice].counts) return true;
    return false;
}

static status add_fact(summary *out, const char *name, int64_t value, error *err) {
    summary_fact *f = summary_add_fact(out);
    if (!f) FAIL_MEMORY(err);
    *f = (summary_fact){.name = summary_text(out, str_of(name)), .value = value};
    if (!f->name.p) FAIL_MEMORY(err);
    return OK;
}

static status write_blame(const comm_keeper *k, const int64_t (*caused)[2], summary *out,
                          error *err) {
    for (uint32_t i = 0; i < k->who.n; i++) {
        if (!caused[i][1]) continue;
        summary_blame *b = summary_add_blame(out);
        if (!b) FAIL_MEMORY(err);
        *b = (summary_blame){.worker = summary_text(out, k->who.v[i]->name),
                             .caused = caused[i][0],
                             .last = caused[i][1]};
        if (!b->worker.p) FAIL_MEMORY(err);
    }
    return OK;
}

/* ---- groups ------------------------------------------------------------------------------ */

static int64_t size_class(int64_t bytes) {
    return bytes > 0 ? 63 - __builtin_clzll((uint64_t)bytes) : bytes == ABSENT_I64 ? -1 : 0;
}

static status write_group(const members *m, summary *out, error *err) {
    const collective *c = member(m, 0);
    int64_t least = INT64_MAX, bytes = ABSENT_I64;
    for (uint32_t i = 0; i < m->n; i++) {
        const collective *x = member(m, i);
        int64_t ns = max_i64(0, sub_i64(x->hull.end, collective_arrival(&m->k->list, x)));
        least = min_i64(least, ns);
        bytes = max_i64(bytes, x->bytes);
    }
    summary_group *g = summary_add_group(out);
    if (!g) FAIL_MEMORY(err);
    int64_t idle = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        const collective *x = member(m, i);
        int64_t ns = max_i64(0, sub_i64(x->hull.end, collective_arrival(&m->k->list, x)));
        idle = add_i64(idle, sub_i64(ns, least));
    }
    *g = (summary_group){.name = summary_text(out, c->group),
                         .words = summary_text(out, c->words),
                         .source = c->source,
                         .target = c->target,
                         .type = comm_type_of(c->name),
                         .size_class = size_class(bytes),
                         .size = max_i64(c->group_size, m->n),
                         .calls = 1,
                         .bytes = max_i64(0, bytes),
                         .transfer = max_i64(0, least),
                         .waiting = max_i64(0, idle)};
    if (!g->name.p || !g->words.p) FAIL_MEMORY(err);
    return OK;
}

/* Each worker of each group once. */
static status write_members(const comm_keeper *k, summary *out, error *err) {
    map seen = {0};
    status st = OK;
    for (uint32_t i = 0; i < k->list.n && st == OK; i++) {
        const collective *c = &k->list.v[i];
        uint32_t *at = map_at(&seen, hash_pair(intern_hash(c->group), c->worker));
        if (at && *at != MAP_NONE) continue;
        summary_member *row = at ? summary_add_member(out) : NULL;
        if (row) {
            *at = 1;
            row->group = summary_text(out, c->group);
            row->worker = summary_text(out, k->who.v[c->worker]->name);
        }
        if (!row || !row->group.p || !row->worker.p)
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    map_fini(&seen);
    return st;
}

/* ---- arrivals ---------------------------------------------------------------------------- */

static status write_arrivals(const members *m, const lateness *l, summary *out, error *err) {
    int64_t zero = 0, lot = lot_of(m);
    if (m->k->who.n) zero = add_i64(base_of(m->k->who.v[0]), m->k->who.v[0]->start);
    for (uint32_t i = 0; i < m->n; i++) {
        const collective *c = member(m, i);
        const summary_comm *comm = &SUMMARY_ROWS(m->k->comms, comm)[c->slice];
        if (!comm->counts) continue;
        summary_arrival *row = summary_add_arrival(out);
        if (!row) FAIL_MEMORY(err);
        int64_t at = arrival_of(m, i);
        *row = (summary_arrival){
            .lost = l->lost,
            .lot = lot,
            .group = summary_text(out, c->group),
            .sequence = c->sequence,
            .name = summary_text(out, c->name),
            .start = sub_i64(at, zero),
            .worker = summary_text(out, comm->worker),
            .step = comm->step_number,
            .late_by = sub_i64(at, l->first),
            .duration = max_i64(0, sub_i64(c->hull.end, collective_arrival(&m->k->list, c)))};
        if (!row->group.p || !row->name.p || !row->worker.p) FAIL_MEMORY(err);
    }
    return OK;
}

/* As many meetings with the largest losses as fit; the others are not written at all. */
static status write_worst(const comm_keeper *k, const int64_t *lost, summary *out, error *err) {
    uint32_t n = k->found.n;
    sort_pair *pairs = ARENA_ARRAY(k->arena, sort_pair, (size_t)n + 1);
    if (!pairs) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) {
        members m = members_of(k, i);
        pairs[i] = (sort_pair){(uint64_t)lot_of(&m), i};
    }
    if (!sort_radix_in(k->arena, pairs, n)) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) pairs[i].key = (uint64_t)max_i64(0, lost[pairs[i].row]);
    if (!sort_radix_in(k->arena, pairs, n)) FAIL_MEMORY(err);
    uint64_t rows = 0;
    for (uint32_t i = n; i > 0; i--) {
        members m = members_of(k, pairs[i - 1].row);
        if (rows && rows + m.n > COMM_RESOLVE_ARRIVALS) break;
        rows += m.n;
        lateness l = find_lateness(&m);
        TRY(write_arrivals(&m, &l, out, err));
    }
    return OK;
}

status comm_resolve_trim(summary *s, error *err) {
    TRY(summary_settle(s, err));
    summary_arrival *v = SUMMARY_ROWS(s, arrival);
    uint32_t n = SUMMARY_N(s, arrival), from = n;
    while (from > 0) {
        uint32_t first = from;
        while (first > 0 && v[first - 1].lost == v[from - 1].lost &&
               v[first - 1].lot == v[from - 1].lot)
            first--;
        if (from < n && n - first > COMM_RESOLVE_ARRIVALS) break;
        from = first;
    }
    if (from) memmove(v, v + from, (n - from) * sizeof *v);
    s->tables[SUMMARY_arrival].n = n - from;
    return OK;
}

/* ---- all of it --------------------------------------------------------------------------- */

static void take_clocks(comm_keeper *k, const summary *clocks) {
    for (uint32_t i = 0; i < SUMMARY_N(clocks, clock); i++) {
        const summary_clock *c = &SUMMARY_ROWS(clocks, clock)[i];
        uint32_t w = worker_order_find(&k->who, c->worker);
        if (w == UINT32_MAX) continue;
        k->clocks[w].at = c->at;
        k->clocks[w].offset = c->offset;
        k->clocks[w].drift_ppb = c->drift_ppb;
        k->clocks[w].aligned = c->aligned;
    }
}

status comm_keeper_resolve(comm_keeper *k, const summary *clocks, summary *moved, summary *out,
                           error *err) {
    int64_t(*caused)[2] = arena_array(k->arena, (size_t)k->who.n + 1, sizeof *caused);
    int64_t *lost = ARENA_ARRAY(k->arena, int64_t, (size_t)k->found.n + 1), shared = 0;
    groups points;
    if (!caused || !lost) FAIL_MEMORY(err);
    take_clocks(k, clocks);
    TRY(find_points(k, &points, err));
    for (uint32_t i = 0; i < k->found.n; i++) {
        members m = members_of(k, i);
        lateness l = find_lateness(&m);
        str whom = m.n > 1 ? k->who.v[l.who]->name : STR("");
        TRY(is_lone_point(&m) ? write_lone_point(&m, &points, moved, err)
                              : write_moved(&m, whom, moved, err));
        if (!is_counted(&m)) continue;
        TRY(write_group(&m, out, err));
        if (SUMMARY_N(out, group) > (1u << 16)) TRY(summary_settle(out, err));
        if (m.n < 2) continue;
        lost[i] = l.lost;
        caused[l.who][0] = add_i64(caused[l.who][0], max_i64(0, l.lost));
        caused[l.who][1]++;
        shared++;
    }
    TRY(write_blame(k, (const int64_t(*)[2])caused, out, err));
    TRY(write_members(k, out, err));
    TRY(write_worst(k, lost, out, err));
    TRY(add_fact(out, "collectives", k->list.n, err));
    TRY(add_fact(out, "collectives_matched", k->found.n_matched, err));
    TRY(add_fact(out, "meetings", shared, err));
    return summary_settle(out, err);
}

static status resolve_one(summary *s, comm_keeper *k, summary *parts[3], error *err) {
    arena *a = k->arena;
    TRY(summary_settle(s, err));
    TRY(comm_keeper_open(k, s, s, a, err));
    TRY(comm_keeper_samples(k, parts[0], err));
    TRY(clocks_solve(s, parts[0], a, parts[1], err));
    TRY(summary_settle(parts[1], err));
    TRY(comm_keeper_resolve(k, parts[1], parts[2], parts[1], err));
    TRY(summary_settle(parts[2], err));
    TRY(comm_owner_finish(s, parts[2], a, err));
    TRY(summary_merge(s, parts[1], err));
    return comm_resolve_trim(s, err);
}

status comm_resolve_all(summary *s, arena *a, error *err) {
    comm_keeper k = {.arena = a};
    summary *parts[3] = {summary_new(), summary_new(), summary_new()};
    status st = ERR_MEMORY;
    if (parts[0] && parts[1] && parts[2])
        st = resolve_one(s, &k, parts, err);
    else
        (void)error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    for (int i = 0; i < 3; i++) summary_free(parts[i]);
    return st;
}
