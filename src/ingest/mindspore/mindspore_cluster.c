/* mindspore_cluster.c: what a device says of itself and of the others: collectives by link, its
 * part of a step, its operations, how the run is spread.
 *
 *   hccl_raw_#.csv                     communication of each step: comm_cost, comm_cost_op,
 *                                      link
 *   *_cluster_analyse_MODE_…_#.csv     parts of each step: step_part; the name says how the
 *                                      run is spread
 *   flops_summary_#.json               operations of the device: resource
 *   flops_scope_#.json                 operations of the scopes of the network: scope_flops
 *
 * Times are milliseconds. */
#include <math.h>

#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

enum { MOST_ROWS = 1 << 20, MOST_KINDS = 16 };

int64_t ms_ns(double time_ms) {
    return fabs(time_ms) < 9e12 ? round_i64(time_ms * 1e6) : ABSENT_I64;
}

static int64_t json_ns(str json) {
    double v;
    return json_f64(json, &v) ? ms_ns(v) : ABSENT_I64;
}

static int64_t cell_ns(str cell) {
    double v;
    return str_to_f64(cell, &v) ? ms_ns(v) : ABSENT_I64;
}

static int64_t cell_int(str cell) {
    double v;
    return str_to_f64(cell, &v) && fabs(v) < 9e15 && v == floor(v) ? (int64_t)v : ABSENT_I64;
}

/* ---- operations -------------------------------------------------------------------------- */

/* A value, or where the device has two kinds of cores the sum of both, if the second is
 * given. */
static double sum_of(str json, const char *name, const char *cube, const char *vector) {
    double v, more;
    if (json_f64(json_member(json, str_of(name)), &v)) return v;
    if (!json_f64(json_member(json, str_of(cube)), &v)) return (double)NAN;
    return json_f64(json_member(json, str_of(vector)), &more) ? v + more : v;
}

/* Files count millions of operations and thousands of millions in a second. */
status read_flops_summary(ms *m, str text, error *err) {
    buf json = {0};
    status st = ms_normal(m, text, &json, err);
    str all = buf_str(&json);
    m->resource.flops = sum_of(all, "FLOPs", "cube_FLOPs", "vec_FLOPs") * 1e6;
    m->resource.flops_per_s = sum_of(all, "FLOPS", "cube_FLOPS", "vec_FLOPS") * 1e9;
    m->resource.utilization =
        sum_of(all, "FLOPS_Utilization", "cube_FLOPS_Utilization", "") / 100;
    buf_fini(&json);
    return st;
}

/* {"data": {"links": [{"source": "Total", "target": "Default", "value": 2.5}]}}, in millions */
status read_flops_scope(ms *m, str text, error *err) {
    buf json = {0};
    status st = ms_normal(m, text, &json, err);
    str data = json_member(buf_str(&json), STR("data")), key, one;
    json_iter it = json_open(json_member(data, STR("links")));
    for (int n = 0; st == OK && n < MOST_ROWS && json_next(&it, &key, &one); n++) {
        row_scope_flops row = {
            .source = ms_string(m, json_text(json_member(one, STR("source")))),
            .target = ms_string(m, json_text(json_member(one, STR("target"))))};
        if (!json_f64(json_member(one, STR("value")), &row.flops)) continue;
        row.flops *= 1e6;
        if (row.source == MS_NO_STRING || row.target == MS_NO_STRING)
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
        if (st == OK) st = builder_put_scope_flops(m->b, &row, err);
    }
    buf_fini(&json);
    return st;
}

/* ---- collectives ------------------------------------------------------------------------- */

bool ms_pair(str name, row_link *out) {
    size_t dash = str_find(name, STR("-"), 0);
    return dash != SIZE_MAX && str_to_i64(str_n(name.p, dash), &out->source) &&
           str_to_i64(str_from(name, dash + 1), &out->target);
}

status ms_put_link(ms *m, row_link *row, str kind, error *err) {
    row->kind = ms_string(m, kind);
    if (row->kind == MS_NO_STRING) FAIL_MEMORY(err);
    if (row->time == ABSENT_I64 || row->bytes == ABSENT_I64) return OK;
    return builder_put_link(m->b, row, err);
}

int64_t ms_kb_bytes(double kb) {
    return fabs(kb) < 9e15 ? round_i64(kb * 1000) : ABSENT_I64;
}

status ms_put_cost(ms *m, row_comm_cost *row, error *err) {
    m->comm.n_costs++;
    return builder_put_comm_cost(m->b, row, err);
}

