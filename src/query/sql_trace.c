/* sql_trace.c: the tables of a trace as SQLite's virtual tables: SQLite's words for conditions
 * and order become a plan of sql_rows.h, its cells become SQLite's values.
 *
 * A plan travels from xBestIndex to xFilter as a number (the order, the column that is sorted
 * by) and a text of three hexadecimal digits for each condition: the column and the operator.
 * All conditions that are taken are tested here exactly as SQLite would, so it does not test
 * them again. */
#include "base/counted.h"
#include "query/sqlite_int.h"

typedef struct {
    sqlite3_vtab base;
    query *q;
    const sql_table *table;
} trace_vtab;

typedef struct {
    sqlite3_vtab_cursor base;
    row_walk walk;
} trace_cursor;

typedef struct {
    query *q;
    const sql_table *table;
} table_aux;

/* ---- connecting -------------------------------------------------------------------------- */

static void declare(const sql_table *t, buf *out) {
    static const char *const types[] = {[CELL_INT] = "INTEGER",
                                        [CELL_REAL] = "REAL",
                                        [CELL_NAME] = "TEXT",
                                        [CELL_WORD] = "TEXT",
                                        [CELL_ARGS] = "TEXT"};
    buf_add_cstr(out, "CREATE TABLE t(");
    for (uint16_t i = 0; i < t->n; i++)
        buf_printf(out, "%s\"%s\" %s%s", i ? ", " : "", t->columns[i].name,
                   types[t->columns[i].kind], t->columns[i].hidden ? " HIDDEN" : "");
    buf_add_cstr(out, ")");
    buf_add_byte(out, '\0');
}

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **message) {
    const table_aux *from = aux;
    buf text = {0};
    (void)db, (void)argc, (void)argv, (void)message;
    declare(from->table, &text);
    int rc = buf_ok(&text) ? guard_declare(from->q, text.p) : SQLITE_NOMEM;
    buf_fini(&text);
    if (rc != SQLITE_OK) return rc;
    trace_vtab *v = counted_alloc(sizeof *v);
    if (!v) return SQLITE_NOMEM;
    *v = (trace_vtab){.q = from->q, .table = from->table};
    *out = &v->base;
    return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *v) {
    counted_free(v);
    return SQLITE_OK;
}

/* ---- planning ---------------------------------------------------------------------------- */

static bool op_of(unsigned char sqlite_op, condition_op *out) {
    static const struct {
        int from;
        condition_op to;
    } ops[] = {
        {SQLITE_INDEX_CONSTRAINT_EQ, IS_EQUAL},
        {SQLITE_INDEX_CONSTRAINT_NE, IS_NOT},
        {SQLITE_INDEX_CONSTRAINT_LT, IS_LESS},
        {SQLITE_INDEX_CONSTRAINT_LE, IS_AT_MOST},
        {SQLITE_INDEX_CONSTRAINT_GT, IS_MORE},
        {SQLITE_INDEX_CONSTRAINT_GE, IS_AT_LEAST},
        {SQLITE_INDEX_CONSTRAINT_ISNULL, IS_NULL},
        {SQLITE_INDEX_CONSTRAINT_ISNOTNULL, IS_NOT_NULL},
        {SQLITE_INDEX_CONSTRAINT_LIKE, IS_LIKE},
        {SQLITE_INDEX_CONSTRAINT_GLOB, IS_GLOB},
    };
    for (size_t i = 0; i < N_OF(ops); i++) {
        if (ops[i].from != sqlite_op) continue;
        *out = ops[i].to;
        return true;
    }
    return false;
}

static uint8_t column_number(int sqlite_column) {
    return sqlite_column < 0 ? 0 : (uint8_t)sqlite_column; /* -1: the row id */
}

/* Takes the constraints that a walk can test. */
static uint32_t take_constraints(const sql_table *t, sqlite3_index_info *info,
                                 condition out[MAX_CONDITIONS]) {
    uint32_t n = 0;
    for (int i = 0; i < info->nConstraint && n < MAX_CONDITIONS; i++) {
        condition c = {.column = column_number(info->aConstraint[i].iColumn)};
        if (!info->aConstraint[i].usable || !op_of(info->aConstraint[i].op, &c.op)) continue;
        cell_kind kind = t->columns[c.column].kind;
        bool compares =
            (kind == CELL_NAME || kind == CELL_WORD) && (c.op == IS_EQUAL || c.op == IS_NOT);
        if (!walk_can_test(t, c.column, c.op)) continue;
        if (compares && strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0) continue;
        out[n++] = c;
        info->aConstraintUsage[i].argvIndex = (int)n;
        info->aConstraintUsage[i].omit = 1;
    }
    return n;
}

