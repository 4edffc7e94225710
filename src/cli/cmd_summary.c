/* cmd_summary.c: `tacho summary`: the report a person wants right after a run.
 *
 * The answer first (the overview's verdict), then what the trace is and how much of it could be
 * used, what the average step is spent on, the most expensive operators and kernels, the peak
 * of memory and what to change. A few rows of each (ROWS_OF) unless --limit or --all says
 * otherwise, with the columns that matter most. It is made of the same analyses a program would
 * ask: every number here can be had as JSON under the same name. A table that would be empty,
 * such as kernels of a host-only trace, is left out.
 *
 * --sort takes a column of the operators or kernels, or a word that means one of each (KEYS); a
 * table that has no such column keeps its own order.
 *
 * Of a run of several ranks the verdict, the average step and the advice are those of all of
 * them; what needs events (operators, kernels, memory) is of the first, and its line says so.
 *
 * --style paddle is another report altogether (paddle_tables.c). */
#include <unistd.h>

#include "analyse/ask.h"
#include "base/message_ids_cli.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/open.h"
#include "cli/shape.h"
#include "compat/paddle_tables.h"
#include "present/width.h"

/* Rows of each part, in a pipe and on a screen; 0: all of them, whatever --limit says. */
static const struct part_rows {
    const char *table;
    size_t usual, screen;
} ROWS_OF[] = {
    {"breakdown", 0, 8}, {"operators", 10, 4}, {"kernels", 10, 4},
    {"peaks", 0, 2},     {"advice", 3, 2},     {"lines", 8, 6},
};

#define LATE_LINES 8 /* two pieces of advice */

typedef struct {
    const options *o;
    opened_input *x;   /* one worker */
    opened_input *all; /* all ranks of its run; NULL: it has no others, or one was chosen */
    output *out;
    present_options present;
} report;

/* Words for --sort in addition to the names of columns. NULL: the table has no such column. */
static const struct {
    const char *key, *operators, *kernels;
} KEYS[] = {
    {"cpu_total", "host_total", NULL},
    {"cpu_self", "host_self", NULL},
    {"cpu_average", "mean", NULL},
    {"cpu_max", "max", NULL},
    {"cpu_min", "min", NULL},
    {"gpu_total", "device_total", "total"},
    {"gpu_self", "device_self", "total"},
    {"gpu_average", "device_mean", "mean"},
    {"gpu_max", "device_max", "max"},
    {"gpu_min", "device_min", "min"},
    {"average", "mean", "mean"},
};

static status ask(const report *r, str analysis, answer *out, error *err) {
    const analysis_info *a = registry_find(analysis);
    if (!a) BUG("summary asks for an analysis that is not there");
    opened_input *x = a->workers && r->all ? r->all : r->x;
    params p = options_params(r->o, x->pool);
    TRY(analysis_ask(a, &x->input, &p, &x->arena, out, err));
    shape_stable(out, r->o);
    return present_resolve(out, r->o->words, err);
}

/* The named table; NULL when the answer has none. */
static table *find_table(const answer *a, const char *name) {
    for (uint32_t i = 0; i < a->n_tables; i++)
        if (strcmp(a->tables[i]->name, name) == 0) return a->tables[i];
    return NULL;
}

static void put_heading(const report *r, uint16_t title, const char *by) {
    buf heading = {0}, *out = &r->out->buf;
    if (r->present.terminal) by = text_header(by, r->o->words);
    text_put(&heading, r->o->words, title, arg_cstr("column", by));
    buf_add_byte(out, '\n');
    present_title_text(buf_str(&heading), &r->present, out);
    if (!buf_ok(&heading)) out->failed = true;
    buf_fini(&heading);
}

/* 0: all. */
static size_t rows_wanted(const report *r, const char *table_name) {
    size_t i = 0;
    while (strcmp(ROWS_OF[i].table, table_name) != 0) i++;
    if (r->o->question.limit != ABSENT_I64)
        return ROWS_OF[i].usual ? (size_t)r->o->question.limit : 0;
    if (r->o->all) return 0;
    return r->present.lines != 0 ? ROWS_OF[i].screen : ROWS_OF[i].usual;
}

/* Is most of the screen filled? Then one paragraph more is enough. */
static bool is_late(const report *r) {
    size_t lines = 0;
    for (size_t i = 0; i < r->out->buf.n; i++) lines += r->out->buf.p[i] == '\n';
    return r->o->question.limit == ABSENT_I64 && lines + LATE_LINES > r->present.lines;
}

