/* lod_rows.c: cuts tracks into lanes and lanes into rows, and builds the tree of sums over each
 * row.
 *
 * Which row a slice is on follows from its ancestors of the same lane: one below the innermost
 * of them, or further down where that row is still taken (ranges that overlap). The slices of a
 * track come parents first, so one stack for each lane, popped by depth, holds the ancestors.
 *
 *   1  each track by itself: lane and row of every slice; how many rows each lane has
 *   2  lanes and rows in the order of tracks; the slices counted, then put in place
 *   3  each row by itself: its tree
 *
 * The order of slices inside a row is that of the trace, so it ascends by start. Rows are cut
 * at LOD_MAX_ROWS: what overlaps deeper than that shares the last row, and is drawn over one
 * another, but it is counted. Depths come from a file and may lie; they decide a row, never an
 * address. */
#include <stdatomic.h>
#include <string.h>

#include "store/lod_int.h"

enum { LOCAL_LANES = 3, DEPTHS = 65536 };

typedef struct {
    uint16_t depth, row;
} open_slice;

/* The slices of one lane that are open around the current one, and when rows are free again. */
typedef struct {
    open_slice *stack;
    uint32_t n;
    int64_t free_at[LOD_MAX_ROWS];
    uint32_t n_rows, n_slices;
} lane_state;

typedef struct {
    lod *l;
    uint8_t *lane_of;                      /* by slice: local lane */
    uint16_t *row_of;                      /* by slice */
    uint32_t *n_rows, *n_slices, *lane_id; /* by track * LOCAL_LANES + local lane */
    atomic_bool failed;
} lod_rows_ctx;

/* The lanes of one track, in the order they are listed. */
static const lane_kind LOCAL_OF_STREAM[LOCAL_LANES] = {LANE_STREAM, LANE_RANGES, LANE_RANGES};
static const lane_kind LOCAL_OF_THREAD[LOCAL_LANES] = {LANE_WORK, LANE_CALLS, LANE_PYTHON};

static int local_lane(uint8_t track, uint8_t kind) {
    lane_kind lane = lod_lane_kind(track, kind);
    if (lane == LANE_RANGES || lane == LANE_CALLS) return 1;
    return lane == LANE_PYTHON ? 2 : 0;
}

static lane_kind kind_of_lane(uint8_t track, int local) {
    if (track == TRACK_STREAM) return LOCAL_OF_STREAM[local];
    if (track == TRACK_ASYNC) return LANE_ASYNC;
    return track == TRACK_SPAN ? LANE_SPAN : LOCAL_OF_THREAD[local];
}

/* The first free row from `least` on. */
static uint32_t take_row(lane_state *s, uint32_t least, int64_t start, int64_t end) {
    uint32_t row = least < LOD_MAX_ROWS ? least : LOD_MAX_ROWS - 1;
    while (row < s->n_rows && row < LOD_MAX_ROWS - 1 && s->free_at[row] > start) row++;
    while (s->n_rows <= row) s->free_at[s->n_rows++] = INT64_MIN;
    s->free_at[row] = max_i64(end, start + 1);
    return row;
}

static void assign_slices(lod_rows_ctx *q, uint32_t track, lane_state *lanes) {
    const trace *t = q->l->t;
    uint8_t kind = t->track.kind[track];
    for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++) {
        uint16_t depth = t->slice.depth[i];
        for (int k = 0; k < LOCAL_LANES; k++)
            while (lanes[k].n && lanes[k].stack[lanes[k].n - 1].depth >= depth) lanes[k].n--;
        int local = local_lane(kind, t->slice.kind[i]);
        lane_state *s = &lanes[local];
        uint32_t least = s->n ? s->stack[s->n - 1].row + 1u : 0;
        uint32_t row = take_row(s, least, t->slice.start[i], trace_slice_end(t, i));
        s->stack[s->n++] = (open_slice){depth, (uint16_t)row};
        s->n_slices++;
        q->lane_of[i] = (uint8_t)local;
        q->row_of[i] = (uint16_t)row;
    }
}

