/* mindspore_shapes.c: operators of a network whose shapes change: dynamic_shape_info_#.json, in
 * one of two forms:
 *
 *   GPU      {"operator": {"1": [{step, op_side, op_type, op_name, dur, shape_info}]},
 *             "kernel": {"1": […]}}                                                        us
 *   Ascend   {"op_type": {…}, "MatMul": [{"MatMul-op3": {"op_exe_time": [ms],
 *                                                        "op_shape": ["{…}"]}}]}
 *
 * On an Ascend only operators that ran as often as most of them are taken: others did not
 * run once in each step, and their list cannot be divided by step. */
#include <math.h>

#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

enum { MOST_ROWS = 1 << 20 };

typedef struct {
    ms *m;
    uint32_t n_rows;
} writer;

/* The texts of a row; the rest is in the row. */
typedef struct {
    str side, type, name, op, shapes, grid, block;
} run_words;

static int64_t scaled(str json, double unit) {
    double v;
    return json_f64(json, &v) && fabs(v) < 1e12 ? round_i64(v * unit) : ABSENT_I64;
}

static status put_run(writer *w, row_op_run *row, const run_words *words, error *err) {
    const struct {
        uint32_t *to;
        str text;
    } cells[] = {{&row->side, words->side},     {&row->type, words->type},
                 {&row->name, words->name},     {&row->op, words->op},
                 {&row->shapes, words->shapes}, {&row->grid, words->grid},
                 {&row->block, words->block}};
    if (row->duration == ABSENT_I64 || w->n_rows >= MOST_ROWS) return OK;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        *cells[i].to = ms_string(w->m, cells[i].text);
        if (*cells[i].to == MS_NO_STRING) FAIL_MEMORY(err);
    }
    w->n_rows++;
    return builder_put_op_run(w->m->b, row, err);
}

/* ---- GPU --------------------------------------------------------------------------------- */

static status put_level(writer *w, str steps, uint8_t level, error *err) {
    json_iter it = json_open(steps);
    str number, list, key, one;
    while (json_next(&it, &number, &list)) {
        json_iter all = json_open(list);
        row_op_run row = {.level = level};
        if (!str_to_i64(number, &row.step)) continue;
        while (json_next(&all, &key, &one)) {
            str shapes = json_member(one, STR("shape_info"));
            run_words words = {
                .side = json_text(json_member(one, STR("op_side"))),
                .type = json_text(json_member(one, STR("op_type"))),
                .name = json_text(json_member(one, STR("op_name"))),
                .op = json_text(json_member(one, STR("op_full_name"))),
                .shapes = str_eq(shapes, STR("[]")) ? STR_NONE : shapes,
                .grid = json_text(json_member(one, STR("grid_dim"))),
                .block = json_text(json_member(one, STR("block_dim"))),
            };
            row.duration = scaled(json_member(one, STR("dur")), 1e3);
            TRY(put_run(w, &row, &words, err));
        }
    }
    return OK;
}

/* ---- Ascend ------------------------------------------------------------------------------ */

static uint32_t count(str list) {
    json_iter it = json_open(list);
    str key, value;
    uint32_t n = 0;
    while (n < MOST_ROWS && json_next(&it, &key, &value)) n++;
    return n;
}

/* Executions of an operator; 0 when times and shapes do not fit together. */
static uint32_t runs_of(str one) {
    uint32_t n = count(json_member(one, STR("op_exe_time")));
    return n == count(json_member(one, STR("op_shape"))) ? n : 0;
}

static status put_runs(writer *w, str type, str name, str one, error *err) {
    json_iter times = json_open(json_member(one, STR("op_exe_time"))),
              shapes = json_open(json_member(one, STR("op_shape")));
    str key, time, shape;
    row_op_run row = {.level = PRODUCER_OPERATOR};
    while (json_next(&times, &key, &time) && json_next(&shapes, &key, &shape)) {
        row.step++;
        row.duration = scaled(time, 1e6);
        run_words words = {.type = type, .name = name, .shapes = json_text(shape)};
        TRY(put_run(w, &row, &words, err));
    }
    return OK;
}

/* Every operator of every type, one after the other. */
typedef struct {
    json_iter types, list, ops;
    str type;
} op_iter;

static op_iter open_ops(str file) {
    return (op_iter){
        .types = json_open(file), .list = json_open(STR_NONE), .ops = json_open(STR_NONE)};
}

static bool next_op(op_iter *it, str *name, str *one) {
    str key, value;
    while (!json_next(&it->ops, name, one)) {
        if (json_next(&it->list, &key, &value)) {
            it->ops = json_open(value);
            continue;
        }
        if (!json_next(&it->types, &it->type, &value)) return false;
        it->list = json_open(str_eq(it->type, STR("op_type")) ? STR_NONE : value);
    }
    return true;
}

/* The number of runs most operators have; the larger of two that are equal. */
static status find_usual(str file, uint32_t *usual, error *err) {
    map counts = {0};
    str name, one;
    uint32_t times = 0;
    status st = OK;
    for (op_iter it = open_ops(file); st == OK && next_op(&it, &name, &one);) {
        uint32_t n = runs_of(one), *at = map_at(&counts, n);
        if (!at) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
        if (!at || !n) continue;
        *at = *at == MAP_NONE ? 1 : *at + 1;
        if (*at < times || (*at == times && n <= *usual)) continue;
        *usual = n;
        times = *at;
    }
    map_fini(&counts);
    return st;
}

static status put_ascend(writer *w, str file, error *err) {
    uint32_t usual = 0;
    str name, one;
    TRY(find_usual(file, &usual, err));
    for (op_iter it = open_ops(file); usual && next_op(&it, &name, &one);)
        if (runs_of(one) == usual) TRY(put_runs(w, it.type, name, one, err));
    return OK;
}

status read_dynamic(ms *m, str text, error *err) {
    buf json = {0};
    writer w = {.m = m};
    status st = ms_normal(m, text, &json, err);
    str file = buf_str(&json), operators = json_member(file, STR("operator"));
    if (st == OK && !operators.n) st = put_ascend(&w, file, err);
    if (st == OK && operators.n) st = put_level(&w, operators, PRODUCER_OPERATOR, err);
    if (st == OK && operators.n)
        st = put_level(&w, json_member(file, STR("kernel")), PRODUCER_KERNEL, err);
    buf_fini(&json);
    return st;
}
