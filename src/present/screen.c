/* screen.c: an answer as one screen of a terminal.
 *
 * The sentence, then the tables that carry it in the order of table.screen.place while the
 * lines last, then how to see the rest and what it is based on. The lines below the tables are
 * made first, because what they leave is what the tables may have.
 *
 *     verdict
 *     title, header, rows, "8 of 120 rows"     for each table that has a place and fits
 *     more: --table …
 *     trace, quality, notes
 *
 * Which rows of a long table are shown is its form's to say: the first, those with the largest
 * key, the upper levels of a tree, or all of them as a curve. Rows in which every number is
 * zero say nothing and are left out. */
#include "base/message_ids_cli.h"
#include "base/num.h"
#include "present/present_int.h"
#include "present/width.h"

#define LEAST_ROWS 3   /* a table cut to fewer is not worth its header */
#define LEAST_LINES 12 /* for the tables, whatever is below */
#define AROUND 3       /* lines of a table in addition to its rows: title, header, blank */
#define MORE_LINES 2   /* for the line that says how to see the rest */
#define MOST_CURVES 6
#define NO_LIMIT SIZE_MAX

typedef struct {
    const answer *a;
    const present_options *o;
    buf *out;
    arena scratch;
    size_t left; /* lines for tables */
    bool cut;    /* rows of a table are not shown */
    buf others;  /* names of tables that are not */
} screen;

static size_t lines_in(const buf *b, size_t from) {
    size_t n = 0;
    for (size_t i = from; i < b->n; i++) n += b->p[i] == '\n';
    return n;
}

/* ---- which rows -------------------------------------------------------------------------- */

/* The n-th name of the form's columns as a column of the table, NO_COLUMN. */
static uint32_t form_column(const table *t, uint32_t n) {
    str rest = str_of(t->screen.columns ? t->screen.columns : "");
    while (rest.n != 0) {
        str one = str_cut(&rest, STR(" "));
        if (n-- == 0) return table_column(t, one);
    }
    return NO_COLUMN;
}

/* Does the row hold a number that is not zero, a yes, or no numbers at all? */
static bool row_says_something(const table *t, size_t row) {
    bool numbers = false;
    for (uint32_t i = 0; i < t->n_columns; i++) {
        const column *c = &t->columns[i];
        if (c->unit == UNIT_NONE || c->unit == UNIT_WORDS || c->unit == UNIT_JSON ||
            c->unit == UNIT_SLICE)
            continue;
        numbers = true;
        if (cell_is_null(c, row)) continue;
        if (c->type == TYPE_REAL ? c->v.d[row] > 0 || c->v.d[row] < 0 : c->v.i[row] != 0)
            return true;
    }
    return !numbers;
}

static double key_at(const table *t, uint32_t col, size_t row) {
    const column *c = &t->columns[col];
    if (cell_is_null(c, row)) return -1;
    return c->type == TYPE_REAL ? c->v.d[row] : (double)c->v.i[row];
}

/* Keeps of the rows the n with the largest keys, largest first. */
static void keep_largest(const table *t, uint32_t key, row_choice *rows, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < rows->n; i++) {
        uint32_t row = rows->index[i];
        size_t at = kept < n ? kept++ : n;
        while (at > 0 && key_at(t, key, rows->index[at - 1]) < key_at(t, key, row)) {
            if (at < n) rows->index[at] = rows->index[at - 1];
            at--;
        }
        if (at < n) rows->index[at] = row;
    }
    rows->n = kept;
}

/* Keeps the levels of the tree that fit whole; the first one is cut when even it does not. */
static void keep_levels(const table *t, row_choice *rows, size_t n) {
    const column *d = &t->columns[rows->depth];
    int64_t deepest = 0;
    size_t fit = 0;
    for (int64_t level = 0; level < 64 && fit <= n; level++) {
        size_t up_to = 0;
        for (size_t i = 0; i < rows->n; i++) up_to += d->v.i[rows->index[i]] <= level;
        if (up_to > n) break;
        deepest = level;
        fit = up_to;
    }
    size_t kept = 0;
    for (size_t i = 0; i < rows->n && kept < n; i++)
        if (d->v.i[rows->index[i]] <= deepest) rows->index[kept++] = rows->index[i];
    rows->n = kept;
}

