/* origins.h: where the time comes from that a job loses by waiting.
 *
 * A step loses what its late ranks cost it (stragglers.h). When a step has several, the latest
 * has what it is later than the next, that one what it is later than the third, and so on:
 * repaired one after the other from the latest on, each saves its part. What the ranks were
 * blocked beyond that, by median, is not the fault of any: the stages of a pipeline wait for
 * each other by design, or the waiting moves around. The costs of all origins are what the job
 * lost, once. */
#ifndef ANALYSE_ORIGINS_H
#define ANALYSE_ORIGINS_H

#include "analyse/run/distributed.h"

/* Table origins. */
status origins_write(run_question *q, error *err) MUST_USE;

#endif