static void assign_track(void *context, size_t job, int worker) {
    lod_rows_ctx *q = context;
    uint32_t track = (uint32_t)job + 1;
    size_t bytes = LOCAL_LANES * (sizeof(lane_state) + DEPTHS * sizeof(open_slice));
    (void)worker;
    if (q->l->t->track.first[track] == q->l->t->track.end[track]) return;
    lane_state *lanes = mem_map(bytes);
    if (!lanes) {
        atomic_store(&q->failed, true);
        return;
    }
    for (int k = 0; k < LOCAL_LANES; k++)
        lanes[k].stack = (open_slice *)(lanes + LOCAL_LANES) + k * DEPTHS;
    assign_slices(q, track, lanes);
    for (int k = 0; k < LOCAL_LANES; k++) {
        q->n_rows[track * LOCAL_LANES + (uint32_t)k] = lanes[k].n_rows;
        q->n_slices[track * LOCAL_LANES + (uint32_t)k] = lanes[k].n_slices;
    }
    mem_unmap(lanes, bytes);
}

/* Steps and instants, which are not slices of their lanes. */
typedef struct {
    uint32_t *instants;    /* by track: how many */
    uint16_t *row_of_step; /* by step */
    uint32_t step_rows;
} marks;

/* ---- the steps --------------------------------------------------------------------------- */

/* Rows of the steps, as for slices without parents. */
static status assign_steps(const lod *l, marks *m, error *err) {
    const trace *t = l->t;
    lane_state *s = mem_zalloc(sizeof *s);
    if (!s) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->step.n; i++)
        if (t->step.slice[i])
            m->row_of_step[i] = (uint16_t)take_row(s, 0, t->slice.start[t->step.slice[i]],
                                                   trace_slice_end(t, t->step.slice[i]));
    m->step_rows = s->n_rows;
    mem_free(s);
    return OK;
}

/* ---- lanes and rows ---------------------------------------------------------------------- */

static uint32_t count_lanes(const lod_rows_ctx *q, const marks *m, uint32_t *n_rows) {
    const trace *t = q->l->t;
    uint32_t n = m->step_rows > 0;
    *n_rows = m->step_rows;
    for (uint32_t i = LOCAL_LANES; i < t->track.n * LOCAL_LANES; i++) {
        n += q->n_rows[i] > 0;
        *n_rows += q->n_rows[i];
    }
    for (uint32_t i = 1; i < t->track.n; i++) n += m->instants[i] > 0;
    for (uint32_t i = 1; i < t->track.n; i++) *n_rows += m->instants[i] > 0;
    return n;
}

static void add_lane(lod *l, lane_kind kind, uint32_t track, uint32_t n_rows, uint32_t n) {
    uint32_t lane = l->n_lanes++;
    l->lanes[lane] = (lod_lane){
        .kind = kind, .track = track, .first_row = l->n_rows, .n_rows = n_rows, .n_slices = n};
    for (uint32_t r = 0; r < n_rows; r++)
        l->rows[l->n_rows++] = (lod_row){.lane = lane, .index = r};
}

static void add_lanes(lod_rows_ctx *q, const marks *m) {
    lod *l = q->l;
    l->n_lanes = 1;
    if (m->step_rows) add_lane(l, LANE_STEPS, 0, m->step_rows, 0);
    for (uint32_t track = 1; track < l->t->track.n; track++) {
        for (uint32_t k = 0; k < LOCAL_LANES; k++) {
            uint32_t i = track * LOCAL_LANES + k;
            if (!q->n_rows[i]) continue;
            q->lane_id[i] = l->n_lanes;
            add_lane(l, kind_of_lane(l->t->track.kind[track], (int)k), track, q->n_rows[i],
                     q->n_slices[i]);
        }
        if (m->instants[track]) add_lane(l, LANE_INSTANTS, track, 1, m->instants[track]);
    }
}

static lod_row *row_of_slice(const lod_rows_ctx *q, uint32_t track, uint32_t slice) {
    const lod_lane *lane = &q->l->lanes[q->lane_id[track * LOCAL_LANES + q->lane_of[slice]]];
    return &q->l->rows[lane->first_row + q->row_of[slice]];
}

