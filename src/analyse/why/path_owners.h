/* path_owners.h: which module and which line of Python a piece of the critical path belongs to.
 *
 * Device work belongs to its launch; the backward pass to the module of the matching forward
 * pass. Needs the tables module, module_call, flow, frame and op. */
#ifndef ANALYSE_PATH_OWNERS_H
#define ANALYSE_PATH_OWNERS_H

#include "analyse/scan/backward_owner.h"
#include "analyse/why/critical_path.h"

typedef struct {
    const trace *t;
    backward_nodes nodes;
    uint8_t *line_memo; /* by string: 0 not looked at, 1 no line, 2 of a package, 3 own */
    bool has_modules, has_lines;
    /* Neighbors on the path are mostly in one node and one call: what was found last. */
    uint32_t node_at, call_slice, call_module, op_slice, op_frame;
    bool has_stacks; /* some operator has its stack written on it */
    uint32_t piece_slice, host_slice, module, line; /* of the last piece */
    bool knows_module, knows_line;
} path_owners;

/* Valid while the trace is open and until the arena is reset. */
status path_owners_init(path_owners *o, const trace *t, const selection *s, arena *a,
                        error *err) MUST_USE;

/* Row of table module, 0: none. */
uint32_t path_module_of(path_owners *o, const path_piece *p);
/* "train.py(12): main" as a string of the trace, 0: none. Frames of installed packages count
 * only where no other frame is around. The backward pass, which has none, belongs to the line
 * that called the module. */
uint32_t path_line_of(path_owners *o, const path_piece *p);

#endif
