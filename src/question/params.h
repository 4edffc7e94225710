/* params.h: what a question tells the analysis that answers it: the part of the trace, and the
 * parameters of that one analysis (registry.def, PARAM). */
#ifndef QUESTION_PARAMS_H
#define QUESTION_PARAMS_H

#include "base/pool.h"
#include "question/value.h"

typedef enum {
    GROUP_NAME = 0,
    GROUP_NAME_SHAPE,
    GROUP_NAME_STACK,
    GROUP_NAME_OP,
    GROUP_LAUNCH,
    GROUP_TYPE,
    GROUP_NAME_SHAPE_STACK,
    GROUP_SUBGRAPH,
    N_GROUPS
} group_by;

/* The parameters every analysis understands; those of one analysis are in `extra`. Sorting,
 * searching and limiting are done by the caller on the finished tables. */
typedef struct {
    group_by group;
    int64_t from_ns, to_ns; /* window as offsets from the trace's start; open: window.h */
    int64_t first_step, last_step;
    pool *pool; /* may be NULL */
    str tables; /* "a,b": the only ones that will be shown, others may stay empty; none: all */
    uint32_t n_extra;
    struct {
        str name, value;
        spelling as; /* for errors; empty when no reader wrote it */
    } extra[32];
} params;

/* A question about the whole trace: const params p = PARAMS_WHOLE; */
#define PARAMS_WHOLE                                                        \
    {                                                                       \
        .from_ns = OPEN_START, .to_ns = OPEN_END, .first_step = OPEN_START, \
        .last_step = OPEN_END                                               \
    }

/* Will this table be read? Expensive ones are not made otherwise. */
bool params_want(const params *p, const char *table);

static inline time_window params_window(const params *p) {
    return (time_window){p->from_ns, p->to_ns};
}
static inline step_range params_steps(const params *p) {
    return (step_range){p->first_step, p->last_step};
}

/* A parameter that an analysis takes. */
typedef struct {
    const char *analysis, *name; /* "operators", "group_by" */
    value_kind kind;
    const char *fallback,
        *values; /* values: of CHOICE a|b|c, else the word for it in the help */
    uint16_t help;
} param_info;

/* Adds what a reader gave, checked; a TEXT may be given several times, of the others the last
 * one counts. ERR_ARG when the value is wrong or there are too many. */
status params_add(params *to, const param_info *p, const spelling *as, str value,
                  error *err) MUST_USE;

/* What was given last, {NULL, 0} when nothing was. A FLAG is yes or no. */
str param_text(const params *p, str name);
bool param_flag(const params *p, str name);
/* A TIME of value.h; *out stays when nothing was given. ERR_ARG. */
status param_time(const params *p, str name, int64_t *out, error *err) MUST_USE;
/* A whole number from 0 on, likewise. */
status param_count(const params *p, str name, int64_t *out, error *err) MUST_USE;
/* What is wrong with a value that the analysis alone can judge: the name as the reader wrote
 * it, and ERR_ARG with the form it must have. */
str param_written(const params *p, str name);
status param_fail(const params *p, str name, const char *form, error *err);

/* "name+shape" and back. */
const char *group_by_name(group_by g);
bool group_by_of(str name, group_by *out);

#endif
