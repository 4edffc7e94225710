/* api_timeline.c: what the timeline draws: tracks, viewport, tape.
 *
 * analyse/ makes the columns, here they get their names and their frame. */
#include "analyse/kind_names.h"
#include "analyse/timeline/minimap.h"
#include "analyse/timeline/viewport.h"
#include "base/num.h"
#include "serve/blocks.h"
#include "serve/refs.h"
#include "serve/timeline.h"

enum { MOST_STEPS = 10000 };
/* More cannot be read; a million threads would be an answer of 140 MB. The least busy come
 * last. */
enum { MOST_LANES = 20000 };

/* ---- tracks ------------------------------------------------------------------------------ */

static void put_lane(buf *b, const trace *t, const timeline_lane *l) {
    put_comma(b);
    buf_add_byte(b, '{');
    put_int(b, "id", l->id);
    put_text(b, "kind", str_of(l->kind));
    put_int(b, "group", l->group);
    put_int(b, "track", l->track);
    put_text(b, "name", l->name);
    put_int(b, "rows", l->n_rows);
    put_int(b, "slices", sat_i64(l->n_slices));
    put_real(b, "busy", l->busy);
    put_bool(b, "closed", l->closed);
    if (l->role) put_text(b, "role", str_of(l->role));
    if (l->device != ABSENT_I32) {
        put_int(b, "device", l->device);
        put_text(b, "device_type", device_word_of_work(t));
    }
    bool stream = l->track && t->track.kind[l->track] == TRACK_STREAM;
    if (l->number != ABSENT_I64)
        put_int(b, stream ? "stream" : "tid", l->number);
    else if (l->track && t->track.tid_text[l->track])
        put_text(b, "tid", trace_str(t, t->track.tid_text[l->track]));
    if (l->series.n) put_text(b, "series", l->series);
    if (l->unit) put_text(b, "unit", str_of(l->unit));
    if (l->side) put_text(b, "side", str_of(l->side));
    if (!isnan(l->max)) put_real(b, "max", l->max);
    buf_add_byte(b, '}');
}

static void put_group(buf *b, const timeline_group *g) {
    put_comma(b);
    buf_add_byte(b, '{');
    put_int(b, "id", g->id);
    put_text(b, "kind", g->is_device ? STR("device") : STR("process"));
    put_text(b, "name", g->name);
    if (g->is_device) {
        put_text(b, "detail", g->detail);
        if (g->device != ABSENT_I32) put_int(b, "device", g->device);
    } else {
        put_text(b, "pid", g->pid);
        put_text(b, "labels", g->detail);
    }
    put_bool(b, "closed", g->closed);
    buf_add_byte(b, '}');
}

static void put_step_column(const request_ctx *x, buf *b, const char *key, const int64_t *v,
                            bool is_time) {
    const trace *t = x->traces[0].trace;
    uint32_t stride = t->step.n / MOST_STEPS + 1;
    put_key(b, key);
    buf_add_byte(b, '[');
    for (uint32_t i = 1; i < t->step.n; i += stride) {
        put_comma(b);
        buf_add_i64(b, is_time ? ref_offset(x, v[i]) : v[i]);
    }
    buf_add_byte(b, ']');
}

static void put_steps(const request_ctx *x, buf *b) {
    const trace *t = x->traces[0].trace;
    put_key(b, "steps");
    buf_add_byte(b, '{');
    put_int(b, "total", t->step.n ? (int64_t)t->step.n - 1 : 0);
    put_step_column(x, b, "number", t->step.number, false);
    put_step_column(x, b, "start", t->step.start, true);
    put_step_column(x, b, "end", t->step.end, true);
    buf_add_byte(b, '}');
}

static void put_trace(const request_ctx *x, buf *b) {
    const analysis_trace *of = &x->traces[0];
    const trace *t = of->trace;
    put_key(b, "trace");
    buf_add_byte(b, '{');
    put_text(b, "run", of->run);
    put_text(b, "worker", of->worker);
    put_text(b, "span", of->span);
    put_text(b, "format", t->format);
    put_big(b, "start_unix_ns",
            t->base_unix_ns == ABSENT_I64 ? ABSENT_I64 : add_i64(t->base_unix_ns, t->start_ns));
    put_int(b, "duration_ns", max_i64(0, sub_i64(t->end_ns, t->start_ns)));
    put_int(b, "events", sat_i64(t->events_read));
    buf_add_byte(b, '}');
}

