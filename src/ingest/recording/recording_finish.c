/* recording_finish.c: what of a recording needs the events of all threads: steps, totals of
 * memory, queues and the pipeline they belong to, nodes of graphs, devices.
 *
 * A step runs from one mark to the next, on any thread; it is drawn on the thread that ended
 * it. What follows the last mark is not a step: programs mark the end of a step.
 *
 * Allocators that do not know their totals leave them to us: they are added up in the order of
 * time, for each device, from nothing at the start of the recording. A release without a size
 * has that of its allocation. With sampling there are no totals: a part of them would be a
 * wrong number. */
#include <stdio.h>

#include "base/bisect.h"
#include "base/num.h"
#include "base/sort.h"
#include "ingest/recording/recording_int.h"

/* ---- steps ------------------------------------------------------------------------------- */

static int compare_steps(uint32_t a, uint32_t b, const void *context) {
    const recording_step *s = context;
    if (s[a].time != s[b].time) return s[a].time < s[b].time ? -1 : 1;
    return a < b ? -1 : a > b;
}

static status add_step(recording *r, const recording_step *from, const recording_step *to) {
    char name[48];
    int n = snprintf(name, sizeof name, "ProfilerStep#%lld", (long long)from->number);
    raw_slice slice = {.start = from->time,
                       .dur = max_i64(0, sub_i64(to->time, from->time)),
                       .name = recording_string(r, str_n(name, (size_t)n)),
                       .track = to->track,
                       .kind = KIND_STEP};
    raw_op op = {.external = ABSENT_I64, .sequence = ABSENT_I64, .forward_thread = ABSENT_I64};
    if (slice.name == UINT32_MAX) return ERR_MEMORY;
    r->n_steps++;
    TRY(part_op(r->part, &op, &slice));
    return part_slice(r->part, &slice);
}

/* Sorts the marks in place and makes the steps between them. */
static status make_steps(recording *r, uint32_t *order) {
    recording_step *s = VEC(&r->steps, recording_step), *sorted = s + r->steps.n;
    size_t n = r->steps.n;
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    sort_index(order, order + n, n, compare_steps, s);
    for (size_t i = 0; i < n; i++) sorted[i] = s[order[i]];
    memcpy(s, sorted, n * sizeof *s);
    for (size_t i = 0; i + 1 < n; i++)
        if (!s[i].is_end && !s[i + 1].restarts && s[i + 1].number >= s[i].number)
            TRY(add_step(r, &s[i], &s[i + 1]));
    return OK;
}

static status finish_steps(recording *r) {
    vec order = VEC_INIT(uint32_t);
    size_t n = r->steps.n;
    status st = ERR_MEMORY;
    if (vec_reserve(&r->steps, n + 1) == OK && vec_reserve(&order, 2 * n + 1) == OK)
        st = make_steps(r, VEC(&order, uint32_t));
    vec_fini(&order);
    return st;
}

/* ---- what was left out ------------------------------------------------------------------- */