status ms_put_cost_op(ms *m, str name, int64_t communication_ns, int64_t waiting_ns,
                      error *err) {
    row_comm_cost_op row = {.cost = m->comm.n_costs,
                            .name = ms_string(m, name),
                            .communication = communication_ns,
                            .waiting = waiting_ns};
    if (row.name == MS_NO_STRING) FAIL_MEMORY(err);
    return builder_put_comm_cost_op(m->b, &row, err);
}

/* {"SDMA": [ms, KB, KB/s, ms of waiting]} */
static status put_kinds(ms *m, const row_link *link, str kinds, error *err) {
    json_iter it = json_open(kinds);
    str kind, values;
    for (int n = 0; n < MOST_KINDS && json_next(&it, &kind, &values); n++) {
        row_link row = *link;
        json_iter cells = json_open(values);
        str key, cell;
        for (int i = 0; json_next(&cells, &key, &cell); i++) {
            double kb;
            if (i == 0) row.time = json_ns(cell);
            if (i == 1 && json_f64(cell, &kb)) row.bytes = ms_kb_bytes(kb);
            if (i == 3) row.waiting = json_ns(cell);
        }
        TRY(ms_put_link(m, &row, kind, err));
    }
    return OK;
}

/* {"0-1": {"SDMA": […]}} */
static status put_links(ms *m, int64_t step, str links, error *err) {
    json_iter it = json_open(links);
    str name, kinds;
    for (int n = 0; n < MOST_ROWS && json_next(&it, &name, &kinds); n++) {
        row_link row = row_link_none();
        row.step = step;
        if (ms_pair(name, &row)) TRY(put_kinds(m, &row, kinds, err));
    }
    return OK;
}

/* {name: [step, communication, waiting, links]} */
static status put_operators(ms *m, str operators, error *err) {
    json_iter it = json_open(operators);
    str name, values;
    for (int n = 0; n < MOST_ROWS && json_next(&it, &name, &values); n++) {
        json_iter cells = json_open(values);
        str key, cell[3] = {STR_NONE, STR_NONE, STR_NONE};
        for (int i = 0; i < 3 && json_next(&cells, &key, &cell[i]);) i++;
        TRY(ms_put_cost_op(m, name, json_ns(cell[1]), json_ns(cell[2]), err));
    }
    return OK;
}

static int64_t count_members(str json) {
    json_iter it = json_open(json);
    str key, value;
    int64_t n = 0;
    while (n < MOST_ROWS && json_next(&it, &key, &value)) n++;
    return n;
}

/* A cell that is JSON in the file, repaired where it must be; empty otherwise. */
static str json_cell(str cell, buf *out) {
    buf_clear(out);
    if (cell.n && (*cell.p == '{' || *cell.p == '[')) (void)json_normal(cell, out);
    return buf_str(out);
}

static status put_hccl_row(ms *m, const csv *c, const size_t column[5], buf *json, error *err) {
    row_comm_cost row = row_comm_cost_none();
    row.step = cell_int(csv_cell(c, column[0]));
    row.communication = cell_ns(csv_cell(c, column[1]));
    row.waiting = cell_ns(csv_cell(c, column[2]));
    TRY(put_links(m, row.step, json_cell(csv_cell(c, column[3]), json), err));
    str operators = json_cell(csv_cell(c, column[4]), json);
    if (operators.n && *operators.p == '{') row.operators = count_members(operators);
    TRY(ms_put_cost(m, &row, err));
    TRY(put_operators(m, operators, err));
    if (!buf_ok(json)) FAIL_MEMORY(err);
    return OK;
}

status read_hccl(ms *m, str text, error *err) {
    csv c = csv_open(text);
    buf json = {0};
    status st = OK;
    bool ok = csv_next(&c);
    const size_t column[5] = {csv_find(&c, STR("step_num")),
                              csv_find(&c, STR("communication_cost")),
                              csv_find(&c, STR("wait_cost")), csv_find(&c, STR("link_info")),
                              csv_find(&c, STR("communication_operator_cost"))};
    while (ok && st == OK && csv_next(&c)) {
        part_count(m->part, 1, 0);
        st = put_hccl_row(m, &c, column, &json, err);
    }
    if (!ok) ms_lost(m, CAUSE_BAD_SYNTAX, 0, str_of(m->file));
    bool failed = c.failed;
    csv_fini(&c);
    buf_fini(&json);
    if (st == OK && failed) FAIL_MEMORY(err);
    return st;
}

