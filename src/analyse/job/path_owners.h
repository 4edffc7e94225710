/* path_owners.h: which module and which line of Python a piece of the critical path belongs to.
 *
 * Device work belongs to its launch; the backward pass to the module of the matching forward
 * pass. Needs the tables module, module_call and those of line_of.h. */
#ifndef ANALYSE_PATH_OWNERS_H
#define ANALYSE_PATH_OWNERS_H

#include "analyse/job/critical_path.h"
#include "analyse/operators/backward_owner.h"
#include "analyse/operators/line_of.h"

typedef struct {
    const trace *t;
    backward_nodes nodes;
    line_view lines;
    bool has_modules;
    /* Neighbors on the path are mostly in one node and one call: what was found last. */
    uint32_t node_at, call_slice, call_module;
    uint32_t piece_slice, host_slice, module; /* of the last piece */
    bool knows_module;
} path_owners;

/* Valid while the trace is open and until the arena is reset. */
status path_owners_init(path_owners *o, const trace *t, const selection *s, arena *a,
                        error *err) MUST_USE;

/* Row of table module, 0: none. */
uint32_t path_module_of(path_owners *o, const path_piece *p);
/* The stack of what a piece is part of, or comes before: a row of table frame, 0: not known. */
uint32_t path_frame_of(const line_view *v, const path_piece *p);
/* Piece `k` of a path, cut where the line changes: on the host by what its thread did, on a
 * device by who launched it. Times of the path are those of the trace. */
status path_lines_cut(const line_cutter *c, const path_pieces *path, size_t k,
                      error *err) MUST_USE;

#endif
