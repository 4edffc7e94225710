/* sql_rows.c: walking over the rows that fit.
 *
 * First the conditions narrow the rows, by what is sorted: ids, the slices of a track, starts
 * inside a track, side tables by slice, events by time, a subtree of slices. What is left of
 * the conditions is tested row by row. A join asks the same column again and again for one
 * value: from the second time on an index answers.
 *
 *     low ─────────────────────── high      rows (ids ascend)
 *        track 1   track 2   track 3        starts ascend inside each: one search per track
 *
 * For GROUP BY and ORDER BY of a column with few different values the rows that fit are listed
 * and counted into their places: two passes over numbers; texts are compared once for each
 * name. */
#include "query/sql_rows.h"

#include "base/bisect.h"
#include "base/counted.h"
#include "query/sql_index.h"
#include "query/sql_tests.h"

void rows_init(row_source *s, const sql_table *tables, const trace *t, arena *a) {
    *s = (row_source){.tables = tables, .t = t, .arena = a};
}

void rows_fini(row_source *s) {
    map_fini(&s->strings);
}

/* ---- narrowing --------------------------------------------------------------------------- */

static void narrow(row_walk *w, uint32_t low, uint32_t high) {
    if (low > w->low) w->low = low;
    if (high < w->high) w->high = high;
    if (w->low > w->high) w->low = w->high;
}

