/* lod_int.h: the parts of a level-of-detail index, each made by a separate file. */
#ifndef STORE_LOD_INT_H
#define STORE_LOD_INT_H

#include "base/mem.h"
#include "base/num.h"
#include "store/lod.h"

/* Places in lod.bytes: what lod_free gives back. */
enum {
    LOD_LANES,
    LOD_ROWS,
    LOD_ENTRIES,
    LOD_NODES,
    LOD_READY,
    LOD_BOXES,
    LOD_SERIES,
    LOD_POINT_TIME,
    LOD_POINT_VALUE,
    LOD_BLOCK_MIN,
    LOD_BLOCK_MAX,
    LOD_NAME_STRING,
    LOD_NAME_FIRST,
    LOD_BY_NAME,
    LOD_NAME_TIME,
    LOD_DEVICES,
    N_LOD_PARTS
};

/* n zeroed elements, remembered in l->bytes[part]; NULL when out of memory. */
void *lod_map(lod *l, int part, size_t n, size_t elem_bytes);
#define LOD_MAP(l, part, type, n) ((type *)lod_map((l), (part), (n), sizeof(type)))

/* A row's tree: nodes over 8 entries, over each level nodes over 4 of the level below. */
enum { LOD_LEAF = 8, LOD_FAN = 4 };

static inline uint32_t lod_nodes_of(uint32_t n_entries) {
    uint32_t total = 0;
    for (uint32_t n = n_entries / LOD_LEAF; n > 0; n /= LOD_FAN) total += n;
    return total;
}

/* The end of the bucket that holds a time, kept in range; it begins at (time >> shift) <<
 * shift. */
static inline int64_t bucket_end(int64_t time_ns, int shift) {
    int64_t number = (time_ns >> shift) + 1;
    int64_t most = INT64_MAX >> shift;
    return number > most ? INT64_MAX : number * ((int64_t)1 << shift);
}

static inline int64_t entry_dur(const lod *l, uint32_t place) {
    const lod_entry *e = &l->entries[place];
    return e->dur_ns != UINT32_MAX ? e->dur_ns : l->t->slice.dur[e->id];
}

status lod_build_rows(lod *l, pool *p, error *err) MUST_USE;
status lod_build_ready(lod *l, error *err) MUST_USE;
status lod_build_series(lod *l, error *err) MUST_USE;
status lod_build_names(lod *l, error *err) MUST_USE;
status lod_build_covers(lod *l, error *err) MUST_USE;
void lod_cover_fini(lod_cover *c);
status lod_load_make(const trace *t, int32_t device, lod_load *out, error *err) MUST_USE;
void lod_load_fini(lod_load *l);

#endif
