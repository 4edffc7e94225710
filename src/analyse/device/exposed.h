/* exposed.h: communication that does not overlap with computation, defined once.
 *
 * A moment of communication is exposed when a device communicates and runs no compute kernel
 * itself: a kernel of another device does not count. Copies and memsets are not computation. A
 * collective on the host (gloo, MPI) is exposed while no device computes; where no kernel was
 * recorded, while no operator runs that neither communicates nor reads a result. Several
 * devices of one process that are exposed at once count once, so what is exposed never exceeds
 * the step. Overview, steps, distributed, advise and the summaries of a run all take it from
 * here. */
#ifndef ANALYSE_EXPOSED_H
#define ANALYSE_EXPOSED_H

#include "analyse/comm/comm_kind.h"
#include "analyse/device/breakdown.h"

/* Fills in `work` and `exposed` from the other ranges, which are merged. */
status exposed_find(comm_names *comm, interval window, role_ranges *ranges, arena *a,
                    error *err) MUST_USE;

#endif
