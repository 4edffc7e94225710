/* op_scan.h: every call of an operator with its times, in one pass over the host threads.
 *
 * Children that count are ops, annotations, steps, data loading, optimizer and forward
 * ranges, runtime and driver calls; Python frames, modules and the profiler's overhead are
 * looked through. An op that is alone in an op of its own name is the same call (autograd
 * wraps ops that way). */
#ifndef ANALYSE_OP_SCAN_H
#define ANALYSE_OP_SCAN_H

#include "analyse/operators/stacks.h"
#include "analyse/operators/tensor_core.h"
#include "analyse/select.h"

/* One call. Times are those inside the selection. */
typedef struct {
    uint32_t slice;
    uint32_t name;
    uint32_t op_row; /* row of table op, 0 = none */
    uint32_t stack;  /* stacks.h; 0 when not asked for */
    uint32_t path;   /* stacks.h: with the ops around it; 0 when not asked for */
    uint32_t n_children;
    uint8_t kind;
    bool is_op;
    bool eligible;                            /* by name, by a child or by a kernel it owns */
    int64_t ns;                               /* host time */
    int64_t child_ns;                         /* host time of the children that count */
    int64_t device_self, device_children;     /* sums of device work; its own, its children's */
    int64_t inferred_self, inferred_children; /* of it, of steps whose operators are inferred */
    int64_t tensor_self, tensor_children;     /* of it, by kernels that use matrix cores */
    int64_t unsure_self, unsure_children;     /* by kernels of which that is not known */
    int64_t missed_self;                      /* by those that could use them in another type */
    int64_t longest_ns; /* of one piece of its device work, or its children's */
    uint32_t longest;   /* slice of that piece, 0 = none */
    int64_t kernel_ns;  /* of kernels alone, its own and its children's, uncut by a window */
} op_call;

static inline int64_t op_call_self_ns(const op_call *c) {
    return sub_i64(c->ns, c->child_ns);
}

typedef struct {
    const trace *t;
    const selection *select;
    tensor_core_names *tensor;
    stacks *stacks; /* NULL: not asked for */
    bool paths;     /* wants paths, too; needs stacks */
    arena *arena;
    status (*visit)(void *context, const op_call *call, error *err);
    void *context;
} op_scan;

/* Visits every call once, children before their parents. Linear; memory by nesting depth. */
status op_scan_run(const op_scan *scan, error *err) MUST_USE;

/* Does a slice of this kind count as a child? */
bool op_kind_counts(uint8_t kind);

#endif
