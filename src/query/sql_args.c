/* sql_args.c: what producers wrote in `args`, by key: the table arg(slice, key, value) and the
 * function arg(slice, key).
 *
 * Numbers are numbers, texts are texts; lists and objects are their JSON text, for json_extract
 * and json_each. A record that was kept as text as a whole is taken apart by SQLite. */
#include <math.h>

#include "base/counted.h"
#include "query/sqlite_int.h"

enum { COLUMN_SLICE, COLUMN_KEY, COLUMN_VALUE };

typedef struct {
    sqlite3_vtab base;
    query *q;
} args_vtab;

typedef struct {
    sqlite3_vtab_cursor base;
    uint32_t slice, end; /* of the slices */
    uint32_t at, n;      /* of the values of this one */
    sqlite3_int64 row;
} args_cursor;

/* ---- values ------------------------------------------------------------------------------ */

static status read_record(query *q, uint32_t slice, args_record *out, error *err) {
    const trace *t = q->rows.t;
    TRY(trace_require(t, TRACE_TABLE(slice), err));
    if (!q->args) TRY(args_reader_new(t, &q->args, err));
    return args_read(q->args, slice && slice < t->slice.n ? t->slice.args[slice] : 0, out, err);
}

static void give_string(const trace *t, sqlite3_context *to, int64_t id) {
    str s = trace_str(t, (uint32_t)id);
    sqlite3_result_text64(to, s.p ? s.p : "", s.n, SQLITE_STATIC, SQLITE_UTF8);
}

static void give_value(const trace *t, sqlite3_context *to, const args_record *r, uint32_t i) {
    uint8_t tag = r->tags[i] & 3;
    if (tag == ARGS_INTEGER || (tag == ARGS_DECIMAL && r->tags[i] >> 2 == 0))
        sqlite3_result_int64(to, r->payloads[i]);
    else if (tag == ARGS_DECIMAL)
        sqlite3_result_double(to, (double)r->payloads[i] / pow(10, r->tags[i] >> 2));
    else
        give_string(t, to, r->payloads[i]);
}

/* ---- arg(slice, key) --------------------------------------------------------------------- */