static void count_track(void *context, size_t job, int worker) {
    lod_rows_ctx *q = context;
    const trace *t = q->l->t;
    uint32_t track = (uint32_t)job + 1;
    (void)worker;
    for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++)
        row_of_slice(q, track, i)->end++;
}

static void put_slice(lod *l, lod_row *r, uint32_t slice) {
    l->entries[r->end++] = (lod_entry){.start_ns = l->t->slice.start[slice],
                                       .dur_ns = sat_u32((uint64_t)l->t->slice.dur[slice]),
                                       .id = slice};
}

static void fill_track(void *context, size_t job, int worker) {
    lod_rows_ctx *q = context;
    const trace *t = q->l->t;
    uint32_t track = (uint32_t)job + 1;
    (void)worker;
    for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++)
        put_slice(q->l, row_of_slice(q, track, i), i);
}

/* The row of the instants of each track, into by_track; instants come last of their track. */
static void find_instant_rows(const lod *l, uint32_t *by_track) {
    for (uint32_t i = 1; i < l->n_lanes; i++)
        if (l->lanes[i].kind == LANE_INSTANTS)
            by_track[l->lanes[i].track] = l->lanes[i].first_row;
}

/* Counts (fill == false) or puts in place the steps and instants. */
static void place_marks(lod_rows_ctx *q, const marks *m, const uint32_t *instant_row,
                        bool fill) {
    lod *l = q->l;
    for (uint32_t i = 1; i < l->t->step.n && m->step_rows; i++) {
        if (!l->t->step.slice[i]) continue;
        lod_row *r = &l->rows[l->lanes[1].first_row + m->row_of_step[i]];
        if (fill) {
            put_slice(l, r, l->t->step.slice[i]);
        } else {
            r->end++;
            l->lanes[1].n_slices++;
        }
    }
    for (uint32_t i = 1; i < l->t->instant.n; i++) {
        if (!l->t->instant.track[i]) continue;
        lod_row *r = &l->rows[instant_row[l->t->instant.track[i]]];
        if (fill) l->entries[r->end] = (lod_entry){.start_ns = l->t->instant.time[i], .id = i};
        r->end++;
    }
}

/* From counts to ranges; ends start at the beginning and are moved by filling. */
static status place_rows(lod *l, error *err) {
    uint64_t at = 0, nodes = 0;
    for (uint32_t i = 0; i < l->n_rows; i++) {
        lod_row *r = &l->rows[i];
        uint32_t n = r->end;
        if (at + n > UINT32_MAX) FAIL0(err, ERR_LIMIT, NOPOS, MSG_TOO_MANY_ROWS);
        r->first = r->end = (uint32_t)at;
        r->node = (uint32_t)nodes;
        at += n;
        nodes += lod_nodes_of(n);
    }
    l->n_entries = (uint32_t)at;
    l->entries = LOD_MAP(l, LOD_ENTRIES, lod_entry, sat_size(at));
    l->nodes = LOD_MAP(l, LOD_NODES, lod_node, sat_size(nodes));
    if (!l->entries || !l->nodes) FAIL_MEMORY(err);
    return OK;
}

/* ---- the trees --------------------------------------------------------------------------- */

static lod_node leaf_node(const lod *l, uint32_t first) {
    lod_node n = {.longest = first};
    int64_t longest = -1;
    for (uint32_t i = first; i < first + LOD_LEAF; i++) {
        int64_t dur = entry_dur(l, i);
        n.time_ns = add_i64(n.time_ns, dur);
        if (dur <= longest) continue;
        longest = dur;
        n.longest = i;
    }
    n.max_ns = sat_u32((uint64_t)longest);
    n.last_start = l->entries[first + LOD_LEAF - 1].start_ns;
    return n;
}

