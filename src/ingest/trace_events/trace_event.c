/* trace_event.c: the meaning of trace events.
 *
 * A category is looked up once and a name is looked at once; after that an event costs two table
 * reads to know its kind. Phases: X complete, B/E and b/e ranges, i/I/R/n instants, C counters,
 * M metadata, s/t/f arrows. Launch arrows (ac2g and its older names) are not kept: the correlation
 * ids say the same and say it for the arrows that were left out too.
 * An event is dropped, and counted, only when it has no name, no usable time, a negative duration
 * or an unknown phase. */
#include "ingest/trace_events/trace_event_int.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "ingest/megengine/megengine.h"
#include "ingest/paddle/paddle_facts.h"
#include "ingest/paddle/paddle_text.h"

/* Arguments that have a column, under every spelling met. */
#define ARG_TABLE(X)                                  \
    X(EXTERNAL, "External id")                        \
    X(EXTERNAL, "external id")                        \
    X(CORRELATION, "correlation")                     \
    X(INDEX, "Ev Idx")                                \
    X(INDEX, "Profiler Event Index")                  \
    X(SEQUENCE, "Sequence number")                    \
    X(FORWARD_THREAD, "Fwd thread id")                \
    X(DIMS, "Input Dims")                             \
    X(DIMS, "Input dims")                             \
    X(TYPES, "Input type")                            \
    X(INPUTS, "Concrete Inputs")                      \
    X(CALL_STACK, "Call stack")                       \
    X(FINISHED, "finished")                           \
    X(MODULE_ID, "Python module id")                  \
    X(PYTHON_ID, "Python id")                         \
    X(FLOPS, "flops")                                 \
    X(FLOPS, "Flops")                                 \
    X(DEVICE, "device")                               \
    X(CONTEXT, "context")                             \
    X(STREAM, "stream")                               \
    X(REGISTERS, "registers per thread")              \
    X(SHARED_MEMORY, "shared memory")                 \
    X(BLOCKS_PER_SM, "blocks per SM")                 \
    X(OCCUPANCY, "est. achieved occupancy %")         \
    X(GRID, "grid")                                   \
    X(BLOCK, "block")                                 \
    X(BYTES, "bytes")                                 \
    X(GRAPH_NODE, "graph node id")                    \
    X(DEVICE_TYPE, "Device Type")                     \
    X(DEVICE_ID, "Device Id")                         \
    X(ADDRESS, "Addr")                                \
    X(SIGNED_BYTES, "Bytes")                          \
    X(ALLOCATED, "Total Allocated")                   \
    X(RESERVED, "Total Reserved")                     \
    X(COLLECTIVE, "Collective name")                  \
    X(DTYPE, "dtype")                                 \
    X(IN_ELEMENTS, "In msg nelems")                   \
    X(OUT_ELEMENTS, "Out msg nelems")                 \
    X(GROUP_NAME, "Process Group Name")               \
    X(GROUP_DESCRIPTION, "Process Group Description") \
    X(GROUP_RANKS, "Process Group Ranks")             \
    X(GROUP_SIZE, "Group size")                       \
    X(SEQ, "Seq")                                     \
    X(COMMS_ID, "Comms Id")                           \
    X(SRC_RANK, "Src Rank")                           \
    X(DST_RANK, "Dst Rank")                           \
    X(NAME, "name")                                   \
    X(LABELS, "labels")                               \
    X(SORT_INDEX, "sort_index")                       \
    X(CORRELATION, "correlation id")                  \
    X(TASK_TYPE, "Task Type")                         \
    X(CONNECTION, "connection_id")                    \
    X(LEVEL, "level")                                 \
    X(STREAM, "Stream Id")                            \
    X(BYTES, "size")                                  \
    X(OCCUPANCY, "theoretical achieved occupancy %")  \
    X(DIMS, "input_shapes")                           \
    X(TYPES, "input_dtypes")                          \
    X(CALL_STACK, "callstack")                        \
    X(START_TIME, "start_time")                       \
    X(END_TIME, "end_time")                           \
    X(PLACE, "place")                                 \
    X(ADDRESS, "addr")                                \
    X(SIGNED_BYTES, "increase_bytes")                 \
    X(ALLOCATED, "current_allocated")                 \
    X(RESERVED, "current_reserved")                   \
    X(STEP_NUM, "step_num")

