/* step_owners.h: every moment of the steps of a run, given to one node of a call tree.
 *
 *     device  ▮▮▮▮        ▮▮▮▮▮▮▮▮          while a device works: the call its work belongs to
 *     host    [ call a ]      [ call b ]    else the innermost call on the host
 *             ├a─┤├──a──┤├─b─┤├───b────┤    else the call for which everything waits: the next
 *
 * So the parts of a step add up to its length, and what a change costs is a difference of
 * parts. Where several streams or threads are busy, the one that began first counts until it
 * ends. */
#ifndef ANALYSE_STEP_OWNERS_H
#define ANALYSE_STEP_OWNERS_H

#include "analyse/compare/call_tree.h"
#include "analyse/scan/step_spans.h"

typedef struct {
    step_spans steps;
    int64_t median_ns, mean_ns, sum_ns;
    double variance;        /* of the lengths; 0 with less than two steps */
    int64_t calls, kernels; /* of all nodes */
} owned_steps;

status step_owners_make(call_tree *tree, int side, const trace *t, const selection *s, arena *a,
                        owned_steps *out, error *err) MUST_USE;

#endif
