/* query.c: opening a trace for SQL, and statements to tables.
 *
 * The database is empty and in memory; all it knows are the virtual tables and functions of the
 * other files of this folder. A result's values are collected first, because only then their
 * types are known: SQL has one for each value, a table one for each column. A column that comes
 * straight from a table keeps its unit; other columns get one by their name: total_ns,
 * in_bytes, idle_share. */
#include "query/query.h"

#include "analyse/ask.h"
#include "base/counted.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/message_ids_query.h"
#include "base/sqlite_start.h"
#include "query/sql_result.h"
#include "query/sqlite_int.h"

/* ---- open and close ---------------------------------------------------------------------- */

static status sqlite_status(int rc, error *err) {
    if (rc == SQLITE_OK) return OK;
    FAIL_MEMORY(err); /* nothing else fails before a question is asked */
}

/* SQLite's own tables that may be used: they describe themselves to the database when they are
 * first named, which the guard would take for a CREATE TABLE. */
static int name_builtins(query *q) {
    static const char *const names[] = {
        "json_each('')",          "json_tree('')",     "pragma_table_info('')",
        "pragma_table_xinfo('')", "pragma_table_list", "pragma_function_list",
        "pragma_module_list",
    };
    for (size_t i = 0; i < N_OF(names); i++) {
        char sql[64];
        sqlite3_stmt *s = NULL;
        sqlite3_snprintf(sizeof sql, sql, "SELECT 1 FROM %s", names[i]);
        int rc = sqlite3_prepare_v2(q->db, sql, -1, &s, NULL);
        sqlite3_finalize(s);
        if (rc == SQLITE_NOMEM) return rc; /* a library may lack one of them */
    }
    return SQLITE_OK;
}

static int add_all(query *q) {
    int (*const parts[])(query *) = {trace_tables_add, args_table_add, analysis_tables_add,
                                     span_join_add,    functions_add,  bounded_add};
    /* Sorting in files would escape the limit. */
    int rc = sqlite3_exec(q->db, "PRAGMA temp_store = 2", NULL, NULL, NULL);
    for (size_t i = 0; i < N_OF(parts) && rc == SQLITE_OK; i++) rc = parts[i](q);
    return rc == SQLITE_OK ? name_builtins(q) : rc;
}

static status fill_query(query *q, const analysis_input *in, const query_options *o,
                         error *err) {
    int how = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
    arena_init(&q->arena, sat_size(o->limit_bytes));
    q->in = in;
    q->options = *o;
    TRY(part_check(in, &o->params, err));
    TRY(sql_tables_fill(q->tables, &q->arena, err));
    rows_init(&q->rows, q->tables, in->traces[0].trace, &q->arena);
    select_init(&q->rows.chosen, q->rows.t, &o->params);
    q->rows.is_cut = q->rows.chosen.by_step || q->rows.chosen.by_time;
    TRY(sqlite_status(sqlite3_open_v2(":memory:", &q->db, how, NULL), err));
    TRY(sqlite_status(add_all(q), err));
    guard_database(q);
    return OK;
}

status query_open(const analysis_input *in, const query_options *o, query **out, error *err) {
    TRY(sqlite_start(err));
    query *q = mem_zalloc(sizeof *q);
    if (!q) FAIL_MEMORY(err);
    status s = fill_query(q, in, o, err);
    if (s == OK)
        *out = q;
    else
        query_close(q);
    return s;
}

void query_close(query *q) {
    if (!q) return;
    sqlite3_close(q->db);
    sqlite3_close(q->originals);
    args_reader_free(q->args);
    rows_fini(&q->rows);
    arena_fini(&q->arena);
    mem_free(q);
}

uint64_t query_rows_seen(const query *q) {
    return q->rows.n_seen;
}

bool query_is_whole(str text) {
    str trimmed = str_trim(text);
    buf copy = {0};
    if (!trimmed.n || trimmed.p[0] == '.') return true;
    buf_add_str(&copy, text);
    buf_add_byte(&copy, '\0');
    bool whole = !buf_ok(&copy) || sqlite3_complete(copy.p);
    buf_fini(&copy);
    return whole;
}

/* One statement and what follows it. */
typedef struct {
    str text;
    size_t before; /* bytes before it in what was asked */
} statement;

/* ---- failures ---------------------------------------------------------------------------- */

int pending_fail(query *q, const error *err) {
    if (err->status == ERR_MEMORY) return SQLITE_NOMEM;
    error_copy(&q->pending, err);
    return SQLITE_ERROR;
}

