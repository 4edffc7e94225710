/* mindspore_graph.c: what a compiled graph needs of the device's memory, operator by operator,
 * and what operators asked for while they ran.
 *
 *   memory_usage_summary_#.json   size of the device's memory, peak
 *   memory_usage_details_#.json   for each graph: its operators in order, the memory in use
 *                                 while each of them runs (lines), tensors with the
 *                                 operators they live from and to
 *   operator_memory.csv           each allocation with its times, size and operator (2.7 and
 *                                 later)
 *
 * A graph's memory has an order but no times. Operators are where they first ran when their
 * executions are known, else a microsecond apart. At each operator the tensors that are no
 * longer needed are released, those it needs are allocated, and what is still missing to the
 * producer's own line (tensors it does not list) is one more allocation or release: so the
 * curve is the producer's, and the contents of a peak are tensors by name.
 *
 *     static  |■■■■■■■■■■■■■■■■■■■■■■■■|   LifeLongGraphAll    all operators
 *     start   |■■■■■■■■■|              |   LifeLongGraphStart  up to its end
 *     none         |■■■■■■■|               LifeLongNone        from its start to its end, both
 *                                                              included
 *
 * Files of 2.0 list the tensors of the first operator only; then most of the curve is such a
 * rest. */
#include <math.h>

#include "base/bisect.h"
#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_graph.h"

enum { NODE_NS = 1000 };

/* ---- graphs ------------------------------------------------------------------------------ */

graph graph_begin(ms *m) {
    return (graph){.m = m, .nodes = VEC_INIT(graph_node), .tensors = VEC_INIT(graph_tensor)};
}

void graph_fini(graph *g) {
    vec_fini(&g->nodes);
    vec_fini(&g->tensors);
    map_fini(&g->by_tensor);
}

status graph_add_tensor(graph *g, const graph_tensor *tensor, error *err) {
    graph_node *nodes = VEC(&g->nodes, graph_node);
    graph_tensor *t = vec_push(&g->tensors);
    uint32_t at = (uint32_t)g->tensors.n;
    if (!t || tensor->name == MS_NO_STRING) FAIL_MEMORY(err);
    *t = *tensor;
    t->next = nodes[t->from].first;
    nodes[t->from].first = at;
    if (t->to + 1 < g->nodes.n) {
        t->after = nodes[t->to + 1].last;
        nodes[t->to + 1].last = at;
    }
    part_count(g->m->part, 1, 0);
    return OK;
}

static int64_t gib_bytes(str json) {
    double v;
    return json_f64(json, &v) && v >= 0 && v < 1e6 ? round_i64(v * GIB) : ABSENT_I64;
}

static status read_nodes(graph *g, str json, error *err) {
    json_iter nodes = json_open(json_member(json, STR("nodes"))),
              lines = json_open(json_member(json, STR("lines")));
    str key, node, line;
    while (g->nodes.n < MOST_NODES && json_next(&nodes, &key, &node)) {
        graph_node *to = vec_push(&g->nodes);
        if (!to) FAIL_MEMORY(err);
        str name = json_text(json_member(node, STR("name"))),
            full = json_text(json_member(node, STR("fullname")));
        *to = (graph_node){.id = (int64_t)g->nodes.n - 1,
                           .name = ms_string(g->m, name),
                           .full_name = ms_string(g->m, full.n ? full : name),
                           .line = ABSENT_I64};
        (void)!json_i64(json_member(node, STR("node_id")), &to->id);
        if (json_next(&lines, &key, &line)) to->line = gib_bytes(line);
        if (to->name == MS_NO_STRING || to->full_name == MS_NO_STRING) FAIL_MEMORY(err);
        part_count(g->m->part, 1, 0);
    }
    return OK;
}

/* The first operator whose number is not below this; numbers rise, and some are left out of
 * long graphs. */
static uint32_t node_from(const graph *g, int64_t id) {
    return SEARCH_FIRST(i, 0, (uint32_t)g->nodes.n, VEC(&g->nodes, graph_node)[i].id < id);
}

