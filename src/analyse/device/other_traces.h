/* other_traces.h: traces that are not a timeline of a training job: requests of a server,
 * functions of a program, tensors that a job exchanges. Their verdicts, and the facts for
 * those. */
#ifndef ANALYSE_OTHER_TRACES_H
#define ANALYSE_OTHER_TRACES_H

#include "store/traits.h"
#include "table/table.h"

#define OTHER_TRACES (TRAIT_REQUESTS | TRAIT_CALLS | TRAIT_NEGOTIATIONS)

/* Requests of a server. Readers name the ranges of a request `request`, `queue` and
 * `compute_…`; requests that overlap are on different tracks. */
typedef struct {
    int64_t n;
    int64_t request_ns, queue_ns, compute_ns; /* of all */
    int64_t span_ns;                          /* from the first to the end of the last */
    uint32_t n_lanes;                         /* tracks with requests */
    uint32_t longest_queue;                   /* slice */
    uint32_t longest;                         /* slice of a request */
} request_sums;

status requests_sum(const trace *t, request_sums *out, error *err) MUST_USE;

/* A picture of memory, maybe with the program's marks: no operator, call or device work. */
bool trace_is_memory_alone(const trace *t);

/* The sentence; without an id when the trace is none of these, or has nothing in it. */
status other_traces_judge(const trace *t, arena *a, verdict *out, error *err) MUST_USE;

#endif
