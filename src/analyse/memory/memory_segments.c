/* memory_segments.c: what of an allocator's segments is free.
 *
 * Segments are laid out by address, and blocks are laid into them:
 *
 *     +1          -1 +1              -1            segments: a sum over edges, sorted
 *      ▐█████░░░███▌  ▐░░░░░░░░░░░░░░▌
 *       block   block
 *      gaps 3         cached 14
 *
 * A segment that is given back in the size it was taken takes its edges with it. An expandable
 * segment grows and shrinks in pieces of other sizes: each stretch between two edges counts for
 * itself, as the allocator can give back pages without giving back the rest. */
#include "analyse/memory/memory_segments.h"

#include "analyse/memory/memory_view.h"
#include "base/map.h"
#include "base/num.h"
#include "base/sort.h"

/* Edges in order of address: rows of `kinds`. */
typedef enum { EDGE_SEGMENT_END, EDGE_BLOCK_END, EDGE_SEGMENT, EDGE_BLOCK } edge_kind;

typedef struct {
    sort_pair *v; /* key: address; row: edge_kind */
    size_t n;
} edges;

static void add_range(edges *e, uint64_t address, int64_t bytes, edge_kind begin,
                      edge_kind end) {
    uint64_t size = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
    if (!size || address + size < address) return; /* past the last address: a forged file */
    e->v[e->n++] = (sort_pair){address, begin};
    e->v[e->n++] = (sort_pair){address + size, end};
}

static bool is_on(const trace *t, const memory_moment *at, uint32_t row) {
    return t->memory.device_type[row] == at->device_type &&
           t->memory.device[row] == at->device && t->memory.address[row];
}

static bool makes_segment(uint8_t kind) {
    return kind_is_segment(kind) && kind != MEMORY_SEGMENT_FREE;
}

/* By row: the segment event is undone by a later one of the same size. */
static status find_undone(const trace *t, const memory_moment *at, bool *undone, error *err) {
    map alive = {0}; /* address → row */
    status st = OK;
    for (uint32_t i = 1; i <= at->row && i < t->memory.n && st == OK; i++) {
        bool makes = makes_segment(t->memory.kind[i]);
        if (!kind_is_segment(t->memory.kind[i]) || !is_on(t, at, i)) continue;
        uint32_t *row = map_at(&alive, t->memory.address[i]);
        if (!row) {
            st = ERR_MEMORY;
        } else if (makes) {
            *row = i;
        } else if (*row != MAP_NONE && *row &&
                   t->memory.bytes[*row] == sub_i64(0, t->memory.bytes[i])) {
            undone[*row] = undone[i] = true;
            *row = 0;
        }
    }
    map_fini(&alive);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}

static void add_edges(const trace *t, const memory_moment *at, const bool *undone, edges *e) {
    for (uint32_t i = 1; i < t->memory.n; i++) {
        uint8_t kind = t->memory.kind[i];
        uint64_t address = t->memory.address[i];
        if (!is_on(t, at, i) || undone[i]) continue;
        if (memory_is_held(t, i, at->row))
            add_range(e, address, t->memory.bytes[i], EDGE_BLOCK, EDGE_BLOCK_END);
        else if (i <= at->row && makes_segment(kind))
            add_range(e, address, t->memory.bytes[i], EDGE_SEGMENT, EDGE_SEGMENT_END);
        else if (i <= at->row && kind == MEMORY_SEGMENT_FREE)
            add_range(e, address, t->memory.bytes[i], EDGE_SEGMENT_END, EDGE_SEGMENT);
    }
}

/* The stretch between two edges of segments. */
typedef struct {
    int64_t free, used;
} stretch;

static void end_stretch(stretch *s, int64_t *cached, int64_t *gaps) {
    int64_t *to = s->used ? gaps : cached;
    *to = add_i64(*to, s->free);
    *s = (stretch){0};
}

static void walk_edges(const edges *e, int64_t *cached, int64_t *gaps) {
    int64_t segments = 0, blocks = 0;
    stretch s = {0};
    for (size_t i = 0; i < e->n; i++) {
        if (i && segments > 0) {
            int64_t bytes = sat_i64(e->v[i].key - e->v[i - 1].key);
            int64_t *to = blocks > 0 ? &s.used : &s.free;
            *to = add_i64(*to, bytes);
        }
        switch ((edge_kind)e->v[i].row) {
        case EDGE_BLOCK: blocks++; break;
        case EDGE_BLOCK_END: blocks--; break;
        case EDGE_SEGMENT:
            end_stretch(&s, cached, gaps);
            segments++;
            break;
        case EDGE_SEGMENT_END:
            end_stretch(&s, cached, gaps);
            segments--;
            break;
        }
    }
}

status memory_free_space(const trace *t, const memory_moment *at, arena *a, int64_t *cached,
                         int64_t *gaps, error *err) {
    *cached = *gaps = 0;
    bool any = false;
    for (uint32_t i = 1; i <= at->row && i < t->memory.n && !any; i++)
        any = makes_segment(t->memory.kind[i]) && t->memory.address[i];
    if (!any) return OK;
    edges e = {.v = ARENA_ARRAY(a, sort_pair, 2 * (size_t)t->memory.n + 2)};
    bool *undone = ARENA_ARRAY(a, bool, (size_t)t->memory.n + 1);
    if (!e.v || !undone) FAIL_MEMORY(err);
    TRY(find_undone(t, at, undone, err));
    add_edges(t, at, undone, &e);
    if (!sort_radix_in(a, e.v, e.n)) FAIL_MEMORY(err);
    walk_edges(&e, cached, gaps);
    return OK;
}
