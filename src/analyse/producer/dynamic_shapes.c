/* dynamic_shapes.c: operators of a network whose shapes change, step by step: how long each
 * took with which shapes (table op_run). */
#include "analyse/producer/dynamic_shapes.h"

#define COL_D(name) COL(operators, by_step, name)

enum { MOST_ROWS = 1 << 20 };

static bool is_wanted(const params *p, int64_t step) {
    return p->first_step == ABSENT_I64 || (step >= p->first_step && step <= p->last_step);
}

static status add_row(table *out, const trace *t, uint32_t i, error *err) {
    const struct {
        uint32_t column, text;
    } cells[] = {{COL_D(side), t->op_run.side[i]},     {COL_D(type), t->op_run.type[i]},
                 {COL_D(name), t->op_run.name[i]},     {COL_D(op), t->op_run.op[i]},
                 {COL_D(shapes), t->op_run.shapes[i]}, {COL_D(grid), t->op_run.grid[i]},
                 {COL_D(block), t->op_run.block[i]}};
    bool kernel = t->op_run.level[i] == PRODUCER_KERNEL;
    size_t row;
    TRY(table_add_row(out, &row, err));
    table_set_int(out, row, COL_D(step), t->op_run.step[i]);
    table_set_text(out, row, COL_D(level), kernel ? STR("kernel") : STR("operator"));
    table_set_int(out, row, COL_D(duration), t->op_run.duration[i]);
    for (size_t k = 0; k < sizeof cells / sizeof *cells; k++)
        if (cells[k].text)
            table_set_text(out, row, cells[k].column, trace_str(t, cells[k].text));
    return OK;
}

status dynamic_shapes_write(const trace *t, const params *p, arena *a, answer *out,
                            error *err) {
    TRY(trace_require(t, TRACE_TABLE(op_run), err));
    if (t->op_run.n < 2) return OK;
    table *rows = answer_table(out, a, "by_step");
    if (!rows) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->op_run.n && rows->n_rows < MOST_ROWS; i++)
        if (is_wanted(p, t->op_run.step[i])) TRY(add_row(rows, t, i, err));
    return OK;
}
