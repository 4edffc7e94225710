/* collectives.h: the collectives of one worker: when each ran, of which group, with how much
 * data.
 *
 * A collective is a host range of a communication library (nccl:all_reduce, gloo:broadcast,
 * …) with the kernels launched inside it, or a communication kernel on its own where no such
 * range was recorded. Its time is the union of these ranges. */
#ifndef ANALYSE_COLLECTIVES_H
#define ANALYSE_COLLECTIVES_H

#include "analyse/comm/comm_kind.h"
#include "analyse/intervals.h"
#include "analyse/select.h"

typedef struct {
    uint32_t worker; /* index in the question's list */
    uint32_t slice;
    str name;  /* as recorded: "nccl:all_reduce", or the collective's name on the kernel */
    str group; /* empty: the default one */
    str words; /* what its makers call it: "tensor_parallel"; may be empty */
    int64_t source, target;     /* ranks, of a transfer from one to one; ABSENT_I64 otherwise */
    int64_t sequence, comms_id; /* ABSENT_I64 when not recorded */
    int64_t bytes;              /* ABSENT_I64 when unknown */
    int64_t group_size;         /* ABSENT_I64 when unknown */
    uint32_t first_range,
        n_ranges; /* in the list's ranges: the host's, then kernels by start */
    interval hull;
} collective;

typedef struct {
    collective *v; /* by host range, then kernels on their own */
    uint32_t n, cap;
    interval *ranges;
    uint32_t *kernels; /* by range: the row of table kernel; 0: the host's */
    uint32_t n_ranges, cap_ranges;
    arena *arena;
} collective_list;

/* Appends the collectives of a worker's trace. */
status collectives_add(collective_list *list, const trace *t, uint32_t worker,
                       error *err) MUST_USE;

/* Bytes of an element: "float", "c10::BFloat16", "Long", "int64", …; 0 when unknown. */
int64_t dtype_bytes(str name);
/* Σ elements · width over the inputs, from the JSON texts of shapes and types; ABSENT_I64 when
 * nothing can be read. */
int64_t input_bytes(str shapes, str types);

#endif