enum {
    FIELD_NONE = 0,
    FIELD_EXTERNAL,
    FIELD_CORRELATION,
    FIELD_INDEX,
    FIELD_SEQUENCE,
    FIELD_FORWARD_THREAD,
    FIELD_DIMS,
    FIELD_TYPES,
    FIELD_INPUTS,
    FIELD_CALL_STACK,
    FIELD_FINISHED,
    FIELD_MODULE_ID,
    FIELD_PYTHON_ID,
    FIELD_FLOPS,
    FIELD_DEVICE,
    FIELD_CONTEXT,
    FIELD_STREAM,
    FIELD_REGISTERS,
    FIELD_SHARED_MEMORY,
    FIELD_BLOCKS_PER_SM,
    FIELD_OCCUPANCY,
    FIELD_GRID,
    FIELD_BLOCK,
    FIELD_BYTES,
    FIELD_GRAPH_NODE,
    FIELD_DEVICE_TYPE,
    FIELD_DEVICE_ID,
    FIELD_ADDRESS,
    FIELD_SIGNED_BYTES,
    FIELD_ALLOCATED,
    FIELD_RESERVED,
    FIELD_COLLECTIVE,
    FIELD_DTYPE,
    FIELD_IN_ELEMENTS,
    FIELD_OUT_ELEMENTS,
    FIELD_GROUP_NAME,
    FIELD_GROUP_DESCRIPTION,
    FIELD_GROUP_RANKS,
    FIELD_GROUP_SIZE,
    FIELD_SEQ,
    FIELD_COMMS_ID,
    FIELD_SRC_RANK,
    FIELD_DST_RANK,
    FIELD_NAME,
    FIELD_LABELS,
    FIELD_SORT_INDEX,
    FIELD_START_TIME,
    FIELD_END_TIME,
    FIELD_PLACE,
    FIELD_TASK_TYPE,
    FIELD_CONNECTION,
    FIELD_LEVEL,
    FIELD_STEP_NUM,
    N_ARG_FIELDS
};
_Static_assert((int)N_ARG_FIELDS <= (int)MAX_ARG_FIELDS, "bits of event.fields");

