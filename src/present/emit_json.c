/* emit_json.c: an answer as the JSON object of the contract, the form that programs read.
 *
 *   {"schema":"tacho/1","analysis":…,"trace":{…},"quality":{…},"verdict":{…},"tables":{…}}
 *
 * Members always are in this order; rows are arrays in the order of `columns`, one row a
 * line, so that the text can be compared and searched with line tools. `null` means not
 * recorded, for a real number also not a number. Whole numbers are exact; Unix times and
 * addresses are strings because they exceed 2^53. `verdict` is absent when no rule matched.
 * Words other than names (texts of causes, notes, help) are in the language asked for; the
 * verdict carries all languages. */
#include "present/present_int.h"

static void put_key(buf *out, const char *key) {
    buf_add_json(out, str_of(key));
    buf_add_byte(out, ':');
}

/* ,"key": */
static void put_next_key(buf *out, const char *key) {
    buf_add_byte(out, ',');
    put_key(out, key);
}

static void put_text_or_null(buf *out, str s) {
    if (s.n != 0)
        buf_add_json(out, s);
    else
        buf_add_cstr(out, "null");
}

static void put_message(buf *out, lang l, uint16_t message, const arg *args, uint32_t n_args) {
    buf sentence = {0};
    text_format(&sentence, l, message, args, n_args);
    if (!buf_ok(&sentence)) out->failed = true;
    buf_add_json(out, buf_str(&sentence));
    buf_fini(&sentence);
}

void source_put_json(buf *out, const answer_source *s) {
    buf_add_cstr(out, "{\"path\":");
    put_text_or_null(out, s->path);
    buf_add_cstr(out, ",\"format\":");
    put_text_or_null(out, s->format);
    buf_add_cstr(out, ",\"run\":");
    put_text_or_null(out, s->run);
    buf_add_cstr(out, ",\"worker\":");
    put_text_or_null(out, s->worker);
    buf_add_cstr(out, ",\"span\":");
    put_text_or_null(out, s->span);
    buf_add_cstr(out, ",\"start_unix_ns\":");
    if (s->start_unix_ns == INT64_MIN)
        buf_add_cstr(out, "null");
    else
        buf_printf(out, "\"%lld\"", (long long)s->start_unix_ns);
    buf_add_cstr(out, ",\"duration_ns\":");
    buf_add_i64(out, s->duration_ns);
    if (s->ranks > 1 || s->run_ranks > 1) { /* of a distributed run: what this is based on */
        buf_printf(out, ",\"ranks\":%u,\"run_ranks\":%u", s->ranks,
                   s->run_ranks > s->ranks ? s->run_ranks : s->ranks);
    }
    buf_add_byte(out, '}');
}

void quality_put_json(buf *out, const quality *q, lang l) {
    buf_add_cstr(out, "{\"events_read\":");
    buf_add_i64(out, q->events_read);
    put_next_key(out, "events_dropped");
    for (uint32_t i = 0; i < q->n_dropped; i++) {
        buf_add_cstr(out, i == 0 ? "[{\"cause\":" : ",{\"cause\":");
        buf_add_json(out, str_of(q->dropped[i].cause));
        put_next_key(out, "text");
        put_message(out, l, q->dropped[i].message, NULL, 0);
        put_next_key(out, "count");
        buf_add_i64(out, q->dropped[i].count);
        buf_add_byte(out, '}');
    }
    buf_add_cstr(out, q->n_dropped == 0 ? "[]" : "]");
    put_next_key(out, "links");
    for (uint32_t i = 0; i < q->n_links; i++) {
        buf_add_cstr(out, i == 0 ? "[{\"what\":" : ",{\"what\":");
        buf_add_json(out, str_of(q->links[i].what));
        put_next_key(out, "linked");
        buf_add_i64(out, q->links[i].linked);
        put_next_key(out, "total");
        buf_add_i64(out, q->links[i].total);
        buf_add_byte(out, '}');
    }
    buf_add_cstr(out, q->n_links == 0 ? "[]" : "]");
    put_next_key(out, "notes");
    buf_add_byte(out, '[');
    for (uint32_t i = 0; i < q->n_notes; i++) {
        if (i != 0) buf_add_byte(out, ',');
        put_message(out, l, q->notes[i].message, q->notes[i].args, q->notes[i].n_args);
    }
    buf_add_cstr(out, "]}");
}

