/* tensorflow_timeline.c: where TensorFlow and XLA say what runs on a device.
 *
 *   TensorFlow 1  a stream is a process  "/device:GPU:0/stream:15 Compute"
 *   XLA           a device is a process  "/device:GPU:0", its threads are "Stream #14(Compute)"
 *
 * The names come before the events, and numbers are those of the process: one thread reads
 * both. XLA gives a call of the host the correlation id of the work it launched. */
#include "ingest/tensorflow/tensorflow_timeline.h"

#include "base/mem.h"
#include "ingest/pytorch/kineto.h"
#include "ingest/trace_events/trace_event.h"
#include "ingest/trace_events/trace_json.h"
#include "ingest/util/xla_details.h"

/* XLA's arguments. */
enum { FIELD_KERNEL_DETAILS = FIELD_OWN, FIELD_COPY_DETAILS };

/* A process or thread that stands for a stream of a device, or for several of them together. */
typedef struct {
    ident pid, tid;
    bool is_thread; /* of the process; otherwise all threads without a row */
    int32_t device;
    int64_t stream; /* ABSENT_I64: what several do, repeated */
    bool copies;    /* all it does are copies */
} stream_process;

/* The state is a list of stream_process. */
static void *new_tensorflow_state(builder *b, part *p) {
    vec *streams = mem_zalloc(sizeof *streams);
    (void)b;
    (void)p;
    if (streams) *streams = VEC_INIT(stream_process);
    return streams;
}

static void free_tensorflow_state(void *state) {
    vec_fini(state);
    mem_free(state);
}

static uint8_t find_tensorflow_class(event_sink *s, str category) {
    (void)s;
    return kineto_class(category);
}

static uint8_t find_tensorflow_field(str key) {
    static const event_word own[] = {{STR("correlation_id"), FIELD_CORRELATION},
                                     {STR("kernel_details"), FIELD_KERNEL_DETAILS},
                                     {STR("memcpy_details"), FIELD_COPY_DETAILS},
                                     {STR("Memset_details"), FIELD_COPY_DETAILS}};
    uint8_t field = event_find_word(own, N_OF(own), key);
    return field ? field : trace_event_field(key);
}

/* ---- names ---- */

static int32_t number_at(str name, size_t at) {
    int32_t n = 0;
    for (size_t i = at; i < name.n && name.p[i] >= '0' && name.p[i] <= '9' && i < at + 9; i++)
        n = n * 10 + (name.p[i] - '0');
    return n;
}

/* "/device:GPU:0", "/device:TPU:1": a device, whose threads are streams and what they add up
 * to. */
static status note_device(vec *streams, const event *e, str name) {
    static const str fronts[] = {STR("/device:GPU:"), STR("/device:TPU:")};
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++) {
        if (!str_starts(name, fronts[i]) || str_find(name, STR("/"), 1) != SIZE_MAX ||
            str_ends(name, STR(" Compute")))
            continue;
        stream_process *row = vec_push(streams);
        if (!row) return ERR_MEMORY;
        *row = (stream_process){
            .pid = e->pid, .stream = ABSENT_I64, .device = number_at(name, fronts[i].n)};
    }
    return OK;
}

