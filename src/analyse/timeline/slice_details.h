/* slice_details.h: everything about one slice that is not in its own row: what it belongs to,
 * what caused it, what it caused, and how it compares with others of its name.
 *
 * Ids of slices, in the arena. Words and texts are the caller's business. */
#ifndef ANALYSE_SLICE_DETAILS_H
#define ANALYSE_SLICE_DETAILS_H

#include "analyse/select.h"
#include "store/lod.h"

/* Is it a function of the interpreter, which no line of source code stands for? */
bool frame_is_built_in(str name);

enum { DETAILS_MOST = 100, DETAILS_BINS = 24, DETAILS_WHY = 8 };

/* Up to DETAILS_MOST of them; n_all counts the others too. */
typedef struct {
    uint32_t *v, n, n_all;
} slice_list;

typedef struct {
    const char *role; /* "launch", "operator", "backward", "forward", "module", "python" */
    uint32_t slice;
    int64_t delay_ns; /* from its start to that of the one asked about; ABSENT_I64 for others */
} slice_cause;

typedef struct {
    uint8_t kind; /* flow_kind */
    bool out;     /* leads away from the slice */
    uint32_t slice, name;
} slice_flow;

/* Durations of the slices of one name in the selection. */
typedef struct {
    int64_t count, total, min, max;
    double share;      /* of the time of all slices of its kind; NaN inside a selection */
    double percentile; /* share of them that are not longer */
    bool logarithmic;  /* bins are equal steps of the logarithm */
    int64_t edges[DETAILS_BINS + 1];
    int64_t bins[DETAILS_BINS];
    int own; /* bin of the slice, -1 when it is not in the selection */
} same_name;

typedef struct {
    uint32_t slice, track, lane, row, step;
    int64_t self_ns;
    uint32_t parent, previous, next;
    slice_list children, kernels;
    int64_t kernel_ns; /* device time of all kernels it caused */
    uint32_t n_why, n_flows, n_flows_all;
    slice_cause why[DETAILS_WHY];
    uint32_t
        stack_of; /* the slice whose call stack tells the code: of backward, the forward's */
    slice_flow *flows;
    const char
        *wait; /* of device work: `host_pace`, `behind`, `dependency`, `unknown`; otherwise
                  NULL */
    int64_t wait_ns;
    uint32_t behind;
    same_name same;
} slice_details;

/* ERR_NOT_FOUND when there is no such slice. Cost: a walk over flows and device work, and the
 * slices of the same name, in the selection; without one these are not looked at. */
status details_make(const lod *l, uint32_t slice, const selection *s, arena *a,
                    slice_details *out, error *err) MUST_USE;

#endif
