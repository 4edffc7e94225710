/* emit_arrow.c: the first table of an answer as an Arrow IPC stream (base/arrow_ipc.h), for
 * data frames and databases.
 *
 * Whole numbers are int64, those that JSON has as strings (addresses, times of day) uint64,
 * reals float64, texts utf8, large_utf8 from 2 GiB on. A column says its type, its unit and
 * what it means in its metadata; that of the table is what JSON says about an answer: analysis,
 * table, total_rows, and as JSON texts trace, quality and verdict.
 *
 * Sizes are known before anything is written, so blocks can be flushed as they are made. */
#include "base/arrow_ipc.h"
#include "base/num.h"
#include "present/present_int.h"

static uint64_t count_nulls(const table *t, const column *c) {
    uint64_t n = 0;
    for (size_t row = 0; row < t->n_rows; row++) n += cell_is_null(c, row);
    return n;
}

static uint64_t text_bytes(const table *t, const column *c) {
    uint64_t n = 0;
    for (size_t row = 0; row < t->n_rows; row++)
        if (!cell_is_null(c, row)) n += arrow_text_bytes(c->v.s[row]);
    return n;
}

static arrow_type type_of(const column *c, uint64_t text) {
    switch (c->type) {
    case TYPE_REAL: return ARROW_F64;
    case TYPE_BOOL: return ARROW_BOOL;
    case TYPE_BIG: return ARROW_U64;
    case TYPE_TEXT: return text > ARROW_MAX_TEXT ? ARROW_LONG_TEXT : ARROW_TEXT;
    default: return ARROW_I64;
    }
}

static void describe(const table *t, const column *c, lang l, arrow_field *f, arrow_blocks *b) {
    uint64_t text = c->type == TYPE_TEXT ? text_bytes(t, c) : 0;
    *f = (arrow_field){.name = c->name, .type = type_of(c, text)};
    f->about[f->n_about++] = (arrow_pair){"type", str_of(type_name(c->type))};
    f->about[f->n_about++] = (arrow_pair){"unit", str_of(unit_name(c->unit))};
    if (c->help != MSG_NONE)
        f->about[f->n_about++] = (arrow_pair){"help", str_of(text_get(c->help, l))};
    *b = arrow_sizes(f->type, t->n_rows, count_nulls(t, c), text);
}

/* ---- blocks ------------------------------------------------------------------------------ */

/* A bit for each row: its value, or (of no column type) whether it has one. */
static status put_bits(buf *out, const table *t, const column *c, bool values,
                       const present_options *o, error *err) {
    for (size_t row = 0; row < t->n_rows; row += 8) {
        unsigned byte = 0;
        for (size_t i = row; i < t->n_rows && i < row + 8; i++) {
            bool one = values ? c->v.i[i] != 0 && !cell_is_null(c, i) : !cell_is_null(c, i);
            byte |= (unsigned)one << (i - row);
        }
        buf_add_byte(out, (char)byte);
        TRY(emit_row_end(o, out, err));
    }
    arrow_pad(out, arrow_bits(t->n_rows));
    return OK;
}

static status put_texts(buf *out, const table *t, const column *c, const arrow_blocks *b,
                        const present_options *o, error *err) {
    uint64_t at = 0;
    size_t bytes = (size_t)(b->values / (t->n_rows + 1)); /* of a position */
    buf_add(out, &at, bytes);
    for (size_t row = 0; row < t->n_rows; row++) {
        if (!cell_is_null(c, row)) at += arrow_text_bytes(c->v.s[row]);
        buf_add(out, &at, bytes);
        TRY(emit_row_end(o, out, err));
    }
    arrow_pad(out, b->values);
    for (size_t row = 0; row < t->n_rows; row++) {
        if (!cell_is_null(c, row)) arrow_add_text(out, c->v.s[row]);
        TRY(emit_row_end(o, out, err));
    }
    arrow_pad(out, b->text);
    return OK;
}

static status put_numbers(buf *out, const table *t, const column *c, const present_options *o,
                          error *err) {
    const int64_t none = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        buf_add(out, cell_is_null(c, row) ? &none : &c->v.i[row], sizeof none);
        TRY(emit_row_end(o, out, err));
    }
    arrow_pad(out, t->n_rows * sizeof none);
    return OK;
}

static status put_column(buf *out, const table *t, const column *c, const arrow_blocks *b,
                         const present_options *o, error *err) {
    if (b->validity) TRY(put_bits(out, t, c, false, o, err));
    if (c->type == TYPE_TEXT) return put_texts(out, t, c, b, o, err);
    if (c->type == TYPE_BOOL) return put_bits(out, t, c, true, o, err);
    return put_numbers(out, t, c, o, err);
}

/* ---- the stream -------------------------------------------------------------------------- */

static void put_schema(buf *out, const answer *a, const table *t, const arrow_field *fields,
                       lang l) {
    buf source = {0}, trust = {0}, said = {0}, rows = {0};
    source_put_json(&source, &a->source);
    quality_put_json(&trust, &a->quality, l);
    if (a->verdict.id) verdict_put_json(&said, &a->verdict);
    buf_add_u64(&rows, t->total_rows);
    const arrow_pair about[] = {{"analysis", str_of(a->analysis)}, {"table", str_of(t->name)},
                                {"total_rows", buf_str(&rows)},    {"trace", buf_str(&source)},
                                {"quality", buf_str(&trust)},      {"verdict", buf_str(&said)}};
    arrow_add_schema(out, fields, t->n_columns, about, N_OF(about));
    out->failed |= source.failed || trust.failed || said.failed || rows.failed;
    buf_fini(&source);
    buf_fini(&trust);
    buf_fini(&said);
    buf_fini(&rows);
}

status emit_arrow(const answer *a, const present_options *o, buf *out, error *err) {
    if (a->n_tables == 0) return OK;
    const table *t = a->tables[0];
    arrow_field *fields = ARENA_ARRAY(t->arena, arrow_field, t->n_columns + 1);
    arrow_blocks *blocks = ARENA_ARRAY(t->arena, arrow_blocks, t->n_columns + 1);
    if (!fields || !blocks) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < t->n_columns; i++)
        describe(t, &t->columns[i], o->lang, &fields[i], &blocks[i]);
    put_schema(out, a, t, fields, o->lang);
    arrow_add_batch(out, fields, blocks, t->n_columns, t->n_rows);
    for (uint32_t i = 0; i < t->n_columns; i++)
        TRY(put_column(out, t, &t->columns[i], &blocks[i], o, err));
    arrow_add_end(out);
    return OK;
}
