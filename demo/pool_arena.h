/* pool_arena.h: the demonstration's allocator: one block from the system, cut from the front, given
 * back all at once after a step, as the caching allocators of frameworks do. Each piece is told to
 * the recorder, so that the memory view has something to show. */
#ifndef DEMO_POOL_ARENA_H
#define DEMO_POOL_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *p;
    size_t used, size;
    size_t n_pieces;
    size_t piece[64]; /* offsets of what is handed out */
} pool_arena;

bool pool_arena_init(pool_arena *a, size_t bytes);
void pool_arena_fini(pool_arena *a);
/* Floats, not cleared; NULL when the arena is full. */
float *pool_arena_take(pool_arena *a, size_t n);
/* Gives back everything from the last piece to the first. */
void pool_arena_reset(pool_arena *a);

#endif
