/* pftrace_args.c: the arguments of events, as Perfetto's annotations.
 *
 * Numbers, texts and fractions are what they are; lists and objects are JSON, which Perfetto
 * takes apart again. Of kernels and operators also what the trace knows in columns, in the
 * words of PyTorch's profiler, where the producer had other words or none. */
#include <stdio.h>

#include "export/pftrace_int.h"

/* p->one is an annotation without its key. */
static void add_annotation(pftrace *p) {
    wire_put_bytes(&p->event, 4, buf_str(&p->one));
}

void pftrace_add_integer(pftrace *p, const char *key, int64_t v) {
    if (v == ABSENT_I64) return;
    buf_clear(&p->one);
    wire_put_bytes(&p->one, 10, str_of(key));
    wire_put_number(&p->one, 4, (uint64_t)v);
    add_annotation(p);
}

static status add_json(pftrace *p, const args_record *rec, uint32_t i) {
    buf text = {0};
    double real;
    args_value_json(p->x->t, rec, i, &text);
    bool decimal = (rec->tags[i] & 3) == ARGS_DECIMAL;
    if (decimal && str_to_f64(buf_str(&text), &real))
        wire_put_real(&p->one, 5, real);
    else
        wire_put_bytes(&p->one, 9, buf_str(&text));
    bool fine = buf_ok(&text);
    buf_fini(&text);
    if (!fine) FAIL_MEMORY(p->x->err);
    return OK;
}

static status add_value(pftrace *p, const args_record *rec, uint32_t i, int64_t own) {
    uint8_t tag = rec->tags[i] & 3;
    uint64_t key = pftrace_word(p, WORD_KEY, rec->keys[i]);
    uint64_t text =
        tag == ARGS_STRING ? pftrace_word(p, WORD_VALUE, (uint32_t)rec->payloads[i]) : 0;
    buf_clear(&p->one);
    wire_put_number(&p->one, 1, key);
    if (tag == ARGS_INTEGER)
        wire_put_number(&p->one, 4, (uint64_t)(own == ABSENT_I64 ? rec->payloads[i] : own));
    else if (tag == ARGS_STRING && text)
        wire_put_number(&p->one, 17, text);
    else if (tag == ARGS_STRING)
        wire_put_bytes(&p->one, 6, STR_NONE);
    else
        TRY(add_json(p, rec, i));
    add_annotation(p);
    return OK;
}

/* The whole object was kept as text. */
static status add_object(pftrace *p, uint32_t record) {
    buf text = {0};
    status st = args_read_json(p->x->args, record, &text, p->x->err);
    buf_clear(&p->one);
    wire_put_bytes(&p->one, 10, STR("args"));
    wire_put_bytes(&p->one, 9, buf_str(&text));
    if (st == OK) add_annotation(p);
    buf_fini(&text);
    return st;
}

static const link_facts NO_LINKS = {.external = ABSENT_I64,
                                    .correlation = ABSENT_I64,
                                    .device = ABSENT_I64,
                                    .stream = ABSENT_I64,
                                    .sequence = ABSENT_I64};

/* Arguments that a column can give as well. */
typedef enum {
    KNOWN_CORRELATION = 0,
    KNOWN_DEVICE,
    KNOWN_STREAM,
    KNOWN_GRID,
    KNOWN_BLOCK,
    KNOWN_REGISTERS,
    KNOWN_SHARED,
    KNOWN_BYTES,
    KNOWN_OCCUPANCY,
    KNOWN_DIMS,
    KNOWN_TYPES,
    KNOWN_INPUTS,
    KNOWN_FLOPS,
    N_KNOWN
} known_arg;

static const str KNOWN[N_KNOWN] = {
    {"correlation", 11},   {"device", 6},      {"stream", 6},
    {"grid", 4},           {"block", 5},       {"registers per thread", 20},
    {"shared memory", 13}, {"bytes", 5},       {"est. achieved occupancy %", 25},
    {"Input Dims", 10},    {"Input type", 10}, {"Concrete Inputs", 15},
    {"flops", 5},
};

