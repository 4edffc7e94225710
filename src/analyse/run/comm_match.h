/* comm_match.h: which collectives of different workers are one and the same.
 *
 * Matched by the id all members share (Comms Id), else by group, sequence number and name,
 * else by order among those of one group and name: when workers have different numbers of
 * them, by when they ended. */
#ifndef ANALYSE_COMM_MATCH_H
#define ANALYSE_COMM_MATCH_H

#include "analyse/comm/collectives.h"

typedef struct {
    uint32_t *member; /* indices of collectives, meeting by meeting, by worker */
    uint32_t *first;  /* place of each meeting's first member; n + 1 entries */
    uint32_t n;
    int64_t n_matched, n_alone; /* collectives with and without partners */
} comm_matches;

status comm_match_find(const collective_list *l, uint32_t n_workers, arena *a,
                       comm_matches *out, error *err) MUST_USE;

/* Collectives with different keys are never one; by_order: those with equal keys are
 * distinguished by order alone. The same in every process. */
uint64_t collective_key(const collective *c, bool *by_order);

/* When a member arrived: the start of its first kernel, else of its host range. */
int64_t collective_arrival(const collective_list *l, const collective *c);

#endif
