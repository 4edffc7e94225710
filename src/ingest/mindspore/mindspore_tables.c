/* mindspore_tables.c: tables of operators, types and kernels that MindSpore had added up
 * itself.
 *
 * Columns are found by their names, since every version moved them; older words are listed with
 * the new ones. Times become nanoseconds: AI Core, AI CPU and host tables are in milliseconds,
 * GPU tables in microseconds. What a framework file or a FLOPs file says of an operator is
 * joined by its full name; an operator they do not know keeps the type its own name gives.
 * Percentages are not taken: their unit changed between versions, and a share follows from the
 * totals. */
#include <math.h>

#include <stdio.h>

#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

enum { MS = 6, US = 3 }; /* decimal places from a unit to ns */

/* A table being read: the columns of its header. */
typedef struct {
    csv c;
    size_t name, full_name, type, total, mean, calls, max, min, self, dispatch, info, subgraph;
} sheet;

static sheet open_sheet(str text) {
    sheet s = {.c = csv_open(text)};
    csv *c = &s.c;
    if (!csv_next(c)) return s;
    s.name = csv_find(c, STR("kernel_name|op_name|name"));
    s.full_name =
        csv_find(c, STR("full_kernel_name|full_op_name|op_full_name|full_kernel_time"));
    s.type = csv_find(c, STR("kernel_type|op_type|type"));
    s.total = csv_find(c, STR("total_time|total_compute_time|total_time(us)|op_total_time(us)|"
                              "op_total_time(ms)|total_duration(us)|execution_time"));
    s.mean = csv_find(c, STR("execution_time|task_duration|op_avg_time(us)|op_avg_time(ms)|"
                             "avg_time(us)|avg_time(ms)|avg_duration(us)"));
    s.calls =
        csv_find(c, STR("execution_frequency|op_occurrences|type_occurrences|occurrences"));
    s.max = csv_find(c, STR("max_duration(us)"));
    s.min = csv_find(c, STR("min_duration(us)"));
    s.self = csv_find(c, STR("cuda_activity_cost_time(us)"));
    s.dispatch = csv_find(c, STR("dispatch_time"));
    s.info = csv_find(c, STR("op_info"));
    s.subgraph = csv_find(c, STR("subgraph"));
    return s;
}

static status close_sheet(sheet *s, status st, error *err) {
    bool failed = s->c.failed;
    csv_fini(&s->c);
    if (st == OK && failed) FAIL_MEMORY(err);
    return st;
}

static int64_t time_cell(const sheet *s, size_t column, int places) {
    int64_t ns;
    return column != SIZE_MAX && scaled_i64(csv_cell(&s->c, column), places, &ns) ? ns
                                                                                  : ABSENT_I64;
}

static int64_t count_cell(const sheet *s, size_t column) {
    return time_cell(s, column, 0);
}

/* A row that has no name, or no time where there should be one, is counted and skipped. */
static bool row_is_whole(ms *m, const sheet *s, str name, int64_t total) {
    part_count(m->part, 1, 0);
    if (name.n && total != ABSENT_I64 && total >= 0) return true;
    ms_lost(m, !name.n ? CAUSE_MISSING_NAME : CAUSE_MISSING_TIME, s->c.row, name);
    return false;
}

/* Names, type, sub-graph and costs of an operator, from its full name and what is known of
 * it. */
static status set_names(ms *m, row_producer_op *g, str full_name, str type, error *err) {
    g->full_name = ms_string(m, full_name);
    g->name = ms_string(m, ms_short(full_name));
    g->subgraph = ms_string(m, ms_subgraph(full_name));
    const ms_known *k = ms_known_of(m, g->full_name);
    if (k) {
        if (k->type && !type.n) type = ms_text(m, k->type);
        if (k->name) g->name = k->name;
        if (k->subgraph) g->subgraph = k->subgraph;
        g->info = k->info;
        ms_set_costs(m, g);
    }
    g->type = ms_string(m, type.n ? type : ms_type(full_name));
    if (g->full_name == MS_NO_STRING || g->name == MS_NO_STRING || g->type == MS_NO_STRING ||
        g->subgraph == MS_NO_STRING)
        FAIL_MEMORY(err);
    return OK;
}

