/* range_scan.h: ranges on the host (modules, a user's ranges) with the device work launched
 * inside them, in one pass over the host threads. */
#ifndef ANALYSE_RANGE_SCAN_H
#define ANALYSE_RANGE_SCAN_H

#include "analyse/select.h"

/* One range. Times are those inside the selection. */
typedef struct {
    uint32_t slice;
    uint32_t parent;  /* innermost range around it that is scanned too, 0 = none */
    int64_t ns;       /* host time */
    int64_t child_ns; /* of the scanned ranges directly inside it */
    int64_t device_self,
        device_children; /* Σ device work launched inside it; in its children */
} range_call;

typedef struct {
    const trace *t;
    const selection *select;
    arena *arena;
    uint32_t kinds; /* bits 1 << KIND_… */
    status (*visit)(void *context, const range_call *range, error *err);
    void *context;
} range_scan;

/* Visits every range once, inner ones before outer ones. Linear; memory by nesting depth. */
status range_scan_run(const range_scan *scan, error *err) MUST_USE;

#endif
