/* chart.c: a table of a value over time as curves for a terminal, one or two lines each.
 *
 *   GPU0      ▁▃▅▇█▇▅▃▁▁▃▅▇█▇▅▃▁    895 MiB      the largest value is at the right
 *         ▂▄▆████████████████████▆▄
 *         0 ns                 280 ms
 *
 * A value holds until the next one. Each cell shows the largest value in its part of x: a peak
 * that lasted an instant is the one thing that must not be lost. Every curve has its own scale
 * from 0. Without block characters a curve is one line of letters, darker for more. */
#include <math.h>

#include "base/num.h"
#include "present/bar.h"
#include "present/present_int.h"
#include "present/width.h"

#define GAP 2
#define MOST_LABEL 20 /* cells for the name of a curve */
#define LEAST_PLOT 8

typedef struct {
    const table *t;
    const chart_axes *axes;
    const present_options *o;
    str *names; /* of the curves, in the order they come up */
    size_t *top_row;
    size_t n, cells, label;
    double *values;     /* cells of each curve */
    double first, last; /* of x */
} chart;

static bool number_at(const table *t, uint32_t col, size_t row, double *out) {
    const column *c = &t->columns[col];
    if (cell_is_null(c, row) || (c->type != TYPE_INT && c->type != TYPE_REAL)) return false;
    *out = c->type == TYPE_INT ? (double)c->v.i[row] : c->v.d[row];
    return isfinite(*out);
}

static str name_at(const chart *c, size_t row) {
    if (c->axes->by == NO_COLUMN)
        return str_of(text_header(c->t->columns[c->axes->y].name, c->o->lang));
    const column *by = &c->t->columns[c->axes->by];
    if (cell_is_null(by, row)) return STR("-");
    return c->o->terminal ? text_value_word(by->name, by->v.s[row], c->o->lang) : by->v.s[row];
}

/* The curve this row belongs to; SIZE_MAX when there is no room for one more. */
static size_t curve_of(chart *c, size_t row) {
    str name = name_at(c, row);
    for (size_t i = 0; i < c->n; i++)
        if (str_eq(c->names[i], name)) return i;
    if (c->n == c->axes->curves) return SIZE_MAX;
    c->names[c->n] = name;
    c->top_row[c->n] = SIZE_MAX;
    return c->n++;
}

/* Finds the curves, the range of x and where each curve is highest. */
static bool survey(chart *c) {
    double x, y, best;
    bool any = false;
    for (size_t row = 0; row < c->t->n_rows; row++) {
        if (!number_at(c->t, c->axes->x, row, &x) || !number_at(c->t, c->axes->y, row, &y))
            continue;
        size_t i = curve_of(c, row);
        if (i == SIZE_MAX) continue;
        if (c->top_row[i] == SIZE_MAX ||
            (number_at(c->t, c->axes->y, c->top_row[i], &best) && y > best))
            c->top_row[i] = row;
        if (!any || x < c->first) c->first = x;
        if (!any || x > c->last) c->last = x;
        any = true;
    }
    return any;
}

static void put_top_value(const chart *c, size_t i, buf *out) {
    cell_put(out, &c->t->columns[c->axes->y], c->top_row[i], c->o->lang);
}

/* Cells for the plot: what names and values leave of the line. */
static void measure(chart *c) {
    size_t value = 0, width = c->o->width ? c->o->width : 120;
    for (size_t i = 0; i < c->n; i++) {
        buf text = {0};
        put_top_value(c, i, &text);
        size_t name = width_of(c->names[i]), w = width_of(buf_str(&text));
        if (name > c->label) c->label = name < MOST_LABEL ? name : MOST_LABEL;
        if (w > value) value = w;
        buf_fini(&text);
    }
    size_t used = c->label + value + 2 * GAP;
    c->cells = width > used + LEAST_PLOT ? width - used : LEAST_PLOT;
}

