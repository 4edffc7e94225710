/* program_changes.h: what a step of the second program does that one of the first does not, or
 * does more or less often, whatever it costs.
 *
 * Calls are counted where they were changed from the outside (changed_calls.h). A call of the
 * backward pass goes to the matching forward operator: MmBackward0 to aten::mm, and both to
 * aten::linear if that is what changed. Where a model's modules were recorded and one of them
 * is called more or less often, it stands for all that changed inside it. Calls that both make
 * as often are listed where their input shapes or their kernels are others. */
#ifndef ANALYSE_PROGRAM_CHANGES_H
#define ANALYSE_PROGRAM_CHANGES_H

#include "analyse/compare/causes.h"

typedef enum {
    PROGRAM_NEW,
    PROGRAM_GONE,
    PROGRAM_COUNT, /* more or fewer calls */
    PROGRAM_SHAPES,
    PROGRAM_KERNELS
} program_form;

typedef struct {
    program_form form;
    uint8_t kind;          /* enum slice_kind; KIND_MODULE: a module */
    bool is_compiled;      /* the code of a compiler, torch.compile; of the first alone */
    bool is_of_backward;   /* it is, or it is in, a call of the backward pass */
    uint32_t name;         /* of the tree's names */
    uint32_t where;        /* node: the innermost around it that did not change; 0: none */
    uint32_t module;       /* of call_modules: most of it is in this one; 0: not known */
    double calls[N_SIDES]; /* of a step; of PROGRAM_KERNELS: kernels */
    double ns[N_SIDES];    /* of a step: what the calls cost that one run makes alone */
    uint32_t parts;        /* of a module: operators that changed inside it alone */
    uint32_t most;         /* the node with most of it; 0: a module without any */
} program_change;

typedef struct {
    program_change *v;    /* what is wholly new or gone first, then by cost */
    uint32_t n, n_counts; /* n_counts: of calls that one run makes more often */
} program_changes;

status program_changes_make(const call_tree *tree, const compared_side sides[N_SIDES],
                            const change_causes *causes, arena *a, program_changes *out,
                            error *err) MUST_USE;

/* The one at this node (0: the top) that is most of other work of so many ns, on the side where
 * this is more; NULL: none is. */
const program_change *program_change_of(const program_changes *p, uint32_t where,
                                        const double ns[N_SIDES]);

static inline double program_change_ns(const program_change *c) {
    return c->ns[SIDE_B] - c->ns[SIDE_A];
}

#endif
