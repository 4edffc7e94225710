/* ascend_db_memory.c: memory of devices over time: of the first of these tables that has rows.
 *
 *     OP_MEMORY       an allocation of the framework, its release, totals at both
 *     MEMORY_RECORD   totals of an allocator at a time; the change between two is an allocation
 *     NPU_OP_MEM      allocations and releases of the graph engine */
#include "ingest/ascend/ascend_db_int.h"

static raw_memory begin_memory(reader *r, int64_t time, int32_t device) {
    raw_memory m = {.time = time,
                    .allocated = ABSENT_I64,
                    .reserved = ABSENT_I64,
                    .device = device,
                    .device_type = DEVICE_ASCEND,
                    .kind = MEMORY_ALLOC};
    m.track =
        part_track(r->part, (ident){ascend_string(r, STR("memory")), true}, (ident){0, false});
    r->failed |= m.track == UINT32_MAX;
    return m;
}

static status put_memory(reader *r, raw_memory *m) {
    m->tie = sat_u32(++r->n_events);
    return r->failed ? ERR_MEMORY : part_memory(r->part, m);
}

static bool has_time(reader *r, int64_t time) {
    bool has = ascend_moment(r, time);
    r->n_memory += has;
    return has;
}

/* ---- the framework's allocations ---- */

enum { NAME, SIZE, FROM, TO, ALLOCATED, RESERVED, FREED, FREED_RESERVED, DEVICE };

static status take_allocation(void *context, db_rows *row) {
    reader *r = context;
    int64_t bytes = ascend_int(row, SIZE), end = ascend_id(row, TO);
    int64_t time = bytes == ABSENT_I64 ? ABSENT_I64 : ascend_id(row, FROM);
    if (!has_time(r, time)) return OK;
    raw_memory m = begin_memory(r, time, ascend_device(r, row, DEVICE));
    uint32_t name = ascend_name(r, row, NAME);
    m.frame = name ? builder_frame(r->b, 0, name) : 0;
    if (m.frame == UINT32_MAX) return ERR_MEMORY;
    m.block = sat_u32((uint64_t)r->n_memory);
    m.bytes = bytes;
    m.allocated = ascend_int(row, ALLOCATED);
    m.reserved = ascend_int(row, RESERVED);
    TRY(put_memory(r, &m));
    if (end == ABSENT_I64 || end <= 0) return OK; /* it was not released */
    m.time = max_i64(time, end);
    m.kind = MEMORY_FREE;
    m.bytes = sub_i64(0, bytes);
    m.allocated = ascend_int(row, FREED);
    m.reserved = ascend_int(row, FREED_RESERVED);
    return put_memory(r, &m);
}

/* ---- totals ---- */

/* PyTorch's own allocator; MindSpore and others have different names and come alone. */
static status take_total(void *context, db_rows *row) {
    reader *r = context;
    str component = intern_get(r->strings, ascend_name(r, row, 0));
    int64_t total = ascend_int(row, 2), time = ascend_id(row, db_has(row, 1) ? 1 : 5);
    if (r->torch && component.n && !str_eq(component, STR("PTA"))) return OK;
    if (!has_time(r, total == ABSENT_I64 ? ABSENT_I64 : time)) return OK;
    raw_memory m = begin_memory(r, time, ascend_device(r, row, 4));
    m.allocated = total;
    m.reserved = ascend_int(row, 3);
    m.bytes = sub_i64(total, r->total_bytes);
    r->total_bytes = total;
    if (m.bytes < 0) m.kind = MEMORY_FREE;
    return m.bytes ? put_memory(r, &m) : OK;
}

/* ---- the graph engine ---- */

static status take_graph(void *context, db_rows *row) {
    reader *r = context;
    str type = intern_get(r->strings, ascend_name(r, row, 2));
    int64_t bytes = ascend_int(row, 3);
    int64_t time = bytes == ABSENT_I64 ? ABSENT_I64 : ascend_id(row, 4);
    if (!has_time(r, time)) return OK;
    raw_memory m = begin_memory(r, time, ascend_device(r, row, 7));
    uint32_t name = ascend_name(r, row, 0);
    bool release = bytes < 0 || str_find_nocase(type, STR("release"), 0) == 0 ||
                   str_find_nocase(type, STR("free"), 0) == 0;
    m.frame = name ? builder_frame(r->b, 0, name) : 0;
    if (m.frame == UINT32_MAX) return ERR_MEMORY;
    m.address = (uint64_t)max_i64(0, ascend_int(row, 1));
    m.kind = release ? MEMORY_FREE : MEMORY_ALLOC;
    m.bytes = release && bytes > 0 ? -bytes : bytes;
    m.allocated = ascend_int(row, 5);
    m.reserved = ascend_int(row, 6);
    return put_memory(r, &m);
}

status ascend_read_memory(reader *r, error *err) {
    static const char *const allocations[] = {"name",
                                              "size",
                                              "allocationTime",
                                              "releaseTime",
                                              "allocationTotalAllocated",
                                              "allocationTotalReserved",
                                              "releaseTotalAllocated",
                                              "releaseTotalReserved",
                                              "deviceId"};
    static const char *const totals[] = {"component",     "timestamp", "totalAllocated",
                                         "totalReserved", "deviceId",  "timestampNs"};
    static const char *const graph[] = {"operatorName", "addr",        "type",
                                        "size",         "timestampNs", "totalAllocate",
                                        "totalReserve", "deviceId"};
    TRY(ascend_table(r, "OP_MEMORY", allocations, N_OF(allocations), take_allocation, err));
    if (!r->n_memory)
        TRY(ascend_table(r, "MEMORY_RECORD", totals, N_OF(totals), take_total, err));
    if (!r->n_memory) TRY(ascend_table(r, "NPU_OP_MEM", graph, N_OF(graph), take_graph, err));
    return OK;
}
