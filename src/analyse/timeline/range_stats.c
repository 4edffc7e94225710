/* range_stats.c: slices of a range by name, lanes by busy time, counters by their values.
 *
 * Times are cut to the range, and what is partly in it counts as one, as its time does: the
 * mean is that of what was counted. Self time is the time of a slice in which none of the
 * slices around which it is the nearest on the lanes chosen ran: what is inside a slice is
 * taken off once, also where producers wrote slices that overlap each other or outlast the one
 * around them, so it is never negative. A track is walked in the order of its slices, parents
 * first, with a stack of the open ones; each remembers up to when its time has been taken by
 * others.
 *
 *   around   |-----------------|       self: what neither of the two below covers
 *   first      |------|
 *   second         |---------------|   its part after the end belongs to the one around both
 *
 * The sums of all slices are kept in an array by the string id of the name: a trace has far
 * fewer strings than slices. */
#include "analyse/timeline/range_stats.h"

#include <math.h>

#include "analyse/kind_names.h"
#include "base/bisect.h"
#include "base/message_ids_columns.h"
#include "base/num.h"
#include "base/sort.h"

typedef struct {
    uint32_t string;
    uint8_t kind;
    int64_t count, total, self, min, max;
} name_sum;

typedef struct {
    const lod *l;
    const trace *t;
    const range_question *q;
    arena *arena;
    answer *out;
    uint32_t *slot; /* by string id: place in sums + 1 */
    name_sum *sums;
    uint32_t n_sums;
    uint16_t *kinds; /* by track: bits of the lane kinds that count */
    struct open_slice *stack;
    uint32_t n_stack, cap_stack;
    uint32_t *early; /* slices that began before the range and reach into it */
    uint32_t n_early, cap_early;
    table *tracks;
} range_stats_ctx;

/* A slice around the current one. */
typedef struct open_slice {
    uint32_t slice;
    int64_t end, taken_until;
    name_sum *sum;
} open_slice;

static const column_spec AREA[] = {
    {"name", TYPE_TEXT, UNIT_NONE, MSG_COL_AREA_NAME},
    {"kind", TYPE_TEXT, UNIT_NONE, MSG_COL_AREA_KIND},
    {"count", TYPE_INT, UNIT_COUNT, MSG_COL_AREA_COUNT},
    {"total", TYPE_INT, UNIT_NS, MSG_COL_AREA_TOTAL},
    {"self", TYPE_INT, UNIT_NS, MSG_COL_AREA_SELF},
    {"mean", TYPE_INT, UNIT_NS, MSG_COL_AREA_MEAN},
    {"min", TYPE_INT, UNIT_NS, MSG_COL_AREA_MIN},
    {"max", TYPE_INT, UNIT_NS, MSG_COL_AREA_MAX},
    {"share", TYPE_REAL, UNIT_SHARE, MSG_COL_AREA_SHARE},
};
static const column_spec TRACKS[] = {
    {"lane", TYPE_INT, UNIT_NONE, MSG_COL_AREA_LANE},
    {"kind", TYPE_TEXT, UNIT_NONE, MSG_COL_AREA_LANE_KIND},
    {"name", TYPE_TEXT, UNIT_NONE, MSG_COL_AREA_LANE_NAME},
    {"count", TYPE_INT, UNIT_COUNT, MSG_COL_AREA_COUNT},
    {"busy", TYPE_INT, UNIT_NS, MSG_COL_AREA_BUSY},
    {"share", TYPE_REAL, UNIT_SHARE, MSG_COL_AREA_BUSY_SHARE},
};
static const column_spec COUNTERS[] = {
    {"lane", TYPE_INT, UNIT_NONE, MSG_COL_AREA_LANE},
    {"name", TYPE_TEXT, UNIT_NONE, MSG_COL_AREA_LANE_NAME},
    {"series", TYPE_TEXT, UNIT_NONE, MSG_COL_AREA_LANE_KIND},
    {"first", TYPE_REAL, UNIT_NONE, MSG_COL_AREA_FIRST},
    {"last", TYPE_REAL, UNIT_NONE, MSG_COL_AREA_LAST},
    {"min", TYPE_REAL, UNIT_NONE, MSG_COL_AREA_LEAST},
    {"max", TYPE_REAL, UNIT_NONE, MSG_COL_AREA_MOST},
    {"mean", TYPE_REAL, UNIT_NONE, MSG_COL_AREA_AVERAGE},
};
#define SPEC(s) s, sizeof s / sizeof *s

