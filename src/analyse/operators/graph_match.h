/* graph_match.h: which operator and module each kernel of a replayed graph was captured in.
 *
 *   capture   BeginCapture  launch  launch  launch  EndCapture    inside operators and modules
 *   replay    GraphLaunch ──> kernel  kernel  kernel              one call for all of them
 *
 * A capture may be in a separate trace. A replay is that of a capture only when it has as many
 * kernels as the capture has launches, and their names are the same in the same order: else
 * what it consists of is not known. A capture whose launches do not name their kernels matches
 * none. */
#ifndef ANALYSE_GRAPH_MATCH_H
#define ANALYSE_GRAPH_MATCH_H

#include "analyse/intervals.h"
#include "store/trace.h"

typedef struct {
    str kernel;
    str op, module, around; /* around: the module that called it; empty: not known */
} captured_launch;

typedef struct {
    captured_launch *v;
    uint32_t n;
    bool named; /* all of its launches name their kernels */
} graph_capture;

typedef struct {
    graph_capture *v;
    uint32_t n;
} graph_captures;

typedef struct {
    uint32_t call;     /* slice that launches it */
    uint32_t *kernels; /* rows of table kernel, by start */
    uint32_t n;
    interval range;               /* of them */
    int64_t busy_ns;              /* when one of them runs */
    const graph_capture *capture; /* NULL: none is it */
    double agree; /* names that are the same in the best capture of its size; NaN: none is */
} graph_replay;

typedef struct {
    graph_replay *v; /* by start of their calls */
    uint32_t n;
} graph_replays;

#define GRAPH_CAPTURE_TABLES                                                                \
    (TRACE_TABLE(call) | TRACE_TABLE(op) | TRACE_TABLE(module) | TRACE_TABLE(module_call) | \
     TRACE_TABLE(slice) | TRACE_TABLE(track))

status graph_captures_find(const trace *t, arena *a, graph_captures *out, error *err) MUST_USE;
/* Without captures yet. */
status graph_replays_find(const trace *t, arena *a, graph_replays *out, error *err) MUST_USE;
/* Finds the capture of each. */
void graph_replays_match(const trace *t, graph_replays *r, const graph_captures *c);

#endif
