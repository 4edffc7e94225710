/* emit_columns.c: the first table of an answer as binary columns, for programs that keep them
 * as typed arrays: a frame (base/frame.h) "TACHOCOL"; offsets count from its first block.
 *
 * The description: {"analysis":…,"table":…,"rows":N,"total_rows":M,"bytes":B,"columns":[
 *   {"name":…,"type":…,"unit":…,"values":OFFSET,"text":OFFSET,"nulls":OFFSET}]}
 * where `values` holds N values: int and big as int64, real as float64, bool as one byte each.
 * For a string column `values` holds N + 1 u32 positions: text i is the bytes from position i
 * to position i + 1 after `text`. `nulls` holds one byte for each row, 1 = null; the member is
 * absent when no value is null. What a null's value holds means nothing. B is the size of all
 * blocks.
 *
 * Offsets are known before anything is written (plan), so the description comes first and the
 * blocks can be flushed as they are made. */
#include "base/frame.h"
#include "present/present_int.h"

static bool has_nulls(const table *t, const column *c) {
    for (size_t row = 0; row < t->n_rows; row++)
        if (cell_is_null(c, row)) return true;
    return false;
}

static uint64_t text_bytes(const table *t, const column *c) {
    uint64_t n = 0;
    for (size_t row = 0; row < t->n_rows; row++)
        if (!cell_is_null(c, row)) n += c->v.s[row].n;
    return n;
}

static uint64_t value_bytes(const table *t, const column *c) {
    if (c->type == TYPE_TEXT) return ((uint64_t)t->n_rows + 1) * sizeof(uint32_t);
    return (uint64_t)t->n_rows * (c->type == TYPE_BOOL ? 1 : 8);
}

/* Writes the description of one column and moves *at after its blocks. */
static status describe(buf *out, const table *t, const column *c, uint64_t *at, error *err) {
    buf_add_cstr(out, "{\"name\":");
    buf_add_json(out, str_of(c->name));
    buf_add_cstr(out, ",\"type\":");
    buf_add_json(out, str_of(type_name(c->type)));
    if (unit_name(c->unit)) {
        buf_add_cstr(out, ",\"unit\":");
        buf_add_json(out, str_of(unit_name(c->unit)));
    }
    buf_add_cstr(out, ",\"values\":");
    buf_add_u64(out, *at);
    *at += frame_room(value_bytes(t, c));
    if (c->type == TYPE_TEXT) {
        uint64_t n = text_bytes(t, c);
        if (n > UINT32_MAX)
            FAIL(err, ERR_LIMIT, NOPOS, MSG_TABLE_TOO_LARGE, arg_cstr("column", c->name));
        buf_add_cstr(out, ",\"text\":");
        buf_add_u64(out, *at);
        *at += frame_room(n);
    }
    if (has_nulls(t, c)) {
        buf_add_cstr(out, ",\"nulls\":");
        buf_add_u64(out, *at);
        *at += frame_room(t->n_rows);
    }
    buf_add_byte(out, '}');
    return OK;
}

static status put_texts(buf *out, const table *t, const column *c, const present_options *o,
                        error *err) {
    uint32_t at = 0;
    buf_add(out, &at, sizeof at);
    for (size_t row = 0; row < t->n_rows; row++) {
        if (!cell_is_null(c, row)) at += (uint32_t)c->v.s[row].n; /* describe checked the sum */
        buf_add(out, &at, sizeof at);
        TRY(emit_row_end(o, out, err));
    }
    frame_pad(out, value_bytes(t, c));
    for (size_t row = 0; row < t->n_rows; row++) {
        if (!cell_is_null(c, row)) buf_add_str(out, c->v.s[row]);
        TRY(emit_row_end(o, out, err));
    }
    frame_pad(out, at);
    return OK;
}

static status put_blocks(buf *out, const table *t, const column *c, const present_options *o,
                         error *err) {
    if (c->type == TYPE_TEXT) {
        TRY(put_texts(out, t, c, o, err));
    } else {
        for (size_t row = 0; row < t->n_rows; row++) {
            if (c->type == TYPE_BOOL)
                buf_add_byte(out, (char)(c->v.i[row] != 0));
            else
                buf_add(out, &c->v.i[row], 8);
            TRY(emit_row_end(o, out, err));
        }
        frame_pad(out, value_bytes(t, c));
    }
    if (has_nulls(t, c)) {
        buf_add(out, c->null, t->n_rows);
        frame_pad(out, t->n_rows);
    }
    return emit_row_end(o, out, err);
}

static status put_description(buf *out, const answer *a, const table *t, error *err) {
    uint64_t at = 0;
    buf columns = {0};
    status s = OK;
    for (uint32_t i = 0; i < t->n_columns && s == OK; i++) {
        if (i != 0) buf_add_byte(&columns, ',');
        s = describe(&columns, t, &t->columns[i], &at, err);
    }
    if (s == OK) {
        buf_add_cstr(out, "{\"analysis\":");
        buf_add_json(out, str_of(a->analysis));
        buf_add_cstr(out, ",\"table\":");
        buf_add_json(out, str_of(t->name));
        buf_printf(out, ",\"rows\":%zu,\"total_rows\":%zu", t->n_rows, t->total_rows);
        buf_printf(out, ",\"bytes\":%llu,\"columns\":[", (unsigned long long)at);
        buf_add_str(out, buf_str(&columns));
        buf_add_cstr(out, "]}");
        if (!buf_ok(&columns)) out->failed = true;
    }
    buf_fini(&columns);
    return s;
}

status emit_columns(const answer *a, const present_options *o, buf *out, error *err) {
    if (a->n_tables == 0) return OK;
    const table *t = a->tables[0];
    buf description = {0};
    status s = put_description(&description, a, t, err);
    if (s == OK) frame_begin(out, "TACHOCOL", &description);
    buf_fini(&description);
    TRY(s);
    for (uint32_t i = 0; i < t->n_columns; i++) TRY(put_blocks(out, t, &t->columns[i], o, err));
    return OK;
}
