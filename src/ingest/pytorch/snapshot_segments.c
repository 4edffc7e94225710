/* snapshot_segments.c: the segments an allocator had when the history of a snapshot begins.
 *
 * What was released, in the history or by its end, and not made in it, was there before:
 *
 *     before = released + at the end - made
 *
 * Most segments are made and released as a whole and cancel each other. Expandable segments
 * grow and shrink in pieces, so what remains is added up over addresses. */
#include "ingest/pytorch/snapshot_segments.h"

#include "base/num.h"
#include "base/sort.h"

enum { EDGE_DOWN, EDGE_UP };

void segment_search_init(segment_search *s) {
    *s = (segment_search){.made = VEC_INIT(segment_range), .edges = VEC_INIT(sort_pair)};
}

void segment_search_fini(segment_search *s) {
    map_fini(&s->alive);
    vec_fini(&s->made);
    vec_fini(&s->edges);
}

static status add_edges(segment_search *s, segment_range r, bool up, error *err) {
    uint64_t end = r.address + (uint64_t)r.bytes;
    if (r.bytes <= 0 || end < r.address) return OK;
    sort_pair *first = vec_push(&s->edges);
    if (!first) FAIL_MEMORY(err);
    *first = (sort_pair){r.address, up ? EDGE_UP : EDGE_DOWN};
    sort_pair *last = vec_push(&s->edges);
    if (!last) FAIL_MEMORY(err);
    *last = (sort_pair){end, up ? EDGE_DOWN : EDGE_UP};
    return OK;
}

status segment_made(segment_search *s, segment_range r, error *err) {
    uint32_t *at = map_at(&s->alive, r.address);
    segment_range *place = at ? vec_push(&s->made) : NULL;
    if (!place || s->made.n >= UINT32_MAX) FAIL_MEMORY(err);
    *place = r;
    *at = (uint32_t)s->made.n - 1;
    return OK;
}

status segment_released(segment_search *s, segment_range r, error *err) {
    uint32_t at = map_get(&s->alive, r.address);
    segment_range *made = at == MAP_NONE ? NULL : &VEC(&s->made, segment_range)[at];
    if (!made || made->bytes != r.bytes) return add_edges(s, r, true, err);
    made->bytes = 0;
    return OK;
}

status segment_search_end(segment_search *s, error *err) {
    for (size_t i = 0; i < s->made.n; i++)
        TRY(add_edges(s, VEC(&s->made, segment_range)[i], false, err));
    size_t n = s->edges.n;
    if (vec_reserve(&s->edges, n + 1) != OK) FAIL_MEMORY(err); /* scratch */
    sort_pair *v = VEC(&s->edges, sort_pair);
    sort_radix(v, v + n, n);
    return OK;
}

bool segment_next(segment_search *s, segment_range *out) {
    const sort_pair *v = VEC(&s->edges, sort_pair);
    while (s->at + 1 < s->edges.n) {
        size_t i = s->at++;
        s->covered += v[i].row == EDGE_UP ? 1 : -1;
        uint64_t bytes = v[i + 1].key - v[i].key;
        if (s->covered <= 0 || !bytes) continue;
        *out = (segment_range){v[i].key, sat_i64(bytes)};
        return true;
    }
    return false;
}
