/* scenario.h: what is to be different: changes by name, and what they touch in a trace.
 *
 *     kernel:*gemm*=0.5     device work of that name takes half as long
 *     op:aten::linear=0     calls of that name are gone, with all inside: host time, device work
 *     op:aten::mm [[16,*    the same by name and input shapes: a pattern with a bracket
 *     module:Attention_*    calls of modules and the backward pass of what they called
 *     range:forward         ranges of the user and of the framework
 *
 * In a pattern * stands for anything and ? for one character; blanks do not matter. Of calls
 * inside each other only the outermost counts. Changes combine: where two cover the same time
 * their factors multiply. */
#ifndef ANALYSE_SCENARIO_H
#define ANALYSE_SCENARIO_H

#include "analyse/why/why_graph.h"

typedef enum {
    CHANGE_TO_KERNEL,
    CHANGE_TO_OP,
    CHANGE_TO_MODULE,
    CHANGE_TO_RANGE,
    CHANGE_TO_LISTED, /* calls and work that the caller knows by row */
    CHANGE_NO_LAUNCH_COST,
    CHANGE_NO_SYNC,
    CHANGE_NO_DATA_WAIT,
    CHANGE_NO_COMMUNICATION,
    CHANGE_CUDA_GRAPH,
} scenario_kind;

typedef struct {
    scenario_kind kind;
    str text; /* as it was given */
    str pattern;
    double factor;
    /* Of CHANGE_TO_LISTED: slices in ascending order, and device work with one of the bits. */
    const uint32_t *listed;
    uint32_t n_calls;
    const uint16_t *work_marks; /* by row of table kernel; NULL: no work */
    uint16_t mark;
    /* What it matched, in all steps: calls, device work, their times. */
    int64_t calls, kernels, host_ns, device_ns;
} scenario_change;

enum { MOST_CHANGES = 40 }; /* what params can hold, and the flags */

/* A stretch of a thread in which some changes apply: bits of `mask`. */
typedef struct {
    int64_t start, end;
    uint64_t mask;
} scenario_stretch;

typedef struct {
    const why_graph *g;
    scenario_change v[MOST_CHANGES];
    uint32_t n;
    scenario_stretch *stretches; /* by track and time, disjoint */
    uint32_t *first;             /* by track: its first stretch; n_tracks + 1 of them */
    uint64_t *work_mask;         /* by row of table kernel: changes that touch it */
} scenario;

/* What finding it reads; for trace_require. */
#define SCENARIO_TABLES                                                                \
    (WHY_TABLES | TRACE_TABLE(module) | TRACE_TABLE(module_call) | TRACE_TABLE(flow) | \
     TRACE_TABLE(comm))

/* The changes a question asks for. ERR_ARG when one cannot be read. */
status scenario_read(const params *p, scenario *out, error *err) MUST_USE;
/* Finds what they touch. ERR_ARG when a pattern matches nothing. */
status scenario_match(scenario *s, const why_graph *g, arena *a, error *err) MUST_USE;

/* Bits of the changes that apply at this time of the thread. */
uint64_t scenario_mask_at(const scenario *s, uint32_t track, int64_t time);

/* Does the pattern fit? Blanks are skipped on both sides. */
bool scenario_fits(str pattern, str text);

#endif
