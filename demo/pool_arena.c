/* pool_arena.c: see the header. Pieces are aligned to 64 bytes, a cache line. */
#include "demo/pool_arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <tacho/tacho.h>

static tacho_block block_of(const void *p, size_t bytes) {
    return (tacho_block){.size = sizeof(tacho_block),
                         .address = (uint64_t)(uintptr_t)p,
                         .bytes = (int64_t)bytes,
                         .device = -1,
                         .allocated = -1,
                         .reserved = -1};
}

bool pool_arena_init(pool_arena *a, size_t bytes) {
    *a = (pool_arena){.size = bytes, .p = aligned_alloc(64, bytes)};
    if (!a->p) return false;
    tacho_block b = block_of(a->p, bytes);
    tacho_reserve(&b);
    return true;
}

void pool_arena_fini(pool_arena *a) {
    pool_arena_reset(a);
    tacho_block b = block_of(a->p, a->size);
    if (a->p) tacho_unreserve(&b);
    free(a->p);
}

float *pool_arena_take(pool_arena *a, size_t n) {
    size_t bytes = (n * sizeof(float) + 63) / 64 * 64;
    if (bytes > a->size - a->used || a->n_pieces == sizeof a->piece / sizeof *a->piece)
        return NULL;
    char *p = a->p + a->used;
    a->piece[a->n_pieces++] = a->used;
    a->used += bytes;
    tacho_block b = block_of(p, bytes);
    tacho_alloc(&b);
    return (float *)(void *)p;
}

void pool_arena_reset(pool_arena *a) {
    while (a->n_pieces) {
        size_t from = a->piece[--a->n_pieces];
        tacho_block b = block_of(a->p + from, a->used - from);
        tacho_release(&b);
        a->used = from;
    }
}
