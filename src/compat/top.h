/* top.h: the operators that take longest, one by one, with what they compute and move:
 * MegEngine's profile_analyze for any trace.
 *
 * A record is one execution of an operator. Its time is that of its device work or of its
 * thread:
 *   time       of a producer's sample (start, kern, end): end - start, of several samples
 *              the longest; elsewhere the sum of the kernels the operator launched itself,
 *              or its own host time
 *   kern       the waiting part: from start to the kernel's start
 *   flops      computation / time; bandwidth: memory / time
 * What was not recorded is NaN and counts as nothing: it sorts last, sums ignore it. All times
 * are seconds as doubles here, as the producer wrote them: its figures are to be met to the
 * last digit it prints. */
#ifndef ANALYSE_TOP_H
#define ANALYSE_TOP_H

#include "analyse/analysis.h"

typedef enum { TOP_ALL, TOP_MAX, TOP_MIN, TOP_SUM, TOP_MEAN } top_aggregate;
typedef enum {
    TOP_BY_TIME,
    TOP_BY_COMPUTATION,
    TOP_BY_MEMORY,
    TOP_BY_FLOPS,
    TOP_BY_BANDWIDTH,
    TOP_BY_ID
} top_column;

enum { TOP_MOST_TYPES = 16 };

typedef struct {
    int64_t top; /* records of each table; 0 = all, -n = all but the last n */
    uint32_t n_types;
    str types[TOP_MOST_TYPES]; /* keep operators of one of these */
    str name;                  /* regular expression, anchored at the beginning */
    str dtype;                 /* keep operators with an input of it */
    top_aggregate aggregate;
    bool by_type; /* groups are types; else everything is one group */
    bool kern;    /* the waiting part instead of the whole */
    top_column order;
    bool ascending;
    double min_time, max_time;
    bool copy_time;
    const params *window; /* of which only the window and the steps count; NULL = everything */
} top_options;

/* One execution, or one group of them. */
typedef struct {
    double time, computation, memory; /* NaN: not recorded */
    double flops, bandwidth;
    str name, type;
    int64_t id, count; /* id ABSENT_I64: none, or a group; count 0: no group */
    bool has_footprint;
    str in_shapes, in_layouts, out_shapes; /* JSON; {NULL, 0}: not recorded */
} top_record;

typedef struct {
    top_record *v;
    size_t n;
    size_t n_all; /* before `top` cut them */
    double
        total; /* seconds of all operators, whatever the filters say; NaN when there are none */
} top_list;

typedef struct {
    top_list device, host;
    size_t n_copies;
    double copy_total, copy_wait_total;
} top_result;

/* The options of the parameters; ERR_ARG with a sentence when one cannot be understood. */
status top_options_of(const params *p, top_options *out, error *err) MUST_USE;
status top_find(const analysis_input *in, const top_options *o, arena *a, top_result *out,
                error *err) MUST_USE;

#endif
