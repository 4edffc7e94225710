/* alloc_sites.h: which allocation of one recording is which of another of the same program.
 *
 * A block is known by the ranges and operators around its allocation (or by its call stack, in
 * a snapshot), by the number of its step in the recording, and by how many blocks were made
 * there in that step before it. Threads may run in another order, steps may be more or fewer:
 * a step that the other recording does not have is compared with its last one. */
#ifndef ANALYSE_ALLOC_SITES_H
#define ANALYSE_ALLOC_SITES_H

#include "analyse/memory/memory_view.h"
#include "base/map.h"

typedef struct {
    const trace *t;
    uint64_t *site;    /* by memory row that makes a block: where, and which of its step */
    uint32_t *step_of; /* by memory row: its step, 0 = in none */
    map *exact;        /* site and step → row */
    map *latest;       /* site → row in the last step that has it */
} alloc_sites;

/* Does the row make a block of this device, or is it all that is known of an older one? */
bool alloc_makes_block(const memory_view *m, uint32_t device, uint32_t row);

/* Needs the tables slice, op, frame, memory and step. */
status alloc_sites_init(alloc_sites *s, const memory_view *m, uint32_t device, arena *a,
                        error *err) MUST_USE;

/* The row of `s` for a row of another recording; 0: there is none. */
uint32_t alloc_sites_match(const alloc_sites *s, const alloc_sites *other, uint32_t row);
/* The same block in the step before, in the same recording; 0: none. */
uint32_t alloc_sites_before(const alloc_sites *s, uint32_t row);

#endif
