/* idle.h: when no device did anything, and what it waited for.
 *
 * A gap lies between the end of all device work so far and the start of the next piece. It is
 * cut to the steps; what the data loader or a collective on the host took of it is theirs and
 * does not count here. Whom a gap was spent waiting for follows from the piece that ends it:
 *
 *   blocked     the host had come to a blocking call (cudaStreamSynchronize, …) while the
 *               device still had work. Without the call it could have launched on: as much
 *               of the gap as the host was ahead. Or the thread that launches on sat in such
 *               a call inside the gap (a copy from pageable memory): that time is the
 *               call's. What remains of such a gap is the host's.
 *   host        the piece was launched inside the gap: the host is late
 *   dependency  it had been launched before the gap: it waited for another stream, a copy,
 *               an event
 *   between     likewise, but for less than 5 µs: the device's own time from one piece to
 *               the next
 *   unknown     its launch was not recorded */
#ifndef ANALYSE_IDLE_H
#define ANALYSE_IDLE_H

#include "analyse/scan/breakdown.h"

typedef enum {
    IDLE_HOST,
    IDLE_DEPENDENCY,
    IDLE_BETWEEN,
    IDLE_UNKNOWN,
    IDLE_BLOCKED,
    N_IDLE,
} idle_cause;

/* A blocking call on the host. */
typedef struct {
    int64_t start, end;
    uint32_t slice;
} blocking_call;

typedef struct {
    interval range;      /* inside one step */
    int64_t ns, blocked; /* of it: all that counts; what a blocking call cost */
    idle_cause cause;    /* of what is not blocked */
    uint32_t work;       /* row of table kernel that ends it, 0 = none */
    uint32_t step;       /* index in the steps */
    uint32_t blocking;   /* slice of the blocking call, 0 = none */
} idle_gap;

typedef struct {
    idle_gap *v; /* by time */
    size_t n, cap;
    int64_t ns[N_IDLE]; /* sums over all gaps */
} idle_gaps;

typedef struct {
    const trace *t;
    const step_spans *steps;
    const role_ranges *ranges;
    const blocking_call *calls; /* by start */
    size_t n_calls;
    arena *arena;
} idle_question;

/* Is it a call in which the host waits for the device? */
bool idle_blocks(str name);
status idle_find(const idle_question *q, idle_gaps *out, error *err) MUST_USE;

#endif