/* Added to the answer; NULL when out of memory. */
static table *add_table(range_stats_ctx *s, const char *name, const column_spec *spec,
                        size_t n) {
    table *t = table_new(s->arena, name, spec, (uint32_t)n);
    if (t) s->out->tables[s->out->n_tables++] = t;
    return t;
}

/* ---- slices ------------------------------------------------------------------------------ */

static bool lane_counts(const range_stats_ctx *s, uint32_t lane) {
    lane_kind kind = s->l->lanes[lane].kind;
    if (kind == LANE_STEPS || kind == LANE_INSTANTS) return false;
    return !s->q->lanes || s->q->lanes[lane];
}

static void find_kinds(range_stats_ctx *s) {
    for (uint32_t i = 1; i < s->l->n_lanes; i++)
        if (lane_counts(s, i))
            s->kinds[s->l->lanes[i].track] |= (uint16_t)(1u << s->l->lanes[i].kind);
}

static name_sum *sum_of(range_stats_ctx *s, uint32_t slice) {
    uint32_t *at = &s->slot[s->t->slice.name[slice]];
    if (*at == 0) {
        s->sums[s->n_sums] = (name_sum){.string = s->t->slice.name[slice],
                                        .kind = s->t->slice.kind[slice],
                                        .min = INT64_MAX};
        *at = ++s->n_sums;
    }
    return &s->sums[*at - 1];
}

/* The nearest slice around this one that counts too. */
static uint32_t parent_of(const range_stats_ctx *s, uint32_t track, uint32_t slice) {
    uint8_t of_track = s->t->track.kind[track];
    uint32_t i = s->t->slice.parent[slice];
    while (i && !(s->kinds[track] & 1u << lod_lane_kind(of_track, s->t->slice.kind[i])))
        i = s->t->slice.parent[i];
    return i;
}

static int64_t inside(const range_stats_ctx *s, int64_t start, int64_t end) {
    return max_i64(0, sub_i64(min_i64(end, s->q->to_ns), max_i64(start, s->q->from_ns)));
}

/* Takes the time from `start` to `end` away from the slices around, each as far as it
 * reaches. */
static void take_time(range_stats_ctx *s, uint32_t parent, int64_t start, int64_t end) {
    while (s->n_stack && s->stack[s->n_stack - 1].slice > parent) s->n_stack--;
    for (uint32_t i = s->n_stack; COUNT_DOWN(i) && start < end;) {
        open_slice *o = &s->stack[i];
        int64_t from = max_i64(start, o->taken_until), to = min_i64(end, o->end);
        if (to > from) {
            o->sum->self = sub_i64(o->sum->self, sub_i64(to, from));
            o->taken_until = to;
        }
        start = max_i64(start, o->end);
    }
}

static status open_one(range_stats_ctx *s, open_slice one, error *err) {
    if (s->n_stack == s->cap_stack) {
        uint32_t cap = s->cap_stack ? s->cap_stack * 2 : 256;
        void *grown = arena_grow(s->arena, s->stack, s->cap_stack * sizeof *s->stack,
                                 cap * sizeof *s->stack);
        if (!grown) FAIL_MEMORY(err);
        s->stack = grown;
        s->cap_stack = cap;
    }
    s->stack[s->n_stack++] = one;
    return OK;
}

static status add_slice(range_stats_ctx *s, uint32_t track, uint32_t slice, error *err) {
    const trace *t = s->t;
    int64_t start = max_i64(t->slice.start[slice], s->q->from_ns);
    int64_t end = min_i64(trace_slice_end(t, slice), s->q->to_ns);
    int64_t time = max_i64(0, sub_i64(end, start));
    name_sum *n = sum_of(s, slice);
    n->count++;
    n->total = add_i64(n->total, time);
    n->self = add_i64(n->self, time);
    n->min = min_i64(n->min, time);
    n->max = max_i64(n->max, time);
    take_time(s, parent_of(s, track, slice), start, end);
    return open_one(s, (open_slice){slice, end, start, n}, err);
}

/* The first entry of the row that may reach into the range. */
static uint32_t first_entry(const range_stats_ctx *s, const lod_row *r) {
    uint32_t low = SEARCH_FIRST(i, r->first, r->end, s->l->entries[i].start_ns < s->q->from_ns);
    while (low > r->first && trace_slice_end(s->t, s->l->entries[low - 1].id) > s->q->from_ns)
        low--;
    return low;
}

