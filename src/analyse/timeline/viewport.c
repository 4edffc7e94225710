/* viewport.c: boxes and points of a range of time, from the level-of-detail index.
 *
 * A bucket is the smallest power of two that is at least a pixel wide, so a row gives at most
 * two boxes for a pixel. The columns have a fixed size made from the limit of bytes; what does
 * not fit stops the attempt, and the next one takes wider buckets, as much wider as the part
 * that was done says is needed. Two attempts are the rule for a crowded screen, one for any
 * other.
 *
 * Names are numbered for the answer by (string, kind), and by their tag where one is asked for:
 * so a tag costs a few bytes a name and nothing a box. A long name keeps its ends: the ends are
 * what tells kernels apart.
 *
 * It does not know pixels otherwise: borders are true times, in units that let the range fit 32
 * bits, cut to the range. */
#include "analyse/timeline/viewport.h"

#include "base/map.h"
#include "base/num.h"

enum { BOX_BYTES = 21, RUN_BYTES = 10, POINT_BYTES = 16, NAME_BYTES = 9, FRAME_BYTES = 2048 };

typedef struct {
    const lod *l;
    const viewport_question *q;
    arena *arena;
    viewport *v;
    map names;       /* tag's number << 40 | string << 8 | kind → index in v->name_* */
    map tags;        /* tag → its number, in the order they were met */
    size_t text_cap; /* bytes of name_text */
    size_t bytes, limit;
    uint32_t max_boxes, max_points, max_names;
    bool full, no_memory;
} viewport_ctx;

static int ceil_log2(uint64_t v) {
    int n = 0;
    while (n < 62 && ((uint64_t)1 << n) < v) n++;
    return n;
}

/* ---- names ------------------------------------------------------------------------------- */

static bool spend(viewport_ctx *d, size_t bytes) {
    d->bytes += bytes;
    if (d->bytes > d->limit) d->full = true;
    return !d->full;
}

/* The end of the character that begins before or at n bytes. */
static size_t whole_characters(str s, size_t n) {
    while (n > 0 && n < s.n && ((uint8_t)s.p[n] & 0xC0) == 0x80) n--;
    return n;
}

static void put_name_text(viewport *v, str s) {
    char *at = v->name_text + v->name_at[v->n_names];
    size_t n = s.n;
    if (n <= VIEWPORT_NAME_BYTES) {
        if (n) memcpy(at, s.p, n);
    } else {
        size_t head = whole_characters(s, VIEWPORT_NAME_BYTES / 2 - 3);
        size_t tail = s.n - whole_characters(s, s.n - VIEWPORT_NAME_BYTES / 2);
        if (tail > VIEWPORT_NAME_BYTES / 2)
            tail = VIEWPORT_NAME_BYTES / 2; /* no UTF-8 at all */
        memcpy(at, s.p, head);
        memcpy(at + head, "\xE2\x80\xA6", 3);
        memcpy(at + head + 3, s.p + s.n - tail, tail);
        n = head + 3 + tail;
    }
    v->name_at[v->n_names + 1] = v->name_at[v->n_names] + (uint32_t)n;
}

/* The number of a tag in this answer; a name has room for 2^24 of them. */
static uint64_t tag_number(viewport_ctx *d, uint32_t tag) {
    if (!tag) return 0;
    uint32_t *at = map_at(&d->tags, tag);
    if (!at) {
        d->no_memory = true;
        return 0;
    }
    if (*at == MAP_NONE) *at = (uint32_t)d->tags.n & 0xFFFFFF;
    return *at;
}

/* Index of the name in this answer; UINT16_MAX when it does not fit. */
static uint16_t name_of(viewport_ctx *d, uint32_t string, uint8_t kind, uint32_t tag) {
    viewport *v = d->v;
    uint32_t *at = map_at(&d->names, tag_number(d, tag) << 40 | (uint64_t)string << 8 | kind);
    if (!at) {
        d->no_memory = true;
        return UINT16_MAX;
    }
    if (*at != MAP_NONE) return (uint16_t)*at;
    *at = 0;
    str text = trace_str(d->l->t, string);
    size_t n = text.n < VIEWPORT_NAME_BYTES ? text.n : VIEWPORT_NAME_BYTES;
    if (v->n_names == d->max_names || !spend(d, n + NAME_BYTES + (d->q->tagger ? 4 : 0))) {
        d->full = true;
        return UINT16_MAX;
    }
    put_name_text(v, text);
    v->name_string[v->n_names] = string;
    v->name_kind[v->n_names] = kind;
    if (v->name_tag) v->name_tag[v->n_names] = tag;
    *at = v->n_names;
    return (uint16_t)v->n_names++;
}

