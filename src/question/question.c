/* question.c: filling a question term by term, and what its terms mean together. */
#include "question/question.h"

#include <stdio.h>

#include "base/message_ids_cli.h"

/* ---- terms ------------------------------------------------------------------------------- */

static void *field_of(const term *t, void *of) {
    return (char *)of + t->offset;
}

const term *term_find(const term *terms, size_t n, uint32_t groups, str name) {
    for (size_t i = 0; i < n; i++)
        if ((terms[i].groups & groups) && value_same_name(str_of(terms[i].name), name))
            return &terms[i];
    return NULL;
}

void terms_clear(const term *terms, size_t n, void *of) {
    for (size_t i = 0; i < n; i++) value_clear(terms[i].kind, field_of(&terms[i], of));
}

status term_set(const term *t, const spelling *as, str value, void *of, error *err) {
    if (value_parse(t->kind, t->value, value, field_of(t, of))) return OK;
    return value_fail(t->kind, t->value, as, value, err);
}

/* ---- a question -------------------------------------------------------------------------- */

void question_begin(question *q) {
    *q = (question){.params = PARAMS_WHOLE};
#define CLEAR(field, name, kind, value, help, ...) value_clear(VALUE_##kind, &q->field);
    QUESTION_TERMS(CLEAR)
#undef CLEAR
}

static status fail_both(const char *dashes, error *err) {
    char step[16], window[32];
    snprintf(step, sizeof step, "%sstep", dashes);
    snprintf(window, sizeof window, "%sfrom/%sto", dashes, dashes);
    FAIL(err, ERR_ARG, NOPOS, MSG_CLI_STEP_AND_TIME, arg_cstr("step", step),
         arg_cstr("window", window));
}

status question_end(question *q, const char *dashes, error *err) {
    time_window w = {q->from, q->to};
    if (!window_is_open(w) && !steps_are_all(q->step)) return fail_both(dashes, err);
    if (max_i64(q->from, 0) >= q->to) FAIL0(err, ERR_ARG, NOPOS, MSG_CLI_EMPTY_WINDOW);
    q->params.from_ns = q->from;
    q->params.to_ns = q->to;
    q->params.first_step = q->step.first;
    q->params.last_step = q->step.last;
    q->params.tables = q->table;
    return OK;
}

arrangement question_arrangement(const question *q) {
    return (arrangement){.table = q->table,
                         .search = q->search,
                         .filter = q->filter,
                         .sort = q->sort,
                         .offset = (size_t)max_i64(q->offset, 0),
                         .limit = (size_t)max_i64(q->limit, 0)};
}
