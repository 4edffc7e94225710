/* request_lanes.c: lanes for requests that overlap.
 *
 * A range takes the lane of the last one that ended before it starts, so that a lane shows one
 * after the other and the lowest lanes are the busiest. */
#include "ingest/serving/request_lanes.h"

#include <stdlib.h>

#include "base/vec.h"

static int compare_starts(const void *pa, const void *pb) {
    const lane_range *a = pa, *b = pb;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->item < b->item ? -1 : a->item > b->item;
}

static int compare_ends(const void *pa, const void *pb) {
    const lane_range *a = *(lane_range *const *)pa, *b = *(lane_range *const *)pb;
    if (a->end != b->end) return a->end < b->end ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Ranges of one group, by start. `ends` and `idle` have room for n. */
static void assign_group(lane_range *first, size_t n, lane_range **ends, uint32_t *idle) {
    uint32_t n_lanes = 0, n_idle = 0;
    size_t done = 0;
    for (size_t i = 0; i < n; i++) {
        ends[i] = &first[i];
        first[i].lane = UINT32_MAX;
    }
    qsort(ends, n, sizeof *ends, compare_ends);
    for (size_t i = 0; i < n; i++) {
        for (; done < n && ends[done]->end <= first[i].start && ends[done]->lane != UINT32_MAX;
             done++)
            idle[n_idle++] = ends[done]->lane;
        first[i].lane = n_idle ? idle[--n_idle] : n_lanes++;
    }
}

status request_lanes_assign(lane_range *v, size_t n) {
    vec ends = VEC_INIT(lane_range *), idle = VEC_INIT(uint32_t);
    bool good = vec_reserve(&ends, n) == OK && vec_reserve(&idle, n) == OK;
    if (good && n) qsort(v, n, sizeof *v, compare_starts);
    for (size_t from = 0, end; good && from < n; from = end) {
        for (end = from + 1; end < n && v[from].group == v[end].group;) end++;
        assign_group(&v[from], end - from, VEC(&ends, lane_range *), VEC(&idle, uint32_t));
    }
    vec_fini(&ends);
    vec_fini(&idle);
    return good ? OK : ERR_MEMORY;
}
