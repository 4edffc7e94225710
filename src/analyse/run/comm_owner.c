/* comm_owner.c: the owner's side: a worker's time in collectives, moving data or waiting.
 *
 * Comes after the keepers have said how much of each range was transfer. Ranges of different
 * collectives overlap (streams, host and device), so times are those of unions: all of them
 * less those in which data moved is waiting. Tables ascend by worker and number, so one walk
 * takes them all. */
#include "analyse/group.h"
#include "analyse/run/comm_resolve.h"
#include "analyse/run/step_lanes.h"
#include "base/intern.h"

/* The collectives of one name of one worker. */
typedef struct {
    str name;
    int64_t calls, bytes, n_sized, group_size;
    intervals whole, moved;
} name_group;

typedef struct {
    int64_t start; /* of the step */
    intervals whole, moved;
} step_group;

typedef struct {
    summary *s;
    const summary *moved;
    uint32_t at_range, at_moved, at_step, at_alone;
    lane_place at_lane;
    arena *arena;
    groups names, steps;
    intervals whole, transfer; /* of all inside steps */
    intervals alone;           /* when the worker did nothing but communicate */
    lane_calls lanes;          /* of the step that is drawn */
} comm_owner_ctx;

static bool same_name(const void *row, const void *key) {
    return str_eq(((const name_group *)row)->name, *(const str *)key);
}

static bool same_step(const void *row, const void *key) {
    return ((const step_group *)row)->start == *(const int64_t *)key;
}

static status find_name(comm_owner_ctx *f, const summary_comm *c, name_group **out,
                        error *err) {
    bool is_new;
    uint32_t row = groups_at(&f->names, intern_hash(c->name), same_name, &c->name, &is_new);
    if (row == GROUP_NONE) FAIL_MEMORY(err);
    name_group *g = GROUP_ROW(&f->names, name_group, row);
    if (is_new)
        *g = (name_group){.name = c->name,
                          .group_size = c->group_size,
                          .whole = intervals_in(f->arena),
                          .moved = intervals_in(f->arena)};
    g->calls++;
    if (c->bytes != ABSENT_I64) {
        g->bytes = add_i64(g->bytes, max_i64(0, c->bytes));
        g->n_sized++;
    }
    *out = g;
    return OK;
}

static status find_step(comm_owner_ctx *f, int64_t start, step_group **out, error *err) {
    bool is_new;
    uint32_t row = groups_at(&f->steps, hash_u64((uint64_t)start), same_step, &start, &is_new);
    if (row == GROUP_NONE) FAIL_MEMORY(err);
    step_group *g = GROUP_ROW(&f->steps, step_group, row);
    if (is_new)
        *g = (step_group){
            .start = start, .whole = intervals_in(f->arena), .moved = intervals_in(f->arena)};
    *out = g;
    return OK;
}

/* Where the ranges of a collective go. */
typedef struct {
    intervals *whole[3], *moved[3];
    int n;
} sinks;

static void add_both(const sinks *to, interval whole, interval moved) {
    for (int i = 0; i < to->n; i++) {
        intervals_add(to->whole[i], whole.start, whole.end);
        intervals_add(to->moved[i], moved.start, moved.end);
    }
}

/* The part of this range in which data moved; all of it when unknown. */
static interval moved_part(comm_owner_ctx *f, const summary_comm *c, const summary_range *r,
                           interval hull) {
    const summary_moved *v = SUMMARY_ROWS(f->moved, moved);
    uint32_t n = SUMMARY_N(f->moved, moved), at = f->at_moved;
    for (; at < n && str_eq(v[at].worker, c->worker) && v[at].comm == c->number; at++) {
        if (v[at].number == r->number) return (interval){sub_i64(r->end, v[at].ns), r->end};
        if (v[at].number < 0 && r->number == 0)
            return (interval){sub_i64(hull.end, v[at].ns), hull.end};
        if (v[at].number < 0) return (interval){0, 0};
    }
    return (interval){r->start, r->end};
}

