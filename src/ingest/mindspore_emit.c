/* mindspore_emit.c: executions become slices on tracks; steps and scopes are found among them.
 *
 *   Host CPU           operators by thread          GPU operators    as the framework timed them
 *   device N           streams, AI CPU, collectives Steps            steps and their parts
 *   Scopes             levels of the network        MindSpore        framework, runtime, ranges
 *
 * Times that are Unix nanoseconds become offsets from the first, which is the trace's time of day;
 * device counters stay as they are. A kernel belongs to the last start of the operator its table names.
 *
 * Steps, when no step trace was there: the first operator (the second behind InitDataSetQueue) opens one,
 * the operator before its second start closes it. Scopes: a level is open while consecutive operators
 * share the name of that level, at most to the end of a step. */
#include <stdio.h>

#include "base/num.h"
#include "base/sort.h"
#include "ingest/mindspore_int.h"

/* The lane whose operators tell the run's story: the device's if there is one. */
static int main_lane(const ms *m) {
    return m->n_lane[LANE_AICORE]   ? LANE_AICORE
           : m->n_lane[LANE_GPU_OP] ? LANE_GPU_OP
                                    : LANE_HOST_OP;
}

static const ms_exec *exec_at(const ms *m, uint32_t i) {
    return &VEC(&m->execs, ms_exec)[i];
}

static int by_start(uint32_t a, uint32_t b, const void *context) {
    const ms_exec *x = exec_at(context, a), *y = exec_at(context, b);
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int by_name(uint32_t a, uint32_t b, const void *context) {
    const ms_exec *x = exec_at(context, a), *y = exec_at(context, b);
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return by_start(a, b, context);
}

/* The executions of a lane, sorted; *n of them. */
static status list_lane(ms *m, int lane, sort_cmp order, uint32_t **out, uint32_t *n,
                        error *err) {
    size_t most = (size_t)m->n_lane[lane] + 1;
    uint32_t *list = ARENA_ARRAY(m->arena, uint32_t, most);
    uint32_t *scratch = ARENA_ARRAY(m->arena, uint32_t, most);
    if (!list || !scratch || m->execs.n > UINT32_MAX) FAIL_MEMORY(err);
    *n = 0;
    for (uint32_t i = 0; i < m->execs.n; i++)
        if (exec_at(m, i)->lane == lane) list[(*n)++] = i;
    sort_index(list, scratch, *n, order, m);
    *out = list;
    return OK;
}

/* ---- steps ------------------------------------------------------------------------------- */

static status add_step(ms *m, int64_t number, int64_t start, int64_t end, error *err) {
    str name = arena_printf(m->arena, "Step %lld", (long long)number);
    if (!name.p) FAIL_MEMORY(err);
    ms_exec e = {.start = start,
                 .dur = max_i64(0, sub_i64(end, start)),
                 .name = ms_string(m, name),
                 .lane = LANE_STEP};
    return ms_add_exec(m, &e, err);
}

/* Names of the operators that open and close a step; false: nothing repeats. */
static bool step_ends(const ms *m, const uint32_t *ops, uint32_t n, uint32_t *first,
                      uint32_t *last) {
    uint32_t at = 0;
    if (n && str_starts(ms_text(m, exec_at(m, ops[0])->name), STR("Default/InitDataSetQueue")))
        at = 1;
    if (at >= n) return false;
    *first = exec_at(m, ops[at])->name;
    uint32_t end = at + 1;
    while (end < n && exec_at(m, ops[end])->name != *first) end++;
    *last = exec_at(m, ops[end - 1])->name;
    return true;
}

status ms_find_steps(ms *m, error *err) {
    uint32_t *ops, n, first, last;
    TRY(list_lane(m, main_lane(m), by_start, &ops, &n, err));
    if (!step_ends(m, ops, n, &first, &last)) return OK;
    int64_t number = 0, open = ABSENT_I64;
    for (uint32_t i = 0; i < n; i++) {
        const ms_exec e = *exec_at(m, ops[i]);
        if (e.name == first && open == ABSENT_I64) open = e.start;
        if (e.name != last || open == ABSENT_I64) continue;
        TRY(add_step(m, ++number, open, add_i64(e.start, e.dur), err));
        open = ABSENT_I64;
    }
    return OK;
}

/* ---- scopes ------------------------------------------------------------------------------ */

enum { MOST_LEVELS = 64 };

typedef struct {
    uint32_t name; /* 0: closed */
    int64_t start, end;
} open_scope;

typedef struct {
    ms *m;
    open_scope level[MOST_LEVELS];
} scopes;

static status close_from(scopes *s, int level, error *err) {
    for (; level < MOST_LEVELS; level++) {
        open_scope *o = &s->level[level];
        if (!o->name) continue;
        ms_exec e = {.start = o->start,
                     .dur = max_i64(0, sub_i64(o->end, o->start)),
                     .name = o->name,
                     .stream = level,
                     .lane = LANE_SCOPE};
        o->name = 0;
        TRY(ms_add_exec(s->m, &e, err));
    }
    return OK;
}

/* One operator: levels it shares go on, others end, its own begin. */
static status take_scopes(scopes *s, const ms_exec *e, str graph, error *err) {
    str path = ms_text(s->m, e->name);
    if (!str_eq(ms_subgraph(path), graph) || str_starts(path, STR("Default/InitDataSetQueue")))
        return close_from(s, 0, err);
    int level = 0;
    for (size_t slash; (slash = str_find(path, STR("/"), 0)) != SIZE_MAX && level < MOST_LEVELS;
         level++) {
        uint32_t name = ms_string(s->m, str_n(path.p, slash));
        if (name == MS_NO_STRING) FAIL_MEMORY(err);
        open_scope *o = &s->level[level];
        path = str_from(path, slash + 1);
        if (o->name != name && o->name) {
            ms_exec ended = {.start = o->start,
                             .dur = max_i64(0, sub_i64(o->end, o->start)),
                             .name = o->name,
                             .stream = level,
                             .lane = LANE_SCOPE};
            TRY(ms_add_exec(s->m, &ended, err));
        }
        if (o->name != name) *o = (open_scope){.name = name, .start = e->start};
        o->end = add_i64(e->start, e->dur);
    }
    return close_from(s, level, err);
}

static status find_scopes(ms *m, error *err) {
    static const str graphs[] = {STR("Default"), STR("Gradients"), STR("recompute_Default")};
    uint32_t *ops, n, first = 0, last = 0;
    if (m->n_lane[LANE_SCOPE]) return OK;
    TRY(list_lane(m, main_lane(m), by_start, &ops, &n, err));
    if (!step_ends(m, ops, n, &first, &last)) return OK;
    for (size_t g = 0; g < sizeof graphs / sizeof *graphs; g++) {
        scopes s = {.m = m};
        for (uint32_t i = 0; i < n; i++) {
            const ms_exec e = *exec_at(m, ops[i]);
            TRY(take_scopes(&s, &e, graphs[g], err));
            if (e.name == last || i + 1 == n) TRY(close_from(&s, 0, err));
        }
    }
    return OK;
}

/* ---- kernels find their operators -------------------------------------------------------- */

/* The op execution a kernel belongs to: number + 1 among all executions, 0 = none. */
static uint32_t owner_of(const ms *m, const uint32_t *ops, uint32_t n, const ms_exec *kernel) {
    uint32_t low = 0, high = n; /* first that is behind (name, start) of the kernel */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const ms_exec *o = exec_at(m, ops[middle]);
        if (o->name > kernel->op || (o->name == kernel->op && o->start > kernel->start))
            high = middle;
        else
            low = middle + 1;
    }
    return low && exec_at(m, ops[low - 1])->name == kernel->op ? ops[low - 1] + 1 : 0;
}

