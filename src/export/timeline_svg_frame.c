/* timeline_svg_frame.c: what is around the lanes: title, times, names, legend. */
#include <math.h>
#include <stdio.h>

#include "analyse/kind_names.h"
#include "base/fmt.h"
#include "base/message_ids_columns.h"
#include "base/num.h"
#include "export/svg_text.h"
#include "export/timeline_svg_int.h"

#define FONT_PX 11.0
enum { TICKS_APART_PX = 112, NAME_LEFT_PX = 12, FACT_PX = 64 };

static void begin_text(buf *b, const char *classes, double x, double y) {
    buf_printf(b, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", classes, x, y);
}

/* ---- times ------------------------------------------------------------------------------- */

/* A time in the unit of the largest one shown, with the digits that steps of this size need. */
static void add_time(buf *b, int64_t time_ns, double step_ns, int64_t largest_ns) {
    static const struct {
        double ns;
        int digits;
        const char *name;
    } units[] = {{1e9, 9, "s"}, {1e6, 6, "ms"}, {1e3, 3, "\xC2\xB5s"}, {1, 0, "ns"}};
    size_t u = 0;
    while (u < 3 && (double)largest_ns < units[u].ns) u++;
    int digits = units[u].digits - (int)floor(log10(step_ns) + 1e-9);
    digits = digits < 0 ? 0 : digits > units[u].digits ? units[u].digits : digits;
    buf_printf(b, "%.*f %s", digits, (double)time_ns / units[u].ns, units[u].name);
}

/* Steps of 1, 2, 5 × 10ⁿ, at least so far apart. */
static double tick_ns(const svg_picture *p) {
    double least = (double)sub_i64(p->v.to_ns, p->v.from_ns) / p->plot_px * TICKS_APART_PX;
    double ten = pow(10, floor(log10(least)));
    double step = ten >= least * 0.999       ? ten
                  : 2 * ten >= least * 0.999 ? 2 * ten
                  : 5 * ten >= least * 0.999 ? 5 * ten
                                             : 10 * ten;
    return step < 1 ? 1 : step;
}

void svg_add_ruler(svg_picture *p) {
    buf *b = p->out;
    double step = tick_ns(p);
    int64_t zero = p->t->start_ns;
    int64_t from = sub_i64(p->v.from_ns, zero), to = sub_i64(p->v.to_ns, zero);
    double first = ceil((double)from / step) * step;
    buf_printf(b, "<rect class=\"line_strong\" y=\"%d\" width=\"%u\" height=\"1\"/>\n",
               HEAD_PX + RULER_PX - 1, p->width_px);
    for (double at = first; at < (double)to; at += step) {
        double x = svg_x(p, add_i64(zero, real_i64(at)));
        buf_printf(b, "<rect class=\"line\" x=\"%.1f\" y=\"%d\" width=\"1\" height=\"%u\"/>", x,
                   HEAD_PX + RULER_PX, p->height_px - HEAD_PX - RULER_PX);
        if (x > GUTTER_PX + p->plot_px - 50) continue; /* its words would be cut */
        begin_text(b, "t3", x + 4, HEAD_PX + 15);
        add_time(b, real_i64(at), step, to);
        buf_add_cstr(b, "</text>\n");
    }
}

static void add_window(buf *b, const trace *t, const timeline_svg_options *o) {
    int64_t first = 0, last = 0, to = sub_i64(o->to_ns, t->start_ns);
    int64_t length = sub_i64(o->to_ns, o->from_ns);
    bool has_steps = svg_steps_shown(t, o->from_ns, o->to_ns, &first, &last);
    buf from_text = {0}, to_text = {0};
    double digit = (double)length / 1000 < 1 ? 1 : (double)length / 1000;
    add_time(&from_text, sub_i64(o->from_ns, t->start_ns), digit, to);
    add_time(&to_text, to, digit, to);
    arg args[] = {arg_text("from", buf_str(&from_text)),
                  arg_text("to", buf_str(&to_text)),
                  arg_time("length", length),
                  arg_time("whole", sub_i64(t->end_ns, t->start_ns)),
                  arg_id("first", first),
                  arg_id("last", last)};
    uint16_t words = !has_steps      ? MSG_PICTURE_WINDOW
                     : first == last ? MSG_PICTURE_WINDOW_STEP
                                     : MSG_PICTURE_WINDOW_STEPS;
    text_format(b, o->words, words, args, 6);
    b->failed |= from_text.failed || to_text.failed;
    buf_fini(&from_text);
    buf_fini(&to_text);
}

void svg_add_head(svg_picture *p) {
    buf *b = p->out, words = {0};
    double ems = (p->width_px - 2 * NAME_LEFT_PX) / 14.5;
    begin_text(b, "t1 big", NAME_LEFT_PX, 22);
    svg_add_fitting(b, p->o->title, ems);
    buf_add_cstr(b, "</text>\n");
    begin_text(b, "t2", NAME_LEFT_PX, 40);
    add_window(&words, p->t, p->o);
    svg_add_fitting(b, buf_str(&words), ems * 14.5 / FONT_PX);
    buf_add_cstr(b, "</text>\n");
    b->failed |= words.failed;
    buf_fini(&words);
}

/* ---- names ------------------------------------------------------------------------------- */

static void put_number(buf *b, const svg_picture *p, uint16_t message, const timeline_lane *l) {
    if (l->number != ABSENT_I64)
        text_put(b, p->o->words, message, arg_id("number", l->number));
    else
        buf_add_str(b, l->name);
}

static void put_device(buf *b, const svg_picture *p, uint16_t message) {
    text_put(b, p->o->words, message, arg_text("device", device_word_of_work(p->t)));
}

/* What the producer calls a thread, where it says more than the number. */
static bool names_thread(const timeline_lane *l) {
    return l->name.n && l->number != ABSENT_I64 && !str_starts(l->name, STR("thread "));
}

static bool lane_is(const timeline_lane *l, const char *kind) {
    return strcmp(l->kind, kind) == 0;
}

static void put_lane_name(buf *b, const svg_picture *p, const timeline_lane *l) {
    lang words = p->o->words;
    if (lane_is(l, "stream")) {
        put_number(b, p, MSG_PICTURE_STREAM, l);
    } else if (lane_is(l, "work")) {
        put_number(b, p, MSG_PICTURE_THREAD, l);
        if (names_thread(l)) buf_printf(b, " %.*s", STR_ARG(l->name));
    } else if (lane_is(l, "ranges")) {
        buf_add_cstr(b, text_get(MSG_PICTURE_RANGES, words));
    } else if (lane_is(l, "calls")) {
        buf_add_cstr(b, text_get(MSG_PICTURE_RUNTIME, words));
    } else if (lane_is(l, "instants")) {
        buf_add_cstr(b, text_get(MSG_PICTURE_INSTANTS, words));
    } else if (lane_is(l, "utilization")) {
        put_device(b, p, MSG_PICTURE_UTILIZATION);
    } else if (lane_is(l, "memory") && l->side && strcmp(l->side, "host") == 0) {
        buf_add_cstr(b, text_get(MSG_PICTURE_HOST_MEMORY, words));
    } else if (lane_is(l, "memory")) {
        put_device(b, p, MSG_PICTURE_MEMORY);
    } else {
        buf_add_str(b, l->name);
    }
    if (lane_is(l, "stream") && l->role && strcmp(l->role, "communication") == 0)
        buf_printf(b, " \xC2\xB7 %s", text_get(MSG_PICTURE_COMMUNICATION, words));
}

/* The largest value of a counter: what the full height stands for. */
static void put_fact(buf *b, const timeline_lane *l) {
    if (isnan(l->max)) return;
    if (l->unit && strcmp(l->unit, "share") == 0)
        fmt_share(b, 1);
    else if (l->unit && strcmp(l->unit, "bytes") == 0)
        fmt_bytes(b, real_i64(l->max));
    else
        fmt_real(b, l->max);
}

static void add_group(svg_picture *p, const timeline_group *g, uint32_t y_px) {
    buf *b = p->out, name = {0};
    bool has_pid = !g->is_device && g->pid.n && g->pid.p[0] != '-';
    buf_printf(b, "<rect class=\"page\" y=\"%u\" width=\"%u\" height=\"%d\"/>", y_px,
               p->width_px, GROUP_PX);
    if (g->name.n)
        buf_add_str(&name, g->name);
    else if (!has_pid)
        buf_add_cstr(&name, text_get(MSG_PICTURE_NO_PROCESS, p->o->words));
    if (g->detail.n) buf_printf(&name, " \xC2\xB7 %.*s", STR_ARG(g->detail));
    if (has_pid) buf_printf(&name, "%spid %.*s", name.n ? " \xC2\xB7 " : "", STR_ARG(g->pid));
    begin_text(b, "t1 strong", NAME_LEFT_PX, y_px + 15);
    svg_add_fitting(b, buf_str(&name), (p->width_px - 2 * NAME_LEFT_PX) / (FONT_PX + 0.7));
    buf_add_cstr(b, "</text>\n");
    b->failed |= name.failed;
    buf_fini(&name);
}

void svg_add_gutter(svg_picture *p, const svg_lane *n) {
    buf *b = p->out, words = {0};
    uint32_t indent = n->lane->group ? 12 : 0;
    if (n->head) add_group(p, n->head, n->y_px - GROUP_PX);
    if (lane_is(n->lane, "calls") || lane_is(n->lane, "instants")) indent += 12;
    double middle = n->y_px + (n->height_px < 26 ? n->height_px / 2.0 : 11) + 4;
    buf_printf(b, "<rect class=\"line\" y=\"%u\" width=\"%u\" height=\"1\"/>",
               n->y_px + n->height_px - 1, p->width_px);
    put_fact(&words, n->lane);
    uint32_t fact_px = words.n ? FACT_PX : 0;
    if (fact_px) {
        begin_text(b, "t3 end", GUTTER_PX - 10, middle);
        buf_add_str(b, buf_str(&words));
        buf_add_cstr(b, "</text>");
    }
    buf_clear(&words);
    put_lane_name(&words, p, n->lane);
    begin_text(b, indent > 12 ? "t3" : "t1", NAME_LEFT_PX + indent, middle);
    svg_add_fitting(b, buf_str(&words),
                    (GUTTER_PX - 20.0 - NAME_LEFT_PX - indent - fact_px) / FONT_PX);
    buf_add_cstr(b, "</text>\n");
    b->failed |= words.failed;
    buf_fini(&words);
}

/* ---- legend ------------------------------------------------------------------------------ */

void svg_add_legend(svg_picture *p, uint32_t y_px) {
    buf *b = p->out, words = {0};
    double x = NAME_LEFT_PX;
    for (int f = 0; f < N_FILLS; f++) {
        const char *word = text_get(svg_fill_word((svg_fill)f), p->o->words);
        if (!p->used[f]) continue;
        buf_printf(b, "<rect class=\"f%d\" x=\"%.1f\" y=\"%u\" width=\"10\" height=\"10\"/>", f,
                   x, y_px + 9);
        begin_text(b, "t2", x + 15, y_px + 18);
        svg_add_escaped(b, str_of(word));
        buf_add_cstr(b, "</text>\n");
        x += 15 + svg_text_ems(str_of(word)) * FONT_PX + 16;
    }
    if (p->n_left_out)
        text_put(&words, p->o->words, MSG_PICTURE_LEFT_OUT, arg_int("count", p->n_left_out));
    if (words.n && x + svg_text_ems(buf_str(&words)) * FONT_PX < p->width_px) {
        begin_text(b, "t3 end", p->width_px - RIGHT_PX, y_px + 18);
        svg_add_escaped(b, buf_str(&words));
        buf_add_cstr(b, "</text>\n");
    }
    b->failed |= words.failed;
    buf_fini(&words);
}

void timeline_svg_describe(buf *out, const trace *t, const timeline_svg_options *o,
                           const timeline_svg_facts *facts) {
    add_window(out, t, o);
    buf_add_cstr(out, ". ");
    text_put(out, o->words, MSG_PICTURE_CONTENTS, arg_int("tracks", facts->n_tracks),
             arg_int("boxes", facts->n_boxes), arg_time("bucket", facts->bucket_ns));
    if (!facts->n_left_out) return;
    buf_add_byte(out, ' ');
    text_put(out, o->words, MSG_PICTURE_LEFT_OUT, arg_int("count", facts->n_left_out));
}
