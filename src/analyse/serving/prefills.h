/* prefills.h: which request takes part in which iteration.
 *
 *     arrival          first token               end
 *     |  queue |prefill|prefill|decode|  |decode|
 *              └ turns ────────┘└ after_first … last
 *
 * A server names how many requests are in a batch, not which. The last iteration that prefills
 * and is over by the middle when a request has its first token made that token. Earlier pieces
 * of its prompt are where the tokens are: prompts are computed first come, first served, each
 * taking what those before it left of an iteration's prompt tokens. Where these do not add up
 * (a prompt that was begun before the recording, one that the log does not have) only the last
 * iteration counts. After it the request is in every iteration that decodes, up to its end. */
#ifndef ANALYSE_PREFILLS_H
#define ANALYSE_PREFILLS_H

#include "analyse/serving/request_list.h"
#include "analyse/serving/served.h"

#define NO_ITERATION UINT32_MAX

/* A request's part of an iteration that prefills. */
typedef struct {
    uint32_t iteration, request;
    int64_t tokens;
} prefill_turn;

typedef struct {
    uint32_t first_turn, n_turns; /* in turns_by_request */
    uint32_t after_first;         /* one past the iteration of the first token */
    uint32_t last;                /* one past its last iteration; NO_ITERATION: none is known */
} request_turns;

typedef struct {
    const prefill_turn *by_request;     /* of each request in the order of iterations */
    const prefill_turn *by_iteration;   /* the same rows */
    const uint32_t *first_of_iteration; /* n iterations + 1, into by_iteration */
    uint32_t n;
    request_turns *of; /* by request */
    int64_t *weight;   /* by iteration: tokens of all requests in it, at least 1 */
    uint32_t *known;   /* by iteration: requests that are known to be in it */
} prefills;

status prefills_find(const served *s, const request_list *r, arena *a, prefills *out,
                     error *err) MUST_USE;

#endif
