/* arrow.c: a table of the trace as an Arrow IPC stream (base/arrow_ipc.h).
 *
 * Tables and columns are those of SQL (query/sql_columns.h), without the hidden ones: `id` is
 * the row, references are ids, times count from the start of the trace, absent is null. Names
 * and words are dictionaries of what the column holds. One batch, so that a column is one block
 * in the mapped file.
 *
 * First pass over each column: which rows are null (a bit each), which names there are. Then
 * all sizes are known; the second pass writes the values. */
#include "base/arrow_ipc.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "export/export_int.h"
#include "query/sql_columns.h"

typedef struct {
    const sql_column *is;
    uint8_t *valid;     /* a bit for each row */
    uint32_t *place_of; /* of names and words: by number, 0 = unused, else place + 1 */
    uint32_t range;     /* numbers are below this */
    uint32_t n_words;
    uint64_t word_bytes;
} arrow_column;

typedef struct {
    export_ctx *x;
    const sql_table *from;
    cell_reader cells;
    arena arena;
    uint32_t n_rows, n;
    arrow_column columns[MAX_SQL_COLUMNS];
    arrow_field fields[MAX_SQL_COLUMNS];
    arrow_blocks blocks[MAX_SQL_COLUMNS];
} arrow_ctx;

static bool has_words(const arrow_column *c) {
    return c->is->kind == CELL_NAME || c->is->kind == CELL_WORD;
}

static str word_at(const arrow_ctx *w, const arrow_column *c, uint32_t number) {
    const trace *t = w->x->t;
    return c->is->kind == CELL_NAME ? trace_str(t, number) : c->is->word(t, number);
}

/* References are ids, which fit; what has a hop or is computed may be any number. */
static arrow_type type_of(const sql_column *c) {
    if (c->kind == CELL_REAL) return ARROW_F64;
    if (c->kind != CELL_INT) return ARROW_WORDS;
    if (c->target < N_TABLES) return ARROW_U32;
    if (c->is_big) return ARROW_U64;
    if (c->read < 0) return ARROW_I64;
    switch (COLUMN_INFO[c->read].type) {
    case TYPE_U32: return ARROW_U32;
    case TYPE_I32: return ARROW_I32;
    case TYPE_U16: return ARROW_U16;
    case TYPE_U8: return ARROW_U8;
    default: return ARROW_I64;
    }
}

/* ---- first pass: nulls and words --------------------------------------------------------- */

static bool note_cell(arrow_ctx *w, arrow_column *c, uint32_t row) {
    if (c->is->kind == CELL_REAL) return !isnan(cell_real(&w->cells, c->is, row));
    int64_t v = cell_int(&w->cells, c->is, row);
    if (!c->place_of) return v != ABSENT_I64;
    if (v < 0 || v >= c->range || !word_at(w, c, (uint32_t)v).p) return false;
    c->place_of[v] = 1;
    return true;
}

/* Words get their places in the order of their numbers. */
static void place_words(arrow_ctx *w, arrow_column *c) {
    for (uint32_t i = 0; c->place_of && i < c->range; i++) {
        if (!c->place_of[i]) continue;
        c->place_of[i] = ++c->n_words;
        c->word_bytes += arrow_text_bytes(word_at(w, c, i));
    }
}

static status scan_column(arrow_ctx *w, uint32_t i) {
    arrow_column *c = &w->columns[i];
    uint64_t n_valid = 0;
    c->valid = ARENA_ARRAY(&w->arena, uint8_t, sat_size(arrow_bits(w->n_rows) + 1));
    if (has_words(c)) {
        c->range = cell_range(w->x->t, c->is);
        c->place_of = ARENA_ARRAY(&w->arena, uint32_t, (size_t)c->range + 1);
    }
    if (!c->valid || (has_words(c) && !c->place_of)) FAIL_MEMORY(w->x->err);
    for (uint32_t row = 0; row < w->n_rows; row++) {
        if (!note_cell(w, c, row + 1)) continue;
        c->valid[row / 8] |= (uint8_t)(1 << row % 8);
        n_valid++;
    }
    place_words(w, c);
    if (c->word_bytes > ARROW_MAX_TEXT)
        FAIL(w->x->err, ERR_LIMIT, NOPOS, MSG_TABLE_TOO_LARGE, arg_cstr("column", c->is->name));
    w->blocks[i] = arrow_sizes(w->fields[i].type, w->n_rows, w->n_rows - n_valid, 0);
    return OK;
}

/* ---- what it is -------------------------------------------------------------------------- */

static str unit_of(const sql_column *c) {
    switch (c->unit) {
    case UNIT_NS: return STR("ns");
    case UNIT_BYTES: return STR("bytes");
    case UNIT_SHARE: return STR("share");
    case UNIT_SLICE: return STR("slice");
    default: return STR_NONE;
    }
}

static void describe_column(arrow_ctx *w, const sql_column *c) {
    arrow_field *f = &w->fields[w->n];
    const char *doc = c->read >= 0 ? COLUMN_INFO[c->read].doc : "";
    *f = (arrow_field){.name = c->name, .type = type_of(c), .n_about = 3};
    f->about[0] = (arrow_pair){"unit", unit_of(c)};
    f->about[1] = (arrow_pair){"help", *doc ? str_of(doc) : STR_NONE};
    f->about[2] = (arrow_pair){
        "refers_to", c->target < N_TABLES ? str_of(TABLE_INFO[c->target].name) : STR_NONE};
    w->columns[w->n++].is = c;
}