static int compare_samplings(uint32_t a, uint32_t b, const void *context) {
    const recording_sampling *s = context;
    if (s[a].time != s[b].time) return s[a].time < s[b].time ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* From each mark to the next. */
static status add_left_out(recording *r, const uint32_t *order, error *err) {
    const recording_sampling *s = VEC(&r->samplings, recording_sampling);
    size_t n = r->samplings.n;
    if (n && s[order[0]].is_change && !s[order[0]].is_left_out) /* the mark before it is gone */
        TRY(builder_add_left_out(r->b, INT64_MIN, s[order[0]].time, err));
    for (size_t i = 0; i < n; i++) {
        int64_t end = i + 1 < n ? s[order[i + 1]].time : INT64_MAX;
        if (s[order[i]].is_left_out)
            TRY(builder_add_left_out(r->b, s[order[i]].time, end, err));
    }
    return OK;
}

static status finish_samplings(recording *r, error *err) {
    vec order = VEC_INIT(uint32_t);
    size_t n = r->samplings.n;
    status st = vec_reserve(&order, 2 * n + 1);
    if (st == OK) {
        uint32_t *o = VEC(&order, uint32_t);
        for (size_t i = 0; i < n; i++) o[i] = (uint32_t)i;
        sort_index(o, o + n, n, compare_samplings, r->samplings.p);
        st = add_left_out(r, o, err);
    }
    vec_fini(&order);
    return st;
}

/* The step that contains a time; ABSENT_I64: none. */
static int64_t step_at(const recording *r, int64_t time) {
    const recording_step *s = VEC(&r->steps, recording_step);
    size_t low = SEARCH_FIRST(i, 0, r->steps.n, s[i].time <= time);
    bool inside = low > 0 && low < r->steps.n && !s[low - 1].is_end;
    return inside ? s[low - 1].number : ABSENT_I64;
}

/* ---- memory ------------------------------------------------------------------------------ */

typedef struct {
    int64_t allocated, reserved;
} totals;

typedef struct {
    recording *r;
    vec devices;            /* totals */
    map device_of, size_of; /* (device, type) -> devices; (device, address) -> sizes */
    vec sizes;              /* int64_t */
} memory_replay;

static int compare_memories(uint32_t a, uint32_t b, const void *context) {
    const raw_memory *m = context;
    if (m[a].time != m[b].time) return m[a].time < m[b].time ? -1 : 1;
    return a < b ? -1 : a > b;
}

static totals *totals_of(memory_replay *p, const raw_memory *m) {
    uint32_t *at = map_at(&p->device_of, (uint64_t)(uint32_t)m->device << 8 | m->device_type);
    if (!at) return NULL;
    if (*at == MAP_NONE) {
        *at = (uint32_t)p->devices.n;
        totals *t = vec_push(&p->devices);
        if (!t) return NULL;
        *t = (totals){0, 0};
    }
    return &VEC(&p->devices, totals)[*at];
}

/* Remembers the size of an allocation, or finds it for its release. */
static status pair_sizes(memory_replay *p, raw_memory *m) {
    uint64_t device = (uint64_t)(uint32_t)m->device << 9 | (uint64_t)m->device_type << 1 |
                      (m->kind >= MEMORY_SEGMENT_ALLOC);
    uint32_t *at = map_at(&p->size_of, hash_pair(device, m->address));
    if (!at) return ERR_MEMORY;
    if (*at == MAP_NONE) {
        *at = (uint32_t)p->sizes.n;
        int64_t *size = vec_push(&p->sizes);
        if (!size) return ERR_MEMORY;
        *size = 0;
    }
    int64_t *size = &VEC(&p->sizes, int64_t)[*at];
    if (m->kind == MEMORY_ALLOC || m->kind == MEMORY_SEGMENT_ALLOC)
        *size = m->bytes;
    else if (m->bytes == 0)
        m->bytes = sub_i64(0, *size);
    return OK;
}

static status replay(memory_replay *p, raw_memory *m) {
    bool sampled = p->r->header.memory_every > 1;
    totals *t = totals_of(p, m);
    if (!t) return ERR_MEMORY;
    TRY(pair_sizes(p, m));
    t = totals_of(p, m);
    if (m->kind <= MEMORY_FREE) t->allocated = add_i64(t->allocated, m->bytes);
    if (m->kind >= MEMORY_SEGMENT_ALLOC) t->reserved = add_i64(t->reserved, m->bytes);
    if (m->allocated == ABSENT_I64 && !sampled) m->allocated = max_i64(0, t->allocated);
    if (m->reserved == ABSENT_I64)
        m->reserved = max_i64(t->reserved, sampled ? 0 : m->allocated);
    return part_memory(p->r->part, m);
}

static status finish_memory(recording *r) {
    memory_replay p = {.r = r, .devices = VEC_INIT(totals), .sizes = VEC_INIT(int64_t)};
    vec order = VEC_INIT(uint32_t);
    size_t n = r->memories.n;
    status st = vec_reserve(&order, 2 * n + 1);
    if (st == OK) {
        uint32_t *o = VEC(&order, uint32_t);
        for (size_t i = 0; i < n; i++) o[i] = (uint32_t)i;
        sort_index(o, o + n, n, compare_memories, r->memories.p);
        for (size_t i = 0; i < n && st == OK; i++) {
            raw_memory *m = &VEC(&r->memories, raw_memory)[o[i]];
            m->tie = (uint32_t)i;
            st = replay(&p, m);
        }
    }
    vec_fini(&order);
    vec_fini(&p.devices);
    vec_fini(&p.sizes);
    map_fini(&p.device_of);
    map_fini(&p.size_of);
    return st;
}

/* ---- queues ------------------------------------------------------------------------------ */

/* Row of the pipeline operator of this name, added when it is new; 0: no memory. */
static uint32_t pipe_row(recording *r, map *rows, uint32_t *n, uint32_t name) {
    uint32_t *at = map_at(rows, name);
    if (!at) return 0;
    if (*at == MAP_NONE) *at = ++*n;
    (void)r;
    return *at;
}

typedef struct {
    int64_t workers, capacity;
    uint32_t name, parent;
} pipe_facts;

static status number_pipes(recording *r, map *rows, uint32_t *n) {
    for (size_t i = 0; i < r->pipes.n; i++) {
        const recording_pipe *p = &VEC(&r->pipes, recording_pipe)[i];
        if (!pipe_row(r, rows, n, p->name)) return ERR_MEMORY;
        if (p->parent && !pipe_row(r, rows, n, p->parent)) return ERR_MEMORY;
    }
    for (size_t i = 0; i < r->queues.n; i++)
        if (!pipe_row(r, rows, n, VEC(&r->queues, recording_queue)[i].name)) return ERR_MEMORY;
    return OK;
}

static void gather_pipes(const recording *r, const map *rows, pipe_facts *facts) {
    for (size_t i = 0; i < r->pipes.n; i++) {
        const recording_pipe *p = &VEC(&r->pipes, recording_pipe)[i];
        pipe_facts *f = &facts[map_get(rows, p->name) - 1];
        f->name = p->name;
        f->workers = p->workers;
        f->parent = p->parent ? map_get(rows, p->parent) : 0;
        if (p->parent) facts[f->parent - 1].name = p->parent;
    }
    for (size_t i = 0; i < r->queues.n; i++) {
        const recording_queue *q = &VEC(&r->queues, recording_queue)[i];
        pipe_facts *f = &facts[map_get(rows, q->name) - 1];
        f->name = q->name;
        f->capacity = max_i64(f->capacity, q->capacity);
    }
}

/* Parents that lead in a circle are forgotten. */
static void cut_circles(pipe_facts *facts, uint32_t n) {
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t at = facts[i - 1].parent, steps = 0;
        while (at && at != i && steps++ <= n && steps < 1000) at = facts[at - 1].parent;
        if (at) facts[i - 1].parent = 0;
    }
}

