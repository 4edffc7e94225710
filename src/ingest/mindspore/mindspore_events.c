/* mindspore_events.c: timelines that are trace events already: *_timeline_display, trace_view,
 * msprof.
 *
 * The layer of an event is known by the name of its process (numbers changed and collide
 * between versions) or, in the display files of 1.x and 2.0, by its process and thread numbers:
 *
 *   Ascend Hardware   tasks by stream: AI Core and AI CPU are kernels, copies are copies, the
 *                     rest waits
 *   HCCL              the lane Communication Kernel holds the collectives, the planes their
 *                     pieces
 *   CPU OP, MindSpore, CANN, Scope Layer    host operators, framework and steps, runtime,
 *                                           scopes
 *   Overlap Analysis  the producer's own arithmetic: not read, it follows from the others
 *
 * Times may be numbers or texts with nineteen digits; both become exact nanoseconds. A display
 * file is a copy of the lists of executions, cut at a size limit: it is read only where those
 * lists are not. */
#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

typedef struct {
    str ph, name, pid, tid, ts, dur, args, cat, id;
} event;

typedef enum {
    LAYER_DISPLAY, /* by numbers */
    LAYER_HARDWARE,
    LAYER_HCCL,
    LAYER_CPU_OP,
    LAYER_MINDSPORE,
    LAYER_CANN,
    LAYER_SCOPE,
    LAYER_OVERLAP,
    LAYER_STEPS,
    LAYER_OTHER,
} layer;

typedef struct {
    ms *m;
    map layers; /* pid -> layer */
    map rows;   /* hash of (pid, tid) -> string id of its name */
    ms_arrows arrows;
    bool named; /* processes have names: not a display file */
    bool has_host_ops, has_scopes;
} events;

static bool parse_event(str text, event *e) {
    json_iter it = json_open(text);
    str key, value;
    *e = (event){0};
    if (!text.n || *text.p != '{') return false;
    while (json_next(&it, &key, &value)) {
        if (str_eq(key, STR("ph"))) e->ph = json_text(value);
        if (str_eq(key, STR("name"))) e->name = json_text(value);
        if (str_eq(key, STR("pid"))) e->pid = json_text(value);
        if (str_eq(key, STR("tid"))) e->tid = json_text(value);
        if (str_eq(key, STR("ts"))) e->ts = json_text(value);
        if (str_eq(key, STR("dur"))) e->dur = json_text(value);
        if (str_eq(key, STR("args"))) e->args = value;
        if (str_eq(key, STR("cat"))) e->cat = json_text(value);
        if (str_eq(key, STR("id"))) e->id = json_text(value);
    }
    return true;
}

static layer layer_named(str name) {
    static const struct {
        const char *name;
        layer layer;
    } names[] = {{"Ascend Hardware", LAYER_HARDWARE},
                 {"HCCL", LAYER_HCCL},
                 {"CPU OP", LAYER_CPU_OP},
                 {"MindSpore", LAYER_MINDSPORE},
                 {"CANN", LAYER_CANN},
                 {"Scope Layer", LAYER_SCOPE},
                 {"Overlap Analysis", LAYER_OVERLAP},
                 {"Step Trace", LAYER_STEPS}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_starts(name, str_of(names[i].name))) return names[i].layer;
    return LAYER_OTHER;
}

/* A number for a process or thread, whatever it was written as. */
static uint64_t key_of(str id) {
    int64_t v;
    return str_to_i64(id, &v) ? (uint64_t)v : intern_hash(id);
}

static uint64_t row_key(const event *e) {
    return hash_u64(key_of(e->pid)) ^ key_of(e->tid);
}

static status read_arrow(events *x, const event *e, error *err) {
    ms_arrow a = {.id = e->id, .row = row_key(e), .begins = str_eq(e->ph, STR("s"))};
    if (!ms_arrow_kind_of(e->cat, e->name, &a.kind) || !scaled_i64(e->ts, 3, &a.time))
        return OK;
    return ms_arrow_add(&x->arrows, &a, err);
}

/* First pass: names of processes and threads, arrows. */
static status read_names(events *x, str list, error *err) {
    json_iter it = json_open(list);
    str key, value;
    event e;
    while (json_next(&it, &key, &value)) {
        if (!parse_event(value, &e)) continue;
        if (str_eq(e.ph, STR("s")) || str_eq(e.ph, STR("f"))) TRY(read_arrow(x, &e, err));
        if (!str_eq(e.ph, STR("M"))) continue;
        bool process = str_eq(e.name, STR("process_name"));
        if (!process && !str_eq(e.name, STR("thread_name"))) continue;
        str name = json_text(json_member(e.args, STR("name")));
        uint32_t *at =
            map_at(process ? &x->layers : &x->rows, process ? key_of(e.pid) : row_key(&e));
        if (!at) FAIL_MEMORY(err);
        x->named |= process;
        *at = process ? (uint32_t)layer_named(name) : ms_string(x->m, name);
        if (*at == MAP_NONE) FAIL_MEMORY(err);
    }
    return OK;
}

