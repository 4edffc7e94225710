/* question.h: what can be asked about traces, once for every door: command line, URL, and those
 * that come.
 *
 * A door has a table of terms: those of a question it takes, and its own. It cuts what it got into
 * names and values, finds the term of each name, and sets it:
 *
 *     question_begin(&q);
 *     …  t = term_find(TERMS, N_OF(TERMS), groups, name);
 *        if (t) TRY(term_set(t, &as, value, &mine, err));
 *        else if (p is a parameter of the analysis) TRY(params_add(&q.params, p, &as, value, err));
 *     TRY(question_end(&q, "--", err));
 *
 * What is a term and in which order a door lists them is the door's; names, kinds and help of those
 * of a question are here: TERM_x(X, …) is X(field, name, kind, value, help, …). */
#ifndef QUESTION_QUESTION_H
#define QUESTION_QUESTION_H

#include "question/params.h"
#include "table/arrange.h"

#define TERM_run(X, ...) X(run, "run", TEXT, "NAME", OPT_RUN, __VA_ARGS__)
#define TERM_worker(X, ...) X(worker, "worker", TEXT, "NAME", OPT_WORKER, __VA_ARGS__)
#define TERM_span(X, ...) X(span, "span", TEXT, "N", OPT_SPAN, __VA_ARGS__)
#define TERM_all_workers(X, ...) \
    X(all_workers, "all-workers", FLAG, "", OPT_ALL_WORKERS, __VA_ARGS__)
#define TERM_from(X, ...) X(from, "from", FROM, "TIME", OPT_FROM, __VA_ARGS__)
#define TERM_to(X, ...) X(to, "to", TO, "TIME", OPT_TO, __VA_ARGS__)
#define TERM_step(X, ...) X(step, "step", STEPS, "A..B", OPT_STEP, __VA_ARGS__)
#define TERM_sort(X, ...) \
    X(sort, "sort", ORDER, "COLUMN[:asc|:desc][,…]", OPT_SORT, __VA_ARGS__)
#define TERM_search(X, ...) X(search, "search", TEXT, "TEXT", OPT_SEARCH, __VA_ARGS__)
#define TERM_filter(X, ...) X(filter, "filter", TEXT, "WORDS", OPT_FILTER, __VA_ARGS__)
#define TERM_table(X, ...) X(table, "table", TEXT, "NAME", OPT_TABLE, __VA_ARGS__)
#define TERM_offset(X, ...) X(offset, "offset", COUNT, "N", HTTP_OFFSET, __VA_ARGS__)
#define TERM_limit(X, ...) X(limit, "limit", COUNT, "N", OPT_LIMIT, __VA_ARGS__)
#define QUESTION_TERMS(X, ...)                                                              \
    TERM_run(X, __VA_ARGS__) TERM_worker(X, __VA_ARGS__) TERM_span(X, __VA_ARGS__)          \
        TERM_all_workers(X, __VA_ARGS__) TERM_from(X, __VA_ARGS__) TERM_to(X, __VA_ARGS__)  \
            TERM_step(X, __VA_ARGS__) TERM_sort(X, __VA_ARGS__) TERM_search(X, __VA_ARGS__) \
                TERM_filter(X, __VA_ARGS__) TERM_table(X, __VA_ARGS__)                      \
                    TERM_offset(X, __VA_ARGS__) TERM_limit(X, __VA_ARGS__)

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
/* When all is set: checks what one term alone cannot know. Names in an error have these dashes. */
status question_end(question *q, const char *dashes, error *err) MUST_USE;

/* Which tables and rows. */
arrangement question_arrangement(const question *q);

#endif