static status write_pipes(recording *r, const map *rows, const pipe_facts *facts, uint32_t n,
                          error *err) {
    for (uint32_t i = 0; i < n; i++) {
        row_pipe_op row = {.name = recording_name(r, facts[i].name),
                           .parent = facts[i].parent,
                           .workers =
                               facts[i].workers > 0 ? sat_i32(facts[i].workers) : ABSENT_I32,
                           .capacity = facts[i].capacity > 0 ? facts[i].capacity : ABSENT_I64,
                           .id = ABSENT_I64,
                           .interval = ABSENT_I64,
                           .role = PIPE_OPERATOR};
        TRY(builder_put_pipe_op(r->b, &row, err));
    }
    for (size_t i = 0; i < r->queues.n; i++) {
        const recording_queue *q = &VEC(&r->queues, recording_queue)[i];
        row_queue_sample row = {.pipe_op = map_get(rows, q->name),
                                .time = q->time,
                                .step = step_at(r, q->time),
                                .size = q->size,
                                .capacity = q->capacity,
                                .get = ABSENT_I64,
                                .push = ABSENT_I64,
                                .total = ABSENT_I64};
        TRY(builder_put_queue_sample(r->b, &row, err));
    }
    return OK;
}

static int compare_queues(uint32_t a, uint32_t b, const void *context) {
    const recording_queue *q = context;
    if (q[a].time != q[b].time) return q[a].time < q[b].time ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Samples in the order of time, whichever thread took them. */
static status sort_queues(recording *r) {
    vec order = VEC_INIT(uint32_t);
    size_t n = r->queues.n;
    status st = vec_reserve(&order, 2 * n + 1);
    if (st == OK) st = vec_reserve(&r->queues, n + 1);
    if (st == OK) {
        uint32_t *o = VEC(&order, uint32_t);
        recording_queue *q = VEC(&r->queues, recording_queue), *sorted = q + n;
        for (size_t i = 0; i < n; i++) o[i] = (uint32_t)i;
        sort_index(o, o + n, n, compare_queues, q);
        for (size_t i = 0; i < n; i++) sorted[i] = q[o[i]];
        memcpy(q, sorted, n * sizeof *q);
    }
    vec_fini(&order);
    return st;
}

static status finish_queues(recording *r, error *err) {
    map rows = {0};
    uint32_t n = 0;
    vec facts = VEC_INIT(pipe_facts);
    status st = sort_queues(r);
    if (st == OK) st = number_pipes(r, &rows, &n);
    if (st == OK) st = vec_reserve(&facts, n + 1);
    if (st == OK && n) {
        memset(facts.p, 0, n * sizeof(pipe_facts));
        gather_pipes(r, &rows, facts.p);
        cut_circles(facts.p, n);
        st = write_pipes(r, &rows, facts.p, n, err);
    }
    vec_fini(&facts);
    map_fini(&rows);
    return st;
}

/* ---- graphs ------------------------------------------------------------------------------ */

/* Which call made the node that `n` is, or is a copy of a copy of; 0: unknown. copies: node →
 * row of nodes that says it is a copy; made: node → row that says it was made. */
static uint64_t made_by(const recording *r, const map *made, const map *copies, uint64_t node) {
    enum {
        MOST_COPIES = 16
    }; /* a graph is cloned, put into another and instantiated; no circles */
    const recording_node *all = VEC(&r->nodes, recording_node);
    for (int i = 0; i < MOST_COPIES; i++) {
        uint32_t row = map_get(made, node);
        if (row != MAP_NONE) return all[row].correlation;
        row = map_get(copies, node);
        if (row == MAP_NONE) return 0;
        node = all[row].original;
    }
    return 0;
}

static status finish_nodes(recording *r) {
    map made = {0}, copies = {0};
    status st = OK;
    for (uint32_t i = 0; i < r->nodes.n && st == OK; i++) {
        const recording_node *n = &VEC(&r->nodes, recording_node)[i];
        uint32_t *at = map_at(n->original ? &copies : &made, n->node);
        if (at)
            *at = i;
        else
            st = ERR_MEMORY;
    }
    for (uint32_t i = 0; i < r->nodes.n && st == OK; i++) {
        uint64_t node = VEC(&r->nodes, recording_node)[i].node,
                 by = made_by(r, &made, &copies, node);
        if (by && by < MAP_NONE && node <= INT64_MAX)
            st = builder_captured(r->b, (int64_t)node, (int64_t)by);
    }
    map_fini(&made);
    map_fini(&copies);
    return st;
}

/* ---- devices ----------------------------------------------------------------------------- */

/* A driver also knows GPUs that the program does not use. Where XLA computes on the CPU and no
 * GPU did anything, the program was to use none. */
status recording_finish_devices(recording *r, error *err) {
    enum { MOST = 1024 };
    bool uses_none = r->computes_on_cpu && !r->devices.n;
    for (size_t i = 0; i < r->gpus.n && !uses_none; i++)
        TRY(builder_add_device(r->b, &VEC(&r->gpus, raw_device)[i], err));
    for (int32_t id = 0; id < MOST; id++) {
        if (map_get(&r->devices, (uint64_t)id) == MAP_NONE) continue;
        if (id < 64 && r->described >> id & 1) continue;
        raw_device row = RAW_DEVICE_NONE;
        row.id = id;
        row.type = DEVICE_CUDA;
        TRY(builder_add_device(r->b, &row, err));
    }
    return OK;
}

status recording_finish(recording *r, error *err) {
    status st = finish_steps(r);
    if (st == OK) st = finish_samplings(r, err);
    if (st == OK) st = finish_memory(r);
    if (st == OK) st = recording_finish_links(r);
    if (st == OK) st = finish_queues(r, err);
    if (st == OK) st = finish_nodes(r);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}
