/* text_table.c: one table as lines of text that fit.
 *
 * A table is laid out in steps. Each column gets its natural width, that of its widest cell.
 * Columns are taken by importance while the line has room for them at their least width: first
 * those with a rank, then, once the first text column is readable, the others. What is left of
 * the line goes to the text columns; longer texts lose their middle. A column that has no room
 * or that repeats the first one is named below the table; one in which the producer recorded
 * nothing is left out without a word: --help lists it, JSON has it as null.
 *
 * Numbers are at the right with their unit, texts at the left, null is "-". Every text of the
 * trace is cleaned (width.h). Cells are written twice, once to measure: no memory beyond one
 * cell.
 *
 * On a terminal the important columns come first, headers are words (text/headers.def), shares
 * get a bar where the line has room for it, and what says nothing is dim. A screen also leaves
 * out columns that are zero, or the same text, in every row. */
#include "base/message_ids_cli.h"
#include "present/bar.h"
#include "present/present_int.h"
#include "present/width.h"

#define GAP 2          /* cells between columns */
#define LEAST_FIRST 24 /* cells of the first text column before others must yield */
#define LEAST_TEXT 14  /* cells of other text columns */
#define LEAST_WORD 18  /* the same on a terminal */
#define ROOMY_FIRST 48 /* of the first before columns without a rank are shown */
#define ROOMY_NAME 64  /* the same on a terminal */
#define ROOMY_LINE 76  /* so wide a line has a bar rather than its last columns */
#define ROOMY_TEXT 28  /* of the others before the first takes the rest */
#define BAR_CELLS 8
#define MOST_BARS 2
#define LEAST_FULL 0.02 /* a full bar is the largest share, and never next to nothing */

typedef struct {
    size_t natural, least, width;
    size_t bar;  /* cells of a bar after the number */
    double most; /* the largest share */
    bool text, recorded, same, shown;
    bool idle; /* says nothing on a screen: zero, or the same text, in every row */
} place;

typedef struct {
    const table *t;
    const present_options *o;
    row_choice rows;
    place *places;     /* by column */
    uint32_t *by_rank; /* columns, most important first */
    uint32_t main;     /* text column that gets room first, NO_COLUMN */
    size_t n_bars;
    buf cell;
} layout;

/* ---- cells ------------------------------------------------------------------------------- */

static size_t row_at(const layout *l, size_t i) {
    return l->rows.index ? l->rows.index[i] : i;
}

/* A name of a tree after its indentation. */
static str indented(layout *l, str name, size_t row) {
    const column *d = &l->t->columns[l->rows.depth];
    buf_clear(&l->cell);
    if (!cell_is_null(d, row) && d->v.i[row] > 0)
        buf_add_repeat(&l->cell, ' ', 2 * (size_t)d->v.i[row]);
    buf_add_str(&l->cell, name);
    return buf_str(&l->cell);
}

/* Tables of facts have texts as values; a name that ends in a unit says how to read its
 * value. */
static const struct {
    str ending;
    column_unit unit;
} FACT_UNITS[] = {{STR("_ns"), UNIT_NS}, {STR("_bytes"), UNIT_BYTES}};

/* The value of a fact as a person reads it; false when it is a text like any other. */
static bool put_fact(layout *l, uint32_t col, size_t row) {
    const column *key = &l->t->columns[0], *value = &l->t->columns[col];
    int64_t number;
    if (!l->o->terminal || col != 1 || l->t->n_columns != 2 || key->type != TYPE_TEXT ||
        value->type != TYPE_TEXT || !str_to_i64(value->v.s[row], &number))
        return false;
    for (size_t i = 0; i < sizeof FACT_UNITS / sizeof *FACT_UNITS; i++) {
        if (!str_ends(key->v.s[row], FACT_UNITS[i].ending)) continue;
        column read = {.type = TYPE_INT, .unit = FACT_UNITS[i].unit, .v.i = &number};
        buf_clear(&l->cell);
        cell_put(&l->cell, &read, 0, l->o->lang);
        return true;
    }
    return false;
}

/* The text of a cell, valid until the next call. */
static str cell_text(layout *l, uint32_t col, size_t row) {
    const column *c = &l->t->columns[col];
    if (cell_is_null(c, row)) return STR("-");
    if (l->o->terminal && c->type == TYPE_TEXT && c->v.s[row].n == 0) return STR("-");
    if (put_fact(l, col, row)) return buf_str(&l->cell);
    if (c->type == TYPE_TEXT && col == 0 && l->rows.depth != NO_COLUMN)
        return indented(l, c->v.s[row], row);
    if (c->type == TYPE_TEXT)
        return l->o->terminal ? text_value_word(c->name, c->v.s[row], l->o->lang) : c->v.s[row];
    buf_clear(&l->cell);
    cell_put_in(&l->cell, l->t, col, row, l->o->lang);
    return buf_str(&l->cell);
}