/* This many rows of a table, in the form this reader gets. */
static status put_rows(const report *r, table *t, error *err) {
    size_t rows = rows_wanted(r, t->name);
    if (r->present.lines != 0) {
        if (strcmp(t->name, "advice") == 0 && is_late(r)) rows = 1;
        return present_table_screen(t, rows, &r->present, &r->out->buf, err);
    }
    table_limit(t, rows);
    return present_table_text(t, &r->present, &r->out->buf, err);
}

/* ---- what it is -------------------------------------------------------------------------- */

/* Text of a fact in the table `trace` of info; empty when it has none. */
static str fact(const table *t, str key) {
    uint32_t k = table_column(t, STR("key")), v = table_column(t, STR("value"));
    for (size_t row = 0; row < t->n_rows; row++)
        if (str_eq(t->columns[k].v.s[row], key) && !table_is_null(t, row, v))
            return t->columns[v].v.s[row];
    return STR_NONE;
}

static status put_header(const report *r, error *err) {
    answer info;
    int64_t steps;
    buf *out = &r->out->buf;
    TRY(ask(r, STR("info"), &info, err));
    present_quality_text(&info, &r->present, out);
    const table *trace_facts = find_table(&info, "trace"),
                *devices = find_table(&info, "devices");
    if (trace_facts && str_to_i64(fact(trace_facts, STR("steps")), &steps) && steps > 0) {
        text_put(out, r->o->words, MSG_SUMMARY_STEPS, arg_int("count", steps));
        buf_add_byte(out, '\n');
    }
    if (!devices || devices->n_rows == 0 || r->present.lines != 0) return OK;
    buf_add_byte(out, '\n');
    return present_table_text(devices, &r->present, out, err);
}

/* ---- operators and kernels --------------------------------------------------------------- */

/* --sort KEY[:asc|:desc] without and with its direction. */
static str key_of(const report *r) {
    str wanted = r->o->summary_sort;
    size_t colon = str_rfind_byte(wanted, ':');
    return colon == SIZE_MAX ? wanted : str_n(wanted.p, colon);
}

static str direction_of(const report *r) {
    return str_from(r->o->summary_sort, key_of(r).n);
}

/* The column of this answer that --sort means; NULL: none. */
static const char *sort_column(const report *r, const answer *a) {
    str key = key_of(r);
    const table *t = a->tables[0];
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        if (str_eq(key, str_of(KEYS[i].key)))
            return registry_of(a)->run == analyse_operators ? KEYS[i].operators
                                                            : KEYS[i].kernels;
    uint32_t col = key.n ? table_column(t, key) : UINT32_MAX;
    return col == UINT32_MAX ? NULL : t->columns[col].name;
}

/* Sorts the rows as asked; by *by the column that decides. */
static status sort_rows(const report *r, answer *a, const char **by, error *err) {
    table *t = a->tables[0];
    const char *name = sort_column(r, a);
    if (!name) return OK;
    str wanted = arena_printf(&r->x->arena, "%s%.*s", name, STR_ARG(direction_of(r)));
    if (!wanted.p) FAIL_MEMORY(err);
    TRY(arrange_sort(a, wanted, err));
    uint16_t *rank = &t->columns[table_column(t, str_of(name))].rank;
    if (*rank == 0) *rank = 2; /* so that it is shown */
    *by = name;
    return OK;
}

/* The first of the two columns that holds any time; the analysis has sorted by it. */
static const char *usual_order(const table *t, const char *first, const char *second) {
    uint32_t col = table_column(t, str_of(first));
    for (size_t row = 0; row < t->n_rows; row++)
        if (!table_is_null(t, row, col) && t->columns[col].v.i[row] > 0) return first;
    return second;
}

static status put_top(const report *r, answer *a, uint16_t title, const char *by, error *err) {
    table *t = a->tables[0];
    if (t->n_rows == 0) return OK;
    TRY(sort_rows(r, a, &by, err));
    put_heading(r, title, by);
    for (uint32_t i = t->n_columns; i > 0; i--)
        if (t->columns[i - 1].rank == 0) table_drop_column(t, i - 1);
    return put_rows(r, t, err);
}

static status fail_sort(const report *r, const answer *operators, const answer *kernels,
                        error *err) {
    const table *tables[] = {operators->tables[0], kernels->tables[0]};
    name_hint hint = hint_for(key_of(r));
    for (size_t i = 0; i < N_OF(KEYS); i++) hint_offer(&hint, str_of(KEYS[i].key));
    for (size_t t = 0; t < N_OF(tables); t++)
        for (uint32_t i = 0; i < tables[t]->n_columns; i++)
            hint_consider(&hint, str_of(tables[t]->columns[i].name));
    str given = arena_printf(&r->x->arena, "--sort %.*s", STR_ARG(r->o->summary_sort));
    if (!given.p) FAIL_MEMORY(err);
    FAIL(err, ERR_ARG, NOPOS, MSG_CLI_BAD_CHOICE, arg_text("given", given), HINT_ARGS(&hint));
}