static void put_schema(arrow_ctx *w) {
    export_ctx *x = w->x;
    buf start = {0};
    if (x->t->base_unix_ns != ABSENT_I64)
        buf_add_i64(&start, add_i64(x->t->base_unix_ns, x->t->start_ns));
    const arrow_pair about[] = {{"table", str_of(w->from->name)},
                                {"help", str_of(TABLE_INFO[w->from->table].doc)},
                                {"start_unix_ns", buf_str(&start)}};
    arrow_add_schema(&x->out, w->fields, w->n, about, N_OF(about));
    x->out.failed |= start.failed;
    buf_fini(&start);
}

/* ---- second pass: writing ---------------------------------------------------------------- */

static status put_words(arrow_ctx *w, uint32_t i) {
    const arrow_column *c = &w->columns[i];
    buf *out = &w->x->out;
    arrow_blocks b = arrow_sizes(ARROW_TEXT, c->n_words, 0, c->word_bytes);
    uint32_t at = 0;
    arrow_add_dictionary(out, i, c->n_words, &b);
    buf_add(out, &at, sizeof at);
    for (uint32_t k = 0; k < c->range; k++) {
        if (!c->place_of[k]) continue;
        at += (uint32_t)arrow_text_bytes(word_at(w, c, k));
        buf_add(out, &at, sizeof at);
        TRY(export_row_done(w->x));
    }
    arrow_pad(out, b.values);
    for (uint32_t k = 0; k < c->range; k++) {
        if (!c->place_of[k]) continue;
        arrow_add_text(out, word_at(w, c, k));
        TRY(export_row_done(w->x));
    }
    arrow_pad(out, b.text);
    return OK;
}

static bool is_valid(const arrow_column *c, uint32_t row) {
    return (c->valid[row / 8] >> row % 8 & 1) != 0;
}

/* As eight bytes, whose low ones come first; 0 where there is none. */
static int64_t value_bits(arrow_ctx *w, const arrow_column *c, uint32_t row) {
    if (!is_valid(c, row)) return 0;
    if (c->is->kind == CELL_REAL) {
        double real = cell_real(&w->cells, c->is, row + 1);
        int64_t bits;
        memcpy(&bits, &real, sizeof bits);
        return bits;
    }
    int64_t value = cell_int(&w->cells, c->is, row + 1);
    return c->place_of ? (int64_t)c->place_of[value] - 1 : value;
}

static status put_values(arrow_ctx *w, const arrow_column *c, const arrow_blocks *b) {
    buf *out = &w->x->out;
    size_t bytes = w->n_rows ? (size_t)(b->values / w->n_rows) : 0; /* of a value */
    for (uint32_t row = 0; row < w->n_rows; row++) {
        int64_t bits = value_bits(w, c, row);
        buf_add(out, &bits, bytes);
        TRY(export_row_done(w->x));
    }
    arrow_pad(out, b->values);
    return OK;
}

static status put_rows(arrow_ctx *w) {
    buf *out = &w->x->out;
    arrow_add_batch(out, w->fields, w->blocks, w->n, w->n_rows);
    for (uint32_t i = 0; i < w->n; i++) {
        const arrow_blocks *b = &w->blocks[i];
        buf_add(out, w->columns[i].valid, (size_t)b->validity);
        arrow_pad(out, b->validity);
        TRY(export_row_done(w->x));
        TRY(put_values(w, &w->columns[i], b));
    }
    return OK;
}

static status put_table(arrow_ctx *w) {
    for (uint16_t i = 0; i < w->from->n; i++)
        if (!w->from->columns[i].hidden) describe_column(w, &w->from->columns[i]);
    for (uint32_t i = 0; i < w->n; i++) TRY(scan_column(w, i));
    put_schema(w);
    for (uint32_t i = 0; i < w->n; i++)
        if (w->columns[i].place_of) TRY(put_words(w, i));
    TRY(put_rows(w));
    arrow_add_end(&w->x->out);
    return OK;
}

/* ---- which table ------------------------------------------------------------------------- */

/* The name that SQL has for it. */
static const char *name_of(int tab) {
    return tab == TABLE_group ? "comm_group" : TABLE_INFO[tab].name;
}

const char *export_table_name(const trace *t, uint32_t i) {
    for (int k = 0; k < N_TABLES; k++)
        if (trace_rows(t, k) > 1 && i-- == 0) return name_of(k);
    return NULL;
}

static status find_table(const export_ctx *x, const sql_table *tables, const sql_table **out) {
    str wanted = x->table.n ? x->table : STR("slice");
    for (int i = 0; i < N_TABLES; i++) {
        if (!str_eq(str_of(tables[i].name), wanted)) continue;
        *out = &tables[i];
        return OK;
    }
    const char *name;
    name_hint hint = hint_for(wanted);
    for (uint32_t i = 0; (name = export_table_name(x->t, i)); i++)
        hint_offer(&hint, str_of(name));
    FAIL(x->err, ERR_ARG, NOPOS, MSG_EXPORT_NO_TABLE, arg_text("name", wanted),
         HINT_ARGS(&hint));
}

status export_arrow(export_ctx *x) {
    arrow_ctx *w = mem_zalloc(sizeof *w);
    if (!w) FAIL_MEMORY(x->err);
    w->x = x;
    arena_init(&w->arena, 0);
    sql_table *tables = ARENA_ARRAY(&w->arena, sql_table, N_TABLES);
    status s = tables ? sql_tables_fill(tables, &w->arena, x->err)
                      : error_set(x->err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (s == OK) s = find_table(x, tables, &w->from);
    if (s == OK) {
        uint32_t rows = trace_rows(x->t, w->from->table);
        w->cells = (cell_reader){.t = x->t};
        w->n_rows = rows ? rows - 1 : 0; /* row 0 is the null row */
        s = put_table(w);
    }
    arena_fini(&w->arena);
    mem_free(w);
    return s;
}
