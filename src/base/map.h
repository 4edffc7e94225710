/* map.h: open-addressing hash map from a 64-bit key (or a pair) to a 32-bit value. Not thread
 * safe. Start from (map){0}. The order of places differs from run to run (a hostile file must
 * not be able to choose keys that collide): never walk it to make something a user sees. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/status.h"

typedef struct {
    uint64_t *keys;
    uint32_t *values; /* next to its key; MAP_NONE marks a free slot, so any key is allowed */
    size_t n, cap;
} map;

#define MAP_NONE UINT32_MAX

void map_fini(map *m);
/* Makes room for n entries in all. */
status map_reserve(map *m, size_t n) MUST_USE;
/* Value of key or MAP_NONE. */
uint32_t map_get(const map *m, uint64_t key);
/* Pointer to the value of key; a new key starts as MAP_NONE (set it before the next call, a
 * value must never stay MAP_NONE). NULL when out of memory. */
uint32_t *map_at(map *m, uint64_t key);

/* A well-spread bijection, the same on every machine. */
uint64_t hash_u64(uint64_t x);
/* Key for a pair (or more, nested), different in each process: a file cannot be made whose
 * pairs collide, but a collision is possible all the same, so compare what was found. */
uint64_t hash_pair(uint64_t a, uint64_t b);

#endif
