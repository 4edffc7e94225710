/* kineto_join.c: a Kineto trace together with its execution trace.
 *
 *     Kineto     {"name": "aten::mm", "args": {"External id": 8, "Record function id": 9}}
 *     execution  {"name": "aten::mm", "inputs": {…}, "attrs": [{"name": "rf_id", "value": 9}]}
 *
 * The execution trace is read first. An event of the same id and name then gets the arguments
 * it lacks, under Kineto's names, before anything is made of it: all that follows works as if
 * Kineto had been asked for shapes. What the event says itself has priority. Older versions
 * wrote no id of the record function; there the external id is that id. Names must agree, so
 * the file of another run joins nothing, and the counts say so. */
#include <string.h>

#include "ingest/pytorch/execution_trace.h"
#include "ingest/pytorch/kineto_dialect.h"
#include "ingest/trace_events/trace_json.h"

/* Arguments in the order Kineto writes them. */
enum {
    KEY_INPUTS,
    KEY_TYPES,
    KEY_STRIDES,
    KEY_DIMS,
    KEY_COLLECTIVE,
    KEY_IN_ELEMENTS,
    KEY_OUT_ELEMENTS,
    KEY_GROUP_SIZE,
    KEY_DTYPE,
    KEY_GROUP_NAME,
    KEY_GROUP_DESCRIPTION,
    KEY_GROUP_RANKS,
    N_KEYS
};
static const struct {
    str name;
    uint8_t field; /* FIELD_NONE: kept, but no column has it */
} KEYS[N_KEYS] = {
    [KEY_INPUTS] = {STR("Concrete Inputs"), FIELD_INPUTS},
    [KEY_TYPES] = {STR("Input type"), FIELD_TYPES},
    [KEY_STRIDES] = {STR("Input Strides"), FIELD_NONE},
    [KEY_DIMS] = {STR("Input Dims"), FIELD_DIMS},
    [KEY_COLLECTIVE] = {STR("Collective name"), FIELD_COLLECTIVE},
    [KEY_IN_ELEMENTS] = {STR("In msg nelems"), FIELD_IN_ELEMENTS},
    [KEY_OUT_ELEMENTS] = {STR("Out msg nelems"), FIELD_OUT_ELEMENTS},
    [KEY_GROUP_SIZE] = {STR("Group size"), FIELD_GROUP_SIZE},
    [KEY_DTYPE] = {STR("dtype"), FIELD_DTYPE},
    [KEY_GROUP_NAME] = {STR("Process Group Name"), FIELD_GROUP_NAME},
    [KEY_GROUP_DESCRIPTION] = {STR("Process Group Description"), FIELD_GROUP_DESCRIPTION},
    [KEY_GROUP_RANKS] = {STR("Process Group Ranks"), FIELD_GROUP_RANKS},
};

/* A dialect that knows the nodes; the sink's pointer to the first is one to the whole. */
typedef struct {
    dialect d;
    execution_trace *et;
    const char *file;
    uint32_t keys[N_KEYS]; /* string ids */
} joined_dialect;

static const joined_dialect *joined_of(const event_sink *s) {
    return (const joined_dialect *)(const void *)s->dialect;
}

static bool has_key(const event *e, uint32_t key) {
    for (size_t i = 0; i < e->n_values; i++)
        if (e->keys[i] == key) return true;
    return false;
}

/* Adds an argument that the event does not have. */
static status add_argument(event_sink *s, event *e, unsigned which, uint8_t tag, int64_t v) {
    uint32_t key = joined_of(s)->keys[which];
    unsigned field = KEYS[which].field;
    if (e->n_values >= MAX_VALUES || (field ? event_has(e, field) : has_key(e, key))) return OK;
    size_t n = e->n_values;
    uint32_t place = builder_shape(s->b, n ? e->values[n - 1].place : 0, key);
    if (!place) return ERR_MEMORY;
    e->values[n] = (raw_value){.place = place, .tag = tag, .v = v};
    e->keys[n] = key;
    e->n_values++;
    if (!field) return OK;
    e->fields |= UINT64_C(1) << field;
    e->at[field] = (uint16_t)n;
    return OK;
}

static status add_text(event_sink *s, event *e, unsigned which, uint8_t tag, uint32_t id) {
    return id ? add_argument(s, e, which, tag, id) : OK;
}

