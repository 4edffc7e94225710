/* memory_growth.h: the table `growth` of the question `memory`: what rises from step to step,
 * and the line that allocates it.
 *
 *   keeps     more blocks are alive after each step: a list of losses, a cache without a limit
 *   longer    as many blocks, but larger ones: a sequence that grows
 *   warm_up   rose in the first steps only and stays: states of the optimizer, caches
 *
 * What is alive at the end of a step is compared; the first step counts as warm-up, and the
 * last one too where blocks that the next step would release are in it. */
#ifndef ANALYSE_MEMORY_GROWTH_H
#define ANALYSE_MEMORY_GROWTH_H

#include "analyse/questions/memory_blocks.h"

/* What grows most. */
typedef struct {
    str name;               /* line, else operator; empty: nothing grows */
    int64_t per_step_bytes; /* on average, after warm-up */
} memory_grower;

/* After memory_find_peaks; `device`: row of m->devices. */
status memory_write_growth(memory_view *m, const memory_parts *parts, uint32_t device,
                           memory_grower *most, error *err) MUST_USE;

#endif
