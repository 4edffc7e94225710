/* stages.h: data loading, forward, backward, optimizer: which part of training the host was
 * in.
 *
 * Producers that mark the stages (data loader, optimizer, forward and backward ranges) are
 * believed; what they do not mark is found from evidence: nodes of the autograd engine are
 * backward, modules and ops with an autograd sequence number are forward, and so is every op
 * of a trace without backward work. Pieces of evidence of one stage that follow each other
 * inside one step, with none of another stage between, make one segment with the gaps
 * between them; forward and backward ranges that the producer marked stand for themselves. */
#ifndef ANALYSE_STAGES_H
#define ANALYSE_STAGES_H

#include "analyse/intervals.h"
#include "store/trace.h"

typedef enum {
    STAGE_DATA,
    STAGE_FORWARD,
    STAGE_BACKWARD,
    STAGE_OPTIMIZER,
    STAGE_OTHER,
    N_STAGES
} stage;

typedef struct {
    interval range;
    stage stage;
    bool marked; /* the producer's own forward or backward range */
} stage_segment;

typedef struct {
    stage_segment *v; /* by time, disjoint, none of STAGE_OTHER */
    size_t n, cap;
} stage_segments;

/* "data_loading", "forward", … */
str stage_name(stage s);
status stages_find(const trace *t, arena *a, stage_segments *out, error *err) MUST_USE;
/* The stage at a host time; STAGE_OTHER between segments. */
stage stage_at(const stage_segments *s, int64_t time_ns);

#endif
