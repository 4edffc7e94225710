/* dynamic_shapes.c: operators of a network whose shapes change, step by step: how long each
 * took with which shapes (table op_run). */
#include "analyse/vendor/dynamic_shapes.h"

#include "analyse/rows.h"

enum { MOST_ROWS = 1 << 20 };

static bool is_wanted(const params *p, int64_t step) {
    return p->first_step == ABSENT_I64 || (step >= p->first_step && step <= p->last_step);
}

static str text_or_null(const trace *t, uint32_t id) {
    return id ? trace_str(t, id) : STR_NONE;
}

static status add_row(table *out, const trace *t, uint32_t i, error *err) {
    bool kernel = t->op_run.level[i] == PRODUCER_KERNEL;
    row_operators_by_step row = row_operators_by_step_none();
    row.step = t->op_run.step[i];
    row.level = kernel ? STR("kernel") : STR("operator");
    row.duration = t->op_run.duration[i];
    row.side = text_or_null(t, t->op_run.side[i]);
    row.type = text_or_null(t, t->op_run.type[i]);
    row.name = text_or_null(t, t->op_run.name[i]);
    row.op = text_or_null(t, t->op_run.op[i]);
    row.shapes = text_or_null(t, t->op_run.shapes[i]);
    row.grid = text_or_null(t, t->op_run.grid[i]);
    row.block = text_or_null(t, t->op_run.block[i]);
    return put_operators_by_step(out, &row, err);
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
