/* database_rows.c: the rows of a table, in the order of their numbers.
 *
 *     1 2 3 4 [damaged pages] 9 10 11
 *     ──────>                 <──────
 *
 * Where a table cannot be read on, it is read from its end back to there: the rows in between
 * are lost, and they are counted by the numbers of the rows. Numbers that do not rise, or more
 * rows than bytes, are damage, too: a tree that points to itself must not be walked for ever.
 *
 * A caller that wants all rows of a table (db_each_row) gets them as arguments of a function
 * that SQLite calls for each: SELECT give_row(_rowid_, a, b) FROM t. One step reads the whole
 * table, and values do not have to be fetched from the statement one by one; both took a
 * quarter of the time of reading a database. The way back is always one by one. */
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

/* The columns that are there, and their places in a row. */
static int list_columns(database *d, str table, const char *const *columns, size_t n,
                        db_rows *out) {
    sqlite3_stmt *all = NULL;
    uint8_t n_found = 0;
    buf sql = {0};
    buf_add_cstr(&sql, "SELECT * FROM ");
    add_name(&sql, table);
    buf_add_byte(&sql, 0);
    int rc = buf_ok(&sql) ? sqlite3_prepare_v2(d->db, sql.p, -1, &all, NULL) : SQLITE_NOMEM;
    buf_clear(&sql);
    buf_add_cstr(&sql, "_rowid_");
    for (size_t i = 0; i < n && i < DB_MAX_COLUMNS && rc == SQLITE_OK; i++) {
        if (!has_column(all, columns[i], &rc)) continue;
        buf_add_cstr(&sql, ", ");
        add_name(&sql, str_of(columns[i]));
        out->places[i] = ++n_found;
    }
    buf_add_byte(&sql, 0);
    if (buf_ok(&sql)) out->list = sqlite3_mprintf("%s", sql.p);
    sqlite3_finalize(all);
    buf_fini(&sql);
    return rc == SQLITE_OK && !out->list ? SQLITE_NOMEM : rc;
}

/* One of the three questions about the rows: `form` has two places, for the columns and for the
 * rest. */