static uint32_t to_row(int64_t v) {
    return v < 0 ? 0 : v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

/* The rows whose value, which ascends, fits. first(x): the first row at or after x. */
static void narrow_sorted(row_walk *w, const row_test *test) {
    const sql_column *c = test->column;
    int64_t v = test->i, next = add_i64(v, 1);
#define FIRST_AT(x) SEARCH_FIRST(i, w->low, w->high, cell_int(&w->cells, c, i) < (x))
    if (test->op == IS_EQUAL || test->op == IS_AT_LEAST) narrow(w, FIRST_AT(v), w->high);
    if (test->op == IS_MORE) narrow(w, FIRST_AT(next), w->high);
    if (test->op == IS_EQUAL || test->op == IS_AT_MOST) narrow(w, w->low, FIRST_AT(next));
    if (test->op == IS_LESS) narrow(w, w->low, FIRST_AT(v));
#undef FIRST_AT
}

static void narrow_ids(row_walk *w, const row_test *test) {
    int64_t v = test->i;
    switch (test->op) {
    case IS_EQUAL: narrow(w, v < 0 ? w->high : to_row(v), to_row(add_i64(v, 1))); break;
    case IS_LESS: narrow(w, w->low, to_row(v)); break;
    case IS_AT_MOST: narrow(w, w->low, to_row(add_i64(v, 1))); break;
    case IS_MORE: narrow(w, to_row(add_i64(v, 1)), w->high); break;
    default: narrow(w, to_row(v), w->high);
    }
}

static void narrow_starts(row_walk *w, const row_test *test) {
    int64_t v = add_i64(test->i, w->from->t->start_ns), next = add_i64(v, 1);
    int64_t low = INT64_MIN, high = INT64_MAX;
    if (test->op == IS_EQUAL || test->op == IS_AT_LEAST) low = v;
    if (test->op == IS_MORE) low = next;
    if (test->op == IS_EQUAL || test->op == IS_AT_MOST) high = next;
    if (test->op == IS_LESS) high = v;
    if (low > w->start_low) w->start_low = low;
    if (high < w->start_high) w->start_high = high;
    w->by_track = true;
}

static void narrow_track(row_walk *w, const row_test *test) {
    const trace *t = w->from->t;
    bool known = test->i > 0 && test->i < t->track.n;
    if (!known)
        w->high = w->low;
    else
        narrow(w, t->track.first[test->i], t->track.end[test->i]);
}

static void narrow_children(row_walk *w, const row_test *test) {
    const trace *t = w->from->t;
    if (test->i > 0 && test->i < t->slice.n)
        narrow(w, (uint32_t)test->i + 1, trace_subtree_end(t, (uint32_t)test->i));
    else
        w->high = w->low;
}

/* Uses what is sorted; true: the rows that are left all fit. */
static bool use_order(row_walk *w, const row_test *test, uint8_t col) {
    const sql_table *tab = w->table;
    bool slices = tab->table == TABLE_slice;
    if (test->how != TEST_INT || test->op == IS_NOT) return false;
    if (col == 0)
        narrow_ids(w, test);
    else if (col == tab->by)
        narrow_sorted(w, test);
    else if (slices && col == tab->track && test->op == IS_EQUAL)
        narrow_track(w, test);
    else if (slices && col == tab->start)
        narrow_starts(w, test);
    else {
        if (slices && col == tab->parent && test->op == IS_EQUAL) narrow_children(w, test);
        return false;
    }
    return true;
}

/* ---- the rows, one after the other ------------------------------------------------------- */

static bool row_is_chosen(const row_walk *w, uint32_t row) {
    const row_source *s = w->from;
    const sql_table *tab = w->table;
    cell_reader cells = w->cells;
    if (tab->table == TABLE_slice) return select_counts(&s->chosen, row);
    if (tab->table == TABLE_kernel) return select_work_counts(&s->chosen, row);
    if (tab->table == TABLE_step)
        return s->t->step.number[row] >= s->chosen.first_step &&
               s->t->step.number[row] <= s->chosen.last_step &&
               select_clip(&s->chosen, s->t->step.start[row], s->t->step.end[row]) > 0;
    if (tab->table == TABLE_sample)
        return s->t->sample.time[row] >= s->chosen.from_ns &&
               s->t->sample.time[row] < s->chosen.to_ns &&
               select_step(&s->chosen, s->t->sample.time[row]);
    if (tab->by == NO_SQL_COLUMN) return true;
    int64_t v = cell_int(&cells, &tab->columns[tab->by], row);
    if (tab->by == tab->slice) return select_counts(&s->chosen, (uint32_t)v);
    v = add_i64(v, s->t->start_ns);
    return v >= s->chosen.from_ns && v < s->chosen.to_ns && select_step(&s->chosen, v);
}

static bool row_fits(row_walk *w, uint32_t row) {
    for (uint32_t i = 0; i < w->n_tests; i++)
        if (!test_row(w->from, &w->cells, &w->tests[i], row)) return false;
    return !w->from->is_cut || row_is_chosen(w, row);
}

/* The next track's part of the rows into low … high; false after the last. */
static bool next_track(row_walk *w) {
    const trace *t = w->from->t;
    bool down = w->order == ORDER_DOWN;
    while (w->track < w->track_end) {
        uint32_t track = down ? --w->track_end : w->track++;
        uint32_t first = t->track.first[track], end = t->track.end[track];
        if (first < w->all_low) first = w->all_low;
        if (end > w->all_high) end = w->all_high;
        if (first >= end) continue;
        w->low = SEARCH_FIRST(i, first, end, t->slice.start[i] < w->start_low);
        w->high = SEARCH_FIRST(i, w->low, end, t->slice.start[i] < w->start_high);
        if (w->low < w->high) return true;
    }
    return false;
}

static uint32_t walk_listed(row_walk *w) {
    while (w->at < w->n_list) {
        size_t i = w->order == ORDER_DOWN ? w->n_list - 1 - w->at : w->at;
        uint32_t row = w->list ? w->list[i] : w->pairs[i].row;
        w->at++;
        w->from->n_seen++;
        if (row >= w->low && row < w->high && row_fits(w, row)) return row;
    }
    return 0;
}

static uint32_t walk_range(row_walk *w) {
    bool down = w->order == ORDER_DOWN;
    uint32_t low = w->low, high = w->high, found = 0;
    uint64_t seen = 0;
    while (low < high && !found) {
        uint32_t row = down ? --high : low++;
        seen++;
        if (row_fits(w, row)) found = row;
    }
    w->low = low;
    w->high = high;
    w->from->n_seen += seen;
    return found;
}

static uint32_t next_row(row_walk *w) {
    if (w->list || w->pairs) return walk_listed(w);
    for (;;) {
        uint32_t row = walk_range(w);
        if (row) return row;
        if (!w->by_track || !next_track(w)) return 0;
    }
}

void sql_walk_next(row_walk *w) {
    w->row = w->sorted ? (w->at < w->n_list ? w->sorted[w->at++] : 0) : next_row(w);
}

/* ---- by the values of a column ----------------------------------------------------------- */

static status list_fitting(row_walk *w, uint32_t **out, size_t *n, error *err) {
    uint32_t *rows = NULL;
    size_t cap = 0;
    *n = 0;
    for (uint32_t row; (row = next_row(w)) != 0;) {
        if (*n == cap) {
            cap = cap ? 2 * cap : 1024;
            uint32_t *grown = counted_grow(rows, cap * sizeof *rows);
            if (!grown) {
                counted_free(rows);
                FAIL_MEMORY(err);
            }
            rows = grown;
        }
        rows[(*n)++] = row;
    }
    *out = rows;
    return OK;
}

/* The place of NULL is the first. */
static uint32_t place_of(row_walk *w, const sql_column *c, uint32_t row) {
    int64_t v = cell_int(&w->cells, c, row);
    return v == ABSENT_I64 ? 0 : (uint32_t)v + 1;
}

typedef struct {
    const trace *t;
    const sql_column *c;
} text_order;

static int compare_texts(uint32_t a, uint32_t b, const void *context) {
    const text_order *o = context;
    if (!a || !b) return a ? 1 : b ? -1 : 0;
    if (o->c->kind == CELL_WORD)
        return str_cmp(o->c->word(o->t, a - 1), o->c->word(o->t, b - 1));
    return str_cmp(trace_str(o->t, a - 1), trace_str(o->t, b - 1));
}

/* Numbers of rows by place become where each place begins, in the order of the values; `used`
 * is for two lists of the places that have rows. */
static void begin_places(const row_walk *w, const sql_column *c, uint32_t *places,
                         uint32_t range, uint32_t *used) {
    text_order by = {w->from->t, c};
    uint32_t n = 0, begin = 0;
    for (uint32_t i = 0; i < range; i++)
        if (places[i]) used[n++] = i;
    if (c->kind == CELL_NAME || c->kind == CELL_WORD)
        sort_index(used, used + range, n, compare_texts, &by);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = used[w->order == ORDER_SORTED_DOWN ? n - 1 - k : k], count = places[i];
        places[i] = begin;
        begin += count;
    }
}

