/* plan.h: which traces a question needs, the same through every door.
 *
 *     run_plan plan = plan_run(&(plan_question){.analysis = a, .question = &q}, &chosen);
 *     if (plan.summaries) … of all plan.n workers
 *     else for (i = 0; i < plan.n; i++) … plan_worker(&plan, i)
 *
 * A question is about the chosen worker, or about all ranks of its run: when no worker was
 * named and the analysis can look at several, or when all were asked for. Then their summaries
 * are used where those are enough. Each run of a comparison has a separate plan. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "analyse/registry.h"
#include "session/discover.h"

typedef struct {
    const analysis_info *analysis; /* NULL: none, as an export */
    const question *question;
    bool merges;  /* without an analysis: several traces become one */
    bool several; /* more than one file was named, and they are not runs to compare */
} plan_question;

typedef struct {
    const run_entry *run;
    span_choice first; /* the chosen worker, or the first rank */
    uint32_t n;        /* workers */
    bool summaries;    /* their summaries are enough */
} run_plan;

/* Can the question be about several workers? */
bool plan_takes_many(const plan_question *q);
run_plan plan_run(const plan_question *q, const span_choice *chosen);
/* The i-th worker: the first one, then the others in their order, of the same cycle. */
span_choice plan_worker(const run_plan *p, uint32_t i);
/* The same cycle of the process of a data loader that works for a worker of the run. */
span_choice plan_loader(const span_choice *owner, const worker_entry *loader);

#endif