static status add_comm(comm_owner_ctx *f, const summary_comm *c, error *err) {
    const summary_range *r = SUMMARY_ROWS(f->s, range);
    uint32_t n = SUMMARY_N(f->s, range), n_moved = SUMMARY_N(f->moved, moved);
    const summary_moved *m = SUMMARY_ROWS(f->moved, moved);
    sinks to = {.n = 0};
    if (c->step != ABSENT_I64) {
        step_group *step = NULL;
        TRY(find_step(f, c->step, &step, err));
        to.whole[0] = &f->whole, to.moved[0] = &f->transfer;
        to.whole[1] = &step->whole, to.moved[1] = &step->moved;
        to.n = 2;
    }
    if (c->counts) {
        name_group *name = NULL;
        TRY(find_name(f, c, &name, err));
        to.whole[to.n] = &name->whole, to.moved[to.n++] = &name->moved;
    }
    while (f->at_range < n &&
           (str_cmp(r[f->at_range].worker, c->worker) < 0 ||
            (str_eq(r[f->at_range].worker, c->worker) && r[f->at_range].comm < c->number)))
        f->at_range++;
    while (f->at_moved < n_moved &&
           (str_cmp(m[f->at_moved].worker, c->worker) < 0 ||
            (str_eq(m[f->at_moved].worker, c->worker) && m[f->at_moved].comm < c->number)))
        f->at_moved++;
    uint32_t end = f->at_range;
    interval hull = {INT64_MAX, INT64_MIN};
    for (; end < n && str_eq(r[end].worker, c->worker) && r[end].comm == c->number; end++)
        hull = (interval){min_i64(hull.start, r[end].start), max_i64(hull.end, r[end].end)};
    bool known = f->at_moved < n_moved && m[f->at_moved].comm == c->number &&
                 str_eq(m[f->at_moved].worker, c->worker);
    for (uint32_t i = f->at_range; i < end; i++) {
        interval moving = moved_part(f, c, &r[i], hull);
        add_both(&to, (interval){r[i].start, r[i].end}, moving);
        if (c->step == ABSENT_I64 || moving.end <= moving.start) continue;
        lane_call call = {.start = r[i].start,
                          .moved = moving.start,
                          .end = r[i].end,
                          .whom = known ? m[f->at_moved].whom : STR(""),
                          .name = c->name,
                          .lot = known ? m[f->at_moved].lot : 0};
        TRY(lane_calls_add(&f->lanes, c->step, &call, err));
    }
    return OK;
}

/* ---- writing ----------------------------------------------------------------------------- */

static status measure(intervals *whole, intervals *moved, int64_t *total, int64_t *transfer,
                      error *err) {
    intervals_merge(whole);
    intervals_merge(moved);
    if (whole->failed || moved->failed) FAIL_MEMORY(err);
    *total = intervals_ns(whole);
    *transfer = intervals_ns(moved);
    return OK;
}

static status write_sync(comm_owner_ctx *f, str worker, error *err) {
    int64_t total, transfer;
    TRY(measure(&f->whole, &f->transfer, &total, &transfer, err));
    summary_sync *row = summary_add_sync(f->s);
    if (!row) FAIL_MEMORY(err);
    *row = (summary_sync){worker, transfer, sub_i64(total, transfer)};
    for (uint32_t i = 0; i < f->names.n; i++) {
        name_group *g = GROUP_ROW(&f->names, name_group, i);
        TRY(measure(&g->whole, &g->moved, &total, &transfer, err));
        summary_call *call = summary_add_call(f->s);
        if (!call) FAIL_MEMORY(err);
        *call = (summary_call){.worker = worker,
                               .name = g->name,
                               .calls = g->calls,
                               .bytes = g->bytes,
                               .sized = g->n_sized,
                               .group_size = g->group_size,
                               .total = total,
                               .transfer = transfer};
    }
    return OK;
}

