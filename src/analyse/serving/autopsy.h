/* autopsy.h: what each request of a server waited for.
 *
 * From its arrival to its end, a request is
 *
 *   own        in an iteration: its prompt, or one of its tokens, is computed
 *   waiting    in the server while an iteration runs without it: it waits for the requests of
 *              that iteration, for each by its part of the iteration's tokens
 *   scheduler  in the server between two iterations
 *   other      anywhere else: before the first iteration that was recorded, after its own last
 *              one, or all of the time when its iterations are not known
 *
 * These add up to its latency. */
#ifndef ANALYSE_AUTOPSY_H
#define ANALYSE_AUTOPSY_H

#include "analyse/serving/prefills.h"

typedef struct {
    bool known; /* which iterations it is in; else all of it is `other` */
    int64_t prefill, decode, waiting, scheduler, other; /* own is prefill + decode */
    int64_t queue;        /* from its arrival to its first iteration, or to what the log says */
    uint32_t blocker;     /* the request that it waited for most; UINT32_MAX: none is known */
    int64_t blocked;      /* how long */
    uint32_t first, last; /* its first iteration; one past the last */
} request_autopsy;

/* One request waited for another. */
typedef struct {
    uint32_t request, blocker; /* blocker UINT32_MAX: all others, and those not known */
    int64_t ns;
} request_wait;

typedef struct {
    request_autopsy *v;  /* by request */
    request_wait *waits; /* of each request the longest first, the rest last: its waiting */
    uint32_t n_waits;
    uint32_t n_without; /* requests whose blockers were not looked for: there are too many */
} autopsies;

/* `most_waits`: rows of one request at most, before the rest. */
status autopsies_make(const served *s, const request_list *r, const prefills *p,
                      uint32_t most_waits, arena *a, autopsies *out, error *err) MUST_USE;

#endif
