/* paddle_json.c: Paddle's dialect of trace events: its categories, its arguments, and what of
 * its rows paddle_facts.c sets right. How it prints names and threads is in paddle_text.c. */
#include "ingest/paddle/paddle_json.h"

#include "base/json.h"
#include "ingest/paddle/paddle_facts.h"
#include "ingest/paddle/paddle_text.h"
#include "ingest/trace_events/trace_event.h"
#include "ingest/trace_events/trace_json.h"

/* ---- words ---- */

enum { FIELD_START_TIME = FIELD_OWN, FIELD_END_TIME, FIELD_PLACE };

static uint8_t find_paddle_field(str key) {
    static const event_word own[] = {{STR("start_time"), FIELD_START_TIME},
                                     {STR("end_time"), FIELD_END_TIME},
                                     {STR("place"), FIELD_PLACE}};
    uint8_t field = event_find_word(own, sizeof own / sizeof *own, key);
    return field ? field : trace_event_field(key);
}

static uint8_t find_paddle_class(event_sink *s, str category) {
    static const event_word categories[] = {
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
    (void)s;
    return trace_event_class(categories, sizeof categories / sizeof *categories, category);
}

/* ---- rows ---- */

/* An argument that was "12.345 us", in ns; ABSENT_I64 when it is not such a time. */
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

static status fill_paddle_slice(event_sink *s, const event *e, raw_slice *row) {
    int64_t from = time_arg(e, FIELD_START_TIME), to = time_arg(e, FIELD_END_TIME);
    TRY(paddle_set_times(s->state, row, from, to));
    if (row->kind != KIND_RUNTIME && !kind_is_device(row->kind))
        paddle_begin_owner(s->state, row, e->tid.v, e->offset);
    return OK;
}

static status fill_paddle_op(event_sink *s, raw_op *op) {
    return paddle_set_op(s->state, op);
}

static status fill_paddle_memory(event_sink *s, const event *e, raw_memory *m) {
    if (event_category(s, e).class == CLASS_SEGMENT)
        m->kind = m->bytes > 0 ? MEMORY_SEGMENT_ALLOC : MEMORY_SEGMENT_FREE;
    return paddle_set_place(s->state, m, event_text(e, FIELD_PLACE), e->tid.v, e->offset);
}

static status fill_paddle_label(event_sink *s, const event *e, raw_label *label) {
    (void)e;
    if (label->kind != LABEL_THREAD_NAME) return OK;
    label->value = paddle_set_thread_name(s->state, (uint32_t)label->value);
    return label->value == UINT32_MAX ? ERR_MEMORY : OK;
}

/* ---- the whole ---- */

static void *new_paddle_state(builder *b, part *p) {
    return paddle_facts_new(b, p);
}

static void free_paddle_state(void *state) {
    paddle_facts_free(state);
}

static status begin_paddle_piece(event_sink *s) {
    return paddle_begin_piece(s->state);
}

/* ExtraInfo: what is not the name of a thread stands for itself. */
static status take_paddle_key(event_sink *s, str key, str value, error *err) {
    if (!str_eq(key, STR("ExtraInfo"))) return OK;
    json_iter it = json_open(value);
    str name, info;
    int64_t thread;
    while (json_next(&it, &name, &info))
        if (!str_to_i64(name, &thread)) TRY(event_add_meta(s, name, info, err));
    return OK;
}

static status finish_paddle(builder *b, const event_root *root, event_sink *const *sinks, int n,
                            error *err) {
    paddle_facts *facts[TRACE_EVENTS_MAX_THREADS];
    (void)root;
    for (int i = 0; i < n; i++) facts[i] = sinks[i]->state;
    builder_set_format(b, "paddle");
    builder_set_memory_in_ranges(b, true);
    return paddle_facts_finish(b, facts, n, err);
}

static const event_spelling SPELLING = {
    .name = paddle_name,
    .thread = paddle_thread,
    .time_fields = 1ull << FIELD_START_TIME | 1ull << FIELD_END_TIME,
};

static const dialect PADDLE = {
    .spelling = &SPELLING,
    .field_of = find_paddle_field,
    .class_of = find_paddle_class,
    .new_state = new_paddle_state,
    .free_state = free_paddle_state,
    .take = trace_event_take,
    .hooks = {.fill_slice = fill_paddle_slice,
              .fill_op = fill_paddle_op,
              .fill_memory = fill_paddle_memory,
              .fill_label = fill_paddle_label,
              .ends_with_empty = true},
    .begin_piece = begin_paddle_piece,
    .root_key = take_paddle_key,
    .finish = finish_paddle,
};

status ingest_paddle_json(source *src, const ingest_options *o, builder *b, error *err) {
    return ingest_trace_events(src, o, b, &PADDLE, err);
}
