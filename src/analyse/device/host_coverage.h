/* host_coverage.h: what of the host's work is in no record, though it must have worked.
 *
 * A thread without a record looks like one that does nothing. Two sorts are known for what they
 * are: a recording of calls of the runtime without any operator, and a range around the
 * backward pass in which no thread does anything: autograd has its own threads, which some
 * recordings lack. Nothing can be said there about pauses of the program. */
#ifndef ANALYSE_HOST_COVERAGE_H
#define ANALYSE_HOST_COVERAGE_H

#include "analyse/device/breakdown.h"
#include "analyse/rules.h"

/* Between two operators an interpreter takes tens of microseconds; a host that is silent for
 * this long does something else. */
#define HOST_PAUSE_NS 500000

typedef struct {
    bool without_ops;  /* calls were recorded, operators were not */
    intervals at;      /* silent parts of backward passes, inside the steps */
    uint32_t backward; /* slice of the range with the longest; 0: none */
    int64_t longest_ns;
} host_coverage;

/* `ranges` is of the steps. */
status host_coverage_find(const trace *t, const step_spans *steps, const role_ranges *ranges,
                          arena *a, host_coverage *out, error *err) MUST_USE;
/* May the threads of the backward pass be missing? Cheap: only then is it worth a look. */
bool host_coverage_may_lack(const trace *t);
/* What of `in` has no operator, call, data loader or collective on any thread. */
intervals host_silence(intervals in, const role_ranges *ranges);
/* Is so much of the time missing that little can be said of the rest? `all_ns`: of all
 * steps. */
bool host_coverage_judge(const trace *t, const host_coverage *c, int64_t all_ns, verdict *out);
/* A note for what is missing, and how to record it. */
status host_coverage_note(const trace *t, const host_coverage *c, arena *a, answer *out,
                          error *err) MUST_USE;

#endif
