/* sql_tests.c: a condition as a comparison of numbers.
 *
 * Texts of a trace are numbers, those of strings and of words, so a text is looked up once and
 * rows compare numbers; a pattern is tried once for each different name. What comes out is what
 * SQLite would say row by row: numbers and texts compare as its types do, NULL fits nothing. */
#include "query/sql_tests.h"

#include <math.h>

#include "base/counted.h"
#include "base/intern.h"

/* ---- strings by their bytes -------------------------------------------------------------- */

static status list_strings(row_source *s, error *err) {
    const trace *t = s->t;
    if (s->same_hash) return OK;
    uint32_t *next = ARENA_ARRAY(s->arena, uint32_t, (size_t)t->n_strings + 1);
    if (!next) FAIL_MEMORY(err);
    if (map_reserve(&s->strings, t->n_strings) != OK) FAIL_MEMORY(err);
    for (uint32_t id = t->n_strings; id-- > 1;) {
        str text = trace_str(t, id);
        uint32_t *first = map_at(&s->strings, intern_hash(text));
        if (!first) FAIL_MEMORY(err);
        next[id] = *first == MAP_NONE ? 0 : *first;
        *first = id;
    }
    s->same_hash = next;
    return OK;
}

/* How many strings have these bytes, one in a file of ours; *id: the first. */
static uint32_t find_strings(const row_source *s, str text, uint32_t *id) {
    uint32_t n = 0, at = map_get(&s->strings, intern_hash(text));
    if (at == MAP_NONE) return 0;
    for (; at; at = s->same_hash[at])
        if (str_eq(trace_str(s->t, at), text) && n++ == 0) *id = at;
    return n;
}

/* ---- making tests ------------------------------------------------------------------------ */

/* A set of n numbers, and after it a copy of the pattern that decides about them later. */
static status make_set(row_test *test, uint32_t n, str pattern, error *err) {
    size_t set_bytes = (size_t)n + 1;
    test->set = counted_alloc(set_bytes + pattern.n + 1);
    if (!test->set) FAIL_MEMORY(err);
    memset(test->set, 0, set_bytes + pattern.n + 1);
    if (pattern.n) memcpy(test->set + set_bytes, pattern.p, pattern.n);
    if (pattern.p) test->pattern = str_n((const char *)test->set + set_bytes, pattern.n);
    test->how = TEST_SET;
    return OK;
}

static status fill_words(const row_source *s, row_test *test, str text, error *err) {
    bool wanted = test->op == IS_EQUAL;
    TRY(make_set(test, MAX_WORDS, STR_NONE, err));
    for (uint32_t i = 0; i < MAX_WORDS; i++) {
        str word = test->column->word(s->t, i);
        bool fits = test->op == IS_LIKE || test->op == IS_GLOB
                        ? s->match(s->match_context, test->op, text.p, word)
                        : str_eq(word, text) == wanted;
        test->set[i] = word.p && fits ? 1 : 2;
    }
    return OK;
}

static status fill_names(row_source *s, row_test *test, str text, error *err) {
    uint32_t id = 0;
    bool wanted = test->op == IS_EQUAL;
    TRY(list_strings(s, err));
    uint32_t n = find_strings(s, text, &id);
    if (n <= 1) { /* id 0 is NULL, so nothing equals it and all others differ */
        test->how = n || !wanted ? TEST_INT : TEST_NEVER;
        test->i = id;
        return OK;
    }
    TRY(make_set(test, s->t->n_strings, STR_NONE, err));
    for (uint32_t i = 1; i < s->t->n_strings; i++)
        test->set[i] = str_eq(trace_str(s->t, i), text) == wanted ? 1 : 2;
    return OK;
}