static uint8_t field_of(str key) {
    static const struct {
        str key;
        uint8_t field;
    } table[] = {
#define ARG_ROW(field, key) {STR(key), FIELD_##field},
        ARG_TABLE(ARG_ROW)
#undef ARG_ROW
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (str_eq(key, table[i].key)) return table[i].field;
    return 0;
}

/* What a category means. */
typedef enum {
    CLASS_UNKNOWN = 1, /* 0 = not looked at yet */
    CLASS_OP,
    CLASS_ANNOTATION,
    CLASS_DEVICE_ANNOTATION,
    CLASS_KERNEL,
    CLASS_MEMCPY,
    CLASS_MEMSET,
    CLASS_RUNTIME,
    CLASS_DRIVER,
    CLASS_PYTHON_FUNCTION,
    CLASS_PYTHON,
    CLASS_INSTANT,
    CLASS_OVERHEAD,
    CLASS_SYNC,
    CLASS_SPAN,
    CLASS_LAUNCH_ARROW,
    CLASS_FORWARD_BACKWARD,
    CLASS_DEVICE_QUEUE, /* all a device does: work, copies, waits; the name tells which */
    CLASS_TASK_LAUNCH,  /* Ascend: from a call to a task */
    CLASS_TASK_OWNER,   /* Ascend: from an operator to a task */
    /* Categories that are one kind of slice whatever the name: */
    CLASS_STEP,
    CLASS_DATA,
    CLASS_FORWARD,
    CLASS_BACKWARD,
    CLASS_OPTIMIZER,
    CLASS_COLLECTIVE,
    CLASS_OP_PHASE,
    CLASS_FRAMEWORK,
    CLASS_PYTHON_OP,
    CLASS_SEGMENT, /* memory taken from or given back to the driver */
} category_class;

typedef struct {
    str name; /* compared without case */
    category_class class;
} category_row;

static const category_row PADDLE_CATEGORIES[] = {
    {STR("Operator"), CLASS_OP},
    {STR("Dataloader"), CLASS_DATA},
    {STR("ProfileStep"), CLASS_STEP},
    {STR("CudaRuntime"), CLASS_RUNTIME},
    {STR("MluRuntime"), CLASS_RUNTIME},
    {STR("Kernel"), CLASS_KERNEL},
    {STR("Memcpy"), CLASS_MEMCPY},
    {STR("Memset"), CLASS_MEMSET},
    {STR("UserDefined"), CLASS_FRAMEWORK},
    {STR("OperatorInner"), CLASS_OP_PHASE},
    {STR("DygraphKernelLaunch"), CLASS_OP_PHASE},
    {STR("StaticKernelLaunch"), CLASS_OP_PHASE},
    {STR("Forward"), CLASS_FORWARD},
    {STR("Backward"), CLASS_BACKWARD},
    {STR("Optimization"), CLASS_OPTIMIZER},
    {STR("Communication"), CLASS_COLLECTIVE},
    {STR("PythonOp"), CLASS_PYTHON_OP},
    {STR("PythonUserDefined"), CLASS_ANNOTATION},
    {STR("async"), CLASS_LAUNCH_ARROW},
    {STR("ReservedAllocate"), CLASS_SEGMENT},
    {STR("ReservedFree"), CLASS_SEGMENT},
};

static const category_row CATEGORIES[] = {
    {STR("cpu_op"), CLASS_OP},
    {STR("operator"), CLASS_OP},
    {STR("user_annotation"), CLASS_ANNOTATION},
    {STR("gpu_user_annotation"), CLASS_DEVICE_ANNOTATION},
    {STR("kernel"), CLASS_KERNEL},
    {STR("gpu_memcpy"), CLASS_MEMCPY},
    {STR("memcpy"), CLASS_MEMCPY},
    {STR("gpu_memset"), CLASS_MEMSET},
    {STR("memset"), CLASS_MEMSET},
    {STR("cuda_runtime"), CLASS_RUNTIME},
    {STR("runtime"), CLASS_RUNTIME},
    {STR("xpu_runtime"), CLASS_RUNTIME},
    {STR("mtia_runtime"), CLASS_RUNTIME},
    {STR("glow_runtime"), CLASS_RUNTIME},
    {STR("privateuse1_runtime"), CLASS_RUNTIME},
    {STR("cuda_driver"), CLASS_DRIVER},
    {STR("xpu_driver"), CLASS_DRIVER},
    {STR("privateuse1_driver"), CLASS_DRIVER},
    {STR("python_function"), CLASS_PYTHON_FUNCTION},
    {STR("python"), CLASS_PYTHON},
    {STR("cpu_instant_event"), CLASS_INSTANT},
    {STR("overhead"), CLASS_OVERHEAD},
    {STR("cuda_sync"), CLASS_SYNC},
    {STR("cuda_event"), CLASS_SYNC},
    {STR("xpu_sync"), CLASS_SYNC},
    {STR("mtia_ccp_events"), CLASS_DEVICE_QUEUE},
    {STR("hpu_op"), CLASS_DEVICE_QUEUE},
    {STR("mlu_op"), CLASS_DEVICE_QUEUE},
    {STR("collective_comm"), CLASS_COLLECTIVE},
    {STR("enqueue"), CLASS_RUNTIME},
    {STR("dequeue"), CLASS_RUNTIME},
    {STR("HostToDevice"), CLASS_TASK_LAUNCH},
    {STR("async_npu"), CLASS_TASK_OWNER},
    {STR("trace"), CLASS_SPAN},
    {STR("ac2g"), CLASS_LAUNCH_ARROW},
    {STR("async_cpu_to_gpu"), CLASS_LAUNCH_ARROW},
    {STR("async_gpu"), CLASS_LAUNCH_ARROW},
    {STR("cpu_to_cuda"), CLASS_LAUNCH_ARROW},
    {STR("async"), CLASS_LAUNCH_ARROW},
    {STR("fwdbwd"), CLASS_FORWARD_BACKWARD},
    {STR("forward_backward"), CLASS_FORWARD_BACKWARD},
};

/* Categories of devices that came later: `mlu_memcpy`, `musa_runtime`, … One that is in the list
 * above never gets here. */
static const category_row CATEGORY_ENDS[] = {
    {STR("_kernel"), CLASS_KERNEL}, {STR("_memcpy"), CLASS_MEMCPY},
    {STR("_memset"), CLASS_MEMSET}, {STR("_runtime"), CLASS_RUNTIME},
    {STR("_driver"), CLASS_DRIVER}, {STR("_sync"), CLASS_SYNC},
};

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

typedef struct {
    uint32_t d[3];
} dim_row;

static status take_event(void *context, event *e);

static const parser_dialect PADDLE_DIALECT = {
    .name = paddle_name,
    .thread = paddle_thread,
    .time_fields = 1ull << FIELD_START_TIME | 1ull << FIELD_END_TIME,
};

const dialect *event_dialect(event_words words) {
    return words == EVENTS_OF_MEGENGINE ? &MEGENGINE : NULL;
}

/* The dialect's way in. */
static status take_foreign(void *context, event *e) {
    event_sink *s = context;
    part_count(s->part, 1, 0);
    return s->dialect->take(s, e);
}

void event_sink_expect(event_sink *s, uint64_t bytes) {
    if (s->dialect && s->dialect->expect) s->dialect->expect(s, bytes);
}

event_sink *event_sink_new(builder *b, event_words words) {
    const dialect *d = event_dialect(words);
    event_sink *s = mem_zalloc(sizeof *s);
    if (!s) return NULL;
    s->b = b;
    s->dialect = d;
    s->strings = builder_strings(b);
    s->categories = VEC_INIT(category_info);
    s->names = VEC_INIT(uint8_t);
    s->dim_rows = VEC_INIT(dim_row);
    s->streams = VEC_INIT(stream_process);
    s->tensorflow = words == EVENTS_OF_TENSORFLOW;
    s->part = builder_part(b);
    bool paddle = words == EVENTS_OF_PADDLE;
    parser_sink sink = {field_of, take_event, s, paddle ? &PADDLE_DIALECT : NULL};
    if (paddle) s->paddle = paddle_facts_new(b, s->part);
    if (d) {
        sink.field_of = d->field_of;
        sink.emit = take_foreign;
        sink.dialect = d->spelling;
        s->state = mem_zalloc(d->state_bytes);
        if (s->state) d->init(s->state);
    }
    if (s->part && (s->paddle || !paddle) && (s->state || !d))
        s->parser = event_parser_new(b, s->part, sink);
    if (!s->parser) {
        event_sink_free(s);
        return NULL;
    }
    return s;
}

void event_sink_free(event_sink *s) {
    if (!s) return;
    event_parser_free(s->parser);
    if (s->state) s->dialect->fini(s->state);
    mem_free(s->state);
    vec_fini(&s->categories);
    vec_fini(&s->names);
    vec_fini(&s->dim_rows);
    vec_fini(&s->streams);
    map_fini(&s->dims);
    paddle_facts_free(s->paddle);
    mem_free(s);
}

paddle_facts *event_sink_paddle(event_sink *s) {
    return s->paddle;
}

event_parser *event_sink_parser(event_sink *s) {
    return s->parser;
}

part *event_sink_part(event_sink *s) {
    return s->part;
}

void *event_sink_state(event_sink *s) {
    return s->state;
}

bool event_sink_is_kineto(const event_sink *s) {
    return s->kineto;
}

/* ---- categories and names ---- */

/* The first word of a category names the device. */
static void note_device_type(event_sink *s, str category) {
    static const struct {
        str start;
        uint8_t type;
    } types[] = {{STR("xpu_"), DEVICE_XPU},   {STR("mtia_"), DEVICE_MTIA},
                 {STR("hpu_"), DEVICE_HPU},   {STR("mlu_"), DEVICE_MLU},
                 {STR("musa_"), DEVICE_MUSA}, {STR("privateuse1_"), DEVICE_PRIVATE}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_starts(category, types[i].start)) s->device_type = types[i].type;
}

uint8_t event_sink_device_type(const event_sink *s) {
    return s->device_type;
}

uint64_t event_sink_devices(const event_sink *s) {
    return s->devices;
}

bool event_sink_is_ascend(const event_sink *s) {
    return s->ascend;
}

static category_info make_category(event_sink *s, uint32_t id) {
    str name = intern_get(s->strings, id);
    category_info c = {
        .id = id, .row = id ? builder_category(s->b, id) : 0, .class = CLASS_UNKNOWN};
    const category_row *rows = s->paddle ? PADDLE_CATEGORIES : CATEGORIES;
    size_t n =
        s->paddle ? sizeof PADDLE_CATEGORIES / sizeof *rows : sizeof CATEGORIES / sizeof *rows;
    for (size_t i = 0; i < n; i++)
        if (str_eq_nocase(name, rows[i].name)) c.class = (uint8_t)rows[i].class;
    for (size_t i = 0; !s->paddle && c.class == CLASS_UNKNOWN &&
                       i < sizeof CATEGORY_ENDS / sizeof *CATEGORY_ENDS;
         i++)
        if (str_ends(name, CATEGORY_ENDS[i].name)) c.class = (uint8_t)CATEGORY_ENDS[i].class;
    if (!s->paddle) note_device_type(s, name);
    /* "trace", "python" and "kernel" alone are words anybody may use. */
    if (c.class == CLASS_OP || c.class == CLASS_ANNOTATION || c.class == CLASS_RUNTIME ||
        c.class == CLASS_PYTHON_FUNCTION || c.class == CLASS_KERNEL || c.class == CLASS_INSTANT)
        s->kineto = true;
    return c;
}

static category_info find_category(event_sink *s, uint32_t id) {
    const category_info *all = VEC(&s->categories, category_info);
    for (size_t i = 0; i < s->categories.n; i++)
        if (all[i].id == id) return all[i];
    category_info c = make_category(s, id);
    category_info *row = s->categories.n < 256 ? vec_push(&s->categories) : NULL;
    if (row) *row = c; /* beyond 256 categories they are looked up each time */
    return c;
}

static inline category_info category_of(event_sink *s, uint32_t id) {
    category_info *last = &s->last[id % (sizeof s->last / sizeof *s->last)];
    if (last->id != id || last->class == 0) *last = find_category(s, id);
    return *last;
}

uint16_t event_category(event_sink *s, const event *e) {
    return category_of(s, e->category).row;
}

static bool is_collective_name(str name) {
    return str_starts(name, STR("nccl:")) || str_starts(name, STR("gloo:")) ||
           str_starts(name, STR("mpi:")) || str_starts(name, STR("ucc:")) ||
           str_starts(name, STR("xccl:")) || str_starts(name, STR("hccl:")) ||
           str_starts(name, STR("rccl:")) || str_starts(name, STR("mccl:")) ||
           str_starts(name, STR("cncl:")) || str_starts(name, STR("oneccl:"));
}

static uint8_t look_at_name(event_sink *s, uint32_t id) {
    str name = intern_get(s->strings, id);
    uint8_t flags = NAME_SEEN;
    if (str_starts(name, STR("ProfilerStep#"))) flags |= NAME_STEP;
    if ((str_starts(name, STR("enumerate(DataLoader)#")) && str_ends(name, STR(".__next__"))) ||
        str_starts(name, STR("enumerate(DataPipe)#")))
        flags |= NAME_DATA;
    if (str_starts(name, STR("Optimizer."))) flags |= NAME_OPTIMIZER;
    if (str_eq(name, STR("DataParallel.forward")) ||
        str_eq(name, STR("DistributedDataParallel.forward")))
        flags |= NAME_FORWARD;
    if (is_collective_name(name)) flags |= NAME_COLLECTIVE;
    if (str_eq(name, STR("[memory]"))) flags |= NAME_MEMORY;
    if (str_eq(name, STR("[OutOfMemory]"))) flags |= NAME_OUT_OF_MEMORY;
    if (id >= s->names.n) {
        if (vec_reserve(&s->names, id + 1024 - s->names.n) != OK) return flags;
        memset(VEC(&s->names, uint8_t) + s->names.n, 0, s->names.cap - s->names.n);
        s->names.n = s->names.cap;
    }
    VEC(&s->names, uint8_t)[id] = flags;
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

/* A task of an Ascend, by its type; older files write Other there and the name tells. */
static slice_kind task_kind(str type, str name) {
    static const str waits[] = {STR("_WAIT"),    STR("EVENT_"),        STR("NOTIFY_"),
                                STR("PLACE_"),   STR("RECORD"),        STR("Notify_"),
                                STR("PROFILER"), STR("STREAM_ACTIVE"), STR("LABEL_")};
    static const str copies[] = {STR("MEMCPY"), STR("SDMA"), STR("PCIE_DMA")};
    bool told = type.n && !str_eq(type, STR("Other"));
    str says = told ? type : name;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (str_find(says, waits[i], 0) != SIZE_MAX) return KIND_SYNC;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        if (str_find(says, copies[i], 0) != SIZE_MAX) return KIND_MEMCPY;
    return KIND_KERNEL;
}

/* Rows of torch_npu and msprof have no category; their arguments tell what they are. */
static slice_kind bare_kind(event_sink *s, const event *e) {
    str name = intern_get(s->strings, e->name);
    if (event_has(e, FIELD_TASK_TYPE) && event_has(e, FIELD_CONNECTION)) {
        s->ascend = true;
        return task_kind(intern_get(s->strings, event_text(e, FIELD_TASK_TYPE)), name);
    }
    if (event_has(e, FIELD_LEVEL) && event_has(e, FIELD_CONNECTION)) return KIND_RUNTIME;
    return event_has(e, FIELD_CONNECTION) && str_starts(name, STR("hcom_")) ? KIND_KERNEL
                                                                            : KIND_OTHER;
}

/* ---- timelines of TensorFlow 1, and those that XLA writes for JAX and TensorFlow ---- */

static int32_t number_at(str name, size_t at) {
    int32_t n = 0;
    for (size_t i = at; i < name.n && name.p[i] >= '0' && name.p[i] <= '9' && i < at + 9; i++)
        n = n * 10 + (name.p[i] - '0');
    return n;
}

/* "/device:GPU:0", "/device:TPU:1": a device, whose threads are streams and what they add up to. */
static status note_device(event_sink *s, const event *e, str name) {
    static const str fronts[] = {STR("/device:GPU:"), STR("/device:TPU:")};
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++) {
        if (!str_starts(name, fronts[i]) || str_find(name, STR("/"), 1) != SIZE_MAX ||
            str_ends(name, STR(" Compute")))
            continue;
        stream_process *row = vec_push(&s->streams);
        if (!row) return ERR_MEMORY;
        *row = (stream_process){
            .pid = e->pid, .stream = ABSENT_I64, .device = number_at(name, fronts[i].n)};
    }
    return OK;
}

/* "/device:GPU:0/stream:15 Compute", older "/gpu:0/stream:15 Compute", "…/memcpy Compute". */
static status note_stream(event_sink *s, const event *e, str name) {
    static const str ends = STR(" Compute");
    size_t stream = str_find(name, STR("/stream:"), 0),
           copy = str_find(name, STR("/memcpy"), 0);
    if (!str_ends(name, ends) || (stream == SIZE_MAX && copy == SIZE_MAX))
        return note_device(s, e, name);
    size_t gpu = str_find_nocase(name, STR("gpu:"), 0);
    stream_process *row = gpu == SIZE_MAX ? NULL : vec_push(&s->streams);
    if (gpu == SIZE_MAX) return OK;
    if (!row) return ERR_MEMORY;
    *row = (stream_process){.pid = e->pid, .stream = ABSENT_I64, .copies = copy != SIZE_MAX};
    int64_t number;
    row->device = number_at(name, gpu + 4);
    if (stream == SIZE_MAX) return OK;
    str rest = str_from(name, stream + 8);
    if (str_to_i64(str_n(rest.p, rest.n - ends.n), &number)) row->stream = number;
    return OK;
}

static bool same_ident(ident a, ident b) {
    return a.v == b.v && a.text == b.text;
}

/* The row of the thread, else of its process. */
static const stream_process *stream_of(const event_sink *s, const event *e) {
    const stream_process *all = VEC(&s->streams, stream_process), *process = NULL;
    for (size_t i = 0; i < s->streams.n; i++) {
        if (!same_ident(all[i].pid, e->pid)) continue;
        if (!all[i].is_thread) process = &all[i];
        if (all[i].is_thread && same_ident(all[i].tid, e->tid)) return &all[i];
    }
    return process;
}

/* "Stream #14(Compute)" of a GPU; of a TPU the operations of XLA are what it does. */
static status note_thread(event_sink *s, const event *e, str name) {
    static const str front = STR("Stream #");
    const stream_process *device = stream_of(s, e);
    bool is_stream = str_starts(name, front), is_ops = str_eq(name, STR("XLA Ops"));
    if (!device || device->is_thread || (!is_stream && !is_ops)) return OK;
    stream_process row = *device;
    row.tid = e->tid;
    row.is_thread = true;
    row.stream = is_stream ? number_at(name, front.n) : 0;
    stream_process *to = vec_push(&s->streams);
    if (!to) return ERR_MEMORY;
    *to = row;
    return OK;
}

/* `stream:all` and `memcpy` tell again what the numbered streams do; without those they are all there
 * is. */
static slice_kind stream_kind(const event_sink *s, const event *e, slice_kind host) {
    const stream_process *at = s->tensorflow ? stream_of(s, e) : NULL;
    if (!at) return host;
    bool numbered = at->stream != ABSENT_I64;
    for (size_t i = 0; i < s->streams.n && !numbered; i++)
        if (VEC(&s->streams, stream_process)[i].stream != ABSENT_I64) return KIND_SPAN;
    str name = intern_get(s->strings, e->name);
    if (at->copies || str_find_nocase(name, STR("memcpy"), 0) == 0) return KIND_MEMCPY;
    return str_find_nocase(name, STR("memset"), 0) == 0 ? KIND_MEMSET : KIND_KERNEL;
}

/* What the producer added up itself: shown, counted nowhere. */
static bool is_derived(str name) {
    static const str names[] = {STR("Computing"), STR("Free"), STR("Communication"),
                                STR("Communication(Not Overlapped)")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(name, names[i])) return true;
    return false;
}

/* JAX and TensorFlow name a step as they like; its argument tells it (StepTraceAnnotation). */
static bool is_numbered_step(const event *e, uint8_t class) {
    return event_has(e, FIELD_STEP_NUM) &&
           (class == CLASS_UNKNOWN || class == CLASS_ANNOTATION);
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
        return e->fields >> FIELD_MODULE_ID & 1 ? KIND_MODULE : KIND_PYTHON;
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
    default: return e->category ? KIND_OTHER : bare_kind(s, e);
    }
}

