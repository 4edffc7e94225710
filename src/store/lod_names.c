/* lod_names.c: the slices of each name, so that a search looks at names and not at slices.
 *
 * A counting sort by string id: how many slices each string names, the strings that name any,
 * then the slices in place. Slices of a name ascend, so they are by track and by start in
 * it. */
#include "base/bisect.h"
#include "store/lod_int.h"

/* From counts by string to names with their first place. */
static status place_names(lod *l, uint32_t *place, error *err) {
    const trace *t = l->t;
    uint32_t n = 0, at = 0;
    for (uint32_t s = 0; s < t->n_strings; s++) n += place[s] > 0;
    l->name_string = LOD_MAP(l, LOD_NAME_STRING, uint32_t, n);
    l->name_first = LOD_MAP(l, LOD_NAME_FIRST, uint32_t, n + 1);
    l->name_time = LOD_MAP(l, LOD_NAME_TIME, int64_t, n);
    if (!l->name_string || !l->name_first || !l->name_time) FAIL_MEMORY(err);
    for (uint32_t s = 0; s < t->n_strings; s++) {
        uint32_t count = place[s];
        if (!count) continue;
        l->name_string[l->n_names] = s;
        l->name_first[l->n_names++] = at;
        place[s] = at;
        at += count;
    }
    l->name_first[l->n_names] = at;
    return OK;
}

static status build(lod *l, uint32_t *place, error *err) {
    const trace *t = l->t;
    for (uint32_t i = 1; i < t->slice.n; i++) place[t->slice.name[i]]++;
    TRY(place_names(l, place, err));
    for (uint32_t i = 1; i < t->slice.n; i++) {
        l->by_name[place[t->slice.name[i]]++] = i;
        uint8_t kind = t->slice.kind[i];
        if (kind < N_KINDS) l->kind_time[kind] = add_i64(l->kind_time[kind], t->slice.dur[i]);
    }
    for (uint32_t n = 0; n < l->n_names; n++)
        for (uint32_t i = l->name_first[n]; i < l->name_first[n + 1]; i++)
            l->name_time[n] = add_i64(l->name_time[n], t->slice.dur[l->by_name[i]]);
    return OK;
}

status lod_build_names(lod *l, error *err) {
    size_t bytes = ((size_t)l->t->n_strings + 1) * sizeof(uint32_t);
    l->by_name = LOD_MAP(l, LOD_BY_NAME, uint32_t, l->t->slice.n);
    if (!l->by_name) FAIL_MEMORY(err);
    uint32_t *place = mem_map(bytes);
    if (!place) FAIL_MEMORY(err);
    status s = build(l, place, err);
    mem_unmap(place, bytes);
    return s;
}

uint32_t lod_name(const lod *l, uint32_t string) {
    uint32_t low = SEARCH_FIRST(i, 0, l->n_names, l->name_string[i] < string);
    return low < l->n_names && l->name_string[low] == string ? low : UINT32_MAX;
}
