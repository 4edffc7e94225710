/* sql_describe.c: what can be asked, as tables: .tables, .schema [TABLE] and .examples; and the
 * words that a prompt completes to. */
#include "analyse/registry.h"
#include "base/message_ids_columns.h"
#include "base/message_ids_query.h"
#include "query/sqlite_int.h"

static const query_example EXAMPLES[] = {
#define EXAMPLE(id, sql) {MSG_EXAMPLE_##id, sql},
#include "query/examples.def"
#undef EXAMPLE
};

const query_example *query_example_at(uint32_t i) {
    return i < N_OF(EXAMPLES) ? &EXAMPLES[i] : NULL;
}

static const uint16_t WHAT_TABLES[N_TABLES] = {
#define TABLE(t, doc) MSG_QUERY_TABLE_##t,
#include "store/schema.def"
};

static status describe_table(answer *out, arena *a, const char *name, const column_spec *spec,
                             uint32_t n, table **to, error *err) {
    str unique = table_unique_name(out, name, a);
    if (out->n_tables == N_OF(out->tables)) FAIL0(err, ERR_LIMIT, NOPOS, MSG_QUERY_STATEMENTS);
    *to = unique.p ? table_new(a, unique.p, spec, n) : NULL;
    if (!*to) FAIL_MEMORY(err);
    (*to)->screen = (table_screen){.place = (uint16_t)(out->n_tables + 1)};
    out->tables[out->n_tables++] = *to;
    return OK;
}

status results_each(query *q, arena *a, result_fn each, void *context, error *err) {
    const analysis_info *is;
    const result_info *r;
    buf name = {0};
    status s = OK;
    for (uint32_t i = 0; s == OK && (is = registry_analysis(i)) != NULL; i++) {
        for (uint32_t k = 0; s == OK && (r = registry_result(is->name, k)) != NULL; k++) {
            if (!analysis_table_name(q, is, r, &name)) continue;
            str kept = buf_ok(&name) ? arena_str(a, buf_str(&name)) : STR_NONE;
            s = kept.p ? each(context, kept, is, r, err)
                       : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
        }
    }
    buf_fini(&name);
    return s;
}

/* ---- .tables ----------------------------------------------------------------------------- */

enum { TABLES_TABLE, TABLES_FROM, TABLES_ROWS, TABLES_WHAT };

typedef struct {
    table *to;
    lang words;
} tables_context;

static status put_table(tables_context *c, str name, str from, uint16_t what, error *err) {
    size_t row;
    TRY(table_add_row(c->to, &row, err));
    table_set_text(c->to, row, TABLES_TABLE, name);
    table_set_text(c->to, row, TABLES_FROM, from);
    table_set_text(c->to, row, TABLES_WHAT, str_of(text_get(what, c->words)));
    return OK;
}

static status put_result(void *context, str name, const analysis_info *is, const result_info *r,
                         error *err) {
    (void)r;
    return put_table(context, name, str_of(is->name), is->help, err);
}

static status list_tables(query *q, str rest, arena *a, answer *out, error *err) {
    static const column_spec spec[] = {{"table", TYPE_TEXT, UNIT_NONE, MSG_NONE},
                                       {"from", TYPE_TEXT, UNIT_NONE, MSG_NONE},
                                       {"rows", TYPE_INT, UNIT_COUNT, MSG_NONE},
                                       {"what", TYPE_TEXT, UNIT_NONE, MSG_NONE}};
    tables_context c = {.words = q->options.words};
    (void)rest;
    TRY(describe_table(out, a, "tables", spec, N_OF(spec), &c.to, err));
    for (int i = 0; i < N_TABLES; i++) {
        TRY(put_table(&c, str_of(q->tables[i].name), STR("trace"), WHAT_TABLES[i], err));
        uint32_t rows = trace_rows(q->rows.t, i);
        table_set_int(c.to, c.to->n_rows - 1, TABLES_ROWS, rows ? rows - 1 : 0);
    }
    TRY(put_table(&c, STR("arg"), STR("trace"), MSG_QUERY_TABLE_arg, err));
    TRY(put_table(&c, STR("span_join"), STR("function"), MSG_QUERY_TABLE_span_join, err));
    return results_each(q, a, put_result, &c, err);
}

/* ---- .schema ----------------------------------------------------------------------------- */

enum { SCHEMA_TABLE, SCHEMA_COLUMN, SCHEMA_TYPE, SCHEMA_UNIT, SCHEMA_IS, SCHEMA_WHAT };

typedef struct {
    table *to;
    lang words;
    str wanted; /* none: all */
    bool found;
} schema_context;

static const char *unit_word(column_unit u) {
    static const char *const words[] = {
        [UNIT_NS] = "ns",      [UNIT_BYTES] = "bytes",    [UNIT_SHARE] = "share",
        [UNIT_FLOPS] = "flop", [UNIT_FLOPS_S] = "flop/s", [UNIT_BYTES_S] = "bytes/s"};
    return u < N_OF(words) ? words[u] : NULL;
}

