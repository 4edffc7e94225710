/* filter.c: a line of text becomes tests, each row is held against them.
 *
 * A test is about one column, or about any column with text. Numbers are compared as the column
 * holds them (ns, bytes, 0…1), so the unit of what was typed says which columns it can be
 * about: 5ms a time, 2MB a size, 5% a share, 100 any of these but a time. Null never fits a
 * condition.
 *
 * Rows are chosen first and moved once. */
#include "table/filter.h"

#include "base/fmt.h"
#include "base/fuzzy.h"
#include "base/sort.h"

typedef enum { IS_WORD, IS_LESS, IS_LESS_EQUAL, IS_EQUAL, IS_MORE, IS_MORE_EQUAL } test_kind;
typedef enum { NUMBER_PLAIN, NUMBER_TIME, NUMBER_SIZE, NUMBER_SHARE } number_kind;

typedef struct {
    test_kind kind;
    bool not, exact, whole;
    uint32_t column; /* UINT32_MAX: any with text */
    str text;
    double value;
} test;

typedef struct {
    table *t;
    const filter_question *q;
    uint32_t n;
    test tests[FILTER_WORDS];
    int *score; /* by row */
} row_filter_ctx;

/* ---- reading ----------------------------------------------------------------------------- */

typedef struct {
    str text; /* without quotes */
    str column;
    bool not, quoted, whole; /* whole: name="all of the cell" */
} word;

/* The end of a column's name at the beginning of the text, after it a colon or a comparison. */
static size_t name_end(str s) {
    size_t i = 0;
    while (i < s.n && ((s.p[i] >= 'a' && s.p[i] <= 'z') || s.p[i] == '_' ||
                       (s.p[i] >= '0' && s.p[i] <= '9')))
        i++;
    return i;
}

static bool next_word(str *rest, word *w) {
    *rest = str_trim(*rest);
    *w = (word){.column = STR_NONE};
    if (rest->n == 0) return false;
    if (rest->n > 1 && rest->p[0] == '-') {
        w->not = true;
        *rest = str_from(*rest, 1);
    }
    size_t name = name_end(*rest);
    if (name && name + 1 < rest->n && (rest->p[name] == ':' || rest->p[name] == '=') &&
        rest->p[name + 1] == '"') {
        w->column = str_n(rest->p, name);
        w->whole = rest->p[name] == '=';
        *rest = str_from(*rest, name + 1);
    }
    w->quoted = rest->p[0] == '"';
    str body = str_from(*rest, w->quoted);
    size_t end = str_find(body, w->quoted ? STR("\"") : STR(" "), 0);
    w->text = end == SIZE_MAX ? body : str_n(body.p, end);
    *rest = end == SIZE_MAX ? STR_NONE : str_from(body, end + 1);
    return true;
}

static bool parse_number(str s, number_kind *kind, double *out) {
    int64_t whole;
    if (s.n == 0 || !((s.p[0] >= '0' && s.p[0] <= '9') || s.p[0] == '.')) return false;
    *kind = NUMBER_PLAIN;
    if (str_to_f64(s, out)) return true;
    if (str_ends(s, STR("%")) && str_to_f64(str_n(s.p, s.n - 1), out)) {
        *kind = NUMBER_SHARE;
        *out /= 100;
        return true;
    }
    *kind = NUMBER_TIME;
    bool ok = fmt_parse_duration(s, &whole);
    if (!ok) {
        *kind = NUMBER_SIZE;
        ok = fmt_parse_bytes(s, &whole);
    }
    if (ok) *out = (double)whole;
    return ok;
}

static test_kind take_comparison(str *s) {
    static const struct {
        str sign;
        test_kind kind;
    } SIGNS[] = {{{">=", 2}, IS_MORE_EQUAL},
                 {{"<=", 2}, IS_LESS_EQUAL},
                 {{">", 1}, IS_MORE},
                 {{"<", 1}, IS_LESS},
                 {{"=", 1}, IS_EQUAL}};
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++) {
        if (!str_starts(*s, SIGNS[i].sign)) continue;
        *s = str_from(*s, SIGNS[i].sign.n);
        return SIGNS[i].kind;
    }
    return IS_WORD;
}

