/* arena.h: memory with one lifetime. Allocations are 16-byte aligned and die together.
 *
 * A function that allocates takes the arena as its first parameter: the arena is the ownership
 * statement. An arena has a byte limit; a request over it gets NULL, which the caller turns
 * into ERR_MEMORY, and nothing else of the program is touched. Under ASan every allocation has
 * a red zone and freed space is poisoned. Not thread safe: one arena belongs to one thread at a
 * time. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

typedef struct arena_block arena_block;
typedef struct arena_cleanup arena_cleanup;

typedef struct arena {
    arena_block *blocks;
    arena_cleanup *cleanups;
    char *at, *end;
    size_t used_bytes, limit_bytes; /* limit 0: none */
} arena;

void arena_init(arena *a, size_t limit_bytes);
/* Runs the cleanups, newest first, and gives everything back. The arena may be used again. */
void arena_reset(arena *a);
#define arena_fini arena_reset

/* How often an arena of this process refused for its limit: was it that, or has the system no
 * more memory? */
uint64_t arena_refusals(void);

void *arena_alloc(arena *a, size_t size_bytes);  /* not cleared */
void *arena_zalloc(arena *a, size_t size_bytes); /* zeroed */
/* n elements of size, checked for overflow, zeroed. */
void *arena_array(arena *a, size_t n, size_t elem_bytes);
#define ARENA_NEW(a, type) ((type *)arena_zalloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_array((a), (n), sizeof(type)))
/* Grows the allocation p of old_bytes, in place when it was the last. p is gone when it moved:
 * a large one is given back. */
void *arena_grow(arena *a, void *p, size_t old_bytes, size_t new_bytes);
/* The allocation p of size_bytes is not needed any more: a large one is given back now, a small
 * one with the rest. NULL is ignored. */
void arena_drop(arena *a, void *p, size_t size_bytes);
/* A copy that ends in NUL; {NULL,0} on failure. */
str arena_str(arena *a, str s);
str arena_printf(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* fn(what) runs at reset. false when out of memory (then fn has run already). */
bool arena_on_reset(arena *a, void (*fn)(void *), void *what);

#endif
