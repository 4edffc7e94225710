/* step_mfu.h: model FLOPs utilization of the steps: what the products of the model need, over
 * what the device could have done in the same time. */
#ifndef ANALYSE_STEP_MFU_H
#define ANALYSE_STEP_MFU_H

#include "analyse/cost/op_work.h"

typedef struct {
    double mfu; /* NaN: not known */
    /* of matrix products, convolutions and attention in these steps, without what the backward
     * pass computes again */
    double flops;
    int64_t ns;        /* length of the steps; of the recording where there are none */
    int64_t steps;     /* 0: nothing marks them */
    kernel_type type;  /* the one most of the operations are in */
    double type_share; /* of the operations in that type */
    double peak;       /* operations per second of that type on matrix cores; 0 = not known */
    double known;      /* share of the kernel time whose operations or bytes are known */
} step_mfu;

/* Is enough known for the whole? Else the MFU is of the part that has figures: the least it can
 * be. */
#define MFU_LEAST_KNOWN 0.6
static inline bool step_mfu_is_whole(const step_mfu *m) {
    return m->known >= MFU_LEAST_KNOWN;
}

/* For the steps that the overview counts (step_spans.h). */
status step_mfu_find(op_work *w, const op_claims *c, step_mfu *out, error *err) MUST_USE;

#endif