/* What SQLite or a table of ours says, as an error. */
static status fail_sql(query *q, int rc, const statement *s, error *err) {
    int at = sqlite3_error_offset(q->db);
    uint64_t offset = at < 0 ? NOPOS : s->before + (size_t)at;
    if (q->is_late)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_QUERY_TIME, arg_time("limit", q->options.limit_ns));
    if (guard_is_full(q) || (rc == SQLITE_TOOBIG && guard_shortens(q)))
        FAIL(err, ERR_LIMIT, NOPOS, MSG_QUERY_MEMORY,
             arg_bytes("limit", (int64_t)q->options.limit_bytes));
    if (q->pending.status != OK) {
        error_copy(err, &q->pending);
        return q->pending.status;
    }
    if (rc == SQLITE_NOMEM) FAIL_MEMORY(err);
    if (rc == SQLITE_AUTH) FAIL0(err, ERR_ARG, NOPOS, MSG_QUERY_READ_ONLY);
    TRY(sql_fail_unknown(q, s->text, offset, err));
    FAIL(err, ERR_ARG, offset, MSG_QUERY_SQL, arg_cstr("reason", sqlite3_errmsg(q->db)));
}

/* ---- asking ------------------------------------------------------------------------------ */

static status run_statement(query *q, sqlite3_stmt *s, const statement *of, result *r,
                            error *err) {
    int rc;
    TRY(result_begin(r, s, err));
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        bool more;
        status st = result_add(r, s, &more, err);
        if (st == ERR_MEMORY && guard_is_full(q)) return fail_sql(q, SQLITE_NOMEM, of, err);
        TRY(st);
        if (!more) return OK;
    }
    return rc == SQLITE_DONE ? OK : fail_sql(q, rc, of, err);
}

/* One statement of the text and its table. *left: what follows it. */
static status ask_one(query *q, str text, str *left, arena *a, answer *out, error *err) {
    sqlite3_stmt *s = NULL;
    const char *tail = NULL;
    result r = {.q = q, .arena = a};
    statement of = {.text = *left, .before = text.n - left->n};
    q->pending.status = OK;
    int rc = sqlite3_prepare_v2(q->db, left->p, (int)left->n, &s, &tail);
    status st = rc == SQLITE_OK ? OK : fail_sql(q, rc, &of, err);
    if (st == OK && s) {
        if (out->n_tables == N_OF(out->tables))
            st = error_set(err, ERR_LIMIT, NOPOS, MSG_QUERY_STATEMENTS, 0, NULL);
        if (st == OK) st = run_statement(q, s, &of, &r, err);
        if (st == OK) st = result_end(&r, s, out, err);
    }
    result_fini(&r);
    sqlite3_finalize(s);
    if (st == OK) *left = str_n(tail, (size_t)(text.p + text.n - tail));
    return st;
}

str table_unique_name(const answer *out, const char *name, arena *a) {
    uint32_t n = 1;
    for (uint32_t i = 0; i < out->n_tables; i++) {
        str rest = str_of(out->tables[i]->name);
        if (!str_starts(rest, str_of(name))) continue;
        rest = str_from(rest, strlen(name));
        n += rest.n == 0 || rest.p[0] == '_';
    }
    return n == 1 ? str_of(name) : arena_printf(a, "%s_%u", name, n);
}

static str skip_blanks(str s) {
    while (s.n && strchr(" \t\r\n", s.p[0])) s = str_from(s, 1);
    return s;
}

/* As in sqlite3's own shell: a word that begins with a dot ends with its line, SQL with its
 * semicolon; .quit ends the text. */
static status ask_next(query *q, str text, str *left, arena *a, answer *out, error *err) {
    if (left->p[0] != '.') return ask_one(q, text, left, a, out, err);
    str line = str_trim(str_cut(left, STR("\n")));
    if (query_is_quit(line)) {
        *left = STR_NONE;
        return OK;
    }
    return query_describe(q, line, a, out, err);
}

bool query_is_quit(str line) {
    return str_eq(line, STR(".quit")) || str_eq(line, STR(".exit"));
}

status query_ask(query *q, str text, arena *a, answer *out, error *err) {
    if (text.n > 1 << 20) FAIL0(err, ERR_LIMIT, NOPOS, MSG_QUERY_LONG);
    TRY(answer_begin("query", q->in, a, out, err));
    TRY(part_note(q->in, &q->options.params, a, out, err));
    str copy = arena_str(a, text), left = skip_blanks(copy); /* with a NUL at its end */
    if (!copy.p) FAIL_MEMORY(err);
    guard_begin(q);
    status s = OK;
    for (; s == OK && left.n; left = skip_blanks(left))
        s = ask_next(q, copy, &left, a, out, err);
    guard_end();
    if (s == OK && !out->n_tables) FAIL0(err, ERR_ARG, NOPOS, MSG_QUERY_EMPTY);
    return s;
}
