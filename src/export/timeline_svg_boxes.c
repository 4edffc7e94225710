/* timeline_svg_boxes.c: what happens in a lane: boxes, a counter's curve, the steps.
 *
 * A box that is wide enough to point at is an element with a title, and with its name where
 * that fits. The others of a lane are one path for each color: a third of the bytes, and a
 * viewer draws them at once. */
#include "analyse/kind_names.h"
#include "base/fmt.h"
#include "base/message_ids_columns.h"
#include "base/num.h"
#include "export/svg_text.h"
#include "export/timeline_svg_int.h"

#define FONT_PX 11.0
#define LEAST_LABEL_PX 14.0
enum { LABEL_INSIDE_PX = 4, LEAST_LABEL_HEIGHT_PX = 14 };

/* ---- names ------------------------------------------------------------------------------- */

static str without_prefixes(str s) {
    static const char *const prefixes[] = {
        "aten::", "autograd::engine::evaluate_function:", "void "};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (str_starts(s, str_of(prefixes[i]))) s = str_trim(str_from(s, strlen(prefixes[i])));
    return s;
}

/* A name without what many names share: prefixes, namespaces before its own. */
static str short_name(uint8_t kind, str name) {
    str s = without_prefixes(kind == KIND_KERNEL ? kernel_short_name(name) : name);
    size_t head = 0, own = 0;
    while (head < s.n && s.p[head] != '<' && s.p[head] != '(') head++;
    for (size_t i = 0; i + 1 < head; i++)
        if (s.p[i] == ':' && s.p[i + 1] == ':') own = i + 2;
    s = str_from(s, own < s.n ? own : 0);
    return s.n ? s : name;
}

static str name_of(const viewport *v, uint32_t box) {
    uint32_t i = v->name[box];
    return str_n(v->name_text + v->name_at[i], v->name_at[i + 1] - v->name_at[i]);
}

/* ---- boxes ------------------------------------------------------------------------------- */

typedef struct {
    double x, width;
    uint32_t y, height;
    svg_fill fill;
    uint32_t tint, level;
} shape;

static void add_piece(svg_picture *p, const shape *s) {
    buf *b = &p->paths[(s->fill * N_TINTS + s->tint) * N_LEVELS + s->level];
    buf_printf(b, "M%.1f %uh%.1fv%uh-%.1fz", s->x, s->y, s->width, s->height, s->width);
}

static void add_class(buf *b, const shape *s) {
    buf_printf(b, "class=\"f%d", (int)s->fill);
    if (s->tint) buf_printf(b, " m%u", s->tint);
    if (s->level < N_LEVELS - 1) buf_printf(b, " s%u", s->level);
    buf_add_byte(b, '"');
}

/* "aten::mm · 1.2 ms", or how many events a box stands for. */
static void add_title(svg_picture *p, uint32_t box) {
    const viewport *v = &p->v;
    buf *b = p->out;
    buf_add_cstr(b, "<title>");
    svg_add_escaped(b, name_of(v, box));
    buf_add_cstr(b, " \xC2\xB7 ");
    fmt_duration(b, real_i64(v->time[box]));
    if (v->count[box] > 1) {
        buf_add_cstr(b, " \xC2\xB7 ");
        text_put(b, p->o->words, MSG_PICTURE_EVENTS, arg_int("count", v->count[box]));
    }
    buf_add_cstr(b, "</title>");
}

static void add_label(svg_picture *p, const shape *s, str name) {
    buf *b = &p->scratch;
    buf_clear(b);
    if (s->width < LEAST_LABEL_PX || s->height < LEAST_LABEL_HEIGHT_PX) return;
    if (!svg_add_fitting(b, name, (s->width - 2 * LABEL_INSIDE_PX) / FONT_PX)) return;
    buf_printf(p->out, "<text class=\"i%d%u\" x=\"%.1f\" y=\"%.1f\">", (int)s->fill, s->tint,
               s->x + LABEL_INSIDE_PX, s->y + s->height / 2.0 + 4);
    buf_add_str(p->out, buf_str(b));
    buf_add_cstr(p->out, "</text>");
}

static void add_element(svg_picture *p, const shape *s, uint32_t box) {
    buf *b = p->out;
    buf_add_cstr(b, "<g>");
    add_title(p, box);
    buf_add_cstr(b, "<rect ");
    add_class(b, s);
    buf_printf(b, " x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%u\"/>", s->x, s->y, s->width,
               s->height);
    uint8_t kind = p->v.name_kind[p->v.name[box]];
    if (p->v.count[box] == 1) add_label(p, s, short_name(kind, name_of(&p->v, box)));
    buf_add_cstr(b, "</g>\n");
}

/* How much of a box of several slices is busy. */
static uint32_t level_of(const svg_picture *p, uint32_t box, double length_ns) {
    double pixel_ns = (double)sub_i64(p->v.to_ns, p->v.from_ns) / p->plot_px;
    if (p->v.count[box] <= 1 && length_ns >= pixel_ns) return N_LEVELS - 1;
    double share = p->v.time[box] / (length_ns > pixel_ns ? length_ns : pixel_ns);
    return share >= 1 ? N_LEVELS - 1 : (uint32_t)(share * (N_LEVELS - 1) + 0.5);
}