static void fill(chart *c) {
    double x, y, span = c->last - c->first;
    for (size_t i = 0; i < c->n * c->cells; i++) c->values[i] = NAN;
    for (size_t row = 0; row < c->t->n_rows; row++) {
        if (!number_at(c->t, c->axes->x, row, &x) || !number_at(c->t, c->axes->y, row, &y))
            continue;
        size_t i = curve_of(c, row);
        if (i == SIZE_MAX) continue;
        double part = span > 0 ? (x - c->first) / span : 0;
        size_t at = (size_t)(part * (double)(c->cells - 1) + 0.5);
        double *v = &c->values[i * c->cells + at];
        if (isnan(*v) || y > *v) *v = y;
    }
    for (size_t i = 0; i < c->n; i++)
        for (size_t at = 1; at < c->cells; at++) {
            double *v = &c->values[i * c->cells + at];
            if (isnan(*v)) *v = v[-1];
        }
}

/* One line of a curve of `height` lines, the top one first. */
static void put_curve_line(const chart *c, size_t i, size_t line, size_t height, buf *out) {
    double most = 0;
    (void)number_at(c->t, c->axes->y, c->top_row[i], &most);
    for (size_t at = 0; at < c->cells; at++) {
        double v = c->values[i * c->cells + at];
        double full = most > 0 && v > 0 ? v / most * (double)(height * BAR_LEVELS) : 0;
        double below = (double)((height - 1 - line) * BAR_LEVELS);
        double level = v > 0 && full < 1 ? 1 : full;
        level = level > below ? level - below : 0;
        bar_put_level(out, level >= BAR_LEVELS ? BAR_LEVELS : (unsigned)lround(level),
                      c->o->utf8);
    }
}

static void put_curve(const chart *c, size_t i, size_t height, buf *out) {
    for (size_t line = 0; line < height; line++) {
        size_t used = line == 0 ? width_put_short(out, c->names[i], c->label) : 0;
        buf_add_repeat(out, ' ', c->label - used + GAP);
        color_begin(out, c->o, SGR_BAR);
        put_curve_line(c, i, line, height, out);
        color_end(out, c->o);
        if (line == 0) {
            buf_add_repeat(out, ' ', GAP);
            put_top_value(c, i, out);
        }
        buf_add_byte(out, '\n');
    }
}

/* An end of x: a time, or "step 3". */
static void put_end(const chart *c, double x, buf *out) {
    const column *col = &c->t->columns[c->axes->x];
    int64_t whole = real_i64(x);
    column end = {.type = TYPE_INT, .unit = col->unit, .v.i = &whole};
    if (col->unit == UNIT_NONE) {
        buf_add_cstr(out, text_header(col->name, c->o->lang));
        buf_add_byte(out, ' ');
    }
    cell_put(out, &end, 0, c->o->lang);
}

static void put_axis(const chart *c, buf *out) {
    buf left = {0}, right = {0};
    put_end(c, c->first, &left);
    put_end(c, c->last, &right);
    size_t used = width_of(buf_str(&left)) + width_of(buf_str(&right));
    color_begin(out, c->o, SGR_DIM);
    buf_add_repeat(out, ' ', c->label + GAP);
    buf_add_str(out, buf_str(&left));
    buf_add_repeat(out, ' ', c->cells > used ? c->cells - used : 1);
    buf_add_str(out, buf_str(&right));
    color_end(out, c->o);
    buf_add_byte(out, '\n');
    if (!buf_ok(&left) || !buf_ok(&right)) out->failed = true;
    buf_fini(&left);
    buf_fini(&right);
}

status chart_put(const table *t, const chart_axes *axes, const present_options *o, buf *out,
                 error *err) {
    enum { TALL_CURVES = 3 }; /* so many may have two lines each */
    arena scratch;
    arena_init(&scratch, 0);
    chart c = {.t = t, .axes = axes, .o = o};
    c.names = ARENA_ARRAY(&scratch, str, axes->curves + 1);
    c.top_row = ARENA_ARRAY(&scratch, size_t, axes->curves + 1);
    bool any = c.names && c.top_row && survey(&c), room = c.names && c.top_row;
    if (any) {
        measure(&c);
        c.values = ARENA_ARRAY(&scratch, double, c.n *c.cells);
        room = c.values != NULL;
    }
    if (any && room) {
        fill(&c);
        size_t height = o->utf8 && c.n <= TALL_CURVES ? 2 : 1;
        for (size_t i = 0; i < c.n; i++) put_curve(&c, i, height, out);
        put_axis(&c, out);
    }
    arena_fini(&scratch);
    if (!room) FAIL_MEMORY(err);
    return OK;
}
