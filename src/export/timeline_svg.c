/* timeline_svg.c: a part of the timeline as a picture: which lanes, where, and how fine.
 *
 *   ┌──────────────────────────────────────────────┐
 *   │ title, window, steps                    HEAD │
 *   ├───────────┬──────────────────────────────────┤
 *   │           │ ruler                            │
 *   │ names     │ steps                            │
 *   │ (GUTTER)  │ lanes, with a head for each group│
 *   ├───────────┴──────────────────────────────────┤
 *   │ legend                                       │
 *   └──────────────────────────────────────────────┘
 *
 * Boxes come from analyse/timeline/viewport, as the page's do. A picture that is larger than it
 * may be is drawn again with half the boxes and rows. */
#include "export/timeline_svg.h"

#include "analyse/timeline/lanes.h"
#include "base/arena.h"
#include "base/message_ids_columns.h"
#include "base/num.h"
#include "export/export_int.h"
#include "export/svg_text.h"
#include "export/timeline_svg_int.h"

enum {
    MOST_LANES = 60,
    MOST_ROWS = 64,
    MOST_STRIPES = 24,
    STEPS_PX = 20,
    LEGEND_PX = 30,
    TRIES = 8
};
enum { LEAST_BYTES = 24 << 10, BOX_BYTES_OF_SVG = 3 };

/* ---- lanes ------------------------------------------------------------------------------- */

typedef struct {
    const char *kind;
    uint32_t top, first, rest, gap, bottom;
} lane_shape;

/* As web/src/draw/timeline/lanes.ts has them; the last one is for all others. */
static const lane_shape SHAPES[] = {{"stream", 2, 22, 8, 1, 2},
                                    {"calls", 2, 8, 8, 1, 3},
                                    {"instants", 2, 8, 8, 1, 3},
                                    {"", 1, 17, 17, 1, 2}};
enum { N_SHAPES = sizeof SHAPES / sizeof *SHAPES, STRIPE_PX = 2 };

static const lane_shape *shape_of(const svg_lane *n) {
    for (size_t i = 0; i < N_SHAPES - 1; i++)
        if (strcmp(SHAPES[i].kind, n->lane->kind) == 0) return &SHAPES[i];
    return &SHAPES[N_SHAPES - 1];
}

uint32_t svg_row_height(const svg_lane *n, uint32_t row) {
    const lane_shape *s = shape_of(n);
    if (row == 0) return s->first;
    return row < n->n_tall ? s->rest : STRIPE_PX;
}

uint32_t svg_row_top(const svg_lane *n, uint32_t row) {
    uint32_t top = shape_of(n)->top;
    for (uint32_t i = 0; i < row; i++) top += svg_row_height(n, i) + shape_of(n)->gap;
    return top;
}

static bool is_one_row(const timeline_lane *l) {
    return strcmp(l->kind, "calls") == 0 || strcmp(l->kind, "instants") == 0;
}

/* How deep rows may be before they become stripes, for all of them to be at most this many. */
static uint32_t find_depth(const svg_picture *p, uint32_t most_rows) {
    for (uint32_t depth = LOD_MAX_ROWS; depth > 1; depth--) {
        uint64_t rows = 0;
        for (uint32_t i = 0; i < p->n_lanes; i++)
            rows += p->lanes[i].n_rows < depth ? p->lanes[i].n_rows : depth;
        if (rows <= most_rows) return depth;
    }
    return 1;
}

static const timeline_group *group_of(const svg_picture *p, uint32_t id) {
    return id && id <= p->all.n_groups ? &p->all.groups[id - 1] : NULL;
}

void svg_place_lanes(svg_picture *p, uint32_t most_rows) {
    uint32_t depth = find_depth(p, most_rows), y = HEAD_PX + RULER_PX, group = 0;
    if (p->t->step.n > 1) y += STEPS_PX;
    for (uint32_t i = 0; i < p->n_lanes; i++) {
        svg_lane *n = &p->lanes[i];
        n->n_tall = n->n_rows < depth ? n->n_rows : depth;
        if (n->n_rows > n->n_tall + MOST_STRIPES) n->n_rows = n->n_tall + MOST_STRIPES;
        n->head = n->lane->group != group ? group_of(p, n->lane->group) : NULL;
        group = n->lane->group;
        if (n->head) y += GROUP_PX;
        n->y_px = y;
        n->height_px = n->n_rows ? svg_row_top(n, n->n_rows) + shape_of(n)->bottom : COUNTER_PX;
        y += n->height_px;
    }
    p->height_px = y;
}

/* ---- which lanes ------------------------------------------------------------------------- */

static bool is_wanted(const timeline_lane *l) {
    return !l->closed && strcmp(l->kind, "steps") != 0;
}

/* Streams and user ranges of each track: 1 + place in all lanes, 0 = none. */
typedef struct {
    uint32_t *stream, *first_ranges; /* by track */
    uint32_t *next_ranges;           /* by lane */
} track_lanes;

