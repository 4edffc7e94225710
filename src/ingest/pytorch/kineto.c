/* kineto.c: the words of Kineto, and of the profilers for other devices that follow it.
 *
 * A file with none of these words is plain Chrome's: read in the same way, and named so. Rows
 * of torch_npu (Ascend) and msprof have no category; their arguments tell what they are. */
#include "ingest/pytorch/kineto.h"

#include "base/json.h"
#include "base/mem.h"
#include "ingest/pytorch/kineto_dialect.h"
#include "ingest/trace_events/device_words.h"
#include "ingest/trace_events/trace_json.h"

/* What a thread has seen of the whole. */
typedef struct {
    bool kineto;         /* a category or root key that only Kineto writes */
    bool ascend;         /* tasks of an Ascend */
    uint8_t device_type; /* by the categories, 0 when they name none */
    uint64_t devices;    /* numbers of devices that did something, one bit each */
} kineto_state;

static void *new_kineto_state(builder *b, part *p) {
    (void)b;
    (void)p;
    return mem_zalloc(sizeof(kineto_state));
}

/* ---- words ---- */

static uint8_t find_kineto_field(str key) {
    static const event_word own[] = {{STR("Task Type"), FIELD_TASK_TYPE},
                                     {STR("connection_id"), FIELD_CONNECTION},
                                     {STR("level"), FIELD_LEVEL},
                                     {STR("Record function id"), FIELD_RECORD_FUNCTION},
                                     /* tracers that people write on CUPTI themselves */
                                     {STR("correlationId"), FIELD_CORRELATION},
                                     {STR("correlation_id"), FIELD_CORRELATION},
                                     {STR("streamId"), FIELD_STREAM},
                                     {STR("stream_id"), FIELD_STREAM},
                                     {STR("deviceId"), FIELD_DEVICE},
                                     {STR("device_id"), FIELD_DEVICE}};
    uint8_t field = event_find_word(own, sizeof own / sizeof *own, key);
    return field ? field : trace_event_field(key);
}