/* ---- boxes ------------------------------------------------------------------------------- */

static uint32_t unit_of(const viewport *v, int64_t time_ns) {
    int64_t offset = max_i64(0, sub_i64(min_i64(time_ns, v->to_ns), v->from_ns));
    return (uint32_t)(offset >> v->unit_shift);
}

static uint8_t flags_of(const viewport_ctx *d, const lod_box *b, bool instant) {
    uint8_t flags = 0;
    if (b->start_ns < d->v->from_ns) flags |= BOX_BEFORE;
    if (b->end_ns > d->v->to_ns) flags |= BOX_AFTER;
    if (instant || b->count > 1) return flags;
    uint8_t of = d->l->t->slice.flags[b->longest];
    if (of & SLICE_UNFINISHED) flags |= BOX_UNFINISHED;
    if (of & SLICE_SPILLED) flags |= BOX_SPILLED;
    if (of & SLICE_CLOCK_SUSPECT) flags |= BOX_CLOCK_SUSPECT;
    if (of & SLICE_SYNTHETIC) flags |= BOX_SYNTHETIC;
    return flags;
}

static void put_box(viewport_ctx *d, const lod_box *b, bool instant) {
    viewport *v = d->v;
    const trace *t = d->l->t;
    if (v->n_boxes == d->max_boxes || !spend(d, BOX_BYTES)) {
        d->full = true;
        return;
    }
    uint32_t tag = instant || !d->q->tagger ? 0 : tag_of(d->q->tagger, b->longest);
    uint16_t name = instant
                        ? name_of(d, t->instant.name[b->longest], VIEWPORT_INSTANT, 0)
                        : name_of(d, t->slice.name[b->longest], t->slice.kind[b->longest], tag);
    if (d->full || d->no_memory) return;
    uint32_t i = v->n_boxes++;
    v->start[i] = unit_of(v, b->start_ns);
    v->end[i] = unit_of(v, b->end_ns);
    if (!instant && v->end[i] == v->start[i]) v->end[i]++;
    v->slice[i] = b->longest;
    v->time[i] = (float)b->time_ns;
    v->count[i] = sat_u16(b->count);
    v->name[i] = name;
    v->flags[i] = flags_of(d, b, instant);
}

static void draw_row(viewport_ctx *d, uint32_t lane, uint32_t index, int shift) {
    viewport *v = d->v;
    const lod_lane *from = &d->l->lanes[lane];
    bool instant = from->kind == LANE_INSTANTS;
    uint32_t before = v->n_boxes;
    lod_cursor c = lod_begin(d->l, from->first_row + index, v->from_ns, v->to_ns, shift);
    for (lod_box b; !d->full && !d->no_memory && lod_next(&c, &b);) {
        bool left = b.start_ns < v->from_ns && b.end_ns <= v->from_ns;
        if (!left && b.start_ns < v->to_ns) put_box(d, &b, instant);
    }
    if (v->n_boxes == before || !spend(d, RUN_BYTES)) return;
    v->run_lane[v->n_runs] = lane;
    v->run_row[v->n_runs] = sat_u16(index);
    v->run_first[++v->n_runs] = v->n_boxes;
}

/* ---- counters ---------------------------------------------------------------------------- */

static void put_point(viewport_ctx *d, int64_t time_ns, const lod_point *p) {
    viewport *v = d->v;
    if (v->n_points == d->max_points || !spend(d, POINT_BYTES)) {
        d->full = true;
        return;
    }
    uint32_t i = v->n_points++;
    v->point_time[i] = unit_of(v, time_ns);
    v->point_min[i] = (float)p->min;
    v->point_max[i] = (float)p->max;
    v->point_last[i] = (float)p->last;
}

static void draw_series(viewport_ctx *d, uint32_t series, int shift) {
    lod_point_cursor c = lod_points(d->l, series, d->v->from_ns, d->v->to_ns, shift);
    for (lod_point p; !d->full && lod_next_point(&c, &p);) put_point(d, p.time_ns, &p);
}

