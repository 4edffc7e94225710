/* device_report.h: what the devices of one run say of themselves and of each other, side by
 * side.
 *
 * For each worker: its steps (from its step trace, with the parts its producer added up), what
 * its collectives cost on each link, how many operations it did and how much memory it took.
 * Where the producer gave no parts and there is device work, they are found from it:
 *
 *   communication_alone   collectives while nothing computes
 *   computation           the step minus that
 *   receive_alone         receiving from another stage while nothing else runs
 *   stage_time            the step minus receive_alone
 *   collective_alone      communication alone that is not receiving
 *
 * Stages are those of a pipeline-parallel run, from 1; all devices are stage 1 when there is
 * one. */
#ifndef ANALYSE_DEVICE_REPORT_H
#define ANALYSE_DEVICE_REPORT_H

#include "analyse/analysis.h"
#include "store/summary.h"

typedef enum {
    REPORT_INTERVAL,
    REPORT_PASSES, /* forward and backward */
    REPORT_TAIL,
    REPORT_TOTAL,
    REPORT_COMPUTATION,
    REPORT_COMMUNICATION, /* alone */
    REPORT_STAGE,
    REPORT_RECEIVE,    /* alone */
    REPORT_COLLECTIVE, /* alone */
    N_REPORT_PARTS
} device_report_part;

typedef struct {
    int64_t number;               /* ABSENT_I64: the average */
    int64_t part[N_REPORT_PARTS]; /* ns, ABSENT_I64: not known */
} device_report_step;

typedef struct {
    const analysis_trace *at;
    int64_t stage; /* ABSENT_I64: not known */
    device_report_step *steps;
    const summary_comm_cost *comms;
    const summary_comm_cost_op *comm_ops; /* by comm_cost */
    const summary_link *links;
    uint32_t n_steps, n_comms, n_comm_ops, n_links;
    double flops, flops_per_s, utilization; /* NaN: not known */
    int64_t memory_peak, memory_capacity;   /* ABSENT_I64: not known */
} device_report_worker;

typedef struct {
    device_report_worker *v;
    uint32_t n;
    str mode; /* data-parallel, model-parallel, pipeline-parallel; empty: not reported */
    int64_t n_stages;
} device_report;

/* Of traces, of summaries, or of both. */
status device_report_make(const analysis_input *in, arena *a, device_report *out,
                          error *err) MUST_USE;
/* Rows producer_step and the producer's tables of a worker's summary: what device_report_make
 * needs of it later. */
status device_report_reduce(const analysis_trace *at, str worker, arena *a, struct summary *out,
                            error *err) MUST_USE;
/* The worker's average step, NULL: it has none. */
const device_report_step *device_report_average(const device_report_worker *w);
/* Bytes in a second over a link; NaN when it took no time. */
double device_link_rate(const summary_link *l);
/* The tables cluster_steps, communication, communication_ops, links and resources of the
 * analysis distributed. */
status device_report_write(const device_report *c, const params *p, arena *a, answer *out,
                           error *err) MUST_USE;

/* The tables parallel_stages and parallel_operators: how a network was split
 * (sharding_plan.c). */
status sharding_plan_write(const analysis_input *in, arena *a, answer *out,
                           error *err) MUST_USE;

#endif