static void add_box(svg_picture *p, const svg_lane *n, uint32_t row, uint32_t box) {
    const viewport *v = &p->v;
    double unit_ns = (double)((int64_t)1 << v->unit_shift);
    double scale = p->plot_px * unit_ns / (double)sub_i64(v->to_ns, v->from_ns);
    double from = v->start[box] * scale, to = v->end[box] * scale;
    uint8_t kind = v->name_kind[v->name[box]];
    str name = name_of(v, box);
    shape s = {.x = GUTTER_PX + from,
               .y = n->y_px + svg_row_top(n, row),
               .height = svg_row_height(n, row),
               .fill = svg_fill_of(kind, name),
               .tint = svg_tint_of(kind, name),
               .level = level_of(p, box, (v->end[box] - v->start[box]) * unit_ns)};
    s.width = to - from > 3 ? to - from - 1 : to - from; /* a gap between boxes that show one */
    if (s.width < 1) s.width = 1;
    p->used[s.fill] = true;
    if (s.width >= p->least_titled_px && s.height >= 5)
        add_element(p, &s, box);
    else
        add_piece(p, &s);
}

static void end_paths(svg_picture *p) {
    for (uint32_t i = 0; i < N_FILLS * N_TINTS * N_LEVELS; i++) {
        buf *b = &p->paths[i];
        shape s = {.fill = (svg_fill)(i / (N_TINTS * N_LEVELS)),
                   .tint = i / N_LEVELS % N_TINTS,
                   .level = i % N_LEVELS};
        p->out->failed |= b->failed;
        if (!b->n) continue;
        buf_add_cstr(p->out, "<path ");
        add_class(p->out, &s);
        buf_add_cstr(p->out, " d=\"");
        buf_add_str(p->out, buf_str(b));
        buf_add_cstr(p->out, "\"/>\n");
        buf_clear(b);
    }
}

void svg_add_boxes(svg_picture *p, const svg_lane *n) {
    for (uint32_t r = n->first_run; r < n->end_run; r++) {
        if (p->v.run_row[r] >= n->n_rows) continue;
        for (uint32_t i = p->v.run_first[r]; i < p->v.run_first[r + 1]; i++)
            add_box(p, n, p->v.run_row[r], i);
    }
    end_paths(p);
}

/* ---- counters ---------------------------------------------------------------------------- */

void svg_add_counter(svg_picture *p, const svg_lane *n) {
    const viewport *v = &p->v;
    uint32_t first = v->counter_first[n->counter], end = v->counter_first[n->counter + 1];
    double unit_ns = (double)((int64_t)1 << v->unit_shift);
    double scale = p->plot_px * unit_ns / (double)sub_i64(v->to_ns, v->from_ns);
    double most = n->lane->max > 0 ? n->lane->max : 1, room = n->height_px - 6.0;
    uint32_t floor_px = n->y_px + n->height_px - 2;
    buf *b = p->out;
    if (first == end) return;
    buf_printf(b, "<path class=\"f%d s0\" d=\"M%.1f %u", FILL_kernel,
               GUTTER_PX + v->point_time[first] * scale, floor_px);
    for (uint32_t i = first; i < end; i++) {
        double share = v->point_max[i] > 0 ? v->point_max[i] / most : 0;
        buf_printf(b, "H%.1fV%.1f", GUTTER_PX + v->point_time[i] * scale,
                   floor_px - (share < 1 ? share : 1) * room);
    }
    buf_printf(b, "H%uV%uz\"/>\n", GUTTER_PX + p->plot_px, floor_px);
}

/* ---- steps ------------------------------------------------------------------------------- */

static void add_step(svg_picture *p, uint32_t step, double x, double width, uint32_t y_px) {
    buf *b = p->out;
    buf label = {0};
    shape s = {.x = x,
               .width = width > 3 ? width - 1 : width,
               .y = y_px + 2,
               .height = 16,
               .fill = FILL_track,
               .level = N_LEVELS - 1};
    text_put(&label, p->o->words, MSG_PICTURE_STEP, arg_id("step", p->t->step.number[step]));
    buf_printf(b, "<g><title>%.*s \xC2\xB7 ", STR_ARG(buf_str(&label)));
    fmt_duration(b, sub_i64(p->t->step.end[step], p->t->step.start[step]));
    buf_printf(b,
               "</title><rect class=\"f%d\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"16\"/>",
               FILL_track, s.x, s.y, s.width);
    if ((s.width - 2 * LABEL_INSIDE_PX) / FONT_PX < svg_text_ems(buf_str(&label))) {
        buf_clear(&label); /* the number alone */
        buf_add_i64(&label, p->t->step.number[step]);
    }
    add_label(p, &s, buf_str(&label));
    buf_add_cstr(b, "</g>\n");
    b->failed |= label.failed;
    buf_fini(&label);
}

void svg_add_steps(svg_picture *p, uint32_t y_px) {
    const trace *t = p->t;
    double drawn = 0; /* end of the last one, so that thousands cost what the pixels do */
    for (uint32_t i = 1; i < t->step.n; i++) {
        int64_t from = max_i64(t->step.start[i], p->v.from_ns);
        int64_t to = min_i64(t->step.end[i], p->v.to_ns);
        if (from >= to) continue;
        double x = svg_x(p, from), end = svg_x(p, to);
        if (end < drawn + 1) continue;
        add_step(p, i, x, end - x < 1 ? 1 : end - x, y_px);
        drawn = end;
    }
}

bool svg_steps_shown(const trace *t, int64_t from_ns, int64_t to_ns, int64_t *first,
                     int64_t *last) {
    bool any = false;
    for (uint32_t i = 1; i < t->step.n; i++) {
        if (t->step.start[i] >= to_ns || t->step.end[i] <= from_ns) continue;
        *first = any ? min_i64(*first, t->step.number[i]) : t->step.number[i];
        *last = any ? max_i64(*last, t->step.number[i]) : t->step.number[i];
        any = true;
    }
    return any;
}
