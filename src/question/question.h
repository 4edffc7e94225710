/* question.h: what can be asked about traces, once for every door: command line, URL, and those
 * that come.
 *
 * A door has a table of terms: those of a question it takes, and its own. It cuts what it got
 * into names and values, finds the term of each name, and sets it:
 *
 *     question_begin(&q);
 *     …  t = term_find(TERMS, N_OF(TERMS), groups, name);
 *        if (t) TRY(term_set(t, &as, value, &mine, err));
 *        else if (p is a parameter of the analysis)
 *            TRY(params_add(&q.params, p, &as, value, err));
 *     TRY(question_end(&q, "--", err));
 *
 * Which terms a door takes, and in which order it lists them, is its own affair; names, kinds
 * and help of those of a question are in terms.def. */
#ifndef QUESTION_QUESTION_H
#define QUESTION_QUESTION_H

#include "question/params.h"
#include "question/terms.def"
#include "table/arrange.h"

#define QUESTION_FIELD(field, name, kind, value, help, ...) value_##kind field;
typedef struct {
    QUESTION_TERMS(QUESTION_FIELD)
    params params; /* of the analysis; its window and steps after question_end */
} question;

/* One name that a door understands. */
typedef struct {
    const char *name;
    value_kind kind;
    const char *value; /* the word for it in the help; of CHOICE a|b|c */
    uint32_t groups;   /* who takes it, in bits of the door */
    uint16_t help;
    char letter;   /* its short form, 0: none */
    size_t offset; /* of its field in what the door fills */
} term;

/* The term of this name in one of these groups; NULL when there is none. */
const term *term_find(const term *terms, size_t n, uint32_t groups, str name);
/* All fields as if nothing was given. */
void terms_clear(const term *terms, size_t n, void *of);
/* ERR_ARG when the value is not of its kind. Texts are borrowed. */
status term_set(const term *t, const spelling *as, str value, void *of, error *err) MUST_USE;

/* Nothing asked. */
void question_begin(question *q);
/* When all is set: checks what one term alone cannot know. Names in an error have these
 * dashes. */
status question_end(question *q, const char *dashes, error *err) MUST_USE;

/* Which tables and rows. */
arrangement question_arrangement(const question *q);

#endif
