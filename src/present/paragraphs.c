/* paragraphs.c: a table with sentences in it, for a terminal: one numbered paragraph for each
 * row.
 *
 *   1. The data loader keeps the device waiting
 *      saves 67.3 ms, share 72.4 %, severity critical, step 2
 *      Evidence as a sentence, broken into lines that fit.
 *      Suggestion likewise.
 *
 * Sentences do not fit into columns beside each other: cut in the middle they tell nothing. The
 * first sentence of a row is its head. Below it stand, on one line, the other values that have
 * a rank (SHOW of the registry) and are not null, then the other sentences with a rank. Columns
 * without a rank are named at the end, so nothing vanishes silently. */
#include "present/present_int.h"
#include "present/width.h"

#define INDENT 3 /* cells of "1. " */

bool has_sentences(const table *t) {
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (t->columns[i].unit == UNIT_WORDS) return true;
    return false;
}

/* The column with this rank, UINT32_MAX when there is none. */
static uint32_t column_of_rank(const table *t, uint16_t rank) {
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (t->columns[i].rank == rank) return i;
    return UINT32_MAX;
}

static void put_head(const table *t, const present_options *o, size_t row, buf *out) {
    uint32_t i = 0;
    while (t->columns[i].unit != UNIT_WORDS) i++;
    color_begin(out, o, SGR_BOLD);
    buf_printf(out, "%zu. ", row + 1);
    if (!cell_is_null(&t->columns[i], row)) width_put(out, t->columns[i].v.s[row]);
    color_end(out, o);
    buf_add_byte(out, '\n');
}

/* "saves 67.3 ms, severity critical". */
static void put_values(const table *t, const present_options *o, size_t row, buf *out) {
    buf line = {0};
    uint32_t i;
    for (uint16_t rank = 1; (i = column_of_rank(t, rank)) != UINT32_MAX; rank++) {
        const column *c = &t->columns[i];
        if (c->unit == UNIT_WORDS || cell_is_null(c, row)) continue;
        if (line.n != 0) buf_add_cstr(&line, ", ");
        buf_add_cstr(&line, c->name);
        buf_add_byte(&line, ' ');
        cell_put(&line, c, row, o->lang);
    }
    color_begin(out, o, SGR_DIM);
    width_put_lines(out, buf_str(&line), INDENT, o->width);
    color_end(out, o);
    if (!buf_ok(&line)) out->failed = true;
    buf_fini(&line);
}

static void put_sentences(const table *t, const present_options *o, size_t row, buf *out) {
    bool head = true;
    for (uint32_t i = 0; i < t->n_columns; i++) {
        const column *c = &t->columns[i];
        if (c->unit != UNIT_WORDS) continue;
        if (!head && c->rank != 0 && !cell_is_null(c, row))
            width_put_lines(out, c->v.s[row], INDENT, o->width);
        head = false;
    }
}

static void put_hidden(const table *t, const present_options *o, buf *out) {
    buf names = {0};
    for (uint32_t i = 0; i < t->n_columns; i++) {
        if (t->columns[i].rank != 0 || t->n_rows == 0) continue;
        if (names.n != 0) buf_add_cstr(&names, ", ");
        buf_add_cstr(&names, t->columns[i].name);
    }
    if (names.n != 0) {
        color_begin(out, o, SGR_DIM);
        text_put(out, o->lang, MSG_TEXT_IN_JSON, arg_text("columns", buf_str(&names)));
        color_end(out, o);
        buf_add_byte(out, '\n');
    }
    if (!buf_ok(&names)) out->failed = true;
    buf_fini(&names);
}

status put_paragraphs(const table *t, const present_options *o, buf *out, error *err) {
    for (size_t row = 0; row < t->n_rows; row++) {
        put_head(t, o, row, out);
        put_values(t, o, row, out);
        put_sentences(t, o, row, out);
        TRY(emit_row_end(o, out, err));
    }
    rows_put_note(t, o, out);
    put_hidden(t, o, out);
    return OK;
}
