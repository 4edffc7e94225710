/* sqlite_int.h: what the files of this layer share: SQLite itself, a query, and the parts that
 * are added to its database. The only file of this layer that includes sqlite3.h. */
#ifndef QUERY_SQLITE_INT_H
#define QUERY_SQLITE_INT_H

#include <sqlite3.h>

#include "analyse/registry.h"
#include "base/nearest.h"
#include "query/query.h"
#include "query/sql_columns.h"
#include "query/sql_rows.h"
#include "store/args.h"

/* One analysis' answer, kept for as long as the query is open. */
typedef struct kept_answer {
    struct kept_answer *next;
    str key;
    const table *rows; /* the table that was asked for; NULL: the answer has none */
} kept_answer;

struct query {
    sqlite3 *db;
    sqlite3 *originals; /* whose functions have their names here; NULL: not needed yet */
    const analysis_input *in;
    query_options options;
    arena arena; /* names of columns, answers of analyses */
    sql_table tables[N_TABLES];
    row_source rows;
    args_reader *args; /* made when it is needed */
    kept_answer *kept;
    error pending;        /* of a table's or function's own: more than SQLite can carry */
    int64_t deadline_ns;  /* of the question that runs; 0: none */
    int64_t next_look_ns; /* at who asked */
    uint64_t refusals;    /* arena_refusals when the question began */
    bool is_late;         /* or the client no longer waits for the answer */
    uint32_t n_calls;     /* functions that the text of the question calls */
    bool is_declaring;    /* one of our tables describes itself, with a CREATE TABLE */
    const char **words;
    uint32_t n_words;
};

/* ---- sql_guard.c: what a question may not do, and how much it may take ------------------- */

/* The authorizer, the limits of the language, the clock. */
void guard_database(query *q);
/* From begin to end the calling thread's questions share the limit. */
void guard_begin(query *q);
void guard_end(void);
bool guard_is_full(const query *q);
/* A value may be no longer than it is because memory is limited. */
bool guard_shortens(const query *q);
/* The question that runs has had its time; it ends as soon as SQLite notices. */
bool guard_is_late(query *q);
/* sqlite3_declare_vtab, which nothing else may call. */
int guard_declare(query *q, const char *sql);

/* ---- tables and functions ---------------------------------------------------------------- */

int trace_tables_add(query *q);    /* sql_trace.c */
int args_table_add(query *q);      /* sql_args.c */
int analysis_tables_add(query *q); /* sql_analysis.c */
int span_join_add(query *q);       /* sql_join.c */
int functions_add(query *q);       /* sql_functions.c */
int bounded_add(query *q);         /* sql_bounded.c */

/* The SQL name of a result table: the analysis for its first, else ANALYSIS_TABLE. False when
 * it cannot be asked here: it compares runs, or a table of the trace has the name. */
bool analysis_table_name(const query *q, const analysis_info *is, const result_info *r,
                         buf *out);
/* Unit and type of a column by table and column name; false when there is no such. */
bool analysis_column(const query *q, str in_table, str name, const field_info **out);

/* Names of the functions here, for completion; NULL after the last. */
const char *function_name(uint32_t i);

/* Fails a table's method: the query tells `err` instead of SQLite's words. */
int pending_fail(query *q, const error *err);

/* NAME, NAME_2, …: a text may ask for several of one kind. Empty when out of memory. */
str table_unique_name(const answer *out, const char *name, arena *a);
/* One line of .tables, .schema TABLE, .examples or .help as a table (sql_describe.c). */
status query_describe(query *q, str line, arena *a, answer *out, error *err) MUST_USE;
/* Calls `each` for all result tables that can be asked here, with their SQL names, which are in
 * the arena. */
typedef status (*result_fn)(void *context, str name, const analysis_info *is,
                            const result_info *r, error *err);
status results_each(query *q, arena *a, result_fn each, void *context, error *err) MUST_USE;

/* ---- sql_hint.c: names that do not exist ---------------------------------------------------
 */

/* ERR_ARG when SQLite says that a table, column or function does not exist, with the one that
 * was likely meant; OK when it says something else. */
status sql_fail_unknown(query *q, str statement, uint64_t offset, error *err) MUST_USE;
/* Offers the name of every table. */
void sql_hint_tables(query *q, name_hint *hint);

static inline str value_str(sqlite3_value *v) {
    const char *p = (const char *)sqlite3_value_text(v);
    return str_n(p, p ? (size_t)sqlite3_value_bytes(v) : 0);
}

#endif
