/* pftrace_wire.c: packets of Perfetto's protobuf: an event, the words that are new in it, its
 * arguments.
 *
 * Names, categories, keys and texts of arguments are told once and then called by number. The
 * number of a word is its id in the trace; kinds come after them. Numbers, texts and fractions
 * are what they are; lists and objects are JSON, which Perfetto takes apart again. */
#include <stdio.h>

#include "analyse/kind_names.h"
#include "export/pftrace_int.h"

enum { SEQUENCE = 1, STATE_CLEARED = 1, NEEDS_STATE = 2 };

static void add_varint(buf *b, uint64_t v) {
    char bytes[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7) bytes[n++] = (char)(v | 0x80);
    bytes[n++] = (char)v;
    buf_add(b, bytes, n);
}

void pftrace_number(buf *b, uint32_t field, uint64_t v) {
    add_varint(b, (uint64_t)field << 3);
    add_varint(b, v);
}

void pftrace_bytes(buf *b, uint32_t field, str bytes) {
    add_varint(b, (uint64_t)field << 3 | 2);
    add_varint(b, bytes.n);
    buf_add_str(b, bytes);
}

void pftrace_fixed(buf *b, uint32_t field, uint64_t v) {
    char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (char)(v >> 8 * i);
    add_varint(b, (uint64_t)field << 3 | 1);
    buf_add(b, bytes, sizeof bytes);
}

void pftrace_real(buf *b, uint32_t field, double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    pftrace_fixed(b, field, bits);
}

/* ---- words ---- */

static uint64_t tell_word(pftrace *p, word_table table, uint64_t id, str text) {
    static const uint32_t fields[N_WORD_TABLES] = {
        [WORD_NAME] = 2, [WORD_CATEGORY] = 1, [WORD_KEY] = 3, [WORD_VALUE] = 29};
    uint8_t *byte = &p->told[table][id / 8], bit = (uint8_t)(1 << id % 8);
    if (*byte & bit) return id;
    *byte |= bit;
    buf_clear(&p->one);
    pftrace_number(&p->one, 1, id);
    pftrace_bytes(&p->one, 2, text);
    pftrace_bytes(&p->words, fields[table], buf_str(&p->one));
    return id;
}

uint64_t pftrace_word(pftrace *p, word_table table, uint32_t string) {
    const trace *t = p->x->t;
    return string && string < t->n_strings ? tell_word(p, table, string, trace_str(t, string))
                                           : 0;
}

uint64_t pftrace_kind_word(pftrace *p, uint8_t kind) {
    char text[48];
    str name = kind_name(kind);
    int n = snprintf(text, sizeof text, "tacho.%.*s", STR_ARG(name));
    return tell_word(p, WORD_CATEGORY, (uint64_t)p->x->t->n_strings + kind,
                     str_n(text, (size_t)n));
}

/* ---- packets ---- */

static status end_packet(pftrace *p) {
    bool fine = buf_ok(&p->packet) && buf_ok(&p->event) && buf_ok(&p->words) && buf_ok(&p->one);
    pftrace_number(&p->packet, 10, SEQUENCE);
    pftrace_number(&p->packet, 13, p->begun ? NEEDS_STATE : STATE_CLEARED);
    p->begun = true;
    pftrace_bytes(&p->x->out, 1, buf_str(&p->packet));
    if (!fine || !buf_ok(&p->packet)) FAIL_MEMORY(p->x->err);
    return export_row_done(p->x);
}

status pftrace_put_event(pftrace *p, int64_t time_ns) {
    buf_clear(&p->packet);
    pftrace_number(&p->packet, 8, (uint64_t)max_i64(0, add_i64(time_ns, p->shift_ns)));
    if (p->words.n) pftrace_bytes(&p->packet, 12, buf_str(&p->words));
    pftrace_bytes(&p->packet, 11, buf_str(&p->event));
    buf_clear(&p->words);
    return end_packet(p);
}

status pftrace_put(pftrace *p, uint32_t field, str message) {
    buf_clear(&p->packet);
    pftrace_bytes(&p->packet, field, message);
    return end_packet(p);
}

/* ---- arguments ---- */

/* p->one is an annotation without its key. */
static void add_annotation(pftrace *p) {
    pftrace_bytes(&p->event, 4, buf_str(&p->one));
}

void pftrace_add_integer(pftrace *p, const char *key, int64_t v) {
    if (v == ABSENT_I64) return;
    buf_clear(&p->one);
    pftrace_bytes(&p->one, 10, str_of(key));
    pftrace_number(&p->one, 4, (uint64_t)v);
    add_annotation(p);
}

static status add_json(pftrace *p, const args_record *rec, uint32_t i) {
    buf text = {0};
    double real;
    args_value_json(p->x->t, rec, i, &text);
    bool decimal = (rec->tags[i] & 3) == ARGS_DECIMAL;
    if (decimal && str_to_f64(buf_str(&text), &real))
        pftrace_real(&p->one, 5, real);
    else
        pftrace_bytes(&p->one, 9, buf_str(&text));
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
    pftrace_number(&p->one, 1, key);
    if (tag == ARGS_INTEGER)
        pftrace_number(&p->one, 4, (uint64_t)(own == ABSENT_I64 ? rec->payloads[i] : own));
    else if (tag == ARGS_STRING && text)
        pftrace_number(&p->one, 17, text);
    else if (tag == ARGS_STRING)
        pftrace_bytes(&p->one, 6, STR_NONE);
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
    pftrace_bytes(&p->one, 10, STR("args"));
    pftrace_bytes(&p->one, 9, buf_str(&text));
    if (st == OK) add_annotation(p);
    buf_fini(&text);
    return st;
}

static const link_facts NO_LINKS = {.external = ABSENT_I64,
                                    .correlation = ABSENT_I64,
                                    .device = ABSENT_I64,
                                    .stream = ABSENT_I64,
                                    .sequence = ABSENT_I64};

status pftrace_add_args(pftrace *p, uint32_t record, const link_facts *f) {
    const trace *t = p->x->t;
    args_record rec;
    bool correlation = false, device = false, stream = false;
    if (!f) f = &NO_LINKS;
    bool linked = f->is_work || f->is_call;
    if (linked) pftrace_add_integer(p, "External id", f->external);
    TRY(args_read(p->x->args, record, &rec, p->x->err));
    if (rec.raw) TRY(add_object(p, record));
    for (uint32_t i = 0; i < rec.n && !rec.raw; i++) {
        str key = trace_str(t, rec.keys[i]);
        if (linked && str_eq_nocase(key, STR("External id"))) continue;
        correlation |= str_eq(key, STR("correlation"));
        device |= str_eq(key, STR("device"));
        stream |= str_eq(key, STR("stream"));
        TRY(add_value(p, &rec, i, links_number(key, f)));
    }
    if (!linked) return OK;
    if (!correlation) pftrace_add_integer(p, "correlation", f->correlation);
    if (!device) pftrace_add_integer(p, "device", f->device);
    if (!stream) pftrace_add_integer(p, "stream", f->stream);
    return OK;
}
