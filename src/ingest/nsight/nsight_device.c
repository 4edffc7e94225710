/* nsight_device.c: what devices did: kernels, copies, sets, whole graphs, waits, and the memory
 * that was taken of them. */
#include "ingest/nsight/nsight_int.h"

/* The columns that all of these tables have, first. */
#define COMMON "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"
enum { START, END, DEVICE, CONTEXT, STREAM, CORRELATION, PID, N_COMMON };

static uint32_t positive(db_rows *row, int column) {
    int64_t v = db_int(row, column, 0);
    return v > 0 ? sat_u32((uint64_t)v) : 0;
}

static int32_t small(db_rows *row, int column) {
    int64_t v = db_int(row, column, ABSENT_I64);
    return v == ABSENT_I64 ? ABSENT_I32 : sat_i32(v);
}

/* Where and when a piece of device work ran; false when it has no time. */
static bool begin_work(reader *r, db_rows *row, raw_slice *s, raw_kernel *k) {
    int64_t global = db_int(row, PID, 0);
    *k = RAW_KERNEL_NONE;
    if (!nsight_is_mine(r, global) || !nsight_time(r, row, START, END, s)) return false;
    k->device = nsight_device(r, global, db_int(row, DEVICE, 0));
    k->context = db_int(row, CONTEXT, ABSENT_I64);
    k->stream = db_int(row, STREAM, 0);
    k->correlation = nsight_correlation(r, global, db_int(row, CORRELATION, -1));
    s->track = nsight_stream(r, global, k->device, k->context, k->stream);
    return true;
}

static status end_work(reader *r, raw_slice *s, const raw_kernel *k) {
    if (r->failed) return ERR_MEMORY;
    TRY(part_kernel(r->part, k, s));
    return part_slice(r->part, s);
}

/* ---- kernels ---- */

enum {
    NAME = N_COMMON,
    SHORT_NAME,
    REGISTERS,
    GRID_X,
    GRID_Y,
    GRID_Z,
    BLOCK_X,
    BLOCK_Y,
    BLOCK_Z,
    STATIC_SHARED,
    DYNAMIC_SHARED,
    GRAPH_NODE
};

static const gpu_row *gpu_of(const reader *r, int32_t device) {
    for (size_t i = 0; i < r->gpus.n; i++)
        if (VEC(&r->gpus, gpu_row)[i].id == device) return &VEC(&r->gpus, gpu_row)[i];
    return NULL;
}

static void fill_kernel(const reader *r, db_rows *row, raw_kernel *k) {
    const gpu_row *gpu = gpu_of(r, k->device);
    for (int i = 0; i < 3; i++) {
        k->grid[i] = positive(row, GRID_X + i);
        k->block[i] = positive(row, BLOCK_X + i);
    }
    k->registers = small(row, REGISTERS);
    if (db_has(row, STATIC_SHARED))
        k->shared_memory =
            add_i64(db_int(row, STATIC_SHARED, 0), db_int(row, DYNAMIC_SHARED, 0));
    k->graph_node = db_int(row, GRAPH_NODE, ABSENT_I64);
    if (gpu && gpu->sm_count > 0 && k->grid[0])
        k->blocks_per_sm = (double)k->grid[0] * k->grid[1] * k->grid[2] / (double)gpu->sm_count;
}

static status take_kernel(void *context, db_rows *row) {
    reader *r = context;
    raw_slice s = {.kind = KIND_KERNEL};
    raw_kernel k;
    if (!begin_work(r, row, &s, &k)) return OK;
    uint32_t name = nsight_name(r, db_int(row, NAME, -1));
    if (!name) name = nsight_name(r, db_int(row, SHORT_NAME, -1));
    s.name = nsight_kernel_name(r, name);
    fill_kernel(r, row, &k);
    TRY(nsight_nccl_kernel(r, intern_get(r->strings, s.name), k.correlation));
    return end_work(r, &s, &k);
}

