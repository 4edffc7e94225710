/* sql_result.c: the rows of a statement, collected and made a table.
 *
 * A column of whole numbers is one of whole numbers; with real ones among them all are real;
 * with texts all are texts. Texts that lie in the trace are borrowed, others are copied. */
#include "query/sql_result.h"

#include "base/counted.h"
#include "base/fmt.h"
#include "base/message_ids_query.h"

enum { MOST_COLUMNS = 256, FIRST_ROWS = 64 };

/* Only some builds of the library say where a column comes from; those of Debian do. */
#pragma weak sqlite3_column_table_name
#pragma weak sqlite3_column_origin_name

/* ---- collecting -------------------------------------------------------------------------- */

status result_begin(result *r, sqlite3_stmt *s, error *err) {
    int n = sqlite3_column_count(s);
    if (n > MOST_COLUMNS)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_QUERY_COLUMNS, arg_int("limit", MOST_COLUMNS));
    r->n_columns = (uint32_t)n;
    r->arena_bytes = r->arena->used_bytes;
    return OK;
}

static bool is_in_trace(const trace *t, const char *p, size_t n) {
    const char *first = t->string_bytes;
    return t->n_strings && p >= first && p + n <= first + t->string_offset[t->n_strings];
}

static status keep_text(result *r, const char *p, size_t n, str *out, error *err) {
    bool borrowed = is_in_trace(r->q->rows.t, p, n);
    uint64_t limit = r->q->options.limit_bytes;
    *out = borrowed ? str_n(p, n) : arena_str(r->arena, str_n(p, n));
    if (!out->p) FAIL_MEMORY(err);
    if (limit && r->arena->used_bytes - r->arena_bytes > limit)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_QUERY_MEMORY, arg_bytes("limit", (int64_t)limit));
    return OK;
}

/* Bytes that are not a text are shown as SQL writes them: x'0a1b'. */
static status keep_blob(result *r, const uint8_t *p, size_t n, str *out, error *err) {
    buf hex = {0};
    buf_add_cstr(&hex, "x'");
    for (size_t i = 0; i < n; i++) buf_printf(&hex, "%02x", p[i]);
    buf_add_byte(&hex, '\'');
    status s = buf_ok(&hex) ? keep_text(r, hex.p, hex.n, out, err)
                            : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    buf_fini(&hex);
    return s;
}

static status keep_value(result *r, sqlite3_stmt *s, int i, result_cell *out, error *err) {
    out->type = (uint8_t)sqlite3_column_type(s, i);
    switch (out->type) {
    case SQLITE_INTEGER: out->u.i = sqlite3_column_int64(s, i); return OK;
    case SQLITE_FLOAT: out->u.d = sqlite3_column_double(s, i); return OK;
    case SQLITE_TEXT: {
        /* SQLite copies a text of ours without a NUL only when it is asked for a copy. */
        const char *p = (const char *)sqlite3_column_blob(s, i);
        return keep_text(r, p ? p : "", (size_t)sqlite3_column_bytes(s, i), &out->u.s, err);
    }
    case SQLITE_BLOB: {
        const uint8_t *p = sqlite3_column_blob(s, i);
        out->type = SQLITE_TEXT;
        return keep_blob(r, p, p ? (size_t)sqlite3_column_bytes(s, i) : 0, &out->u.s, err);
    }
    default: return OK;
    }
}

status result_add(result *r, sqlite3_stmt *s, bool *more, error *err) {
    size_t most = r->q->options.limit_rows;
    *more = true;
    if (most && r->n_rows == most) {
        r->is_cut = true;
        *more = false;
        return OK;
    }
    if (r->n_rows == r->cap_rows) {
        size_t cap = r->cap_rows ? 2 * r->cap_rows : FIRST_ROWS;
        result_cell *grown =
            counted_grow(r->cells, cap * (r->n_columns + 1) * sizeof *r->cells);
        if (!grown) FAIL_MEMORY(err);
        r->cells = grown;
        r->cap_rows = cap;
    }
    result_cell *row = r->cells + r->n_rows * r->n_columns;
    for (uint32_t i = 0; i < r->n_columns; i++) TRY(keep_value(r, s, (int)i, &row[i], err));
    r->n_rows++;
    return OK;
}

void result_fini(result *r) {
    counted_free(r->cells);
    r->cells = NULL;
}

/* ---- types and units --------------------------------------------------------------------- */

static column_type type_of(const result *r, uint32_t col) {
    bool text = false, real = false, any = false;
    for (size_t row = 0; row < r->n_rows; row++) {
        uint8_t type = r->cells[row * r->n_columns + col].type;
        text |= type == SQLITE_TEXT;
        real |= type == SQLITE_FLOAT;
        any |= type != SQLITE_NULL;
    }
    return text || !any ? TYPE_TEXT : real ? TYPE_REAL : TYPE_INT;
}