/* ---- arguments ---- */

int64_t event_odd_int(const event_sink *s, const raw_value *v, int64_t absent) {
    double d;
    int64_t i;
    if (v->tag == VALUE_DECIMAL) {
        d = (double)v->v;
        for (int k = 0; k < v->digits; k++) d /= 10;
        return (int64_t)d;
    }
    str text = json_text(intern_get(s->strings, (uint32_t)v->v));
    if (str_to_i64(text, &i)) return i;
    if (str_to_f64(text, &d) && d > -9e18 && d < 9e18) return (int64_t)d;
    return absent;
}

double event_real(const event_sink *s, const event *e, unsigned field) {
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                   1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    double d = NAN;
    if (!event_has(e, field)) return d;
    const raw_value *v = &e->values[e->at[field]];
    if (v->tag == VALUE_INT) return (double)v->v;
    if (v->tag == VALUE_DECIMAL) return (double)v->v / power[v->digits];
    if (!str_to_f64(json_text(intern_get(s->strings, (uint32_t)v->v)), &d) || !isfinite(d))
        return NAN;
    return d;
}

uint32_t event_text(const event *e, unsigned field) {
    if (!event_has(e, field)) return 0;
    const raw_value *v = &e->values[e->at[field]];
    return v->tag == VALUE_STRING || v->tag == VALUE_RAW ? (uint32_t)v->v : 0;
}

