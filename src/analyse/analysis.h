/* analysis.h: what an analysis is: a pure function from sealed traces and parameters to tables.
 *
 * Each question is one file with one function `analyse_X`, listed in registry.def. It reads, never
 * changes; allocates only from the request's arena; emits ids and named values, never sentences. */
#ifndef ANALYSE_ANALYSIS_H
#define ANALYSE_ANALYSIS_H

#include "base/pool.h"
#include "store/trace_source.h"
#include "table/table.h"

/* One worker's trace, as session/ found it. */
typedef trace_source analysis_trace;

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

/* The parameters every analysis understands; those of one analysis stand in `extra`. Sorting,
 * searching and limiting are done by the caller on the finished tables. */
typedef struct {
    group_by group;
    int64_t from_ns, to_ns; /* window as offsets from the trace's start; ABSENT_I64 = open */
    int64_t first_step, last_step; /* by number; ABSENT_I64 = all */
    pool *pool;                    /* may be NULL */
    uint32_t n_extra;
    struct {
        str name, value;
    } extra[32];
} params;

typedef struct {
    const analysis_trace *traces; /* at least one; the first is the chosen worker */
    uint32_t n_traces;
} analysis_input;

/* Is what was opened a summary, so that there are no events to ask about? */
static inline bool input_is_summary(const analysis_input *in) {
    return in->traces[0].trace->summary != NULL;
}

typedef status (*analysis_fn)(const analysis_input *in, const params *p, arena *a, answer *out,
                              error *err);

#define ANALYSIS(name, all_workers, help)                                                   \
    status analyse_##name(const analysis_input *in, const params *p, arena *a, answer *out, \
                          error *err);
#include "analyse/registry.def"

/* The filled quality of a trace: events read, dropped by cause, kernels linked. Every analysis
 * starts its answer with it. */
status answer_begin(const char *analysis, const analysis_input *in, arena *a, answer *out,
                    error *err) MUST_USE;

/* A table of registry.def, all columns of it, in order. Column indices are the enums
 * OPERATORS_OPERATORS_name etc. made below. Added to the answer. NULL when out of memory. */
table *answer_table(answer *out, arena *a, const char *table_name);
/* Drops the columns whose condition (registry.def, `when`) does not hold for these parameters. */
void answer_finish(answer *out, const params *p);

/* Column indices: COL(operators, operators, host_total). */
#define RESULT(analysis, table) enum {
#define FIELD(analysis, table, column, type, unit, help, when) \
    COL_##analysis##_##table##_##column,
#define RESULT_END(analysis, table) \
    N_COL_##analysis##_##table      \
    }                               \
    ;
#include "analyse/registry.def"
#define COL(analysis, table, column) ((uint32_t)COL_##analysis##_##table##_##column)

#endif
