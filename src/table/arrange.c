/* arrange.c: which of the answer's tables and rows a reader gets, and in which order.
 *
 * An analysis answers in the order it thinks best. A few tables may be kept alone; a search or
 * a filter keeps rows in all tables that have text; sorting orders every table that has the
 * first column (one at least must), further columns decide between equal rows; offset and limit
 * cut last, so they count the rows of that order. The number of rows before the cut stays in
 * total_rows.
 *
 * The direction of sorting follows from the column when it is not said: numbers fall, because
 * the large ones matter, texts rise. */
#include "table/arrange.h"

#include "base/message_ids_cli.h"
#include "base/nearest.h"
#include "table/filter.h"

enum { SORT_KEYS = 4 };

static status fail_no_table(const answer *a, str name, error *err) {
    name_hint hint = hint_for(name);
    for (uint32_t i = 0; i < a->n_tables; i++) hint_offer(&hint, str_of(a->tables[i]->name));
    FAIL(err, ERR_ARG, NOPOS, MSG_CLI_NO_TABLE, arg_cstr("analysis", a->analysis),
         arg_text("name", name), HINT_ARGS(&hint));
}

/* The columns of the first table are listed; one of any table may be meant. */
static status fail_no_column(const answer *a, str name, error *err) {
    name_hint hint = hint_for(name);
    const table *first = a->tables[0];
    for (uint32_t i = 0; i < first->n_columns; i++)
        hint_offer(&hint, str_of(first->columns[i].name));
    for (uint32_t i = 1; i < a->n_tables; i++)
        for (uint32_t k = 0; k < a->tables[i]->n_columns; k++)
            hint_consider(&hint, str_of(a->tables[i]->columns[k].name));
    FAIL(err, ERR_ARG, NOPOS, MSG_CLI_NO_COLUMN, arg_cstr("table", first->name),
         arg_text("name", name), HINT_ARGS(&hint));
}

/* The tables named, in the order they are asked for. */
static status keep_tables(answer *a, str names, error *err) {
    answer all = *a;
    uint32_t n = 0;
    for (str rest = names; rest.n != 0;) {
        str name = str_cut(&rest, STR(","));
        uint32_t i = 0;
        while (i < all.n_tables && !str_eq(str_of(all.tables[i]->name), name)) i++;
        if (i == all.n_tables) return fail_no_table(&all, name, err);
        uint32_t k = 0;
        while (k < n && a->tables[k] != all.tables[i]) k++;
        if (k < n) continue; /* named twice */
        a->tables[n++] = all.tables[i];
        /* What was asked for by name fills the screen. */
        all.tables[i]->screen = (table_screen){.place = (uint16_t)n};
    }
    a->n_tables = n;
    return OK;
}

static bool has_text(const table *t) {
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (t->columns[i].type == TYPE_TEXT) return true;
    return false;
}

typedef struct {
    str name, way; /* way: "asc", "desc" or empty */
} wanted_key;

static status parse_keys(str wanted, wanted_key *keys, uint32_t *n, error *err) {
    for (str rest = wanted; rest.n != 0;) {
        str one = str_cut(&rest, STR(","));
        size_t colon = str_rfind_byte(one, ':');
        wanted_key key = {.name = colon == SIZE_MAX ? one : str_n(one.p, colon),
                          .way = colon == SIZE_MAX ? STR_NONE : str_from(one, colon + 1)};
        bool known =
            colon == SIZE_MAX || str_eq(key.way, STR("asc")) || str_eq(key.way, STR("desc"));
        if (!known || *n == SORT_KEYS)
            FAIL(err, ERR_ARG, NOPOS, MSG_CLI_BAD_FORM, arg_text("given", wanted),
                 arg_cstr("form", ARRANGE_ORDERS));
        keys[(*n)++] = key;
    }
    return OK;
}

