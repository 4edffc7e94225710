/* cycle_parts.h: what an iteration of a server was spent on.
 *
 * A cycle is the gap before an iteration and the iteration itself. Each moment of it counts
 * once, for the first of these that holds:
 *
 *   scheduler       the gap: the server decides what to run next, or has nothing to run
 *   sampling        the device chooses tokens: work launched in a range of the host that is
 *                   named after sampling, or operators that draw from a distribution
 *   compute         other kernels
 *   communication   collectives that no kernel hides
 *   copies          copies and memset that neither hides
 *   launch          the device is idle while the host runs operators or calls
 *   idle            the device is idle, and nothing was recorded on the host
 *
 * Without device work, operators on the host are what computes, and `idle` is where none
 * runs. */
#ifndef ANALYSE_CYCLE_PARTS_H
#define ANALYSE_CYCLE_PARTS_H

#include "analyse/intervals.h"
#include "analyse/serving/served.h"

typedef enum {
    PART_SCHEDULER,
    PART_SAMPLING,
    PART_COMPUTE,
    PART_COMMUNICATION,
    PART_COPIES,
    PART_LAUNCH,
    PART_IDLE,
    N_CYCLE_PARTS
} cycle_part;

typedef struct {
    int64_t ns[N_CYCLE_PARTS]; /* their sum is the cycle */
} cycle;

str cycle_part_name(cycle_part part);

/* A cycle for each iteration. Reads what served_find and role_ranges_make do, and tracks. */
status cycles_make(const trace *t, const served *s, arena *a, cycle **out, error *err) MUST_USE;

/* Is a range on the host with this name the choice of tokens? */
bool is_sampling_name(str name);

#endif
