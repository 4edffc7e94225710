/* cmd_summary.c: `tacho summary`: the report a person wants right after a run.
 *
 * What the trace is, how much of it could be used, then the costliest operators and kernels,
 * ten of each unless --limit says otherwise, with the columns that matter most. It is made of
 * the same analyses a program would ask (info, operators, kernels): every number here can be
 * had as JSON under the same name. A table that would be empty, such as kernels of a host-only
 * trace, is left out. */
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/open.h"
#include "cli/shape.h"

#define TOP_ROWS 10

typedef struct {
    const options *o;
    opened *x;
    output *out;
    present_options present;
} report;

static status ask(const report *r, str analysis, answer *out, error *err) {
    const analysis_info *a = registry_find(analysis);
    params p = options_params(r->o, r->x->pool);
    if (!a) BUG("summary asks for an analysis that is not there");
    TRY(a->run(&r->x->input, &p, &r->x->arena, out, err));
    shape_stable(out, r->o);
    return OK;
}

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
    for (uint32_t i = 0; i < info.n_tables; i++) {
        const table *t = info.tables[i];
        bool devices = strcmp(t->name, "devices") == 0;
        if (strcmp(t->name, "trace") == 0 && str_to_i64(fact(t, STR("steps")), &steps) &&
            steps > 0) {
            text_put(out, r->o->words, MSG_SUMMARY_STEPS, arg_int("count", steps));
            buf_add_byte(out, '\n');
        }
        if (!devices || t->n_rows == 0) continue;
        buf_add_byte(out, '\n');
        TRY(present_table_text(t, &r->present, out, err));
    }
    return OK;
}

/* The first of the two columns that holds any time; the analysis has sorted by it. */
static const char *sort_column(const table *t, const char *first, const char *second) {
    uint32_t col = table_column(t, str_of(first));
    for (size_t row = 0; row < t->n_rows; row++)
        if (!table_is_null(t, row, col) && t->columns[col].v.i[row] > 0) return first;
    return second;
}

static status put_top(const report *r, str analysis, uint16_t title, error *err) {
    answer a;
    buf heading = {0}, *out = &r->out->buf;
    TRY(ask(r, analysis, &a, err));
    table *t = a.tables[0];
    if (t->n_rows == 0) return OK;
    const char *by =
        title == MSG_SUMMARY_OPERATORS ? sort_column(t, "device_self", "host_self") : "total";
    text_put(&heading, r->o->words, title, arg_cstr("column", by));
    buf_add_byte(out, '\n');
    present_title_text(buf_str(&heading), &r->present, out);
    if (!buf_ok(&heading)) out->failed = true;
    buf_fini(&heading);
    for (uint32_t i = t->n_columns; i > 0; i--)
        if (t->columns[i - 1].rank == 0) table_drop_column(t, i - 1);
    table_limit(t, r->o->limit == ABSENT_I64 ? TOP_ROWS : (size_t)r->o->limit);
    return present_table_text(t, &r->present, out, err);
}

static status write_report(const report *r, error *err) {
    TRY(open_traces(r->o, r->x, err));
    TRY(put_header(r, err));
    TRY(put_top(r, STR("operators"), MSG_SUMMARY_OPERATORS, err));
    TRY(put_top(r, STR("kernels"), MSG_SUMMARY_KERNELS, err));
    buf_add_byte(&r->out->buf, '\n');
    buf_add_cstr(&r->out->buf, text_get(MSG_SUMMARY_MORE, r->o->words));
    buf_add_byte(&r->out->buf, '\n');
    return OK;
}

int cmd_summary(options *o) {
    error err = {0};
    opened x = {.pool = NULL};
    output out = {.fd = STDOUT_FILENO, .name = text_get(MSG_CLI_STDOUT, o->words)};
    report r = {.o = o, .x = &x, .out = &out, .present = cli_present(o, &out)};
    status s = write_report(&r, &err);
    open_end(&x);
    return output_end(&out, o, s, &err);
}
