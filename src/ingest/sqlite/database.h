/* database.h: an SQLite file of another program, as rows of tables.
 *
 * Profilers write a table only when it has rows, and their columns come and go: a missing table
 * has no rows, a missing column is null. What a damaged file still has is given, what it has
 * lost is counted.
 *
 *     enum { START, END };
 *     static const char *const columns[] = {"start", "end"};
 *     static const db_table kernels = {STR("KERNELS"), columns, N_OF(columns)};
 *     TRY(database_open(src, o, b, part, &d, err));
 *     TRY(db_each_row(d, &kernels, take_kernel, reader, err));    … db_int(row, START, 0) …
 *     database_close(d);
 *
 * db_select, db_next and db_done are the same loop, for those who stop before its end.
 */
#ifndef INGEST_SQLITE_DATABASE_H
#define INGEST_SQLITE_DATABASE_H

#include "ingest/ingest.h"

typedef struct database database;

/* Begins like one. Its tables show which program wrote it. */
bool database_head(str head);

/* A plain file is read where it is; what is packed, remote or from a pipe is held in memory,
 * within o->memory_limit_bytes. Tells the builder how large the input is; losses are counted in
 * `p`. ERR_FORMAT when not even its list of tables can be read. */
status database_open(source *src, const ingest_options *o, builder *b, part *p, database **out,
                     error *err) MUST_USE;
void database_close(database *d); /* NULL is allowed */

/* Names of tables, in the order they were made; valid as long as the database. */
size_t database_n_tables(const database *d);
str database_table(const database *d, size_t i);
bool database_has(const database *d, str table);

enum { DB_MAX_COLUMNS = 40 };

/* The rows of a table, each once. */
typedef struct {
    database *d;
    void *statement;   /* NULL: no more */
    void *values;      /* of the current row, where they are not taken from the statement */
    char *list, *from; /* of its text: the columns, and what follows them */
    int64_t last;      /* number of the last row that was given */
    int64_t first;     /* on the way back: the last one of the way there */
    uint64_t n_rows;
    status st;
    bool back, any, silent;
    uint8_t places[DB_MAX_COLUMNS]; /* of the wanted columns in the statement; 0: not there */
} db_rows;

/* `columns` are names, at most DB_MAX_COLUMNS. A missing table has no rows. */
status db_select(database *d, str table, const char *const *columns, size_t n, db_rows *out,
                 error *err) MUST_USE;
/* The same, of the rows whose first column is this number alone: SQLite skips the others, far
 * faster than its caller could. Losses are not counted: for looking ahead in a table that is
 * read as a whole later. */
status db_select_only(database *d, str table, const char *const *columns, size_t n,
                      int64_t first, db_rows *out, error *err) MUST_USE;
/* The next row; false at the end, and when something failed: db_done says what. */
bool db_next(db_rows *r);
/* Always to be called after db_select. ERR_MEMORY, ERR_LIMIT, ERR_CANCELLED; damage is not a
 * failure. */
status db_done(db_rows *r, error *err) MUST_USE;

/* A table, and what is wanted of it. */
typedef struct {
    str name;
    const char *const *columns;
    size_t n_columns;
} db_table;
/* Takes a row; it fails only for want of memory. */
typedef status db_row_function(void *context, db_rows *row);
/* Gives every row of a table to `take`, which asks the database nothing else meanwhile. */
status db_each_row(database *d, const db_table *t, db_row_function *take, void *context,
                   error *err) MUST_USE;
/* A table and who takes its rows, for lists of them. */
typedef struct {
    const char *table;
    const char *const *columns;
    size_t n_columns;
    db_row_function *take;
} db_reading;
/* All rows of all of them, in this order. */
status db_each_table(database *d, const db_reading *tables, size_t n, void *context,
                     error *err) MUST_USE;
/* How many rows were given so far, of all tables. */
uint64_t database_n_rows(const database *d);
/* A taker may note that it is out of memory instead of returning it: no more rows then. */
void database_watch(database *d, const bool *failed);

/* Values of the current row, by the place of the column in `columns`. */
bool db_has(const db_rows *r, int column); /* it is not null */
/* A number that is not whole is cut; anything else is `otherwise`. */
int64_t db_int(const db_rows *r, int column, int64_t otherwise);
/* The same, where a whole number may be kept as text. */
int64_t db_number(const db_rows *r, int column, int64_t otherwise);
double db_real(const db_rows *r, int column); /* NaN when it is no number */
/* Text or bytes, valid until the next row; none when it is neither. */
str db_text(db_rows *r, int column);
/* Number of the row in its table. */
int64_t db_row_id(const db_rows *r);

#endif
