/* chain.h: the longest chain of waiting in a step: who waited for whom, from the end back.
 *
 * From the worker that ends the step last, back in time: where it waited, it goes on with the
 * one that it waited for, at the moment when that one arrived. What a worker does between is a
 * leg; the legs cover the step. A delay that is on no leg was hidden: others took as long.
 *
 *   rank 0   ════ forward ════▌░░░░░ waits for 2 ░░░░░┆════ backward ════│
 *   rank 2   ·················══════ forward ═════════┘  */
#ifndef ANALYSE_CHAIN_H
#define ANALYSE_CHAIN_H

#include "analyse/run/step_lanes.h"

typedef struct {
    uint32_t worker;
    int64_t start, end; /* on the first worker's clock */
    int kind;           /* what it mostly did */
    int64_t kind_ns;
    str name;         /* the collective that the next one of the chain waited in */
    uint32_t waiting; /* how many waited there */
    int64_t waited;   /* the longest of them */
} chain_leg;

typedef struct {
    chain_leg *v; /* by time */
    uint32_t n;
    bool broken;             /* somewhere it waited for a worker that is not known */
    int64_t all_ns[N_LANES]; /* what all workers did, by kind */
} chain;

status chain_find(const lane_list *l, uint32_t n_workers, arena *a, chain *out,
                  error *err) MUST_USE;

/* Which part of what a worker did beyond what the others did is on the chain, of the kind that
 * is longest beyond theirs; NaN: not known. */
double chain_share(const chain *c, const lane_list *l, uint32_t n_workers, uint32_t worker);

#endif