status ms_put_op(ms *m, row_producer_op *g, error *err) {
    str info = g->info ? ms_text(m, g->info) : STR_NONE;
    g->shapes = ms_string(m, json_text(json_member(info, STR("Input Shapes"))));
    if (g->shapes == MS_NO_STRING) FAIL_MEMORY(err);
    return builder_put_producer_op(m->b, g, err);
}

static status add_side(ms *m, row_producer_op *g, const char *side, error *err) {
    g->side = ms_string(m, str_of(side));
    if (g->side == MS_NO_STRING || g->info == MS_NO_STRING) FAIL_MEMORY(err);
    return ms_put_op(m, g, err);
}

/* ---- what explains the others ------------------------------------------------------------ */

/* The table has the tasks, too, in their order; the raw file it was made of, when that is
 * there, has had its say. */
static status take_task(ms *m, const csv *c, const size_t column[2], uint32_t name,
                        error *err) {
    int64_t stream, task;
    if (m->seen[MS_RAW_TASKS] || !scaled_i64(csv_cell(c, column[0]), 0, &stream) ||
        !scaled_i64(csv_cell(c, column[1]), 0, &task) || stream < 0 || task < 0)
        return OK;
    return ms_add_task(m, (uint64_t)stream, (uint64_t)task, name, err);
}

status read_framework(ms *m, str text, error *err) {
    sheet s = open_sheet(text);
    status st = OK;
    const size_t task[2] = {csv_find(&s.c, STR("stream_id")), csv_find(&s.c, STR("task_id"))};
    /* With the number of a graph came the newer numbering of tasks. */
    m->task.binary |= csv_find(&s.c, STR("graph_id|model_id")) != SIZE_MAX;
    /* op_name is the short name in old files and the full one in new files, which say
     * kernel_name. */
    size_t name = csv_find(&s.c, STR("kernel_name"));
    if (name == SIZE_MAX) name = csv_find(&s.c, STR("op_name"));
    while (st == OK && csv_next(&s.c)) {
        str full = csv_cell(&s.c, s.full_name);
        part_count(m->part, 1, 0);
        if (!full.n) continue;
        uint32_t id = ms_string(m, full);
        ms_known *k = id == MS_NO_STRING ? NULL : ms_know(m, id);
        if (!k) {
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
            break;
        }
        k->name = ms_string(m, csv_cell(&s.c, name));
        k->type = ms_string(m, csv_cell(&s.c, s.type));
        k->subgraph = ms_string(m, csv_cell(&s.c, s.subgraph));
        str info = csv_cell(&s.c, s.info);
        k->info = info.n && *info.p == '{' ? ms_string(m, info) : 0;
        if (k->name == MS_NO_STRING || k->type == MS_NO_STRING || k->info == MS_NO_STRING ||
            k->subgraph == MS_NO_STRING)
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
        if (st == OK) st = take_task(m, &s.c, task, id, err);
    }
    return close_sheet(&s, st, err);
}

/* type;name;graph;input_0:[2,3];input_1:…; once for each execution: the first counts. */
status read_framework_text(ms *m, str text, error *err) {
    buf shapes = {0};
    status st = OK;
    for (str line; st == OK && ms_line(&text, &line);) {
        size_t a = str_find(line, STR(";"), 0);
        size_t b = a == SIZE_MAX ? SIZE_MAX : str_find(line, STR(";"), a + 1);
        if (b == SIZE_MAX || b == a + 1) continue;
        uint32_t name = ms_string(m, str_n(line.p + a + 1, b - a - 1));
        ms_known *k = name == MS_NO_STRING ? NULL : ms_know(m, name);
        if (!k) {
            st = ERR_MEMORY;
            break;
        }
        if (k->shapes) continue;
        buf_clear(&shapes);
        buf_add_byte(&shapes, '[');
        for (size_t at = str_find(line, STR(":["), b); at != SIZE_MAX;
             at = str_find(line, STR(":["), at + 1)) {
            size_t end = str_find(line, STR(";"), at);
            if (end == SIZE_MAX) end = line.n;
            if (shapes.n > 1) buf_add_byte(&shapes, ',');
            buf_add(&shapes, line.p + at + 1, end - at - 1);
        }
        buf_add_byte(&shapes, ']');
        k->shapes = buf_ok(&shapes) ? ms_string(m, buf_str(&shapes)) : MS_NO_STRING;
        if (k->shapes == MS_NO_STRING) st = ERR_MEMORY;
    }
    buf_fini(&shapes);
    if (st != OK) FAIL_MEMORY(err);
    return OK;
}

