/* cluster.h: what the devices of one run say of themselves and of each other, side by side.
 *
 * For each worker: its steps (from its step trace, with the parts its producer added up), what its
 * collectives cost on each link, how many operations it did and how much memory it took. Where the
 * producer gave no parts and there is device work, they are found from it:
 *
 *   communication_alone   collectives while nothing computes
 *   computation           the step less that
 *   receive_alone         receiving from another stage while nothing else goes on
 *   stage_time            the step less receive_alone
 *   collective_alone      communication alone that is no receiving
 *
 * Stages are those of a pipeline-parallel run, from 1; all devices are stage 1 when there is one. */
#ifndef ANALYSE_CLUSTER_H
#define ANALYSE_CLUSTER_H

#include "analyse/analysis.h"

typedef enum {
    CLUSTER_INTERVAL,
    CLUSTER_PASSES, /* forward and backward */
    CLUSTER_TAIL,
    CLUSTER_TOTAL,
    CLUSTER_COMPUTATION,
    CLUSTER_COMMUNICATION, /* alone */
    CLUSTER_STAGE,
    CLUSTER_RECEIVE,    /* alone */
    CLUSTER_COLLECTIVE, /* alone */
    N_CLUSTER_PARTS
} cluster_part;

typedef struct {
    int64_t number;                /* ABSENT_I64: the average */
    int64_t part[N_CLUSTER_PARTS]; /* ns, ABSENT_I64: not known */
} cluster_step;

typedef struct {
    int64_t step; /* ABSENT_I64: the average */
    int64_t communication, waiting;
    int64_t n_operators; /* ABSENT_I64: not told */
    str operators;       /* JSON: {name: [step, ms, ms, links]} */
} cluster_comm;

typedef struct {
    int64_t step;           /* ABSENT_I64: the average */
    int64_t source, target; /* ranks, as the producer numbers them */
    str kind;               /* SDMA, RDMA, HCCS, PCIE, … */
    int64_t time, bytes;
    int64_t waiting; /* ABSENT_I64: not told */
} cluster_link;

typedef struct {
    const analysis_trace *at;
    int64_t stage; /* ABSENT_I64: not known */
    cluster_step *steps;
    cluster_comm *comms;
    cluster_link *links;
    uint32_t n_steps, n_comms, n_links;
    double flops, flops_per_s, utilization; /* NaN: not known */
    int64_t memory_peak, memory_capacity;   /* ABSENT_I64: not known */
} cluster_worker;

typedef struct {
    cluster_worker *v;
    uint32_t n;
    str mode; /* data-parallel, model-parallel, pipeline-parallel; empty: not told */
    int64_t n_stages;
} cluster;

/* Of traces, of summaries, or of both. */
status cluster_make(const analysis_input *in, arena *a, cluster *out, error *err) MUST_USE;
/* Rows given_step and given of a worker's summary: what cluster_make needs of it later. */
status cluster_reduce(const analysis_trace *at, str worker, arena *a, struct summary *out,
                      error *err) MUST_USE;
/* The worker's average step, NULL: it has none. */
const cluster_step *cluster_average(const cluster_worker *w);
/* Bytes in a second over a link; NaN when it took no time. */
double cluster_rate(const cluster_link *l);
/* The tables cluster_steps, communication, communication_ops, links and resources of the analysis
 * distributed. */
status cluster_write(const cluster *c, const params *p, arena *a, answer *out,
                     error *err) MUST_USE;

/* The tables parallel_stages and parallel_operators: how a network was split (parallel_plan.c). */
status parallel_plan_write(const analysis_input *in, arena *a, answer *out,
                           error *err) MUST_USE;

#endif
