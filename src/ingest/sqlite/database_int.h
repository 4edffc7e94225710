/* database_int.h: what the files of this room share: SQLite itself. */
#ifndef INGEST_SQLITE_DATABASE_INT_H
#define INGEST_SQLITE_DATABASE_INT_H

#include <sqlite3.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "ingest/sqlite/database.h"

struct database {
    sqlite3 *db;
    const ingest_options *o;
    builder *b;
    part *part;
    arena arena;
    vec tables; /* str */
    buf bytes;  /* of anything but a plain file */
    uint64_t size_bytes;
    uint64_t n_rows; /* given so far, of all tables */
    uint64_t n_steps;
    void *giving;       /* what DATABASE_GIVE does with rows, database_rows.c; NULL: nothing */
    const bool *failed; /* of the consumer of the rows; NULL: they say it themselves */
    bool stopped;       /* the caller asked to */
};

/* The function that is called with each row of a table while it is read, and its name in
 * SQL. */
#define DATABASE_GIVE "give_row"
void database_give(sqlite3_context *context, int n, sqlite3_value **values);

/* A database in an open file, which stays the caller's; read only. A code of SQLite. */
int database_open_descriptor(int fd, sqlite3 **out);
/* The errno of a read of it that failed; 0: none did, or it is no such file. What cannot be
 * read is not damage: nothing is known of it. */
int database_read_errno(sqlite3 *db);

/* What SQLite's refusal is to us; OK for damage, which is counted where it is met. */
status database_failure(const database *d, int code);
status database_fail(const database *d, status st, error *err);

#endif
