/* database_rows.c: the rows of a table, in the order of their numbers.
 *
 *     1 2 3 4 [damaged pages] 9 10 11
 *     ──────>                 <──────
 *
 * Where a table cannot be read on, it is read from its end back to there: what is lost is what
 * lies between, and it is counted by the numbers of the rows. Numbers that do not rise, or more
 * rows than bytes, are damage, too: a tree that points to itself must not be walked for
 * ever. */
#include <math.h>

#include "base/mem.h"
#include "base/num.h"
#include "ingest/sqlite/database_int.h"

enum { ROWS_BETWEEN_LOOKS = 4096 };

static sqlite3_stmt *statement_of(const db_rows *r) {
    return r->statement;
}

static void add_name(buf *sql, str name) {
    buf_add_byte(sql, '"');
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '"') buf_add_byte(sql, '"');
        buf_add_byte(sql, name.p[i]);
    }
    buf_add_byte(sql, '"');
}

static bool has_column(sqlite3_stmt *all, const char *name, int *rc) {
    for (int i = 0; i < sqlite3_column_count(all); i++) {
        const char *is = sqlite3_column_name(all, i);
        if (!is) *rc = SQLITE_NOMEM;
        if (is && strcmp(is, name) == 0) return true;
    }
    return false;
}

/* The question, with null for columns that are not there. */
static int write_select(database *d, str table, const char *const *columns, size_t n,
                        buf *sql) {
    sqlite3_stmt *all = NULL;
    buf_add_cstr(sql, "SELECT * FROM ");
    add_name(sql, table);
    buf_add_byte(sql, 0);
    int rc = buf_ok(sql) ? sqlite3_prepare_v2(d->db, sql->p, -1, &all, NULL) : SQLITE_NOMEM;
    buf_clear(sql);
    buf_add_cstr(sql, "SELECT _rowid_");
    for (size_t i = 0; i < n && rc == SQLITE_OK; i++) {
        buf_add_cstr(sql, ", ");
        if (has_column(all, columns[i], &rc))
            add_name(sql, str_of(columns[i]));
        else
            buf_add_cstr(sql, "NULL");
    }
    buf_add_cstr(sql, " FROM ");
    add_name(sql, table);
    buf_add_byte(sql, 0);
    sqlite3_finalize(all);
    return buf_ok(sql) ? rc : SQLITE_NOMEM;
}

/* The table ends here, by damage. */
static void meet_damage(db_rows *r, int code) {
    r->st = database_failure(r->d, code);
    sqlite3_finalize(statement_of(r));
    r->statement = NULL;
}

status db_select(database *d, str table, const char *const *columns, size_t n, db_rows *out,
                 error *err) {
    *out = (db_rows){.d = d, .st = OK};
    if (!database_has(d, table)) return OK;
    buf sql = {0};
    sqlite3_stmt *s = NULL;
    d->n_steps = 0;
    int rc = write_select(d, table, columns, n, &sql);
    if (rc == SQLITE_OK) rc = sqlite3_prepare_v2(d->db, sql.p, -1, &s, NULL);
    out->statement = s;
    if (rc == SQLITE_OK) {
        sql.n--;
        buf_add(&sql, " ORDER BY _rowid_ DESC", sizeof " ORDER BY _rowid_ DESC");
        out->sql = sqlite3_mprintf("%s", buf_ok(&sql) ? sql.p : "");
        if (!out->sql || !buf_ok(&sql)) rc = SQLITE_NOMEM;
    }
    buf_fini(&sql);
    if (rc == SQLITE_OK) return OK;
    meet_damage(out, rc);
    if (out->st == OK) part_lost_many(d->part, CAUSE_DATABASE_DAMAGED, 1);
    sqlite3_free(out->sql);
    out->sql = NULL;
    status st = out->st;
    out->st = OK;
    return database_fail(d, st, err);
}

/* From the end back to the damage. */
static void turn_back(db_rows *r, int code) {
    sqlite3_stmt *s = NULL;
    meet_damage(r, code);
    if (r->st != OK) return;
    r->d->n_steps = 0;
    int rc = sqlite3_prepare_v2(r->d->db, r->sql, -1, &s, NULL);
    r->statement = s;
    r->first = r->any ? r->last : INT64_MIN;
    r->back = true;
    r->any = false;
    if (rc != SQLITE_OK) meet_damage(r, rc);
}

/* Both ways have ended: what lies between is lost. */
static void count_lost(db_rows *r) {
    int64_t most = sat_i64(r->d->size_bytes / 8) + 1, n = 1;
    bool known = r->any && r->first != INT64_MIN;
    if (known) n = sub_i64(sub_i64(r->last, r->first), 1);
    part_lost_many(r->d->part, CAUSE_DATABASE_DAMAGED, (uint64_t)max_i64(1, min_i64(n, most)));
}

