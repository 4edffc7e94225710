/* sides.h: what is compared: all workers of a run, and of further runs of the same program.
 *
 * Each worker is read by itself, at the same time as the others, into its own tree; the trees
 * are joined to one with two sides. A step of any worker counts as much as any other, so a cost
 * of a side is the mean over all its steps, and parts add up. What is chance is judged by steps
 * that go together: those of all workers with the same place in their run are one sample,
 * because ranks wait for each other; where there are several runs, their means are the
 * samples. */
#ifndef ANALYSE_SIDES_H
#define ANALYSE_SIDES_H

#include "analyse/compare/noise.h"
#include "analyse/compare/step_owners.h"
#include "analyse/compare/workload.h"
#include "analyse/device/breakdown.h"

typedef struct {
    const analysis_trace *from;
    const trace *t;
    selection select;
    bool is_first; /* of its side */
    uint32_t run;  /* of its side: 0 the run itself, then the others of its program */
    arena *kept;   /* of `tree` and `steps`; given back with the side's arena */
    call_tree tree;
    owned_steps steps;
    int64_t roles[N_ROLES]; /* of all its steps */
    workload workload;      /* of the first worker of a side alone */
    int64_t memory_bytes;   /* most that a device had allocated; ABSENT_I64: not recorded */
    status done;
    error err;
} compared_worker;

typedef struct {
    compared_worker *v;          /* those of the run itself first */
    uint32_t n, n_runs, n_ranks; /* n_ranks: workers of the run itself */
    uint32_t n_steps;            /* of all workers */
    int64_t mean_ns, sum_ns;
    int64_t calls, kernels;
} compared_side;

/* One run of a side. */
typedef struct {
    const compared_worker *first;
    uint32_t n_workers, n_steps;
    int64_t median_ns, mean_ns;
    double variance; /* of the lengths of all steps */
} run_steps;

/* Reads both sides and joins them. `b` is compared with `a` and its `also` (analysis.h). */
status sides_read(const analysis_input *a, const analysis_input *b, const params *p,
                  arena *keep, compared_side out[N_SIDES], call_tree *tree,
                  error *err) MUST_USE;

/* One worker of each side alone, out of those that were read. */
status sides_of_workers(const compared_worker *a, const compared_worker *b, arena *keep,
                        compared_side out[N_SIDES], call_tree *tree, error *err) MUST_USE;

/* Mean of a measure over all steps; NaN when no step has it. */
double side_mean(const compared_side *s, measure m);
/* Of one worker. */
double worker_mean(const compared_worker *w, measure m);
/* Steps as samples: of the run itself, all workers; of one worker. */
status side_samples(const compared_side *s, measure m, arena *a, noise_samples *out,
                    error *err) MUST_USE;
noise_samples worker_samples(const compared_worker *w, measure m);
/* Runs as samples, by the means of all their workers. */
status side_run_samples(const compared_side *s, measure m, arena *a, noise_samples *out,
                        error *err) MUST_USE;
/* Its steps. */
status side_run(const compared_side *s, uint32_t run, arena *a, run_steps *out,
                error *err) MUST_USE;
/* Is the change of a measure more than chance, its values of the second side divided by `size`?
 * *known: there are enough samples to say. */
status sides_compare(const compared_side sides[N_SIDES], measure m, double size, arena *a,
                     noise_change *out, bool *known, error *err) MUST_USE;

/* Steps of a worker, on the average. */
static inline double side_steps_each(const compared_side *s) {
    return s->n ? (double)s->n_steps / s->n : 0;
}

#endif
