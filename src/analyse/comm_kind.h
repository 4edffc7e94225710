/* comm_kind.h: what is communication: by the arguments of the event, else by names. */
#ifndef ANALYSE_COMM_KIND_H
#define ANALYSE_COMM_KIND_H

#include "base/arena.h"
#include "store/trace.h"

/* Host range of a collective of a communication library: nccl:all_reduce, gloo:broadcast, … */
bool comm_host_name(str name);
/* Device kernel of one: ncclDevKernel_AllReduce_…, rccl…, … */
bool comm_kernel_name(str name);

/* Which collective a name speaks of: "nccl:all_reduce" and "ncclDevKernel_AllReduce_Sum"
 * alike. */
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

/* The same by string id, each name looked at once. */
typedef struct {
    const trace *t;
    uint8_t *memo; /* by string id, see comm_kind.c */
} comm_names;

status comm_names_init(comm_names *n, const trace *t, arena *a, error *err) MUST_USE;
bool comm_host_id(comm_names *n, uint32_t name);
/* Is this device work (a row of table kernel) communication? By its own arguments, its name,
 * or the op that launched it. Copies and sets are not. */
bool comm_kernel_row(comm_names *n, uint32_t kernel);

#endif
