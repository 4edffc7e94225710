/* nsight_facts.c: devices, versions, the clock, what the profiler says went wrong, counters of
 * devices, and which tables were left unread. */
#include "ingest/nsight/nsight_int.h"

status nsight_put_fact(reader *r, const char *key, str value, error *err) {
    buf text = {0};
    buf_add_json(&text, value);
    r->failed |= !buf_ok(&text);
    uint32_t id = r->failed ? 0 : nsight_string(r, buf_str(&text));
    uint32_t name = nsight_string(r, str_of(key));
    buf_fini(&text);
    if (r->failed) FAIL_MEMORY(err);
    return builder_add_meta(r->b, name, id, err);
}

/* ---- names and values ---- */

typedef struct {
    const char *theirs, *ours;
} word;

static status take_pair(reader *r, db_rows *row, const word *words, size_t n) {
    str name = db_text(row, 0);
    for (size_t i = 0; i < n; i++)
        if (str_eq(name, str_of(words[i].theirs)))
            return nsight_put_fact(r, words[i].ours, db_text(row, 1), NULL);
    return OK;
}

static status take_export(void *context, db_rows *row) {
    reader *r = context;
    static const word words[] = {{"EXPORT_PRODUCT_NAME", "profiler"},
                                 {"EXPORT_PRODUCT_VERSION", "profiler_version"},
                                 {"EXPORT_SCHEMA_VERSION", "schema_version"}};
    return take_pair(r, row, words, N_OF(words));
}

static status take_environment(void *context, db_rows *row) {
    reader *r = context;
    static const word words[] = {{"NvDriverVersion", "driver_version"},
                                 {"CudaDriverVersion", "cuda_driver_version"},
                                 {"CudaVersion", "cuda_runtime_version"},
                                 {"Hostname", "host_name"},
                                 {"CpuCores", "cpu_cores"}};
    return take_pair(r, row, words, N_OF(words));
}

static status take_start(void *context, db_rows *row) {
    reader *r = context;
    int64_t ns = db_int(row, 0, ABSENT_I64);
    if (ns > 0) builder_set_base_unix_ns(r->b, ns);
    return OK;
}

/* Only what a user should know about a recording: warnings and errors. */
static status take_diagnostic(void *context, db_rows *row) {
    reader *r = context;
    int64_t severity = db_int(row, 0, 0);
    if (severity != 2 && severity != 3) return OK;
    return nsight_put_fact(r, severity == 2 ? "warning" : "error", db_text(row, 1), NULL);
}

/* ---- devices ---- */

enum { GPU_ID, GPU_NAME, MEMORY, BANDWIDTH, CLOCK, SMS, MAJOR, MINOR, WARPS, WARP_SIZE, BUS };

static int32_t small(db_rows *row, int column) {
    int64_t v = db_int(row, column, ABSENT_I64);
    return v == ABSENT_I64 ? ABSENT_I32 : sat_i32(v);
}

static uint32_t properties_of(reader *r, db_rows *row, const char *const *columns, size_t n) {
    buf text = {0};
    char before = '{';
    for (size_t i = 0; i < n; i++) {
        if (!db_has(row, (int)i)) continue;
        buf_add_byte(&text, before);
        buf_add_json(&text, str_of(columns[i]));
        buf_add_byte(&text, ':');
        if (i == GPU_NAME || i == BUS)
            buf_add_json(&text, db_text(row, (int)i));
        else
            buf_add_i64(&text, db_int(row, (int)i, 0));
        before = ',';
    }
    buf_add_cstr(&text, before == '{' ? "{}" : "}");
    r->failed |= !buf_ok(&text);
    uint32_t id = r->failed ? 0 : nsight_string(r, buf_str(&text));
    buf_fini(&text);
    return id;
}

static const char *const GPU_COLUMNS[] = {
    "id",           "name",         "totalMemory",   "memoryBandwidth", "clockRate",  "smCount",
    "computeMajor", "computeMinor", "maxWarpsPerSm", "threadsPerWarp",  "busLocation"};

static status take_gpu(void *context, db_rows *row) {
    reader *r = context;
    raw_device d = RAW_DEVICE_NONE;
    d.id = small(row, GPU_ID);
    if (d.id == ABSENT_I32) d.id = (int32_t)r->gpus.n;
    d.type = DEVICE_CUDA;
    d.name = nsight_string(r, db_text(row, GPU_NAME));
    d.memory = db_int(row, MEMORY, ABSENT_I64);
    d.compute_major = small(row, MAJOR);
    d.compute_minor = small(row, MINOR);
    d.sm_count = small(row, SMS);
    d.warp_size = small(row, WARP_SIZE);
    if (d.warp_size > 0 && d.warp_size <= 64 && small(row, WARPS) > 0 &&
        small(row, WARPS) < 1024)
        d.threads_per_sm = d.warp_size * small(row, WARPS);
    d.properties = properties_of(r, row, GPU_COLUMNS, N_OF(GPU_COLUMNS));
    gpu_row *gpu = vec_push(&r->gpus);
    if (!gpu || r->failed) return ERR_MEMORY;
    *gpu = (gpu_row){.id = d.id, .sm_count = d.sm_count};
    return builder_add_device(r->b, &d, NULL);
}

