/* report_timeline.c: the timeline of a worker: lanes, tape, and pictures of it at several
 * levels of detail, so that zooming works as far as they go.
 *
 *     level 0    one picture of the whole trace
 *     level 1    TILES pictures, TILES times as fine
 *     whole      the steps that are wanted whole: buckets of 1 ns, every slice is a separate
 *                box; and everything that is known about each slice, SLICES_PER_PART
 *                together
 *
 * The page takes the finest pictures that cover what it shows. */
#include <inttypes.h>

#include "analyse/ask.h"
#include "analyse/timeline/lanes.h"
#include "analyse/timeline/step_window.h"
#include "base/num.h"
#include "report/report_int.h"
#include "serve/timeline.h"

enum {
    TILES = 4,
    TILE_PX = 4096,
    TILE_BYTES = 900000, /* of one picture, before it is packed */
    WHOLE_TILE_BYTES = 32 << 20,
    SLICES_PER_TILE = 20000,
    SLICES_PER_PART = 256,
    MOST_AREA_LANES = 12,
};

/* A range of time as offsets from the start of the trace. */
typedef struct {
    int64_t from_ns, to_ns;
} part_of_time;

/* ---- pictures ---------------------------------------------------------------------------- */

static void list_picture(report *r, asked_of about, part_of_time p, bool whole,
                         uint32_t number) {
    buf *b = &r->store.tiles;
    if (b->n) buf_add_byte(b, ',');
    buf_add_cstr(b, "{\"run\":");
    buf_add_json(b, about.run);
    buf_add_cstr(b, ",\"worker\":");
    buf_add_json(b, about.worker);
    buf_printf(b, ",\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"whole\":%s,\"part\":%u}",
               p.from_ns, p.to_ns, whole ? "true" : "false", number);
}

static status keep_picture(report *r, asked_of about, const request_ctx *of, part_of_time p,
                           bool whole, error *err) {
    request_ctx x;
    bool answered;
    uint32_t number, end = lane_id_end(request_lod(of));
    if (end < 2 || p.to_ns <= p.from_ns) return OK;
    str asked = arena_printf(&r->arena, "viewport?from=%" PRId64 "&to=%" PRId64 "&lanes=1-%u",
                             p.from_ns, p.to_ns, end - 1);
    if (!asked.p) FAIL_MEMORY(err);
    int64_t width = whole ? min_i64(sub_i64(p.to_ns, p.from_ns), UINT32_MAX) : TILE_PX;
    status st = report_open(r, report_target(r, about, asked), &x, &answered, err);
    if (st == OK && !answered)
        st = timeline_picture(&x, (uint32_t)width, whole ? WHOLE_TILE_BYTES : TILE_BYTES, err);
    if (st == OK && !answered) {
        st = report_store_add(&r->store, buf_str(&x.reply.body), &number, err);
        if (st == OK) list_picture(r, about, p, whole, number);
    }
    request_end(&x);
    return st;
}

static status keep_tiles(report *r, asked_of about, const request_ctx *of, part_of_time all,
                         uint64_t n, bool whole, error *err) {
    int64_t length = sub_i64(all.to_ns, all.from_ns);
    for (uint64_t i = 0; i < n; i++) {
        double each = (double)length / (double)n;
        part_of_time p = {add_i64(all.from_ns, real_i64(each * (double)i)),
                          add_i64(all.from_ns, real_i64(each * (double)(i + 1)))};
        if (i + 1 == n) p.to_ns = all.to_ns;
        TRY(keep_picture(r, about, of, p, whole, err));
    }
    return OK;
}

/* ---- steps as a whole -------------------------------------------------------------------- */

/* The steps that are wanted whole, as offsets. False: none of them is in the trace. */
static bool find_detail(const report *r, const trace *t, part_of_time *out) {
    time_window w;
    if (steps_are_all(r->o->detail) || !steps_window(t, r->o->detail, &w)) return false;
    *out = (part_of_time){w.from_ns, w.to_ns};
    return true;
}