/* The share of each bucket; buckets four times as wide, because a share of less is a flicker,
 * and wider where the range of a hostile file is longer than all levels of detail. */
static void draw_share(viewport_ctx *d, uint32_t device, bool load, int shift) {
    const lod_device *of = &d->l->devices[device];
    int wide = shift + 2 > LOD_MAX_SHIFT ? LOD_MAX_SHIFT : shift + 2;
    enum { MOST_BUCKETS = 1 << 16 };
    while (sub_i64(d->v->to_ns, d->v->from_ns) >> wide > MOST_BUCKETS) wide++;
    int64_t bucket = (int64_t)1 << wide, at = (d->v->from_ns >> wide) * bucket;
    double before = -1;
    for (; !d->full && at < d->v->to_ns; at = add_i64(at, bucket)) {
        int64_t end = add_i64(at, bucket);
        double share = load ? lod_loaded(&of->load, at, end)
                            : (double)lod_covered(&of->busy, at, end) / (double)bucket;
        lod_point p = {.min = share, .max = share, .last = share};
        if (share != before) put_point(d, at, &p);
        before = share;
    }
}

static void end_counter(viewport_ctx *d, uint32_t lane, uint32_t before) {
    viewport *v = d->v;
    if (v->n_points == before) return;
    v->counter_lane[v->n_counters++] = lane;
    v->counter_first[v->n_counters] = v->n_points;
}

/* ---- attempts ---------------------------------------------------------------------------- */

static void draw_lane(viewport_ctx *d, const viewport_lane *lane, int shift) {
    uint32_t index = 0, before = d->v->n_points;
    uint32_t most = d->q->max_rows ? d->q->max_rows : UINT32_MAX;
    shift += (int)lane->coarser;
    switch (lane_class_of(d->l, lane->id, &index)) {
    case LANE_IS_SLICES:
        for (uint32_t r = 0; r < d->l->lanes[index].n_rows && r < most && !d->full; r++)
            draw_row(d, index, r, shift);
        break;
    case LANE_IS_SERIES: draw_series(d, index, shift); break;
    case LANE_IS_UTILIZATION: draw_share(d, index, false, shift); break;
    case LANE_IS_LOAD: draw_share(d, index, true, shift); break;
    case LANE_UNKNOWN: break;
    }
    end_counter(d, lane->id, before);
}

/* Rows of the lanes asked for: what an attempt has done is measured by them. */
static uint32_t rows_of(const viewport_ctx *d, const viewport_lane *lane) {
    uint32_t index;
    if (lane_class_of(d->l, lane->id, &index) != LANE_IS_SLICES) return 1;
    uint32_t n = d->l->lanes[index].n_rows;
    return d->q->max_rows && n > d->q->max_rows ? d->q->max_rows : n;
}

static void clear(viewport_ctx *d) {
    viewport *v = d->v;
    v->n_runs = v->n_boxes = v->n_names = v->n_counters = v->n_points = 0;
    v->run_first[0] = v->counter_first[0] = v->name_at[0] = 0;
    d->bytes = FRAME_BYTES;
    d->full = false;
    map_fini(&d->names);
    map_fini(&d->tags);
    d->names = d->tags = (map){0};
}

/* One attempt: 0 when all fits, else how many powers of two the buckets lack. */
static int attempt(viewport_ctx *d, int shift) {
    uint64_t rows = 0, done = 0;
    clear(d);
    for (uint32_t i = 0; i < d->q->n_lanes; i++) rows += rows_of(d, &d->q->lanes[i]);
    for (uint32_t i = 0; i < d->q->n_lanes && !d->no_memory; i++) {
        uint32_t before = d->v->n_runs;
        draw_lane(d, &d->q->lanes[i], shift);
        if (d->full) {
            done += d->v->n_runs - before;
            int lacking = ceil_log2(rows / (done + 1));
            return lacking > 1 ? lacking : 1;
        }
        done += rows_of(d, &d->q->lanes[i]);
    }
    return 0;
}