/* For a column of a table, where SQLite says which. */
static bool origin_unit(const result *r, sqlite3_stmt *s, uint32_t i, column_spec *to) {
    const query *q = r->q;
    const field_info *field;
    if (!sqlite3_column_table_name || !sqlite3_column_origin_name) return false;
    const char *tab = sqlite3_column_table_name(s, (int)i);
    const char *name = sqlite3_column_origin_name(s, (int)i);
    if (!tab || !name) return false;
    for (int t = 0; t < N_TABLES; t++) {
        if (strcmp(q->tables[t].name, tab) != 0) continue;
        for (uint16_t k = 0; k < q->tables[t].n; k++) {
            const sql_column *c = &q->tables[t].columns[k];
            if (strcmp(c->name, name) != 0) continue;
            to->unit = c->unit;
            if (c->is_big && to->type == TYPE_INT) to->type = TYPE_BIG;
            return true;
        }
    }
    if (!analysis_column(q, str_of(tab), str_of(name), &field)) return false;
    bool plain =
        field->unit != UNIT_BY_ROW && field->unit != UNIT_WORDS && field->unit != UNIT_JSON;
    to->unit = plain ? field->unit : UNIT_NONE;
    to->help = field->help;
    if (field->type == TYPE_BOOL && to->type == TYPE_INT) to->type = TYPE_BOOL;
    return true;
}

static void name_unit(column_spec *to) {
    static const struct {
        const char *ending;
        column_unit unit;
    } units[] = {{"_ns", UNIT_NS}, {"_bytes", UNIT_BYTES}, {"_share", UNIT_SHARE}};
    str name = str_of(to->name);
    for (size_t i = 0; i < N_OF(units); i++)
        if (str_ends(name, str_of(units[i].ending))) to->unit = units[i].unit;
    if (str_eq(name, STR("slice")) || str_ends(name, STR("_slice"))) to->unit = UNIT_SLICE;
}

static status name_column(result *r, sqlite3_stmt *s, uint32_t i, const char **out,
                          error *err) {
    const char *given = sqlite3_column_name(s, (int)i);
    buf safe = {0};
    if (given) fmt_safe(&safe, str_of(given), "");
    str kept = given && buf_ok(&safe) ? arena_str(r->arena, buf_str(&safe)) : STR_NONE;
    buf_fini(&safe);
    if (!kept.p) FAIL_MEMORY(err);
    *out = kept.p;
    return OK;
}

/* ---- the table --------------------------------------------------------------------------- */

static status text_of_number(result *r, const result_cell *c, str *out, error *err) {
    buf text = {0};
    if (c->type == SQLITE_INTEGER)
        buf_add_i64(&text, c->u.i);
    else
        buf_add_f64(&text, c->u.d);
    *out = buf_ok(&text) ? arena_str(r->arena, buf_str(&text)) : STR_NONE;
    buf_fini(&text);
    if (!out->p) FAIL_MEMORY(err);
    return OK;
}

static status set_cell(result *r, table *t, size_t row, uint32_t i, error *err) {
    const result_cell *c = &r->cells[row * r->n_columns + i];
    str text = c->type == SQLITE_TEXT ? c->u.s : STR_NONE;
    if (c->type == SQLITE_NULL) return OK;
    switch (t->columns[i].type) {
    case TYPE_TEXT:
        if (c->type != SQLITE_TEXT) TRY(text_of_number(r, c, &text, err));
        table_set_text(t, row, i, text);
        break;
    case TYPE_REAL:
        table_set_real(t, row, i, c->type == SQLITE_FLOAT ? c->u.d : (double)c->u.i);
        break;
    default: table_set_int(t, row, i, c->u.i);
    }
    return OK;
}

static status note_cut(const result *r, answer *out, error *err) {
    quality *q = &out->quality;
    if (!r->is_cut) return OK;
    verdict *notes = ARENA_ARRAY(r->arena, verdict, (size_t)q->n_notes + 1);
    if (!notes) FAIL_MEMORY(err);
    if (q->n_notes) memcpy(notes, q->notes, q->n_notes * sizeof *notes);
    notes[q->n_notes++] = (verdict){.id = "query_cut",
                                    .message = MSG_QUERY_CUT,
                                    .severity = SEVERITY_INFO,
                                    .n_args = 1,
                                    .args = {arg_int("count", (int64_t)r->n_rows)}};
    q->notes = notes;
    return OK;
}

status result_end(result *r, sqlite3_stmt *s, answer *out, error *err) {
    column_spec spec[MOST_COLUMNS] = {{0}};
    size_t row;
    str name = table_unique_name(out, "result", r->arena);
    if (!name.p) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < r->n_columns; i++) {
        spec[i].type = type_of(r, i);
        TRY(name_column(r, s, i, &spec[i].name, err));
        if (!origin_unit(r, s, i, &spec[i])) name_unit(&spec[i]);
        if (spec[i].type == TYPE_TEXT) spec[i].unit = UNIT_NONE;
    }
    table *t = table_new(r->arena, name.p, spec, r->n_columns);
    if (!t) FAIL_MEMORY(err);
    TRY(table_reserve(t, r->n_rows, err));
    for (size_t i = 0; i < r->n_rows; i++) {
        TRY(table_add_row(t, &row, err));
        for (uint32_t k = 0; k < r->n_columns; k++) TRY(set_cell(r, t, row, k, err));
    }
    t->screen = (table_screen){.place = (uint16_t)(out->n_tables + 1)};
    out->tables[out->n_tables++] = t;
    return note_cut(r, out, err);
}