/* The last wins. */
status event_drop_earlier(event_sink *s, event *e) {
    size_t n = 0;
    uint32_t place = 0;
    for (size_t i = 0; i < e->n_values; i++) {
        bool again = false;
        for (size_t j = i + 1; j < e->n_values; j++) again |= e->keys[j] == e->keys[i];
        if (again) continue;
        place = builder_shape(s->b, place, e->keys[i]);
        if (!place) return ERR_MEMORY;
        e->values[n] = e->values[i];
        e->values[n].place = place;
        e->keys[n] = e->keys[i];
        for (unsigned f = 1; f < MAX_ARG_FIELDS; f++)
            if (event_has(e, f) && e->at[f] == i) e->at[f] = (uint16_t)n;
        n++;
    }
    e->n_values = n;
    return OK;
}

/* [x, y, z] of a grid or block text, parsed once for each distinct text. */
static status dims_of(event_sink *s, const event *e, unsigned field, uint32_t out[3]) {
    uint32_t id = event_text(e, field);
    out[0] = out[1] = out[2] = 0;
    if (!id) return OK;
    uint32_t *at = map_at(&s->dims, id);
    if (!at) return ERR_MEMORY;
    if (*at == MAP_NONE) {
        dim_row row = {{0, 0, 0}};
        json_iter it = json_open(intern_get(s->strings, id));
        str key, value;
        int64_t v;
        for (int i = 0; i < 3 && json_next(&it, &key, &value); i++)
            row.d[i] = json_i64(value, &v) && v > 0 ? sat_u32((uint64_t)v) : 0;
        *at = 0;
        dim_row *slot = vec_push(&s->dim_rows);
        if (!slot) return ERR_MEMORY;
        *slot = row;
        *at = (uint32_t)(s->dim_rows.n - 1);
    }
    memcpy(out, VEC(&s->dim_rows, dim_row)[*at].d, sizeof(uint32_t) * 3);
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
    if (s->paddle) TRY(paddle_set_op(s->paddle, &op));
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
    };
    int64_t device = event_int(s, e, FIELD_DEVICE, e->pid.text ? ABSENT_I32 : e->pid.v);
    const stream_process *at = s->tensorflow ? stream_of(s, e) : NULL;
    if (at) device = at->device;
    if (at && at->stream != ABSENT_I64) k.stream = at->stream;
    /* A file of torch_npu is of one device, and its process number is no device's. */
    if (event_has(e, FIELD_CONNECTION)) device = 0;
    if (device >= 0 && device < 64) s->devices |= 1ull << device;
    k.device = sat_i32(device);
    TRY(dims_of(s, e, FIELD_GRID, k.grid));
    TRY(dims_of(s, e, FIELD_BLOCK, k.block));
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