status route_tracks(request_ctx *x, error *err) {
    timeline_lanes l;
    buf *b = &x->reply.body;
    TRY(lanes_list(request_lod(x), &x->arena, &l, err));
    buf_add_byte(b, '{');
    put_trace(x, b);
    put_key(b, "lanes");
    buf_add_byte(b, '[');
    uint32_t n = l.n_lanes < MOST_LANES ? l.n_lanes : MOST_LANES, n_groups = 0;
    for (uint32_t i = 0; i < n; i++) {
        put_lane(b, x->traces[0].trace, &l.lanes[i]);
        if (l.lanes[i].group > n_groups) n_groups = l.lanes[i].group;
    }
    buf_add_byte(b, ']');
    if (n < l.n_lanes) put_int(b, "left_out", l.n_lanes - n);
    put_key(b, "groups");
    buf_add_byte(b, '[');
    for (uint32_t i = 0; i < n_groups; i++) put_group(b, &l.groups[i]);
    buf_add_byte(b, ']');
    put_steps(x, b);
    buf_add_cstr(b, "}\n");
    return OK;
}

/* ---- viewport ---------------------------------------------------------------------------- */

typedef struct {
    viewport_lane *v;
    uint32_t n, end;
} lane_choice;

static bool choose_lanes(void *context, uint32_t first, uint32_t last, uint32_t coarser) {
    lane_choice *c = context;
    if (first == 0 || last >= c->end || last - first >= c->end - c->n) return false;
    for (uint32_t i = first; i <= last; i++)
        c->v[c->n++] = (viewport_lane){.id = i, .coarser = coarser};
    return true;
}

/* Those asked for, else all that are not closed. */
static status find_lanes(request_ctx *x, lane_choice *c, error *err) {
    timeline_lanes l;
    c->end = lane_id_end(request_lod(x));
    c->v = ARENA_ARRAY(&x->arena, viewport_lane, c->end);
    if (!c->v) FAIL_MEMORY(err);
    if (x->request.lanes.n) return request_lanes(x->request.lanes, choose_lanes, c, err);
    TRY(lanes_list(request_lod(x), &x->arena, &l, err));
    for (uint32_t i = 0; i < l.n_lanes; i++)
        if (!l.lanes[i].closed) c->v[c->n++] = (viewport_lane){.id = l.lanes[i].id};
    return OK;
}

static void add_boxes(blocks *b, const viewport *v) {
    blocks_add(b, "row_lane", BLOCK_U32, v->run_lane, v->n_runs);
    blocks_add(b, "row_first", BLOCK_U32, v->run_first, v->n_runs + 1);
    blocks_add(b, "row_row", BLOCK_U16, v->run_row, v->n_runs);
    blocks_add(b, "start", BLOCK_U32, v->start, v->n_boxes);
    blocks_add(b, "end", BLOCK_U32, v->end, v->n_boxes);
    blocks_add(b, "slice", BLOCK_U32, v->slice, v->n_boxes);
    blocks_add(b, "time", BLOCK_F32, v->time, v->n_boxes);
    blocks_add(b, "count", BLOCK_U16, v->count, v->n_boxes);
    blocks_add(b, "name", BLOCK_U16, v->name, v->n_boxes);
    blocks_add(b, "flags", BLOCK_U8, v->flags, v->n_boxes);
    blocks_add(b, "name_id", BLOCK_U32, v->name_string, v->n_names);
    blocks_add(b, "name_at", BLOCK_U32, v->name_at, v->n_names + 1);
    blocks_add(b, "name_kind", BLOCK_U8, v->name_kind, v->n_names);
    if (v->name_tag) blocks_add(b, "name_tag", BLOCK_U32, v->name_tag, v->n_names);
    blocks_add(b, "name_text", BLOCK_U8, v->name_text, v->name_at[v->n_names]);
    blocks_add(b, "counter_lane", BLOCK_U32, v->counter_lane, v->n_counters);
    blocks_add(b, "counter_first", BLOCK_U32, v->counter_first, v->n_counters + 1);
    blocks_add(b, "point_time", BLOCK_U32, v->point_time, v->n_points);
    blocks_add(b, "point_min", BLOCK_F32, v->point_min, v->n_points);
    blocks_add(b, "point_max", BLOCK_F32, v->point_max, v->n_points);
    blocks_add(b, "point_last", BLOCK_F32, v->point_last, v->n_points);
}