/* The operators a tensor lives from and to; false: for none of them. */
static bool life_of(const graph *g, str json, uint32_t *from, uint32_t *to) {
    str kind = json_text(json_member(json, STR("life_long")));
    uint32_t last = (uint32_t)g->nodes.n - 1;
    int64_t start = 0, end = INT64_MAX;
    bool all = str_eq(kind, STR("LifeLongGraphAll")),
         to_end = str_eq(kind, STR("LifeLongGraphEnd")),
         from_start = str_eq(kind, STR("LifeLongGraphStart"));
    if (!all && !to_end && !from_start && !str_eq(kind, STR("LifeLongNone"))) return false;
    if (!all && !from_start && !json_i64(json_member(json, STR("life_start")), &start))
        return false;
    if (!all && !to_end && !json_i64(json_member(json, STR("life_end")), &end)) return false;
    if (end < start) return false;
    *from = node_from(g, start);
    *to = end == INT64_MAX ? last : node_from(g, end + 1);
    if (end != INT64_MAX && *to) --*to;
    return *from <= last && *to >= *from;
}

/* One tensor of a breakdown; the same is in those of all operators it lives over. */
static status take_tensor(graph *g, str json, error *err) {
    int64_t id, bytes = gib_bytes(json_member(json, STR("size")));
    uint32_t from, to;
    if (!json_i64(json_member(json, STR("tensor_id")), &id) || bytes == ABSENT_I64) return OK;
    uint32_t *at = map_at(&g->by_tensor, (uint64_t)id);
    if (!at) FAIL_MEMORY(err);
    if (*at != MAP_NONE || g->tensors.n >= MOST_TENSORS || !life_of(g, json, &from, &to))
        return OK;
    *at = (uint32_t)g->tensors.n + 1;
    graph_tensor t = {.id = id,
                      .bytes = bytes,
                      .from = from,
                      .to = to,
                      .name =
                          ms_string(g->m, json_text(json_member(json, STR("tensor_name"))))};
    return graph_add_tensor(g, &t, err);
}

static status read_tensors(graph *g, str json, error *err) {
    json_iter lists = json_open(json_member(json, STR("breakdowns")));
    str key, list, tensor;
    for (uint32_t i = 0; i < MOST_NODES && json_next(&lists, &key, &list); i++) {
        json_iter it = json_open(list);
        while (json_next(&it, &key, &tensor)) TRY(take_tensor(g, tensor, err));
    }
    return OK;
}

/* ---- times ------------------------------------------------------------------------------- */

/* Where each operator first ran. */
static status first_runs(const ms *m, map *out, error *err) {
    const ms_exec *all = VEC(&m->exec.rows, ms_exec);
    for (size_t i = 0; i < m->exec.rows.n && i < UINT32_MAX; i++) {
        if (all[i].lane != LANE_AICORE && all[i].lane != LANE_AICPU) continue;
        uint32_t *at = map_at(out, all[i].name);
        if (!at) FAIL_MEMORY(err);
        if (*at == MAP_NONE || all[i].start < all[*at].start) *at = (uint32_t)i;
    }
    return OK;
}

static uint32_t run_of(const map *runs, const graph_node *n) {
    uint32_t at = map_get(runs, n->full_name);
    return at == MAP_NONE ? map_get(runs, n->name) : at;
}

/* Executions count when most operators have one; times never go back. */
static status set_times(graph *g, int64_t *clock, error *err) {
    map runs = {0};
    graph_node *nodes = VEC(&g->nodes, graph_node);
    size_t known = 0;
    status st = first_runs(g->m, &runs, err);
    for (size_t i = 0; i < g->nodes.n && st == OK; i++)
        known += run_of(&runs, &nodes[i]) != MAP_NONE;
    for (size_t i = 0; i < g->nodes.n && st == OK; i++) {
        uint32_t run = 2 * known > g->nodes.n ? run_of(&runs, &nodes[i]) : MAP_NONE;
        if (run != MAP_NONE)
            *clock = max_i64(*clock, VEC(&g->m->exec.rows, ms_exec)[run].start);
        else if (2 * known <= g->nodes.n)
            *clock = add_i64(*clock, NODE_NS);
        nodes[i].time = *clock;
    }
    map_fini(&runs);
    return st;
}

/* ---- events ------------------------------------------------------------------------------ */

