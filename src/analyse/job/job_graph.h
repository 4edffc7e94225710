/* job_graph.h: the graphs of all ranks of a job, and where they meet.
 *
 *   rank 0   ▐─backward─▌▐────── all_reduce ──────▌▐─optimizer─▌
 *   rank 3   ▐──────── backward ────────▌▐all_red.▌
 *                                        ↑ the last one arrives: only now data is moved
 *
 * A collective moves data when the last of its members has arrived; until then the others wait.
 * So what a member does after it depends on what the last one did before it. Members are found
 * as everywhere (comm_match.h): by group and number, else by name and order. A transfer from
 * one to one, of a pipeline, is a collective of two. Times of ranks are put on one clock
 * (clocks.h).
 *
 * A step of the job ends when its last rank ends it, and begins when the step before it has
 * ended; the first one when its last rank begins it. So steps tile the time of the job. */
#ifndef ANALYSE_JOB_GRAPH_H
#define ANALYSE_JOB_GRAPH_H

#include "analyse/comm/comm_kind.h"
#include "analyse/job/job.h"
#include "analyse/replay/why_graph.h"
#include "analyse/run/clocks.h"

/* A rank's part of a collective: on its device from work `first` on, or on its host between two
 * points. */
typedef struct {
    uint32_t rank;          /* place in job_graph.ranks */
    uint32_t first, last;   /* works; 0: on the host */
    uint32_t before, after; /* points around the transfer; 0: on the device */
    int64_t came, left;     /* on the job's clock */
} job_member;

typedef struct {
    uint32_t first, n; /* in job_graph.members */
    uint32_t last;     /* member that arrived last */
    str group;
    int64_t source, target; /* ranks, of a transfer from one to one; ABSENT_I64 otherwise */
} job_meeting;

typedef struct {
    const analysis_trace *at;
    const trace *t;
    step_spans spans;
    why_graph graph;
    comm_names names;
    worker_clock clock;
    uint32_t place;      /* in job.who */
    uint32_t *of_work;   /* by work: its member + 1; 0: of no collective with others */
    uint32_t *of_point;  /* by point after a transfer on the host: the same */
    uint32_t *of_before; /* by point before one */
    uint32_t *of_first;  /* by work: the same as of_work, of the first of a collective alone */
} job_rank;

typedef struct {
    int64_t number;
    int64_t start_ns, end_ns; /* on the job's clock */
    uint32_t last;            /* rank that ends it last */
} job_span;

typedef struct {
    job_rank *ranks;
    uint32_t n_ranks;
    job_meeting *meetings;
    uint32_t *meeting_of; /* by member */
    job_member *members;
    uint32_t n_meetings, n_members;
    int64_t n_alone; /* collectives for which no partner was found */
    job_span *steps; /* those that every rank has */
    uint32_t n_steps;
    int64_t start_ns; /* when the first trace begins */
    int64_t residual; /* what the clocks are off by, at most; ns */
} job_graph;

/* Can the question be answered from the events of all ranks? */
bool job_graph_is_possible(const analysis_input *in);
/* `j` tells the clocks. A job without meetings or steps is not an error: then there is no path
 * across ranks. Allocates in `a`. */
status job_graph_make(const analysis_input *in, const params *p, const job *j, arena *a,
                      job_graph *out, error *err) MUST_USE;

/* A rank's step of this number; NULL: it has none. */
const why_step *job_rank_step(const job_rank *r, int64_t number);

/* A rank's time on the job's clock, and back. */
int64_t job_time(const job_rank *r, int64_t ns);
int64_t job_time_of_rank(const job_rank *r, int64_t job_ns);

#endif