/* ---- copies and memsets ---- */

enum { BYTES = N_COMMON, COPY_KIND, SOURCE_KIND, TARGET_KIND, COPY_NODE };

static const char *place_name(int64_t kind) {
    static const char *const names[] = {"Pageable", "Pinned",        "Device",        "Array",
                                        "Managed",  "Device Static", "Managed Static"};
    return kind >= 0 && kind < (int64_t)N_OF(names) ? names[kind] : "Unknown";
}

/* "Memcpy HtoD (Pinned -> Device)" */
static uint32_t copy_name(reader *r, db_rows *row) {
    static const char *const kinds[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH",
                                        "AtoA",    "AtoD", "DtoA", "DtoD", "HtoH",
                                        "PtoP",    "HtoD", "DtoH", "DtoD"};
    char text[96];
    int64_t kind = db_int(row, COPY_KIND, 0);
    int n = snprintf(text, sizeof text, "Memcpy %s (%s -> %s)",
                     kind >= 0 && kind < (int64_t)N_OF(kinds) ? kinds[kind] : kinds[0],
                     place_name(db_int(row, SOURCE_KIND, -1)),
                     place_name(db_int(row, TARGET_KIND, -1)));
    return nsight_string(r, str_n(text, (size_t)n));
}

static status take_copy(void *context, db_rows *row) {
    reader *r = context;
    raw_slice s = {.kind = KIND_MEMCPY};
    raw_kernel k;
    if (!begin_work(r, row, &s, &k)) return OK;
    s.name = copy_name(r, row);
    k.bytes = db_int(row, BYTES, ABSENT_I64);
    k.graph_node = db_int(row, COPY_NODE, ABSENT_I64);
    return end_work(r, &s, &k);
}

enum { SET_KIND = BYTES + 1, SET_NODE };

static status take_set(void *context, db_rows *row) {
    reader *r = context;
    raw_slice s = {.kind = KIND_MEMSET};
    raw_kernel k;
    char text[64];
    if (!begin_work(r, row, &s, &k)) return OK;
    int n = snprintf(text, sizeof text, "Memset (%s)", place_name(db_int(row, SET_KIND, -1)));
    s.name = nsight_string(r, str_n(text, (size_t)n));
    k.bytes = db_int(row, BYTES, ABSENT_I64);
    k.graph_node = db_int(row, SET_NODE, ABSENT_I64);
    return end_work(r, &s, &k);
}

/* ---- whole graphs: their kernels were not recorded ---- */

static status take_graph(void *context, db_rows *row) {
    reader *r = context;
    raw_slice s = {.kind = KIND_KERNEL};
    raw_kernel k;
    char text[64];
    if (!begin_work(r, row, &s, &k)) return OK;
    int n = snprintf(text, sizeof text, "CUDA graph %lld", (long long)db_int(row, N_COMMON, 0));
    s.name = nsight_string(r, str_n(text, (size_t)n));
    return end_work(r, &s, &k);
}

/* ---- waits ---- */

static status take_sync(void *context, db_rows *row) {
    reader *r = context;
    static const char *const kinds[] = {"Synchronize", "Event Sync", "Stream Wait Event",
                                        "Stream Sync", "Context Sync"};
    raw_slice s = {.kind = KIND_SYNC};
    int64_t kind = db_int(row, N_COMMON, 0), global = db_int(row, PID, 0);
    int64_t stream = db_int(row, STREAM, 0);
    if (!nsight_is_mine(r, global) || !nsight_time(r, row, START, END, &s)) return OK;
    if (kind < 0 || kind >= (int64_t)N_OF(kinds)) kind = 0;
    s.name = nsight_string(r, str_of(kinds[kind]));
    int32_t device = nsight_device(r, global, db_int(row, DEVICE, 0));
    bool on_stream = kind != 4 && stream >= 0 && stream < UINT32_MAX;
    s.track = on_stream
                  ? nsight_stream(r, global, device, db_int(row, CONTEXT, ABSENT_I64), stream)
                  : nsight_device_row(r, device, STR("context"));
    return r->failed ? ERR_MEMORY : part_slice(r->part, &s);
}