status event_drop(event_sink *s, const event *e, cause why) {
    part_lost(s->part, why, e->offset, e->has & EVENT_NAME ? e->name : 0);
    part_count(s->part, 0, 1);
    return OK;
}

cause event_odd_fault(const event *e, bool nameless) {
    bool may = e->ph == 'E' || e->ph == 'e' || (e->ph == 'B' && nameless);
    if (!(e->has & EVENT_NAME) && !may) return CAUSE_MISSING_NAME;
    if (e->ph == 'M') return CAUSE_NONE;
    if (e->has & EVENT_BAD_TIME) return CAUSE_NUMBER_RANGE;
    if (!(e->has & EVENT_TS)) return CAUSE_MISSING_TIME;
    if (e->ts_ns <= -EVENT_TIME_LIMIT || e->ts_ns >= EVENT_TIME_LIMIT)
        return CAUSE_NUMBER_RANGE;
    if (e->ph != 'X' || !(e->has & EVENT_DUR)) return CAUSE_NONE;
    if (e->dur_ns < 0) return CAUSE_NEGATIVE_DURATION;
    return e->dur_ns >= EVENT_TIME_LIMIT ? CAUSE_NUMBER_RANGE : CAUSE_NONE;
}

static bool is_track(const known_track *k, const event *e, uint32_t has) {
    return k->track && k->has == has && k->pid.v == e->pid.v && k->tid.v == e->tid.v &&
           k->pid.text == e->pid.text && k->tid.text == e->tid.text;
}