static status list_tracks(const svg_picture *p, track_lanes *out, error *err) {
    const timeline_lanes *all = &p->all;
    out->stream = ARENA_ARRAY(p->arena, uint32_t, p->t->track.n + 1);
    out->first_ranges = ARENA_ARRAY(p->arena, uint32_t, p->t->track.n + 1);
    out->next_ranges = ARENA_ARRAY(p->arena, uint32_t, all->n_lanes + 1);
    if (!out->stream || !out->first_ranges || !out->next_ranges) FAIL_MEMORY(err);
    /* Backwards, so that the first of a track comes first. */
    for (uint32_t i = all->n_lanes; COUNT_DOWN(i);) {
        const timeline_lane *l = &all->lanes[i];
        if (strcmp(l->kind, "stream") == 0) out->stream[l->track] = i + 1;
        if (strcmp(l->kind, "ranges") != 0) continue;
        out->next_ranges[i] = out->first_ranges[l->track];
        out->first_ranges[l->track] = i + 1;
    }
    return OK;
}

static void add_lane(svg_picture *p, viewport_lane *ids, const timeline_lane *l) {
    ids[p->n_lanes] = (viewport_lane){.id = l->id};
    p->lanes[p->n_lanes++] = (svg_lane){.lane = l, .counter = UINT32_MAX};
}

/* User ranges are below the stream they belong to, as on the page. */
static void take_lane(svg_picture *p, viewport_lane *ids, const track_lanes *of,
                      const timeline_lane *l) {
    add_lane(p, ids, l);
    if (strcmp(l->kind, "stream") != 0) return;
    for (uint32_t i = of->first_ranges[l->track]; i; i = of->next_ranges[i - 1])
        if (is_wanted(&p->all.lanes[i - 1])) add_lane(p, ids, &p->all.lanes[i - 1]);
}

static bool has_stream(const svg_picture *p, const track_lanes *of, const timeline_lane *l) {
    uint32_t stream = of->stream[l->track];
    return stream && is_wanted(&p->all.lanes[stream - 1]);
}

static status choose_lanes(svg_picture *p, viewport_lane **ids, error *err) {
    track_lanes of;
    TRY(lanes_list(p->l, p->arena, &p->all, err));
    TRY(list_tracks(p, &of, err));
    p->lanes = ARENA_ARRAY(p->arena, svg_lane, p->all.n_lanes + 1);
    *ids = ARENA_ARRAY(p->arena, viewport_lane, p->all.n_lanes + 1);
    if (!p->lanes || !*ids) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < p->all.n_lanes; i++) {
        const timeline_lane *l = &p->all.lanes[i];
        bool follows_stream = strcmp(l->kind, "ranges") == 0 && has_stream(p, &of, l);
        if (is_wanted(l) && !follows_stream) take_lane(p, *ids, &of, l);
    }
    return OK;
}

/* The runs and the counter of a lane; false when it has none. */
static bool find_contents(const svg_picture *p, svg_lane *n) {
    const viewport *v = &p->v;
    uint32_t first = 0, counter = 0;
    while (first < v->n_runs && v->run_lane[first] != n->lane->id) first++;
    n->first_run = n->end_run = first;
    for (; n->end_run < v->n_runs && v->run_lane[n->end_run] == n->lane->id; n->end_run++)
        n->n_rows = v->run_row[n->end_run] + 1u;
    if (n->n_rows && is_one_row(n->lane)) n->n_rows = 1;
    while (counter < v->n_counters && v->counter_lane[counter] != n->lane->id) counter++;
    if (counter < v->n_counters) n->counter = counter;
    return n->n_rows || counter < v->n_counters;
}

/* Leaves out the lanes without anything in the window, and those beyond the limit. */
static void keep_filled(svg_picture *p) {
    uint32_t kept = 0, filled = 0, missing = 0;
    for (uint32_t i = 0; i < p->n_lanes; i++) {
        svg_lane n = p->lanes[i];
        missing++; /* those after the last one were not looked at, where not all fit */
        if (!find_contents(p, &n)) continue;
        filled++;
        missing = 0;
        if (kept < MOST_LANES) p->lanes[kept++] = n;
    }
    p->n_lanes = kept;
    p->n_left_out = filled - kept + (p->v.cut ? missing : 0);
}

/* ---- drawing ----------------------------------------------------------------------------- */