/* ---- parts of steps ---------------------------------------------------------------------- */

/* ascend_cluster_analyse_MODE_STAGES_RANKS_RANK.csv */
static status take_mode(ms *m, str name, error *err) {
    size_t at = str_find(name, STR("_analyse_"), 0);
    str rest = at == SIZE_MAX ? STR_NONE : str_from(name, at + 9), word[3];
    for (int i = 0; i < 3; i++) {
        size_t line = str_find(rest, STR("_"), 0);
        word[i] = line == SIZE_MAX ? STR_NONE : str_n(rest.p, line);
        rest = line == SIZE_MAX ? STR_NONE : str_from(rest, line + 1);
    }
    int64_t stages = cell_int(word[1]), ranks = cell_int(word[2]);
    m->parallel.kind = ms_string(m, word[0]);
    if (m->parallel.kind == MS_NO_STRING) FAIL_MEMORY(err);
    if (stages >= 1) m->parallel.stages = stages;
    if (ranks >= 1) m->parallel.ranks = ranks;
    return OK;
}

static row_step_part parts_of(const csv *c, const size_t column[5]) {
    row_step_part row = row_step_part_none();
    row.computation = cell_ns(csv_cell(c, column[0]));
    row.communication = cell_ns(csv_cell(c, column[1]));
    row.stage = cell_ns(csv_cell(c, column[2]));
    row.receive = cell_ns(csv_cell(c, column[3]));
    row.collective = cell_ns(csv_cell(c, column[4]));
    return row;
}

/* One row a step and, when there are more, their average; a single one is both. Versions
 * differ in the names. */
status read_cluster(ms *m, str text, error *err) {
    csv c = csv_open(text);
    status st = take_mode(m, str_of(m->file), err);
    bool ok = csv_next(&c);
    const size_t column[5] = {
        csv_find(&c, STR("computation_time|computation")),
        csv_find(&c, STR("communication_alone_time|communication_alone")),
        csv_find(&c, STR("stage_time|stage")),
        csv_find(&c, STR("receive_alone_time|receive_alone")),
        csv_find(&c, STR("collective_communication_alone_time|collective_communication_time"))};
    row_step_part last = row_step_part_none();
    int64_t n = 0;
    while (ok && st == OK && n < MOST_ROWS && csv_next(&c)) {
        part_count(m->part, 1, 0);
        if (n) st = builder_put_step_part(m->b, &last, err);
        last = parts_of(&c, column);
        last.number = ++n;
    }
    if (st == OK && n == 1) st = builder_put_step_part(m->b, &last, err);
    last.number = ABSENT_I64;
    if (st == OK && n) st = builder_put_step_part(m->b, &last, err);
    if (!ok) ms_lost(m, CAUSE_BAD_SYNTAX, 0, str_of(m->file));
    bool failed = c.failed;
    csv_fini(&c);
    if (st == OK && failed) FAIL_MEMORY(err);
    return st;
}

/* ---- facts of the whole run -------------------------------------------------------------- */

status ms_take_fact(ms *m, str key, str value, error *err) {
    row_parallel *p = &m->parallel;
    int64_t v;
    bool number = json_i64(value, &v) && v >= 1;
    if (str_eq(key, STR("stage_num")) && number) p->stages = v;
    if (str_eq(key, STR("pipeline_stage_num")) && number && p->stages == ABSENT_I64)
        p->stages = v;
    if (str_eq(key, STR("rank_size")) && number) p->ranks = v;
    if (str_eq(key, STR("parallel_mode"))) p->mode = ms_string(m, json_text(value));
    if (p->mode == MS_NO_STRING) FAIL_MEMORY(err);
    return OK;
}

status ms_put_facts(ms *m, error *err) {
    const row_parallel *p = &m->parallel;
    const row_resource *r = &m->resource;
    if (p->kind || p->mode || p->stages != ABSENT_I64 || p->ranks != ABSENT_I64 ||
        p->stage != ABSENT_I64)
        TRY(builder_put_parallel(m->b, p, err));
    if (isnan(r->flops) && isnan(r->flops_per_s) && isnan(r->utilization) &&
        isnan(r->peak_flops_per_s) && r->memory_peak == ABSENT_I64 &&
        r->memory_capacity == ABSENT_I64)
        return OK;
    return builder_put_resource(m->b, r, err);
}
