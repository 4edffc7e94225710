/* plan.c: see plan.h for the rules. A run of memory pictures alone has no whole worker: then a
 * question is about the chosen one. */
#include "plan/plan.h"

#include "analyse/run/summary_answers.h"

bool plan_takes_many(const plan_question *q) {
    return q->analysis ? q->analysis->workers != WORKERS_ONE : q->merges;
}

/* Without an analysis nothing but being asked, or files named one by one, makes a question be
 * about several traces: a rank of a run is then exported by itself. */
static bool is_about_all(const plan_question *q, const run_entry *run) {
    bool given = q->several && run_whole(run) > 1;
    if (!plan_takes_many(q) || !run_whole(run)) return false;
    if (!q->analysis) return q->question->all_workers || (!q->question->worker.n && given);
    return analysis_is_about_all(q->analysis, q->question, given || run_has_ranks(run));
}

run_plan plan_run(const plan_question *q, const span_choice *chosen) {
    run_plan p = {.run = chosen->run, .first = *chosen, .n = 1};
    if (!is_about_all(q, p.run)) return p;
    p.n = run_whole(p.run);
    if (p.first.worker >= p.run->workers + p.n) { /* a data loader's process, a launcher */
        p.first.worker = p.run->workers;
        p.first.span = worker_span(p.first.worker, chosen->span->number);
    }
    p.summaries = q->analysis && summary_is_enough(q->analysis, &q->question->params, p.n);
    return p;
}

static span_choice same_cycle(const span_choice *of, const worker_entry *w) {
    return (span_choice){.run = of->run, .worker = w, .span = worker_span(w, of->span->number)};
}

span_choice plan_worker(const run_plan *p, uint32_t i) {
    uint32_t first = (uint32_t)(p->first.worker - p->run->workers);
    if (i == 0) return p->first;
    return same_cycle(&p->first, &p->run->workers[i - 1 < first ? i - 1 : i]);
}

span_choice plan_loader(const span_choice *owner, const worker_entry *loader) {
    return same_cycle(owner, loader);
}