uint32_t event_new_track(event_sink *s, const event *e) {
    static const ident none = {ABSENT_I64, false};
    uint32_t has = e->has & (EVENT_PID | EVENT_TID);
    known_track *k = &s->tracks[(uint64_t)e->tid.v % N_KNOWN_TRACKS];
    if (!is_track(k, e, has)) {
        uint32_t track = part_track(s->part, has & EVENT_PID ? e->pid : none,
                                    has & EVENT_TID ? e->tid : none);
        *k = (known_track){e->pid, e->tid, track + 1, has}; /* 0 when out of memory */
    }
    s->last_pid = e->pid;
    s->last_tid = e->tid;
    s->last_has = has;
    s->last_track = k->track;
    return k->track - 1;
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

/* An argument that was "12.345 us", in ns; ABSENT_I64 when it is no such time. */
static int64_t time_arg(const event *e, unsigned field) {
    static const int64_t scale[] = {1000, 100, 10, 1};
    if (!event_has(e, field)) return ABSENT_I64;
    const raw_value *v = &e->values[e->at[field]];
    int64_t ns;
    if (v->tag != VALUE_DECIMAL || v->digits > 3 || v->v < 0 ||
        __builtin_mul_overflow(v->v, scale[v->digits], &ns))
        return ABSENT_I64;
    return ns;
}

static status take_complete(event_sink *s, event *e) {
    category_info c = category_of(s, e->category);
    raw_slice row = {
        .start = e->ts_ns,
        .dur = e->has & EVENT_DUR ? e->dur_ns : 0,
        .name = e->name,
        .track = event_track(s, e),
        .category = c.row,
        .kind = (uint8_t)stream_kind(s, e, kind_of(s, e, c.class, name_flags(s, e->name))),
        .args = part_args(s->part, e->values, e->n_values),
    };
    if (row.track == UINT32_MAX) return ERR_MEMORY;
    row.tie = tie_of(s, e);
    if (says_unfinished(s, e)) row.flags |= SLICE_UNFINISHED;
    if (s->paddle) {
        int64_t from = time_arg(e, FIELD_START_TIME), to = time_arg(e, FIELD_END_TIME);
        TRY(paddle_set_times(s->paddle, &row, from, to));
        if (row.kind != KIND_RUNTIME && !kind_is_device(row.kind))
            paddle_begin_owner(s->paddle, &row, e->tid.v, e->offset);
    }
    bool bare =
        !e->category && row.kind == KIND_OTHER && !is_derived(intern_get(s->strings, e->name));
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
    if (s->paddle) {
        if (category_of(s, e->category).class == CLASS_SEGMENT)
            m.kind = m.bytes > 0 ? MEMORY_SEGMENT_ALLOC : MEMORY_SEGMENT_FREE;
        TRY(paddle_set_place(s->paddle, &m, event_text(e, FIELD_PLACE), e->tid.v, e->offset));
    }
    return part_memory(s->part, &m);
}

status event_take_instant(event_sink *s, event *e) {
    category_info c = category_of(s, e->category);
    uint8_t name = name_flags(s, e->name);
    if (name & (NAME_MEMORY | NAME_OUT_OF_MEMORY))
        return take_memory(s, e, name & NAME_OUT_OF_MEMORY);
    raw_instant i = {
        .time = e->ts_ns,
        .name = e->name,
        .track = event_track(s, e),
        .args = part_args(s->part, e->values, e->n_values),
        .category = c.row,
        .scope = (uint8_t)(e->scope ? e->scope : 't'),
    };
    return i.track == UINT32_MAX ? ERR_MEMORY : part_instant(s->part, &i);
}

status event_take_counter(event_sink *s, event *e) {
    uint32_t track = event_track(s, e);
    if (track == UINT32_MAX) return ERR_MEMORY;
    for (size_t i = 0; i < e->n_values; i++) {
        e->fields = 2; /* any value by its place, through the same conversion */
        e->at[1] = (uint16_t)i;
        double v = event_real(s, e, 1);
        if (isnan(v)) continue;
        TRY(part_counter(s->part, &(raw_counter){.time = e->ts_ns,
                                                 .value = v,
                                                 .name = e->name,
                                                 .series = e->keys[i],
                                                 .track = track}));
    }
    return OK;
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

/* Of a text its hash, since string ids depend on the order of reading. */
int64_t event_arrow_id(const event_sink *s, const event *e) {
    if (!(e->has & EVENT_ID)) return 0;
    if (!e->id.text) return e->id.v;
    str text = intern_get(s->strings, (uint32_t)e->id.v);
    return (int64_t)hash_bytes64(text.p, text.n);
}

static status take_mark(event_sink *s, event *e) {
    category_info c = category_of(s, e->category);
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
    category_info c = category_of(s, e->category);
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
        int64_t value =
            sort ? event_int(s, e, FIELD_SORT_INDEX, 0) : event_text(e, table[i].arg);
        if (s->paddle && table[i].kind == LABEL_THREAD_NAME)
            value = paddle_set_thread_name(s->paddle, (uint32_t)value);
        if (value == UINT32_MAX) return ERR_MEMORY;
        if (s->tensorflow && table[i].kind == LABEL_PROCESS_NAME)
            TRY(note_stream(s, e, intern_get(s->strings, (uint32_t)value)));
        if (s->tensorflow && table[i].kind == LABEL_THREAD_NAME)
            TRY(note_thread(s, e, intern_get(s->strings, (uint32_t)value)));
        static const ident none = {ABSENT_I64, false};
        return part_label(s->part, &(raw_label){.pid = e->has & EVENT_PID ? e->pid : none,
                                                .tid = e->has & EVENT_TID ? e->tid : none,
                                                .value = value,
                                                .offset = e->offset,
                                                .kind = (uint8_t)table[i].kind});
    }
    return OK; /* other metadata (trace_config, …) says nothing about the tracks */
}

static status take_event(void *context, event *e) {
    event_sink *s = context;
    if (s->paddle && e->ph == 0 && !e->has && !e->n_values) return OK; /* `{}` ends the list */
    part_count(s->part, 1, 0);
    cause why = event_fault(e, false);
    if (__builtin_expect(why != CAUSE_NONE, 0)) return event_drop(s, e, why);
    TRY(event_drop_duplicates(s, e));
    switch (e->ph) {
    case 'X': return take_complete(s, e);
    case 'i':
    case 'I':
    case 'R':
    case 'n': return event_take_instant(s, e);
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
