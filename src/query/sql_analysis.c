/* sql_analysis.c: the result tables of the analyses as table-valued functions.
 *
 *     SELECT name, device_total FROM operators('name+shape') WHERE calls > 100
 *     SELECT * FROM overview_steps
 *
 * `operators` is the first table of its analysis, operators_phases another one. Parameters of
 * the registry are hidden columns in their order, so they are given as arguments or as
 * conditions: WHERE group_by = 'type'. After them come in_steps, in_from and in_to, the window.
 * A parameter that has the name of a result's column is called param_NAME.
 *
 * An answer is computed when its rows are first asked for, and kept: a join asks again. */
#include "analyse/ask.h"
#include "base/counted.h"
#include "present/present.h"
#include "query/sqlite_int.h"

enum { MOST_PARAMS = 32, N_WINDOW = 3 };

typedef struct {
    query *q;
    const analysis_info *is;
    const result_info *result;
    const char *name;
    uint32_t n_params; /* without those of the window */
} answer_aux;

typedef struct {
    sqlite3_vtab base;
    const answer_aux *aux;
} answer_vtab;

typedef struct {
    sqlite3_vtab_cursor base;
    const table *rows;
    size_t row;
    uint32_t *columns; /* of the fields in `rows`; UINT32_MAX: left out of this answer */
    sqlite3_value *given[MOST_PARAMS + N_WINDOW];
} answer_cursor;

/* ---- which tables there are -------------------------------------------------------------- */

static bool is_trace_table(const query *q, str name) {
    for (int i = 0; i < N_TABLES; i++)
        if (str_eq(str_of(q->tables[i].name), name)) return true;
    return false;
}

bool analysis_table_name(const query *q, const analysis_info *is, const result_info *r,
                         buf *out) {
    bool first = r == registry_result(is->name, 0);
    buf_clear(out);
    if (!analysis_is_about_one_run(is)) return false;
    buf_add_cstr(out, is->name);
    if (!first || is_trace_table(q, str_of(is->name))) buf_printf(out, "_%s", r->name);
    return !is_trace_table(q, buf_str(out));
}

bool analysis_column(const query *q, str in_table, str wanted, const field_info **out) {
    const analysis_info *is;
    const result_info *r;
    buf name = {0};
    *out = NULL;
    for (uint32_t i = 0; !*out && (is = registry_analysis(i)) != NULL; i++) {
        for (uint32_t k = 0; !*out && (r = registry_result(is->name, k)) != NULL; k++) {
            if (!analysis_table_name(q, is, r, &name) || !str_eq(buf_str(&name), in_table))
                continue;
            for (uint32_t f = 0; !*out && f < r->n_fields; f++)
                if (str_eq(str_of(registry_field(r, f)->name), wanted))
                    *out = registry_field(r, f);
        }
    }
    buf_fini(&name);
    return *out != NULL;
}

/* ---- connecting -------------------------------------------------------------------------- */

static bool has_field(const result_info *r, const char *name) {
    for (uint32_t i = 0; i < r->n_fields; i++)
        if (strcmp(registry_field(r, i)->name, name) == 0) return true;
    return false;
}

static const char *const WINDOW[N_WINDOW] = {"in_steps", "in_from", "in_to"};

static void declare_answer(const answer_aux *x, buf *out) {
    buf_add_cstr(out, "CREATE TABLE t(");
    for (uint32_t i = 0; i < x->result->n_fields; i++) {
        const field_info *f = registry_field(x->result, i);
        const char *type = f->type == TYPE_REAL                          ? "REAL"
                           : f->type == TYPE_INT || f->type == TYPE_BOOL ? "INTEGER"
                                                                         : "TEXT";
        buf_printf(out, "\"%s\" %s, ", f->name, type);
    }
    for (uint32_t i = 0; i < x->n_params; i++) {
        const char *name = registry_param(x->is->name, i)->name;
        buf_printf(out, "\"%s%s\" HIDDEN, ", has_field(x->result, name) ? "param_" : "", name);
    }
    for (uint32_t i = 0; i < N_WINDOW; i++)
        buf_printf(out, "%s HIDDEN%s", WINDOW[i], i + 1 < N_WINDOW ? ", " : ")");
    buf_add_byte(out, '\0');
}

static int connect_answer(sqlite3 *db, void *aux, int argc, const char *const *argv,
                          sqlite3_vtab **out, char **message) {
    buf text = {0};
    (void)db, (void)argc, (void)argv, (void)message;
    declare_answer(aux, &text);
    int rc = buf_ok(&text) ? guard_declare(((const answer_aux *)aux)->q, text.p) : SQLITE_NOMEM;
    buf_fini(&text);
    if (rc != SQLITE_OK) return rc;
    answer_vtab *v = counted_alloc(sizeof *v);
    if (!v) return SQLITE_NOMEM;
    *v = (answer_vtab){.aux = aux};
    *out = &v->base;
    return SQLITE_OK;
}

