/* pftrace_wire.c: packets of Perfetto's protobuf: an event, and the words that are new in it.
 *
 * Names, categories, keys and texts of arguments are defined once and then referenced by
 * number. The number of a word is its id in the trace; kinds come after them. */
#include <stdio.h>

#include "analyse/kind_names.h"
#include "export/pftrace_int.h"

enum { SEQUENCE = 1, STATE_CLEARED = 1, NEEDS_STATE = 2 };

/* ---- words ---- */

static uint64_t tell_word(pftrace *p, word_table table, uint64_t id, str text) {
    static const uint32_t fields[N_WORD_TABLES] = {
        [WORD_NAME] = 2, [WORD_CATEGORY] = 1, [WORD_KEY] = 3, [WORD_VALUE] = 29};
    uint8_t *byte = &p->defined[table][id / 8], bit = (uint8_t)(1 << id % 8);
    if (*byte & bit) return id;
    *byte |= bit;
    buf_clear(&p->one);
    wire_put_number(&p->one, 1, id);
    wire_put_bytes(&p->one, 2, text);
    wire_put_bytes(&p->words, fields[table], buf_str(&p->one));
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
    wire_put_number(&p->packet, 10, SEQUENCE);
    wire_put_number(&p->packet, 13, p->begun ? NEEDS_STATE : STATE_CLEARED);
    p->begun = true;
    wire_put_bytes(&p->x->out, 1, buf_str(&p->packet));
    if (!fine || !buf_ok(&p->packet)) FAIL_MEMORY(p->x->err);
    return export_row_done(p->x);
}

status pftrace_put_event(pftrace *p, int64_t time_ns) {
    buf_clear(&p->packet);
    wire_put_number(&p->packet, 8, (uint64_t)max_i64(0, add_i64(time_ns, p->shift_ns)));
    if (p->words.n) wire_put_bytes(&p->packet, 12, buf_str(&p->words));
    wire_put_bytes(&p->packet, 11, buf_str(&p->event));
    buf_clear(&p->words);
    return end_packet(p);
}

status pftrace_put(pftrace *p, uint32_t field, str message) {
    buf_clear(&p->packet);
    wire_put_bytes(&p->packet, field, message);
    return end_packet(p);
}
