/* roster.h: the workers of a summary in the order people count them: by rank, then by name. */
#ifndef ANALYSE_ROSTER_H
#define ANALYSE_ROSTER_H

#include "base/arena.h"
#include "store/summary.h"

typedef struct {
    const summary_worker **v; /* by rank, then by name; without a rank last */
    uint32_t n;
    const summary *s;
    uint32_t *place; /* row of table worker → place in v */
} roster;

/* The summary is settled. */
status roster_make(roster *r, const summary *s, arena *a, error *err) MUST_USE;
/* The place of a worker; UINT32_MAX when it is not there. */
uint32_t roster_find(const roster *r, str name);

#endif