static int disconnect_answer(sqlite3_vtab *v) {
    counted_free(v);
    return SQLITE_OK;
}

/* Parameters are taken by =. One that cannot be known yet makes the plan impossible: the answer
 * without it would be another one. */
static int plan_answer(sqlite3_vtab *base, sqlite3_index_info *info) {
    const answer_aux *x = ((answer_vtab *)base)->aux;
    char plan[2 * (MOST_PARAMS + N_WINDOW) + 1] = "";
    int n = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        int param = info->aConstraint[i].iColumn - (int)x->result->n_fields;
        if (param < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (!info->aConstraint[i].usable) return SQLITE_CONSTRAINT;
        if (2 * n + 2 >= (int)sizeof plan) break;
        sqlite3_snprintf(3, plan + 2 * n, "%02x", (unsigned)param);
        info->aConstraintUsage[i].argvIndex = ++n;
        info->aConstraintUsage[i].omit = 1;
    }
    info->idxStr = sqlite3_mprintf("%s", plan);
    info->needToFreeIdxStr = 1;
    info->estimatedCost = 10000;
    info->estimatedRows = 1000;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- asking ------------------------------------------------------------------------------ */

static status set_window(params *p, uint32_t i, str text, error *err) {
    step_range steps;
    int64_t time;
    spelling as = {str_of(WINDOW[i]), " = "};
    if (i == 0) {
        if (!value_parse(VALUE_STEPS, NULL, text, &steps))
            return value_fail(VALUE_STEPS, NULL, &as, text, err);
        p->first_step = steps.first;
        p->last_step = steps.last;
        return OK;
    }
    if (!value_time(text, &time)) return value_fail(VALUE_TIME, NULL, &as, text, err);
    *(i == 1 ? &p->from_ns : &p->to_ns) = time;
    return OK;
}

static status set_params(const answer_aux *x, const answer_cursor *c, params *p, error *err) {
    for (uint32_t i = 0; i < x->n_params + N_WINDOW; i++) {
        if (!c->given[i] || sqlite3_value_type(c->given[i]) == SQLITE_NULL) continue;
        str text = arena_str(&x->q->arena, value_str(c->given[i]));
        if (!text.p) FAIL_MEMORY(err);
        if (i >= x->n_params) {
            TRY(set_window(p, i - x->n_params, text, err));
            continue;
        }
        const param_info *is = registry_param(x->is->name, i);
        spelling as = {str_of(is->name), " = "};
        TRY(params_add(p, is, &as, text, err));
    }
    return OK;
}

/* What was asked, as one text. */
static str question_key(const answer_aux *x, const answer_cursor *c, error *err) {
    buf key = {0};
    buf_add_cstr(&key, x->name);
    for (uint32_t i = 0; i < x->n_params + N_WINDOW; i++) {
        buf_add_byte(&key, ',');
        if (c->given[i] && sqlite3_value_type(c->given[i]) != SQLITE_NULL)
            buf_add_json(&key, value_str(c->given[i]));
    }
    str kept = buf_ok(&key) ? arena_str(&x->q->arena, buf_str(&key)) : STR_NONE;
    buf_fini(&key);
    if (!kept.p) (void)error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    return kept;
}

static status compute(const answer_aux *x, const answer_cursor *c, const table **out,
                      error *err) {
    query *q = x->q;
    params p = q->options.params;
    answer *made = ARENA_NEW(&q->arena, answer);
    if (!made) FAIL_MEMORY(err);
    p.tables = str_of(x->result->name);
    TRY(set_params(x, c, &p, err));
    TRY(analysis_ask(x->is, q->in, &p, &q->arena, made, err));
    TRY(present_resolve(made, q->options.words, err));
    *out = NULL;
    for (uint32_t i = 0; i < made->n_tables; i++)
        if (strcmp(made->tables[i]->name, x->result->name) == 0) *out = made->tables[i];
    return OK;
}

/* The rows, from the answers that are kept or computed now. */
static status ask(const answer_aux *x, const answer_cursor *c, const table **out, error *err) {
    query *q = x->q;
    str key = question_key(x, c, err);
    if (!key.p) return ERR_MEMORY;
    for (kept_answer *k = q->kept; k; k = k->next) {
        if (!str_eq(k->key, key)) continue;
        *out = k->rows;
        return OK;
    }
    kept_answer *keep = ARENA_NEW(&q->arena, kept_answer);
    if (!keep) FAIL_MEMORY(err);
    TRY(compute(x, c, &keep->rows, err));
    keep->key = key;
    keep->next = q->kept;
    q->kept = keep;
    *out = keep->rows;
    return OK;
}

/* ---- the rows ---------------------------------------------------------------------------- */

static int open_answer(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    const answer_aux *x = ((answer_vtab *)base)->aux;
    size_t columns_bytes = x->result->n_fields * sizeof(uint32_t);
    answer_cursor *c = counted_alloc(sizeof *c + columns_bytes);
    if (!c) return SQLITE_NOMEM;
    *c = (answer_cursor){.columns = (uint32_t *)(c + 1)};
    *out = &c->base;
    return SQLITE_OK;
}

static void forget_given(answer_cursor *c) {
    for (size_t i = 0; i < N_OF(c->given); i++) {
        sqlite3_value_free(c->given[i]);
        c->given[i] = NULL;
    }
}

static int close_answer(sqlite3_vtab_cursor *base) {
    forget_given((answer_cursor *)base);
    counted_free(base);
    return SQLITE_OK;
}

static unsigned hex_value(const char *two) {
    unsigned high = (unsigned)(two[0] <= '9' ? two[0] - '0' : two[0] - 'a' + 10);
    unsigned low = (unsigned)(two[1] <= '9' ? two[1] - '0' : two[1] - 'a' + 10);
    return high << 4 | low;
}

static int begin_answer(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
                        sqlite3_value **argv) {
    answer_cursor *c = (answer_cursor *)base;
    const answer_aux *x = ((answer_vtab *)base->pVtab)->aux;
    error err = {0};
    (void)number;
    forget_given(c);
    for (int i = 0; i < argc; i++) {
        unsigned param = hex_value(plan + 2 * i);
        sqlite3_value_free(c->given[param]);
        c->given[param] = sqlite3_value_dup(argv[i]);
        if (!c->given[param]) return SQLITE_NOMEM;
    }
    c->row = 0;
    if (ask(x, c, &c->rows, &err) != OK) return pending_fail(x->q, &err);
    for (uint32_t i = 0; i < x->result->n_fields; i++)
        c->columns[i] = c->rows
                            ? table_column(c->rows, str_of(registry_field(x->result, i)->name))
                            : UINT32_MAX;
    return SQLITE_OK;
}

static int next_answer(sqlite3_vtab_cursor *base) {
    ((answer_cursor *)base)->row++;
    return SQLITE_OK;
}

static int answer_is_over(sqlite3_vtab_cursor *base) {
    const answer_cursor *c = (answer_cursor *)base;
    return !c->rows || c->row >= c->rows->n_rows;
}

static int answer_row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
    *out = (sqlite3_int64)((answer_cursor *)base)->row + 1;
    return SQLITE_OK;
}

