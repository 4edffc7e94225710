/* stacks.h: the call stack an op was called from, as one number.
 *
 * Older producers write the stack on the op (table frame); newer ones record Python frames
 * as slices, and the stack is the frames around the op on its thread. Both become ids that
 * are equal when the stacks are. */
#ifndef ANALYSE_STACKS_H
#define ANALYSE_STACKS_H

#include "analyse/group.h"
#include "store/trace.h"

typedef struct {
    const trace *t;
    groups nodes;            /* distinct (caller, name); id = index + 1 */
    struct stack_open *open; /* Python frames around the cursor, outermost first */
    uint32_t n_open, cap_open;
    uint64_t text_bytes; /* of all texts so far */
} stacks;

/* The place of an op: the frames it was called from, and its path: frames and ops around it,
 * and itself, as they nest. Both are ids of stacks; 0 = nothing around. */
typedef struct {
    uint32_t stack, path;
} stack_place;

status stacks_init(stacks *s, const trace *t, arena *a, error *err) MUST_USE;
/* A new thread begins. */
void stacks_new_track(stacks *s);
/* The scan passes a Python or module frame; slices ascend. */
status stacks_enter(stacks *s, uint32_t slice, error *err) MUST_USE;
/* The stack of the op with this row (0 = none) that starts at the time; 0 = no stack. */
uint32_t stacks_of(stacks *s, uint32_t op_row, int64_t start_ns);
/* The path of an op with this name and stack inside `outer`. Frames the outer op was called
 * from come before it, frames that it called are between the two. A stack that is part of the
 * outer one's adds nothing; one that has nothing to do with it counts instead of the outer
 * path. An op directly inside one of its own name has the same path. 0 when out of memory. */
uint32_t stacks_path(stacks *s, stack_place outer, uint32_t stack, uint32_t name);
/* The innermost name of a stack or path and what is around it; false for 0. */
bool stacks_split(const stacks *s, uint32_t id, uint32_t *caller, uint32_t *name);
/* Frames joined by ';', innermost first, as the producers write it; empty for 0. Frames beyond
 * the thousandth are … (all but the innermost 32 when the texts so far take 64 MiB). {NULL, 0}
 * when out of memory. */
str stacks_text(stacks *s, uint32_t id, arena *a);

#endif