static lod_node inner_node(const lod *l, const lod_node *below) {
    lod_node n = {.last_start = below[LOD_FAN - 1].last_start, .longest = below[0].longest};
    for (int i = 0; i < LOD_FAN; i++) {
        n.time_ns = add_i64(n.time_ns, below[i].time_ns);
        if (entry_dur(l, below[i].longest) > entry_dur(l, n.longest))
            n.longest = below[i].longest;
    }
    n.max_ns = sat_u32((uint64_t)entry_dur(l, n.longest));
    return n;
}

static void build_tree(void *context, size_t job, int worker) {
    lod *l = ((lod_rows_ctx *)context)->l;
    const lod_row *r = &l->rows[job];
    lod_node *at = l->nodes + r->node, *below = at;
    uint32_t n = (r->end - r->first) / LOD_LEAF;
    (void)worker;
    for (uint32_t i = 0; i < n; i++) *at++ = leaf_node(l, r->first + i * LOD_LEAF);
    for (uint32_t up = n / LOD_FAN; up > 0; up = n / LOD_FAN) {
        lod_node *level = at;
        for (uint32_t i = 0; i < up; i++) *at++ = inner_node(l, below + i * LOD_FAN);
        below = level;
        n = up;
    }
}

static void sum_lanes(lod *l) {
    for (uint32_t i = 1; i < l->n_lanes; i++) {
        lod_lane *lane = &l->lanes[i];
        if (lane->kind == LANE_INSTANTS) continue;
        const lod_row *r = &l->rows[lane->first_row];
        for (uint32_t k = r->first; k < r->end; k++)
            lane->busy_ns = add_i64(lane->busy_ns, entry_dur(l, k));
    }
}

/* ---- together ---------------------------------------------------------------------------- */

static status build_with(lod_rows_ctx *q, marks *m, uint32_t *instant_row, pool *p,
                         error *err) {
    lod *l = q->l;
    const trace *t = l->t;
    size_t n_tracks = t->track.n ? t->track.n - 1 : 0;
    for (uint32_t i = 1; i < t->instant.n; i++) m->instants[t->instant.track[i]]++;
    m->instants[0] = 0;
    pool_for(p, n_tracks, assign_track, q);
    if (atomic_load(&q->failed)) FAIL_MEMORY(err);
    TRY(assign_steps(l, m, err));
    uint32_t n_rows, n_lanes = count_lanes(q, m, &n_rows);
    l->lanes = LOD_MAP(l, LOD_LANES, lod_lane, n_lanes + 1);
    l->rows = LOD_MAP(l, LOD_ROWS, lod_row, n_rows);
    if (!l->lanes || !l->rows) FAIL_MEMORY(err);
    add_lanes(q, m);
    find_instant_rows(l, instant_row);
    pool_for(p, n_tracks, count_track, q);
    place_marks(q, m, instant_row, false);
    TRY(place_rows(l, err));
    pool_for(p, n_tracks, fill_track, q);
    place_marks(q, m, instant_row, true);
    pool_for(p, l->n_rows, build_tree, q);
    sum_lanes(l);
    return OK;
}

status lod_build_rows(lod *l, pool *p, error *err) {
    const trace *t = l->t;
    size_t slices = t->slice.n, tracks = (size_t)t->track.n + 1, lanes = tracks * LOCAL_LANES;
    size_t bytes = slices * 3 + lanes * 12 + tracks * 8 + (size_t)t->step.n * 2 + 64;
    char *scratch = mem_map(bytes);
    if (!scratch) FAIL_MEMORY(err);
    lod_rows_ctx q = {.l = l, .n_rows = (uint32_t *)(void *)scratch};
    q.n_slices = q.n_rows + lanes;
    q.lane_id = q.n_slices + lanes;
    uint32_t *instants = q.lane_id + lanes, *instant_row = instants + tracks;
    q.row_of = (uint16_t *)(instant_row + tracks);
    marks m = {.instants = instants, .row_of_step = q.row_of + slices};
    q.lane_of = (uint8_t *)(m.row_of_step + t->step.n);
    status s = build_with(&q, &m, instant_row, p, err);
    mem_unmap(scratch, bytes);
    return s;
}