static status sort_rows(row_walk *w, uint8_t by, error *err) {
    const sql_column *c = &w->table->columns[by];
    uint32_t range = cell_range(w->from->t, c) + 1, *rows = NULL;
    size_t n = 0;
    TRY(list_fitting(w, &rows, &n, err));
    uint32_t *places = counted_alloc(3 * (size_t)range * sizeof *places);
    uint32_t *sorted = counted_alloc((n + 1) * sizeof *sorted);
    bool made = places && sorted;
    if (made) {
        memset(places, 0, (size_t)range * sizeof *places);
        for (size_t i = 0; i < n; i++) places[place_of(w, c, rows[i])]++;
        begin_places(w, c, places, range, places + range);
        for (size_t i = 0; i < n; i++) sorted[places[place_of(w, c, rows[i])]++] = rows[i];
    }
    counted_free(places);
    counted_free(rows);
    if (!made) counted_free(sorted);
    if (!made) FAIL_MEMORY(err);
    w->sorted = sorted;
    w->n_list = n;
    w->at = 0;
    return OK;
}

/* ---- begin and end ----------------------------------------------------------------------- */

/* An index where one value of a column is asked for the second time, and nothing sorted has
 * narrowed the rows to a few. */
static status use_index(row_walk *w, error *err) {
    enum { FEW_ROWS = 64 };
    if (w->by_track || w->is_narrow || w->high - w->low < FEW_ROWS) return OK;
    for (uint32_t i = 0; i < w->n_tests; i++) {
        const row_test *test = &w->tests[i];
        uint8_t col = (uint8_t)(test->column - w->table->columns);
        bool exact = test->how == TEST_INT && test->op == IS_EQUAL;
        if (!exact) continue;
        index_rows found = {0};
        TRY(index_find(w->from, w->table, col, test->i, &found, err));
        if (!found.is_there) continue;
        w->list = found.rows;
        w->pairs = found.pairs;
        w->n_list = found.n;
        break;
    }
    return OK;
}

static void begin_tracks(row_walk *w) {
    const trace *t = w->from->t;
    w->all_low = w->low;
    w->all_high = w->high;
    w->track = w->low < w->high ? trace_track_of(t, w->low) : 0;
    w->track_end = w->low < w->high ? trace_track_of(t, w->high - 1) + 1 : 0;
    w->low = w->high = 0;
}

