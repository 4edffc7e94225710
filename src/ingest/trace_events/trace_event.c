/* trace_event.c: the meaning of trace events.
 *
 * A category is looked up once and a name is looked at once; after that an event costs two
 * table reads to know its kind. Phases: X complete, B/E and b/e ranges, i/I/R/n instants, C
 * counters, M metadata, s/t/f arrows. Launch arrows are not kept: the correlation ids say the
 * same and say it for the arrows that were left out too. What one producer means in another way
 * is in the hooks of its dialect. */
#include "ingest/trace_events/trace_event.h"

#include "base/json.h"
#include "base/map.h"
#include "base/num.h"

uint8_t trace_event_field(str key) {
    enum { MOST_SPELLINGS = 3 };
    static const char *const spellings[FIELD_OWN][MOST_SPELLINGS] = {
#define ARG_ROW(name, ...) [FIELD_##name] = {__VA_ARGS__},
        TRACE_EVENT_ARGS(ARG_ROW)
#undef ARG_ROW
    };
    if (!key.n) return FIELD_NONE;
    for (uint8_t field = 1; field < FIELD_OWN; field++)
        for (size_t i = 0; i < MOST_SPELLINGS && spellings[field][i]; i++)
            if (spellings[field][i][0] == key.p[0] && str_eq(key, str_of(spellings[field][i])))
                return field;
    return FIELD_NONE;
}

uint8_t trace_event_class(const event_word *table, size_t n, str category) {
    for (size_t i = 0; i < n; i++)
        if (str_eq_nocase(category, table[i].word)) return table[i].value;
    return CLASS_UNKNOWN;
}

/* What a name says, whatever the category. */
enum {
    NAME_SEEN = 1,
    NAME_STEP = 2,
    NAME_DATA = 4,
    NAME_OPTIMIZER = 8,
    NAME_COLLECTIVE = 16,
    NAME_MEMORY = 32,
    NAME_OUT_OF_MEMORY = 64,
    NAME_FORWARD = 128,
};

/* The first word before the colon is a library of collectives. */
static bool is_collective_name(str name) {
    static const str fronts[] = {STR("nccl:"), STR("gloo:"),  STR("mpi:"),  STR("ucc:"),
                                 STR("xccl:"), STR("hccl:"),  STR("rccl:"), STR("mccl:"),
                                 STR("cncl:"), STR("oneccl:")};
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++)
        if (str_starts(name, fronts[i])) return true;
    return false;
}

static uint8_t look_at_name(event_sink *s, uint32_t id) {
    str name = intern_get(s->strings, id);
    uint8_t flags = NAME_SEEN;
    if (str_starts(name, STR("ProfilerStep#"))) flags |= NAME_STEP;
    if ((str_starts(name, STR("enumerate(DataLoader)#")) && str_ends(name, STR(".__next__"))) ||
        str_starts(name, STR("enumerate(DataPipe)#")) ||
        str_eq(name, STR("DataLoader.fetch")) || str_eq(name, STR("DataLoader.pin_memory")))
        flags |= NAME_DATA;
    if (str_starts(name, STR("Optimizer."))) flags |= NAME_OPTIMIZER;
    if (str_eq(name, STR("DataParallel.forward")) ||
        str_eq(name, STR("DistributedDataParallel.forward")))
        flags |= NAME_FORWARD;
    if (is_collective_name(name)) flags |= NAME_COLLECTIVE;
    if (str_eq(name, STR("[memory]"))) flags |= NAME_MEMORY;
    if (str_eq(name, STR("[OutOfMemory]"))) flags |= NAME_OUT_OF_MEMORY;
    uint8_t *slot = vec_at(&s->names, id);
    if (slot) *slot = flags;
    return flags;
}

static inline uint8_t name_flags(event_sink *s, uint32_t id) {
    uint8_t f = id < s->names.n ? VEC(&s->names, uint8_t)[id] : 0;
    return f ? f : look_at_name(s, id);
}

static slice_kind host_kind(uint8_t class, uint8_t name) {
    if (name & NAME_STEP) return KIND_STEP;
    if (name & NAME_DATA) return KIND_DATA;
    if (name & NAME_OPTIMIZER) return KIND_OPTIMIZER;
    if (name & NAME_FORWARD) return KIND_FORWARD;
    if (class == CLASS_OP) return KIND_OP;
    if (name & NAME_COLLECTIVE) return KIND_COLLECTIVE;
    return KIND_ANNOTATION;
}

