/* arrange.c: which of the answer's tables and rows a reader gets, and in which order.
 *
 * An analysis answers in the order it thinks best. One table may be kept alone; a search keeps rows
 * by text in all tables that have text; sorting orders every table that has the column (one at least
 * must); offset and limit cut last, so they count the rows of that order. The number of rows before
 * the cut stays in total_rows.
 *
 * The direction of sorting follows from the column when it is not said: numbers fall, because the
 * large ones matter, texts rise. */
#include "table/arrange.h"

#include "base/buf.h"

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

status arrange_sort(answer *a, str wanted, error *err) {
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

/* Columns begin later: nothing is moved. */
static void skip_rows(table *t, size_t n) {
    if (n > t->n_rows) n = t->n_rows;
    for (uint32_t i = 0; i < t->n_columns; i++) {
        column *c = &t->columns[i];
        switch (c->type) {
        case TYPE_REAL: c->v.d += n; break;
        case TYPE_TEXT: c->v.s += n; break;
        case TYPE_SENTENCE:
        case TYPE_VALUES: c->v.sentence += n; break;
        default: c->v.i += n;
        }
        if (c->null) c->null += n;
    }
    t->n_rows -= n;
}

status arrange_answer(answer *a, const arrangement *how, error *err) {
    if (how->table.n != 0) TRY(keep_table(a, how->table, err));
    for (uint32_t i = 0; i < a->n_tables && how->search.n != 0; i++)
        if (has_text(a->tables[i])) TRY(table_search(a->tables[i], how->search, err));
    if (how->sort.n != 0) TRY(arrange_sort(a, how->sort, err));
    for (uint32_t i = 0; i < a->n_tables; i++) {
        if (how->offset) skip_rows(a->tables[i], how->offset);
        table_limit(a->tables[i], how->limit);
    }
    return OK;
}
