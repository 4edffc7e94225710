/* present.c: the forms by name, and single values as people and programs read them.
 *
 * Every form is a row of FORMS; adding one is a row and an emit_*.c. An emitter appends to one
 * buffer and calls emit_row_end after each row, so an answer of any length passes through a
 * small buffer when the caller gave a way to get rid of it. Emitters do not check each write: a
 * buffer that could not grow remembers it, and present_answer turns that into ERR_MEMORY at the
 * end. */
#include <math.h>

#include "base/fmt.h"
#include "base/num.h"
#include "present/present_int.h"

/* Large enough to make a write cheap for each byte, small enough to stay in cache. */
#define FLUSH_BYTES ((size_t)64 << 10)

static const struct {
    const char *name, *media_type;
    emit_fn emit;
} FORMS[N_FORMS] = {
    [FORM_TEXT] = {"text", "text/plain; charset=utf-8", emit_text},
    [FORM_JSON] = {"json", "application/json", emit_json},
    [FORM_CSV] = {"csv", "text/csv; charset=utf-8", emit_csv},
    [FORM_MD] = {"md", "text/markdown; charset=utf-8", emit_md},
    [FORM_COLUMNS] = {"columns", "application/octet-stream", emit_columns},
    [FORM_ARROW] = {"arrow", "application/vnd.apache.arrow.stream", emit_arrow},
};

const char *form_name(form f) {
    return FORMS[f].name;
}

const char *form_media_type(form f) {
    return FORMS[f].media_type;
}

bool form_is_binary(form f) {
    return f == FORM_COLUMNS || f == FORM_ARROW;
}

bool form_of(str name, form *out) {
    for (int f = 0; f < N_FORMS; f++) {
        if (!str_eq(str_of(FORMS[f].name), name)) continue;
        *out = (form)f;
        return true;
    }
    return false;
}

status emit_row_end(const present_options *o, buf *out, error *err) {
    if (o->flush && out->n >= FLUSH_BYTES && buf_ok(out)) return o->flush(o->to, out, err);
    return OK;
}

status present_answer(form f, const answer *a, const present_options *o, buf *out, error *err) {
    TRY(FORMS[f].emit(a, o, out, err));
    if (!buf_ok(out)) FAIL_MEMORY(err);
    if (o->flush && out->n != 0) return o->flush(o->to, out, err);
    return OK;
}

const char *type_name(column_type t) {
    static const char *const names[] = {
        [TYPE_INT] = "int",   [TYPE_REAL] = "real", [TYPE_TEXT] = "string",
        [TYPE_BOOL] = "bool", [TYPE_BIG] = "big",
    };
    if (t >= TYPE_SENTENCE) BUG("present_resolve was not called");
    return names[t];
}

const char *unit_name(column_unit u) {
    static const char *const names[] = {
        [UNIT_NONE] = NULL,        [UNIT_NS] = "ns",           [UNIT_BYTES] = "bytes",
        [UNIT_SHARE] = "share",    [UNIT_COUNT] = "count",     [UNIT_FLOPS] = "flop",
        [UNIT_FLOPS_S] = "flop/s", [UNIT_BYTES_S] = "bytes/s", [UNIT_FLOPS_B] = "flop/byte",
        [UNIT_PER_SM] = "1/sm",    [UNIT_BY_ROW] = NULL,       [UNIT_WORDS] = NULL,
        [UNIT_JSON] = NULL,        [UNIT_SLICE] = "slice",
    };
    return names[u];
}

bool cell_is_null(const column *c, size_t row) {
    return c->null && c->null[row];
}

bool column_is_recorded(const table *t, uint32_t col) {
    for (size_t row = 0; row < t->n_rows; row++)
        if (!cell_is_null(&t->columns[col], row)) return true;
    return false;
}

/* ---- words for ids ----------------------------------------------------------------------- */

void values_put_json(buf *out, const verdict *v) {
    buf_add_byte(out, '{');
    for (uint32_t i = 0, n = 0; i < v->n_args; i++) {
        const arg *a = &v->args[i];
        if (a->type == ARG_WORDS) continue; /* says what another value says, in words */
        if (n++ != 0) buf_add_byte(out, ',');
        buf_add_json(out, str_of(a->name));
        buf_add_byte(out, ':');
        switch (a->type) {
        case ARG_NONE: buf_add_cstr(out, "null"); break;
        case ARG_TEXT: buf_add_json(out, a->u.text); break;
        case ARG_SHARE:
        case ARG_REAL: buf_add_f64(out, a->u.d); break;
        default: buf_add_i64(out, a->u.i);
        }
    }
    buf_add_byte(out, '}');
}

/* The text of a cell in the table's arena; *ok false when out of memory. */
static str resolve_cell(const table *t, const column *c, size_t row, lang l, bool *ok) {
    const verdict *v = c->v.sentence[row];
    buf text = {0};
    if (cell_is_null(c, row)) return STR_NONE;
    if (c->type == TYPE_VALUES)
        values_put_json(&text, v);
    else
        text_format(&text, l, v->message, v->args, v->n_args);
    str made = buf_ok(&text) ? arena_str(t->arena, buf_str(&text)) : STR_NONE;
    buf_fini(&text);
    if (!made.p) *ok = false;
    return made;
}

