/* mindspore_emit.c: executions become slices on tracks; steps and scopes are found among them.
 *
 *   CPU operators by thread          GPU operators   as the framework timed them
 *   device N           streams, AI CPU, collectives Steps           steps and their parts
 *   Scopes             levels of the network        MindSpore       framework, runtime, ranges
 *
 * Times that are Unix nanoseconds become offsets from the first, which is the trace's time of
 * day; device counters stay as they are. A kernel belongs to the last start of the operator its
 * table names.
 *
 * There is one pass over millions of executions, most of them like the one before or like the
 * last of their name: what is the same for all of a row (track, name of the row, raw kernel) or
 * of a name (shapes, arguments) is found once and used again. */
#include <stdio.h>

#include "base/bisect.h"
#include "base/num.h"
#include "base/sort.h"
#include "ingest/mindspore/mindspore_int.h"

static const ms_exec *exec_at(const ms *m, uint32_t i) {
    return &VEC(&m->exec.rows, ms_exec)[i];
}

static const ms_more *more_of(const ms *m, const ms_exec *e) {
    static const ms_more none;
    return e->more ? &VEC(&m->exec.mores, ms_more)[e->more - 1] : &none;
}

/* ---- kernels find their operators -------------------------------------------------------- */

static int by_name(uint32_t a, uint32_t b, const void *context) {
    const ms_exec *x = exec_at(context, a), *y = exec_at(context, b);
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* The operators of a GPU by name and start, when there are kernels that look for them. */
static status list_owners(ms *m, ms_ops *out, error *err) {
    size_t most = m->n_lane[LANE_KERNEL] ? (size_t)m->n_lane[LANE_GPU_OP] : 0;
    out->n = 0;
    if (!most) return OK;
    out->at = ARENA_ARRAY(m->arena, uint32_t, most);
    uint32_t *scratch = ARENA_ARRAY(m->arena, uint32_t, most);
    if (!out->at || !scratch) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < m->exec.rows.n; i++)
        if (exec_at(m, i)->lane == LANE_GPU_OP) out->at[out->n++] = i;
    sort_index(out->at, scratch, out->n, by_name, m);
    return OK;
}

/* In the order of name and start. */
static bool is_until(const ms_exec *o, uint32_t op, int64_t start) {
    return o->name < op || (o->name == op && o->start <= start);
}

/* The op execution a kernel belongs to: number + 1 among all executions, 0 = none. */
static uint32_t owner_of(const ms *m, const ms_ops *ops, const ms_exec *kernel, uint32_t op) {
    uint32_t low =
        SEARCH_FIRST(i, 0, ops->n, is_until(exec_at(m, ops->at[i]), op, kernel->start));
    return low && exec_at(m, ops->at[low - 1])->name == op ? ops->at[low - 1] + 1 : 0;
}

/* ---- slices ------------------------------------------------------------------------------ */

/* What all executions of a name share; found when the first of them is met. */
typedef struct {
    bool asked;
    uint32_t shapes; /* of an operator, string id */
    uint32_t args;   /* of a task: what its table says, as an argument record */
} name_facts;

