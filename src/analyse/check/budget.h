/* budget.h: limits that a run is held to, as people write them.
 *
 *     # a step of the model, and what it may cost
 *     step <= +5 %                                   relative to the base
 *     memory < 40 GiB                                absolute
 *     operators[name="aten::mm"].device_total per step <= +10 %
 *     overview.devices[0].utilization > 80 %
 *     kernels.rows < 2000
 *
 * docs/CI.md has the grammar. What a rule names is looked up when it is read: a rule that is
 * read is one that can be asked. */
#ifndef ANALYSE_BUDGET_H
#define ANALYSE_BUDGET_H

#include "analyse/registry.h"

/* What is measured of every run, with the noise of its steps where it has any. */
typedef enum {
    MEASURE_STEP,
    MEASURE_DEVICE,
    MEASURE_HOST,
    MEASURE_MEMORY,
    MEASURE_KERNELS,
    MEASURE_MFU,
    N_MEASURES
} measure_id;
/* "step", …; what it counts in. */
const char *measure_name(measure_id m);
column_unit measure_unit(measure_id m);
/* The word for a unit in a column of tables whose rows have different ones: "ns", "count". */
const char *budget_unit_word(column_unit u);

typedef enum { LIMIT_BELOW, LIMIT_AT_MOST, LIMIT_ABOVE, LIMIT_AT_LEAST } limit_side;
/* Is more of it worse? */
static inline bool limit_is_upper(limit_side s) {
    return s == LIMIT_BELOW || s == LIMIT_AT_MOST;
}

typedef enum { SELECT_EVERY, SELECT_ROW, SELECT_EQUAL } row_choice;

typedef struct {
    str text;    /* as it is written: the name of the check */
    str subject; /* the part before the limit */
    uint32_t line;
    measure_id measure; /* N_MEASURES: a column */
    const analysis_info *analysis;
    const result_info *table;
    const field_info *field; /* NULL: the number of rows */
    row_choice rows;         /* EVERY: each row must keep the limit */
    int64_t row;             /* of SELECT_ROW, from 0 */
    str key, value;          /* of SELECT_EQUAL: a column, and what it must be */
    bool per_step;
    limit_side side;
    bool relative; /* limit: a share of the base's value to be added to it */
    double limit;  /* else in ns, bytes, 0…1 */
    column_unit unit;
} budget_rule;

typedef struct {
    budget_rule *v;
    uint32_t n, cap;
    arena *arena;
} budget;

/* Adds the rules of a text, separated by line breaks or `;`. `name` is what errors call it, a
 * file's path; `wrong` the status of one: ERR_FORMAT for a file, ERR_ARG for an option. Texts
 * are borrowed from `text`, or in the arena. */
typedef struct {
    str text, name;
    status wrong;
} budget_text;
status budget_add(budget *b, const budget_text *from, error *err) MUST_USE;
/* A rule about one measure, relative to the base. */
status budget_add_default(budget *b, measure_id m, double share, error *err) MUST_USE;
/* "5%", "5 %", "0.05": a share. */
bool budget_share(str text, double *out);
/* The same of a parameter; *out stays when it was not given. ERR_ARG. */
status budget_share_param(const params *p, str name, double *out, error *err) MUST_USE;

#endif