static void give_field(const answer_cursor *c, sqlite3_context *to, uint32_t at) {
    if (at == UINT32_MAX || table_is_null(c->rows, c->row, at)) {
        sqlite3_result_null(to);
        return;
    }
    const column *is = &c->rows->columns[at];
    if (is->type == TYPE_REAL)
        sqlite3_result_double(to, is->v.d[c->row]);
    else if (is->type == TYPE_TEXT)
        sqlite3_result_text64(to, is->v.s[c->row].p ? is->v.s[c->row].p : "", is->v.s[c->row].n,
                              SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_result_int64(to, is->v.i[c->row]);
}

static int answer_cell(sqlite3_vtab_cursor *base, sqlite3_context *to, int i) {
    answer_cursor *c = (answer_cursor *)base;
    const answer_aux *x = ((answer_vtab *)base->pVtab)->aux;
    uint32_t n = x->result->n_fields;
    if ((uint32_t)i < n)
        give_field(c, to, c->columns[i]);
    else if (c->given[(uint32_t)i - n])
        sqlite3_result_value(to, c->given[(uint32_t)i - n]);
    return SQLITE_OK;
}

static const sqlite3_module MODULE = {
    .xConnect = connect_answer,
    .xBestIndex = plan_answer,
    .xDisconnect = disconnect_answer,
    .xOpen = open_answer,
    .xClose = close_answer,
    .xFilter = begin_answer,
    .xNext = next_answer,
    .xEof = answer_is_over,
    .xColumn = answer_cell,
    .xRowid = answer_row_id,
};

static int add_result(query *q, const analysis_info *is, const result_info *r, buf *name) {
    uint32_t n_params = 0;
    if (!analysis_table_name(q, is, r, name)) return SQLITE_OK;
    while (n_params < MOST_PARAMS && registry_param(is->name, n_params)) n_params++;
    answer_aux *x = ARENA_NEW(&q->arena, answer_aux);
    str kept = buf_ok(name) ? arena_str(&q->arena, buf_str(name)) : STR_NONE;
    if (!x || !kept.p) return SQLITE_NOMEM;
    *x = (answer_aux){q, is, r, kept.p, n_params};
    return sqlite3_create_module(q->db, x->name, &MODULE, x);
}

int analysis_tables_add(query *q) {
    const analysis_info *is;
    const result_info *r;
    buf name = {0};
    int rc = SQLITE_OK;
    for (uint32_t i = 0; rc == SQLITE_OK && (is = registry_analysis(i)) != NULL; i++)
        for (uint32_t k = 0; rc == SQLITE_OK && (r = registry_result(is->name, k)); k++)
            rc = add_result(q, is, r, &name);
    buf_fini(&name);
    return rc;
}