status present_resolve(answer *a, lang l, error *err) {
    for (uint32_t i = 0; i < a->n_tables; i++) {
        table *t = a->tables[i];
        for (uint32_t k = 0; k < t->n_columns; k++) {
            column *c = &t->columns[k];
            if (c->type != TYPE_SENTENCE && c->type != TYPE_VALUES) continue;
            str *texts = ARENA_ARRAY(t->arena, str, t->cap_rows + 1);
            bool ok = texts != NULL;
            for (size_t row = 0; row < t->n_rows && ok; row++)
                texts[row] = resolve_cell(t, c, row, l, &ok);
            if (!ok) FAIL_MEMORY(err);
            c->type = TYPE_TEXT;
            c->v.s = texts;
        }
    }
    return OK;
}

/* ---- single values ----------------------------------------------------------------------- */

static void put_int(buf *out, column_unit unit, int64_t v) {
    switch (unit) {
    case UNIT_NS: fmt_duration(out, v); break;
    case UNIT_BYTES: fmt_bytes(out, v); break;
    case UNIT_COUNT: fmt_count(out, v); break;
    default: buf_add_i64(out, v);
    }
}

/* The scale of a rate without its "/s". */
static void put_amount(buf *out, double v, const char *unit) {
    buf text = {0};
    fmt_rate(&text, v, unit);
    if (!buf_ok(&text)) out->failed = true;
    str s = buf_str(&text);
    if (str_ends(s, STR("/s"))) s.n -= 2;
    buf_add_str(out, s);
    buf_fini(&text);
}

static void put_real(buf *out, column_unit unit, double v) {
    switch (unit) {
    case UNIT_SHARE: fmt_share(out, v); break;
    case UNIT_FLOPS: put_amount(out, v, "FLOP"); break;
    case UNIT_FLOPS_S: fmt_rate(out, v, "FLOP"); break;
    case UNIT_BYTES_S: fmt_rate(out, v, "B"); break;
    case UNIT_FLOPS_B:
    case UNIT_PER_SM: buf_printf(out, "%.2f", v); break;
    default: fmt_real(out, v);
    }
}

void cell_put(buf *out, const column *c, size_t row, lang l) {
    if (cell_is_null(c, row)) return;
    switch (c->type) {
    case TYPE_INT: put_int(out, c->unit, c->v.i[row]); break;
    case TYPE_REAL: put_real(out, c->unit, c->v.d[row]); break;
    case TYPE_BOOL: buf_add_cstr(out, text_get(c->v.i[row] ? MSG_YES : MSG_NO, l)); break;
    default: cell_put_raw(out, c, row);
    }
}

/* Numbers whose unit differs from row to row are real in all of them. */
static void put_by_row(buf *out, const table *t, const column *c, size_t row) {
    uint32_t at = table_column(t, STR("unit"));
    str unit = at == UINT32_MAX || cell_is_null(&t->columns[at], row) ? STR_NONE
                                                                      : t->columns[at].v.s[row];
    double v = c->v.d[row];
    bool whole = fabs(v) < 9e18;
    if (whole && str_eq(unit, STR("ns")))
        fmt_duration(out, round_i64(v));
    else if (whole && str_eq(unit, STR("bytes")))
        fmt_bytes(out, round_i64(v));
    else if (str_eq(unit, STR("share")))
        fmt_share(out, v);
    else if (str_eq(unit, STR("bytes/s")) || str_eq(unit, STR("flop/s")))
        fmt_rate(out, v, unit.p[0] == 'b' ? "B" : "FLOP");
    else if (whole && v == floor(v))
        fmt_count(out, round_i64(v));
    else
        fmt_real(out, v);
}

void cell_put_in(buf *out, const table *t, uint32_t col, size_t row, lang l) {
    const column *c = &t->columns[col];
    if (c->unit == UNIT_BY_ROW && c->type == TYPE_REAL && !cell_is_null(c, row))
        put_by_row(out, t, c, row);
    else
        cell_put(out, c, row, l);
}

void cell_put_raw(buf *out, const column *c, size_t row) {
    if (cell_is_null(c, row)) return;
    switch (c->type) {
    case TYPE_INT: buf_add_i64(out, c->v.i[row]); break;
    case TYPE_REAL: buf_add_f64(out, c->v.d[row]); break;
    case TYPE_TEXT: buf_add_str(out, c->v.s[row]); break;
    case TYPE_BOOL: buf_add_cstr(out, c->v.i[row] ? "true" : "false"); break;
    case TYPE_BIG: buf_add_u64(out, (uint64_t)c->v.i[row]); break;
    case TYPE_SENTENCE:
    case TYPE_VALUES: BUG("present_resolve was not called");
    }
}
