/* summary_rows.c: rows of a trace as rows of a summary, for the tables that both have.
 *
 * Columns find each other by their names, which are few: nothing here knows a single table.
 * Whole numbers of every width become INT, rows of another table their numbers. */
#include "store/summary_rows.h"

#include "base/bisect.h"
#include "base/num.h"
#include "store/summary_int.h"
#include "store/trace_int.h"

/* "link.step": the name after the dot. */
static const char *column_name(const summary_column *c) {
    return strchr(c->name, '.') + 1;
}

static int table_of_trace(int table) {
    for (int i = 0; i < N_TABLES; i++)
        if (strcmp(TABLE_INFO[i].name, SUMMARY_TABLES[table].name) == 0) return i;
    BUG("a trace has no such table");
}

/* The column of a trace that this one is a copy of; -1: it has none. */
static int column_of_trace(int trace_table, const summary_column *c) {
    const table_info *info = &TABLE_INFO[trace_table];
    for (int i = info->first_column; i < info->end_column; i++)
        if (strcmp(COLUMN_INFO[i].name, column_name(c)) == 0) return i;
    return -1;
}

static int64_t cell_number(const trace *t, int column, uint32_t row) {
    const void *p = trace_column(t, column);
    switch (COLUMN_INFO[column].elem_bytes) {
    case 8: return ((const int64_t *)p)[row];
    case 4:
        if (COLUMN_INFO[column].type != TYPE_I32) return ((const uint32_t *)p)[row];
        return ((const int32_t *)p)[row] == ABSENT_I32 ? ABSENT_I64 : ((const int32_t *)p)[row];
    case 2: return ((const uint16_t *)p)[row];
    default: return ((const uint8_t *)p)[row];
    }
}

static void copy_column(const trace *t, int column, const summary_column *c, char *rows,
                        size_t row_bytes) {
    uint32_t n = trace_rows(t, COLUMN_INFO[column].table);
    for (uint32_t i = 1; i < n; i++) {
        void *cell = rows + (i - 1) * row_bytes + c->offset;
        if (c->cell == CELL_TEXT)
            *(str *)cell = trace_str(t, ((const uint32_t *)trace_column(t, column))[i]);
        else if (c->cell == CELL_REAL)
            *(double *)cell = ((const double *)trace_column(t, column))[i];
        else
            *(int64_t *)cell = cell_number(t, column, i);
    }
}

status summary_rows_of_trace(const trace *t, int table, str worker, arena *a, void **rows,
                             uint32_t *n, error *err) {
    int from = table_of_trace(table);
    size_t bytes = SUMMARY_TABLES[table].row_bytes;
    const summary_column *first = &SUMMARY_COLUMNS[SUMMARY_TABLES[table].first];
    TRY(trace_require(t, (uint64_t)1 << from, err));
    uint32_t count = trace_rows(t, from) > 1 ? trace_rows(t, from) - 1 : 0;
    char *made = arena_array(a, (size_t)count + 1, bytes);
    if (!made) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < count; i++) {
        *(str *)(void *)(made + i * bytes + first[0].offset) = worker;
        *(int64_t *)(void *)(made + i * bytes + first[1].offset) = (int64_t)i + 1;
    }
    for (int c = SUMMARY_TABLES[table].first + 2; c < summary_end(table); c++) {
        int column = column_of_trace(from, &SUMMARY_COLUMNS[c]);
        if (column < 0) BUG("a trace has no such column");
        copy_column(t, column, &SUMMARY_COLUMNS[c], made, bytes);
    }
    *rows = made;
    *n = count;
    return OK;
}

static str worker_at(const summary *s, int table, uint32_t i) {
    const char *row = s->tables[table].rows + SUMMARY_TABLES[table].row_bytes * i;
    return *(const str *)(const void *)row;
}

/* The first row whose worker is not before this one; of those that are equal one past the
 * last. */
static uint32_t bound(const summary *s, int table, str worker, bool after) {
    return SEARCH_FIRST(i, 0, s->tables[table].n,
                        str_cmp(worker_at(s, table, i), worker) < (after ? 1 : 0));
}

void summary_rows_of_worker(const summary *s, int table, str worker, void **rows, uint32_t *n) {
    uint32_t first = bound(s, table, worker, false);
    *rows = s->tables[table].n ? s->tables[table].rows + SUMMARY_TABLES[table].row_bytes * first
                               : NULL;
    *n = bound(s, table, worker, true) - first;
}

status summary_take_rows(summary *to, const trace *t, int table, str worker, error *err) {
    size_t bytes = SUMMARY_TABLES[table].row_bytes;
    void *rows;
    uint32_t n;
    arena scratch;
    arena_init(&scratch, 0);
    status st = summary_rows_of_trace(t, table, worker, &scratch, &rows, &n, err);
    for (uint32_t i = 0; st == OK && i < n; i++) {
        char *row = summary_add(to, table);
        if (!row) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
        if (row) memcpy(row, (char *)rows + i * bytes, bytes);
        if (row) st = summary_copy_texts(to, table, row, err);
    }
    arena_fini(&scratch);
    return st;
}
