/* memory_blocks.h: blocks of memory by what they are for and by operator, module and line. */
#ifndef ANALYSE_MEMORY_BLOCKS_H
#define ANALYSE_MEMORY_BLOCKS_H

#include "analyse/memory/memory_parts.h"
#include "analyse/questions/memory_owner.h"

typedef struct {
    uint32_t device; /* row of memory_view.devices */
    uint8_t part;    /* memory_part */
    str op, module, line;
    /* What the caller adds up. */
    int64_t bytes, recorded, blocks;
    uint8_t batch_power, length_power; /* of what grows most */
} block_group;

typedef struct {
    memory_view *m;
    const memory_parts *parts;
    memory_owner owner;
    groups rows;   /* block_group */
    bool any_part; /* whatever they are for: `part` is 0 */
} block_groups;

/* Loads the tables it needs: those of `memory` and of lines. */
status block_groups_init(block_groups *b, memory_view *m, const memory_parts *parts,
                         error *err) MUST_USE;
/* The group of a memory row; valid until the next call. */
status block_groups_at(block_groups *b, uint32_t row, block_group **out, error *err) MUST_USE;
/* Rows, the largest first. NULL when out of memory. */
uint32_t *block_groups_by_size(const block_groups *b);
/* By the bytes of operator, module and line. */
int block_group_compare(const block_group *x, const block_group *y);

#endif
