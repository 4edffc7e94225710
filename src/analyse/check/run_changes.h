/* run_changes.h: what is known of the difference of two runs beyond their numbers: is it the
 * same work, how much of the change is only a slower CPU, how much of it is certain.
 *
 * For two traces `diff` knows it call by call. For a baseline only the parts of its steps and
 * the times of its operators are known: what the host takes for the same operators says how
 * fast it was, and a part that changed beyond that, more than its own spread, is certain. */
#ifndef ANALYSE_RUN_CHANGES_H
#define ANALYSE_RUN_CHANGES_H

#include "analyse/check/measures.h"

typedef struct {
    bool other_work;
    double reshaped;        /* share of the calls that have other shapes; NaN: not known */
    double host_speed_ns;   /* of a step: the host is so much slower in all its calls */
    double certain_ns;      /* of a step: the sum of what is certain */
    double certain_host_ns; /* the same without what a device does */
    const table *causes;    /* of diff; NULL: not both are traces */
} run_changes;

status run_changes_find(const analysis_input *in, const params *p, const measures *base,
                        const measures *candidate, arena *a, run_changes *out,
                        error *err) MUST_USE;

/* The value of a column of `causes`, by name; NaN, none, when it is null. */
double cause_number(const table *causes, size_t row, const char *name);
str cause_text(const table *causes, size_t row, const char *name);

#endif
