/* sql_result.h: the rows of a statement, collected and made a table. */
#ifndef QUERY_SQL_RESULT_H
#define QUERY_SQL_RESULT_H

#include "query/sqlite_int.h"

/* A value as SQLite gives it. */
typedef struct {
    uint8_t type; /* SQLITE_INTEGER, … */
    union {
        int64_t i;
        double d;
        str s;
    } u;
} result_cell;

typedef struct {
    query *q;
    arena *arena; /* of texts and the table */
    uint32_t n_columns;
    result_cell *cells; /* row after row */
    size_t n_rows, cap_rows;
    size_t arena_bytes; /* used before */
    bool is_cut;
} result;

status result_begin(result *r, sqlite3_stmt *s, error *err) MUST_USE;
/* The row the statement is at; *more: there is room for another. */
status result_add(result *r, sqlite3_stmt *s, bool *more, error *err) MUST_USE;
/* Adds the table to the answer. */
status result_end(result *r, sqlite3_stmt *s, answer *out, error *err) MUST_USE;
void result_fini(result *r);

#endif