void verdict_put_json(buf *out, const verdict *v) {
    buf_add_cstr(out, "{\"id\":");
    buf_add_json(out, str_of(v->id));
    put_next_key(out, "severity");
    buf_add_json(out, str_of(severity_name(v->severity)));
    put_next_key(out, "values");
    values_put_json(out, v);
    put_next_key(out, "text");
    for (int l = 0; l < N_LANGS; l++) {
        buf_add_byte(out, l == 0 ? '{' : ',');
        put_key(out, lang_name((lang)l));
        put_message(out, (lang)l, v->message, v->args, v->n_args);
    }
    buf_add_cstr(out, "}}");
}

static void put_columns(buf *out, const table *t, lang l) {
    buf_add_cstr(out, "{\"columns\":[");
    for (uint32_t i = 0; i < t->n_columns; i++) {
        const column *c = &t->columns[i];
        buf_add_cstr(out, i == 0 ? "{\"name\":" : ",{\"name\":");
        buf_add_json(out, str_of(c->name));
        put_next_key(out, "type");
        buf_add_json(out, str_of(c->unit == UNIT_JSON ? "object" : type_name(c->type)));
        if (unit_name(c->unit)) {
            put_next_key(out, "unit");
            buf_add_json(out, str_of(unit_name(c->unit)));
        }
        if (c->help != MSG_NONE) {
            put_next_key(out, "help");
            put_message(out, l, c->help, NULL, 0);
        }
        buf_add_byte(out, '}');
    }
    buf_add_cstr(out, "],\n\"rows\":[");
}

static void put_cell(buf *out, const column *c, size_t row) {
    if (cell_is_null(c, row))
        buf_add_cstr(out, "null");
    else if (c->unit == UNIT_JSON)
        buf_add_str(out, c->v.s[row]);
    else if (c->type == TYPE_TEXT)
        buf_add_json(out, c->v.s[row]);
    else if (c->type == TYPE_BIG)
        buf_printf(out, "\"%llu\"", (unsigned long long)c->v.i[row]);
    else
        cell_put_raw(out, c, row);
}

static status put_table(buf *out, const table *t, const present_options *o, error *err) {
    put_key(out, t->name);
    put_columns(out, t, o->lang);
    for (size_t row = 0; row < t->n_rows; row++) {
        buf_add_cstr(out, row == 0 ? "\n[" : ",\n[");
        for (uint32_t i = 0; i < t->n_columns; i++) {
            if (i != 0) buf_add_byte(out, ',');
            put_cell(out, &t->columns[i], row);
        }
        buf_add_byte(out, ']');
        TRY(emit_row_end(o, out, err));
    }
    buf_add_cstr(out, "],\"total_rows\":");
    buf_add_u64(out, t->total_rows);
    buf_add_byte(out, '}');
    return OK;
}

status emit_json(const answer *a, const present_options *o, buf *out, error *err) {
    buf_add_cstr(out, "{\"schema\":\"tacho/1\",\"analysis\":");
    buf_add_json(out, str_of(a->analysis));
    put_next_key(out, "trace");
    source_put_json(out, &a->source);
    put_next_key(out, "quality");
    quality_put_json(out, &a->quality, o->lang);
    if (a->verdict.id) {
        put_next_key(out, "verdict");
        verdict_put_json(out, &a->verdict);
    }
    put_next_key(out, "tables");
    buf_add_byte(out, '{');
    for (uint32_t i = 0; i < a->n_tables; i++) {
        if (i != 0) buf_add_byte(out, ',');
        buf_add_byte(out, '\n');
        TRY(put_table(out, a->tables[i], o, err));
    }
    buf_add_cstr(out, "}}\n");
    return OK;
}