static void look_around(db_rows *r) {
    database *d = r->d;
    uint64_t limit = d->o->memory_limit_bytes;
    if (limit && builder_size_bytes(d->b) + d->bytes.n > limit) r->st = ERR_LIMIT;
    if (r->n_rows > d->size_bytes) meet_damage(r, SQLITE_CORRUPT);
}

static bool is_next(const db_rows *r, int64_t id) {
    if (r->back) return id > r->first && (!r->any || id < r->last);
    return !r->any || id > r->last;
}

/* Nothing more on the way back: the damage is reached, or the row before it. */
static bool end_back(db_rows *r) {
    count_lost(r);
    meet_damage(r, SQLITE_CORRUPT);
    return false;
}

bool db_next(db_rows *r) {
    while (r->statement && r->st == OK) {
        int rc = sqlite3_step(statement_of(r));
        int64_t id = rc == SQLITE_ROW ? sqlite3_column_int64(statement_of(r), 0) : 0;
        if (rc == SQLITE_ROW && is_next(r, id)) {
            r->last = id;
            r->any = true;
            r->n_rows++;
            if (++r->d->n_rows % ROWS_BETWEEN_LOOKS == 0) look_around(r);
            return r->statement && r->st == OK;
        }
        if (rc == SQLITE_DONE && !r->back) {
            meet_damage(r, SQLITE_OK);
            return false;
        }
        r->st = rc == SQLITE_ROW || rc == SQLITE_DONE ? OK : database_failure(r->d, rc);
        if (r->st != OK) return false;
        if (r->back) return end_back(r);
        turn_back(r, rc);
        if (!r->statement) count_lost(r);
    }
    return false;
}

status db_done(db_rows *r, error *err) {
    sqlite3_finalize(statement_of(r));
    sqlite3_free(r->sql);
    r->statement = NULL;
    r->sql = NULL;
    return database_fail(r->d, r->st, err);
}

status db_each_row(database *d, const db_table *t, db_row_function *take, void *context,
                   error *err) {
    db_rows rows;
    status st = OK;
    TRY(db_select(d, t->name, t->columns, t->n_columns, &rows, err));
    while (st == OK && db_next(&rows)) {
        st = take(context, &rows);
        if (d->failed && *d->failed) st = ERR_MEMORY;
    }
    status done = db_done(&rows, err);
    if (st != OK) FAIL_MEMORY(err);
    return done;
}

status db_each_table(database *d, const db_reading *tables, size_t n, void *context,
                     error *err) {
    for (size_t i = 0; i < n; i++) {
        const db_reading *r = &tables[i];
        db_table t = {str_of(r->table), r->columns, r->n_columns};
        TRY(db_each_row(d, &t, r->take, context, err));
    }
    return OK;
}

/* ---- values ---- */

static int type_of(const db_rows *r, int column) {
    return sqlite3_column_type(statement_of(r), column + 1);
}

bool db_has(const db_rows *r, int column) {
    return type_of(r, column) != SQLITE_NULL;
}

/* The value itself is asked, not the statement twice: connections have no mutex (database.c),
 * so it stands still. */
int64_t db_int(const db_rows *r, int column, int64_t otherwise) {
    sqlite3_value *value = sqlite3_column_value(statement_of(r), column + 1);
    int type = sqlite3_value_type(value);
    if (type == SQLITE_INTEGER) return sqlite3_value_int64(value);
    if (type != SQLITE_FLOAT) return otherwise;
    double v = sqlite3_value_double(value);
    return v >= -9e18 && v <= 9e18 ? (int64_t)v : otherwise;
}

int64_t db_number(const db_rows *r, int column, int64_t otherwise) {
    sqlite3_value *value = sqlite3_column_value(statement_of(r), column + 1);
    int type = sqlite3_value_type(value);
    int64_t v;
    if (type == SQLITE_INTEGER) return sqlite3_value_int64(value);
    if (type != SQLITE_TEXT) return db_int(r, column, otherwise);
    const char *text = (const char *)sqlite3_value_text(value);
    size_t n = (size_t)sqlite3_value_bytes(value);
    return text && str_to_i64(str_n(text, n), &v) ? v : otherwise;
}

double db_real(const db_rows *r, int column) {
    int type = type_of(r, column);
    bool number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    return number ? sqlite3_column_double(statement_of(r), column + 1) : NAN;
}

str db_text(db_rows *r, int column) {
    int type = type_of(r, column);
    if (type != SQLITE_TEXT && type != SQLITE_BLOB) return STR_NONE;
    const char *p = type == SQLITE_TEXT
                        ? (const char *)sqlite3_column_text(statement_of(r), column + 1)
                        : sqlite3_column_blob(statement_of(r), column + 1);
    int n = sqlite3_column_bytes(statement_of(r), column + 1);
    if (!p && sqlite3_errcode(r->d->db) == SQLITE_NOMEM) r->st = ERR_MEMORY;
    return p ? str_n(p, (size_t)n) : STR_NONE;
}

int64_t db_row_id(const db_rows *r) {
    return r->last;
}