/* ---- memory ---- */

enum { AT, MEMORY_PID, MEMORY_DEVICE, ADDRESS, MEMORY_BYTES, MEMORY_KIND, OPERATION };

static status take_memory(void *context, db_rows *row) {
    reader *r = context;
    int64_t global = db_int(row, MEMORY_PID, 0), kind = db_int(row, MEMORY_KIND, 2);
    bool release = db_int(row, OPERATION, 0) == 1;
    raw_memory m = {.time = db_int(row, AT, ABSENT_I64),
                    .address = (uint64_t)db_int(row, ADDRESS, 0),
                    .bytes = max_i64(0, db_int(row, MEMORY_BYTES, 0)),
                    .allocated = ABSENT_I64,
                    .reserved = ABSENT_I64,
                    .tie = sat_u32(database_n_rows(r->db)),
                    .kind = release ? MEMORY_FREE : MEMORY_ALLOC,
                    .device = ABSENT_I32,
                    .device_type = DEVICE_CPU};
    if (!nsight_is_mine(r, global)) return OK;
    part_count(r->part, 1, m.time == ABSENT_I64);
    if (m.time == ABSENT_I64) {
        part_lost(r->part, CAUSE_MISSING_TIME, NOPOS, 0);
        return OK;
    }
    if (release) m.bytes = sub_i64(0, m.bytes);
    if (kind > 1) {
        m.device_type = DEVICE_CUDA;
        m.device = nsight_device(r, global, db_int(row, MEMORY_DEVICE, 0));
    }
    m.track = part_track(r->part, nsight_pid(r, global),
                         (ident){nsight_string(r, STR("memory")), true});
    return r->failed || m.track == UINT32_MAX ? ERR_MEMORY : part_memory(r->part, &m);
}

status nsight_read_devices(reader *r, error *err) {
    static const char *const kernels[] = {COMMON,
                                          "demangledName",
                                          "shortName",
                                          "registersPerThread",
                                          "gridX",
                                          "gridY",
                                          "gridZ",
                                          "blockX",
                                          "blockY",
                                          "blockZ",
                                          "staticSharedMemory",
                                          "dynamicSharedMemory",
                                          "graphNodeId"};
    static const char *const copies[] = {COMMON,    "bytes",   "copyKind",
                                         "srcKind", "dstKind", "graphNodeId"};
    static const char *const sets[] = {COMMON, "bytes", "memKind", "graphNodeId"};
    static const char *const graphs[] = {COMMON, "graphId"};
    static const char *const waits[] = {COMMON, "syncType"};
    static const char *const memory[] = {"start", "globalPid", "deviceId",           "address",
                                         "bytes", "memKind",   "memoryOperationType"};
    static const db_reading tables[] = {
        {"CUPTI_ACTIVITY_KIND_KERNEL", kernels, N_OF(kernels), take_kernel},
        {"CUPTI_ACTIVITY_KIND_MEMCPY", copies, N_OF(copies), take_copy},
        {"CUPTI_ACTIVITY_KIND_MEMSET", sets, N_OF(sets), take_set},
        {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", graphs, N_OF(graphs), take_graph},
        {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", waits, N_OF(waits), take_sync},
        {"CUDA_GPU_MEMORY_USAGE_EVENTS", memory, N_OF(memory), take_memory},
    };
    TRY(db_each_table(r->db, tables, N_OF(tables), r, err));
    if (!database_has(r->db, STR("CUPTI_ACTIVITY_KIND_GRAPH_TRACE"))) return OK;
    return nsight_put_fact(r, "warning",
                           STR("CUDA graphs were recorded as a whole: their kernels are not in "
                               "the file (record with --cuda-graph-trace=node)"),
                           err);
}