/* What a device does, by the name its queue gives it. */
static slice_kind queue_kind(str name) {
    static const str waits[] = {STR("event_wait"), STR("event_record"), STR("barrier-cores"),
                                STR("dependency-wait"), STR("synchronize")};
    static const str copies[] = {STR("dma_request"), STR("dma_"), STR("memcpy"), STR("Memcpy")};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (str_starts(name, waits[i])) return KIND_SYNC;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        if (str_starts(name, copies[i])) return KIND_MEMCPY;
    if (str_starts(name, STR("memset")) || str_starts(name, STR("Memset"))) return KIND_MEMSET;
    return KIND_KERNEL;
}

/* What the producer added up itself: shown, counted nowhere. */
static bool is_derived(str name) {
    static const str names[] = {STR("Computing"), STR("Free"), STR("Communication"),
                                STR("Communication(Not Overlapped)")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(name, names[i])) return true;
    return false;
}

/* A step may have any name; its argument tells it (StepTraceAnnotation). */
static bool is_numbered_step(const event *e, uint8_t class) {
    return event_has(e, FIELD_STEP_NUM) &&
           (class == CLASS_UNKNOWN || class == CLASS_ANNOTATION);
}

/* Nothing is known of the category, or there is none. */
static slice_kind bare_kind(event_sink *s, const event *e) {
    const event_hooks *h = &s->dialect->hooks;
    return h->bare_kind ? h->bare_kind(s, e) : KIND_OTHER;
}

static slice_kind kind_of(event_sink *s, const event *e, uint8_t class, uint8_t name) {
    if (__builtin_expect(is_numbered_step(e, class), 0)) return KIND_STEP;
    switch (class) {
    case CLASS_DEVICE_QUEUE: return queue_kind(intern_get(s->strings, e->name));
    case CLASS_OP:
    case CLASS_ANNOTATION:
    case CLASS_PYTHON: return host_kind(class, name);
    case CLASS_DEVICE_ANNOTATION: return KIND_DEVICE_ANNOTATION;
    case CLASS_KERNEL: return KIND_KERNEL;
    case CLASS_MEMCPY: return KIND_MEMCPY;
    case CLASS_MEMSET: return KIND_MEMSET;
    case CLASS_RUNTIME: return KIND_RUNTIME;
    case CLASS_DRIVER: return KIND_DRIVER;
    case CLASS_PYTHON_FUNCTION:
        return event_has(e, FIELD_MODULE_ID) ? KIND_MODULE : KIND_PYTHON;
    case CLASS_OVERHEAD: return KIND_OVERHEAD;
    case CLASS_SYNC: return KIND_SYNC;
    case CLASS_SPAN: return KIND_SPAN;
    case CLASS_STEP: return KIND_STEP;
    case CLASS_DATA: return KIND_DATA;
    case CLASS_FORWARD: return KIND_FORWARD;
    case CLASS_BACKWARD: return KIND_BACKWARD;
    case CLASS_OPTIMIZER: return KIND_OPTIMIZER;
    case CLASS_COLLECTIVE: return KIND_COLLECTIVE;
    case CLASS_OP_PHASE: return KIND_OP_PHASE;
    case CLASS_FRAMEWORK: return KIND_FRAMEWORK;
    case CLASS_PYTHON_OP: return KIND_PYTHON;
    default: return bare_kind(s, e);
    }
}

/* [x, y, z] of a grid or block text, parsed once for each distinct text. */
static status dims_of(event_sink *s, const event *e, unsigned field, uint32_t out[3]) {
    uint32_t id = event_text(e, field);
    out[0] = out[1] = out[2] = 0;
    if (!id) return OK;
    uint32_t *at = map_at(&s->dims, id);
    if (!at) return ERR_MEMORY;
    if (*at == MAP_NONE) {
        event_dims row = {{0, 0, 0}};
        json_iter it = json_open(intern_get(s->strings, id));
        str key, value;
        int64_t v;
        for (int i = 0; i < 3 && json_next(&it, &key, &value); i++)
            row.d[i] = json_i64(value, &v) && v > 0 ? sat_u32((uint64_t)v) : 0;
        *at = 0;
        event_dims *slot = vec_push(&s->dim_rows);
        if (!slot) return ERR_MEMORY;
        *slot = row;
        *at = (uint32_t)(s->dim_rows.n - 1);
    }
    memcpy(out, VEC(&s->dim_rows, event_dims)[*at].d, sizeof(uint32_t) * 3);
    return OK;
}

/* ---- rows ---- */

static bool says_something(const raw_op *op) {
    return op->external != ABSENT_I64 || op->sequence != ABSENT_I64 ||
           op->forward_thread != ABSENT_I64 || op->shapes || op->types || op->inputs ||
           op->call_stack;
}