static bool is_inside(const trace *t, uint32_t slice, part_of_time p) {
    int64_t start = sub_i64(t->slice.start[slice], t->start_ns);
    return start < p.to_ns && sub_i64(trace_slice_end(t, slice), t->start_ns) >= p.from_ns;
}

static uint64_t count_slices(const trace *t, part_of_time p) {
    uint64_t n = 0;
    for (uint32_t i = 1; i < t->slice.n; i++) n += is_inside(t, i, p);
    return n;
}

/* The slices that were collected become a part; the index has the first and the last id of
 * it. */
static status end_slices(report *r, asked_of about, buf *body, uint32_t first, uint32_t last,
                         error *err) {
    uint32_t number;
    buf *b = &r->store.slices;
    if (!body->n) return OK;
    buf_add_byte(body, ']');
    if (!buf_ok(body)) FAIL_MEMORY(err);
    TRY(report_store_add(&r->store, buf_str(body), &number, err));
    if (b->n) buf_add_byte(b, ',');
    buf_add_cstr(b, "{\"run\":");
    buf_add_json(b, about.run);
    buf_add_cstr(b, ",\"worker\":");
    buf_add_json(b, about.worker);
    buf_printf(b, ",\"first\":%u,\"last\":%u,\"part\":%u}", first, last, number);
    buf_clear(body);
    return OK;
}

static status add_slice(report *r, const request_ctx *of, uint32_t id, buf *body, error *err) {
    request_ctx x = *of; /* shares what is held; has its own arena and reply */
    arena_init(&x.arena, r->service.memory_bytes);
    x.reply.body = (buf){0};
    status st = timeline_slice(&x, id, err);
    if (st == OK && !buf_ok(&x.reply.body))
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (st == OK) {
        buf_add_byte(body, body->n ? ',' : '[');
        buf_add_str(body, buf_str(&x.reply.body));
        r->store.n_slices++;
    }
    buf_fini(&x.reply.body);
    arena_fini(&x.arena);
    return st;
}

static status keep_slices(report *r, asked_of about, const request_ctx *of, part_of_time p,
                          error *err) {
    const trace *t = of->traces[0].trace;
    buf body = {0};
    uint32_t n = 0, first = 0, last = 0;
    status st = OK;
    for (uint32_t i = 1; st == OK && i < t->slice.n; i++) {
        if (!is_inside(t, i, p)) continue;
        if (n++ == 0) first = i;
        last = i;
        st = add_slice(r, of, i, &body, err);
        if (st != OK || n < SLICES_PER_PART) continue;
        st = end_slices(r, about, &body, first, last, err);
        n = 0;
    }
    if (st == OK) st = end_slices(r, about, &body, first, last, err);
    buf_fini(&body);
    return st;
}

/* ---- pictures of all of it --------------------------------------------------------------- */

static bool is_empty(const trace *t) {
    return t->slice.n < 2 && t->counter.n < 2;
}

static status keep_pictures(report *r, asked_of about, const request_ctx *x, error *err) {
    const trace *t = x->traces[0].trace;
    part_of_time all = {0, max_i64(0, sub_i64(t->end_ns, t->start_ns))}, p;
    TRY(report_keep(r, about, STR("tape"), STR("tape?width=4096"), false, err));
    if (is_empty(t)) return OK;
    TRY(keep_picture(r, about, x, all, false, err));
    TRY(keep_tiles(r, about, x, all, TILES, false, err));
    if (!find_detail(r, t, &p)) return OK;
    return keep_tiles(r, about, x, p, count_slices(t, p) / SLICES_PER_TILE + 1, true, err);
}

status report_pictures(report *r, asked_of about, error *err) {
    request_ctx x;
    bool answered;
    TRY(report_keep(r, about, STR("tracks"), STR("tracks"), false, err));
    status st = report_open(r, report_target(r, about, STR("tracks")), &x, &answered, err);
    if (st == OK && !answered && x.n_held && request_lod(&x))
        st = keep_pictures(r, about, &x, err);
    request_end(&x);
    return st;
}