static status choose_rows(screen *s, const table *t, size_t n, row_choice *rows, error *err) {
    uint32_t key = form_column(t, 0);
    *rows = (row_choice){.depth = NO_COLUMN};
    rows->index = ARENA_ARRAY(&s->scratch, uint32_t, t->n_rows + 1);
    if (!rows->index) FAIL_MEMORY(err);
    for (size_t row = 0; row < t->n_rows; row++)
        if (row_says_something(t, row)) rows->index[rows->n++] = sat_u32(row);
    if (rows->n == 0) /* nothing but zeros is an answer, too */
        for (size_t row = 0; row < t->n_rows; row++) rows->index[rows->n++] = sat_u32(row);
    if (t->screen.form == SCREEN_TREE && key != NO_COLUMN) {
        rows->depth = key;
        rows->hidden = t->screen.columns;
    }
    size_t whole = rows->n;
    if (whole > n) {
        if (t->screen.form == SCREEN_TOP && key != NO_COLUMN)
            keep_largest(t, key, rows, n);
        else if (rows->depth != NO_COLUMN)
            keep_levels(t, rows, n);
        else
            rows->n = n;
    }
    return OK;
}

/* ---- tables ------------------------------------------------------------------------------ */

static void put_cut(screen *s, size_t shown, size_t total) {
    s->cut = true;
    color_begin(s->out, s->o, SGR_DIM);
    text_put(s->out, s->o->lang, MSG_TEXT_ROWS_OF, arg_int("shown", (int64_t)shown),
             arg_int("total", (int64_t)total));
    color_end(s->out, s->o);
    buf_add_byte(s->out, '\n');
}

/* Paragraphs while they fit, one at least. */
static status put_sentences(screen *s, const table *t, size_t rows, size_t lines, error *err) {
    size_t shown = 0, used = 0;
    while (shown < t->n_rows && shown < rows) {
        size_t start = s->out->n;
        paragraph_put(t, s->o, shown, s->out);
        used += lines_in(s->out, start);
        if (used > lines && shown > 0) {
            s->out->n = start;
            break;
        }
        shown++;
        if (lines == NO_LIMIT) TRY(emit_row_end(s->o, s->out, err));
    }
    if (shown < t->total_rows) put_cut(s, shown, t->total_rows);
    return OK;
}

static bool is_curve(const table *t, size_t n) {
    if (t->n_rows != t->total_rows || t->n_rows < 2) return false; /* a part misleads */
    return t->screen.form == SCREEN_CHART || (t->screen.form == SCREEN_SERIES && t->n_rows > n);
}

static status put_body(screen *s, const table *t, size_t rows, size_t lines, error *err) {
    if (has_sentences(t)) return put_sentences(s, t, rows, lines, err);
    size_t n = lines < rows ? lines : rows;
    if (t->n_rows > n && n == lines && n > 1) n--; /* the note below is a line, too */
    if (is_curve(t, n)) {
        chart_axes axes = {form_column(t, 0), form_column(t, 1), form_column(t, 2),
                           MOST_CURVES};
        if (t->screen.form == SCREEN_SERIES) s->cut = true;
        if (axes.x != NO_COLUMN && axes.y != NO_COLUMN)
            return chart_put(t, &axes, s->o, s->out, err);
    }
    row_choice chosen;
    TRY(choose_rows(s, t, n, &chosen, err));
    TRY(rows_put(t, &chosen, s->o, s->out, err));
    if (chosen.n < t->total_rows &&
        (chosen.n == n || t->n_rows < t->total_rows || t->screen.form == SCREEN_TREE))
        put_cut(s, chosen.n, t->total_rows);
    return OK;
}

