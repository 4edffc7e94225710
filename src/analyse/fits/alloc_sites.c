/* alloc_sites.c: which allocation of one recording is which of another of the same program. */
#include "analyse/fits/alloc_sites.h"

#include "base/intern.h"

bool alloc_makes_block(const memory_view *m, uint32_t device, uint32_t row) {
    const trace *t = m->t;
    if (m->device_of[row] != device) return false;
    if (t->memory.kind[row] == MEMORY_FREE)
        return !t->memory.partner[row] && t->memory.address[row];
    return memory_is_followed(t, row);
}

/* Names from the outermost range to the innermost. The number of a step is in its name. */
static status hash_slices(const trace *t, arena *a, uint64_t **out, error *err) {
    uint64_t *hash = ARENA_ARRAY(a, uint64_t, (size_t)t->slice.n + 1);
    uint64_t *names = ARENA_ARRAY(a, uint64_t, (size_t)t->n_strings + 1);
    if (!hash || !names) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint32_t name = t->slice.name[i];
        uint64_t outer = hash[t->slice.parent[i]];
        if (!names[name]) names[name] = intern_hash(trace_str(t, name)) | 1;
        bool counts = t->slice.kind[i] != KIND_STEP && t->slice.kind[i] != KIND_PYTHON;
        hash[i] = counts ? hash_pair(outer, names[name]) : outer;
    }
    *out = hash;
    return OK;
}

static status hash_frames(const trace *t, arena *a, uint64_t **out, error *err) {
    uint64_t *hash = ARENA_ARRAY(a, uint64_t, (size_t)t->frame.n + 1);
    if (!hash) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->frame.n; i++) {
        uint64_t place =
            hash_pair(intern_hash(trace_str(t, t->frame.name[i])),
                      hash_pair(intern_hash(trace_str(t, t->frame.file[i])), t->frame.line[i]));
        hash[i] = hash_pair(hash[t->frame.parent[i]], place);
    }
    *out = hash;
    return OK;
}

static void give_map(void *what) {
    map_fini(what);
}

static map *map_in(arena *a) {
    map *m = ARENA_NEW(a, map);
    return m && arena_on_reset(a, give_map, m) ? m : NULL;
}

static void find_steps(const trace *t, uint32_t *step_of) {
    uint32_t step = 1;
    for (uint32_t i = 1; i < t->memory.n; i++) {
        int64_t time = t->memory.time[i];
        while (step < t->step.n && t->step.end[step] <= time) step++;
        bool inside = step < t->step.n && t->step.start[step] <= time;
        step_of[i] = inside ? step : 0;
    }
}

static status add_row(alloc_sites *s, map *counts, uint64_t place, uint32_t row, error *err) {
    uint32_t step = s->step_of[row];
    uint32_t *n = map_at(counts, hash_pair(place, step));
    if (!n) FAIL_MEMORY(err);
    *n = *n == MAP_NONE ? 0 : *n + 1;
    s->site[row] = hash_pair(place, *n);
    uint32_t *exact = map_at(s->exact, hash_pair(s->site[row], step));
    if (!exact) FAIL_MEMORY(err);
    *exact = row;
    if (!step) return OK;
    uint32_t *latest = map_at(s->latest, s->site[row]);
    if (!latest) FAIL_MEMORY(err);
    *latest = row;
    return OK;
}

status alloc_sites_init(alloc_sites *s, const memory_view *m, uint32_t device, arena *a,
                        error *err) {
    const trace *t = m->t;
    uint64_t *slices = NULL, *frames = NULL;
    *s = (alloc_sites){.t = t, .exact = map_in(a), .latest = map_in(a)};
    map *counts = map_in(a);
    s->site = ARENA_ARRAY(a, uint64_t, (size_t)t->memory.n + 1);
    s->step_of = ARENA_ARRAY(a, uint32_t, (size_t)t->memory.n + 1);
    if (!s->exact || !s->latest || !counts || !s->site || !s->step_of) FAIL_MEMORY(err);
    TRY(hash_slices(t, a, &slices, err));
    TRY(hash_frames(t, a, &frames, err));
    find_steps(t, s->step_of);
    for (uint32_t i = 1; i < t->memory.n; i++) {
        if (!alloc_makes_block(m, device, i)) continue;
        uint64_t place = hash_pair(slices[t->memory.op[i]], frames[t->memory.frame[i]]);
        TRY(add_row(s, counts, hash_pair(place, t->memory.kind[i]), i, err));
    }
    return OK;
}

/* Two places with one hash would be a chance of 1 to 2^64; names that differ say so. */
static bool same_name(const trace *a, uint32_t x, const trace *b, uint32_t y) {
    uint32_t p = a->memory.op[x], q = b->memory.op[y];
    return !p || !q || str_eq(trace_slice_name(a, p), trace_slice_name(b, q));
}

static uint32_t value_of(uint32_t found) {
    return found == MAP_NONE ? 0 : found;
}

uint32_t alloc_sites_match(const alloc_sites *s, const alloc_sites *other, uint32_t row) {
    uint32_t step = other->step_of[row];
    uint32_t found = value_of(map_get(s->exact, hash_pair(other->site[row], step)));
    if (!found && step) found = value_of(map_get(s->latest, other->site[row]));
    return found && same_name(s->t, found, other->t, row) ? found : 0;
}

uint32_t alloc_sites_before(const alloc_sites *s, uint32_t row) {
    uint32_t step = s->step_of[row];
    if (step < 2) return 0;
    return value_of(map_get(s->exact, hash_pair(s->site[row], step - 1)));
}
