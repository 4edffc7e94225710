/* request_lanes.h: ranges that overlap, one after the other on as few lanes as hold them. */
#ifndef INGEST_REQUEST_LANES_H
#define INGEST_REQUEST_LANES_H

#include "base/status.h"

typedef struct {
    uint64_t group; /* ranges of different groups have separate lanes */
    int64_t start, end;
    uint32_t item; /* the caller's; the smaller one comes first where the rest is equal */
    uint32_t lane; /* of its group, from 0: what is found out */
} lane_range;

/* Sorts the ranges by group, start and item, and gives each the lane that became free last, or
 * a new one. ERR_MEMORY when there is no room. */
status request_lanes_assign(lane_range *v, size_t n) MUST_USE;

#endif