static status add_event(graph *g, int64_t time, uint32_t name, int64_t bytes, uint32_t block,
                        error *err) {
    ms *m = g->m;
    uint32_t frame = name ? builder_frame(m->b, 0, name) : 0;
    raw_memory *to = vec_push(&m->memory.rows);
    if (!to || frame == UINT32_MAX) FAIL_MEMORY(err);
    g->total = add_i64(g->total, bytes);
    *to = (raw_memory){.time = time,
                       .bytes = bytes,
                       .allocated = g->total,
                       .reserved = ABSENT_I64,
                       .tie = sat_u32(m->memory.rows.n),
                       .frame = frame,
                       .block = block,
                       .device = m->id == MINDSPORE_ANY_ID ? 0 : sat_i32(m->id),
                       .device_type = DEVICE_ASCEND,
                       .kind = bytes < 0 ? MEMORY_FREE : MEMORY_ALLOC};
    return OK;
}

/* Everything that changes when an operator begins. */
static status run_node(graph *g, graph_node *n, error *err) {
    graph_tensor *tensors = VEC(&g->tensors, graph_tensor);
    for (uint32_t i = n->last; i; i = tensors[i - 1].after)
        TRY(add_event(g, n->time, tensors[i - 1].name, -tensors[i - 1].bytes,
                      tensors[i - 1].block, err));
    for (uint32_t i = n->first; i; i = tensors[i - 1].next) {
        tensors[i - 1].block = ++g->m->memory.n_blocks;
        TRY(add_event(g, n->time, tensors[i - 1].name, tensors[i - 1].bytes,
                      tensors[i - 1].block, err));
    }
    if (n->line == ABSENT_I64 || n->line == g->total) return OK;
    return add_event(g, n->time, n->full_name, sub_i64(n->line, g->total), 0, err);
}

/* Another graph starts with nothing of this one. */
static status end_graph(graph *g, int64_t time, uint32_t name, uint32_t block, error *err) {
    const graph_tensor *tensors = VEC(&g->tensors, graph_tensor);
    for (size_t i = 0; i < g->tensors.n; i++)
        if (tensors[i].to + 1 == g->nodes.n)
            TRY(add_event(g, time, tensors[i].name, -tensors[i].bytes, tensors[i].block, err));
    if (g->static_bytes > 0) TRY(add_event(g, time, name, -g->static_bytes, block, err));
    return g->total ? add_event(g, time, 0, -g->total, 0, err) : OK;
}

status graph_emit(graph *g, int64_t *clock, error *err) {
    uint32_t name = ms_string(g->m, STR("static memory")), block = ++g->m->memory.n_blocks;
    graph_node *nodes = VEC(&g->nodes, graph_node);
    if (name == MS_NO_STRING) FAIL_MEMORY(err);
    if (!g->nodes.n) return OK;
    TRY(set_times(g, clock, err));
    if (g->static_bytes > 0)
        TRY(add_event(g, nodes[0].time, name, g->static_bytes, block, err));
    for (size_t i = 0; i < g->nodes.n; i++) TRY(run_node(g, &nodes[i], err));
    *clock = add_i64(*clock, NODE_NS);
    return end_graph(g, *clock, name, block, err);
}

static status read_graph(ms *m, str json, int64_t *clock, error *err) {
    graph g = graph_begin(m);
    g.static_bytes = max_i64(0, gib_bytes(json_member(json, STR("static_mem"))));
    status st = read_nodes(&g, json, err);
    if (st == OK && g.nodes.n) st = read_tensors(&g, json, err);
    if (st == OK) st = graph_emit(&g, clock, err);
    graph_fini(&g);
    return st;
}

int64_t graph_first_time(const ms *m) {
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < m->exec.rows.n; i++)
        first = min_i64(first, VEC(&m->exec.rows, ms_exec)[i].start);
    return first == INT64_MAX ? 0 : first;
}

status read_memory_details(ms *m, str text, error *err) {
    json_iter it = json_open(text);
    str key, one;
    int64_t clock = graph_first_time(m);
    size_t before = m->memory.rows.n;
    for (int n = 0; n < 1024 && json_next(&it, &key, &one); n++)
        TRY(read_graph(m, one, &clock, err));
    if (m->memory.rows.n == before) ms_lost(m, CAUSE_BAD_SYNTAX, 0, str_of(m->file));
    return OK;
}