static status put_tops(const report *r, error *err) {
    answer operators, kernels;
    TRY(ask(r, STR("operators"), &operators, err));
    TRY(ask(r, STR("kernels"), &kernels, err));
    if (r->o->summary_sort.n && !sort_column(r, &operators) && !sort_column(r, &kernels))
        return fail_sort(r, &operators, &kernels, err);
    TRY(put_top(r, &operators, MSG_SUMMARY_OPERATORS,
                usual_order(operators.tables[0], "device_self", "host_self"), err));
    return put_top(r, &kernels, MSG_SUMMARY_KERNELS, "total", err);
}

/* ---- the rest ---------------------------------------------------------------------------- */

/* One table of an analysis under a heading; nothing when it is empty. */
static status put_table(const report *r, const answer *a, const char *name, uint16_t title,
                        error *err) {
    table *t = find_table(a, name);
    if (!t || t->n_rows == 0) return OK;
    put_heading(r, title, "");
    return put_rows(r, t, err);
}

/* The verdict, the average step and the advice are those of all ranks; the rest is of the
 * first. */
static status open_all(report *r, opened_input *all, error *err) {
    const trace_source *first = &r->x->input.traces[0];
    options o = *r->o;
    if (first->run_ranks <= 1 || o.question.worker.n || str_eq(o.style, STR("paddle")))
        return OK;
    o.command.analysis = registry_find(STR("overview"));
    o.command.name = o.command.analysis->name;
    o.quiet = true; /* everything has been said once */
    r->all = all;
    return open_traces(&o, all, err);
}

static status write_paddle(report *r, const params *window, error *err) {
    const options *o = r->o;
    paddle_choice choice = {.window = window,
                            .sorted_by = o->sorted_by,
                            .views = o->views,
                            .time_unit = o->time_unit,
                            .op_detail = o->op_detail,
                            .by_thread = o->thread_sep,
                            .words = o->words};
    TRY(paddle_tables_write(r->x->input.traces[0].trace, &choice, &r->x->arena, &r->out->buf,
                            err));
    output_make_safe(r->out);
    return OK;
}

static status write_report(report *r, opened_input *all, error *err) {
    answer overview, lines, memory, advise;
    buf *out = &r->out->buf;
    TRY(open_traces(r->o, r->x, err));
    params p = options_params(r->o, r->x->pool);
    TRY(part_check(&r->x->input, &p, err));
    TRY(open_all(r, all, err));
    cli_note_better(r->o, r->x->input.traces[0].trace);
    if (str_eq(r->o->style, STR("paddle"))) return write_paddle(r, &p, err);
    TRY(ask(r, STR("overview"), &overview, err));
    present_scope_text(&overview, &r->present, out);
    present_verdict_text(&overview.verdict, &r->present, out);
    TRY(put_header(r, err));
    if (trace_is_empty(r->x->input.traces[0].trace) && !r->all) return OK; /* only zeros */
    if (str_starts(str_of(overview.verdict.id), STR("line_leads"))) {
        TRY(ask(r, STR("lines"), &lines, err)); /* there is nothing but lines */
        TRY(put_table(r, &lines, "lines", MSG_SUMMARY_LINES, err));
    } else {
        TRY(put_table(r, &overview, "breakdown", MSG_SUMMARY_BREAKDOWN, err));
    }
    TRY(put_tops(r, err));
    TRY(ask(r, STR("memory"), &memory, err));
    TRY(put_table(r, &memory, "peaks", MSG_SUMMARY_MEMORY, err));
    TRY(ask(r, STR("advise"), &advise, err));
    TRY(put_table(r, &advise, "advice", MSG_SUMMARY_ADVICE, err));
    buf_add_byte(out, '\n');
    width_put_lines(out, str_of(text_get(MSG_SUMMARY_MORE, r->o->words)), 0,
                    r->present.terminal ? r->present.width : 0);
    return OK;
}

int cmd_summary(options *o) {
    error err = {0};
    opened_input x = {.pool = NULL}, all = {.pool = NULL};
    output out = {.fd = STDOUT_FILENO, .name = text_get(MSG_CLI_STDOUT, o->words)};
    report r = {.o = o, .x = &x, .out = &out, .present = cli_present(o, &out)};
    status s = write_report(&r, &all, &err);
    if (r.all) open_end(&all, &err);
    open_end(&x, &err);
    return output_end(&out, o, s, &err);
}
