/* job_changes.h: what is to be different in a job, and what it touches on each rank.
 *
 * Changes by name and flags are those of one rank (scenario.h), on every rank. Those of the job
 * become lists of calls and work on the ranks they are about:
 *
 *   no_stragglers, rank 3   what makes a rank late takes as long as usual: its device work, its
 *                           data loading, its allocations, or all of its host time
 *   rank 3=0.5              all of its device work and host time, but not its collectives
 *   balance_stages          device work of each stage of the pipeline */
#ifndef ANALYSE_JOB_CHANGES_H
#define ANALYSE_JOB_CHANGES_H

#include "analyse/job/ranks_replay.h"

/* Fills in r->scenarios, scope and n_changes, matched. ERR_ARG when a change cannot be read or
 * a pattern matches nothing on any rank. */
status job_changes_read(ranks_replay *r, const params *p, arena *a, error *err) MUST_USE;

#endif