static void give_from_json(query *q, sqlite3_context *to, str json, str key) {
    sqlite3_stmt *s = NULL;
    const char *sql = "SELECT value FROM json_each(?1) WHERE key = ?2 LIMIT 1";
    if (sqlite3_prepare_v2(q->db, sql, -1, &s, NULL) == SQLITE_OK &&
        sqlite3_bind_text64(s, 1, json.p, json.n, SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK &&
        sqlite3_bind_text64(s, 2, key.p, key.n, SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW)
        sqlite3_result_value(to, sqlite3_column_value(s, 0));
    sqlite3_finalize(s);
}

static void arg_function(sqlite3_context *to, int n, sqlite3_value **v) {
    query *q = sqlite3_user_data(to);
    const trace *t = q->rows.t;
    sqlite3_int64 slice = sqlite3_value_int64(v[0]);
    str key = value_str(v[1]);
    args_record r = {0};
    error err = {0};
    (void)n;
    if (!key.p || slice <= 0 || slice >= t->slice.n) return;
    if (read_record(q, (uint32_t)slice, &r, &err) != OK) {
        sqlite3_result_error_code(to, pending_fail(q, &err));
        return;
    }
    if (r.raw && r.n) {
        give_from_json(q, to, trace_str(t, (uint32_t)r.payloads[0]), key);
        return;
    }
    for (uint32_t i = 0; i < r.n; i++) {
        if (!str_eq(trace_str(t, r.keys[i]), key)) continue;
        give_value(t, to, &r, i);
        return;
    }
}

/* ---- the table --------------------------------------------------------------------------- */

static int connect_args(sqlite3 *db, void *aux, int argc, const char *const *argv,
                        sqlite3_vtab **out, char **message) {
    (void)db, (void)argc, (void)argv, (void)message;
    int rc = guard_declare(aux, "CREATE TABLE t(slice INTEGER, key TEXT, value)");
    if (rc != SQLITE_OK) return rc;
    args_vtab *v = counted_alloc(sizeof *v);
    if (!v) return SQLITE_NOMEM;
    *v = (args_vtab){.q = aux};
    *out = &v->base;
    return SQLITE_OK;
}

static int disconnect_args(sqlite3_vtab *v) {
    counted_free(v);
    return SQLITE_OK;
}

/* One slice, or all. */
static int plan_args(sqlite3_vtab *base, sqlite3_index_info *info) {
    double rows = ((args_vtab *)base)->q->rows.t->slice.n;
    info->estimatedCost = 10 * rows;
    info->estimatedRows = (sqlite3_int64)(5 * rows);
    for (int i = 0; i < info->nConstraint; i++) {
        bool one = info->aConstraint[i].iColumn == COLUMN_SLICE &&
                   info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ;
        if (!one || !info->aConstraint[i].usable) continue;
        info->aConstraintUsage[i].argvIndex = 1;
        info->idxNum = 1;
        info->estimatedCost = 20;
        info->estimatedRows = 5;
        break;
    }
    return SQLITE_OK;
}

static int open_args(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    args_cursor *c = counted_alloc(sizeof *c);
    (void)base;
    if (!c) return SQLITE_NOMEM;
    memset(c, 0, sizeof *c);
    *out = &c->base;
    return SQLITE_OK;
}

static int close_args(sqlite3_vtab_cursor *base) {
    counted_free(base);
    return SQLITE_OK;
}

/* On to a slice that has values. */
static int find_values(args_cursor *c) {
    query *q = ((args_vtab *)c->base.pVtab)->q;
    const trace *t = q->rows.t;
    error err = {0};
    for (c->n = c->at = 0; c->slice < c->end; c->slice++) {
        args_record r;
        if (!t->slice.args[c->slice]) continue;
        if (q->rows.is_cut && !select_counts(&q->rows.chosen, c->slice)) continue;
        if (read_record(q, c->slice, &r, &err) != OK) return pending_fail(q, &err);
        c->n = r.n;
        if (c->n) return SQLITE_OK;
    }
    return SQLITE_OK;
}

static int begin_args(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
                      sqlite3_value **argv) {
    args_cursor *c = (args_cursor *)base;
    query *q = ((args_vtab *)base->pVtab)->q;
    const trace *t = q->rows.t;
    error err = {0};
    (void)plan;
    if (trace_require(t, SELECT_TABLES, &err) != OK) return pending_fail(q, &err);
    c->slice = 1;
    c->end = t->slice.n;
    c->row = 0;
    if (number == 1 && argc == 1) {
        sqlite3_int64 wanted = sqlite3_value_int64(argv[0]);
        bool there = wanted > 0 && wanted < t->slice.n;
        c->slice = there ? (uint32_t)wanted : 0;
        c->end = there ? (uint32_t)wanted + 1 : 0;
    }
    return find_values(c);
}

static int next_args(sqlite3_vtab_cursor *base) {
    args_cursor *c = (args_cursor *)base;
    c->row++;
    if (++c->at < c->n) return SQLITE_OK;
    c->slice++;
    return find_values(c);
}

static int args_are_over(sqlite3_vtab_cursor *base) {
    const args_cursor *c = (args_cursor *)base;
    return c->slice >= c->end;
}

static int args_row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
    *out = ((args_cursor *)base)->row;
    return SQLITE_OK;
}

static int args_cell(sqlite3_vtab_cursor *base, sqlite3_context *to, int i) {
    args_cursor *c = (args_cursor *)base;
    query *q = ((args_vtab *)base->pVtab)->q;
    args_record r;
    error err = {0};
    if (i == COLUMN_SLICE) {
        sqlite3_result_int64(to, c->slice);
        return SQLITE_OK;
    }
    if (read_record(q, c->slice, &r, &err) != OK) return pending_fail(q, &err);
    if (r.raw && i == COLUMN_VALUE)
        give_string(q->rows.t, to, r.payloads[0]);
    else if (!r.raw && i == COLUMN_KEY)
        give_string(q->rows.t, to, r.keys[c->at]);
    else if (!r.raw)
        give_value(q->rows.t, to, &r, c->at);
    return SQLITE_OK;
}

static const sqlite3_module MODULE = {
    .xConnect = connect_args,
    .xBestIndex = plan_args,
    .xDisconnect = disconnect_args,
    .xOpen = open_args,
    .xClose = close_args,
    .xFilter = begin_args,
    .xNext = next_args,
    .xEof = args_are_over,
    .xColumn = args_cell,
    .xRowid = args_row_id,
};

int args_table_add(query *q) {
    int rc = sqlite3_create_module(q->db, "arg", &MODULE, q);
    if (rc != SQLITE_OK) return rc;
    return sqlite3_create_function(q->db, "arg", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, q,
                                   arg_function, NULL, NULL);
}