/* Waiting for other workers while this one had no work. */
static status find_blocked(comm_owner_ctx *f, const step_group *g, int64_t *out, error *err) {
    intervals waiting = intervals_minus(&g->whole, &g->moved);
    intervals blocked = intervals_and(&waiting, &f->alone);
    if (blocked.failed) FAIL_MEMORY(err);
    *out = intervals_ns(&blocked);
    return OK;
}

static status write_step_sync(comm_owner_ctx *f, str worker, error *err) {
    const summary_step *v = SUMMARY_ROWS(f->s, step);
    uint32_t n = SUMMARY_N(f->s, step);
    for (; f->at_step < n && str_cmp(v[f->at_step].worker, worker) < 0; f->at_step++) {}
    for (uint32_t i = f->at_step; i < n && str_eq(v[i].worker, worker); i++) {
        step_group *g = NULL;
        int64_t total, transfer;
        TRY(find_step(f, v[i].start, &g, err));
        TRY(measure(&g->whole, &g->moved, &total, &transfer, err));
        summary_step_sync *row = summary_add_step_sync(f->s);
        if (!row) FAIL_MEMORY(err);
        *row = (summary_step_sync){
            worker, v[i].number, v[i].start, transfer, sub_i64(total, transfer), 0};
        TRY(find_blocked(f, g, &row->blocked, err));
    }
    return OK;
}

static status begin_worker(comm_owner_ctx *f, str worker, error *err) {
    const summary_alone *v = SUMMARY_ROWS(f->s, alone);
    uint32_t n = SUMMARY_N(f->s, alone);
    f->alone = intervals_in(f->arena);
    for (; f->at_alone < n && str_cmp(v[f->at_alone].worker, worker) < 0; f->at_alone++) {}
    for (; f->at_alone < n && str_eq(v[f->at_alone].worker, worker); f->at_alone++)
        intervals_add(&f->alone, v[f->at_alone].start, v[f->at_alone].end);
    intervals_merge(&f->alone);
    if (f->alone.failed) FAIL_MEMORY(err);
    f->whole = intervals_in(f->arena);
    f->transfer = intervals_in(f->arena);
    lane_calls_begin(&f->lanes, f->s, &f->at_lane, worker, f->arena);
    TRY(groups_init(&f->names, f->arena, sizeof(name_group), err));
    return groups_init(&f->steps, f->arena, sizeof(step_group), err);
}

static status finish_worker(comm_owner_ctx *f, str worker, uint32_t *at, error *err) {
    const summary_comm *c = SUMMARY_ROWS(f->s, comm);
    uint32_t n = SUMMARY_N(f->s, comm);
    TRY(begin_worker(f, worker, err));
    for (; *at < n && str_cmp(c[*at].worker, worker) < 0; ++*at) {}
    for (; *at < n && str_eq(c[*at].worker, worker); ++*at) TRY(add_comm(f, &c[*at], err));
    TRY(write_sync(f, worker, err));
    TRY(lane_calls_write(&f->lanes, &f->alone, f->s, err));
    return write_step_sync(f, worker, err);
}

status comm_owner_finish(summary *own, const summary *moved, arena *a, error *err) {
    comm_owner_ctx f = {.s = own, .moved = moved};
    arena scratch;
    uint32_t at = 0, n = SUMMARY_N(own, worker);
    status st = OK;
    arena_init(&scratch, a->limit_bytes);
    f.arena = &scratch;
    for (uint32_t i = 0; i < n && st == OK; i++) {
        st = finish_worker(&f, SUMMARY_ROWS(own, worker)[i].name, &at, err);
        arena_reset(&scratch);
    }
    arena_fini(&scratch);
    summary_drop(own, SUMMARY_BIT(comm) | SUMMARY_BIT(range) | SUMMARY_BIT(alone));
    return st;
}
