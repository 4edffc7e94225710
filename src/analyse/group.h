/* group.h: rows of a result by an exact composite key.
 *
 *     groups g;
 *     TRY(groups_init(&g, a, sizeof(row), err));
 *     uint32_t i = groups_at(&g, hash, same_key, &key);     0 … g.n-1; a new row is all zero
 *     if (i == GROUP_NONE) FAIL_MEMORY(err);
 *     row *r = GROUP_ROW(&g, row, i);                       valid until the next groups_at/_add
 *
 * The hash only finds candidates; `same` decides, so that a collision costs time, never a
 * number. */
#ifndef ANALYSE_GROUP_H
#define ANALYSE_GROUP_H

#include "base/arena.h"
#include "base/map.h"

#define GROUP_NONE UINT32_MAX

typedef struct {
    arena *arena;
    map *index; /* given back when the arena is reset */
    char *rows;
    size_t row_bytes;
    uint32_t n, cap;
} groups;

typedef bool (*group_same)(const void *row, const void *key);

status groups_init(groups *g, arena *a, size_t row_bytes, error *err) MUST_USE;
/* A new zeroed row without a key: its index, or GROUP_NONE when out of memory. */
uint32_t groups_add(groups *g);
/* The row of the key. A row that did not exist is added, zeroed, with *is_new true: fill in
 * its key before the next call. GROUP_NONE when out of memory. */
uint32_t groups_at(groups *g, uint64_t hash, group_same same, const void *key, bool *is_new);
/* 0 … n-1, for sorting. NULL when out of memory. */
uint32_t *groups_order(const groups *g);

#define GROUP_ROW(g, type, i) ((type *)(void *)((g)->rows + (size_t)(i) * (g)->row_bytes))

#endif
