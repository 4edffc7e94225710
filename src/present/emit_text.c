/* emit_text.c: an answer for a terminal: the verdict first, tables that fit, what it rests on.
 *
 * A table is laid out in steps. Each column gets its natural width, that of its widest cell.
 * Columns are taken by importance while the line has room for them at their least width: first
 * those with a rank, then, once the first text column is readable, the others. What is left of
 * the line goes to the text columns; longer texts lose their middle. A column that has no room,
 * in which nothing was recorded, or that repeats the first one is named below the table:
 * nothing vanishes silently.
 *
 * Numbers stand at the right with their unit, texts at the left, null is "-". Every text of the
 * trace is cleaned (width.h). Colors only where the caller says that a terminal is listening.
 * Cells are written twice, once to measure: no memory beyond one cell. */
#include "present/present_int.h"
#include "present/width.h"

#define GAP 2          /* cells between columns */
#define LEAST_FIRST 24 /* cells of the first text column before others must yield */
#define LEAST_TEXT 14  /* cells of other text columns */
#define ROOMY_FIRST \
    48 /* cells of the first text column before columns without a rank come in */

typedef struct {
    uint32_t col;
    size_t natural, least, width;
    bool text, recorded, same, shown; /* same: says what the first column says */
} place;

typedef struct {
    const table *t;
    const present_options *o;
    place *places;     /* by column */
    uint32_t *by_rank; /* columns, most important first */
    buf cell;
} layout;

/* ---- color ------------------------------------------------------------------------------- */

static const char *const SEVERITY_COLORS[] = {
    [SEVERITY_GOOD] = "32",
    [SEVERITY_INFO] = "0",
    [SEVERITY_WARNING] = "33",
    [SEVERITY_CRITICAL] = "31",
};

void color_begin(buf *out, const present_options *o, const char *sgr) {
    if (o->color) buf_printf(out, "\033[%sm", sgr);
}

void color_end(buf *out, const present_options *o) {
    if (o->color) buf_add_cstr(out, "\033[0m");
}

void present_title_text(str title, const present_options *o, buf *out) {
    color_begin(out, o, SGR_BOLD);
    width_put(out, title);
    color_end(out, o);
    buf_add_byte(out, '\n');
}

/* ---- laying out -------------------------------------------------------------------------- */

/* The text of a cell, valid until the next call. */
static str cell_text(layout *l, uint32_t col, size_t row) {
    const column *c = &l->t->columns[col];
    if (cell_is_null(c, row)) return STR("-");
    if (c->type == TYPE_TEXT) return c->v.s[row];
    buf_clear(&l->cell);
    cell_put(&l->cell, c, row, l->o->lang);
    return buf_str(&l->cell);
}

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

