/* memory_owner.h: the module and the line that a block of memory belongs to.
 *
 * The module is the innermost around the block's operator; in the backward pass that of the
 * forward operator that is undone (backward_owner.h). The line is that of line_of.h. */
#ifndef ANALYSE_MEMORY_OWNER_H
#define ANALYSE_MEMORY_OWNER_H

#include "analyse/memory/memory_view.h"
#include "analyse/operators/backward_owner.h"
#include "analyse/operators/line_of.h"

typedef struct {
    const trace *t;
    backward_nodes nodes;
    line_view lines;
    str *line_text; /* by frame: its line, once it was asked for */
    arena *arena;
} memory_owner;

/* Modules; needs the tables module, module_call, flow and kernel. */
status memory_owner_modules(memory_owner *o, const trace *t, arena *a, error *err) MUST_USE;
/* Lines; needs LINE_TABLES. */
status memory_owner_lines(memory_owner *o, const trace *t, arena *a, error *err) MUST_USE;

/* That of an operator (a slice); empty when it is in none. */
str memory_owner_module(const memory_owner *o, uint32_t op);
/* "train.py:88" of a row of table memory; {NULL, 0} when not known; *ok false when out of
 * memory. */
str memory_owner_line(memory_owner *o, uint32_t row, bool *ok);

#endif
