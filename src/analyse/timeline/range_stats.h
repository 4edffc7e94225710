/* range_stats.h: what happened in a range of time on some lanes, added up by name. */
#ifndef ANALYSE_RANGE_STATS_H
#define ANALYSE_RANGE_STATS_H

#include "analyse/analysis.h"
#include "analyse/timeline/lanes.h"

typedef struct {
    const lod *lod;
    const analysis_input *input; /* the trace the lod is of, for the frame of the answer */
    int64_t from_ns, to_ns;      /* absolute, from < to */
    const uint8_t *lanes;        /* by lane id: 1 = wanted; NULL = all but the steps */
} range_question;

/* Answers with the table idle: when no device did anything in the range, by cause. Cost: all
 * slices of the trace, so it is a separate question. */
status range_idle(const range_question *q, arena *a, answer *out, error *err) MUST_USE;
/* Answers with the tables area, tracks and counters. Cost: the slices in the range. */
status range_stats_make(const range_question *q, arena *a, answer *out, error *err) MUST_USE;

#endif