/* is: "hidden", "parameter", or the table whose id it is. */
static status put_column(schema_context *c, str name, const char *cells[4], uint16_t what,
                         error *err) {
    size_t row;
    TRY(table_add_row(c->to, &row, err));
    table_set_text(c->to, row, SCHEMA_TABLE, name);
    for (uint32_t i = 0; i < 4; i++)
        if (cells[i]) table_set_text(c->to, row, SCHEMA_COLUMN + i, str_of(cells[i]));
    if (what) table_set_text(c->to, row, SCHEMA_WHAT, str_of(text_get(what, c->words)));
    return OK;
}

static bool wants(schema_context *c, str name) {
    bool is = !c->wanted.n || str_eq_nocase(name, c->wanted);
    c->found |= is;
    return is;
}

static status put_trace_columns(schema_context *c, query *q, const sql_table *t, error *err) {
    static const char *const types[] = {"integer", "real", "text", "text", "text"};
    if (!wants(c, str_of(t->name))) return OK;
    for (uint16_t i = 0; i < t->n; i++) {
        const sql_column *k = &t->columns[i];
        bool refers = k->kind == CELL_INT && k->target < N_TABLES && i > 0;
        const char *cells[] = {k->name, types[k->kind], unit_word(k->unit),
                               k->hidden ? "hidden"
                               : refers  ? q->tables[k->target].name
                                         : NULL};
        TRY(put_column(c, str_of(t->name), cells, MSG_NONE, err));
    }
    return OK;
}

static status put_fields(void *context, str name, const analysis_info *is, const result_info *r,
                         error *err) {
    schema_context *c = context;
    const param_info *p;
    if (!wants(c, name)) return OK;
    for (uint32_t i = 0; i < r->n_fields; i++) {
        const field_info *f = registry_field(r, i);
        const char *type = f->type == TYPE_REAL                          ? "real"
                           : f->type == TYPE_INT || f->type == TYPE_BOOL ? "integer"
                                                                         : "text";
        const char *cells[] = {f->name, type, unit_word(f->unit), NULL};
        TRY(put_column(c, name, cells, f->help, err));
    }
    for (uint32_t i = 0; (p = registry_param(is->name, i)) != NULL; i++) {
        const char *cells[] = {p->name, "text", NULL, "parameter"};
        TRY(put_column(c, name, cells, p->help, err));
    }
    return OK;
}

static status list_columns(query *q, str name, arena *a, answer *out, error *err) {
    static const column_spec spec[] = {
        {"table", TYPE_TEXT, UNIT_NONE, MSG_NONE}, {"column", TYPE_TEXT, UNIT_NONE, MSG_NONE},
        {"type", TYPE_TEXT, UNIT_NONE, MSG_NONE},  {"unit", TYPE_TEXT, UNIT_NONE, MSG_NONE},
        {"is", TYPE_TEXT, UNIT_NONE, MSG_NONE},    {"what", TYPE_TEXT, UNIT_NONE, MSG_NONE}};
    schema_context c = {.words = q->options.words, .wanted = name};
    const char *arg_columns[][4] = {{"slice", "integer", NULL, "slice"},
                                    {"key", "text", NULL, NULL},
                                    {"value", NULL, NULL, NULL}};
    TRY(describe_table(out, a, "schema", spec, N_OF(spec), &c.to, err));
    for (int i = 0; i < N_TABLES; i++) TRY(put_trace_columns(&c, q, &q->tables[i], err));
    for (size_t i = 0; i < N_OF(arg_columns) && wants(&c, STR("arg")); i++)
        TRY(put_column(&c, STR("arg"), arg_columns[i], MSG_NONE, err));
    TRY(results_each(q, a, put_fields, &c, err));
    if (c.found) return OK;
    name_hint hint = hint_for(name);
    sql_hint_tables(q, &hint);
    FAIL(err, ERR_ARG, NOPOS, MSG_QUERY_NO_TABLE, arg_text("name", name), hint_near(&hint));
}

/* ---- .examples --------------------------------------------------------------------------- */

static status list_examples(query *q, str rest, arena *a, answer *out, error *err) {
    static const column_spec spec[] = {{"question", TYPE_TEXT, UNIT_NONE, MSG_NONE},
                                       {"sql", TYPE_TEXT, UNIT_NONE, MSG_NONE}};
    table *t;
    size_t row;
    (void)rest;
    TRY(describe_table(out, a, "examples", spec, N_OF(spec), &t, err));
    for (size_t i = 0; i < N_OF(EXAMPLES); i++) {
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, 0, str_of(text_get(EXAMPLES[i].question, q->options.words)));
        table_set_text(t, row, 1, str_of(EXAMPLES[i].sql));
    }
    return OK;
}

/* ---- .help ------------------------------------------------------------------------------- */