static status make_text_test(row_source *s, row_test *test, const sql_value *v, error *err) {
    bool is_word = test->column->kind == CELL_WORD;
    bool pattern = test->op == IS_LIKE || test->op == IS_GLOB;
    if (v->type == VALUE_IS_BLOB && !pattern) {
        test->how = test->op == IS_NOT ? TEST_ALWAYS : TEST_NEVER;
        return OK;
    }
    if (is_word) return fill_words(s, test, v->text, err);
    if (!pattern) return fill_names(s, test, v->text, err);
    return make_set(test, s->t->n_strings, v->text, err);
}

static void make_number_test(row_test *test, const sql_value *v) {
    bool below = test->op == IS_LESS || test->op == IS_AT_MOST || test->op == IS_NOT;
    switch (v->type) {
    case VALUE_IS_INT:
        test->how = TEST_INT;
        test->i = v->i;
        break;
    case VALUE_IS_REAL:
        test->how = TEST_REAL;
        test->d = v->d;
        break;
    default: test->how = below ? TEST_ALWAYS : TEST_NEVER; /* numbers come before texts */
    }
}

status test_make(row_source *s, const sql_table *tab, const condition *c, row_test *out,
                 error *err) {
    *out = (row_test){.column = &tab->columns[c->column], .op = c->op};
    if (c->op == IS_NULL || c->op == IS_NOT_NULL) {
        out->how = TEST_NULL;
        return OK;
    }
    if (c->value.type == VALUE_IS_NULL) {
        out->how = TEST_NEVER;
        return OK;
    }
    if (out->column->kind == CELL_NAME || out->column->kind == CELL_WORD)
        return make_text_test(s, out, &c->value, err);
    make_number_test(out, &c->value);
    return OK;
}

void test_end(row_test *test) {
    counted_free(test->set);
    test->set = NULL;
}

/* ---- testing ----------------------------------------------------------------------------- */

/* -1, 0, 1, exactly: not every whole number is a double. */
static int compare_int_real(int64_t i, double d) {
    if (d >= 9223372036854775808.0) return -1;
    if (d < -9223372036854775808.0) return 1;
    int64_t whole = (int64_t)d;
    if (i != whole) return i < whole ? -1 : 1;
    double rest = d - (double)whole;
    return rest > 0 ? -1 : rest < 0;
}

static bool fits_order(condition_op op, int order) {
    switch (op) {
    case IS_EQUAL: return order == 0;
    case IS_NOT: return order != 0;
    case IS_LESS: return order < 0;
    case IS_AT_MOST: return order <= 0;
    case IS_MORE: return order > 0;
    default: return order >= 0;
    }
}

static bool fits_set(const row_source *s, const row_test *test, uint32_t id) {
    if (test->column->kind == CELL_WORD && id >= MAX_WORDS) return false;
    if (test->set[id] == 0 && test->pattern.p) {
        bool fits = s->match(s->match_context, test->op, test->pattern.p, trace_str(s->t, id));
        test->set[id] = fits ? 1 : 2;
    }
    return test->set[id] == 1;
}

static bool fits_real(const row_test *test, double v) {
    if (isnan(v)) return false;
    if (test->how == TEST_ALWAYS) return true;
    int order =
        test->how == TEST_INT ? -compare_int_real(test->i, v) : (v > test->d) - (v < test->d);
    return fits_order(test->op, order);
}

bool test_row(const row_source *s, cell_reader *cells, const row_test *test, uint32_t row) {
    const sql_column *c = test->column;
    if (test->how == TEST_NEVER) return false;
    if (c->kind == CELL_REAL) {
        double v = cell_real(cells, c, row);
        return test->how == TEST_NULL ? isnan(v) == (test->op == IS_NULL) : fits_real(test, v);
    }
    int64_t v = cell_int(cells, c, row);
    if (test->how == TEST_NULL) return (v == ABSENT_I64) == (test->op == IS_NULL);
    if (v == ABSENT_I64) return false;
    switch (test->how) {
    case TEST_INT: return fits_order(test->op, (v > test->i) - (v < test->i));
    case TEST_REAL: return fits_order(test->op, compare_int_real(v, test->d));
    case TEST_SET: return fits_set(s, test, (uint32_t)v);
    default: return true;
    }
}