static str header_text(const layout *l, uint32_t col) {
    const char *name = l->t->columns[col].name;
    return str_of(l->o->terminal ? text_header(name, l->o->lang) : name);
}

/* Is it a number of something, and nothing of it? */
static bool is_zero(const column *c, size_t row) {
    if (c->unit == UNIT_NONE || cell_is_null(c, row)) return false;
    return (c->type == TYPE_INT && c->v.i[row] == 0) ||
           (c->type == TYPE_REAL && !(c->v.d[row] > 0 || c->v.d[row] < 0));
}

/* ---- laying out -------------------------------------------------------------------------- */

/* Does the column repeat the first one, row by row? */
static bool repeats_first(const table *t, uint32_t col) {
    const column *first = &t->columns[0], *c = &t->columns[col];
    if (col == 0 || t->n_rows == 0 || first->type != TYPE_TEXT || c->type != TYPE_TEXT)
        return false;
    for (size_t row = 0; row < t->n_rows; row++)
        if (cell_is_null(c, row) || cell_is_null(first, row) ||
            !str_eq(c->v.s[row], first->v.s[row]))
            return false;
    return true;
}

/* Is the name one of the list's, which blanks separate? */
static bool list_has(const char *list, str name) {
    for (str rest = str_of(list ? list : ""); rest.n != 0;) {
        if (str_eq(str_cut(&rest, STR(" ")), name)) return true;
    }
    return false;
}

static bool says_nothing(const layout *l, uint32_t col) {
    const column *c = &l->t->columns[col];
    if (list_has(l->rows.hidden, str_of(c->name))) return true;
    if (l->o->lines == 0 || l->rows.n < 2 || (col == 0 && c->type == TYPE_TEXT)) return false;
    for (size_t i = 0; i < l->rows.n; i++) {
        size_t row = row_at(l, i), first = row_at(l, 0);
        bool same = c->type == TYPE_TEXT && c->rank == 0 && !cell_is_null(c, row) &&
                    !cell_is_null(c, first) && str_eq(c->v.s[row], c->v.s[first]);
        if (!same && !is_zero(c, row) && !cell_is_null(c, row)) return false;
    }
    return true;
}

static void measure_column(layout *l, uint32_t col) {
    place *p = &l->places[col];
    const column *c = &l->t->columns[col];
    p->text = c->type == TYPE_TEXT;
    p->recorded = l->t->n_rows == 0 || column_is_recorded(l->t, col);
    p->same = p->recorded && repeats_first(l->t, col);
    p->idle = p->recorded && says_nothing(l, col);
    p->natural = width_of(header_text(l, col));
    for (size_t i = 0; p->recorded && i < l->rows.n; i++) {
        size_t row = row_at(l, i), w = width_of(cell_text(l, col, row));
        if (w > p->natural) p->natural = w;
        if (c->unit == UNIT_SHARE && !cell_is_null(c, row) && c->v.d[row] > p->most)
            p->most = c->v.d[row];
    }
}

/* The column the line makes room for: the first of texts, on a terminal the widest
 * important. */
static uint32_t main_text(const layout *l) {
    uint32_t main = NO_COLUMN;
    for (uint32_t i = 0; i < l->t->n_columns; i++) {
        const place *p = &l->places[i];
        if (!p->text) continue;
        if (main == NO_COLUMN) main = i;
        if (l->o->terminal && l->t->columns[i].rank != 0 && p->recorded &&
            p->natural > l->places[main].natural)
            main = i;
    }
    return main;
}

static void measure(layout *l) {
    for (uint32_t i = 0; i < l->t->n_columns; i++) measure_column(l, i);
    l->main = main_text(l);
    for (uint32_t i = 0; i < l->t->n_columns; i++) {
        place *p = &l->places[i];
        size_t other = l->o->terminal ? LEAST_WORD : LEAST_TEXT;
        size_t least = i == l->main ? LEAST_FIRST : other;
        p->least = p->text && p->natural > least ? least : p->natural;
    }
}

static uint32_t importance(const table *t, uint32_t col) {
    uint32_t rank = t->columns[col].rank;
    return rank != 0 ? rank : UINT16_MAX + 1 + col;
}

/* Insertion: a table has a few dozen columns at most. */
static void order_columns(layout *l) {
    for (uint32_t i = 0; i < l->t->n_columns; i++) {
        uint32_t at = i;
        while (at > 0 && importance(l->t, l->by_rank[at - 1]) > importance(l->t, i)) {
            l->by_rank[at] = l->by_rank[at - 1];
            at--;
        }
        l->by_rank[at] = i;
    }
}