static status list_words(query *q, str rest, arena *a, answer *out, error *err);

typedef status (*describe_fn)(query *q, str rest, arena *a, answer *out, error *err);
static const struct {
    const char *word, *rest;
    uint16_t what;
    describe_fn describe; /* NULL: of a prompt */
} WORDS[] = {{".tables", "", MSG_QUERY_HELP_TABLES, list_tables},
             {".schema", " [TABLE]", MSG_QUERY_HELP_SCHEMA, list_columns},
             {".examples", "", MSG_QUERY_HELP_EXAMPLES, list_examples},
             {".help", "", MSG_QUERY_HELP_HELP, list_words},
             {".quit", "", MSG_QUERY_HELP_QUIT, NULL}};

static status list_words(query *q, str rest, arena *a, answer *out, error *err) {
    static const column_spec spec[] = {{"word", TYPE_TEXT, UNIT_NONE, MSG_NONE},
                                       {"what", TYPE_TEXT, UNIT_NONE, MSG_NONE}};
    table *t;
    size_t row;
    (void)rest;
    TRY(describe_table(out, a, "help", spec, N_OF(spec), &t, err));
    for (size_t i = 0; i < N_OF(WORDS); i++) {
        str word = arena_printf(a, "%s%s", WORDS[i].word, WORDS[i].rest);
        if (!word.p) FAIL_MEMORY(err);
        TRY(table_add_row(t, &row, err));
        table_set_text(t, row, 0, word);
        table_set_text(t, row, 1, str_of(text_get(WORDS[i].what, q->options.words)));
    }
    return OK;
}

status query_describe(query *q, str line, arena *a, answer *out, error *err) {
    size_t n = 0;
    while (n < line.n && !strchr(" \t;", line.p[n])) n++;
    str word = str_n(line.p, n), rest = str_trim(str_from(line, n));
    name_hint hint = hint_for(word);
    while (rest.n && rest.p[rest.n - 1] == ';') rest = str_trim(str_n(rest.p, rest.n - 1));
    for (size_t i = 0; i < N_OF(WORDS); i++) {
        if (WORDS[i].describe && str_eq(word, str_of(WORDS[i].word)))
            return WORDS[i].describe(q, rest, a, out, err);
        hint_offer(&hint, str_of(WORDS[i].word));
    }
    FAIL(err, ERR_ARG, NOPOS, MSG_QUERY_NO_WORD, arg_text("name", word), hint_near(&hint));
}

/* ---- completion -------------------------------------------------------------------------- */

typedef struct {
    query *q;
    uint32_t cap;
} word_list;

static status add_word(word_list *l, const char *word, error *err) {
    query *q = l->q;
    for (uint32_t i = 0; i < q->n_words; i++)
        if (strcmp(q->words[i], word) == 0) return OK;
    if (q->n_words == l->cap) {
        uint32_t cap = l->cap ? 2 * l->cap : 256;
        const char **grown = arena_grow(&q->arena, (void *)(uintptr_t)q->words,
                                        l->cap * sizeof *grown, cap * sizeof *grown);
        if (!grown) FAIL_MEMORY(err);
        q->words = grown;
        l->cap = cap;
    }
    q->words[q->n_words++] = word;
    return OK;
}

static status add_result_words(void *context, str name, const analysis_info *is,
                               const result_info *r, error *err) {
    (void)is;
    TRY(add_word(context, name.p, err));
    for (uint32_t i = 0; i < r->n_fields; i++)
        TRY(add_word(context, registry_field(r, i)->name, err));
    return OK;
}

static status list_completions(query *q, error *err) {
    static const char *const sql[] = {
        ".tables", ".schema",  ".examples", ".help",   ".quit", "SELECT", "FROM",
        "WHERE",   "GROUP BY", "ORDER BY",  "HAVING",  "LIMIT", "JOIN",   "LEFT JOIN",
        "WITH",    "DISTINCT", "count(*)",  "sum(",    "avg(",  "min(",   "max(",
        "LIKE",    "GLOB",     "BETWEEN",   "IS NULL", "DESC",  "OVER",   "PARTITION BY"};
    word_list l = {.q = q};
    for (size_t i = 0; i < N_OF(sql); i++) TRY(add_word(&l, sql[i], err));
    for (uint32_t i = 0; function_name(i); i++) TRY(add_word(&l, function_name(i), err));
    for (int i = 0; i < N_TABLES; i++) {
        TRY(add_word(&l, q->tables[i].name, err));
        for (uint16_t k = 0; k < q->tables[i].n; k++)
            TRY(add_word(&l, q->tables[i].columns[k].name, err));
    }
    return results_each(q, &q->arena, add_result_words, &l, err);
}

const char *query_word(query *q, uint32_t i) {
    if (!q->words && list_completions(q, NULL) != OK) return NULL;
    return i < q->n_words ? q->words[i] : NULL;
}
