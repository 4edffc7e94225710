/* mindspore_memory.c: memory over time (that of graphs and operators: mindspore_graph.c).
 *
 *   cpu_ms_memory_record_#.txt   Timestamp(ns), totals in bytes
 *   memory_record.csv            Component, Timestamp(us), totals in MB, Device Type
 *
 * Records are totals; the change between two becomes an allocation or a release. With PyTorch
 * the rows of several components (allocators, and sums of them) are mixed: its own allocator's
 * are read, or those of the sum with the graph engine's. The file of a later cycle repeats the
 * rows of the cycles before it: rows in front of the first operator are left out. */
#include "base/json.h"
#include "base/num.h"
#include "ingest/mindspore/mindspore_int.h"

static int64_t first_exec(const ms *m) {
    int64_t first = INT64_MIN;
    for (size_t i = 0; i < m->exec.rows.n; i++) {
        const ms_exec *e = &VEC(&m->exec.rows, ms_exec)[i];
        if (e->lane == LANE_HOST_OP && (first == INT64_MIN || e->start < first))
            first = e->start;
    }
    return first;
}

typedef struct {
    size_t component, time, allocated, reserved, device;
    int time_places;
    bool megabytes;
} memory_columns;

static memory_columns find_columns(const csv *c) {
    memory_columns col = {
        .component = csv_find(c, STR("Component")),
        .time = csv_find(c, STR("Timestamp(ns)")),
        .allocated = csv_find(c, STR("Total Allocated(Byte)|Total Allocated(MB)")),
        .reserved = csv_find(c, STR("Total Reserved(Byte)|Total Reserved(MB)")),
        .device = csv_find(c, STR("Device Type"))};
    col.megabytes = csv_find(c, STR("Total Allocated(MB)")) != SIZE_MAX;
    if (col.time == SIZE_MAX) {
        col.time = csv_find(c, STR("Timestamp(us)"));
        col.time_places = 3;
    }
    return col;
}

static bool size_cell(const csv *c, const memory_columns *col, size_t column, int64_t *out) {
    double mb;
    if (!col->megabytes) return scaled_i64(csv_cell(c, column), 0, out);
    if (!str_to_f64(csv_cell(c, column), &mb) || !(mb >= 0 && mb < 1e12)) return false;
    *out = (int64_t)(mb * 1048576.0 + 0.5);
    return true;
}

void ms_memory_device(const ms *m, str text, raw_memory *row) {
    int64_t id = m->id == MINDSPORE_ANY_ID ? 0 : m->id;
    bool npu = str_starts(text, STR("NPU"));
    size_t colon = str_find(text, STR(":"), 0);
    if (colon != SIZE_MAX) (void)!str_to_i64(str_from(text, colon + 1), &id);
    row->device_type = npu ? DEVICE_ASCEND : DEVICE_CPU;
    row->device = npu ? sat_i32(id) : ABSENT_I32;
}

/* The component to be read, STR_NONE: there is none of PyTorch's. */
static str find_component(str text, size_t column) {
    static const str preferred[] = {STR("PTA+GE"), STR("PTA")};
    csv c = csv_open(text);
    size_t best = 2;
    while (column != SIZE_MAX && best && csv_next(&c))
        for (size_t i = 0; i < best; i++)
            if (str_eq(csv_cell(&c, column), preferred[i])) best = i;
    csv_fini(&c);
    return best < 2 ? preferred[best] : STR_NONE;
}

/* Of another component than the one that is read: rows that only repeat or add up. */
static bool is_other_component(const csv *c, const memory_columns *col, str wanted) {
    return wanted.n && !str_eq(csv_cell(c, col->component), wanted);
}

status read_memory_record(ms *m, str text, error *err) {
    csv c = csv_open(text);
    bool ok = csv_next(&c);
    memory_columns col = find_columns(&c);
    str wanted = ok ? find_component(text, col.component) : STR_NONE;
    int64_t from = first_exec(m), before = 0;
    status st = OK;
    while (ok && st == OK && csv_next(&c)) {
        raw_memory row = {.kind = MEMORY_ALLOC, .tie = sat_u32(m->memory.rows.n)};
        if (is_other_component(&c, &col, wanted)) continue;
        part_count(m->part, 1, 0);
        if (!scaled_i64(csv_cell(&c, col.time), col.time_places, &row.time) ||
            !size_cell(&c, &col, col.allocated, &row.allocated)) {
            ms_lost(m, CAUSE_MISSING_TIME, c.row, csv_cell(&c, 0));
            continue;
        }
        if (!size_cell(&c, &col, col.reserved, &row.reserved)) row.reserved = ABSENT_I64;
        row.bytes = sub_i64(row.allocated, before);
        before = row.allocated;
        if (row.bytes < 0) row.kind = MEMORY_FREE;
        if (row.time < from || !row.bytes) continue;
        ms_memory_device(m, csv_cell(&c, col.device), &row);
        raw_memory *to = vec_push(&m->memory.rows);
        if (!to)
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
        else
            *to = row;
    }
    if (c.failed) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    csv_fini(&c);
    return st;
}
