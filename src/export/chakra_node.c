/* chakra_node.c: messages of MLCommons Chakra (et_def.proto, version 0.0.4), each after its
 * length.
 *
 *     GlobalMetadata  version = 1, attr = 2
 *     Node            id = 1, name = 2, type = 3, ctrl_deps = 4, data_deps = 5,
 *                     start_time_micros = 6, duration_micros = 7, inputs = 8, attr = 10
 *     IOInfo          values = 1, shapes = 2, types = 3
 *     AttributeProto  name = 1, int32_val = 7, int64_val = 9, uint64_val = 13, bool_val =
 *                     27, string_val = 29
 *
 * ASTRA-sim takes an attribute from the field of one type only; the table below has it.
 * Durations are whole microseconds there, so duration_ns has the exact one in addition. */
#include "base/json.h"
#include "export/chakra_int.h"
#include "export/wire_int.h"

enum { NODE_INPUTS = 8, NODE_ATTRIBUTE = 10, HEAD_ATTRIBUTE = 2 };
/* Fields of AttributeProto. */
enum { AS_INT32 = 7, AS_INT64 = 9, AS_UINT64 = 13, AS_BOOL = 27, AS_STRING = 29 };

/* Texts of other programs may not be UTF-8, which protobuf asks of a string. */
static str valid_text(str text) {
    return utf8_valid(text) ? text : STR("?");
}

typedef struct {
    buf *to, *scratch;
    unsigned field; /* of the attributes in the message */
} attributes;

static void put_number(const attributes *a, const char *name, unsigned as, int64_t v) {
    buf_clear(a->scratch);
    wire_put_bytes(a->scratch, 1, str_of(name));
    wire_put_number(a->scratch, as, (uint64_t)v);
    wire_put_bytes(a->to, a->field, buf_str(a->scratch));
    a->to->failed |= !buf_ok(a->scratch);
}

static void put_text(const attributes *a, const char *name, str text) {
    buf_clear(a->scratch);
    wire_put_bytes(a->scratch, 1, str_of(name));
    wire_put_bytes(a->scratch, AS_STRING, valid_text(text));
    wire_put_bytes(a->to, a->field, buf_str(a->scratch));
    a->to->failed |= !buf_ok(a->scratch);
}

/* A message with its length before it. */
static void put_message(export_ctx *x, const buf *message) {
    wire_put_varint(&x->out, message->n);
    buf_add_str(&x->out, buf_str(message));
    x->out.failed |= !buf_ok(message);
}

/* Process groups are written once, here: nodes name them. */
static void put_groups(const attributes *a, const trace *t) {
    buf name = {0};
    for (uint32_t i = 1; i < t->group.n; i++) {
        str ranks = trace_str(t, t->group.ranks[i]);
        if (!ranks.n) continue;
        buf_clear(&name);
        buf_add_cstr(&name, "pg_ranks:");
        buf_add_str(&name, trace_str(t, t->group.name[i]));
        buf_add_byte(&name, 0);
        a->to->failed |= !buf_ok(&name);
        if (buf_ok(&name)) put_text(a, name.p, ranks);
    }
    buf_fini(&name);
}

void chakra_write_head(export_ctx *x, buf scratch[2]) {
    attributes a = {&scratch[0], &scratch[1], HEAD_ATTRIBUTE};
    buf_clear(&scratch[0]);
    wire_put_bytes(&scratch[0], 1, STR("0.0.4"));
    put_text(&a, "producer", STR("tacho"));
    if (trace_rank(x->t) != ABSENT_I64) put_number(&a, "rank", AS_INT64, trace_rank(x->t));
    put_groups(&a, x->t);
    put_message(x, &scratch[0]);
}

int64_t chakra_comm_type(str name) {
    static const int8_t numbers[N_COMM_TYPES] = {
        [COMM_OTHER] = -1,     [COMM_ALL_REDUCE] = 0, [COMM_REDUCE] = 1,
        [COMM_ALL_GATHER] = 2, [COMM_GATHER] = 3,     [COMM_SCATTER] = 4,
        [COMM_BROADCAST] = 5,  [COMM_ALL_TO_ALL] = 6, [COMM_REDUCE_SCATTER] = 7,
        [COMM_BARRIER] = 9,    [COMM_POINT] = -1};
    return numbers[comm_type_of(name)];
}

static void put_comm(const attributes *a, const chakra_node *n) {
    const collective *c = n->comm;
    put_number(a, "comm_size", AS_INT64, c->bytes == ABSENT_I64 ? 0 : c->bytes);
    if (c->group.n) put_text(a, "pg_name", c->group);
    if (n->type == CHAKRA_COLLECTIVE) {
        put_number(a, "comm_type", AS_INT64, chakra_comm_type(c->name));
        return;
    }
    put_number(a, "comm_src", AS_INT32, c->source == ABSENT_I64 ? 0 : c->source);
    put_number(a, "comm_dst", AS_INT32, c->target == ABSENT_I64 ? 0 : c->target);
    put_number(a, "comm_tag", AS_INT32, c->sequence == ABSENT_I64 ? 0 : sat_i32(c->sequence));
}

static void put_attributes(const attributes *a, const trace *t, const chakra_node *n) {
    put_number(a, "is_cpu_op", AS_BOOL, n->on_host);
    put_number(a, "duration_ns", AS_INT64, n->dur_ns);
    if (n->flops == n->flops && n->flops >= 0 && n->flops < 9e18)
        put_number(a, "num_ops", AS_INT64, real_i64(n->flops + 0.5));
    if (n->bytes != ABSENT_I64) put_number(a, "tensor_size", AS_UINT64, n->bytes);
    if (n->comm) put_comm(a, n);
    if (n->kernel && t->kernel.stream[n->kernel] != ABSENT_I64)
        put_number(a, "stream", AS_INT64, t->kernel.stream[n->kernel]);
}

static void put_inputs(buf *to, buf *scratch, const trace *t, uint32_t op) {
    const uint32_t texts[] = {t->op.inputs[op], t->op.shapes[op], t->op.types[op]};
    buf_clear(scratch);
    for (unsigned i = 0; i < 3; i++)
        if (texts[i]) wire_put_bytes(scratch, i + 1, valid_text(trace_str(t, texts[i])));
    if (scratch->n) wire_put_bytes(to, NODE_INPUTS, buf_str(scratch));
    to->failed |= !buf_ok(scratch);
}

/* To the nearest microsecond; what takes any time takes one at least. */
static uint64_t micros(int64_t ns) {
    return ns <= 0 ? 0 : ns < 1500 ? 1 : ((uint64_t)ns + 500) / 1000;
}

void chakra_write_node(export_ctx *x, const chakra_node *n, buf scratch[2]) {
    const trace *t = x->t;
    buf *to = &scratch[0];
    attributes a = {to, &scratch[1], NODE_ATTRIBUTE};
    buf_clear(to);
    wire_put_number(to, 1, n->slice);
    wire_put_bytes(to, 2, valid_text(trace_str(t, t->slice.name[n->slice])));
    wire_put_number(to, 3, n->type);
    if (n->control) wire_put_number(to, 4, n->control);
    for (uint32_t i = 0; i < n->n_deps; i++) wire_put_number(to, 5, n->deps[i]);
    wire_put_number(to, 6, micros(sub_i64(t->slice.start[n->slice], t->start_ns)));
    wire_put_number(to, 7, micros(n->dur_ns));
    if (n->op && n->on_host) put_inputs(to, &scratch[1], t, n->op);
    put_attributes(&a, t, n);
    put_message(x, to);
}