static bool is_number(const column *c) {
    return c->type == TYPE_INT || c->type == TYPE_REAL;
}

static bool unit_fits(const column *c, number_kind kind) {
    if (!is_number(c)) return false;
    switch (kind) {
    case NUMBER_TIME: return c->unit == UNIT_NS;
    case NUMBER_SIZE: return c->unit == UNIT_BYTES || c->unit == UNIT_BYTES_S;
    case NUMBER_SHARE: return c->unit == UNIT_SHARE;
    default: return c->unit != UNIT_NS;
    }
}

/* The column a bare condition is about; UINT32_MAX: none has the unit. */
static uint32_t find_column(const row_filter_ctx *f, number_kind kind) {
    uint32_t best = UINT32_MAX;
    if (f->q->sorted_by < f->t->n_columns && unit_fits(&f->t->columns[f->q->sorted_by], kind))
        return f->q->sorted_by;
    for (uint32_t i = 0; i < f->t->n_columns; i++) {
        const column *c = &f->t->columns[i];
        if (!unit_fits(c, kind) || (best == UINT32_MAX && c->unit == UNIT_NONE)) continue;
        uint16_t rank = c->rank ? c->rank : UINT16_MAX;
        uint16_t so_far = best == UINT32_MAX         ? UINT16_MAX
                          : f->t->columns[best].rank ? f->t->columns[best].rank
                                                     : UINT16_MAX;
        if (best == UINT32_MAX || rank < so_far) best = i;
    }
    return best;
}

/* A condition on a number: false when the word is not one. */
static bool read_condition(const row_filter_ctx *f, const word *w, test *out) {
    str rest = w->text;
    size_t name = name_end(rest);
    uint32_t at = name ? table_column(f->t, str_n(rest.p, name)) : UINT32_MAX;
    if (name && at == UINT32_MAX) return false;
    rest = str_from(rest, name);
    bool colon = name && rest.n && rest.p[0] == ':';
    if (colon) rest = str_from(rest, 1);
    test made = {.kind = take_comparison(&rest), .not = w->not, .column = at};
    number_kind kind;
    if (made.kind == IS_WORD && colon) made.kind = IS_EQUAL;
    if (made.kind == IS_WORD || !parse_number(rest, &kind, &made.value)) return false;
    if (!name) made.column = find_column(f, kind);
    if (made.column == UINT32_MAX) return false;
    const column_unit unit = f->t->columns[made.column].unit;
    if (!is_number(&f->t->columns[made.column])) return false;
    if (unit == UNIT_SHARE && kind == NUMBER_PLAIN && made.value > 1) made.value /= 100;
    *out = made;
    return true;
}

static void read_text(const row_filter_ctx *f, const word *w, test *out) {
    size_t name = w->quoted ? 0 : name_end(w->text);
    str named = w->column, text = w->text;
    if (name && name < text.n && text.p[name] == ':') named = str_n(text.p, name);
    *out = (test){.not = w->not, .exact = w->quoted || w->not, .column = UINT32_MAX};
    uint32_t at = named.n ? table_column(f->t, named) : UINT32_MAX;
    if (at != UINT32_MAX && !is_number(&f->t->columns[at])) {
        out->column = at;
        out->whole = w->whole;
        if (!w->quoted) text = str_from(text, name + 1);
    }
    out->text = text;
}

static status read_tests(row_filter_ctx *f, error *err) {
    str rest = f->q->text;
    for (word w; next_word(&rest, &w);) {
        test one;
        if (w.quoted || !read_condition(f, &w, &one)) read_text(f, &w, &one);
        if (one.kind == IS_WORD && one.text.n == 0) continue;
        if (f->n == FILTER_WORDS)
            FAIL(err, ERR_ARG, NOPOS, MSG_SEARCH_WORDS, arg_int("most", FILTER_WORDS));
        f->tests[f->n++] = one;
    }
    return OK;
}