bool arrange_is_order(str sort) {
    wanted_key keys[SORT_KEYS];
    uint32_t n = 0;
    return parse_keys(sort, keys, &n, NULL) == OK;
}

/* Column and direction of a key in a table; false when the table has no such column. */
static bool find_key(const table *t, const wanted_key *key, sort_by *out) {
    uint32_t col = table_column(t, key->name);
    if (col == UINT32_MAX) return false;
    *out = (sort_by){.column = col,
                     .descending =
                         key->way.n ? key->way.n == 4 : t->columns[col].type != TYPE_TEXT};
    return true;
}

/* Keys of which no table has the column are a mistake. */
static status check_keys(const answer *a, const wanted_key *keys, uint32_t n, error *err) {
    for (uint32_t k = 0; k < n; k++) {
        bool known = a->n_tables == 0;
        for (uint32_t i = 0; i < a->n_tables && !known; i++)
            known = table_column(a->tables[i], keys[k].name) != UINT32_MAX;
        if (!known) return fail_no_column(a, keys[k].name, err);
    }
    return OK;
}

status arrange_sort(answer *a, str wanted, error *err) {
    wanted_key keys[SORT_KEYS];
    uint32_t n = 0;
    TRY(parse_keys(wanted, keys, &n, err));
    TRY(check_keys(a, keys, n, err));
    for (uint32_t i = 0; i < a->n_tables; i++) {
        sort_by by[SORT_KEYS];
        uint32_t found = 0;
        if (n == 0 || !find_key(a->tables[i], &keys[0], &by[found++])) continue;
        for (uint32_t k = 1; k < n; k++)
            if (find_key(a->tables[i], &keys[k], &by[found])) found++;
        TRY(table_sort_by(a->tables[i], by, found, err));
    }
    return OK;
}

static status filter_tables(answer *a, const arrangement *how, error *err) {
    wanted_key keys[SORT_KEYS];
    uint32_t n = 0;
    TRY(parse_keys(how->sort, keys, &n, err));
    for (uint32_t i = 0; i < a->n_tables; i++) {
        table *t = a->tables[i];
        filter_question q = {.text = how->filter,
                             .sorted_by = n ? table_column(t, keys[0].name) : UINT32_MAX,
                             .ranked = n == 0};
        if (has_text(t)) TRY(table_filter(t, &q, err));
    }
    return OK;
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

/* Rows that can be searched. */
static int64_t count_rows(const answer *a) {
    size_t n = 0;
    for (uint32_t i = 0; i < a->n_tables; i++)
        if (has_text(a->tables[i])) n += a->tables[i]->n_rows;
    return (int64_t)n;
}

static status search_tables(answer *a, const arrangement *how, error *err) {
    int64_t before = count_rows(a);
    if (!how->search.n && !how->filter.n) return OK;
    for (uint32_t i = 0; i < a->n_tables && how->search.n != 0; i++)
        if (has_text(a->tables[i])) TRY(table_search(a->tables[i], how->search, err));
    if (how->filter.n != 0) TRY(filter_tables(a, how, err));
    a->match = (verdict){.id = "match", .message = MSG_TEXT_MATCHED, .severity = SEVERITY_INFO};
    a->match.args[a->match.n_args++] = arg_int("count", count_rows(a));
    a->match.args[a->match.n_args++] = arg_int("total", before);
    a->match.args[a->match.n_args++] =
        arg_text("text", how->search.n ? how->search : how->filter);
    return OK;
}

status arrange_answer(answer *a, const arrangement *how, error *err) {
    if (how->table.n != 0) TRY(keep_tables(a, how->table, err));
    TRY(search_tables(a, how, err));
    if (how->sort.n != 0) TRY(arrange_sort(a, how->sort, err));
    for (uint32_t i = 0; i < a->n_tables; i++) {
        if (how->offset) skip_rows(a->tables[i], how->offset);
        table_limit(a->tables[i], how->limit);
    }
    return OK;
}