static bool names_track(const sql_table *t, const condition *c, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (c[i].op == IS_EQUAL && c[i].column == t->track) return true;
    return false;
}

/* Slices lie by track, then by start. */
static bool is_own_order(const sql_table *t, const sqlite3_index_info *info) {
    return t->table == TABLE_slice && info->nOrderBy == 2 &&
           info->aOrderBy[0].iColumn == t->track && info->aOrderBy[1].iColumn == t->start &&
           !info->aOrderBy[0].desc && !info->aOrderBy[1].desc;
}

/* The order that was asked for, where the walk has it. */
static row_order choose_order(const trace_vtab *v, sqlite3_index_info *info, const condition *c,
                              uint32_t n, uint8_t *sorted_by) {
    if (is_own_order(v->table, info)) return ORDER_UP;
    if (info->nOrderBy != 1) return ORDER_ANY;
    uint8_t col = column_number(info->aOrderBy[0].iColumn);
    if (walk_can_order(v->table, col, names_track(v->table, c, n)))
        return info->aOrderBy[0].desc ? ORDER_DOWN : ORDER_UP;
    if (!walk_can_sort(&v->q->rows, v->table, col)) return ORDER_ANY;
    *sorted_by = col;
    return info->aOrderBy[0].desc ? ORDER_SORTED_DOWN : ORDER_SORTED;
}

static int plan_walk(sqlite3_vtab *base, sqlite3_index_info *info) {
    trace_vtab *v = (trace_vtab *)base;
    condition c[MAX_CONDITIONS];
    char plan[3 * MAX_CONDITIONS + 1] = "";
    uint8_t sorted_by = 0;
    uint32_t n = take_constraints(v->table, info, c);
    row_order order = choose_order(v, info, c, n, &sorted_by);
    walk_cost cost = sql_walk_estimate(&v->q->rows, v->table, c, n);
    for (uint32_t i = 0; i < n; i++)
        sqlite3_snprintf(4, plan + 3 * i, "%02x%x", c[i].column, (unsigned)c[i].op);
    info->idxNum = (int)order | sorted_by << 4;
    info->idxStr = sqlite3_mprintf("%s", plan);
    info->needToFreeIdxStr = 1;
    info->orderByConsumed = order != ORDER_ANY;
    info->estimatedCost = cost.cost;
    info->estimatedRows = (sqlite3_int64)cost.rows;
    if (cost.one) info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- walking ----------------------------------------------------------------------------- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    trace_cursor *c = counted_alloc(sizeof *c);
    (void)base;
    if (!c) return SQLITE_NOMEM;
    memset(c, 0, sizeof *c);
    *out = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
    sql_walk_end(&((trace_cursor *)base)->walk);
    counted_free(base);
    return SQLITE_OK;
}