/* The peak of the device, from the operator that comes nearest to it: rates and shares have
 * three decimals. */
static status keep_peak(ms *m, double rate, double percent, error *err) {
    char text[40];
    if (!(rate > 0 && percent > 0)) return OK;
    m->resource.peak_flops_per_s = rate / (percent / 100);
    int n = snprintf(text, sizeof text, "%.17g", m->resource.peak_flops_per_s);
    return ms_meta(m, "flops_peak", str_n(text, n > 0 ? (size_t)n : 0), err);
}

/* One to six values after the name; the header says which they are. */
status read_flops(ms *m, str text, error *err) {
    csv c = csv_open(text);
    status st = OK;
    if (csv_next(&c)) {
        size_t name = csv_find(&c, STR("full_kernel_name|full_op_name|op_full_name"));
        size_t cube = csv_find(&c, STR("MFLOPs(10^6 cube)|FLOPs")),
               cube_s = csv_find(&c, STR("GFLOPS(10^9 cube)"));
        size_t vector = csv_find(&c, STR("MFLOPs(10^6 vector)|MFLOPs(10^6 vec)")),
               vector_s = csv_find(&c, STR("GFLOPS(10^9 vector)|GFLOPS(10^9 vec)"));
        /* FLOPs and FLOPS differ by case alone: the rate is the next column. */
        if (cube_s == SIZE_MAX && cube != SIZE_MAX) cube_s = cube + 1;
        size_t use = cube_s == SIZE_MAX ? SIZE_MAX : cube_s + 1;
        if (str_find_nocase(csv_cell(&c, use), STR("utiliz"), 0) == SIZE_MAX) use = SIZE_MAX;
        double nearest = 0, rate = 0, percent;
        while (st == OK && csv_next(&c)) {
            part_count(m->part, 1, 0);
            uint32_t id = ms_string(m, csv_cell(&c, name == SIZE_MAX ? 0 : name));
            if (!id || !csv_cell(&c, cube).n) continue;
            ms_known *k = id == MS_NO_STRING ? NULL : ms_know(m, id);
            if (!k) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
            double v;
            if (k && str_to_f64(csv_cell(&c, cube), &v)) k->flops = v * 1e6;
            if (k && str_to_f64(csv_cell(&c, cube_s), &v)) k->flops_per_s = v * 1e9;
            if (str_to_f64(csv_cell(&c, use), &percent) && percent > nearest && k) {
                nearest = percent;
                rate = k->flops_per_s;
            }
            if (k && str_to_f64(csv_cell(&c, vector), &v)) k->vector_flops = v * 1e6;
            if (k && str_to_f64(csv_cell(&c, vector_s), &v)) k->vector_flops_per_s = v * 1e9;
        }
        if (st == OK) st = keep_peak(m, rate, nearest, err);
    }
    if (c.failed) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    csv_fini(&c);
    return st;
}

/* ---- tables ------------------------------------------------------------------------------ */

/* How a table is read. */
typedef struct {
    const char *side;
    int places; /* of its unit */
    uint8_t level;
    bool means; /* the time is that of one call, not of all */
} table_kind;

static int64_t total_of(const sheet *s, const table_kind *k) {
    int64_t calls = count_cell(s, s->calls);
    if (!k->means) return time_cell(s, s->total, k->places);
    int64_t mean = time_cell(s, s->mean, k->places);
    return mean == ABSENT_I64 || calls == ABSENT_I64 || calls < 1 || calls > INT32_MAX ||
                   mean > INT64_MAX / calls || mean < 0
               ? mean
               : mean * calls;
}