static status add_op(event_sink *s, const event *e, raw_slice *row) {
    raw_op op = {
        .external = event_int(s, e, FIELD_EXTERNAL, ABSENT_I64),
        .sequence = event_int(s, e, FIELD_SEQUENCE, ABSENT_I64),
        .forward_thread = event_int(s, e, FIELD_FORWARD_THREAD, ABSENT_I64),
        .shapes = event_text(e, FIELD_DIMS),
        .types = event_text(e, FIELD_TYPES),
        .inputs = event_text(e, FIELD_INPUTS),
        .call_stack = event_text(e, FIELD_CALL_STACK),
    };
    if (s->dialect->hooks.fill_op) TRY(s->dialect->hooks.fill_op(s, &op));
    if (event_has(e, FIELD_STEP_NUM)) op.sequence = event_int(s, e, FIELD_STEP_NUM, ABSENT_I64);
    bool has_flops = event_has(e, FIELD_FLOPS);
    if (!has_flops && !says_something(&op)) return OK;
    TRY(part_op(s->part, &op, row));
    if (!has_flops) return OK;
    return part_op_cost(s->part, &(raw_op_cost){.op = row->extra,
                                                .flops = event_real(s, e, FIELD_FLOPS),
                                                .bytes = ABSENT_I64});
}

static status add_kernel(event_sink *s, const event *e, raw_slice *row) {
    raw_kernel k = {
        .correlation = event_int(s, e, FIELD_CORRELATION, ABSENT_I64),
        .external = event_int(s, e, FIELD_EXTERNAL, ABSENT_I64),
        .stream = event_int(s, e, FIELD_STREAM, e->tid.text ? ABSENT_I64 : e->tid.v),
        .context = event_int(s, e, FIELD_CONTEXT, ABSENT_I64),
        .bytes = event_int(s, e, FIELD_BYTES, ABSENT_I64),
        .graph_node = event_int(s, e, FIELD_GRAPH_NODE, ABSENT_I64),
        .shared_memory = event_int(s, e, FIELD_SHARED_MEMORY, ABSENT_I64),
        .occupancy = event_real(s, e, FIELD_OCCUPANCY) / 100,
        .blocks_per_sm = event_real(s, e, FIELD_BLOCKS_PER_SM),
        .registers = sat_i32(event_int(s, e, FIELD_REGISTERS, ABSENT_I32)),
        .device = sat_i32(event_int(s, e, FIELD_DEVICE, e->pid.text ? ABSENT_I32 : e->pid.v)),
    };
    TRY(dims_of(s, e, FIELD_GRID, k.grid));
    TRY(dims_of(s, e, FIELD_BLOCK, k.block));
    if (s->dialect->hooks.fill_kernel) s->dialect->hooks.fill_kernel(s, e, &k);
    return part_kernel(s->part, &k, row);
}

static status add_call(event_sink *s, const event *e, raw_slice *row) {
    raw_call c = {.correlation = event_int(s, e, FIELD_CORRELATION, ABSENT_I64),
                  .external = event_int(s, e, FIELD_EXTERNAL, ABSENT_I64)};
    return part_call(s->part, &c, row);
}

static status add_comm(event_sink *s, const event *e) {
    raw_comm c = {
        .slice = part_next_slice(s->part),
        .name = event_text(e, FIELD_COLLECTIVE),
        .group_name = event_text(e, FIELD_GROUP_NAME),
        .group_description = event_text(e, FIELD_GROUP_DESCRIPTION),
        .group_ranks = event_text(e, FIELD_GROUP_RANKS),
        .group_size = event_int(s, e, FIELD_GROUP_SIZE, ABSENT_I64),
        .dtype = event_text(e, FIELD_DTYPE),
        .src = sat_i32(event_int(s, e, FIELD_SRC_RANK, ABSENT_I32)),
        .dst = sat_i32(event_int(s, e, FIELD_DST_RANK, ABSENT_I32)),
        .sequence = event_int(s, e, FIELD_SEQ, ABSENT_I64),
        .comms_id = event_int(s, e, FIELD_COMMS_ID, ABSENT_I64),
        .in_elements = event_int(s, e, FIELD_IN_ELEMENTS, ABSENT_I64),
        .out_elements = event_int(s, e, FIELD_OUT_ELEMENTS, ABSENT_I64),
    };
    return part_comm(s->part, &c);
}

