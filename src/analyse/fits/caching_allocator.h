/* caching_allocator.h: how much memory an allocator takes from the device for a sequence of
 * allocations and releases.
 *
 *   exact       what is asked for, nothing else: a host
 *   caching     PyTorch's allocator of CUDA: sizes in steps of 512 bytes; blocks up to 1 MiB
 *               out of segments of 2 MiB, up to 10 MiB out of segments of 20 MiB, larger ones
 *               in one segment each, in steps of 2 MiB; the smallest free block that is
 *               large enough is taken and split, a released one joins free neighbors
 *   expandable  the same with `expandable_segments:True`: one segment for small and one for
 *               large blocks, which grow at their end by 2 and 20 MiB
 *
 * Where a new segment would pass the limit, free segments are given back first (`retries`), as
 * PyTorch does; if that is not enough, the program runs out of memory. Streams are not
 * known: all blocks are of one. Defaults of PYTORCH_CUDA_ALLOC_CONF otherwise. */
#ifndef ANALYSE_CACHING_ALLOCATOR_H
#define ANALYSE_CACHING_ALLOCATOR_H

#include "base/arena.h"
#include "base/status.h"

typedef enum { ALLOCATOR_EXACT, ALLOCATOR_CACHING, ALLOCATOR_EXPANDABLE } allocator_kind;

enum { ALLOCATOR_STEP = 512 };

typedef struct allocator_block allocator_block;

typedef struct {
    allocator_kind kind;
    int64_t limit; /* bytes it may take; INT64_MAX: no limit */
    int64_t allocated, reserved, most_allocated, most_reserved;
    uint32_t retries; /* how often free segments were given back to find room */
    bool exhausted;   /* the last allocation found none; nothing may follow */
    allocator_block *blocks;
    uint32_t n_blocks, cap_blocks, unused; /* unused: a list of rows of `blocks`, by next */
    uint32_t *free_heads[2];               /* skip lists of the free blocks, small and large */
    uint32_t last[2];                      /* expandable: the block at the end of the segment */
    int64_t end_address;                   /* where the next segment begins */
    arena *arena;
} caching_allocator;

status allocator_init(caching_allocator *c, allocator_kind kind, int64_t limit, arena *a,
                      error *err) MUST_USE;
/* *block: to be released; 0 when it is exhausted, or for no bytes. */
status allocator_take(caching_allocator *c, int64_t bytes, uint32_t *block,
                      error *err) MUST_USE;
/* 0 is ignored. */
void allocator_release(caching_allocator *c, uint32_t block);
/* What a block of so many bytes takes in it. */
int64_t allocator_round(allocator_kind kind, int64_t bytes);

#endif