status sql_walk_begin(row_walk *w, row_source *s, const sql_table *tab, const walk_plan *plan,
                      error *err) {
    *w = (row_walk){.from = s, .table = tab, .order = plan->order, .low = 1};
    w->cells.t = s->t;
    w->start_low = INT64_MIN;
    w->start_high = INT64_MAX;
    TRY(trace_require(s->t, tab->needs | (s->is_cut ? SELECT_TABLES : 0), err));
    w->high = trace_rows(s->t, tab->table);
    if (w->high == 0) w->low = 0;
    for (uint32_t i = 0; i < plan->n && w->n_tests < MAX_CONDITIONS; i++) {
        row_test *test = &w->tests[w->n_tests];
        TRY(test_make(s, tab, &plan->conditions[i], test, err));
        if (test->how == TEST_NEVER) w->high = w->low;
        if (!use_order(w, test, plan->conditions[i].column))
            w->n_tests++;
        else
            w->is_narrow |= test->op == IS_EQUAL;
    }
    TRY(use_index(w, err));
    if (w->by_track) begin_tracks(w);
    if (plan->order >= ORDER_SORTED) TRY(sort_rows(w, plan->sorted_by, err));
    sql_walk_next(w);
    return OK;
}

void sql_walk_end(row_walk *w) {
    for (uint32_t i = 0; i < MAX_CONDITIONS; i++) test_end(&w->tests[i]);
    counted_free(w->sorted);
    *w = (row_walk){.row = 0};
}

/* ---- for the planner --------------------------------------------------------------------- */

bool walk_can_order(const sql_table *tab, uint8_t col, bool one_track) {
    return col == 0 || col == tab->by ||
           (tab->table == TABLE_slice && col == tab->start && one_track);
}

bool walk_can_sort(const row_source *s, const sql_table *tab, uint8_t col) {
    return cell_range(s->t, &tab->columns[col]) != 0;
}

bool walk_can_test(const sql_table *tab, uint8_t col, condition_op op) {
    cell_kind kind = tab->columns[col].kind;
    bool text = kind == CELL_NAME || kind == CELL_WORD;
    if (kind == CELL_ARGS) return false;
    if (op == IS_NULL || op == IS_NOT_NULL || op == IS_EQUAL || op == IS_NOT) return true;
    return text == (op == IS_LIKE || op == IS_GLOB);
}

/* What a condition leaves of the rows, and of those that are looked at. */
typedef struct {
    double fits, looks;
} share_left;

static share_left share_of(const row_source *s, const sql_table *tab, const condition *c,
                           double n) {
    bool slices = tab->table == TABLE_slice, equal = c->op == IS_EQUAL;
    double one = n > 1 ? 1 / n : 1;
    const sql_column *col = &tab->columns[c->column];
    if (c->column == 0 || c->column == tab->by)
        return equal ? (share_left){one, one} : (share_left){0.3, 0.3};
    if (slices && c->column == tab->track && equal) {
        double tracks = s->t->track.n > 2 ? s->t->track.n - 1 : 1;
        return (share_left){1 / tracks, 1 / tracks};
    }
    if (slices && c->column == tab->start) return (share_left){0.3, 0.3};
    if (equal && col->kind == CELL_WORD) return (share_left){0.2, 1};
    if (equal) return (share_left){n > 200 ? 10 / n : 0.05, n > 200 ? 20 / n : 1};
    return (share_left){c->op == IS_NOT || c->op == IS_NOT_NULL ? 0.9 : 0.3, 1};
}

walk_cost sql_walk_estimate(const row_source *s, const sql_table *tab, const condition *c,
                            uint32_t n) {
    double rows = trace_rows(s->t, tab->table), looks = 1, fits = 1;
    bool one = false;
    for (uint32_t i = 0; i < n; i++) {
        share_left left = share_of(s, tab, &c[i], rows);
        looks *= left.looks;
        fits *= left.fits;
        one |= c[i].op == IS_EQUAL &&
               (c[i].column == 0 || (c[i].column == tab->by && tab->by == tab->slice));
    }
    double given = rows * fits < 1 ? 1 : rows * fits, looked = rows * looks;
    return (walk_cost){.cost = 2 + 0.1 * looked + given, .rows = one ? 1 : given, .one = one};
}
