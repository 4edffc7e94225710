/* lod_series.c: counters and memory curves as series of samples, each by time, with the
 * smallest and largest value of every LOD_BLOCK samples.
 *
 * A counter's series is (track, name, series); a device's memory gives up to two curves,
 * allocated and reserved, from the totals the producer wrote after each event. Both tables
 * ascend by time, so counting the samples of each series and then putting them in place keeps
 * that order. Values that are not numbers are left out. Blocks are counted from the first
 * sample of all series: one that spans two series is never used whole. */
#include "base/map.h"
#include "base/vec.h"
#include "store/lod_int.h"

typedef struct {
    lod *l;
    vec series; /* lod_series; `end` counts at first */
    map index;  /* hash of the key → series; chained by adding one */
    /* The last few series found: samples of few series alternate. */
    uint32_t recent[8], at;
} series_ctx;

static bool same_series(const lod_series *a, const lod_series *b) {
    return a->track == b->track && a->name == b->name && a->series == b->series &&
           a->device_type == b->device_type && a->device == b->device &&
           a->reserved == b->reserved;
}

static uint64_t key_of(const lod_series *s) {
    uint64_t device =
        (uint64_t)(uint32_t)s->device << 9 | (uint64_t)s->device_type << 1 | s->reserved;
    return hash_pair(hash_pair(s->track, s->name), hash_pair(s->series, device));
}

static lod_series *find_recent(const series_ctx *g, const lod_series *like) {
    for (size_t i = 0; i < sizeof g->recent / sizeof *g->recent; i++) {
        if (g->recent[i] >= g->series.n) continue;
        lod_series *s = &VEC(&g->series, lod_series)[g->recent[i]];
        if (same_series(s, like)) return s;
    }
    return NULL;
}

/* The series of this key, added when new; NULL when out of memory. */
static lod_series *search_series(series_ctx *g, const lod_series *like) {
    for (uint64_t key = key_of(like);; key++) {
        uint32_t *at = map_at(&g->index, key);
        if (!at) return NULL;
        if (*at != MAP_NONE) {
            lod_series *s = &VEC(&g->series, lod_series)[*at];
            if (same_series(s, like)) return s;
            continue;
        }
        *at = (uint32_t)g->series.n;
        lod_series *made = vec_push(&g->series);
        if (!made) return NULL;
        *made = *like;
        made->min = INFINITY;
        made->max = -INFINITY;
        return made;
    }
}

static lod_series *find_series(series_ctx *g, const lod_series *like) {
    lod_series *s = find_recent(g, like);
    if (s) return s;
    s = search_series(g, like);
    if (s) g->recent[g->at++ % 8] = (uint32_t)(s - VEC(&g->series, lod_series));
    return s;
}

static lod_series counter_key(const trace *t, uint32_t row) {
    return (lod_series){.track = t->counter.track[row],
                        .name = t->counter.name[row],
                        .series = t->counter.series[row]};
}

/* False when the event has no total of this sort. */
static bool memory_key(const trace *t, uint32_t row, bool reserved, lod_series *key,
                       double *v) {
    int64_t total = reserved ? t->memory.reserved[row] : t->memory.allocated[row];
    if (total == ABSENT_I64) return false;
    *key = (lod_series){.device_type = t->memory.device_type[row],
                        .device = t->memory.device[row],
                        .reserved = reserved};
    *v = (double)total;
    return true;
}

/* One sample: counts it, or puts it in place once the points are there. */
static bool take(series_ctx *g, const lod_series *key, int64_t time_ns, double value) {
    lod_series *s = find_series(g, key);
    if (!s) return false;
    if (g->l->point_time) {
        g->l->point_time[s->end] = time_ns;
        g->l->point_value[s->end] = value;
    }
    s->end++;
    if (value < s->min) s->min = value;
    if (value > s->max) s->max = value;
    return true;
}

static status pass(series_ctx *g, error *err) {
    const trace *t = g->l->t;
    for (uint32_t i = 1; i < t->counter.n; i++) {
        lod_series key = counter_key(t, i);
        if (!isfinite(t->counter.value[i])) continue;
        if (!take(g, &key, t->counter.time[i], t->counter.value[i])) FAIL_MEMORY(err);
    }
    for (uint32_t i = 1; i < t->memory.n; i++)
        for (int reserved = 0; reserved < 2; reserved++) {
            lod_series key;
            double value;
            if (!memory_key(t, i, reserved != 0, &key, &value)) continue;
            if (!take(g, &key, t->memory.time[i], value)) FAIL_MEMORY(err);
        }
    return OK;
}

static void fill_blocks(lod *l, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        uint32_t block = i / LOD_BLOCK;
        double v = l->point_value[i];
        if (i % LOD_BLOCK == 0 || v < l->block_min[block]) l->block_min[block] = v;
        if (i % LOD_BLOCK == 0 || v > l->block_max[block]) l->block_max[block] = v;
    }
}

static status build(series_ctx *g, error *err) {
    lod *l = g->l;
    TRY(pass(g, err));
    uint64_t n = 0;
    l->n_series = (uint32_t)g->series.n;
    l->series = LOD_MAP(l, LOD_SERIES, lod_series, g->series.n);
    if (!l->series) FAIL_MEMORY(err);
    for (size_t i = 0; i < g->series.n; i++) {
        lod_series *s = &VEC(&g->series, lod_series)[i];
        uint32_t count = s->end;
        s->first = s->end = (uint32_t)n;
        n += count;
        if (n > UINT32_MAX) FAIL0(err, ERR_LIMIT, NOPOS, MSG_TOO_MANY_ROWS);
    }
    l->point_value = LOD_MAP(l, LOD_POINT_VALUE, double, sat_size(n));
    l->block_min = LOD_MAP(l, LOD_BLOCK_MIN, double, sat_size(n) / LOD_BLOCK + 1);
    l->block_max = LOD_MAP(l, LOD_BLOCK_MAX, double, sat_size(n) / LOD_BLOCK + 1);
    l->point_time = LOD_MAP(l, LOD_POINT_TIME, int64_t, sat_size(n));
    if (!l->point_time || !l->point_value || !l->block_min || !l->block_max) FAIL_MEMORY(err);
    TRY(pass(g, err));
    for (size_t i = 0; i < g->series.n; i++) l->series[i] = VEC(&g->series, lod_series)[i];
    fill_blocks(l, (uint32_t)n);
    return OK;
}

status lod_build_series(lod *l, error *err) {
    series_ctx g = {.l = l, .series = VEC_INIT(lod_series)};
    status s = build(&g, err);
    vec_fini(&g.series);
    map_fini(&g.index);
    return s;
}
