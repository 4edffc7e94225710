/* present_int.h: what the emitters share. */
#ifndef PRESENT_PRESENT_INT_H
#define PRESENT_PRESENT_INT_H

#include "present/present.h"

typedef status (*emit_fn)(const answer *a, const present_options *o, buf *out, error *err);

status emit_text(const answer *a, const present_options *o, buf *out, error *err) MUST_USE;
status emit_json(const answer *a, const present_options *o, buf *out, error *err) MUST_USE;
status emit_csv(const answer *a, const present_options *o, buf *out, error *err) MUST_USE;
status emit_md(const answer *a, const present_options *o, buf *out, error *err) MUST_USE;
status emit_columns(const answer *a, const present_options *o, buf *out, error *err) MUST_USE;
status emit_arrow(const answer *a, const present_options *o, buf *out, error *err) MUST_USE;

/* To be called after each row: hands the buffer on when it is full enough. */
status emit_row_end(const present_options *o, buf *out, error *err) MUST_USE;

/* The value as a person reads it, by its unit: 12.5 ms, 1.5 MB, 34.0 %; nothing for null. */
void cell_put(buf *out, const column *c, size_t row, lang l);
/* The same of a table's column, whose unit may be in another column of the row. */
void cell_put_in(buf *out, const table *t, uint32_t col, size_t row, lang l);
/* The value as a program reads it: whole numbers, shortest reals, texts as they are. */
void cell_put_raw(buf *out, const column *c, size_t row);
bool cell_is_null(const column *c, size_t row);
/* Does any row held have a value in this column? */
bool column_is_recorded(const table *t, uint32_t col);

/* The rows of a table to be shown, in this order, and the columns that are not. */
typedef struct {
    uint32_t *index; /* NULL: the first n */
    size_t n;
    uint32_t depth;     /* column that says how far to indent the names, NO_COLUMN */
    const char *hidden; /* columns that are not shown, separated by blanks; NULL: none */
} row_choice;
#define NO_COLUMN UINT32_MAX

/* These rows under their header, without notes. */
status rows_put(const table *t, const row_choice *rows, const present_options *o, buf *out,
                error *err) MUST_USE;

/* Curves: y over x, one for each text in `by` (or one, when it is NO_COLUMN), at most this
 * many. */
typedef struct {
    uint32_t x, y, by;
    size_t curves;
} chart_axes;
status chart_put(const table *t, const chart_axes *axes, const present_options *o, buf *out,
                 error *err) MUST_USE;

/* The answer as one screen of a terminal. */
status emit_screen(const answer *a, const present_options *o, buf *out, error *err) MUST_USE;

/* The named values of a sentence as a JSON object. */
void values_put_json(buf *out, const verdict *v);
/* The members of an answer's JSON object: what was asked, what the answer is based on, the
 * sentence that answers it (there must be one). */
void source_put_json(buf *out, const answer_source *s);
void quality_put_json(buf *out, const quality *q, lang l);
void verdict_put_json(buf *out, const verdict *v);

/* A table with sentences in it as numbered paragraphs for a terminal: the first sentence of a
 * row as its head, the important other values on a line, then the other sentences. */
bool has_sentences(const table *t);
/* One row of it, numbered from 1. */
void paragraph_put(const table *t, const present_options *o, size_t row, buf *out);
/* Its head, the first values and what to do. */
void paragraph_put_short(const table *t, const present_options *o, size_t row, buf *out);
status put_paragraphs(const table *t, const present_options *o, buf *out, error *err) MUST_USE;

/* Escape sequences for emphasis, when the reader has a terminal. */
#define SGR_BOLD "1"
#define SGR_DIM "2"
#define SGR_BAR "36"
/* The color of a severity by its name, as in tables; NULL when it is not one. */
const char *severity_sgr_of(str name);
void color_begin(buf *out, const present_options *o, const char *sgr);
void color_end(buf *out, const present_options *o);
/* A sentence and a line break, in this color (NULL: none), on a terminal in lines that fit. */
void sentence_put(buf *out, const present_options *o, const char *sgr, const verdict *v);
/* The line above a table. */
void title_put(const table *t, const present_options *o, buf *out);
/* What is below a table that was cut, when it was. */
void rows_put_note(const table *t, const present_options *o, buf *out);

/* Names in JSON: "int", "string"; "ns", "bytes" (NULL for a column without unit). */
const char *type_name(column_type t);
const char *unit_name(column_unit u);

#endif
