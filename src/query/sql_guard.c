/* sql_guard.c: what a question may not do, and how much it may take. SQL comes from anybody who
 * can reach the server, so everything that is not named here is denied.
 *
 * Allowed are SELECT, reading, functions and recursion; and the pragmas that describe tables.
 * The database is empty and in memory: there is nothing to write to, nothing can be attached,
 * no extension loaded. Time is looked at every few hundred steps of SQLite's machine and in
 * functions of which one call may take long (sql_bounded.c); values are short enough for the
 * others where time is limited, and calls in a row few. Memory is counted where it is taken
 * (base/counted.h), SQLite's own too; the language's limits keep single values, patterns and
 * expressions small enough for that. */
#include <time.h>

#include "base/clock.h"
#include "base/counted.h"
#include "base/message_ids_query.h"
#include "query/sqlite_int.h"

enum {
    STEPS_BETWEEN_LOOKS = 200,
    NS_BETWEEN_LOOKS = 50000000, /* at who asked, a system call */
    LEAST_LENGTH = 1 << 20,
    MOST_LENGTH = 64 << 20,
    MOST_CALLS = 1000, /* of functions in a question: the clock is not checked between them */
};

/* ---- what is allowed --------------------------------------------------------------------- */

static bool in_list(const char *const *list, size_t n, const char *word) {
    for (size_t i = 0; word && i < n; i++)
        if (sqlite3_stricmp(list[i], word) == 0) return true;
    return false;
}

static bool has_too_many_calls(query *q) {
    if (!q->options.limit_ns || ++q->n_calls <= MOST_CALLS) return false;
    error err = {0};
    (void)!error_set(&err, ERR_LIMIT, NOPOS, MSG_QUERY_LONG, 0, NULL);
    (void)pending_fail(q, &err);
    return true;
}

static int authorize(void *context, int action, const char *first, const char *second,
                     const char *database, const char *trigger) {
    static const char *const pragmas[] = {"table_info", "table_xinfo", "table_list",
                                          "function_list", "module_list"};
    static const char *const denied[] = {"load_extension", "fts3_tokenizer"};
    (void)database, (void)trigger;
    if (((query *)context)->is_declaring) return SQLITE_OK;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION:
        if (has_too_many_calls(context)) return SQLITE_DENY;
        return in_list(denied, N_OF(denied), second) ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA: return in_list(pragmas, N_OF(pragmas), first) ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
    }
}

int guard_declare(query *q, const char *sql) {
    q->is_declaring = true;
    int rc = sqlite3_declare_vtab(q->db, sql);
    q->is_declaring = false;
    return rc;
}

/* ---- how much ---------------------------------------------------------------------------- */

static int look_at_clock(void *context) {
    query *q = context;
    int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (q->deadline_ns && now_ns > q->deadline_ns) q->is_late = true;
    if (q->options.is_left && now_ns > q->next_look_ns) {
        q->next_look_ns = add_i64(now_ns, NS_BETWEEN_LOOKS);
        if (q->options.is_left(q->options.context)) q->is_late = true;
    }
    return q->is_late;
}

bool guard_is_late(query *q) {
    if (look_at_clock(q)) sqlite3_interrupt(q->db);
    return q->is_late;
}

/* Bytes: a value is a small part of what a question may take, and soon gone through. */
static int longest_value(uint64_t limit_bytes) {
    uint64_t part = limit_bytes / 256;
    return part >= MOST_LENGTH || !limit_bytes ? MOST_LENGTH
           : part < LEAST_LENGTH               ? LEAST_LENGTH
                                               : (int)part;
}

void guard_database(query *q) {
    static const struct {
        int id, most;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, MOST_LENGTH},      {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
        {SQLITE_LIMIT_EXPR_DEPTH, 200},          {SQLITE_LIMIT_COMPOUND_SELECT, 100},
        {SQLITE_LIMIT_FUNCTION_ARG, 32},         {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 256}, {SQLITE_LIMIT_TRIGGER_DEPTH, 0},
        {SQLITE_LIMIT_WORKER_THREADS, 0},        {SQLITE_LIMIT_VDBE_OP, 250000},
    };
    for (size_t i = 0; i < N_OF(limits); i++)
        sqlite3_limit(q->db, limits[i].id, limits[i].most);
    if (q->options.limit_ns) {
        sqlite3_limit(q->db, SQLITE_LIMIT_LENGTH, longest_value(q->options.limit_bytes));
        sqlite3_limit(q->db, SQLITE_LIMIT_VDBE_OP, 25000);
    }
    (void)sqlite3_db_config(q->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(q->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    (void)sqlite3_db_config(q->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    /* A quoted name that is not a column is an error, never a text. */
    (void)sqlite3_db_config(q->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_set_authorizer(q->db, authorize, q);
    sqlite3_progress_handler(q->db, STEPS_BETWEEN_LOOKS, look_at_clock, q);
}

void guard_begin(query *q) {
    q->is_late = false;
    q->n_calls = 0;
    q->refusals = arena_refusals();
    q->deadline_ns =
        q->options.limit_ns ? add_i64(clock_ns(CLOCK_MONOTONIC), q->options.limit_ns) : 0;
    counted_limit(q->options.limit_bytes);
}

void guard_end(void) {
    counted_limit(0);
}

bool guard_shortens(const query *q) {
    return q->options.limit_ns && longest_value(q->options.limit_bytes) < MOST_LENGTH;
}

/* Answers of analyses are in the query's arena, which has the same limit. */
bool guard_is_full(const query *q) {
    return counted_is_full() || arena_refusals() > q->refusals;
}
