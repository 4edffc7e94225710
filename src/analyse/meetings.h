/* meetings.h: which collectives of different workers are one and the same.
 *
 * Matched by the id all members share (Comms Id), else by group, sequence number and name,
 * else by order among those of one group and name, and then only when every worker has
 * equally many. */
#ifndef ANALYSE_MEETINGS_H
#define ANALYSE_MEETINGS_H

#include "analyse/collectives.h"

typedef struct {
    uint32_t *member; /* indices of collectives, meeting by meeting, by worker */
    uint32_t *first;  /* place of each meeting's first member; n + 1 entries */
    uint32_t n;
    int64_t n_matched, n_alone; /* collectives with and without partners */
} meetings;

status meetings_find(const collective_list *l, uint32_t n_workers, arena *a, meetings *out,
                     error *err) MUST_USE;

/* Clocks of the workers against the first one's, from the ends of their meetings: all
 * members of a collective leave it at about the same time. */
typedef struct {
    int64_t base;     /* Unix time of the trace's 0; 0 when unknown */
    int64_t offset;   /* to be taken off the worker's times; 0 when the clocks agree */
    int64_t residual; /* median distance of the ends from it */
    int64_t n;        /* meetings it rests on */
} worker_clock;

/* clocks[i].base is filled in by the caller. An offset is only used when it is larger than 1
 * ms and than four times its residual: smaller ones say more about the collectives than
 * about clocks. */
status clocks_align(const collective_list *l, const meetings *m, worker_clock *clocks,
                    uint32_t n_workers, error *err) MUST_USE;

/* When a member arrived: the start of its first kernel, else of its host range. */
int64_t collective_arrival(const collective_list *l, const collective *c);

#endif