static const event_word CATEGORIES[] = {
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

/* Categories of devices that came later: `mlu_memcpy`, `musa_runtime`, … One that is in the
 * list above never gets here. */
static const event_word CATEGORY_ENDS[] = {
    {STR("_kernel"), CLASS_KERNEL}, {STR("_memcpy"), CLASS_MEMCPY},
    {STR("_memset"), CLASS_MEMSET}, {STR("_runtime"), CLASS_RUNTIME},
    {STR("_driver"), CLASS_DRIVER}, {STR("_sync"), CLASS_SYNC},
};

uint8_t kineto_class(str category) {
    uint8_t class =
        trace_event_class(CATEGORIES, sizeof CATEGORIES / sizeof *CATEGORIES, category);
    for (size_t i = 0;
         class == CLASS_UNKNOWN && i < sizeof CATEGORY_ENDS / sizeof *CATEGORY_ENDS; i++)
        if (str_ends(category, CATEGORY_ENDS[i].word)) class = CATEGORY_ENDS[i].value;
    return class;
}

/* The first word of a category names the device. */
static void note_device_type(kineto_state *st, str category) {
    static const event_word types[] = {
        {STR("xpu_"), DEVICE_XPU},   {STR("mtia_"), DEVICE_MTIA},
        {STR("hpu_"), DEVICE_HPU},   {STR("mlu_"), DEVICE_MLU},
        {STR("musa_"), DEVICE_MUSA}, {STR("privateuse1_"), DEVICE_PRIVATE}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_starts(category, types[i].word)) st->device_type = types[i].value;
}

static uint8_t find_kineto_class(event_sink *s, str category) {
    kineto_state *st = s->state;
    uint8_t class = kineto_class(category);
    note_device_type(st, category);
    /* "trace", "python" and "kernel" alone are words anybody may use. */
    if (class == CLASS_OP || class == CLASS_ANNOTATION || class == CLASS_RUNTIME ||
        class == CLASS_PYTHON_FUNCTION || class == CLASS_KERNEL || class == CLASS_INSTANT)
        st->kineto = true;
    return class;
}

/* ---- tasks of an Ascend ---- */

slice_kind kineto_task_kind(str type, str name) {
    static const str waits[] = {STR("_WAIT"),   STR("EVENT_"),        STR("NOTIFY_"),
                                STR("PLACE_"),  STR("RECORD"),        STR("Notify_"),
                                STR("PROFIL"),  STR("STREAM_ACTIVE"), STR("LABEL_"),
                                STR("Notify "), STR("Write Value")};
    static const str copies[] = {STR("MEMCPY"), STR("SDMA"), STR("PCIE_DMA")};
    bool reported = type.n && !str_eq(type, STR("Other"));
    str says = reported ? type : name;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (str_find(says, waits[i], 0) != SIZE_MAX) return KIND_SYNC;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        if (str_find(says, copies[i], 0) != SIZE_MAX) return KIND_MEMCPY;
    return KIND_KERNEL;
}

static slice_kind find_kind_by_words(const event_sink *s, const event *e) {
    unsigned says = event_has(e, FIELD_CORRELATION) ? SAYS_CORRELATION : 0;
    if (event_has(e, FIELD_STREAM) || event_has(e, FIELD_DEVICE)) says |= SAYS_PLACE;
    if (event_has(e, FIELD_GRID)) says |= SAYS_GRID;
    if (!says) return KIND_OTHER;
    str category = e->category ? intern_get(s->strings, e->category) : STR_NONE;
    return device_words_kind(category, intern_get(s->strings, e->name), says);
}

static slice_kind find_kineto_kind(event_sink *s, const event *e) {
    kineto_state *st = s->state;
    str name = intern_get(s->strings, e->name);
    if (e->category || !event_has(e, FIELD_CONNECTION)) return find_kind_by_words(s, e);
    if (event_has(e, FIELD_TASK_TYPE)) {
        st->ascend = true;
        return kineto_task_kind(intern_get(s->strings, event_text(e, FIELD_TASK_TYPE)), name);
    }
    if (event_has(e, FIELD_LEVEL)) return KIND_RUNTIME;
    return str_starts(name, STR("hcom_")) ? KIND_KERNEL : KIND_OTHER;
}

void kineto_fill_kernel(event_sink *s, const event *e, int32_t npu, raw_kernel *kernel) {
    kineto_state *st = s->state;
    /* A file of torch_npu is of one device, and its process number is not a device's. */
    if (event_has(e, FIELD_CONNECTION)) kernel->device = npu;
    if (kernel->device >= 0 && kernel->device < 64) st->devices |= 1ull << kernel->device;
}

static void fill_kineto_kernel(event_sink *s, const event *e, raw_kernel *kernel) {
    kineto_fill_kernel(s, e, 0, kernel);
}

/* ---- the whole ---- */

static status take_kineto_key(event_sink *s, str key, str value, error *err) {
    kineto_state *st = s->state;
    (void)value;
    (void)err;
    if (str_eq(key, STR("schemaVersion")) || str_eq(key, STR("deviceProperties")))
        st->kineto = true;
    return OK;
}

/* Devices that the root object did not describe, or not as what they are. */
static status add_devices(builder *b, const event_root *root, const kineto_state *all,
                          error *err) {
    uint8_t type = all->ascend ? DEVICE_ASCEND : all->device_type;
    if (type == DEVICE_ASCEND) builder_set_launch_by_arrow(b, true);
    if (!type) return OK;
    for (int32_t id = 0; id < 64 && !root->has_devices; id++) {
        if (!(all->devices >> id & 1)) continue;
        raw_device d = RAW_DEVICE_NONE;
        d.id = id;
        TRY(builder_add_device(b, &d, err));
    }
    builder_set_device_type(b, type);
    return OK;
}

static status finish_kineto(builder *b, const event_root *root, event_sink *const *sinks, int n,
                            error *err) {
    kineto_state all = {0};
    for (int i = 0; i < n; i++) {
        const kineto_state *st = sinks[i]->state;
        all.kineto |= st->kineto;
        all.ascend |= st->ascend;
        all.devices |= st->devices;
        if (st->device_type) all.device_type = st->device_type;
    }
    builder_set_format(b, !all.kineto ? "chrome" : all.ascend ? "torch_npu" : "kineto");
    /* Until 2024 Kineto's times were Unix times themselves. */
    if (all.kineto && !root->has_base) builder_set_base_unix_ns(b, 0);
    builder_set_external_may_be_correlation(b, all.kineto);
    builder_set_other_is_op(b, !all.kineto);
    return add_devices(b, root, &all, err);
}

static const dialect KINETO = {
    .field_of = find_kineto_field,
    .class_of = find_kineto_class,
    .new_state = new_kineto_state,
    .free_state = mem_free,
    .take = trace_event_take,
    .hooks = {.bare_kind = find_kineto_kind, .fill_kernel = fill_kineto_kernel},
    .root_key = take_kineto_key,
    .finish = finish_kineto,
};

const dialect *kineto_dialect(void) {
    return &KINETO;
}

status ingest_trace_json(source *src, const ingest_options *o, builder *b, error *err) {
    if (o->beside) return kineto_join(src, o, b, err);
    return ingest_trace_events(src, o, b, &KINETO, err);
}