/* The tables that go with a slice of this kind. */
static status add_details(event_sink *s, const event *e, raw_slice *row) {
    switch (row->kind) {
    case KIND_KERNEL:
    case KIND_MEMCPY:
    case KIND_MEMSET: TRY(add_kernel(s, e, row)); break;
    case KIND_RUNTIME:
    case KIND_DRIVER: TRY(add_call(s, e, row)); break;
    case KIND_MODULE:
        TRY(part_module(s->part, &(raw_module){event_int(s, e, FIELD_MODULE_ID, ABSENT_I64)},
                        row));
        break;
    case KIND_OP:
    case KIND_ANNOTATION:
    case KIND_DATA:
    case KIND_FORWARD:
    case KIND_OPTIMIZER:
    case KIND_COLLECTIVE:
    case KIND_STEP: TRY(add_op(s, e, row)); break;
    default: break;
    }
    return event_has(e, FIELD_COLLECTIVE) ? add_comm(s, e) : OK;
}

static bool says_unfinished(const event_sink *s, const event *e) {
    if (!event_has(e, FIELD_FINISHED)) return false;
    const raw_value *v = &e->values[e->at[FIELD_FINISHED]];
    return v->tag != VALUE_INT && v->tag != VALUE_DECIMAL &&
           str_eq(intern_get(s->strings, (uint32_t)v->v), STR("false"));
}

/* The producer's own index of an event: among equal ranges the smaller is the outer one. */
static inline uint32_t tie_of(const event_sink *s, const event *e) {
    static const uint8_t fields[] = {FIELD_EXTERNAL, FIELD_INDEX, FIELD_PYTHON_ID,
                                     FIELD_CORRELATION};
    for (size_t i = 0; i < sizeof fields; i++)
        if (event_has(e, fields[i])) return (uint32_t)event_int(s, e, fields[i], 0);
    return 0;
}

static status take_complete(event_sink *s, event *e) {
    category_info c = event_category(s, e);
    const event_hooks *h = &s->dialect->hooks;
    raw_slice row = {
        .start = e->ts_ns,
        .dur = e->has & EVENT_DUR ? e->dur_ns : 0,
        .name = e->name,
        .track = event_track(s, e),
        .category = c.row,
        .kind = (uint8_t)kind_of(s, e, c.class, name_flags(s, e->name)),
        .args = part_args(s->part, e->values, e->n_values),
    };
    if (row.track == UINT32_MAX) return ERR_MEMORY;
    row.tie = tie_of(s, e);
    if (says_unfinished(s, e)) row.flags |= SLICE_UNFINISHED;
    if (h->fill_slice) TRY(h->fill_slice(s, e, &row));
    bool bare = !e->category && !row.category && row.kind == KIND_OTHER &&
                !is_derived(intern_get(s->strings, e->name));
    if (bare) part_lost(s->part, CAUSE_MISSING_CATEGORY, e->offset, e->name);
    TRY(add_details(s, e, &row));
    return part_slice(s->part, &row);
}

static status take_memory(event_sink *s, event *e, bool out_of_memory) {
    raw_memory m = {
        .time = e->ts_ns,
        .address = (uint64_t)event_int(s, e, FIELD_ADDRESS, 0),
        .bytes = event_int(s, e, FIELD_SIGNED_BYTES, 0),
        .allocated = event_int(s, e, FIELD_ALLOCATED, ABSENT_I64),
        .reserved = event_int(s, e, FIELD_RESERVED, ABSENT_I64),
        .track = event_track(s, e),
        .args = part_args(s->part, e->values, e->n_values),
        .tie = tie_of(s, e),
        .device = sat_i32(event_int(s, e, FIELD_DEVICE_ID, ABSENT_I32)),
        .device_type = (uint8_t)event_int(s, e, FIELD_DEVICE_TYPE, DEVICE_UNKNOWN),
    };
    if (m.track == UINT32_MAX) return ERR_MEMORY;
    m.kind = out_of_memory ? MEMORY_OOM : m.bytes > 0 ? MEMORY_ALLOC : MEMORY_FREE;
    if (s->dialect->hooks.fill_memory) TRY(s->dialect->hooks.fill_memory(s, e, &m));
    return part_memory(s->part, &m);
}

static status take_instant(event_sink *s, event *e) {
    uint8_t name = name_flags(s, e->name);
    event_category(s,
                   e); /* tells the dialect who writes, in files of nothing but memory events */
    if (name & (NAME_MEMORY | NAME_OUT_OF_MEMORY))
        return take_memory(s, e, name & NAME_OUT_OF_MEMORY);
    return event_take_instant(s, e);
}

