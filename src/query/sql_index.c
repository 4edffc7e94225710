/* sql_index.c: rows by the value of a column.
 *
 * Values that are ids of something are counted into their places; other numbers are sorted with
 * their rows. The first question scans: most columns are asked for one value only. */
#include "query/sql_index.h"

#include "base/bisect.h"
#include "base/counted.h"

static column_index *index_of(row_source *s, const sql_table *tab, uint8_t col, error *err) {
    if (!s->indexes)
        s->indexes = ARENA_ARRAY(s->arena, column_index, (size_t)N_TABLES * MAX_SQL_COLUMNS);
    if (!s->indexes) (void)error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    return s->indexes ? &s->indexes[tab->table * MAX_SQL_COLUMNS + col] : NULL;
}

static status make_dense(row_source *s, const sql_table *tab, const sql_column *c,
                         column_index *x, error *err) {
    cell_reader cells = {.t = s->t};
    uint32_t range = cell_range(s->t, c), n = trace_rows(s->t, tab->table);
    uint32_t *first = ARENA_ARRAY(s->arena, uint32_t, (size_t)range + 2);
    uint32_t *rows = ARENA_ARRAY(s->arena, uint32_t, (size_t)n + 1);
    if (!first || !rows) FAIL_MEMORY(err);
    for (uint32_t row = 1; row < n; row++) {
        int64_t v = cell_int(&cells, c, row);
        if (v != ABSENT_I64) first[v + 1]++;
    }
    for (uint32_t i = 0; i <= range; i++) first[i + 1] += first[i];
    for (uint32_t row = n; row-- > 1;) { /* backwards: each value's place counts down */
        int64_t v = cell_int(&cells, c, row);
        if (v != ABSENT_I64) rows[--first[v + 1]] = row;
    }
    /* first[v + 1] has come down to where v begins. */
    x->first = first + 1;
    x->rows = rows;
    x->n = range;
    return OK;
}

static status make_sorted(row_source *s, const sql_table *tab, const sql_column *c,
                          column_index *x, error *err) {
    cell_reader cells = {.t = s->t};
    uint32_t rows = trace_rows(s->t, tab->table);
    sort_pair *pairs = ARENA_ARRAY(s->arena, sort_pair, (size_t)rows + 1);
    sort_pair *scratch = counted_alloc(((size_t)rows + 1) * sizeof *scratch);
    size_t n = 0;
    if (pairs && scratch) {
        for (uint32_t row = 1; row < rows; row++) {
            int64_t v = cell_int(&cells, c, row);
            if (v != ABSENT_I64) pairs[n++] = (sort_pair){(uint64_t)v ^ 1ull << 63, row};
        }
        sort_radix(pairs, scratch, n);
    }
    bool made = pairs && scratch;
    counted_free(scratch);
    if (!made) FAIL_MEMORY(err);
    x->pairs = pairs;
    x->n = n;
    return OK;
}

status index_find(row_source *s, const sql_table *tab, uint8_t col, int64_t value,
                  index_rows *out, error *err) {
    const sql_column *c = &tab->columns[col];
    column_index *x = index_of(s, tab, col, err);
    if (!x) return ERR_MEMORY;
    if (++x->n_asked < 2 || c->kind == CELL_WORD) return OK;
    if (!x->first && !x->pairs)
        TRY(cell_range(s->t, c) ? make_dense(s, tab, c, x, err)
                                : make_sorted(s, tab, c, x, err));
    *out = (index_rows){.is_there = true, .rows = x->rows, .pairs = x->pairs};
    if (x->first) {
        if (value < 0 || value >= (int64_t)x->n) return OK;
        out->rows = x->rows + x->first[value];
        out->n = x->first[value + 1] - x->first[value];
        return OK;
    }
    uint64_t key = (uint64_t)value ^ 1ull << 63;
    size_t low = SEARCH_FIRST(i, (size_t)0, x->n, x->pairs[i].key < key);
    out->pairs = x->pairs + low;
    while (low + out->n < x->n && x->pairs[low + out->n].key == key) out->n++;
    return OK;
}