static void draw(svg_picture *p) {
    buf *b = p->out;
    bool has_steps = p->t->step.n > 1;
    buf_printf(b,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
               "viewBox=\"0 0 %u %u\" role=\"img\">\n<title>",
               p->width_px, p->height_px + LEGEND_PX, p->width_px, p->height_px + LEGEND_PX);
    svg_add_escaped(b, p->o->title);
    buf_add_cstr(b, "</title>\n");
    svg_add_style(b);
    buf_printf(b, "<rect class=\"surface\" width=\"%u\" height=\"%u\"/>\n", p->width_px,
               p->height_px + LEGEND_PX);
    svg_add_head(p);
    svg_add_ruler(p);
    if (has_steps) {
        buf_printf(b, "<text class=\"t1\" x=\"12\" y=\"%d\">%s</text>\n",
                   HEAD_PX + RULER_PX + 14, text_get(MSG_PICTURE_STEPS, p->o->words));
        svg_add_steps(p, HEAD_PX + RULER_PX);
        buf_printf(b, "<rect class=\"line\" y=\"%d\" width=\"%u\" height=\"1\"/>\n",
                   HEAD_PX + RULER_PX + STEPS_PX - 1, p->width_px);
    }
    for (uint32_t i = 0; i < p->n_lanes; i++) {
        svg_add_gutter(p, &p->lanes[i]);
        if (p->lanes[i].counter != UINT32_MAX) svg_add_counter(p, &p->lanes[i]);
        svg_add_boxes(p, &p->lanes[i]);
    }
    svg_add_legend(p, p->height_px);
    buf_add_cstr(b, "</svg>\n");
}

static void end_picture(svg_picture *p) {
    for (uint32_t i = 0; i < N_FILLS * N_TINTS * N_LEVELS; i++) buf_fini(&p->paths[i]);
    buf_fini(&p->scratch);
}

/* One attempt, with 1/2^halvings of the boxes and rows. */
static status attempt(svg_picture *p, size_t max_bytes, int halvings, error *err) {
    viewport_lane *ids;
    TRY(choose_lanes(p, &ids, err));
    size_t bytes = max_bytes / BOX_BYTES_OF_SVG >> halvings;
    viewport_question q = {.from_ns = p->o->from_ns,
                           .to_ns = p->o->to_ns,
                           .width_px = p->plot_px,
                           .lanes = ids,
                           .n_lanes = p->n_lanes,
                           .max_bytes = bytes > 8192 ? sat_u32(bytes) : 8192};
    TRY(viewport_make(p->l, &q, p->arena, &p->v, err));
    keep_filled(p);
    svg_place_lanes(p, MOST_ROWS >> halvings);
    draw(p);
    if (!buf_ok(p->out) || p->scratch.failed) FAIL_MEMORY(err);
    return OK;
}

static void tell_facts(const svg_picture *p, timeline_svg_facts *facts) {
    *facts = (timeline_svg_facts){.width_px = p->width_px,
                                  .height_px = p->height_px + LEGEND_PX,
                                  .n_tracks = p->n_lanes,
                                  .n_left_out = p->n_left_out,
                                  .n_boxes = p->v.n_boxes,
                                  .bucket_ns = (int64_t)1 << p->v.shift};
}

static uint32_t width_of(const timeline_svg_options *o) {
    uint32_t asked = o->width_px ? o->width_px : TIMELINE_SVG_PX;
    if (asked < TIMELINE_SVG_LEAST_PX) return TIMELINE_SVG_LEAST_PX;
    return asked > TIMELINE_SVG_MOST_PX ? TIMELINE_SVG_MOST_PX : asked;
}

status timeline_svg(const lod *l, const timeline_svg_options *o, buf *out,
                    timeline_svg_facts *facts, error *err) {
    size_t before = out->n, max_bytes = o->max_bytes ? o->max_bytes : TIMELINE_SVG_BYTES;
    status s = OK;
    if (max_bytes < LEAST_BYTES) max_bytes = LEAST_BYTES;
    for (int i = 0; i < TRIES; i++) {
        arena a;
        svg_picture p = {
            .l = l, .t = l->t, .o = o, .arena = &a, .out = out, .width_px = width_of(o)};
        p.least_titled_px = 12u << i;
        p.plot_px = p.width_px - GUTTER_PX - RIGHT_PX;
        out->n = before;
        arena_init(&a, 0);
        s = attempt(&p, max_bytes, i, err);
        tell_facts(&p, facts);
        end_picture(&p);
        arena_fini(&a);
        if (s != OK || out->n - before <= max_bytes) break;
    }
    return s;
}

/* ---- as a form --------------------------------------------------------------------------- */

static status draw_form(export_ctx *x, const lod *l, const picture_options *how) {
    const trace *t = x->t;
    time_window w = window_closed((time_window){x->from_ns, x->to_ns},
                                  (time_window){t->start_ns, t->end_ns});
    timeline_svg_facts facts;
    timeline_svg_options o = {.words = how->words,
                              .title = how->title,
                              .width_px = how->width_px,
                              .from_ns = max_i64(w.from_ns, t->start_ns),
                              .to_ns = min_i64(w.to_ns, t->end_ns)};
    if (o.from_ns >= o.to_ns) FAIL0(x->err, ERR_ARG, NOPOS, MSG_PICTURE_EMPTY);
    return timeline_svg(l, &o, &x->out, &facts, x->err);
}

status export_svg(export_ctx *x) {
    static const picture_options plain = {.words = LANG_EN};
    const picture_options *how = x->picture ? x->picture : &plain;
    lod *made = NULL;
    if (!how->lod) TRY(lod_new(x->t, NULL, &made, x->err));
    status s = draw_form(x, how->lod ? how->lod : made, how);
    lod_free(made);
    return s;
}