/* ---- slices ------------------------------------------------------------------------------ */

typedef struct {
    ms *m;
    uint32_t *ops, n_ops; /* of LANE_GPU_OP, by name */
    uint32_t words[N_LANES];
    map named; /* tracks that have their name already */
} emitter;

static const char *const PROCESS[N_LANES] = {
    [LANE_HOST_OP] = "Host CPU", [LANE_GPU_OP] = "GPU operators", [LANE_STEP] = "Steps",
    [LANE_STAGE] = "Steps",      [LANE_SCOPE] = "Scopes",         [LANE_HOST] = "MindSpore",
    [LANE_CALL] = "CANN",
};

static uint8_t kind_of(const ms_exec *e) {
    switch (e->lane) {
    case LANE_HOST_OP:
    case LANE_GPU_OP: return KIND_OP;
    case LANE_AICORE:
    case LANE_AICPU:
    case LANE_KERNEL:
    case LANE_COMM: return KIND_KERNEL;
    case LANE_MEMCPY: return KIND_MEMCPY;
    case LANE_STEP: return KIND_STEP;
    case LANE_CALL: return KIND_RUNTIME;
    case LANE_WAIT: return KIND_SYNC;
    case LANE_STAGE:
    case LANE_HOST: return e->kind;
    default: return KIND_OTHER;
    }
}

