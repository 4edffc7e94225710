/* top_text.c: the answer of `top` as MegEngine's profile_analyze prints it, so that people and
 * scripts find what they know: a summary, and a grid with nine columns whose cells have several
 * lines.
 *
 *     ╒════════════════════╤══════════════╕      a column is as wide as its widest line, or its
 *     │ device self time   │ cumulative   │      header and two blanks
 *     ╞════════════════════╪══════════════╡
 *     │ #0                 │ 0.0016       │
 *     │ 0.0016             │ 62.5%        │
 *
 * The wiki form is one line for each record. There a column whose cells are all numbers is
 * written with six digits, the points below each other; one other cell makes it a column of
 * texts. */
#include "compat/top_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fmt.h"
#include "base/json.h"
#include "base/num.h"

/* ---- numbers ----------------------------------------------------------------------------- */

void top_text_digits(buf *out, double v) {
    char text[40];
    if (!isfinite(v)) {
        buf_add_cstr(out, isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
        return;
    }
    snprintf(text, sizeof text, "%.2e", v);
    char *e = strchr(text, 'e');
    int exponent = atoi(e + 1);
    if (v != 0 && (exponent < -4 || exponent >= 2)) {
        char *end = e; /* 1.20e+02 → 1.2e+02 */
        while (end[-1] == '0') end--;
        if (end[-1] == '.') end--;
        buf_add(out, text, (size_t)(end - text));
        buf_add_cstr(out, e);
        return;
    }
    snprintf(text, sizeof text, "%.3g", v);
    buf_add_cstr(out, text);
    if (!strchr(text, '.') && !strchr(text, 'e')) buf_add_cstr(out, ".0");
}

/* Value with two decimals and, on a separate line, its unit. */
static void add_scaled(buf *out, double v, double base, const char *const *units) {
    size_t at = 0;
    if (isnan(v)) {
        buf_printf(out, "N/A\n%s", units[0]);
        return;
    }
    while (isfinite(v) && v >= base && units[at + 1]) {
        v /= base;
        at++;
    }
    if (isfinite(v))
        buf_printf(out, "%.2f\n%s", v, units[at]);
    else
        buf_printf(out, "inf\n%s", units[0]);
}

static const char *const FLO[] = {"FLO", "KFLO", "MFLO", "GFLO", "TFLO", "PFLO", NULL};
static const char *const FLOPS[] = {"FLOPS",  "KFLOPS", "MFLOPS", "GFLOPS",
                                    "TFLOPS", "PFLOPS", NULL};
static const char *const BYTES[] = {"byte", "KiB", "MiB", "GiB", "TiB", "PiB", NULL};
static const char *const RATES[] = {"byte/s", "KiB/s", "MiB/s", "GiB/s",
                                    "TiB/s",  "PiB/s", NULL};

static void add_percent(buf *out, double part, double whole) {
    double share = whole != 0 ? part / whole * 100 : NAN;
    if (isfinite(share))
        buf_printf(out, "%.1f%%", share);
    else
        buf_add_cstr(out, "N/A");
}

/* ---- tables ------------------------------------------------------------------------------ */

typedef struct {
    str *cells; /* row by row */
    uint32_t n_columns;
    size_t n_rows, cap_rows;
    arena *arena;
    buf cell; /* the one being written */
    bool failed;
} sheet;

static void next_cell(sheet *s) {
    size_t at = s->n_rows;
    if (at / s->n_columns == s->cap_rows) {
        size_t cap = s->cap_rows ? s->cap_rows * 2 : 64, one = s->n_columns * sizeof(str);
        str *grown = arena_grow(s->arena, s->cells, s->cap_rows * one, cap * one);
        s->failed |= !grown;
        if (!grown) return;
        s->cells = grown;
        s->cap_rows = cap;
    }
    s->cells[at] = arena_str(s->arena, buf_str(&s->cell));
    s->failed |= !s->cells[at].p || !buf_ok(&s->cell);
    s->n_rows++; /* counts cells while they are written */
    buf_clear(&s->cell);
}

static size_t rows_of(const sheet *s) {
    return s->n_rows / s->n_columns;
}

/* Characters, not bytes. */
static size_t width_of(str s) {
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

/* Takes the first line off; false when there is none left. */
static bool next_line(str *rest, str *line) {
    if (!rest->p) return false;
    *line = str_trim(str_cut(rest, STR("\n")));
    return true;
}

static size_t lines_in(str cell) {
    size_t n = 0;
    str line;
    while (next_line(&cell, &line)) n++;
    return n;
}

static size_t cell_width(str cell) {
    size_t widest = 0;
    str line;
    while (next_line(&cell, &line)) {
        size_t w = width_of(line);
        if (w > widest) widest = w;
    }
    return widest;
}

enum { MOST_COLUMNS = 20, HEADER_PADDING = 2 };

static void measure(const sheet *s, const char *const *headers, size_t *width) {
    for (uint32_t c = 0; c < s->n_columns; c++)
        width[c] = headers ? width_of(str_of(headers[c])) + HEADER_PADDING : 0;
    for (size_t i = 0; i < s->n_rows; i++) {
        size_t w = cell_width(s->cells[i]);
        if (w > width[i % s->n_columns]) width[i % s->n_columns] = w;
    }
}

/* left, fill, between and right of a rule. */
static void add_rule(buf *out, const sheet *s, const size_t *width,
                     const char *const marks[4]) {
    buf_add_cstr(out, marks[0]);
    for (uint32_t c = 0; c < s->n_columns; c++) {
        if (c) buf_add_cstr(out, marks[2]);
        for (size_t i = 0; i < width[c] + 2; i++) buf_add_cstr(out, marks[1]);
    }
    buf_add_cstr(out, marks[3]);
    buf_add_byte(out, '\n');
}

static void add_padded(buf *out, str text, size_t width) {
    size_t w = width_of(text);
    buf_add_str(out, text);
    buf_add_repeat(out, ' ', width > w ? width - w : 0);
}

/* One row of the grid: as many lines as its tallest cell. */
static void add_grid_row(buf *out, const sheet *s, const str *cells, const size_t *width) {
    str rest[MOST_COLUMNS];
    size_t height = 0;
    for (uint32_t c = 0; c < s->n_columns; c++) {
        rest[c] = cells[c];
        size_t n = lines_in(cells[c]);
        if (n > height) height = n;
    }
    for (size_t i = 0; i < height; i++) {
        for (uint32_t c = 0; c < s->n_columns; c++) {
            str line = STR("");
            (void)next_line(&rest[c], &line);
            buf_add_cstr(out, "│ ");
            add_padded(out, line, width[c]);
            buf_add_byte(out, ' ');
        }
        buf_add_cstr(out, "│\n");
    }
}

static void add_grid(buf *out, const sheet *s, const char *const *headers) {
    static const char *const top[] = {"╒", "═", "╤", "╕"},
                             *const below[] = {"╞", "═", "╪", "╡"},
                             *const between[] = {"├", "─", "┼", "┤"},
                             *const bottom[] = {"╘", "═", "╧", "╛"};
    size_t width[MOST_COLUMNS];
    str heads[MOST_COLUMNS];
    measure(s, headers, width);
    for (uint32_t c = 0; c < s->n_columns; c++) heads[c] = str_of(headers[c]);
    add_rule(out, s, width, top);
    add_grid_row(out, s, heads, width);
    add_rule(out, s, width, below);
    for (size_t r = 0; r < rows_of(s); r++) {
        if (r) add_rule(out, s, width, between);
        add_grid_row(out, s, s->cells + r * s->n_columns, width);
    }
    add_rule(out, s, width, bottom);
}

/* ---- columns of numbers ------------------------------------------------------------------ */

static bool is_numeric(const sheet *s, uint32_t c) {
    double v;
    for (size_t r = 0; r < rows_of(s); r++) {
        str cell = s->cells[r * s->n_columns + c];
        bool word = str_eq(cell, STR("inf")) || str_eq(cell, STR("nan"));
        if (!word && !str_to_f64(cell, &v)) return false;
    }
    return rows_of(s) > 0;
}

/* Digits after the point, or after the e of a number without one; -1 of a whole number. */
static int count_decimals(str s) {
    size_t at = str_rfind_byte(s, '.');
    if (at == SIZE_MAX) at = str_rfind_byte(s, 'e');
    return at == SIZE_MAX ? -1 : (int)(s.n - at - 1);
}

/* Numbers with six digits, the points below each other, flush right. */
static void align_numbers(sheet *s, uint32_t c, size_t header) {
    int most = -1;
    size_t widest = header;
    for (size_t r = 0; r < rows_of(s); r++) {
        str *cell = &s->cells[r * s->n_columns + c];
        double v = 0;
        if (str_to_f64(*cell, &v)) *cell = arena_printf(s->arena, "%.6g", v);
        s->failed |= !cell->p;
        most = count_decimals(*cell) > most ? count_decimals(*cell) : most;
    }
    for (int pass = 0; pass < 2; pass++) /* the points, then the left edge */
        for (size_t r = 0; r < rows_of(s); r++) {
            str *cell = &s->cells[r * s->n_columns + c];
            int pad = pass ? (int)(widest - cell->n) : most - count_decimals(*cell);
            *cell = pass ? arena_printf(s->arena, "%*s%.*s", pad, "", STR_ARG(*cell))
                         : arena_printf(s->arena, "%.*s%*s", STR_ARG(*cell), pad, "");
            s->failed |= !cell->p;
            if (cell->n > widest) widest = cell->n;
        }
}

static void add_pipe_row(buf *out, const sheet *s, const str *cells, const size_t *width) {
    for (uint32_t c = 0; c < s->n_columns; c++) {
        buf_add_cstr(out, "| ");
        add_padded(out, cells[c], width[c]);
        buf_add_byte(out, ' ');
    }
    buf_add_cstr(out, "|\n");
}

static void add_pipes(buf *out, sheet *s, const char *const *headers) {
    static const char *const rule[] = {"|", "-", "|", "|"};
    size_t width[MOST_COLUMNS];
    str heads[MOST_COLUMNS];
    bool number[MOST_COLUMNS];
    for (uint32_t c = 0; c < s->n_columns; c++) {
        number[c] = is_numeric(s, c);
        size_t least = width_of(str_of(headers[c])) + HEADER_PADDING;
        if (number[c]) align_numbers(s, c, least);
    }
    measure(s, NULL, width);
    for (uint32_t c = 0; c < s->n_columns; c++) {
        size_t least = width_of(str_of(headers[c])) + HEADER_PADDING;
        width[c] = 0;
        for (size_t r = 0; r < rows_of(s); r++) {
            size_t w = width_of(s->cells[r * s->n_columns + c]);
            if (w > width[c]) width[c] = w;
        }
        if (least > width[c]) width[c] = least;
        heads[c] = str_of(headers[c]);
        int pad = number[c] ? (int)(width[c] - width_of(heads[c])) : 0;
        heads[c] = arena_printf(s->arena, "%*s%s", pad, "", headers[c]);
        s->failed |= !heads[c].p;
    }
    add_pipe_row(out, s, heads, width);
    add_rule(out, s, width, rule);
    for (size_t r = 0; r < rows_of(s); r++)
        add_pipe_row(out, s, s->cells + r * s->n_columns, width);
}

/* ---- summary ----------------------------------------------------------------------------- */

static void add_total(sheet *s, const char *what, double v) {
    buf_add_cstr(&s->cell, what);
    next_cell(s);
    if (isnan(v))
        buf_add_cstr(&s->cell, "N/A");
    else
        buf_add_f64(&s->cell, v);
    next_cell(s);
}

static void add_copies(sheet *s, const char *what, double total, size_t n) {
    buf_add_cstr(&s->cell, what);
    next_cell(s);
    buf_printf(&s->cell, "tot=%.4f avg=%.4f", total, n ? total / (double)n : 0.0);
    next_cell(s);
}

static void add_summary(buf *out, const top_result *r, const top_layout *how, sheet *s) {
    static const char *const headers[] = {"name", "value"};
    size_t width[MOST_COLUMNS];
    s->n_columns = 2;
    add_total(s, "total device time", r->device.total);
    add_total(s, "total host time", r->host.total);
    if (how->copy_time) {
        add_copies(s, "copy time", r->copy_total, r->n_copies);
        add_copies(s, "copy wait time", r->copy_wait_total, r->n_copies);
    }
    if (s->failed) return;
    if (how->wiki) {
        add_pipes(out, s, headers);
        return;
    }
    if (is_numeric(s, 1)) align_numbers(s, 1, 0);
    if (s->failed) return;
    for (uint32_t c = 0; c < 2; c++) {
        width[c] = 0;
        for (size_t i = c; i < s->n_rows; i += 2)
            if (width_of(s->cells[i]) > width[c]) width[c] = width_of(s->cells[i]);
    }
    for (size_t i = 0; i < rows_of(s) + 2; i++) {
        bool rule = i == 0 || i == rows_of(s) + 1;
        const str *cells = s->cells + (i ? i - 1 : 0) * 2;
        if (rule) {
            buf_add_repeat(out, '-', width[0]);
            buf_add_cstr(out, "  ");
            buf_add_repeat(out, '-', width[1]);
        } else {
            add_padded(out, cells[0], width[0]);
            buf_add_cstr(out, "  ");
            add_padded(out, cells[1], width[1]);
            while (out->n && out->p[out->n - 1] == ' ') out->n--;
        }
        buf_add_byte(out, '\n');
    }
}

/* ---- records ----------------------------------------------------------------------------- */

enum { WRAP = 30 };

/* A text in lines of 30 characters, those after the first with a mark. */
static void add_wrapped(buf *out, str text) {
    size_t at = 0;
    for (bool first = true; at < text.n || first; first = false) {
        size_t end = at;
        for (size_t n = 0; end < text.n; end++) {
            bool starts = ((unsigned char)text.p[end] & 0xc0) != 0x80;
            if (starts && n++ == WRAP) break;
        }
        if (!first) buf_add_cstr(out, "\n-  ");
        buf_add(out, text.p + at, end - at);
        at = end;
    }
}

/* [1,2] → {1,2}. */
static void add_braces(buf *out, str list) {
    json_iter it = json_open(list);
    str key, value;
    bool first = true;
    buf_add_byte(out, '{');
    while (json_next(&it, &key, &value)) {
        if (!first) buf_add_byte(out, ',');
        first = false;
        buf_add_str(out, value);
    }
    buf_add_byte(out, '}');
}

static void add_strides(buf *out, str list) {
    size_t at = out->n;
    add_braces(out, list);
    if (!buf_ok(out)) return;
    out->p[at] = '[';
    out->p[out->n - 1] = ']';
}

static void add_shapes(buf *out, str shapes, str layouts, const top_record *r,
                       const char *glue) {
    json_iter it = json_open(shapes), strides = json_open(layouts);
    str key, value, layout;
    bool first = true;
    if (r->count || !r->has_footprint || !shapes.p) {
        buf_add_cstr(out, r->count ? "None" : "N/A");
        return;
    }
    while (json_next(&it, &key, &value)) {
        if (!first) buf_add_cstr(out, glue);
        first = false;
        add_braces(out, value);
        if (!layouts.p || !json_next(&strides, &key, &layout) || layout.p[0] != '[') continue;
        buf_add_cstr(out, glue);
        buf_add_cstr(out, " -");
        add_strides(out, layout);
    }
}

static void add_id(buf *out, const top_record *r) {
    if (r->id == ABSENT_I64)
        buf_add_cstr(out, "N/A");
    else
        buf_add_i64(out, r->id);
}

static void add_info(buf *out, const top_record *r) {
    add_wrapped(out, r->count ? r->type : r->name);
    buf_add_byte(out, '\n');
    if (r->count)
        buf_add_i64(out, r->count);
    else
        add_wrapped(out, r->type);
    buf_add_byte(out, '\n');
    add_id(out, r);
}

static void add_record(sheet *s, const top_list *l, size_t i, double sum) {
    const top_record *r = &l->v[i];
    buf *b = &s->cell;
    buf_printf(b, "#%zu\n", i);
    top_text_digits(b, r->time);
    buf_add_byte(b, '\n');
    add_percent(b, r->time, l->total);
    next_cell(s);
    top_text_digits(b, sum);
    buf_add_byte(b, '\n');
    add_percent(b, sum, l->total);
    next_cell(s);
    add_info(b, r);
    next_cell(s);
    add_scaled(b, r->computation, 1000, FLO);
    next_cell(s);
    add_scaled(b, r->flops, 1000, FLOPS);
    next_cell(s);
    add_scaled(b, r->memory, 1024, BYTES);
    next_cell(s);
    if (r->memory == 0 && r->time == 0)
        buf_add_cstr(b, "nan\nbyte/s");
    else
        add_scaled(b, r->bandwidth, 1024, RATES);
    next_cell(s);
    add_shapes(b, r->in_shapes, r->in_layouts, r, "\n");
    next_cell(s);
    add_shapes(b, r->out_shapes, STR_NONE, r, "\n");
    next_cell(s);
}

static void add_table(buf *out, const top_list *l, const char *side, sheet *s) {
    const char *headers[] = {side,     "cumulative", "operator info", "computation", "FLOPS",
                             "memory", "bandwidth",  "in_shapes",     "out_shapes"};
    double sum = 0;
    s->n_columns = sizeof headers / sizeof *headers;
    for (size_t i = 0; i < l->n && !s->failed; i++) {
        sum += l->v[i].time;
        add_record(s, l, i, sum);
    }
    if (!s->failed) add_grid(out, s, headers);
}

/* ---- wiki -------------------------------------------------------------------------------- */

static void add_bar(sheet *s, double v, double most) {
    double n = v / most * 15;
    if (n >= 1) buf_add_repeat(&s->cell, '#', n > 15 ? 15 : (size_t)n);
    next_cell(s);
}

static void add_tenths(sheet *s, double v) {
    if (isnan(v))
        buf_add_cstr(&s->cell, "N/A");
    else
        buf_printf(&s->cell, "%.1f", v);
    next_cell(s);
}

typedef struct {
    double time, flops, bandwidth; /* the largest finite ones */
} largest;

static largest find_largest(const top_list *l) {
    largest m = {0};
    for (size_t i = 0; i < l->n; i++) {
        const top_record *r = &l->v[i];
        if (isfinite(r->time) && r->time > m.time) m.time = r->time;
        if (isfinite(r->flops) && r->flops > m.flops) m.flops = r->flops;
        if (isfinite(r->bandwidth) && r->bandwidth > m.bandwidth) m.bandwidth = r->bandwidth;
    }
    return m;
}

static void add_wiki_record(sheet *s, const top_list *l, size_t i, double sum, largest m) {
    const top_record *r = &l->v[i];
    buf *b = &s->cell;
    buf_printf(b, "%zu", i);
    next_cell(s);
    top_text_digits(b, r->time);
    next_cell(s);
    add_percent(b, r->time, l->total);
    next_cell(s);
    add_bar(s, r->time, m.time);
    buf_add_f64(b, sum);
    next_cell(s);
    buf_add_f64(b, l->total != 0 ? sum / l->total : 0);
    next_cell(s);
    buf_add_str(b, r->count ? r->type : r->name);
    next_cell(s);
    if (r->count)
        buf_add_i64(b, r->count);
    else
        buf_add_str(b, r->type);
    next_cell(s);
    add_id(b, r);
    next_cell(s);
    add_tenths(s, r->computation / 1e6);
    add_tenths(s, r->flops / 1e6);
    add_bar(s, r->flops, m.flops);
    add_tenths(s, r->memory / 1048576);
    add_tenths(s, r->bandwidth / 1048576);
    add_bar(s, r->bandwidth, m.bandwidth);
    add_shapes(b, r->in_shapes, r->in_layouts, r, ", ");
    next_cell(s);
    add_shapes(b, r->out_shapes, STR_NONE, r, ", ");
    next_cell(s);
}

static void add_wiki(buf *out, const top_list *l, bool grouped, sheet *s) {
    const char *headers[] = {"#",
                             "time",
                             "ratio",
                             "time bar",
                             "cum-time",
                             "cum-time ratio",
                             grouped ? "opr type" : "opr name",
                             grouped ? "opr count" : "opr type",
                             "opr id",
                             "computation (MFLO)",
                             "MFLOPS",
                             "MFLOPS-bar",
                             "memory (MB)",
                             "bandwidth (MiB/s)",
                             "bandwidth bar",
                             "in_shapes",
                             "out_shapes"};
    double sum = 0;
    largest m = find_largest(l);
    s->n_columns = sizeof headers / sizeof *headers;
    for (size_t i = 0; i < l->n && !s->failed; i++) {
        sum += l->v[i].time;
        add_wiki_record(s, l, i, sum, m);
    }
    if (!s->failed) add_pipes(out, s, headers);
}

/* ---- together ---------------------------------------------------------------------------- */

static void add_list(buf *out, const top_list *l) {
    for (size_t i = 0; i < l->n; i++) {
        const top_record *r = &l->v[i];
        buf_add_str(out, r->count ? r->type : r->name);
        buf_add_byte(out, ' ');
        if (r->count)
            buf_add_i64(out, r->count);
        else
            buf_add_str(out, r->type);
        buf_add_byte(out, ' ');
        add_id(out, r);
        buf_add_byte(out, '\n');
    }
}

static void add_side(buf *out, const top_list *l, const char *side, const top_layout *how,
                     sheet *s) {
    if (out->n) buf_add_byte(out, '\n');
    if (how->only_list)
        add_list(out, l);
    else if (how->wiki)
        add_wiki(out, l, how->grouped, s);
    else
        add_table(out, l, side, s);
}

status top_text_write(const top_result *r, const top_layout *how, arena *a, buf *out,
                      error *err) {
    sheet parts[3] = {{.arena = a}, {.arena = a}, {.arena = a}};
    if (how->summary) add_summary(out, r, how, &parts[0]);
    if (how->device) add_side(out, &r->device, "device self time", how, &parts[1]);
    if (how->host) add_side(out, &r->host, "host self time", how, &parts[2]);
    bool failed = !buf_ok(out);
    for (int i = 0; i < 3; i++) {
        failed |= parts[i].failed;
        buf_fini(&parts[i].cell);
    }
    if (failed) FAIL_MEMORY(err);
    return OK;
}