static uint32_t row_name(const events *x, const event *e) {
    uint32_t id = map_get(&x->rows, row_key(e));
    return id == MAP_NONE ? 0 : id;
}

static bool tid_is(const event *e, const char *text) {
    return str_eq(e->tid, str_of(text));
}

/* pid and tid of the display files. False: not an execution. */
static bool place_display(events *x, const event *e, ms_exec *to) {
    int64_t pid = 0, tid;
    bool number = str_to_i64(e->tid, &tid);
    (void)!str_to_i64(e->pid, &pid);
    to->stream = number ? tid : 0;
    if (pid == 12000 || (number && tid >= 7997 && tid <= 8002)) return false;
    if (tid_is(e, "100001")) {
        if (!json_i64(json_member(e->args, STR("scope_level")), &to->stream)) to->stream = 0;
        to->lane = LANE_SCOPE;
        return !x->has_host_ops; /* found again from the operators */
    }
    if (tid_is(e, "100000") || tid_is(e, "Steps"))
        to->lane = LANE_STEP;
    else if (pid == 9000)
        to->lane = LANE_AICPU;
    else if (pid == 10000)
        to->lane = LANE_COMM;
    else if (pid == 11000 || tid_is(e, "100003") || str_starts(e->tid, STR("HostCpuOps")))
        to->lane = LANE_HOST_OP;
    else if (tid_is(e, "100002") || tid_is(e, "Ops") || tid_is(e, "GpuOps"))
        to->lane = LANE_GPU_OP;
    else if (x->m->ascend)
        to->lane = LANE_AICORE;
    else
        to->lane = number ? LANE_KERNEL : LANE_GPU_OP;
    if (to->lane == LANE_HOST_OP) to->stream = 0;
    return !(to->lane == LANE_HOST_OP && x->has_host_ops);
}

static void place_hardware(const event *e, ms_exec *to) {
    str type = json_text(json_member(e->args, STR("Task Type")));
    to->lane = LANE_HOST;
    to->kind = KIND_SYNC;
    if (str_eq(type, STR("AI_CORE")) || str_eq(type, STR("AI_CPU")) ||
        str_starts(type, STR("AI_VECTOR")) || str_starts(type, STR("MIX_")))
        to->lane = LANE_AICORE;
    else if (str_starts(type, STR("MEMCPY")))
        to->lane = LANE_MEMCPY;
    else
        to->lane = LANE_WAIT;
}

/* A layer found by its name. False: not to be shown. */
static bool place_named(events *x, const event *e, layer l, ms_exec *to, ms_more *more) {
    if (!str_to_i64(e->tid, &to->stream)) to->stream = 0;
    more->row_name = row_name(x, e);
    str row = ms_text(x->m, more->row_name);
    switch (l) {
    case LAYER_OVERLAP: return false;
    case LAYER_SCOPE: to->lane = LANE_SCOPE; return !x->has_host_ops;
    case LAYER_CPU_OP: to->lane = LANE_HOST_OP; return !x->has_host_ops;
    case LAYER_CANN: to->lane = LANE_CALL; return true;
    case LAYER_STEPS: return false; /* the same as in the hardware layer */
    case LAYER_HCCL:
        to->lane = str_starts(row, STR("Communication")) ? LANE_COMM : LANE_HOST;
        to->kind = KIND_OTHER;
        more->process = ms_string(x->m, STR("HCCL"));
        return true;
    case LAYER_HARDWARE:
        if (str_starts(row, STR("Step Trace"))) {
            to->lane = str_starts(e->name, STR("Iteration ")) &&
                               !str_starts(e->name, STR("Iteration Refresh"))
                           ? LANE_STEP
                           : LANE_STAGE;
            to->kind = KIND_ANNOTATION;
            return true;
        }
        place_hardware(e, to);
        return true;
    case LAYER_MINDSPORE:
        to->lane = str_starts(e->name, STR("ProfilerStep#")) ? LANE_STEP : LANE_HOST;
        to->kind = KIND_OTHER;
        return true;
    default:
        to->lane = LANE_HOST;
        to->kind = KIND_OTHER;
        return true;
    }
}

