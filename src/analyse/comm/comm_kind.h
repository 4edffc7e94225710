/* comm_kind.h: what is communication: by the arguments of the event, else by names. */
#ifndef ANALYSE_COMM_KIND_H
#define ANALYSE_COMM_KIND_H

#include "base/arena.h"
#include "store/trace.h"

/* Host range of a collective of a communication library: nccl:all_reduce, gloo:broadcast, … */
bool comm_host_name(str name);
/* Device kernel of one: ncclDevKernel_AllReduce_…, rccl…, … */
bool comm_kernel_name(str name);

/* Which collective a name means: "nccl:all_reduce" and "ncclDevKernel_AllReduce_Sum" are the
 * same. */
typedef enum {
    COMM_OTHER,
    COMM_ALL_REDUCE,
    COMM_REDUCE_SCATTER,
    COMM_ALL_GATHER,
    COMM_ALL_TO_ALL,
    COMM_BROADCAST,
    COMM_POINT,
    COMM_BARRIER,
    COMM_GATHER,
    COMM_SCATTER,
    COMM_REDUCE,
    N_COMM_TYPES,
} comm_type;
comm_type comm_type_of(str name);
/* What the links carry for each byte of a collective of n members; NaN when that says
 * nothing. */
double bus_factor(comm_type type, int64_t n);

/* The same by string id, each name looked at once. */
typedef struct {
    const trace *t;
    uint8_t *memo;     /* by string id, see comm_kind.c */
    uint8_t on_device; /* 0 unknown, 1 no, 2 yes */
} comm_names;

status comm_names_init(comm_names *n, const trace *t, arena *a, error *err) MUST_USE;
bool comm_host_id(comm_names *n, uint32_t name);
/* Is this device work (a row of table kernel) communication? By its own arguments, its name,
 * or the op that launched it. Copies and memsets are not. */
bool comm_kernel_row(comm_names *n, uint32_t kernel);
/* Does any device work of the trace communicate? */
bool comm_on_device(comm_names *n);
/* Is this host range of a collective only the call: does a device run the collective itself, as
 * kernels of the same trace? Its time is the host's, not the collective's. */
bool comm_is_call(comm_names *n, uint32_t slice);
/* When the exchange of a host range is over. gloo's range outlives the operator that starts it;
 * recordings of before 0.3 have the two ends swapped, so it is the later one. */
int64_t comm_host_end(comm_names *n, uint32_t slice);

#endif