/* ---- together ---------------------------------------------------------------------------- */

/* Sums of the whole trace for each lane: what the page shows under an untouched timeline. */
static status keep_areas(report *r, asked_of about, request_ctx *x, int64_t end_ns,
                         error *err) {
    timeline_lanes l;
    uint32_t n = 0;
    TRY(lanes_list(request_lod(x), &x->arena, &l, err));
    for (uint32_t i = 0; i < l.n_lanes && n < MOST_AREA_LANES; i++) {
        if (l.lanes[i].closed || !l.lanes[i].n_rows) continue;
        unsigned id = l.lanes[i].id;
        str key = arena_printf(&r->arena, "area?lanes=%u", id);
        str asked = arena_printf(&r->arena, "area?from=0&to=%" PRId64 "&lanes=%u&limit=500",
                                 end_ns, id);
        str idle = arena_printf(&r->arena, "area?lanes=%u&table=idle", id);
        str idle_question =
            arena_printf(&r->arena, "area?from=0&to=%" PRId64 "&table=idle", end_ns);
        if (!key.p || !asked.p || !idle.p || !idle_question.p) FAIL_MEMORY(err);
        TRY(report_keep(r, about, key, asked, true, err));
        TRY(report_keep(r, about, idle, idle_question, true, err));
        n++;
    }
    return OK;
}

static status keep_timeline(report *r, asked_of about, request_ctx *x, error *err) {
    const trace *t = x->traces[0].trace;
    part_of_time p;
    if (is_empty(t)) return OK;
    TRY(keep_areas(r, about, x, max_i64(0, sub_i64(t->end_ns, t->start_ns)), err));
    return find_detail(r, t, &p) ? keep_slices(r, about, x, p, err) : OK;
}

status report_timeline(report *r, asked_of about, error *err) {
    request_ctx x;
    bool answered;
    status st = report_open(r, report_target(r, about, STR("tracks")), &x, &answered, err);
    if (st == OK && !answered && x.n_held && request_lod(&x))
        st = keep_timeline(r, about, &x, err);
    request_end(&x);
    return st;
}

/* ---- how much there is ------------------------------------------------------------------- */

static bool is_frame(const trace *t, uint32_t slice) {
    return t->slice.kind[slice] == KIND_PYTHON || t->slice.kind[slice] == KIND_MODULE;
}

/* Keeps what is wrong about the steps of --detail: it is an error when no trace has them. */
static void check_detail(report *r, const trace *t) {
    const analysis_trace one = {.trace = t};
    const analysis_input in = {.traces = &one, .n_traces = 1};
    params p = PARAMS_WHOLE;
    p.first_step = r->o->detail.first;
    p.last_step = r->o->detail.last;
    if (r->no_steps.status == OK) (void)!part_check(&in, &p, &r->no_steps);
}

static void measure_trace(report *r, const lod *l, report_extent *out) {
    const trace *t = l->t;
    part_of_time p;
    for (uint32_t i = 1; i < t->slice.n; i++) out->n_events += !is_frame(t, i);
    for (uint32_t i = 0; i < l->n_names; i++)
        out->n_names += !is_frame(t, l->by_name[l->name_first[i]]);
    out->n_steps = t->step.n ? t->step.n - 1 : 0;
    check_detail(r, t);
    if (!find_detail(r, t, &p)) return;
    out->n_slices = count_slices(t, p);
    out->n_cuts = report_count_cuts(r, t);
}

status report_measure(report *r, asked_of about, report_extent *out, error *err) {
    request_ctx x;
    bool answered;
    *out = (report_extent){0};
    status st = report_open(r, report_target(r, about, STR("tracks")), &x, &answered, err);
    if (st == OK && !answered && x.n_held && request_lod(&x))
        measure_trace(r, request_lod(&x), out);
    request_end(&x);
    return st;
}
