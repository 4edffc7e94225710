/* present.h: an answer as bytes: text for a terminal, JSON, CSV, Markdown, binary columns,
 * an Arrow stream.
 *
 * Knows tables and words, nothing of traces: a new analysis is written by all forms for
 * nothing. Text and JSON hold the whole answer; csv, md, columns and arrow hold its first
 * table. */
#ifndef PRESENT_PRESENT_H
#define PRESENT_PRESENT_H

#include "base/buf.h"
#include "table/table.h"
#include "text/text.h"

typedef enum {
    FORM_TEXT = 0,
    FORM_JSON,
    FORM_CSV,
    FORM_MD,
    FORM_COLUMNS,
    FORM_ARROW,
    N_FORMS
} form;

/* "text", "json", …, and back; the server's Content-Type of a form. */
const char *form_name(form f);
bool form_of(str name, form *out);
const char *form_media_type(form f);
/* Bytes that no terminal shows. */
bool form_is_binary(form f);

typedef struct {
    lang lang;
    uint32_t width; /* cells of a terminal line; 0 = as wide as needed (text only) */
    bool color;     /* text only: escape sequences for a terminal */
    bool terminal;  /* text only: for eyes: words above columns, the important first, bars */
    bool utf8;      /* the terminal shows block characters */
    /* A screen: the tables that carry the answer (table.screen) in about so many lines, and how
     * to see the rest. UINT32_MAX: those tables with all their rows. 0: everything. */
    uint32_t lines;
    bool details; /* also what was repaired in the file, what is complete, and empty tables */
    /* Takes what is in the buffer and clears it; called occasionally while a long answer is
     * written. NULL: the whole answer stays in the buffer. */
    status (*flush)(void *to, buf *b, error *err);
    void *to;
} present_options;

/* Puts words for the sentences in the answer's tables (TYPE_SENTENCE, TYPE_VALUES become
 * texts), so that they can be searched and sorted: to be called before anything reads the
 * tables. */
status present_resolve(answer *a, lang l, error *err) MUST_USE;

/* Appends the answer to `out`. ERR_MEMORY, ERR_LIMIT or what flush returned; then what is
 * in `out` is of no use. */
status present_answer(form f, const answer *a, const present_options *o, buf *out,
                      error *err) MUST_USE;

/* The first line of an answer that is about several workers, or about one of several; and how
 * many rows a search found. */
void present_scope_text(const answer *a, const present_options *o, buf *out);
/* The sentence that answers the question, in the color of its severity; nothing when there is
 * none. */
void present_verdict_text(const verdict *v, const present_options *o, buf *out);
/* One table as text for a terminal, without title, verdict and quality. */
status present_table_text(const table *t, const present_options *o, buf *out,
                          error *err) MUST_USE;
/* The rows of one table that matter on a screen, at most this many (0 = all), without notes;
 * paragraphs show the head and what to do. */
status present_table_screen(const table *t, size_t rows, const present_options *o, buf *out,
                            error *err) MUST_USE;
/* What the answer is based on, as lines of text for a terminal. */
void present_quality_text(const answer *a, const present_options *o, buf *out);
/* A heading, bold where there is color. */
void present_title_text(str title, const present_options *o, buf *out);

#endif