static int prepare(const db_rows *r, const char *form, sqlite3_stmt **out) {
    char *sql = sqlite3_mprintf(form, r->list, r->from);
    int rc = sql ? sqlite3_prepare_v2(r->d->db, sql, -1, out, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return rc;
}

/* The table ends here, by damage. */
static void meet_damage(db_rows *r, int code) {
    r->st = database_failure(r->d, code);
    sqlite3_finalize(statement_of(r));
    r->statement = NULL;
}

static void forget_text(db_rows *r) {
    sqlite3_free(r->list);
    sqlite3_free(r->from);
    r->list = r->from = NULL;
}

/* `only`: a number that the first column has to be; NULL: any. */
static status select_rows(database *d, str table, const char *const *columns, size_t n,
                          const int64_t *only, db_rows *out, error *err) {
    sqlite3_stmt *s = NULL;
    if (!database_has(d, table)) return OK;
    d->n_steps = 0;
    int rc = list_columns(d, table, columns, n, out);
    /* An index has its own order. */
    if (rc == SQLITE_OK)
        out->from = sqlite3_mprintf("FROM \"%.*w\" NOT INDEXED", (int)table.n, table.p);
    if (rc == SQLITE_OK && only && out->from)
        out->from =
            sqlite3_mprintf("%z WHERE \"%w\" = %lld", out->from, columns[0], (long long)*only);
    if (rc == SQLITE_OK) rc = out->from ? prepare(out, "SELECT %s %s", &s) : SQLITE_NOMEM;
    out->statement = s;
    if (rc == SQLITE_OK) return OK;
    meet_damage(out, rc);
    if (out->st == OK && !out->silent) part_lost_many(d->part, CAUSE_DATABASE_DAMAGED, 1);
    forget_text(out);
    status st = out->st;
    out->st = OK;
    return database_fail(d, st, err);
}

status db_select(database *d, str table, const char *const *columns, size_t n, db_rows *out,
                 error *err) {
    *out = (db_rows){.d = d, .st = OK};
    return select_rows(d, table, columns, n, NULL, out, err);
}

status db_select_only(database *d, str table, const char *const *columns, size_t n,
                      int64_t first, db_rows *out, error *err) {
    *out = (db_rows){.d = d, .st = OK, .silent = true};
    return select_rows(d, table, columns, n, &first, out, err);
}

/* From the end back to the damage. */
static void turn_back(db_rows *r, int code) {
    sqlite3_stmt *s = NULL;
    meet_damage(r, code);
    if (r->st != OK) return;
    r->d->n_steps = 0;
    int rc = prepare(r, "SELECT %s %s ORDER BY _rowid_ DESC", &s);
    r->statement = s;
    r->first = r->any ? r->last : INT64_MIN;
    r->back = true;
    r->any = false;
    if (rc != SQLITE_OK) meet_damage(r, rc);
}

/* Both directions have ended: the rows in between are lost. */
static void count_lost(db_rows *r) {
    int64_t most = sat_i64(r->d->size_bytes / 8) + 1, n = 1;
    bool known = r->any && r->first != INT64_MIN;
    if (r->silent) return;
    if (known) n = sub_i64(sub_i64(r->last, r->first), 1);
    part_lost_many(r->d->part, CAUSE_DATABASE_DAMAGED, (uint64_t)max_i64(1, min_i64(n, most)));
}

static void go_back(db_rows *r, int code) {
    turn_back(r, code);
    if (!r->statement) count_lost(r);
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

/* False: no row is wanted any more. */
static bool begin_row(db_rows *r, int64_t id) {
    r->last = id;
    r->any = true;
    r->n_rows++;
    if (++r->d->n_rows % ROWS_BETWEEN_LOOKS == 0) look_around(r);
    return r->statement && r->st == OK;
}

bool db_next(db_rows *r) {
    while (r->statement && r->st == OK) {
        int rc = sqlite3_step(statement_of(r));
        int64_t id = rc == SQLITE_ROW ? sqlite3_column_int64(statement_of(r), 0) : 0;
        if (rc == SQLITE_ROW && is_next(r, id)) return begin_row(r, id);
        if (rc == SQLITE_DONE && !r->back) {
            meet_damage(r, SQLITE_OK);
            return false;
        }
        r->st = rc == SQLITE_ROW || rc == SQLITE_DONE ? OK : database_failure(r->d, rc);
        if (r->st != OK) return false;
        if (r->back) return end_back(r);
        go_back(r, rc);
    }
    return false;
}

status db_done(db_rows *r, error *err) {
    sqlite3_finalize(statement_of(r));
    r->statement = NULL;
    forget_text(r);
    return database_fail(r->d, r->st, err);
}

/* ---- all rows ---- */

typedef struct {
    db_rows *rows;
    db_row_function *take;
    void *context;
    status st; /* of the taker */
} giving;

static void give_row(giving *g) {
    const bool *failed = g->rows->d->failed;
    g->st = g->take(g->context, g->rows);
    if (failed && *failed) g->st = ERR_MEMORY;
}

void database_give(sqlite3_context *context, int n, sqlite3_value **values) {
    database *d = sqlite3_user_data(context);
    giving *g = d->giving;
    int64_t id = g && n ? sqlite3_value_int64(values[0]) : 0;
    bool wanted = g && n && is_next(g->rows, id) && begin_row(g->rows, id);
    if (wanted) {
        g->rows->values = values;
        give_row(g);
        g->rows->values = NULL;
    }
    if (!wanted || g->st != OK || g->rows->st != OK)
        sqlite3_result_error_code(context, SQLITE_ABORT);
}

/* All rows on the way there; where they end early, the way back is begun. */
static void give_rows(giving *g) {
    db_rows *r = g->rows;
    sqlite3_stmt *s = NULL;
    r->d->giving = g;
    if (r->statement && prepare(r, "SELECT " DATABASE_GIVE "(%s) %s", &s) == SQLITE_OK) {
        r->d->n_steps = 0;
        int rc = sqlite3_step(s);
        bool stopped = g->st != OK || r->st != OK || !r->statement;
        if (!stopped && rc != SQLITE_ROW) r->st = database_failure(r->d, rc);
        if (rc == SQLITE_ROW)
            meet_damage(r, SQLITE_OK);
        else if (!stopped && r->st == OK)
            go_back(r, rc);
    }
    sqlite3_finalize(s);
    r->d->giving = NULL;
}

status db_each_row(database *d, const db_table *t, db_row_function *take, void *context,
                   error *err) {
    db_rows rows;
    giving g = {.rows = &rows, .take = take, .context = context};
    TRY(db_select(d, t->name, t->columns, t->n_columns, &rows, err));
    give_rows(&g);
    while (g.st == OK && db_next(&rows)) give_row(&g);
    status done = db_done(&rows, err);
    if (g.st != OK) FAIL_MEMORY(err);
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

/* Number of a wanted column in the statement; 0, where the number of the row is: not there. */
static int place_of(const db_rows *r, int column) {
    return r->places[column];
}

/* The value itself is asked, not the statement several times: connections have no mutex
 * (database.c), so it cannot change. NULL: missing. */
static sqlite3_value *value_of(const db_rows *r, int column) {
    int place = place_of(r, column);
    sqlite3_value **values = r->values;
    if (!place) return NULL;
    return values ? values[place] : sqlite3_column_value(statement_of(r), place);
}

bool db_has(const db_rows *r, int column) {
    sqlite3_value *value = value_of(r, column);
    return value && sqlite3_value_type(value) != SQLITE_NULL;
}

int64_t db_int(const db_rows *r, int column, int64_t otherwise) {
    sqlite3_value *value = value_of(r, column);
    if (!value) return otherwise;
    int type = sqlite3_value_type(value);
    if (type == SQLITE_INTEGER) return sqlite3_value_int64(value);
    if (type != SQLITE_FLOAT) return otherwise;
    double v = sqlite3_value_double(value);
    return v >= -9e18 && v <= 9e18 ? (int64_t)v : otherwise;
}

int64_t db_number(const db_rows *r, int column, int64_t otherwise) {
    sqlite3_value *value = value_of(r, column);
    if (!value) return otherwise;
    int type = sqlite3_value_type(value);
    int64_t v;
    if (type == SQLITE_INTEGER) return sqlite3_value_int64(value);
    if (type != SQLITE_TEXT) return db_int(r, column, otherwise);
    const char *text = (const char *)sqlite3_value_text(value);
    size_t n = (size_t)sqlite3_value_bytes(value);
    return text && str_to_i64(str_n(text, n), &v) ? v : otherwise;
}

double db_real(const db_rows *r, int column) {
    sqlite3_value *value = value_of(r, column);
    int type = value ? sqlite3_value_type(value) : SQLITE_NULL;
    bool number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    return number ? sqlite3_value_double(value) : NAN;
}

str db_text(db_rows *r, int column) {
    sqlite3_value *value = value_of(r, column);
    int type = value ? sqlite3_value_type(value) : SQLITE_NULL;
    if (type != SQLITE_TEXT && type != SQLITE_BLOB) return STR_NONE;
    const char *p = type == SQLITE_TEXT ? (const char *)sqlite3_value_text(value)
                                        : sqlite3_value_blob(value);
    int n = sqlite3_value_bytes(value);
    /* A text always has a pointer, even an empty one; an empty blob has none. */
    if (!p && (type == SQLITE_TEXT || n)) r->st = ERR_MEMORY;
    return p ? str_n(p, (size_t)n) : STR_NONE;
}

int64_t db_row_id(const db_rows *r) {
    return r->last;
}
