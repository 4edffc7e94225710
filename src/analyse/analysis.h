/* analysis.h: what an analysis is: a pure function from sealed traces and parameters to tables.
 *
 * Each question is one file with one function `analyse_X`, listed in registry.def. It reads,
 * never changes; allocates only from the request's arena; emits ids and named values, never
 * sentences. */
#ifndef ANALYSE_ANALYSIS_H
#define ANALYSE_ANALYSIS_H

#include "question/params.h"
#include "store/trace_source.h"
#include "table/table.h"

/* One worker's trace, as session/ found it. */
typedef trace_source analysis_trace;

typedef struct analysis_input {
    const analysis_trace *traces; /* at least one; the first is the chosen worker */
    uint32_t n_traces;
    const struct analysis_input *against; /* what a comparison compares it with, else NULL */
    const struct analysis_input *also; /* further runs of the same program, of a comparison */
    uint32_t n_also;
} analysis_input;

/* Is what was opened a summary, so that there are no events to ask about? */
static inline bool input_is_summary(const analysis_input *in) {
    return in->traces[0].trace->summary != NULL;
}

typedef status (*analysis_fn)(const analysis_input *in, const params *p, arena *a, answer *out,
                              error *err);

#define ANALYSIS(name, workers, traits, help)                                               \
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
/* Drops the columns whose condition (registry.def, `when`) does not hold for these parameters.
 * When the input is truncated, the verdict says that, whatever was found in the rest. */
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
