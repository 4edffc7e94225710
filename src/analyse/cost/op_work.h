/* op_work.h: what the calls of operators computed and moved, in which time, and how that
 * compares with what the device can do: the one source of FLOPs, bytes and shares of the peak
 * for all analyses.
 *
 * Calls nest (linear, addmm): each has its own figures, and a sum takes the claims, in which
 * every piece of device work has one owner. */
#ifndef ANALYSE_OP_WORK_H
#define ANALYSE_OP_WORK_H

#include "analyse/cost/device_peaks.h"
#include "analyse/cost/op_cost.h"
#include "analyse/group.h"
#include "analyse/operators/work_by_op.h"
#include "analyse/select.h"

/* What one call did. */
typedef struct {
    op_cost cost; /* its type is that of the unit that did it: tf32 for a product of float32 */
    int64_t ns;   /* of its kernels and those of its children; host time without any */
    bool on_matrix; /* the peak it is compared with is that of the matrix cores */
    double
        compute_ns; /* the least time by operations; NaN when those or the peak are not known */
    double memory_ns; /* the least time by bytes, likewise */
} work_done;

typedef struct {
    const trace *t;
    const selection *select;
    device_peaks peaks;
    lexicon lexicon;
    work_list work; /* by operator */
    groups costs;   /* by name, shapes, types and inputs */
    /* by string id of an operator's name: 0 not looked at, 1 has no formula, 2 may have one */
    uint8_t *named;
    arena *arena;
    bool on_device; /* the trace has device work: a call without any has no rate */
} op_work;

/* What op_work reads; for trace_require. */
#define OP_WORK_TABLES \
    (SELECT_TABLES | TRACE_TABLE(track) | TRACE_TABLE(op) | TRACE_TABLE(device))

status op_work_init(op_work *w, const selection *s, const params *p, arena *a,
                    error *err) MUST_USE;
/* What a row of table op costs, from its shapes, else as the producer says. */
status op_work_cost(op_work *w, uint32_t op_row, op_cost *out, error *err) MUST_USE;
/* What a call did; *out without figures when its cost is not known. */
status op_work_call(op_work *w, uint32_t op_row, work_done *out, error *err) MUST_USE;

/* A call that owns device work (host time without a device): itself or a child launched it, and
 * no child's own figures explain it. */
typedef struct {
    uint32_t op_row;
    work_done done;  /* ns: of the work it owns */
    int64_t main_ns; /* of the kernels that do the work, without their helpers */
} op_claim;

typedef struct {
    op_claim *v; /* by slice, ascending */
    uint32_t n, cap;
    uint32_t
        *of_kernel; /* by row of table kernel: index of the claim that owns it + 1; 0 = none */
} op_claims;

status op_work_claim(op_work *w, op_claims *out, error *err) MUST_USE;
/* Is the kernel one of those that do the work of its claim? Helpers (a reduction after a
 * product) are not. */
bool op_work_is_main(op_work *w, const op_claim *c, uint32_t kernel);

/* ---- sums ---- */

typedef struct {
    double flops, bytes, both_flops, both_bytes;
    double compute_ns, memory_ns;       /* least times */
    double bound_compute, bound_memory; /* of those that have both */
    int64_t flops_ns, bytes_ns;         /* time of those that have each */
    int64_t compute_of_ns, memory_of_ns;
    bool has_flops, has_bytes, has_both, has_bound;
} work_sum;

/* `part` of what was done, in `ns`: a kernel's share of its operator's work; 1 and done->ns for
 * a call. */
void work_sum_add(work_sum *s, const work_done *done, double part, int64_t ns);
/* Whole bytes; 0 when not known. */
int64_t work_bytes(const work_sum *s);
/* NaN where not known. */
double work_flops_per_s(const work_sum *s);
double work_bytes_per_s(const work_sum *s);
double work_intensity(const work_sum *s);       /* operations per byte */
double work_peak_share(const work_sum *s);      /* of the peak of the data type */
double work_bandwidth_share(const work_sum *s); /* of the memory's */
/* "compute" or "memory": what sets the least time; {NULL, 0} when not known. */
str work_bound(const work_sum *s);

#endif
