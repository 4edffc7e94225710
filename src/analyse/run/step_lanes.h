/* step_lanes.h: one step of every worker as it went: what it did when, and whom it waited for.
 *
 * The step in the middle of a worker's steps; members of a job have the same steps, so it is
 * the same one. Its own time is in pieces, those on the device and those of the host by stage;
 * the rest is when it did nothing but communicate: until the last member of a collective
 * arrived it waited for that one, then data moved. Pieces too short to be seen are left out.
 *
 *   rank 0   |▒▒ data_loading |▓▓▓▓▓ device ▓▓▓▓▓|░ wait: rank 1 ░|transfer|▓ device ▓|
 *   rank 1   |▒▒▒▒▒▒▒▒▒▒ data_loading ▒▒▒▒▒▒▒|▓▓▓▓▓ device ▓▓▓▓▓▓▓|transfer|▓ device ▓| */
#ifndef ANALYSE_STEP_LANES_H
#define ANALYSE_STEP_LANES_H

#include "analyse/comm/worker_order.h"
#include "analyse/device/breakdown.h"
#include "analyse/run/clocks.h"
#include "analyse/steps/stages.h"

enum { LANES_MOST = 96 }; /* pieces of its own time that a worker has in the picture */

/* The first are those of enum stage. */
typedef enum { LANE_DEVICE = N_STAGES, LANE_TRANSFER, LANE_WAIT, N_LANES } lane_kind;
/* As stage_name does, and device, transfer, wait. */
str lane_name(int kind);

/* Rows `lane` of a worker's own time. */
status lanes_reduce(const trace *t, const step_spans *steps, const role_ranges *ranges,
                    str worker, summary *out, error *err) MUST_USE;

/* What a worker's collectives add to them. */
typedef struct {
    int64_t start, moved, end; /* data moves from `moved` on */
    str whom, name;            /* the worker that arrived last; the collective */
    int64_t lot;
} lane_call;

typedef struct {
    lane_call *v;
    uint32_t n, cap;
    arena *arena;
    str worker;
    interval step;
    int64_t number;
    bool wanted; /* the worker has a picture */
} lane_calls;

/* Rows of a summary from which on those of a worker are to be found: both ascend by worker. */
typedef struct {
    uint32_t lane, step;
} lane_place;
void lane_calls_begin(lane_calls *l, const summary *s, lane_place *at, str worker, arena *a);
/* The collective starts in a step that starts then. */
status lane_calls_add(lane_calls *l, int64_t step, const lane_call *c, error *err) MUST_USE;
/* `alone`: when the worker did nothing but communicate. */
status lane_calls_write(lane_calls *l, const intervals *alone, summary *out,
                        error *err) MUST_USE;

/* ---- read back --------------------------------------------------------------------------- */

typedef struct {
    uint32_t worker, whom; /* places in the roster; whom: UINT32_MAX: not known, or none */
    int64_t start, end;    /* on the first worker's clock */
    int kind;
    int64_t step, lot;
    str name;
} lane;

typedef struct {
    lane *v; /* by worker, then by time */
    uint32_t n;
    uint32_t *first; /* by worker; n + 1 entries */
    int64_t start, end;
} lane_list;

/* Of all workers whose clocks agree, in the step that most of them have. */
status lanes_read(const summary *s, const worker_order *who, arena *a, lane_list *out,
                  error *err) MUST_USE;

#endif
