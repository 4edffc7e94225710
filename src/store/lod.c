/* lod.c: the life of a level-of-detail index, and where things are in it. The parts are made by
 * lod_rows.c, lod_ready.c, lod_series.c, lod_names.c, lod_cover.c and lod_load.c and read by
 * lod_walk.c.
 *
 * Everything is plain arrays of whole pages, made once. A row of the null table stands for
 * "none" nowhere: lane 0 exists and is empty, so that a lane id of 0 can mean none.
 *
 * What is read of the trace is asked for first (trace_require), so a damaged file is found here
 * and not while drawing. */
#include "base/bisect.h"
#include "base/pages.h"
#include "store/lod_int.h"

void *lod_map(lod *l, int part, size_t n, size_t elem_bytes) {
    size_t bytes;
    if (__builtin_mul_overflow(n + 1, elem_bytes, &bytes)) return NULL;
    void *p = pages_take_zeroed(bytes);
    if (p) l->bytes[part] = bytes;
    return p;
}

static void unmap(lod *l, int part, void *p) {
    pages_give(p, l->bytes[part]);
}

void lod_free(lod *l) {
    if (!l) return;
    for (uint32_t i = 0; l->devices && i < l->n_devices; i++) {
        lod_cover_fini(&l->devices[i].busy);
        lod_load_fini(&l->devices[i].load);
    }
    lod_cover_fini(&l->device);
    lod_cover_fini(&l->host);
    lod_cover_fini(&l->data);
    unmap(l, LOD_LANES, l->lanes);
    unmap(l, LOD_ROWS, l->rows);
    unmap(l, LOD_ENTRIES, l->entries);
    unmap(l, LOD_NODES, l->nodes);
    unmap(l, LOD_READY, l->ready);
    unmap(l, LOD_BOXES, l->boxes);
    unmap(l, LOD_SERIES, l->series);
    unmap(l, LOD_POINT_TIME, l->point_time);
    unmap(l, LOD_POINT_VALUE, l->point_value);
    unmap(l, LOD_BLOCK_MIN, l->block_min);
    unmap(l, LOD_BLOCK_MAX, l->block_max);
    unmap(l, LOD_NAME_STRING, l->name_string);
    unmap(l, LOD_NAME_FIRST, l->name_first);
    unmap(l, LOD_BY_NAME, l->by_name);
    unmap(l, LOD_NAME_TIME, l->name_time);
    unmap(l, LOD_DEVICES, l->devices);
    mem_free(l);
}

#define READS                                                                             \
    (TRACE_TABLE(process) | TRACE_TABLE(track) | TRACE_TABLE(slice) | TRACE_TABLE(step) | \
     TRACE_TABLE(instant) | TRACE_TABLE(counter) | TRACE_TABLE(memory) | TRACE_TABLE(kernel))

static status build(lod *l, pool *p, error *err) {
    TRY(trace_require(l->t, READS, err));
    TRY(lod_build_rows(l, p, err));
    TRY(lod_build_ready(l, err));
    TRY(lod_build_series(l, err));
    TRY(lod_build_names(l, err));
    return lod_build_covers(l, err);
}

status lod_new(const trace *t, pool *p, lod **out, error *err) {
    lod *l = mem_zalloc(sizeof *l);
    if (!l) FAIL_MEMORY(err);
    l->t = t;
    status s = build(l, p, err);
    if (s != OK) {
        lod_free(l);
        return s;
    }
    *out = l;
    return OK;
}

uint64_t lod_size_bytes(const lod *l) {
    uint64_t n = sizeof *l + l->device.bytes + l->host.bytes + l->data.bytes;
    for (uint32_t i = 0; i < l->n_devices; i++)
        n += l->devices[i].busy.bytes + l->devices[i].load.bytes;
    for (int i = 0; i < N_LOD_PARTS; i++) n += l->bytes[i];
    return n;
}

const char *lane_kind_name(lane_kind k) {
    static const char *const names[N_LANE_KINDS] = {
        [LANE_STEPS] = "steps", [LANE_STREAM] = "stream",     [LANE_RANGES] = "ranges",
        [LANE_WORK] = "work",   [LANE_CALLS] = "calls",       [LANE_PYTHON] = "python",
        [LANE_ASYNC] = "async", [LANE_INSTANTS] = "instants", [LANE_SPAN] = "span",
    };
    return names[k];
}

/* The place of a slice in a row, or UINT32_MAX: slices of a row ascend. */
static uint32_t find_place(const lod *l, const lod_row *r, uint32_t slice) {
    uint32_t low = SEARCH_FIRST(i, r->first, r->end, l->entries[i].id < slice);
    return low < r->end && l->entries[low].id == slice ? low : UINT32_MAX;
}

/* The first lane of a track: lanes are in the order of tracks. */
static uint32_t first_lane(const lod *l, uint32_t track) {
    return SEARCH_FIRST(k, 1, l->n_lanes, l->lanes[k].track < track);
}

bool lod_find(const lod *l, uint32_t slice, uint32_t *lane, uint32_t *row, uint32_t *place) {
    uint32_t track = slice < l->t->slice.n ? trace_track_of(l->t, slice) : 0;
    if (!track) return false;
    for (uint32_t i = first_lane(l, track); i < l->n_lanes && l->lanes[i].track == track; i++) {
        if (l->lanes[i].kind == LANE_INSTANTS) continue;
        for (uint32_t r = 0; r < l->lanes[i].n_rows; r++) {
            uint32_t at = find_place(l, &l->rows[l->lanes[i].first_row + r], slice);
            if (at == UINT32_MAX) continue;
            *lane = i;
            *row = r;
            *place = at;
            return true;
        }
    }
    return false;
}