/* "/device:GPU:0/stream:15 Compute", older "/gpu:0/stream:15 Compute", "…/memcpy Compute". */
static status note_stream(vec *streams, const event *e, str name) {
    static const str ends = STR(" Compute");
    size_t stream = str_find(name, STR("/stream:"), 0),
           copy = str_find(name, STR("/memcpy"), 0);
    if (!str_ends(name, ends) || (stream == SIZE_MAX && copy == SIZE_MAX))
        return note_device(streams, e, name);
    size_t gpu = str_find_nocase(name, STR("gpu:"), 0);
    stream_process *row = gpu == SIZE_MAX ? NULL : vec_push(streams);
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

/* The row of the thread, else of its process. */
static const stream_process *stream_of(const vec *streams, const event *e) {
    const stream_process *all = VEC(streams, stream_process), *process = NULL;
    for (size_t i = 0; i < streams->n; i++) {
        if (!ident_eq(all[i].pid, e->pid)) continue;
        if (!all[i].is_thread) process = &all[i];
        if (all[i].is_thread && ident_eq(all[i].tid, e->tid)) return &all[i];
    }
    return process;
}

/* "Stream #14(Compute)" of a GPU; of a TPU the operations of XLA are what it does. */
static status note_thread(vec *streams, const event *e, str name) {
    static const str front = STR("Stream #");
    const stream_process *device = stream_of(streams, e);
    bool is_stream = str_starts(name, front), is_ops = str_eq(name, STR("XLA Ops"));
    if (!device || device->is_thread || (!is_stream && !is_ops)) return OK;
    stream_process row = *device;
    row.tid = e->tid;
    row.is_thread = true;
    row.stream = is_stream ? number_at(name, front.n) : 0;
    stream_process *to = vec_push(streams);
    if (!to) return ERR_MEMORY;
    *to = row;
    return OK;
}

static status fill_tensorflow_label(event_sink *s, const event *e, raw_label *label) {
    bool process = label->kind == LABEL_PROCESS_NAME;
    if (!process && label->kind != LABEL_THREAD_NAME) return OK;
    str name = intern_get(s->strings, (uint32_t)label->value);
    return process ? note_stream(s->state, e, name) : note_thread(s->state, e, name);
}

/* ---- events ---- */

/* `stream:all` and `memcpy` tell again what the numbered streams do; without those they are all
 * there is. */
static slice_kind kind_on_device(const event_sink *s, const event *e,
                                 const stream_process *at) {
    const vec *streams = s->state;
    bool numbered = at->stream != ABSENT_I64;
    for (size_t i = 0; i < streams->n && !numbered; i++)
        if (VEC(streams, stream_process)[i].stream != ABSENT_I64) return KIND_SPAN;
    str name = intern_get(s->strings, e->name);
    if (at->copies || str_find_nocase(name, STR("memcpy"), 0) == 0) return KIND_MEMCPY;
    return str_find_nocase(name, STR("memset"), 0) == 0 ? KIND_MEMSET : KIND_KERNEL;
}

static status fill_tensorflow_slice(event_sink *s, const event *e, raw_slice *row) {
    const stream_process *at = stream_of(s->state, e);
    if (at)
        row->kind = (uint8_t)kind_on_device(s, e, at);
    else if (event_has(e, FIELD_CORRELATION))
        row->kind = KIND_RUNTIME;
    return OK;
}

static void fill_tensorflow_kernel(event_sink *s, const event *e, raw_kernel *kernel) {
    const stream_process *at = stream_of(s->state, e);
    if (!at) return;
    kernel->device = at->device;
    if (at->stream != ABSENT_I64) kernel->stream = at->stream;
    if (event_has(e, FIELD_KERNEL_DETAILS))
        xla_kernel_details(intern_get(s->strings, event_text(e, FIELD_KERNEL_DETAILS)), kernel);
    if (event_has(e, FIELD_COPY_DETAILS))
        kernel->bytes =
            xla_copied_bytes(intern_get(s->strings, event_text(e, FIELD_COPY_DETAILS)));
}

static status finish_tensorflow(builder *b, const event_root *root, event_sink *const *sinks,
                                int n, error *err) {
    (void)root;
    (void)sinks;
    (void)n;
    (void)err;
    builder_set_format(b, "chrome");
    builder_set_other_is_op(b, true);
    return OK;
}

static const dialect TENSORFLOW = {
    .field_of = find_tensorflow_field,
    .class_of = find_tensorflow_class,
    .new_state = new_tensorflow_state,
    .free_state = free_tensorflow_state,
    .take = trace_event_take,
    .hooks = {.fill_slice = fill_tensorflow_slice,
              .fill_kernel = fill_tensorflow_kernel,
              .fill_label = fill_tensorflow_label,
              .ends_with_empty = true}, /* XLA's do */
    .one_thread = true,
    .finish = finish_tensorflow,
};

status ingest_tensorflow(source *src, const ingest_options *o, builder *b, error *err) {
    return ingest_trace_events(src, o, b, &TENSORFLOW, err);
}