/* Gives the column more cells, up to `most` in all; returns what is left of the line. */
static size_t widen(place *p, size_t most, size_t room) {
    size_t aim = p->natural < most ? p->natural : most;
    size_t more = aim > p->width ? aim - p->width : 0;
    if (more > room) more = room;
    p->width += more;
    return room - more;
}

/* A bar for this column, if it is a share and the line has room; returns the room left. Numbers
 * of a single row make no picture. */
static size_t take_bar(layout *l, place *p, size_t room) {
    if (!l->o->terminal || p->bar || !(p->most > 0) || l->rows.n < 2 ||
        l->n_bars == MOST_BARS || room < BAR_CELLS + 1)
        return room;
    p->bar = BAR_CELLS;
    l->n_bars++;
    return room - BAR_CELLS - 1;
}

/* Takes the columns with (or without) a rank while they fit; returns the room left. */
static size_t take_columns(layout *l, bool ranked, bool *any, size_t room) {
    for (uint32_t i = 0; i < l->t->n_columns; i++) {
        place *p = &l->places[l->by_rank[i]];
        size_t need = p->least + (*any ? GAP : 0);
        if (!p->recorded || p->same || p->idle) continue;
        if ((l->t->columns[l->by_rank[i]].rank != 0) != ranked || (*any && need > room))
            continue;
        p->shown = *any = true;
        p->width = p->least;
        room = need < room ? room - need : 0;
        if (ranked && l->n_bars == 0 && l->o->width >= ROOMY_LINE) room = take_bar(l, p, room);
    }
    return room;
}

/* Bars for the most important shares. */
static size_t take_bars(layout *l, size_t room) {
    for (uint32_t i = 0; i < l->t->n_columns; i++) {
        place *p = &l->places[l->by_rank[i]];
        if (p->shown) room = take_bar(l, p, room);
    }
    return room;
}

static void choose_columns(layout *l) {
    bool any = false;
    size_t room = l->o->width != 0 ? l->o->width : SIZE_MAX / 2;
    room = take_columns(l, true, &any, room);
    place *name = l->main != NO_COLUMN && l->places[l->main].shown ? &l->places[l->main] : NULL;
    if (name) room = widen(name, ROOMY_FIRST, room);
    room = take_bars(l, room);
    if (name && l->o->terminal) room = widen(name, ROOMY_NAME, room);
    room = take_columns(l, false, &any, room);
    for (uint32_t i = 0; i < l->t->n_columns && l->o->terminal; i++) {
        place *p = &l->places[l->by_rank[i]];
        if (p->shown && p->text) room = widen(p, ROOMY_TEXT, room);
    }
    for (uint32_t i = 0; i < l->t->n_columns; i++) {
        place *p = &l->places[l->by_rank[i]];
        if (p->shown && p->text) room = widen(p, SIZE_MAX, room);
    }
}

/* ---- writing ----------------------------------------------------------------------------- */

/* The color of a cell; NULL for none. */
static const char *cell_sgr(const layout *l, uint32_t col, size_t row) {
    const column *c = &l->t->columns[col];
    if (!l->o->color || !l->o->terminal) return NULL;
    if (cell_is_null(c, row) || is_zero(c, row)) return SGR_DIM;
    return c->type == TYPE_TEXT ? severity_sgr_of(c->v.s[row]) : NULL;
}

/* The bar of a cell; returns the blanks owed after it. */
static size_t put_bar(const layout *l, buf *out, uint32_t col, size_t row) {
    const place *p = &l->places[col];
    const column *c = &l->t->columns[col];
    if (cell_is_null(c, row) || !(c->v.d[row] > 0)) return p->bar + 1;
    buf_add_byte(out, ' ');
    color_begin(out, l->o, SGR_BAR);
    double full = p->most > LEAST_FULL ? p->most : LEAST_FULL;
    size_t used = bar_put(out, c->v.d[row] / full, p->bar, l->o->utf8);
    color_end(out, l->o);
    return p->bar - used;
}

/* One cell after the blanks that are owed; returns those owed after it. */
static size_t put_cell(layout *l, buf *out, uint32_t col, size_t row, size_t blanks) {
    const place *p = &l->places[col];
    str s = cell_text(l, col, row);
    size_t w = p->text ? p->width : width_of(s); /* numbers are at the right */
    const char *sgr = cell_sgr(l, col, row);
    buf_add_repeat(out, ' ', blanks + (w < p->width ? p->width - w : 0));
    if (sgr) color_begin(out, l->o, sgr);
    size_t used =
        l->o->terminal ? width_put_name(out, s, p->width) : width_put_short(out, s, p->width);
    if (sgr) color_end(out, l->o);
    size_t owed = GAP + (p->text ? p->width - used : 0);
    return p->bar ? GAP + put_bar(l, out, col, row) : owed;
}