static status read_table(ms *m, str text, const table_kind *k, error *err) {
    sheet s = open_sheet(text);
    status st = OK;
    while (st == OK && csv_next(&s.c)) {
        bool type = k->level == PRODUCER_TYPE;
        str name = csv_cell(&s.c, type                      ? s.type
                                  : s.full_name != SIZE_MAX ? s.full_name
                                                            : s.name);
        row_producer_op g = row_producer_op_none();
        g.level = k->level;
        g.total = total_of(&s, k);
        g.calls = count_cell(&s, s.calls);
        if (g.calls < 0) g.calls = ABSENT_I64;
        g.self = time_cell(&s, s.self, k->places);
        if (!name.n && type) name = STR("None");
        if (!row_is_whole(m, &s, name, g.total)) continue;
        str own_type = type ? name : csv_cell(&s.c, s.type);
        st = set_names(m, &g, name, own_type, err);
        if (st == OK) st = add_side(m, &g, k->side, err);
    }
    return close_sheet(&s, st, err);
}

status read_aicore_type(ms *m, str text, error *err) {
    return read_table(m, text, &(table_kind){"AI Core", MS, PRODUCER_TYPE, false}, err);
}

status read_aicore_detail(ms *m, str text, error *err) {
    return read_table(m, text, &(table_kind){"AI Core", MS, PRODUCER_OPERATOR, true}, err);
}

status read_pynative_type(ms *m, str text, error *err) {
    return read_table(m, text, &(table_kind){"AI Core", MS, PRODUCER_TYPE, true}, err);
}

status read_pynative_detail(ms *m, str text, error *err) {
    return read_table(m, text, &(table_kind){"AI Core", MS, PRODUCER_OPERATOR, true}, err);
}

status read_gpu_ops(ms *m, str text, error *err) {
    return read_table(m, text, &(table_kind){"device", US, PRODUCER_OPERATOR, false}, err);
}

status read_gpu_types(ms *m, str text, error *err) {
    return read_table(m, text, &(table_kind){"device", US, PRODUCER_TYPE, false}, err);
}

status read_cpu_ops(ms *m, str text, error *err) {
    return read_table(m, text, &(table_kind){"host", MS, PRODUCER_OPERATOR, false}, err);
}

status read_cpu_types(ms *m, str text, error *err) {
    return read_table(m, text, &(table_kind){"host", MS, PRODUCER_TYPE, false}, err);
}

void ms_dims(str text, uint32_t out[3]) {
    for (int i = 0; i < 3; i++) {
        int64_t v;
        str one = str_cut(&text, STR(","));
        if (str_to_i64(str_trim(one), &v) && v > 0 && v <= UINT32_MAX) out[i] = (uint32_t)v;
    }
}

/* One row for each kernel name; operator and dimensions are those of its first launch. */
status read_gpu_kernels(ms *m, str text, error *err) {
    sheet s = open_sheet(text);
    size_t stream = csv_find(&s.c, STR("stream_id")), block = csv_find(&s.c, STR("block_dim")),
           grid = csv_find(&s.c, STR("grid_dim"));
    buf info = {0};
    status st = OK;
    while (st == OK && csv_next(&s.c)) {
        str name = csv_cell(&s.c, s.name);
        row_producer_op g = row_producer_op_none();
        g.level = PRODUCER_KERNEL;
        g.total = time_cell(&s, s.total, US);
        g.calls = count_cell(&s, s.calls);
        g.max = time_cell(&s, s.max, US);
        g.min = time_cell(&s, s.min, US);
        if (!row_is_whole(m, &s, name, g.total)) continue;
        buf_clear(&info);
        ms_add_member(&info, STR("stream"), csv_cell(&s.c, stream));
        ms_add_member(&info, STR("block"), csv_cell(&s.c, block));
        ms_add_member(&info, STR("grid"), csv_cell(&s.c, grid));
        buf_add_byte(&info, '}');
        g.info = buf_ok(&info) ? ms_string(m, buf_str(&info)) : MS_NO_STRING;
        g.name = ms_string(m, name);
        g.full_name = ms_string(m, csv_cell(&s.c, s.full_name));
        g.type = ms_string(m, csv_cell(&s.c, s.type));
        ms_known *k = g.name == MS_NO_STRING ? NULL : ms_know(m, g.name);
        if (!k || g.full_name == MS_NO_STRING || g.type == MS_NO_STRING)
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
        if (st == OK) {
            k->name = g.full_name; /* of a kernel: its operator */
            k->type = g.type;
            k->info = g.info;
            st = add_side(m, &g, "device", err);
        }
    }
    buf_fini(&info);
    return close_sheet(&s, st, err);
}

