/* paragraphs.c: a table with sentences in it, for a terminal: one numbered paragraph for each
 * row.
 *
 *   1. The data loader keeps the device waiting
 *      saves 67.3 ms, share 72.4 %, severity critical, step 2
 *      Evidence as a sentence, broken into lines that fit.
 *      Suggestion likewise.
 *
 * Sentences do not fit into columns side by side: cut in the middle they say nothing. The first
 * sentence of a row is its head. Below it are, on one line, the other values that have a rank
 * (SHOW of the registry) and are not null, then the other sentences with a rank. Columns
 * without a rank are named at the end, so nothing vanishes silently. */
#include "base/message_ids_cli.h"
#include "present/present_int.h"
#include "present/width.h"

#define INDENT 3       /* cells of "1. " */
#define SHORT_VALUES 3 /* ranks that a short paragraph shows */

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

/* The first sentence; on a terminal in the color of the row's severity, when it has one. */
static void put_head(const table *t, const present_options *o, size_t row, buf *out) {
    uint32_t i = 0, how = table_column(t, STR("severity"));
    const char *sgr = NULL;
    while (t->columns[i].unit != UNIT_WORDS) i++;
    if (o->terminal && how != UINT32_MAX && !cell_is_null(&t->columns[how], row))
        sgr = severity_sgr_of(t->columns[how].v.s[row]);
    color_begin(out, o, SGR_BOLD);
    if (sgr) color_begin(out, o, sgr);
    buf_printf(out, "%zu. ", row + 1);
    str head = cell_is_null(&t->columns[i], row) ? STR_NONE : t->columns[i].v.s[row];
    if (o->terminal && o->width > INDENT && width_of(head) + INDENT > o->width) {
        size_t start = out->n; /* the number takes the place of the first indentation */
        width_put_lines(out, head, INDENT, o->width);
        if (buf_ok(out)) {
            memmove(out->p + start, out->p + start + INDENT, out->n - start - INDENT);
            out->n -= INDENT + 1; /* and the color ends before the line */
        }
    } else {
        width_put(out, head);
    }
    color_end(out, o);
    buf_add_byte(out, '\n');
}

/* "saves 67.3 ms, severity critical", up to this rank. */
static void put_values(const table *t, const present_options *o, size_t row, uint16_t last,
                       buf *out) {
    buf line = {0};
    uint32_t i;
    for (uint16_t rank = 1; rank <= last && (i = column_of_rank(t, rank)) != UINT32_MAX;
         rank++) {
        const column *c = &t->columns[i];
        if (c->unit == UNIT_WORDS || cell_is_null(c, row)) continue;
        if (line.n != 0) buf_add_cstr(&line, ", ");
        buf_add_cstr(&line, o->terminal ? text_header(c->name, o->lang) : c->name);
        buf_add_byte(&line, ' ');
        if (o->terminal && c->type == TYPE_TEXT)
            width_put(&line, text_value_word(c->name, c->v.s[row], o->lang));
        else
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

/* What to do comes last. */
static void put_last_sentence(const table *t, const present_options *o, size_t row, buf *out) {
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0, n = 0; i < t->n_columns; i++) {
        const column *c = &t->columns[i];
        if (c->unit == UNIT_WORDS && n++ > 0 && c->rank != 0 && !cell_is_null(c, row))
            found = i;
    }
    if (found != UINT32_MAX) width_put_lines(out, t->columns[found].v.s[row], INDENT, o->width);
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

void paragraph_put(const table *t, const present_options *o, size_t row, buf *out) {
    put_head(t, o, row, out);
    put_values(t, o, row, UINT16_MAX, out);
    put_sentences(t, o, row, out);
}

void paragraph_put_short(const table *t, const present_options *o, size_t row, buf *out) {
    put_head(t, o, row, out);
    put_values(t, o, row, SHORT_VALUES, out);
    put_last_sentence(t, o, row, out);
}

status put_paragraphs(const table *t, const present_options *o, buf *out, error *err) {
    for (size_t row = 0; row < t->n_rows; row++) {
        paragraph_put(t, o, row, out);
        TRY(emit_row_end(o, out, err));
    }
    rows_put_note(t, o, out);
    put_hidden(t, o, out);
    return OK;
}
