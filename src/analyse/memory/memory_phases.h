/* memory_phases.h: in which part of a step memory was allocated and released.
 *
 * An event has a phase of its own where what it happened in says so: a range of the optimizer,
 * a node of autograd, a module, an operator that autograd recorded; in a memory snapshot a
 * frame of its call stack. Events of one phase in a row are a pass: a forward pass, a backward
 * pass, a step of the optimizer. Events that say nothing belong to the pass they happen in. */
#ifndef ANALYSE_MEMORY_PHASES_H
#define ANALYSE_MEMORY_PHASES_H

#include "analyse/lexicon.h"

typedef enum {
    MEMORY_PHASE_NONE,
    MEMORY_PHASE_FORWARD,
    MEMORY_PHASE_BACKWARD,
    MEMORY_PHASE_RECOMPUTE, /* forward operators that a checkpoint runs again */
    MEMORY_PHASE_OPTIMIZER,
    MEMORY_PHASE_ZERO,  /* gradients are released or set to zero */
    MEMORY_PHASE_SETUP, /* a model is made, moved or loaded */
    MEMORY_PHASE_LOAD,  /* a data loader makes a batch */
    MEMORY_PHASE_COMM,
    N_MEMORY_PHASES
} memory_phase;

typedef struct {
    const trace *t;
    uint8_t *own;        /* by memory row: memory_phase of the event itself */
    uint32_t *pass;      /* by memory row: number of its pass, from 0 on */
    uint8_t *pass_phase; /* by pass */
    uint32_t *backwards; /* by pass: backward passes that began before it or with it */
    uint32_t n_passes, n_backwards;
    int states; /* numbers the optimizer keeps for each weight at most; 0: not known */
    uint8_t *slice_phase; /* by slice */
    bool *in_workspace;   /* by frame: a library makes a workspace; NULL: no stacks */
    name_meanings names;
    uint32_t *outermost; /* by slice: the outermost operator of a library around it, or 0 */
} memory_phases;

/* Needs the tables slice, op, track, frame and memory. */
status memory_phases_init(memory_phases *m, const trace *t, arena *a, error *err) MUST_USE;
/* Is the block released inside the operator that allocated it? */
bool memory_is_inside_op(const memory_phases *m, uint32_t row);
/* Is the block one that a library computes in and keeps for the next time? */
bool memory_is_workspace(memory_phases *m, uint32_t row);
/* The phase of the event itself, else that of its pass. */
static inline uint8_t memory_phase_of(const memory_phases *m, uint32_t row) {
    return m->own[row] ? m->own[row] : m->pass_phase[m->pass[row]];
}

#endif