/* Number of a GPU in a process → its number in the machine. */
static status take_visible(void *context, db_rows *row) {
    reader *r = context;
    int64_t gpu = db_int(row, 0, -1);
    uint64_t pid = (uint64_t)db_int(row, 2, 0) & 0xffffff;
    if (gpu < 0 || gpu > 1 << 20) return OK;
    uint32_t *at = map_at(&r->gpu_map, hash_pair(pid, (uint64_t)db_int(row, 1, 0)));
    if (!at) return ERR_MEMORY;
    *at = (uint32_t)gpu;
    return OK;
}

status nsight_read_facts(reader *r, error *err) {
    static const char *const pairs[] = {"name", "value"};
    static const char *const start[] = {"utcEpochNs"};
    static const char *const diagnostic[] = {"severity", "text"};
    static const char *const visible[] = {"gpuId", "cudaId", "pid"};
    TRY(nsight_table(r, "META_DATA_EXPORT", pairs, N_OF(pairs), take_export, err));
    TRY(nsight_table(r, "TARGET_INFO_SYSTEM_ENV", pairs, N_OF(pairs), take_environment, err));
    TRY(nsight_table(r, "TARGET_INFO_SESSION_START_TIME", start, 1, take_start, err));
    TRY(nsight_table(r, "DIAGNOSTIC_EVENT", diagnostic, N_OF(diagnostic), take_diagnostic,
                     err));
    TRY(nsight_table(r, "TARGET_INFO_GPU", GPU_COLUMNS, N_OF(GPU_COLUMNS), take_gpu, err));
    if (!r->gpus.n)
        TRY(nsight_table(r, "TARGET_INFO_CUDA_GPU", GPU_COLUMNS, N_OF(GPU_COLUMNS), take_gpu,
                         err));
    return nsight_table(r, "TARGET_INFO_CUDA_DEVICE", visible, N_OF(visible), take_visible,
                        err);
}

/* ---- counters of devices ---- */

static status take_metric_name(void *context, db_rows *row) {
    reader *r = context;
    uint64_t key = hash_pair((uint64_t)db_int(row, 0, 0), (uint64_t)db_int(row, 1, 0));
    uint32_t *at = map_at(&r->metric_map, key);
    if (!at) return ERR_MEMORY;
    *at = nsight_string(r, db_text(row, 2));
    return OK;
}

/* Counters of a device go to the process that used it. */
static bool uses_device(const reader *r, int32_t device) {
    for (size_t i = 0; r->process && i < r->streams.n; i++)
        if (VEC(&r->streams, stream_row)[i].device == device) return true;
    return !r->process;
}

/* The low byte of a type is the device. */
static status take_metric(void *context, db_rows *row) {
    reader *r = context;
    int64_t type = db_int(row, 1, 0);
    if (!uses_device(r, (int32_t)(type & 0xff))) return OK;
    uint32_t name =
        map_get(&r->metric_map, hash_pair((uint64_t)type, (uint64_t)db_int(row, 2, 0)));
    raw_counter c = {.time = db_int(row, 0, ABSENT_I64),
                     .value = db_real(row, 3),
                     .track = nsight_device_row(r, (int32_t)(type & 0xff), STR("metrics"))};
    bool lost = c.time == ABSENT_I64 || name == MAP_NONE;
    part_count(r->part, 1, lost);
    if (lost) part_lost(r->part, CAUSE_MISSING_NAME, NOPOS, 0);
    if (lost || r->failed) return OK;
    c.name = name;
    c.series = nsight_string(r, STR("value"));
    return part_counter(r->part, &c);
}

status nsight_read_metrics(reader *r, error *err) {
    static const char *const names[] = {"typeId", "metricId", "metricName"};
    static const char *const values[] = {"timestamp", "typeId", "metricId", "value"};
    TRY(nsight_table(r, "TARGET_INFO_GPU_METRICS", names, N_OF(names), take_metric_name, err));
    return nsight_table(r, "GPU_METRICS", values, N_OF(values), take_metric, err);
}

/* ---- what is not read ---- */

static status count_row(void *context, db_rows *row) {
    reader *r = context;
    (void)r, (void)row;
    return OK;
}

/* Tables with events that nothing here reads: named, so that they do not look absent. */
status nsight_name_unread(reader *r, error *err) {
    static const char *const columns[] = {"start"};
    static const char *const tables[] = {"SCHED_EVENTS",
                                         "COMPOSITE_EVENTS",
                                         "SAMPLING_CALLCHAINS",
                                         "OSRT_CALLCHAINS",
                                         "CUDA_CALLCHAINS",
                                         "OPENGL_API",
                                         "VULKAN_API",
                                         "DX12_API",
                                         "OPENACC_DATA_EVENTS",
                                         "OPENMP_EVENT_KIND_TASK",
                                         "NET_NIC_METRIC",
                                         "NIC_ID_MAP",
                                         "GENERIC_EVENTS",
                                         "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                                         "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
                                         "CUDA_UM_GPU_PAGE_FAULT_EVENTS"};
    buf text = {0};
    for (size_t i = 0; i < N_OF(tables); i++) {
        uint64_t before = database_n_rows(r->db);
        status st = nsight_table(r, tables[i], columns, N_OF(columns), count_row, err);
        if (st != OK) {
            buf_fini(&text);
            return st;
        }
        if (database_n_rows(r->db) == before) continue;
        if (text.n) buf_add_cstr(&text, ", ");
        buf_add_cstr(&text, tables[i]);
    }
    r->failed |= !buf_ok(&text);
    status st = text.n && !r->failed ? nsight_put_fact(r, "not_read", buf_str(&text), err) : OK;
    buf_fini(&text);
    if (r->failed) FAIL_MEMORY(err);
    return st;
}
