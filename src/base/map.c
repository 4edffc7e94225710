/* map.c: linear probing over two parallel arrays in one block.
 *
 *      block:   [ key key key … key | value value … value ]       cap places, a power of two
 *
 * A place is free when its value is MAP_NONE, so every 64-bit key is allowed. At most half the
 * places are taken: a hit looks at 1.5 places on average, a miss at 2.5. Entries are never
 * removed.
 *
 * Where a key goes depends on the secret seeds (seed_int.h): the order of places differs from
 * run to run, and a file cannot be made whose keys all meet in one place. */
#include "base/map.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/pages.h"
#include "base/seed_int.h"

#define FIRST_PLACES ((size_t)64)
#define PLACE_BYTES (sizeof(uint64_t) + sizeof(uint32_t))
/* From here on whole pages: what a smaller map or an array had is used again. */
#define PAGES_FROM ((size_t)1 << 13)

WRAPS uint64_t hash_u64(uint64_t x) {
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93U;
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93U;
    return x ^ x >> 32;
}

uint64_t hash_pair(uint64_t a, uint64_t b) {
    return fold_multiply(fold_multiply(a ^ seeds[1], seeds[2]) ^ seeds[0] ^ b, seeds[3]);
}

static inline size_t first_place(uint64_t key, size_t mask) {
    /* Folded once, keys in a row make long runs with an unlucky seed (8 extra steps a search in
     * place of 0.3); twice, they look random with every seed tried. */
    return (size_t)fold_multiply(fold_multiply(key ^ seeds[0], seeds[1]), seeds[2]) & mask;
}

/* The place of key, or the free place where it would go. */
static inline size_t find_place(const map *m, uint64_t key) {
    size_t mask = m->cap - 1, i = first_place(key, mask);
    while (m->values[i] != MAP_NONE && m->keys[i] != key) i = (i + 1) & mask;
    return i;
}

static void free_block(map *m) {
    if (m->cap >= PAGES_FROM) {
        pages_give(m->keys, m->cap * PLACE_BYTES);
    } else {
        mem_free(m->keys);
    }
}

void map_fini(map *m) {
    free_block(m);
    *m = (map){0};
}

static status rebuild(map *m, size_t cap) {
    size_t size;
    if (__builtin_mul_overflow(cap, PLACE_BYTES, &size)) return ERR_MEMORY;
    map bigger = {.n = m->n, .cap = cap};
    bigger.keys = cap >= PAGES_FROM ? pages_take(size) : mem_alloc(size);
    if (!bigger.keys) return ERR_MEMORY;
    bigger.values = (uint32_t *)(bigger.keys + cap);
    memset(bigger.values, 0xFF, cap * sizeof *bigger.values); /* MAP_NONE everywhere */
    for (size_t i = 0; i < m->cap; i++) {
        if (m->values[i] == MAP_NONE) continue;
        size_t to = find_place(&bigger, m->keys[i]);
        bigger.keys[to] = m->keys[i];
        bigger.values[to] = m->values[i];
    }
    free_block(m);
    *m = bigger;
    return OK;
}

status map_reserve(map *m, size_t n) {
    if (n > SIZE_MAX / 4) return ERR_MEMORY;
    size_t cap = m->cap ? m->cap : FIRST_PLACES;
    while (cap / 2 < n) cap *= 2;
    return cap == m->cap ? OK : rebuild(m, cap);
}

uint32_t map_get(const map *m, uint64_t key) {
    return m->cap ? m->values[find_place(m, key)] : MAP_NONE;
}

uint32_t *map_at(map *m, uint64_t key) {
    if (m->cap) {
        size_t i = find_place(m, key);
        if (m->values[i] != MAP_NONE) return &m->values[i];
    }
    if (m->n >= m->cap / 2 && map_reserve(m, m->n + 1) != OK) return NULL;
    size_t i = find_place(m, key);
    m->keys[i] = key;
    m->n++;
    return &m->values[i];
}