status present_table_screen(const table *t, size_t rows, const present_options *o, buf *out,
                            error *err) {
    screen s = {.o = o, .out = out};
    row_choice chosen;
    size_t n = rows && rows < t->n_rows ? rows : t->n_rows;
    if (has_sentences(t)) {
        for (size_t row = 0; row < n; row++) paragraph_put_short(t, o, row, out);
        return OK;
    }
    arena_init(&s.scratch, 0);
    status got = choose_rows(&s, t, n, &chosen, err);
    if (got == OK) got = rows_put(t, &chosen, o, out, err);
    arena_fini(&s.scratch);
    return got;
}

static bool fits(const screen *s, const table *t) {
    size_t least = t->n_rows < LEAST_ROWS ? t->n_rows : LEAST_ROWS;
    return s->left == NO_LIMIT || s->left >= least + AROUND;
}

static status put_one(screen *s, const table *t, error *err) {
    size_t start = s->out->n, whole = s->left;
    size_t rows = whole == NO_LIMIT || t->screen.rows == 0 ? NO_LIMIT : t->screen.rows;
    if (s->a->n_tables > 1) title_put(t, s->o, s->out);
    TRY(put_body(s, t, rows, whole == NO_LIMIT ? NO_LIMIT : whole - AROUND, err));
    buf_add_byte(s->out, '\n');
    if (whole == NO_LIMIT) return emit_row_end(s->o, s->out, err);
    size_t used = lines_in(s->out, start);
    s->left = used < whole ? whole - used : 0;
    return OK;
}

/* The table at this place or the next; NULL after the last. */
static table *next_table(const answer *a, uint32_t place) {
    table *found = NULL;
    for (uint32_t i = 0; i < a->n_tables; i++) {
        table *t = a->tables[i];
        if (t->screen.place >= place && t->screen.place != 0 &&
            (!found || t->screen.place < found->screen.place))
            found = t;
    }
    return found;
}

static void add_other(screen *s, const table *t) {
    if (s->others.n) buf_add_cstr(&s->others, ", ");
    buf_add_cstr(&s->others, t->name);
}

static status put_tables(screen *s, error *err) {
    bool any = false;
    for (table *t = next_table(s->a, 1); t; t = next_table(s->a, t->screen.place + 1U)) {
        if (t->n_rows == 0) continue;
        if (any && !fits(s, t)) {
            add_other(s, t);
            continue;
        }
        TRY(put_one(s, t, err));
        any = true;
    }
    for (uint32_t i = 0; i < s->a->n_tables; i++) {
        const table *t = s->a->tables[i];
        if (t->screen.place == 0 && t->total_rows != 0) add_other(s, t);
    }
    if (any) return OK;
    const table *first = next_table(s->a, 1);
    if (first) rows_put_note(first, s->o, s->out);
    buf_add_cstr(s->out, first ? "\n" : "");
    return OK;
}

/* ---- below them -------------------------------------------------------------------------- */

static void put_more(screen *s) {
    verdict more = {.message = s->others.n ? MSG_TEXT_MORE_TABLES : MSG_TEXT_MORE_ROWS,
                    .n_args = 1,
                    .args = {arg_text("tables", buf_str(&s->others))}};
    if (s->others.n || s->cut) sentence_put(s->out, s->o, SGR_DIM, &more);
}

status emit_screen(const answer *a, const present_options *o, buf *out, error *err) {
    buf below = {0};
    screen s = {.a = a, .o = o, .out = out};
    size_t start = out->n;
    arena_init(&s.scratch, 0);
    present_quality_text(a, o, &below);
    present_verdict_text(&a->verdict, o, out);
    size_t taken = lines_in(out, start) + lines_in(&below, 0) + MORE_LINES;
    s.left = o->lines == UINT32_MAX           ? NO_LIMIT
             : taken + LEAST_LINES < o->lines ? o->lines - taken
                                              : LEAST_LINES;
    status got = put_tables(&s, err);
    put_more(&s);
    buf_add_str(out, buf_str(&below));
    if (!buf_ok(&below) || !buf_ok(&s.others)) out->failed = true;
    buf_fini(&below);
    buf_fini(&s.others);
    arena_fini(&s.scratch);
    return got;
}