/* The row of an execution: process and thread as the store knows them, and their names. */
static status row_of(emitter *x, const ms_exec *e, raw_slice *to, error *err) {
    ms *m = x->m;
    ident pid = {.v = m->id == MINDSPORE_ANY_ID ? 0 : m->id}, tid = {.v = e->stream};
    uint32_t name = e->row_name;
    if (PROCESS[e->lane])
        pid = (ident){.v = e->process ? e->process : x->words[e->lane], .text = true};
    if (e->lane == LANE_AICPU) {
        name = ms_string(m, STR("AI CPU"));
        tid = (ident){.v = name, .text = true};
    }
    if (e->lane == LANE_COMM) {
        char text[48];
        int n = snprintf(text, sizeof text, "Communication #%lld", (long long)e->stream);
        name = ms_string(m, str_n(text, n > 0 ? (size_t)n : 0));
        tid = (ident){.v = name, .text = true};
    }
    to->track = part_track(m->part, pid, tid);
    uint32_t *seen = to->track == UINT32_MAX ? NULL : map_at(&x->named, to->track);
    if (!seen || name == MS_NO_STRING) FAIL_MEMORY(err);
    if (*seen != MAP_NONE) return OK;
    *seen = 1;
    if (!name && (e->lane == LANE_AICORE || e->lane == LANE_KERNEL || e->lane == LANE_MEMCPY))
        name = ms_string(m, arena_printf(m->arena, "Stream #%lld", (long long)e->stream));
    if (name == MS_NO_STRING) FAIL_MEMORY(err);
    if (name &&
        part_label(m->part,
                   &(raw_label){
                       .pid = pid, .tid = tid, .value = name, .kind = LABEL_THREAD_NAME}) != OK)
        FAIL_MEMORY(err);
    return OK;
}

static status add_details(emitter *x, uint32_t i, raw_slice *to, error *err) {
    ms *m = x->m;
    const ms_exec *e = exec_at(m, i);
    status st = OK;
    if (to->kind == KIND_OP) {
        const ms_known *k = ms_known_of(m, e->name);
        if (!k || !k->shapes) {
            uint32_t name = ms_string(m, ms_short(ms_text(m, e->name)));
            k = name == MS_NO_STRING ? NULL : ms_known_of(m, name);
        }
        raw_op op = {.external = (int64_t)i + 1,
                     .sequence = ABSENT_I64,
                     .forward_thread = ABSENT_I64,
                     .shapes = k ? k->shapes : 0};
        st = part_op(m->part, &op, to);
    } else if (kind_is_device(to->kind)) {
        raw_kernel work = {.correlation = ABSENT_I64,
                           .external = ABSENT_I64,
                           .stream = e->stream,
                           .context = ABSENT_I64,
                           .bytes = ABSENT_I64,
                           .graph_node = ABSENT_I64,
                           .shared_memory = ABSENT_I64,
                           .occupancy = (double)NAN,
                           .blocks_per_sm = (double)NAN,
                           .registers = ABSENT_I32,
                           .device = m->id == MINDSPORE_ANY_ID ? 0 : sat_i32(m->id)};
        memcpy(work.grid, e->grid, sizeof work.grid);
        memcpy(work.block, e->block, sizeof work.block);
        if (e->op) work.external = owner_of(m, x->ops, x->n_ops, e);
        if (work.external == 0) work.external = ABSENT_I64;
        st = part_kernel(m->part, &work, to);
    }
    if (st == OK && e->lane == LANE_COMM)
        st = part_comm(m->part, &(raw_comm){.slice = part_next_slice(m->part),
                                            .name = to->name,
                                            .sequence = ABSENT_I64,
                                            .comms_id = ABSENT_I64,
                                            .in_elements = ABSENT_I64,
                                            .out_elements = ABSENT_I64,
                                            .group_size = ABSENT_I64,
                                            .src = ABSENT_I32,
                                            .dst = ABSENT_I32});
    if (st != OK) FAIL_MEMORY(err);
    return OK;
}

static status emit_one(emitter *x, uint32_t i, error *err) {
    ms *m = x->m;
    const ms_exec *e = exec_at(m, i);
    raw_slice to = {.start = sub_i64(e->start, m->offset_ns),
                    .dur = e->dur,
                    .name = e->name,
                    .kind = kind_of(e)};
    uint32_t info = e->args;
    const ms_known *k = e->lane == LANE_AICORE ? ms_known_of(m, e->name) : NULL;
    if (!info && k) info = k->info;
    if (info) to.args = part_args_raw(m->part, info);
    TRY(row_of(x, e, &to, err));
    TRY(add_details(x, i, &to, err));
    if (part_slice(m->part, &to) != OK) FAIL_MEMORY(err);
    return OK;
}