status read_memory_summary(ms *m, str text, error *err) {
    buf json = {0};
    status st = ms_normal(m, text, &json, err);
    m->memory.capacity = gib_bytes(json_member(buf_str(&json), STR("capacity")));
    m->resource.memory_peak = gib_bytes(json_member(buf_str(&json), STR("peak_mem")));
    m->resource.memory_capacity = m->memory.capacity > 0 ? m->memory.capacity : ABSENT_I64;
    buf_fini(&json);
    return st;
}

/* ---- allocations while operators ran ----------------------------------------------------- */

typedef struct {
    size_t name, size, from, to, allocated, reserved, freed, freed_reserved, device;
} op_columns;

static bool scaled_cell(const csv *c, size_t column, double unit, int64_t *out) {
    double v;
    if (column == SIZE_MAX || !str_to_f64(csv_cell(c, column), &v) || !(fabs(v) < 1e12))
        return false;
    *out = round_i64(v * unit);
    return true;
}

static status push_memory(ms *m, const raw_memory *row, error *err) {
    raw_memory *to = vec_push(&m->memory.rows);
    if (!to) FAIL_MEMORY(err);
    *to = *row;
    to->tie = sat_u32(m->memory.rows.n);
    return OK;
}

/* One row: an allocation and, unless it was never released, its release. */
static status take_operator(ms *m, const csv *c, const op_columns *col, error *err) {
    int64_t bytes, end;
    uint32_t name = ms_string(m, csv_cell(c, col->name));
    raw_memory row = {.kind = MEMORY_ALLOC, .block = ++m->memory.n_blocks};
    if (name == MS_NO_STRING) FAIL_MEMORY(err);
    if (!scaled_cell(c, col->size, 1024, &bytes) ||
        !scaled_i64(csv_cell(c, col->from), 3, &row.time)) {
        ms_lost(m, CAUSE_MISSING_TIME, c->row, csv_cell(c, col->name));
        return OK;
    }
    row.frame = name ? builder_frame(m->b, 0, name) : 0;
    if (row.frame == UINT32_MAX) FAIL_MEMORY(err);
    row.bytes = bytes;
    ms_memory_device(m, csv_cell(c, col->device), &row);
    if (!scaled_cell(c, col->allocated, 1048576, &row.allocated)) row.allocated = ABSENT_I64;
    if (!scaled_cell(c, col->reserved, 1048576, &row.reserved)) row.reserved = ABSENT_I64;
    TRY(push_memory(m, &row, err));
    if (!scaled_i64(csv_cell(c, col->to), 3, &end)) return OK;
    row.time = max_i64(row.time, end);
    row.kind = MEMORY_FREE;
    row.bytes = -bytes;
    if (!scaled_cell(c, col->freed, 1048576, &row.allocated)) row.allocated = ABSENT_I64;
    if (!scaled_cell(c, col->freed_reserved, 1048576, &row.reserved)) row.reserved = ABSENT_I64;
    return push_memory(m, &row, err);
}

/* memory_record.csv has the same totals. */
void ms_drop_totals(ms *m) {
    if (!m->seen[MS_MEMORY_RECORD]) return;
    raw_memory *all = VEC(&m->memory.rows, raw_memory);
    size_t n = 0;
    for (size_t i = 0; i < m->memory.rows.n; i++)
        if (all[i].device_type != DEVICE_ASCEND) all[n++] = all[i];
    m->memory.rows.n = n;
}

status read_operator_memory(ms *m, str text, error *err) {
    csv c = csv_open(text);
    status st = OK;
    bool ok = csv_next(&c);
    op_columns col = {.name = csv_find(&c, STR("Name")),
                      .size = csv_find(&c, STR("Size(KB)")),
                      .from = csv_find(&c, STR("Allocation Time(us)")),
                      .to = csv_find(&c, STR("Release Time(us)")),
                      .allocated = csv_find(&c, STR("Allocation Total Allocated(MB)")),
                      .reserved = csv_find(&c, STR("Allocation Total Reserved(MB)")),
                      .freed = csv_find(&c, STR("Release Total Allocated(MB)")),
                      .freed_reserved = csv_find(&c, STR("Release Total Reserved(MB)")),
                      .device = csv_find(&c, STR("Device Type"))};
    if (ok && col.size != SIZE_MAX) ms_drop_totals(m);
    while (ok && st == OK && csv_next(&c)) {
        part_count(m->part, 1, 0);
        st = take_operator(m, &c, &col, err);
    }
    if (c.failed) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    csv_fini(&c);
    return st;
}