typedef struct {
    ms *m;
    ms_ops owners;
    uint32_t words[N_LANES];
    map named;         /* tracks that have their name already */
    name_facts *facts; /* by string id */
    ms_exec last;      /* whose row is `track` */
    uint32_t track;
    uint32_t kernel; /* raw_slice.extra of device work of the last stream; 0 = none yet */
    int64_t kernel_stream;
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
static status row_of(emitter *x, const ms_exec *e, uint32_t *track, error *err) {
    ms *m = x->m;
    const ms_more *more = more_of(m, e);
    ident pid = {.v = m->id == MINDSPORE_ANY_ID ? 0 : m->id}, tid = {.v = e->stream};
    uint32_t name = more->row_name;
    if (PROCESS[e->lane])
        pid = (ident){.v = more->process ? more->process : x->words[e->lane], .text = true};
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
    *track = part_track(m->part, pid, tid);
    uint32_t *seen = *track == UINT32_MAX ? NULL : map_at(&x->named, *track);
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

static uint32_t shapes_of(ms *m, uint32_t full_name) {
    const ms_known *k = ms_known_of(m, full_name);
    if (!k || !k->shapes) {
        uint32_t name = ms_string(m, ms_short(ms_text(m, full_name)));
        k = name == MS_NO_STRING ? NULL : ms_known_of(m, name);
    }
    return k ? k->shapes : 0;
}

static name_facts *facts_of(emitter *x, const ms_exec *e) {
    name_facts *f = &x->facts[e->name];
    if (f->asked) return f;
    const ms_known *k = ms_known_of(x->m, e->name);
    f->asked = true;
    f->shapes = shapes_of(x->m, e->name);
    f->args = k && k->info ? part_args_raw(x->m->part, k->info) : 0;
    return f;
}

/* Ids of operators that arrows name, above those of executions. */
#define ARROW_OWNERS ((int64_t)1 << 40)

static inline status add_kernel(emitter *x, const ms_exec *e, raw_slice *to) {
    ms *m = x->m;
    if (!e->more && x->kernel && x->kernel_stream == e->stream) {
        to->extra = x->kernel; /* nothing but the stream is known of them: they share a row */
        return OK;
    }
    const ms_more *more = more_of(m, e);
    raw_kernel work = RAW_KERNEL_NONE;
    work.stream = e->stream;
    work.device = m->id == MINDSPORE_ANY_ID ? 0 : sat_i32(m->id);
    memcpy(work.grid, more->grid, sizeof work.grid);
    memcpy(work.block, more->block, sizeof work.block);
    if (more->op) work.external = owner_of(m, &x->owners, e, more->op);
    if (work.external == 0) work.external = ABSENT_I64;
    if (more->owner) work.external = ARROW_OWNERS + more->owner;
    bool called =
        more->launch && map_get(&m->exec.launches, more->launch) != (uint32_t)MAP_NONE;
    if (called) work.correlation = more->launch;
    if (more->owner) builder_set_work_names_op(m->b, true);
    status st = part_kernel(m->part, &work, to);
    if (e->more || st != OK) return st;
    x->kernel = to->extra;
    x->kernel_stream = e->stream;
    return OK;
}

static status add_details(emitter *x, uint32_t i, raw_slice *to, error *err) {
    ms *m = x->m;
    const ms_exec *e = exec_at(m, i);
    status st = OK;
    if (to->kind == KIND_OP) {
        const uint32_t owner = more_of(m, e)->owner;
        raw_op op = {.external = owner ? ARROW_OWNERS + owner : (int64_t)i + 1,
                     .sequence = ABSENT_I64,
                     .forward_thread = ABSENT_I64,
                     .shapes = facts_of(x, e)->shapes};
        st = part_op(m->part, &op, to);
    } else if (kind_is_device(to->kind)) {
        st = add_kernel(x, e, to);
    } else if (e->lane == LANE_CALL && more_of(m, e)->launch) {
        raw_call call = {.correlation = more_of(m, e)->launch, .external = ABSENT_I64};
        st = part_call(m->part, &call, to);
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

static inline bool same_row(const ms_exec *a, const ms_exec *b) {
    return a->lane == b->lane && a->stream == b->stream && a->more == b->more;
}

static status emit_one(emitter *x, uint32_t i, error *err) {
    ms *m = x->m;
    const ms_exec *e = exec_at(m, i);
    raw_slice to = {.start = sub_i64(e->start, m->offset_ns),
                    .dur = e->dur,
                    .name = e->name,
                    .kind = kind_of(e)};
    const uint32_t args = more_of(m, e)->args;
    if (args)
        to.args = part_args_raw(m->part, args);
    else if (e->lane == LANE_AICORE)
        to.args = facts_of(x, e)->args;
    if (!i || !same_row(e, &x->last)) TRY(row_of(x, e, &x->track, err));
    x->last = *e;
    to.track = x->track;
    TRY(add_details(x, i, &to, err));
    if (part_slice(m->part, &to) != OK) FAIL_MEMORY(err);
    return OK;
}

/* Work of the AI Core that differs from the one before in nothing but name and times. */
static inline bool is_like_last(const emitter *x, const ms_exec *e) {
    return e->lane == LANE_AICORE && !e->more && same_row(e, &x->last) && x->kernel &&
           x->kernel_stream == e->stream && x->facts[e->name].asked;
}

static inline status emit_like_last(emitter *x, const ms_exec *e, error *err) {
    const int64_t start = sub_i64(e->start, x->m->offset_ns);
    raw_slice *to = part_slice_room(x->m->part, x->track, start);
    if (!to) FAIL_MEMORY(err);
    *to = (raw_slice){.start = start,
                      .dur = e->dur,
                      .name = e->name,
                      .args = x->facts[e->name].args,
                      .track = x->track,
                      .extra = x->kernel,
                      .kind = KIND_KERNEL};
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
    for (size_t i = 0; i < m->memory.rows.n && !ascend; i++)
        ascend = VEC(&m->memory.rows, raw_memory)[i].device_type == DEVICE_ASCEND;
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
                    .memory = m->memory.capacity,
                    .compute_major = ABSENT_I32,
                    .compute_minor = ABSENT_I32,
                    .sm_count = ABSENT_I32,
                    .threads_per_sm = ABSENT_I32,
                    .warp_size = ABSENT_I32};
    return builder_add_device(m->b, &d, err);
}

/* Unix nanoseconds are distinguished from counters and monotonic clocks by their size. */
static bool is_unix_ns(int64_t time) {
    return time >= (int64_t)100000000000000000;
}

/* Files of one folder may have different clocks: the host's own events, memory, and the
 * rest. */
enum { CLOCK_OTHER, CLOCK_HOST, CLOCK_MEMORY, N_CLOCKS };

static int clock_of(const ms_exec *e) {
    return e->lane == LANE_HOST ? CLOCK_HOST : CLOCK_OTHER;
}

/* When a folder has both times of day and counters, the times of day become counters, and both
 * begin together: no file says how they are related. */
static status join_clocks(ms *m, const int64_t first[N_CLOCKS], int64_t shift, error *err) {
    for (uint32_t i = 0; i < m->exec.rows.n; i++) {
        ms_exec *e = &VEC(&m->exec.rows, ms_exec)[i];
        if (is_unix_ns(first[clock_of(e)])) e->start = sub_i64(e->start, shift);
    }
    for (size_t i = 0; i < m->memory.rows.n && is_unix_ns(first[CLOCK_MEMORY]); i++) {
        raw_memory *row = &VEC(&m->memory.rows, raw_memory)[i];
        row->time = sub_i64(row->time, shift);
    }
    return ms_meta(m, "clocks", STR("\"times of day and counters, set to begin together\""),
                   err);
}

static void find_first(const ms *m, int64_t first[N_CLOCKS]) {
    int64_t low = INT64_MAX;
    for (uint32_t i = 0; i < m->exec.rows.n && !m->n_lane[LANE_HOST]; i++)
        low = min_i64(low, exec_at(m, i)->start);
    if (low != INT64_MAX) first[CLOCK_OTHER] = low;
    for (uint32_t i = 0; i < m->exec.rows.n && m->n_lane[LANE_HOST]; i++) {
        int64_t *f = &first[clock_of(exec_at(m, i))], start = exec_at(m, i)->start;
        if (*f == ABSENT_I64 || start < *f) *f = start;
    }
}

static status find_base(ms *m, error *err) {
    int64_t first[N_CLOCKS] = {ABSENT_I64, ABSENT_I64, ABSENT_I64}, base = INT64_MAX,
            day = INT64_MAX;
    find_first(m, first);
    if (m->memory.rows.n) first[CLOCK_MEMORY] = VEC(&m->memory.rows, raw_memory)[0].time;
    for (int i = 0; i < N_CLOCKS; i++) {
        if (first[i] == ABSENT_I64) continue;
        if (i != CLOCK_MEMORY || base == INT64_MAX) base = min_i64(base, first[i]);
        if (is_unix_ns(first[i])) day = min_i64(day, first[i]);
    }
    if (base == INT64_MAX || day == INT64_MAX) return OK;
    if (!is_unix_ns(base)) return join_clocks(m, first, sub_i64(day, base), err);
    m->offset_ns = base;
    builder_set_base_unix_ns(m->b, base);
    return OK;
}

status ms_emit_memory(ms *m, error *err) {
    uint32_t track =
        m->memory.rows.n ? part_track(m->part, (ident){.v = 0}, (ident){.v = 0}) : 0;
    if (track == UINT32_MAX) FAIL_MEMORY(err);
    for (size_t i = 0; i < m->memory.rows.n; i++) {
        raw_memory row = VEC(&m->memory.rows, raw_memory)[i];
        row.time = sub_i64(row.time, m->offset_ns);
        row.track = track;
        if (part_memory(m->part, &row) != OK) FAIL_MEMORY(err);
    }
    return OK;
}

static status emit_execs(emitter *x, error *err) {
    ms *m = x->m;
    x->facts = ARENA_ARRAY(m->arena, name_facts, intern_count(builder_strings(m->b)));
    if (!x->facts) FAIL_MEMORY(err);
    TRY(list_owners(m, &x->owners, err));
    for (uint32_t i = 0; i < m->exec.rows.n; i++) {
        const ms_exec *e = exec_at(m, i);
        TRY(is_like_last(x, e) ? emit_like_last(x, e, err) : emit_one(x, i, err));
    }
    return OK;
}

/* An execution and the scopes that end with it, on the safe side. */
enum { SLICES_AN_EXEC = 3 };

status ms_emit(ms *m, error *err) {
    emitter x = {.m = m};
    ms_ops ops;
    TRY(ms_finish_hccl(m, err));
    TRY(ms_finish_details(m, err));
    TRY(ms_main_ops(m, &ops, err));
    if (!m->n_lane[LANE_STEP]) TRY(ms_find_steps(m, &ops, err));
    if (!m->seen[MS_AICORE_DETAIL] && !m->seen[MS_AICORE_TYPE]) TRY(ms_sum_tasks(m, err));
    ms_finish_costs(m);
    TRY(ms_put_facts(m, err));
    TRY(find_base(m, err));
    TRY(label_processes(&x, err));
    part_expect(m->part, m->exec.rows.n * SLICES_AN_EXEC, m->memory.rows.n);
    status st = ms_emit_memory(m, err);
    if (st == OK) st = emit_execs(&x, err);
    if (st == OK) st = ms_emit_scopes(m, &ops, x.words[LANE_SCOPE], err);
    map_fini(&x.named);
    return st;
}