/* Names and order of the processes, and the device. */
static status label_processes(emitter *x, error *err) {
    ms *m = x->m;
    static const int64_t order[N_LANES] = {
        [LANE_STEP] = 1,  [LANE_STAGE] = 1, [LANE_HOST_OP] = 20, [LANE_GPU_OP] = 10,
        [LANE_SCOPE] = 5, [LANE_HOST] = 15, [LANE_CALL] = 16};
    for (int lane = 0; lane < N_LANES; lane++) {
        if (!PROCESS[lane]) continue;
        x->words[lane] = ms_string(m, str_of(PROCESS[lane]));
        if (x->words[lane] == MS_NO_STRING) FAIL_MEMORY(err);
        ident pid = {.v = x->words[lane], .text = true};
        raw_label name = {.pid = pid, .value = x->words[lane], .kind = LABEL_PROCESS_NAME};
        raw_label sort = {.pid = pid, .value = order[lane], .kind = LABEL_PROCESS_SORT};
        if (part_label(m->part, &name) != OK || part_label(m->part, &sort) != OK)
            FAIL_MEMORY(err);
    }
    bool ascend = m->n_lane[LANE_AICORE] || m->n_lane[LANE_AICPU] || m->n_lane[LANE_COMM];
    for (size_t i = 0; i < m->memories.n && !ascend; i++)
        ascend = VEC(&m->memories, raw_memory)[i].device_type == DEVICE_ASCEND;
    if (!ascend && !m->n_lane[LANE_KERNEL]) return OK;
    int64_t id = m->id == MINDSPORE_ANY_ID ? 0 : m->id;
    str text = arena_printf(m->arena, "%s %lld", m->gpu && !m->ascend ? "GPU" : "Ascend",
                            (long long)id);
    uint32_t name = ms_string(m, text);
    if (name == MS_NO_STRING) FAIL_MEMORY(err);
    raw_label label = {.pid = {.v = id}, .value = name, .kind = LABEL_PROCESS_NAME};
    if (part_label(m->part, &label) != OK) FAIL_MEMORY(err);
    raw_device d = {.id = sat_i32(id),
                    .type = m->gpu && !m->ascend ? DEVICE_CUDA : DEVICE_ASCEND,
                    .name = name,
                    .memory = m->capacity,
                    .compute_major = ABSENT_I32,
                    .compute_minor = ABSENT_I32,
                    .sm_count = ABSENT_I32,
                    .threads_per_sm = ABSENT_I32,
                    .warp_size = ABSENT_I32};
    return builder_add_device(m->b, &d, err);
}

/* Unix nanoseconds are told from counters and monotonic clocks by their size. */
static void find_base(ms *m) {
    int64_t first = INT64_MAX;
    for (uint32_t i = 0; i < m->execs.n; i++) first = min_i64(first, exec_at(m, i)->start);
    if (first == INT64_MAX && m->memories.n) first = VEC(&m->memories, raw_memory)[0].time;
    if (first == INT64_MAX || first < (int64_t)100000000000000000) return;
    m->offset_ns = first;
    builder_set_base_unix_ns(m->b, first);
}

static status emit_memory(ms *m, error *err) {
    uint32_t track = m->memories.n ? part_track(m->part, (ident){.v = 0}, (ident){.v = 0}) : 0;
    if (track == UINT32_MAX) FAIL_MEMORY(err);
    for (size_t i = 0; i < m->memories.n; i++) {
        raw_memory row = VEC(&m->memories, raw_memory)[i];
        row.time = sub_i64(row.time, m->offset_ns);
        row.track = track;
        if (part_memory(m->part, &row) != OK) FAIL_MEMORY(err);
    }
    return OK;
}

status ms_emit(ms *m, error *err) {
    if (!m->n_lane[LANE_STEP]) TRY(ms_find_steps(m, err));
    TRY(find_scopes(m, err));
    if (!m->seen[MS_AICORE_DETAIL] && !m->seen[MS_AICORE_TYPE]) TRY(ms_sum_tasks(m, err));
    emitter x = {.m = m};
    find_base(m);
    TRY(list_lane(m, LANE_GPU_OP, by_name, &x.ops, &x.n_ops, err));
    TRY(label_processes(&x, err));
    status st = emit_memory(m, err);
    for (uint32_t i = 0; i < m->execs.n && st == OK; i++) st = emit_one(&x, i, err);
    map_fini(&x.named);
    return st;
}
