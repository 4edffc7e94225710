/* group.c: rows of a result by an exact composite key.
 *
 * The hash of a key is the key of the map; a second key with the same hash goes to the next
 * place of a chain of rehashed hashes, so equality is always decided by the caller's
 * comparison. Rows lie in one array of the request's arena and double when it is full: an
 * analysis allocates per group, never per event, and the arena's byte limit holds for
 * hostile input with a group per event. */
#include "analyse/group.h"

static void free_index(void *index) {
    map_fini(index);
}

status groups_init(groups *g, arena *a, size_t row_bytes, error *err) {
    map *index = ARENA_NEW(a, map);
    if (!index || !arena_on_reset(a, free_index, index)) FAIL_MEMORY(err);
    *g = (groups){.arena = a, .index = index, .row_bytes = row_bytes};
    return OK;
}

uint32_t groups_add(groups *g) {
    if (g->n == g->cap) {
        uint32_t cap = g->cap ? g->cap * 2 : 64;
        if (cap <= g->cap) return GROUP_NONE;
        void *rows = arena_grow(g->arena, g->rows, g->cap * g->row_bytes, cap * g->row_bytes);
        if (!rows) return GROUP_NONE;
        g->rows = rows;
        g->cap = cap;
    }
    memset(g->rows + (size_t)g->n * g->row_bytes, 0, g->row_bytes);
    return g->n++;
}

uint32_t groups_at(groups *g, uint64_t hash, group_same same, const void *key, bool *is_new) {
    *is_new = false;
    for (;; hash = hash_u64(hash + 1)) {
        uint32_t known = map_get(g->index, hash);
        if (known == MAP_NONE) break;
        if (same(g->rows + (size_t)known * g->row_bytes, key)) return known;
    }
    uint32_t row = groups_add(g);
    if (row == GROUP_NONE) return GROUP_NONE;
    uint32_t *place = map_at(g->index, hash);
    if (!place) return GROUP_NONE;
    *place = row;
    *is_new = true;
    return row;
}

uint32_t *groups_order(const groups *g) {
    uint32_t *order = ARENA_ARRAY(g->arena, uint32_t, (size_t)g->n + 1);
    if (!order) return NULL;
    for (uint32_t i = 0; i < g->n; i++) order[i] = i;
    return order;
}
