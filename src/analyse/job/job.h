/* job.h: the bottleneck of a job of many ranks, and how long its steps would be without it.
 *
 * A job is as fast as its last rank. From the summaries of all ranks a step is
 *
 *     step = longest stage + bubble + what the latest is late
 *
 * The longest stage: of the pipeline's stages (without one, all ranks are one stage) the one
 * whose ranks have the longest own time, by median. Late: a rank beyond what is usual for ranks
 * that do the same (stragglers.h), or a group or link whose transfers are slower than those of
 * similar ones (comm_groups.h); ranks wait for them at the same time, so the latest counts. A
 * rank that no other rank waited for is not late, however long it took. The bubble is the rest:
 * what even the longest stage waits for the others. With M batches that follow each other
 * through stages of times t it grows with (Σt - max t) / M. */
#ifndef ANALYSE_JOB_H
#define ANALYSE_JOB_H

#include "analyse/run/culprit.h"
#include "analyse/run/run_summary.h"
#include "analyse/run/stragglers.h"

/* A rank or a group that makes steps longer. */
typedef struct {
    uint32_t worker;         /* place in the roster; UINT32_MAX: a group */
    const comm_group *group; /* NULL: a rank */
    late_cause part;
    int64_t *late_by_step;
    int64_t steps, late, sum; /* steps it was late in; their mean and sum */
    int64_t decided;          /* steps in which nothing was later */
    int64_t lost;             /* time the others waited for it, all of them together */
    int64_t step_after;       /* with this one and all before it repaired */
} job_cause;

typedef struct {
    uint32_t ranks;
    int64_t own;          /* median time of its own of a rank in a step */
    int64_t part[N_LATE]; /* mean of ranks that are not late */
    int64_t waiting;      /* step - own */
} job_stage;

typedef struct {
    const summary *s;
    worker_order who;
    comm_groups groups;
    stragglers late;
    culprit culprit;
    job_cause *causes; /* the latest first */
    uint32_t n_causes;
    job_stage *stages;
    uint32_t longest; /* of the stages */
    int64_t micro;    /* batches that follow each other through the pipeline in a step */
    int64_t *step_ns; /* by step, as recorded: the median of the ranks */
    int64_t *number;  /* by step */
    uint32_t n_steps;
    int64_t recorded; /* median step */
    int64_t bubble;
    arena *arena;
} job;

/* What is to be different. */
typedef struct {
    double part[N_LATE]; /* of everybody's time; 1: as recorded */
    bool no_stragglers, balance_stages, no_bubbles;
    double *rank; /* by worker: of its own time; negative: as usual; NULL: all as recorded */
} job_change;
#define JOB_AS_RECORDED           \
    (job_change) {                \
        .part = { 1, 1, 1, 1, 1 } \
    }

status job_make(const analysis_input *in, const params *p, arena *a, job *out,
                error *err) MUST_USE;
/* The median step with a change; `by_step` gets every step's, may be NULL. */
int64_t job_replay(const job *j, const job_change *change, int64_t *by_step);
/* What all stages together would save if each had its share. */
int64_t job_stage_gain(const job *j);
/* 17: rank 17 as fast as usual (factor -1); 17=0.5: half of its time. ERR_ARG when it is not a
 * rank. */
status job_read_rank(const job *j, str text, uint32_t *worker, double *factor,
                     error *err) MUST_USE;
/* Is the question about a job, and not about the events of one worker? */
bool job_is_meant(const analysis_input *in);
/* compute, data, memory, communication, host. */
str job_part_name(late_cause part);

/* Parts of the answer of `critical`: tables ranks and stages; the verdict and a note. */
status job_write_ranks(const job *j, answer *out, error *err) MUST_USE;
status job_write_stages(const job *j, answer *out, error *err) MUST_USE;
status job_judge(const job *j, answer *out, error *err) MUST_USE;
/* The answers from summaries: tables ranks, stages, by_kind; tables whatif, steps. */
status job_critical(const analysis_input *in, const params *p, arena *a, answer *out,
                    error *err) MUST_USE;
status job_whatif(const analysis_input *in, const params *p, arena *a, answer *out,
                  error *err) MUST_USE;

#endif
