/* shape.c: which of the answer's tables and rows a reader gets, and in which order.
 *
 * An analysis answers in the order it thinks best. --table keeps one table. --search keeps rows
 * by text in all tables that have text; --sort orders every table that has the column (one at
 * least must); --limit cuts last, so it keeps the first rows of that order. The number of rows
 * before the cut stays in total_rows.
 *
 * The direction of --sort follows from the column when it is not said: numbers fall, because
 * the large ones matter, texts rise. */
#include "cli/shape.h"

#include <string.h>

static void add_name(buf *names, const char *name) {
    if (names->n != 0) buf_add_cstr(names, ", ");
    buf_add_cstr(names, name);
}

static status fail_no_table(const answer *a, str name, error *err) {
    buf names = {0};
    for (uint32_t i = 0; i < a->n_tables; i++) add_name(&names, a->tables[i]->name);
    arg args[] = {arg_cstr("analysis", a->analysis), arg_text("name", name),
                  arg_text("tables", buf_str(&names))};
    error_set(err, ERR_ARG, NOPOS, MSG_CLI_NO_TABLE, 3, args); /* copies the names */
    buf_fini(&names);
    return ERR_ARG;
}

static status fail_no_column(const table *t, str name, error *err) {
    buf names = {0};
    for (uint32_t i = 0; i < t->n_columns; i++) add_name(&names, t->columns[i].name);
    arg args[] = {arg_cstr("table", t->name), arg_text("name", name),
                  arg_text("columns", buf_str(&names))};
    error_set(err, ERR_ARG, NOPOS, MSG_CLI_NO_COLUMN, 3, args);
    buf_fini(&names);
    return ERR_ARG;
}

static status keep_table(answer *a, str name, error *err) {
    for (uint32_t i = 0; i < a->n_tables; i++) {
        if (!str_eq(str_of(a->tables[i]->name), name)) continue;
        a->tables[0] = a->tables[i];
        a->n_tables = 1;
        return OK;
    }
    return fail_no_table(a, name, err);
}

static bool has_text(const table *t) {
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (t->columns[i].type == TYPE_TEXT) return true;
    return false;
}

status shape_sort(answer *a, str wanted, error *err) {
    size_t colon = str_rfind_byte(wanted, ':');
    str name = colon == SIZE_MAX ? wanted : str_n(wanted.p, colon);
    str way = colon == SIZE_MAX ? STR_NONE : str_from(wanted, colon + 1);
    bool sorted = false;
    if (colon != SIZE_MAX && !str_eq(way, STR("asc")) && !str_eq(way, STR("desc")))
        FAIL(err, ERR_ARG, NOPOS, MSG_CLI_BAD_CHOICE, arg_cstr("name", "--sort"),
             arg_text("value", wanted), arg_cstr("choices", "COLUMN, COLUMN:asc, COLUMN:desc"));
    for (uint32_t i = 0; i < a->n_tables; i++) {
        table *t = a->tables[i];
        uint32_t col = table_column(t, name);
        if (col == UINT32_MAX) continue;
        bool descending = way.p ? way.n == 4 : t->columns[col].type != TYPE_TEXT;
        TRY(table_sort(t, col, descending, err));
        sorted = true;
    }
    if (sorted || a->n_tables == 0) return OK;
    return fail_no_column(a->tables[0], name, err);
}

void shape_stable(answer *a, const options *o) {
    if (!o->stable) return;
    a->source.path = STR_NONE;
    a->source.start_unix_ns = INT64_MIN;
    /* The store's size depends on how many threads read it: a few bytes, but not the same. */
    for (uint32_t i = 0; i < a->n_tables; i++)
        if (strcmp(a->analysis, "info") == 0) table_drop_rows(a->tables[i], STR("store_bytes"));
}

status shape_answer(answer *a, const options *o, error *err) {
    shape_stable(a, o);
    if (o->table.p) TRY(keep_table(a, o->table, err));
    for (uint32_t i = 0; i < a->n_tables && o->search.n != 0; i++)
        if (has_text(a->tables[i])) TRY(table_search(a->tables[i], o->search, err));
    if (o->sort.n != 0) TRY(shape_sort(a, o->sort, err));
    for (uint32_t i = 0; i < a->n_tables && o->limit > 0; i++)
        table_limit(a->tables[i], (size_t)o->limit);
    return OK;
}