static status add_number(event_sink *s, event *e, unsigned which, int64_t v) {
    return v != ABSENT_I64 ? add_argument(s, e, which, VALUE_INT, v) : OK;
}

static status add_comm(event_sink *s, event *e, const execution_comm *c) {
    if (!c || event_has(e, FIELD_COLLECTIVE)) return OK;
    TRY(add_text(s, e, KEY_COLLECTIVE, VALUE_STRING, c->name));
    TRY(add_number(s, e, KEY_IN_ELEMENTS, c->in_elements));
    TRY(add_number(s, e, KEY_OUT_ELEMENTS, c->out_elements));
    TRY(add_number(s, e, KEY_GROUP_SIZE, c->group_size));
    TRY(add_text(s, e, KEY_DTYPE, VALUE_STRING, c->dtype));
    TRY(add_text(s, e, KEY_GROUP_NAME, VALUE_STRING, c->group_name));
    TRY(add_text(s, e, KEY_GROUP_DESCRIPTION, VALUE_STRING, c->group_description));
    return add_text(s, e, KEY_GROUP_RANKS, VALUE_STRING, c->group_ranks);
}

static status add_node(event_sink *s, event *e, const execution_node *node) {
    TRY(add_text(s, e, KEY_INPUTS, VALUE_RAW, node->inputs));
    TRY(add_text(s, e, KEY_TYPES, VALUE_RAW, node->types));
    TRY(add_text(s, e, KEY_STRIDES, VALUE_RAW, node->strides));
    TRY(add_text(s, e, KEY_DIMS, VALUE_RAW, node->shapes));
    return add_comm(s, e, execution_trace_comm(joined_of(s)->et, node));
}

/* The parser uses the event again: it gets it back as it was. */
static status take_joined(void *sink, event *e) {
    event_sink *s = sink;
    int64_t id = event_int(s, e, FIELD_RECORD_FUNCTION, ABSENT_I64);
    if (id == ABSENT_I64) id = event_int(s, e, FIELD_EXTERNAL, ABSENT_I64);
    const execution_node *node = NULL;
    if (e->ph == 'X' && id > 0) node = execution_trace_find(joined_of(s)->et, id, e->name);
    if (!node) return trace_event_take(s, e);
    size_t n = e->n_values;
    uint64_t fields = e->fields;
    TRY(event_drop_duplicates(s, e));
    status st = add_node(s, e, node);
    if (st == OK) st = trace_event_take(s, e);
    e->n_values = n;
    e->fields = fields;
    return st;
}

static status finish_joined(builder *b, const event_root *root, event_sink *const *sinks, int n,
                            error *err) {
    const joined_dialect *j = joined_of(sinks[0]);
    execution_counts c = execution_trace_counts(j->et);
    const char *slash = strrchr(j->file, '/');
    row_execution_trace row = {
        .file = intern_add(builder_strings(b), str_of(slash ? slash + 1 : j->file)),
        .nodes = c.nodes,
        .joined = c.joined,
        .damaged = c.damaged};
    if (row.file == UINT32_MAX) FAIL_MEMORY(err);
    TRY(builder_put_execution_trace(b, &row, err));
    return kineto_dialect()->finish(b, root, sinks, n, err);
}

/* A file that is not an execution trace counts as one without nodes: the trace is read
 * alone. */
static status read_nodes(const ingest_options *o, builder *b, execution_trace **out,
                         error *err) {
    source *src = NULL;
    TRY(source_open(o->beside, &src, err));
    status st = execution_trace_read(src, o, b, out, err);
    source_close(src);
    if (st != ERR_FORMAT) return st;
    TRY(source_open_memory(STR(""), &src, err));
    st = execution_trace_read(src, o, b, out, err);
    source_close(src);
    return st;
}

status kineto_join(source *src, const ingest_options *o, builder *b, error *err) {
    joined_dialect j = {.d = *kineto_dialect(), .file = o->beside};
    for (unsigned i = 0; i < N_KEYS; i++) {
        j.keys[i] = intern_add(builder_strings(b), KEYS[i].name);
        if (j.keys[i] == UINT32_MAX) FAIL_MEMORY(err);
    }
    TRY(read_nodes(o, b, &j.et, err));
    j.d.take = take_joined;
    j.d.finish = finish_joined;
    status st = ingest_trace_events(src, o, b, &j.d, err);
    execution_trace_free(j.et);
    return st;
}