static size_t put_header(layout *l, buf *out, uint32_t col, size_t blanks) {
    const place *p = &l->places[col];
    str s = header_text(l, col);
    size_t w = p->text ? p->width : width_of(s);
    buf_add_repeat(out, ' ', blanks + (w < p->width ? p->width - w : 0));
    size_t used = width_put_short(out, s, p->width);
    return GAP + (p->text ? p->width - used : 0) + (p->bar ? p->bar + 1 : 0);
}

/* A row, or the header when there is none. Blanks are owed, so that no line ends in them. */
static void put_line(layout *l, buf *out, const size_t *row) {
    size_t blanks = 0;
    for (uint32_t i = 0; i < l->t->n_columns; i++) {
        uint32_t col = l->o->terminal ? l->by_rank[i] : i;
        if (!l->places[col].shown) continue;
        blanks = row ? put_cell(l, out, col, *row, blanks) : put_header(l, out, col, blanks);
    }
    buf_add_byte(out, '\n');
}

/* A dim line that names the columns left out because they repeat the first (or do not fit). */
static void put_hidden(layout *l, buf *out, uint16_t message, bool same) {
    buf names = {0};
    for (uint32_t i = 0; i < l->t->n_columns; i++) {
        const place *p = &l->places[i];
        if (p->shown || !p->recorded || p->idle || p->same != same) continue;
        if (names.n != 0) buf_add_cstr(&names, ", ");
        buf_add_cstr(&names, l->t->columns[i].name);
    }
    if (names.n != 0) {
        color_begin(out, l->o, SGR_DIM);
        text_put(out, l->o->lang, message, arg_text("columns", buf_str(&names)),
                 arg_cstr("other", l->t->columns[0].name));
        color_end(out, l->o);
        buf_add_byte(out, '\n');
    }
    if (!buf_ok(&names)) out->failed = true;
    buf_fini(&names);
}

void rows_put_note(const table *t, const present_options *o, buf *out) {
    if (t->n_rows != 0 && t->n_rows == t->total_rows) return;
    color_begin(out, o, SGR_DIM);
    text_put(out, o->lang, t->n_rows == 0 ? MSG_TEXT_NO_ROWS : MSG_TEXT_ROWS,
             arg_int("shown", (int64_t)t->n_rows), arg_int("total", (int64_t)t->total_rows));
    color_end(out, o);
    buf_add_byte(out, '\n');
}

static status put_rows(layout *l, buf *out, error *err) {
    measure(l);
    order_columns(l);
    choose_columns(l);
    color_begin(out, l->o, SGR_BOLD);
    put_line(l, out, NULL);
    color_end(out, l->o);
    for (size_t i = 0; i < l->rows.n; i++) {
        size_t row = row_at(l, i);
        put_line(l, out, &row);
        TRY(emit_row_end(l->o, out, err));
    }
    return OK;
}

typedef void (*notes_fn)(layout *l, buf *out);

static void put_notes(layout *l, buf *out) {
    rows_put_note(l->t, l->o, out);
    put_hidden(l, out, MSG_TEXT_SAME, true);
    put_hidden(l, out, MSG_TEXT_NOT_SHOWN, false);
}

static status lay_out(const table *t, const row_choice *rows, const present_options *o,
                      notes_fn notes, buf *out, error *err) {
    arena scratch;
    arena_init(&scratch, 0);
    layout l = {.t = t, .o = o, .rows = *rows};
    l.places = ARENA_ARRAY(&scratch, place, t->n_columns);
    l.by_rank = ARENA_ARRAY(&scratch, uint32_t, t->n_columns);
    bool room = l.places && l.by_rank;
    status s = room ? put_rows(&l, out, err) : OK;
    if (room && s == OK && notes) notes(&l, out);
    if (!buf_ok(&l.cell)) out->failed = true;
    buf_fini(&l.cell);
    arena_fini(&scratch);
    if (!room) FAIL_MEMORY(err);
    return s;
}

status rows_put(const table *t, const row_choice *rows, const present_options *o, buf *out,
                error *err) {
    return lay_out(t, rows, o, NULL, out, err);
}

status present_table_text(const table *t, const present_options *o, buf *out, error *err) {
    if (has_sentences(t)) return put_paragraphs(t, o, out, err);
    row_choice all = {.n = t->n_rows, .depth = NO_COLUMN};
    return lay_out(t, &all, o, put_notes, out, err);
}