static status make_viewport(request_ctx *x, viewport_question *q, viewport *v, error *err) {
    tagger g = {.kind = TAG_NONE};
    str tag = x->request.tag;
    if (tag.n) {
        tag_kind kind = str_eq(tag, STR("stage"))  ? TAG_STAGE
                        : str_eq(tag, STR("line")) ? TAG_LINE
                                                   : TAG_MODULE;
        status s = tagger_begin(x->traces[0].trace, kind, &x->arena, &g, err);
        if (s != OK) {
            tagger_end(&g);
            return s;
        }
        q->tagger = &g;
    }
    status s = viewport_make(request_lod(x), q, &x->arena, v, err);
    tagger_end(&g);
    return s;
}

status timeline_picture(request_ctx *x, uint32_t width_px, uint32_t max_bytes, error *err) {
    const request *r = &x->request;
    viewport_question q = {.width_px = width_px,
                           .max_bytes = max_bytes,
                           .max_rows = r->rows > 0 ? sat_u32((uint64_t)r->rows) : 0};
    lane_choice lanes = {.n = 0};
    viewport v = {0};
    blocks b;
    TRY(request_window(x, &q.from_ns, &q.to_ns, err));
    TRY(find_lanes(x, &lanes, err));
    q.lanes = lanes.v;
    q.n_lanes = lanes.n;
    TRY(make_viewport(x, &q, &v, err));
    blocks_begin(&b);
    put_int(&b.head, "from", ref_offset(x, v.from_ns));
    put_int(&b.head, "to", ref_offset(x, v.to_ns));
    put_int(&b.head, "width", q.width_px);
    put_int(&b.head, "bucket_ns", (int64_t)1 << v.shift);
    put_int(&b.head, "unit_ns", (int64_t)1 << v.unit_shift);
    put_int(&b.head, "seq", r->seq == ABSENT_I64 ? 0 : r->seq);
    put_int(&b.head, "lanes", q.n_lanes);
    put_int(&b.head, "boxes", v.n_boxes);
    put_bool(&b.head, "complete", !v.cut);
    add_boxes(&b, &v);
    x->reply.media = "application/octet-stream";
    if (!blocks_end(&b, &x->reply.body)) FAIL_MEMORY(err);
    return OK;
}

status route_viewport(request_ctx *x, error *err) {
    int64_t width = x->request.width;
    return timeline_picture(x, width > 0 ? (uint32_t)width : 1000, 0, err);
}

/* ---- tape -------------------------------------------------------------------------------- */

static status add_steps(request_ctx *x, blocks *b, error *err) {
    const trace *t = x->traces[0].trace;
    uint32_t stride = t->step.n / MOST_STEPS + 1, n = 0;
    double *number = ARENA_ARRAY(&x->arena, double, t->step.n + 1u);
    double *start = ARENA_ARRAY(&x->arena, double, t->step.n + 1u);
    double *end = ARENA_ARRAY(&x->arena, double, t->step.n + 1u);
    if (!number || !start || !end) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->step.n; i += stride, n++) {
        number[n] = (double)t->step.number[i];
        start[n] = (double)ref_offset(x, t->step.start[i]);
        end[n] = (double)ref_offset(x, t->step.end[i]);
    }
    blocks_add(b, "step_number", BLOCK_F64, number, n);
    blocks_add(b, "step_start", BLOCK_F64, start, n);
    blocks_add(b, "step_end", BLOCK_F64, end, n);
    return OK;
}

status route_tape(request_ctx *x, error *err) {
    minimap range = {.width_px = x->request.width > 0 ? (uint32_t)x->request.width : 1000}, p;
    blocks b;
    TRY(request_window(x, &range.from_ns, &range.to_ns, err));
    TRY(minimap_make(request_lod(x), &range, &x->arena, &p, err));
    blocks_begin(&b);
    put_int(&b.head, "from", ref_offset(x, p.from_ns));
    put_int(&b.head, "to", ref_offset(x, p.to_ns));
    put_int(&b.head, "width", p.width_px);
    put_int(&b.head, "devices", request_lod(x)->n_devices);
    for (int i = 0; i < N_MINIMAP_ROWS; i++)
        if (p.shares[i])
            blocks_add(&b, minimap_row_name((minimap_row)i), BLOCK_U8, p.shares[i], p.width_px);
    status s = add_steps(x, &b, err);
    x->reply.media = "application/octet-stream";
    if (!blocks_end(&b, &x->reply.body) && s == OK) FAIL_MEMORY(err);
    return s;
}