/* String id of an id: numbers become their text, so that 7 and "7" are the same arrow. */
static uint32_t id_string(event_sink *s, const event *e) {
    if (!(e->has & EVENT_ID)) return 0;
    if (e->id.text) return (uint32_t)e->id.v;
    buf b = {0};
    buf_add_i64(&b, e->id.v);
    uint32_t id = buf_ok(&b) ? intern_add(s->strings, buf_str(&b)) : UINT32_MAX;
    buf_fini(&b);
    return id;
}

static status take_mark(event_sink *s, event *e) {
    category_info c = event_category(s, e);
    bool async = e->ph == 'b' || e->ph == 'e';
    raw_mark m = {
        .time = e->ts_ns,
        .offset = e->offset,
        .name = e->has & EVENT_NAME ? e->name : 0,
        .track = event_track(s, e),
        .args = part_args(s->part, e->values, e->n_values),
        .id = async ? id_string(s, e) : 0,
        .category = c.row,
        .kind = (uint8_t)(async ? KIND_ASYNC : kind_of(s, e, c.class, name_flags(s, e->name))),
        .end = e->ph == 'E' || e->ph == 'e',
    };
    if (m.track == UINT32_MAX || m.id == UINT32_MAX) return ERR_MEMORY;
    return part_mark(s->part, &m);
}

static uint8_t arrow_kind(uint8_t class) {
    switch (class) {
    case CLASS_FORWARD_BACKWARD: return FLOW_FORWARD_BACKWARD;
    case CLASS_TASK_LAUNCH: return FLOW_LAUNCH;
    case CLASS_TASK_OWNER: return FLOW_OWNER;
    default: return FLOW_OTHER;
    }
}

static status take_arrow(event_sink *s, event *e) {
    category_info c = event_category(s, e);
    if (c.class == CLASS_LAUNCH_ARROW) return OK;
    raw_arrow a = {
        .time = e->ts_ns,
        .offset = e->offset,
        .id = event_arrow_id(s, e),
        .name = e->name,
        .track = event_track(s, e),
        .category = c.row,
        .kind = arrow_kind(c.class),
        .phase = e->ph,
    };
    return a.track == UINT32_MAX ? ERR_MEMORY : part_arrow(s->part, &a);
}

static status take_label(event_sink *s, event *e) {
    static const struct {
        str name;
        label_kind kind;
        uint8_t arg;
    } table[] = {
        {STR("process_name"), LABEL_PROCESS_NAME, FIELD_NAME},
        {STR("process_labels"), LABEL_PROCESS_LABELS, FIELD_LABELS},
        {STR("process_sort_index"), LABEL_PROCESS_SORT, FIELD_SORT_INDEX},
        {STR("thread_name"), LABEL_THREAD_NAME, FIELD_NAME},
        {STR("thread_sort_index"), LABEL_THREAD_SORT, FIELD_SORT_INDEX},
    };
    str name = intern_get(s->strings, e->name);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!str_eq(name, table[i].name)) continue;
        bool sort = table[i].arg == FIELD_SORT_INDEX;
        raw_label l = {.pid = event_pid(e),
                       .tid = event_tid(e),
                       .value = sort ? event_int(s, e, FIELD_SORT_INDEX, 0)
                                     : event_text(e, table[i].arg),
                       .offset = e->offset,
                       .kind = (uint8_t)table[i].kind};
        if (s->dialect->hooks.fill_label) TRY(s->dialect->hooks.fill_label(s, e, &l));
        return part_label(s->part, &l);
    }
    return OK; /* other metadata (trace_config, …) says nothing about the tracks */
}

static bool is_empty(const event *e) {
    return e->ph == 0 && !e->has && !e->n_values;
}

status trace_event_take(void *sink, event *e) {
    event_sink *s = sink;
    if (s->dialect->hooks.ends_with_empty && is_empty(e)) return OK;
    part_count(s->part, 1, 0);
    cause why = event_fault(e, false);
    if (__builtin_expect(why != CAUSE_NONE, 0)) return event_drop(s, e, why);
    TRY(event_drop_duplicates(s, e));
    switch (e->ph) {
    case 'X': return take_complete(s, e);
    case 'i':
    case 'I':
    case 'R':
    case 'n': return take_instant(s, e);
    case 's':
    case 't':
    case 'f': return take_arrow(s, e);
    case 'C': return event_take_counter(s, e);
    case 'M': return take_label(s, e);
    case 'B':
    case 'E':
    case 'b':
    case 'e': return take_mark(s, e);
    default: return event_drop(s, e, CAUSE_UNKNOWN_PHASE);
    }
}
