/* step_owners.h: every moment of the steps of a run, given to one node of a call tree.
 *
 *     device  ▮▮▮▮        ▮▮▮▮▮▮▮▮          while a device works: the call its work belongs to
 *     host    [ call a ]      [ call b ]    else the innermost call on the host
 *             ├a─┤├──a──┤├─b─┤├───b────┤    else the call for which everything waits: the next
 *
 * So the parts of a step add up to its length, and what a change costs is a difference of
 * parts. Where several streams or threads are busy, the one that began first counts until it
 * ends; communication counts while no other device work runs. */
#ifndef ANALYSE_STEP_OWNERS_H
#define ANALYSE_STEP_OWNERS_H

#include "analyse/compare/call_tree.h"
#include "analyse/steps/step_spans.h"

/* What is measured in each step. */
typedef enum {
    MEASURE_STEP,    /* its length, ns */
    MEASURE_DEVICE,  /* time in which a device works, ns */
    MEASURE_HOST,    /* the rest: the host works or waits, ns */
    MEASURE_OWN,     /* its length without exposed communication, ns */
    MEASURE_KERNELS, /* kernels, copies and memsets that start in it */
    MEASURE_LAUNCH,  /* MEASURE_HOST for each call that launches; NaN without any */
    N_MEASURES
} measure;

typedef struct {
    step_spans steps;
    int64_t median_ns, mean_ns, sum_ns;
    double *of[N_MEASURES]; /* by step */
    int64_t calls, kernels,
        launches; /* of all nodes and steps; calls: without the allocator's */
} owned_steps;

/* The costs go to side A of the tree, which is this worker's alone. MEASURE_OWN is left to the
 * caller, who knows the parts of the steps. `out` and the tree stay in `a`; `scratch` may be
 * reset afterwards. */
status step_owners_make(call_tree *tree, const trace *t, const selection *s, arena *a,
                        arena *scratch, owned_steps *out, error *err) MUST_USE;

#endif