static unsigned hex_digit(char c) {
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* With the affinity of the column, as SQLite compares. */
static sql_value value_for(sqlite3_value *v, cell_kind kind) {
    bool text = kind == CELL_NAME || kind == CELL_WORD;
    sql_value out = {.type = VALUE_IS_NULL};
    switch (text ? sqlite3_value_type(v) : sqlite3_value_numeric_type(v)) {
    case SQLITE_NULL: return out;
    case SQLITE_INTEGER: out.type = VALUE_IS_INT; break;
    case SQLITE_FLOAT: out.type = VALUE_IS_REAL; break;
    case SQLITE_BLOB: out.type = VALUE_IS_BLOB; break;
    default: out.type = VALUE_IS_TEXT;
    }
    if (text) {
        out.text = value_str(v);
        return out;
    }
    out.i = sqlite3_value_int64(v);
    out.d = sqlite3_value_double(v);
    return out;
}

/* As SQLite says it of patterns that it tries itself. */
static bool is_too_complex(query *q, const condition *c, sqlite3_value *v) {
    int most = sqlite3_limit(q->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
    return (c->op == IS_LIKE || c->op == IS_GLOB) && sqlite3_value_bytes(v) > most;
}

static int begin_walk(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
                      sqlite3_value **argv) {
    trace_cursor *c = (trace_cursor *)base;
    trace_vtab *v = (trace_vtab *)base->pVtab;
    condition conditions[MAX_CONDITIONS];
    error err = {0};
    walk_plan how = {.conditions = conditions,
                     .order = (row_order)(number & 15),
                     .sorted_by = (uint8_t)(number >> 4)};
    for (int i = 0; i < argc && plan[3 * i]; i++) {
        uint8_t col = (uint8_t)(hex_digit(plan[3 * i]) << 4 | hex_digit(plan[3 * i + 1]));
        conditions[how.n++] = (condition){
            .column = col,
            .op = (condition_op)hex_digit(plan[3 * i + 2]),
            .value = value_for(argv[i], v->table->columns[col].kind),
        };
        if (is_too_complex(v->q, &conditions[i], argv[i])) {
            v->base.zErrMsg = sqlite3_mprintf("LIKE or GLOB pattern too complex");
            return SQLITE_ERROR;
        }
    }
    sql_walk_end(&c->walk);
    if (sql_walk_begin(&c->walk, &v->q->rows, v->table, &how, &err) == OK) return SQLITE_OK;
    return pending_fail(v->q, &err);
}

static int walk_on(sqlite3_vtab_cursor *base) {
    sql_walk_next(&((trace_cursor *)base)->walk);
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base) {
    return ((trace_cursor *)base)->walk.row == 0;
}

static int give_row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
    *out = ((trace_cursor *)base)->walk.row;
    return SQLITE_OK;
}

static void give_text(sqlite3_context *to, str s) {
    if (s.p)
        sqlite3_result_text64(to, s.p, s.n, SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_result_null(to);
}

static int give_args(query *q, sqlite3_context *to, uint32_t record) {
    error err = {0};
    buf json = {0};
    status s = trace_args_json(q->rows.t, record, &json, &err);
    if (s == OK && !buf_ok(&json))
        s = error_set(&err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (s == OK) sqlite3_result_text64(to, json.p, json.n, SQLITE_TRANSIENT, SQLITE_UTF8);
    buf_fini(&json);
    return s == OK ? SQLITE_OK : pending_fail(q, &err);
}

static int give_cell(sqlite3_vtab_cursor *base, sqlite3_context *to, int i) {
    trace_cursor *c = (trace_cursor *)base;
    trace_vtab *v = (trace_vtab *)base->pVtab;
    const sql_column *is = &v->table->columns[i];
    const trace *t = v->q->rows.t;
    if (is->kind == CELL_REAL) {
        sqlite3_result_double(to, cell_real(&c->walk.cells, is, c->walk.row)); /* NaN is NULL */
        return SQLITE_OK;
    }
    int64_t value = cell_int(&c->walk.cells, is, c->walk.row);
    if (value == ABSENT_I64)
        sqlite3_result_null(to);
    else if (is->kind == CELL_INT)
        sqlite3_result_int64(to, value);
    else if (is->kind == CELL_NAME)
        give_text(to, trace_str(t, (uint32_t)value));
    else if (is->kind == CELL_WORD)
        give_text(to, is->word(t, (uint32_t)value));
    else
        return give_args(v->q, to, (uint32_t)value);
    return SQLITE_OK;
}

/* ---- adding them ------------------------------------------------------------------------- */

/* SQLite's own judge wants a NUL at the end, which names in a trace do not have. Names may be
 * many and long, and a walk that finds nothing is one step for SQLite's clock. */
static bool match_text(void *context, condition_op op, const char *pattern, str text) {
    if (guard_is_late(context)) return false;
    char few[512], *copy = text.n < sizeof few ? few : counted_alloc(text.n + 1);
    if (!copy) return false;
    if (text.n) memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    bool fits = op == IS_LIKE ? sqlite3_strlike(pattern, copy, 0) == 0
                              : sqlite3_strglob(pattern, copy) == 0;
    if (copy != few) counted_free(copy);
    return fits;
}

static const sqlite3_module MODULE = {
    .xConnect = connect_table,
    .xBestIndex = plan_walk,
    .xDisconnect = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = begin_walk,
    .xNext = walk_on,
    .xEof = is_at_end,
    .xColumn = give_cell,
    .xRowid = give_row_id,
};

int trace_tables_add(query *q) {
    table_aux *aux = ARENA_ARRAY(&q->arena, table_aux, N_TABLES);
    if (!aux) return SQLITE_NOMEM;
    q->rows.match = match_text;
    q->rows.match_context = q;
    for (int i = 0; i < N_TABLES; i++) {
        aux[i] = (table_aux){q, &q->tables[i]};
        int rc = sqlite3_create_module(q->db, q->tables[i].name, &MODULE, &aux[i]);
        if (rc != SQLITE_OK) return rc;
    }
    return SQLITE_OK;
}