void ms_kernel_dims(str info, uint32_t block[3], uint32_t grid[3]) {
    ms_dims(json_text(json_member(info, STR("block"))), block);
    ms_dims(json_text(json_member(info, STR("grid"))), grid);
}

/* ---- AI CPU ------------------------------------------------------------------------------ */

/* One row for each execution: added up by name here, and executions for the timeline. */
typedef struct {
    uint32_t name, type;
    int64_t calls, total, dispatch, max, min;
} aicpu_sum;

static aicpu_sum *sum_of(vec *sums, map *by_name, uint32_t name) {
    uint32_t *at = map_at(by_name, name);
    if (!at) return NULL;
    if (*at == MAP_NONE) {
        aicpu_sum *s = vec_push(sums);
        *at = s ? (uint32_t)(sums->n - 1) : 0;
        if (s) *s = (aicpu_sum){.name = name, .min = INT64_MAX};
        return s;
    }
    return &VEC(sums, aicpu_sum)[*at];
}

static status write_aicpu(ms *m, const vec *sums, uint8_t level, error *err) {
    for (size_t i = 0; i < sums->n; i++) {
        const aicpu_sum *s = &VEC(sums, aicpu_sum)[i];
        row_producer_op g = row_producer_op_none();
        g.level = level;
        g.name = g.full_name = s->name;
        g.type = s->type;
        g.calls = s->calls;
        g.total = s->total;
        g.dispatch = s->dispatch;
        g.max = s->max;
        g.min = s->min;
        TRY(add_side(m, &g, "AI CPU", err));
    }
    return OK;
}

status ms_add_aicpu(ms *m, ms_aicpu *a, str name, error *err) {
    size_t dash = str_find(name, STR("-"), 0);
    uint32_t full = ms_string(m, name);
    uint32_t type = ms_string(m, dash == SIZE_MAX || !dash ? name : str_n(name.p, dash));
    if (full == MS_NO_STRING || type == MS_NO_STRING) FAIL_MEMORY(err);
    for (int level = 0; level < 2; level++) {
        aicpu_sum *s = sum_of(&a->sums[level], &a->by_name[level], level ? type : full);
        if (!s) FAIL_MEMORY(err);
        s->type = type;
        s->calls++;
        s->total = add_i64(s->total, a->total);
        s->dispatch = add_i64(s->dispatch, a->dispatch);
        s->max = max_i64(s->max, a->total);
        s->min = min_i64(s->min, a->total);
    }
    if (a->start == ABSENT_I64 || a->end < a->start) return OK;
    ms_exec e = {
        .start = a->start, .dur = sub_i64(a->end, a->start), .name = full, .lane = LANE_AICPU};
    return ms_add_exec(m, &e, err);
}

void ms_aicpu_init(ms_aicpu *a) {
    *a = (ms_aicpu){.sums = {VEC_INIT(aicpu_sum), VEC_INIT(aicpu_sum)}};
}

status ms_aicpu_end(ms *m, ms_aicpu *a, status st, error *err) {
    if (st == OK) st = write_aicpu(m, &a->sums[0], PRODUCER_OPERATOR, err);
    if (st == OK) st = write_aicpu(m, &a->sums[1], PRODUCER_TYPE, err);
    for (int level = 0; level < 2; level++) {
        vec_fini(&a->sums[level]);
        map_fini(&a->by_name[level]);
    }
    return st;
}

status read_aicpu(ms *m, str text, error *err) {
    sheet s = open_sheet(text);
    size_t start = csv_find(&s.c, STR("run_start")), end = csv_find(&s.c, STR("run_end"));
    status st = OK;
    ms_aicpu a;
    ms_aicpu_init(&a);
    while (st == OK && csv_next(&s.c)) {
        str name = csv_cell(&s.c, s.type);
        a.total = time_cell(&s, s.total, MS);
        a.dispatch = max_i64(0, time_cell(&s, s.dispatch, MS));
        a.start = time_cell(&s, start, US);
        a.end = time_cell(&s, end, US);
        if (row_is_whole(m, &s, name, a.total)) st = ms_add_aicpu(m, &a, name, err);
    }
    st = ms_aicpu_end(m, &a, st, err);
    return close_sheet(&s, st, err);
}
