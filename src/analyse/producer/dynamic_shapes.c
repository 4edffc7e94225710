/* dynamic_shapes.c: operators of a network whose shapes change, step by step: how long each took with which
 * shapes.
 *
 * The producer's file is the metadata dynamic_shape, in one of two forms:
 *
 *   GPU      {"operator": {"1": [{step, op_side, op_type, op_name, dur, shape_info}]}, "kernel": {"1": […]}}   us
 *   Ascend   {"op_type": {…}, "MatMul": [{"MatMul-op3": {"op_exe_time": [ms], "op_shape": ["{…}"]}}]}
 *
 * On an Ascend only operators that ran as often as most of them are shown: others did not run once in each
 * step, and their list cannot be told apart by step. */
#include "analyse/producer/dynamic_shapes.h"

#include <math.h>

#include "base/json.h"
#include "base/map.h"
#include "base/num.h"

#define COL_D(name) COL(operators, by_step, name)

enum { MOST_ROWS = 1 << 20 };

typedef struct {
    table *out;
    const params *params;
} writer;

typedef struct {
    int64_t step, ns;
    const char *level;
    str side, type, name, op, shapes, grid, block;
} step_row;

static bool is_wanted(const params *p, int64_t step) {
    return p->first_step == ABSENT_I64 || (step >= p->first_step && step <= p->last_step);
}

static int64_t scaled(str json, double unit) {
    double v;
    return json_f64(json, &v) && fabs(v) < 1e12 ? (int64_t)llround(v * unit) : ABSENT_I64;
}

static void set_text(table *t, size_t row, uint32_t col, str v) {
    if (v.n) table_set_text(t, row, col, v);
}

static status add_row(const writer *w, const step_row *r, error *err) {
    size_t row;
    if (!is_wanted(w->params, r->step) || r->ns == ABSENT_I64 || w->out->n_rows >= MOST_ROWS)
        return OK;
    TRY(table_add_row(w->out, &row, err));
    table_set_int(w->out, row, COL_D(step), r->step);
    table_set_text(w->out, row, COL_D(level), str_of(r->level));
    set_text(w->out, row, COL_D(side), r->side);
    set_text(w->out, row, COL_D(type), r->type);
    set_text(w->out, row, COL_D(name), r->name);
    set_text(w->out, row, COL_D(op), r->op);
    table_set_int(w->out, row, COL_D(duration), r->ns);
    set_text(w->out, row, COL_D(shapes), r->shapes);
    set_text(w->out, row, COL_D(grid), r->grid);
    set_text(w->out, row, COL_D(block), r->block);
    return OK;
}

/* ---- GPU --------------------------------------------------------------------------------- */

static status write_level(const writer *w, str steps, const char *level, error *err) {
    json_iter it = json_open(steps);
    str number, list, key, one;
    while (json_next(&it, &number, &list)) {
        json_iter all = json_open(list);
        step_row r = {.level = level};
        if (!str_to_i64(number, &r.step)) continue;
        while (json_next(&all, &key, &one)) {
            str shapes = json_member(one, STR("shape_info"));
            r.side = json_text(json_member(one, STR("op_side")));
            r.type = json_text(json_member(one, STR("op_type")));
            r.name = json_text(json_member(one, STR("op_name")));
            r.op = json_text(json_member(one, STR("op_full_name")));
            r.ns = scaled(json_member(one, STR("dur")), 1e3);
            r.shapes = str_eq(shapes, STR("[]")) ? STR_NONE : shapes;
            r.grid = json_text(json_member(one, STR("grid_dim")));
            r.block = json_text(json_member(one, STR("block_dim")));
            TRY(add_row(w, &r, err));
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

static status write_runs(const writer *w, str type, str name, str one, error *err) {
    json_iter times = json_open(json_member(one, STR("op_exe_time"))),
              shapes = json_open(json_member(one, STR("op_shape")));
    str key, time, shape;
    step_row r = {.level = "operator", .type = type, .name = name};
    while (json_next(&times, &key, &time) && json_next(&shapes, &key, &shape)) {
        r.step++;
        r.ns = scaled(time, 1e6);
        r.shapes = json_text(shape);
        TRY(add_row(w, &r, err));
    }
    return OK;
}

/* Every operator of every type: counts how often each number of runs occurs, or writes those that have it. */
static status each_operator(const writer *w, str file, map *counts, uint32_t wanted,
                            error *err) {
    json_iter types = json_open(file);
    str type, list, key, names, name, one;
    while (json_next(&types, &type, &list)) {
        json_iter it = json_open(list);
        if (str_eq(type, STR("op_type"))) continue;
        while (json_next(&it, &key, &names)) {
            json_iter ops = json_open(names);
            while (json_next(&ops, &name, &one)) {
                uint32_t n = runs_of(one);
                if (!n) continue;
                if (wanted && n == wanted) TRY(write_runs(w, type, name, one, err));
                uint32_t *at = counts ? map_at(counts, n) : &(uint32_t){0};
                if (!at) FAIL_MEMORY(err);
                *at = *at == MAP_NONE ? 1 : *at + 1;
            }
        }
    }
    return OK;
}

/* The number of runs most operators have; the larger of two that are equal. */
static uint32_t usual_runs(const map *counts, str file) {
    json_iter types = json_open(file);
    str type, list, key, names, name, one;
    uint32_t best = 0, times = 0;
    while (json_next(&types, &type, &list)) {
        json_iter it = json_open(list);
        while (!str_eq(type, STR("op_type")) && json_next(&it, &key, &names)) {
            json_iter ops = json_open(names);
            while (json_next(&ops, &name, &one)) {
                uint32_t n = runs_of(one), c = n ? map_get(counts, n) : MAP_NONE;
                if (c == MAP_NONE || c < times || (c == times && n <= best)) continue;
                best = n;
                times = c;
            }
        }
    }
    return best;
}

static status write_ascend(const writer *w, str file, error *err) {
    map counts = {0};
    status st = each_operator(w, file, &counts, 0, err);
    uint32_t usual = st == OK ? usual_runs(&counts, file) : 0;
    if (st == OK && usual) st = each_operator(w, file, NULL, usual, err);
    map_fini(&counts);
    return st;
}

status dynamic_shapes_write(const trace *t, const params *p, arena *a, answer *out,
                            error *err) {
    str file = trace_meta(t, STR("dynamic_shape")),
        operators = json_member(file, STR("operator"));
    if (!file.n) return OK;
    writer w = {.out = answer_table(out, a, "by_step"), .params = p};
    if (!w.out) FAIL_MEMORY(err);
    if (!operators.n) return write_ascend(&w, file, err);
    TRY(write_level(&w, operators, "operator", err));
    return write_level(&w, json_member(file, STR("kernel")), "kernel", err);
}