static status keep_early(range_stats_ctx *s, uint32_t slice, error *err) {
    if (s->n_early == s->cap_early) {
        uint32_t cap = s->cap_early ? s->cap_early * 2 : 256;
        void *grown = arena_grow(s->arena, s->early, s->cap_early * sizeof *s->early,
                                 cap * sizeof *s->early);
        if (!grown) FAIL_MEMORY(err);
        s->early = grown;
        s->cap_early = cap;
    }
    s->early[s->n_early++] = slice;
    return OK;
}

/* Counts a lane, and finds what of it began before the range. */
static status add_lane(range_stats_ctx *s, uint32_t lane, error *err) {
    const lod_lane *from = &s->l->lanes[lane];
    int64_t busy = 0, count = 0;
    for (uint32_t i = 0; i < from->n_rows; i++) {
        const lod_row *r = &s->l->rows[from->first_row + i];
        for (uint32_t k = first_entry(s, r); k < r->end; k++) {
            const lod_entry *e = &s->l->entries[k];
            if (e->start_ns >= s->q->to_ns) break;
            count++;
            if (e->start_ns < s->q->from_ns) TRY(keep_early(s, e->id, err));
            if (i == 0)
                busy = add_i64(busy, inside(s, e->start_ns, trace_slice_end(s->t, e->id)));
        }
    }
    if (count == 0 && busy == 0) return OK;
    size_t row;
    TRY(table_add_row(s->tracks, &row, err));
    table_set_int(s->tracks, row, 0, lane);
    table_set_text(s->tracks, row, 1, str_of(lane_kind_name(from->kind)));
    table_set_text(s->tracks, row, 2, trace_str(s->t, s->t->track.name[from->track]));
    table_set_int(s->tracks, row, 3, count);
    table_set_int(s->tracks, row, 4, busy);
    table_set_real(s->tracks, row, 5,
                   (double)busy / (double)sub_i64(s->q->to_ns, s->q->from_ns));
    return OK;
}

static int compare_ids(uint32_t a, uint32_t b, const void *context) {
    const uint32_t *early = context;
    return early[a] < early[b] ? -1 : early[a] > early[b];
}

static status add_early(range_stats_ctx *s, uint32_t track, error *err) {
    uint32_t *order = ARENA_ARRAY(s->arena, uint32_t, 2 * (size_t)s->n_early + 1);
    if (!order) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < s->n_early; i++) order[i] = i;
    sort_index(order, order + s->n_early, s->n_early, compare_ids, s->early);
    for (uint32_t i = 0; i < s->n_early; i++) TRY(add_slice(s, track, s->early[order[i]], err));
    return OK;
}

/* The slices of a track: those that reach into the range, then those that begin in it. */
static status add_track(range_stats_ctx *s, uint32_t track, error *err) {
    const trace *t = s->t;
    uint8_t kind = t->track.kind[track];
    s->n_stack = 0;
    if (s->n_early) TRY(add_early(s, track, err));
    uint32_t low = trace_lower_bound(t, track, s->q->from_ns);
    for (; low < t->track.end[track] && t->slice.start[low] < s->q->to_ns; low++)
        if (s->kinds[track] & 1u << lod_lane_kind(kind, t->slice.kind[low]))
            TRY(add_slice(s, track, low, err));
    return OK;
}

/* Lanes are in the order of their tracks. */
static status add_slices(range_stats_ctx *s, error *err) {
    for (uint32_t i = 1; i < s->l->n_lanes;) {
        uint32_t track = s->l->lanes[i].track;
        s->n_early = 0;
        for (; i < s->l->n_lanes && s->l->lanes[i].track == track; i++)
            if (lane_counts(s, i)) TRY(add_lane(s, i, err));
        if (track && s->kinds[track]) TRY(add_track(s, track, err));
    }
    return OK;
}

static int compare_sums(uint32_t x, uint32_t y, const void *context) {
    const range_stats_ctx *s = context;
    const name_sum *a = &s->sums[x], *b = &s->sums[y];
    if (a->self != b->self) return a->self > b->self ? -1 : 1;
    return str_cmp(trace_str(s->t, a->string), trace_str(s->t, b->string));
}