static void add_known(pftrace *p, uint32_t seen, known_arg which, int64_t v) {
    if (!(seen >> which & 1)) pftrace_add_integer(p, KNOWN[which].p, v);
}

static void add_known_text(pftrace *p, uint32_t seen, known_arg which, str json) {
    if (seen >> which & 1 || !json.n) return;
    buf_clear(&p->one);
    wire_put_bytes(&p->one, 10, KNOWN[which]);
    wire_put_bytes(&p->one, 9, json);
    add_annotation(p);
}

static void add_known_real(pftrace *p, uint32_t seen, known_arg which, double v) {
    if (seen >> which & 1 || !isfinite(v)) return;
    buf_clear(&p->one);
    wire_put_bytes(&p->one, 10, KNOWN[which]);
    wire_put_real(&p->one, 5, v);
    add_annotation(p);
}

static void add_size(pftrace *p, uint32_t seen, known_arg which, const uint32_t size[3]) {
    char text[48];
    int n = snprintf(text, sizeof text, "[%u,%u,%u]", size[0], size[1], size[2]);
    if (size[0]) add_known_text(p, seen, which, str_n(text, (size_t)n));
}

static void add_kernel(pftrace *p, uint32_t seen) {
    const trace *t = p->x->t;
    uint32_t i = p->links.kernel;
    const uint32_t grid[] = {t->kernel.grid_x[i], t->kernel.grid_y[i], t->kernel.grid_z[i]},
                   block[] = {t->kernel.block_x[i], t->kernel.block_y[i], t->kernel.block_z[i]};
    int32_t registers = t->kernel.registers[i];
    add_size(p, seen, KNOWN_GRID, grid);
    add_size(p, seen, KNOWN_BLOCK, block);
    add_known(p, seen, KNOWN_REGISTERS, registers == ABSENT_I32 ? ABSENT_I64 : registers);
    add_known(p, seen, KNOWN_SHARED, t->kernel.shared_memory[i]);
    add_known(p, seen, KNOWN_BYTES, t->kernel.bytes[i]);
    add_known_real(p, seen, KNOWN_OCCUPANCY, t->kernel.occupancy[i] * 100);
}

static void add_op(pftrace *p, uint32_t seen) {
    const trace *t = p->x->t;
    uint32_t i = p->links.op;
    add_known_text(p, seen, KNOWN_DIMS, trace_str(t, t->op.shapes[i]));
    add_known_text(p, seen, KNOWN_TYPES, trace_str(t, t->op.types[i]));
    add_known_text(p, seen, KNOWN_INPUTS, trace_str(t, t->op.inputs[i]));
    add_known_real(p, seen, KNOWN_FLOPS, t->op.flops[i]);
}

/* The producer's arguments; *seen: those that do not have to be given again. */
static status add_record(pftrace *p, uint32_t record, const link_facts *f, uint32_t *seen) {
    const trace *t = p->x->t;
    bool linked = f->is_work || f->is_call;
    args_record rec;
    TRY(args_read(p->x->args, record, &rec, p->x->err));
    if (rec.raw) return add_object(p, record);
    for (uint32_t i = 0; i < rec.n; i++) {
        str key = trace_str(t, rec.keys[i]);
        if (linked && str_eq_nocase(key, STR("External id"))) continue;
        for (uint32_t k = 0; k < N_KNOWN; k++)
            if (str_eq(key, KNOWN[k])) *seen |= 1u << k;
        TRY(add_value(p, &rec, i, links_number(key, f)));
    }
    return OK;
}

status pftrace_add_args(pftrace *p, uint32_t record, const link_facts *f) {
    uint32_t seen = 0;
    if (!f) f = &NO_LINKS;
    if (f->is_work || f->is_call) pftrace_add_integer(p, "External id", f->external);
    TRY(add_record(p, record, f, &seen));
    if (f->is_work || f->is_call) add_known(p, seen, KNOWN_CORRELATION, f->correlation);
    if (f->is_work) {
        add_known(p, seen, KNOWN_DEVICE, f->device);
        add_known(p, seen, KNOWN_STREAM, f->stream);
        add_kernel(p, seen);
    }
    if (f->is_op) add_op(p, seen);
    return OK;
}