static status make_columns(viewport_ctx *d, error *err) {
    viewport *v = d->v;
    arena *a = d->arena;
    uint32_t runs = 0;
    for (uint32_t i = 0; i < d->q->n_lanes; i++) runs += rows_of(d, &d->q->lanes[i]);
    if (runs > d->limit / RUN_BYTES) runs = (uint32_t)(d->limit / RUN_BYTES);
    uint32_t boxes = d->max_boxes = (uint32_t)(d->limit / BOX_BYTES);
    uint32_t points = d->max_points = (uint32_t)(d->limit / POINT_BYTES);
    uint32_t names = d->max_names = boxes < UINT16_MAX - 1 ? boxes : UINT16_MAX - 1;
    v->run_lane = ARENA_ARRAY(a, uint32_t, runs + 1);
    v->run_row = ARENA_ARRAY(a, uint16_t, runs + 1);
    v->run_first = ARENA_ARRAY(a, uint32_t, runs + 2);
    v->start = ARENA_ARRAY(a, uint32_t, boxes);
    v->end = ARENA_ARRAY(a, uint32_t, boxes);
    v->slice = ARENA_ARRAY(a, uint32_t, boxes);
    v->time = ARENA_ARRAY(a, float, boxes);
    v->count = ARENA_ARRAY(a, uint16_t, boxes);
    v->name = ARENA_ARRAY(a, uint16_t, boxes);
    v->flags = ARENA_ARRAY(a, uint8_t, boxes);
    v->name_string = ARENA_ARRAY(a, uint32_t, names);
    v->name_at = ARENA_ARRAY(a, uint32_t, names + 2);
    v->name_kind = ARENA_ARRAY(a, uint8_t, names);
    if (d->q->tagger) v->name_tag = ARENA_ARRAY(a, uint32_t, names);
    v->name_text = ARENA_ARRAY(a, char, d->limit + VIEWPORT_NAME_BYTES);
    v->counter_lane = ARENA_ARRAY(a, uint32_t, d->q->n_lanes + 1);
    v->counter_first = ARENA_ARRAY(a, uint32_t, d->q->n_lanes + 2);
    v->point_time = ARENA_ARRAY(a, uint32_t, points);
    v->point_min = ARENA_ARRAY(a, float, points);
    v->point_max = ARENA_ARRAY(a, float, points);
    v->point_last = ARENA_ARRAY(a, float, points);
    bool all = v->run_lane && v->run_row && v->run_first && v->start && v->end && v->slice &&
               v->time && v->count && v->name && v->flags && v->name_string && v->name_at &&
               v->name_kind && v->name_text && v->counter_lane && v->counter_first &&
               v->point_time && v->point_min && v->point_max && v->point_last;
    if (!all || (d->q->tagger && !v->name_tag)) FAIL_MEMORY(err);
    return OK;
}

static status check_lanes(const lod *l, const viewport_question *q, error *err) {
    uint32_t index;
    for (uint32_t i = 0; i < q->n_lanes; i++)
        if (lane_class_of(l, q->lanes[i].id, &index) == LANE_UNKNOWN)
            FAIL(err, ERR_ARG, NOPOS, MSG_NO_SUCH_LANE, arg_int("lane", q->lanes[i].id));
    return OK;
}

/* Of two times, the later one second: it may be more than an int64_t holds. */
WRAPS static uint64_t distance(int64_t from_ns, int64_t to_ns) {
    return (uint64_t)to_ns - (uint64_t)from_ns;
}

status viewport_make(const lod *l, const viewport_question *q, arena *a, viewport *out,
                     error *err) {
    viewport v = {.from_ns = q->from_ns, .to_ns = q->to_ns};
    uint64_t range = distance(q->from_ns, q->to_ns);
    viewport_ctx d = {.l = l, .q = q, .arena = a, .v = &v};
    d.limit = q->max_bytes > 2 * FRAME_BYTES ? q->max_bytes : VIEWPORT_BYTES;
    TRY(check_lanes(l, q, err));
    TRY(make_columns(&d, err));
    while (range >> v.unit_shift > UINT32_MAX - 1) v.unit_shift++;
    v.shift = ceil_log2(range / q->width_px + (range % q->width_px != 0));
    for (int lacking; (lacking = attempt(&d, v.shift)) > 0 && v.shift < LOD_MAX_SHIFT;)
        v.shift = v.shift + lacking < LOD_MAX_SHIFT ? v.shift + lacking : LOD_MAX_SHIFT;
    map_fini(&d.names);
    map_fini(&d.tags);
    v.cut = d.full;
    if (d.no_memory) FAIL_MEMORY(err);
    *out = v;
    return OK;
}