static void measure(layout *l) {
    bool first_text = true;
    for (uint32_t i = 0; i < l->t->n_columns; i++) {
        place *p = &l->places[i];
        p->text = l->t->columns[i].type == TYPE_TEXT;
        p->recorded = l->t->n_rows == 0 || column_is_recorded(l->t, i);
        p->same = p->recorded && repeats_first(l->t, i);
        p->natural = width_of(str_of(l->t->columns[i].name));
        for (size_t row = 0; p->recorded && row < l->t->n_rows; row++) {
            size_t w = width_of(cell_text(l, i, row));
            if (w > p->natural) p->natural = w;
        }
        size_t least = first_text ? LEAST_FIRST : LEAST_TEXT;
        p->least = p->text && p->natural > least ? least : p->natural;
        if (p->text) first_text = false;
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

/* Takes the columns with (or without) a rank while they fit; returns the room left. */
static size_t take_columns(layout *l, bool ranked, bool *any, size_t room) {
    for (uint32_t i = 0; i < l->t->n_columns; i++) {
        place *p = &l->places[l->by_rank[i]];
        size_t need = p->least + (*any ? GAP : 0);
        if (!p->recorded || p->same) continue;
        if ((l->t->columns[l->by_rank[i]].rank != 0) != ranked || (*any && need > room))
            continue;
        p->shown = *any = true;
        p->width = p->least;
        room = need < room ? room - need : 0;
    }
    return room;
}

static void choose_columns(layout *l) {
    bool any = false;
    size_t room = l->o->width != 0 ? l->o->width : SIZE_MAX / 2;
    room = take_columns(l, true, &any, room);
    for (uint32_t i = 0; i < l->t->n_columns; i++) {
        place *p = &l->places[i];
        if (!p->text) continue;
        if (p->shown) room = widen(p, ROOMY_FIRST, room);
        break;
    }
    room = take_columns(l, false, &any, room);
    for (uint32_t i = 0; i < l->t->n_columns; i++) {
        place *p = &l->places[l->by_rank[i]];
        if (p->shown && p->text) room = widen(p, SIZE_MAX, room);
    }
}

/* ---- writing ----------------------------------------------------------------------------- */

static void put_line(layout *l, buf *out, size_t row, bool header) {
    size_t blanks = 0; /* owed before the next text, so that no line ends in blanks */
    for (uint32_t i = 0; i < l->t->n_columns; i++) {
        const place *p = &l->places[i];
        if (!p->shown) continue;
        str s = header ? str_of(l->t->columns[i].name) : cell_text(l, i, row);
        size_t w = p->text ? p->width : width_of(s); /* numbers stand at the right */
        buf_add_repeat(out, ' ', blanks + (w < p->width ? p->width - w : 0));
        size_t used = width_put_short(out, s, p->width);
        blanks = GAP + (p->text ? p->width - used : 0);
    }
    buf_add_byte(out, '\n');
}

typedef enum { WHY_NARROW, WHY_NOT_RECORDED, WHY_SAME } why_hidden;

/* A dim line that names the columns left out for this reason. */
static void put_hidden(layout *l, buf *out, uint16_t message, why_hidden why) {
    buf names = {0};
    for (uint32_t i = 0; i < l->t->n_columns; i++) {
        const place *p = &l->places[i];
        why_hidden this_one = p->same ? WHY_SAME : p->recorded ? WHY_NARROW : WHY_NOT_RECORDED;
        if (p->shown || this_one != why) continue;
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

static status put_table(layout *l, buf *out, error *err) {
    const table *t = l->t;
    measure(l);
    order_columns(l);
    choose_columns(l);
    color_begin(out, l->o, SGR_BOLD);
    put_line(l, out, 0, true);
    color_end(out, l->o);
    for (size_t row = 0; row < t->n_rows; row++) {
        put_line(l, out, row, false);
        TRY(emit_row_end(l->o, out, err));
    }
    rows_put_note(t, l->o, out);
    put_hidden(l, out, MSG_TEXT_SAME, WHY_SAME);
    put_hidden(l, out, MSG_TEXT_NOT_SHOWN, WHY_NARROW);
    put_hidden(l, out, MSG_TEXT_NOT_RECORDED, WHY_NOT_RECORDED);
    return OK;
}

status present_table_text(const table *t, const present_options *o, buf *out, error *err) {
    arena scratch;
    if (has_sentences(t)) return put_paragraphs(t, o, out, err);
    arena_init(&scratch, 0);
    layout l = {.t = t, .o = o};
    l.places = ARENA_ARRAY(&scratch, place, t->n_columns);
    l.by_rank = ARENA_ARRAY(&scratch, uint32_t, t->n_columns);
    bool room = l.places && l.by_rank;
    status s = room ? put_table(&l, out, err) : OK;
    if (!buf_ok(&l.cell)) out->failed = true;
    buf_fini(&l.cell);
    arena_fini(&scratch);
    if (!room) FAIL_MEMORY(err);
    return s;
}

/* ---- around the tables ------------------------------------------------------------------- */

/* One part of the line that says which trace this is. */
static void put_part(buf *out, lang l, uint16_t message, str name) {
    if (name.n == 0) return;
    text_put(out, l, message, arg_text("name", name));
    buf_add_cstr(out, ", ");
}

static void put_source(buf *out, const answer *a, const present_options *o) {
    const answer_source *s = &a->source;
    width_put(out, s->path);
    if (s->path.n != 0) buf_add_cstr(out, ", ");
    put_part(out, o->lang, MSG_TEXT_RUN, s->run);
    if (s->ranks > 1) {
        text_put(out, o->lang, MSG_TEXT_RANKS, arg_int("count", s->ranks));
        buf_add_cstr(out, ", ");
    } else {
        put_part(out, o->lang, MSG_TEXT_WORKER, s->worker);
    }
    put_part(out, o->lang, MSG_TEXT_SPAN, s->span);
    width_put(out, s->format);
    if (s->format.n != 0) buf_add_cstr(out, ", ");
    arg duration = arg_time("duration", s->duration_ns);
    text_value(out, &duration);
    buf_add_cstr(out, ", ");
    text_put(out, o->lang, MSG_TEXT_EVENTS_READ, arg_int("count", a->quality.events_read));
    buf_add_byte(out, '\n');
}

void present_quality_text(const answer *a, const present_options *o, buf *out) {
    const quality *q = &a->quality;
    lang l = o->lang;
    color_begin(out, o, SGR_DIM);
    put_source(out, a, o);
    for (uint32_t i = 0; i < q->n_links; i++) {
        text_put(out, l, MSG_TEXT_LINK, arg_cstr("what", text_get(q->links[i].message, l)),
                 arg_int("linked", q->links[i].linked), arg_int("total", q->links[i].total));
        buf_add_byte(out, '\n');
    }
    color_end(out, o);
    for (uint32_t i = 0; i < q->n_dropped; i++) {
        color_begin(out, o, SEVERITY_COLORS[SEVERITY_WARNING]);
        text_put(out, l, MSG_TEXT_DROPPED, arg_int("count", q->dropped[i].count),
                 arg_cstr("text", text_get(q->dropped[i].message, l)));
        color_end(out, o);
        buf_add_byte(out, '\n');
    }
    for (uint32_t i = 0; i < q->n_notes; i++) {
        text_format(out, l, q->notes[i].message, q->notes[i].args, q->notes[i].n_args);
        buf_add_byte(out, '\n');
    }
}

void present_scope_text(const answer *a, const present_options *o, buf *out) {
    const answer_source *s = &a->source;
    bool one = s->ranks <= 1;
    if (s->run_ranks <= 1 && s->run_traces <= 1 && one) return;
    bool ranks = s->run_ranks > 1 || s->run_traces <= 1;
    uint16_t message = one ? (ranks ? MSG_TEXT_SCOPE_RANK : MSG_TEXT_SCOPE_TRACE)
                           : (ranks ? MSG_TEXT_SCOPE_RANKS : MSG_TEXT_SCOPE_TRACES);
    color_begin(out, o, SGR_DIM);
    text_put(out, o->lang, message, arg_text("name", s->worker), arg_text("run", s->run),
             arg_int("count", !one    ? s->ranks
                              : ranks ? s->run_ranks
                                      : s->run_traces));
    color_end(out, o);
    buf_add_cstr(out, "\n");
}

void present_verdict_text(const verdict *v, const present_options *o, buf *out) {
    if (!v->id) return;
    color_begin(out, o, SEVERITY_COLORS[v->severity]);
    text_format(out, o->lang, v->message, v->args, v->n_args);
    color_end(out, o);
    buf_add_cstr(out, "\n\n");
}

/* An answer has tables that few traces fill: those without rows share one line at the end. The
 * first is what was asked for, and says itself that it is empty. */
static bool is_left_out(const answer *a, uint32_t i) {
    return i > 0 && a->tables[i]->total_rows == 0;
}

static void put_left_out(const answer *a, const present_options *o, buf *out) {
    buf names = {0};
    for (uint32_t i = 0; i < a->n_tables; i++) {
        if (!is_left_out(a, i)) continue;
        if (names.n) buf_add_cstr(&names, ", ");
        buf_add_cstr(&names, a->tables[i]->name);
    }
    if (names.n) {
        color_begin(out, o, SGR_DIM);
        text_put(out, o->lang, MSG_TEXT_EMPTY_TABLES, arg_text("tables", buf_str(&names)));
        color_end(out, o);
        buf_add_cstr(out, "\n\n");
    }
    if (!buf_ok(&names)) out->failed = true;
    buf_fini(&names);
}

status emit_text(const answer *a, const present_options *o, buf *out, error *err) {
    present_scope_text(a, o, out);
    present_verdict_text(&a->verdict, o, out);
    for (uint32_t i = 0; i < a->n_tables; i++) {
        if (is_left_out(a, i)) continue;
        if (a->n_tables > 1) present_title_text(str_of(a->tables[i]->name), o, out);
        TRY(present_table_text(a->tables[i], o, out, err));
        buf_add_byte(out, '\n');
    }
    put_left_out(a, o, out);
    present_quality_text(a, o, out);
    return OK;
}
