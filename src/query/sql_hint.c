/* sql_hint.c: a name that SQLite does not know, and the one that was likely meant.
 *
 * SQLite says what is missing in one sentence, "no such table: X"; the name is taken from it.
 * Columns are looked for in the tables that the statement names, because SQLite does not say
 * which one it looked in; only when none of them has a near one, in all tables. */
#include "base/message_ids_query.h"
#include "base/nearest.h"
#include "query/sqlite_int.h"

typedef struct {
    name_hint *hint;
    str statement; /* only tables that it names; none: all */
    bool columns;  /* offer the columns of a table, not its name */
} search;

static bool is_name_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

/* Is the name a whole word of the text? */
static bool names_table(str text, str name) {
    for (size_t at = 0; (at = str_find_nocase(text, name, at)) != SIZE_MAX; at++) {
        bool starts = at == 0 || !is_name_byte(text.p[at - 1]);
        size_t end = at + name.n;
        if (starts && (end == text.n || !is_name_byte(text.p[end]))) return true;
    }
    return false;
}

static bool is_searched(const search *s, str name) {
    return !s->statement.n || names_table(s->statement, name);
}

static status search_result(void *context, str name, const analysis_info *is,
                            const result_info *r, error *err) {
    search *s = context;
    const param_info *p;
    (void)err;
    if (!s->columns) hint_consider(s->hint, name);
    if (!s->columns || !is_searched(s, name)) return OK;
    for (uint32_t i = 0; i < r->n_fields; i++)
        hint_consider(s->hint, str_of(registry_field(r, i)->name));
    for (uint32_t i = 0; (p = registry_param(is->name, i)) != NULL; i++)
        hint_consider(s->hint, str_of(p->name));
    return OK;
}

static void search_tables(query *q, search *s) {
    for (int i = 0; i < N_TABLES; i++) {
        const sql_table *t = &q->tables[i];
        if (!s->columns) hint_consider(s->hint, str_of(t->name));
        if (!s->columns || !is_searched(s, str_of(t->name))) continue;
        for (uint16_t k = 0; k < t->n; k++) hint_consider(s->hint, str_of(t->columns[k].name));
    }
    (void)!results_each(q, &q->arena, search_result, s, NULL); /* without memory: no hint */
}

static void search_functions(name_hint *hint) {
    static const char *const sqlite[] = {
        "abs",    "avg",   "coalesce", "count", "group_concat", "ifnull", "iif",    "instr",
        "length", "lower", "max",      "min",   "nullif",       "printf", "round",  "replace",
        "substr", "sum",   "total",    "trim",  "upper",        "lag",    "lead",   "rank",
        "ntile",  "floor", "ceil",     "sqrt",  "row_number",   "format", "typeof", "ln"};
    for (uint32_t i = 0; function_name(i); i++) hint_consider(hint, str_of(function_name(i)));
    for (size_t i = 0; i < N_OF(sqlite); i++) hint_consider(hint, str_of(sqlite[i]));
}

/* What follows the words in what SQLite says; false when it says something else. */
static bool cut_name(str said, str words, str *out) {
    if (!str_starts(said, words)) return false;
    *out = str_from(said, words.n);
    return true;
}

void sql_hint_tables(query *q, name_hint *hint) {
    search s = {.hint = hint};
    search_tables(q, &s);
    hint_consider(hint, STR("arg"));
    hint_consider(hint, STR("span_join"));
}

status sql_fail_unknown(query *q, str statement, uint64_t offset, error *err) {
    str said = str_of(sqlite3_errmsg(q->db)), name;
    uint16_t message;
    name_hint hint;
    if (cut_name(said, STR("no such table: "), &name)) {
        hint = hint_for(name);
        message = MSG_QUERY_NO_TABLE;
        sql_hint_tables(q, &hint);
    } else if (cut_name(said, STR("no such column: "), &name)) {
        size_t dot = str_rfind_byte(name, '.'); /* k.nmae */
        hint = hint_for(dot == SIZE_MAX ? name : str_from(name, dot + 1));
        message = MSG_QUERY_NO_COLUMN;
        search_tables(q, &(search){.hint = &hint, .statement = statement, .columns = true});
        if (!hint.near.n) search_tables(q, &(search){.hint = &hint, .columns = true});
    } else if (cut_name(said, STR("no such function: "), &name)) {
        hint = hint_for(name);
        message = MSG_QUERY_NO_FUNCTION;
        search_functions(&hint);
    } else {
        return OK;
    }
    FAIL(err, ERR_ARG, offset, message, arg_text("name", name), hint_near(&hint));
}