static status write_sums(range_stats_ctx *s, table *t, error *err) {
    uint32_t *order = ARENA_ARRAY(s->arena, uint32_t, 2 * (size_t)s->n_sums + 1);
    int64_t whole = 0;
    if (!order) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < s->n_sums; i++) {
        order[i] = i;
        whole = add_i64(whole, max_i64(0, s->sums[i].self));
    }
    sort_index(order, order + s->n_sums, s->n_sums, compare_sums, s);
    for (uint32_t i = 0; i < s->n_sums; i++) {
        const name_sum *n = &s->sums[order[i]];
        size_t row;
        if (n->count == 0) continue;
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, 0, trace_str(s->t, n->string));
        table_set_text(t, row, 1, kind_name(n->kind));
        table_set_int(t, row, 2, n->count);
        table_set_int(t, row, 3, n->total);
        table_set_int(t, row, 4, n->self);
        table_set_int(t, row, 5, mean_i64(n->total, n->count));
        table_set_int(t, row, 6, n->min);
        table_set_int(t, row, 7, n->max);
        if (whole > 0) table_set_real(t, row, 8, (double)n->self / (double)whole);
    }
    return OK;
}

/* ---- counters ---------------------------------------------------------------------------- */

static status add_series(range_stats_ctx *s, uint32_t series, table *t, error *err) {
    const lod_series *of = &s->l->series[series];
    lod_point_cursor c = lod_points(s->l, series, s->q->from_ns, s->q->to_ns, 0);
    double first = NAN, min = INFINITY, max = -INFINITY, sum = 0, last = NAN;
    int64_t at = s->q->from_ns;
    for (lod_point p; lod_next_point(&c, &p);) {
        if (isnan(first)) first = p.min;
        if (!isnan(last)) sum += last * (double)max_i64(0, sub_i64(p.time_ns, at));
        at = max_i64(p.time_ns, s->q->from_ns);
        min = fmin(min, p.min);
        max = fmax(max, p.max);
        last = p.last;
    }
    if (isnan(first)) return OK;
    int64_t begin = max_i64(s->q->from_ns, s->l->point_time[of->first]);
    sum += last * (double)sub_i64(s->q->to_ns, at);
    size_t row;
    TRY(table_add_row(t, &row, err));
    bool memory = of->track == 0;
    table_set_int(t, row, 0, s->l->n_lanes + series);
    table_set_text(t, row, 1,
                   memory ? device_name(s->t, s->arena, of->device_type, of->device)
                          : trace_str(s->t, of->name));
    table_set_text(t, row, 2,
                   memory ? of->reserved ? STR("reserved") : STR("allocated")
                          : trace_str(s->t, of->series));
    table_set_real(t, row, 3, first);
    table_set_real(t, row, 4, last);
    table_set_real(t, row, 5, min);
    table_set_real(t, row, 6, max);
    table_set_real(t, row, 7,
                   s->q->to_ns > begin ? sum / (double)sub_i64(s->q->to_ns, begin) : NAN);
    return OK;
}

/* ---- together ---------------------------------------------------------------------------- */

static status sum_all(range_stats_ctx *s, error *err) {
    table *area = add_table(s, "area", SPEC(AREA));
    s->tracks = add_table(s, "tracks", SPEC(TRACKS));
    table *counters = add_table(s, "counters", SPEC(COUNTERS));
    if (!area || !s->tracks || !counters) FAIL_MEMORY(err);
    s->slot = ARENA_ARRAY(s->arena, uint32_t, (size_t)s->t->n_strings + 1);
    s->sums = ARENA_ARRAY(s->arena, name_sum, (size_t)s->l->n_names + 1);
    s->kinds = ARENA_ARRAY(s->arena, uint16_t, (size_t)s->t->track.n + 1);
    if (!s->slot || !s->sums || !s->kinds) FAIL_MEMORY(err);
    find_kinds(s);
    TRY(add_slices(s, err));
    TRY(write_sums(s, area, err));
    for (uint32_t i = 0; i < s->l->n_series; i++)
        if (!s->q->lanes || s->q->lanes[s->l->n_lanes + i])
            TRY(add_series(s, i, counters, err));
    return OK;
}

status range_stats_make(const range_question *q, arena *a, answer *out, error *err) {
    answer made;
    TRY(answer_begin("area", q->input, a, &made, err));
    range_stats_ctx s = {.l = q->lod, .t = q->lod->t, .q = q, .arena = a, .out = &made};
    TRY(sum_all(&s, err));
    *out = made;
    return OK;
}