/* ---- holding rows against them ----------------------------------------------------------- */

static int score_text(const test *x, str text) {
    if (x->whole) return str_eq(text, x->text);
    if (!x->exact) return fuzzy_score(x->text, text);
    return str_find_nocase(text, x->text, 0) != SIZE_MAX;
}

static bool is_yes(str s) {
    return str_eq_nocase(s, STR("yes")) || str_eq_nocase(s, STR("true")) ||
           str_eq(s, STR("1")) || str_eq(s, STR("是"));
}

static int score_cell(const row_filter_ctx *f, const test *x, size_t row, uint32_t col) {
    const column *c = &f->t->columns[col];
    if (table_is_null(f->t, row, col)) return 0;
    if (c->type == TYPE_TEXT) return score_text(x, c->v.s[row]);
    if (c->type == TYPE_BOOL) return x->column == col && is_yes(x->text) == (c->v.i[row] != 0);
    if (c->type != TYPE_BIG || x->column != col) return 0;
    int64_t given;
    return str_to_i64(x->text, &given) && given == c->v.i[row];
}

static int score_word(const row_filter_ctx *f, const test *x, size_t row) {
    int best = 0;
    if (x->column != UINT32_MAX) return score_cell(f, x, row, x->column);
    for (uint32_t i = 0; i < f->t->n_columns; i++) {
        int score = score_cell(f, x, row, i);
        if (score > best) best = score;
    }
    return best;
}

static bool condition_holds(const row_filter_ctx *f, const test *x, size_t row) {
    const column *c = &f->t->columns[x->column];
    if (table_is_null(f->t, row, x->column)) return false;
    double v = c->type == TYPE_REAL ? c->v.d[row] : (double)c->v.i[row];
    switch (x->kind) {
    case IS_LESS: return v < x->value;
    case IS_LESS_EQUAL: return v <= x->value;
    case IS_MORE: return v > x->value;
    case IS_MORE_EQUAL: return v >= x->value;
    default: return v == x->value;
    }
}

/* 0: does not fit. */
static int score_row(const row_filter_ctx *f, size_t row) {
    int sum = 1;
    for (uint32_t i = 0; i < f->n; i++) {
        const test *x = &f->tests[i];
        int score = x->kind == IS_WORD ? score_word(f, x, row) : condition_holds(f, x, row);
        if ((score == 0) != x->not ) return 0;
        sum += score;
    }
    return sum;
}

static int compare_scores(uint32_t a, uint32_t b, const void *context) {
    const row_filter_ctx *f = context;
    if (f->score[a] != f->score[b]) return f->score[a] > f->score[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

status table_filter(table *t, const filter_question *q, error *err) {
    row_filter_ctx f = {.t = t, .q = q};
    size_t kept = 0;
    if (t->n_rows > UINT32_MAX) FAIL0(err, ERR_LIMIT, NOPOS, MSG_TABLE_TOO_LONG);
    TRY(read_tests(&f, err));
    if (f.n == 0) return OK;
    uint32_t *index = ARENA_ARRAY(t->arena, uint32_t, 2 * t->n_rows + 1);
    f.score = ARENA_ARRAY(t->arena, int, t->n_rows + 1);
    if (!index || !f.score) FAIL_MEMORY(err);
    for (size_t row = 0; row < t->n_rows; row++) {
        f.score[row] = score_row(&f, row);
        if (f.score[row]) index[kept++] = (uint32_t)row;
    }
    if (q->ranked) sort_index(index, index + t->n_rows, kept, compare_scores, &f);
    TRY(table_keep(t, index, kept, err));
    t->total_rows = kept;
    return OK;
}