/* What arrows say of an execution: what it launched, what launched it, whose it is. */
static status join_arrows(events *x, const event *e, ms_exec *to, ms_more *more, error *err) {
    ms_arrows *a = &x->arrows;
    uint64_t row = row_key(e);
    if (to->lane == LANE_AICORE || to->lane == LANE_MEMCPY || to->lane == LANE_COMM) {
        more->launch = ms_arrow_to(a, MS_ARROW_LAUNCH, row, to->start);
        more->owner = ms_arrow_to(a, MS_ARROW_OWNER, row, to->start);
    }
    if (to->lane == LANE_CALL) more->launch = ms_arrow_from(a, MS_ARROW_LAUNCH, row, to->start);
    if (to->lane == LANE_HOST) more->owner = ms_arrow_from(a, MS_ARROW_OWNER, row, to->start);
    if (to->lane == LANE_HOST && more->owner) to->kind = KIND_OP;
    uint32_t *at = to->lane == LANE_CALL && more->launch
                       ? map_at(&x->m->exec.launches, more->launch)
                       : NULL;
    if (to->lane == LANE_CALL && more->launch && !at) FAIL_MEMORY(err);
    if (at) *at = 0;
    return OK;
}

static status add_event(events *x, const event *e, error *err) {
    ms *m = x->m;
    ms_exec to = {.lane = LANE_HOST};
    ms_more more = {0};
    if (!e->name.n || !scaled_i64(e->ts, 3, &to.start) ||
        (e->dur.n && !scaled_i64(e->dur, 3, &to.dur)) || to.dur < 0 ||
        to.dur >= (int64_t)1 << 61 || to.start >= (int64_t)1 << 61 ||
        to.start <= -((int64_t)1 << 61)) {
        ms_lost(m, e->name.n ? CAUSE_MISSING_TIME : CAUSE_MISSING_NAME, NOPOS, e->name);
        return OK;
    }
    uint32_t l = map_get(&x->layers, key_of(e->pid));
    bool shown = x->named
                     ? place_named(x, e, l == MAP_NONE ? LAYER_OTHER : (layer)l, &to, &more)
                     : place_display(x, e, &to);
    if (!shown) return OK;
    TRY(join_arrows(x, e, &to, &more, err));
    str full = json_text(json_member(e->args, STR("fullname")));
    buf text = {0};
    (void)json_decode(full.n ? full : e->name, &text);
    to.name = buf_ok(&text) ? ms_string(m, buf_str(&text)) : MS_NO_STRING;
    buf_clear(&text);
    if (e->args.n > 2 && *e->args.p == '{') {
        (void)json_normal(e->args, &text);
        str op = json_text(json_member(e->args, STR("op_full_name")));
        if (op.n) more.op = ms_string(m, op);
        ms_dims(json_text(json_member(e->args, STR("block_dim"))), more.block);
        ms_dims(json_text(json_member(e->args, STR("grid_dim"))), more.grid);
    }
    if (m->exec.details.n && to.lane == LANE_AICORE) ms_join_detail(m, &to, &text, &more);
    more.args = buf_ok(&text) ? ms_string(m, buf_str(&text)) : MS_NO_STRING;
    buf_fini(&text);
    if (to.lane == LANE_COMM || to.lane == LANE_STEP) more.row_name = 0;
    if (to.lane == LANE_STEP) to.stream = 0;
    m->host_events |= to.lane == LANE_HOST && l == LAYER_MINDSPORE;
    to.more = ms_add_more(m, &more);
    if (to.more == MS_NO_STRING || more.args == MS_NO_STRING || more.op == MS_NO_STRING ||
        more.process == MS_NO_STRING)
        FAIL_MEMORY(err);
    return ms_add_exec(m, &to, err);
}

static status read_events(ms *m, str text, error *err) {
    text = str_trim(text);
    if (text.n && *text.p == '{') text = json_member(text, STR("traceEvents"));
    events x = {.m = m,
                .arrows = ms_arrows_begin(),
                .has_host_ops = m->n_lane[LANE_HOST_OP] > 0,
                .has_scopes = m->n_lane[LANE_SCOPE] > 0};
    status st = read_names(&x, text, err);
    json_iter it = json_open(text);
    str key, value;
    event e;
    bool any = false;
    while (st == OK && json_next(&it, &key, &value)) {
        any = true;
        if (!parse_event(value, &e) || !str_eq(e.ph, STR("X"))) continue;
        part_count(m->part, 1, 0);
        st = add_event(&x, &e, err);
    }
    if (!any)
        ms_lost(m, CAUSE_BAD_SYNTAX, 0, str_of(m->file));
    else if (it.p < it.end && *it.p != ']')
        ms_lost(m, CAUSE_TRUNCATED, NOPOS, str_of(m->file));
    map_fini(&x.layers);
    map_fini(&x.rows);
    ms_arrows_end(&x.arrows);
    return st;
}

status read_display(ms *m, str text, error *err) {
    uint64_t n = 0;
    for (int lane = 0; lane < N_LANES; lane++)
        if (lane != LANE_STEP && lane != LANE_STAGE) n += m->n_lane[lane];
    /* The lists it was made of were there, and it may be cut: they say more. */
    return n > m->n_lane[LANE_AICPU] + m->n_lane[LANE_COMM] ? OK : read_events(m, text, err);
}

status read_trace_view(ms *m, str text, error *err) {
    return read_events(m, text, err);
}
