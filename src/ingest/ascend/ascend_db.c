/* ascend_db.c: a database of CANN's profiler, from its tables to rows.
 *
 * torch_npu, MindSpore and msprof write the same tables; a table is there only when something
 * was recorded for it, columns came with versions, rows are in no order. Nearly every name is a
 * number of STRING_IDS; times are Unix nanoseconds; 2^32 - 1 stands for nothing.
 *
 *     STRING_IDS, ENUM_*                 names
 *     META_DATA, NPU_INFO, HOST_INFO     facts, devices
 *     PYTORCH_API, CANN_API, MSTX_EVENTS, STEP_TIME    threads (ascend_db_host.c)
 *     TASK, *_TASK_INFO, COMMUNICATION_OP              devices (ascend_db_device.c)
 *     OP_MEMORY, MEMORY_RECORD           memory (ascend_db_memory.c)
 *     AICORE_FREQ, HBM, …                samples (ascend_db_counters.c) */
#include "ingest/ascend/ascend_db_int.h"

#include <stdio.h>

#include "base/json.h"

enum { INVALID = UINT32_MAX, MOST_TEXT_BYTES = 64 << 10, MOST_LOW_NAMES = 1 << 20 };

static bool holds(str head, str word) {
    return str_find(head, word, 0) != SIZE_MAX;
}

bool ascend_db_head(str head) {
    static const str words[] = {STR("CANN_API"),        STR("COMPUTE_TASK_INFO"),
                                STR("PYTORCH_API"),     STR("ENUM_API_TYPE"),
                                STR("RANK_DEVICE_MAP"), STR("SESSION_TIME_INFO")};
    if (!database_head(head) || !holds(head, STR("STRING_IDS"))) return false;
    for (size_t i = 0; i < N_OF(words); i++)
        if (holds(head, words[i])) return true;
    return false;
}

bool ascend_db_name(str file) {
    return str_ends(file, STR(".db")) && (str_starts(file, STR("ascend_pytorch_profiler")) ||
                                          str_starts(file, STR("ascend_mindspore_profiler")));
}

/* ---- tables, texts and numbers ---- */

status ascend_table(reader *r, const char *table, const char *const *columns, size_t n,
                    db_row_function *take, error *err) {
    return db_each_table(r->db, &(db_reading){table, columns, n, take}, 1, r, err);
}

uint32_t ascend_string(reader *r, str s) {
    uint32_t id = intern_add(r->strings, s);
    r->failed |= id == UINT32_MAX;
    return id == UINT32_MAX ? 0 : id;
}

uint32_t ascend_take_text(reader *r, buf *text) {
    r->failed |= !buf_ok(text);
    uint32_t id = r->failed ? 0 : ascend_string(r, buf_str(text));
    buf_fini(text);
    return id;
}

static str cut(str s) {
    return str_n(s.p, s.n < MOST_TEXT_BYTES ? s.n : MOST_TEXT_BYTES);
}

uint32_t ascend_name(reader *r, db_rows *row, int column) {
    int64_t id = db_int(row, column, ABSENT_I64);
    if (id == ABSENT_I64) {
        str text = db_text(row, column);
        return text.n ? ascend_string(r, cut(text)) : 0;
    }
    if (id >= 0 && id < (int64_t)r->low_names.n) return VEC(&r->low_names, uint32_t)[id];
    uint32_t name = map_get(&r->names, (uint64_t)id);
    return name == MAP_NONE ? 0 : name;
}

int64_t ascend_int(db_rows *row, int column) {
    return db_number(row, column, ABSENT_I64);
}

int64_t ascend_id(db_rows *row, int column) {
    int64_t v = ascend_int(row, column);
    return v == INVALID || v < 0 ? ABSENT_I64 : v;
}

bool ascend_is_of_other_clock(const reader *r, int64_t start, int64_t end) {
    if (r->session_start == ABSENT_I64) return false;
    int64_t length = sub_i64(r->session_end, r->session_start);
    return start > add_i64(r->session_end, length) || end < sub_i64(r->session_start, length);
}

bool ascend_moment(reader *r, int64_t time) {
    cause why = time == ABSENT_I64                        ? CAUSE_MISSING_TIME
                : ascend_is_of_other_clock(r, time, time) ? CAUSE_OTHER_CLOCK
                                                          : CAUSE_NONE;
    part_count(r->part, 1, why != CAUSE_NONE);
    if (why != CAUSE_NONE) part_lost(r->part, why, NOPOS, 0);
    return why == CAUSE_NONE;
}

bool ascend_time(reader *r, db_rows *row, int start, int end, raw_slice *out) {
    out->start = ascend_int(row, start);
    int64_t to = ascend_int(row, end);
    cause why = out->start == ABSENT_I64 || to == ABSENT_I64  ? CAUSE_MISSING_TIME
                : to < out->start                             ? CAUSE_NEGATIVE_DURATION
                : ascend_is_of_other_clock(r, out->start, to) ? CAUSE_OTHER_CLOCK
                                                              : CAUSE_NONE;
    part_count(r->part, 1, why != CAUSE_NONE);
    if (why != CAUSE_NONE) part_lost(r->part, why, NOPOS, 0);
    out->dur = why == CAUSE_NONE ? sub_i64(to, out->start) : 0;
    return why == CAUSE_NONE;
}

/* ---- devices ---- */

status ascend_label(reader *r, ident pid, ident tid, label_kind kind, int64_t value) {
    raw_label l = {.pid = pid,
                   .tid = tid,
                   .value = value,
                   .offset = r->db ? database_n_rows(r->db) : 0,
                   .kind = (uint8_t)kind};
    return r->failed ? ERR_MEMORY : part_label(r->part, &l);
}

uint32_t ascend_device_row(reader *r, int32_t device, const char *process, str row) {
    char text[64];
    int n = snprintf(text, sizeof text, "%s %d", process, (int)device);
    ident pid = {ascend_string(r, str_n(text, (size_t)n)), true};
    ident tid = {ascend_string(r, row), true};
    uint32_t *at = map_at(&r->rows, (uint64_t)pid.v << 32 | (uint64_t)tid.v);
    r->failed |= !at;
    if (!at) return UINT32_MAX;
    if (*at != MAP_NONE) return *at;
    *at = part_track(r->part, pid, tid);
    r->failed |= *at == UINT32_MAX;
    r->failed |= ascend_label(r, pid, tid, LABEL_THREAD_DEVICE, device) != OK;
    r->failed |= ascend_label(r, pid, tid, LABEL_THREAD_NAME, tid.v) != OK;
    r->failed |= ascend_label(r, pid, IDENT_NONE, LABEL_PROCESS_NAME,
                              ascend_string(r, str_of(process))) != OK;
    return *at;
}

/* Which of the devices it is; of those that NPU_INFO does not list a row is made, too. */
int32_t ascend_device(reader *r, db_rows *row, int column) {
    int64_t id = ascend_id(row, column);
    int32_t device = id == ABSENT_I64 || id > INT16_MAX ? r->device : (int32_t)id;
    if (device == r->seen_device) return device;
    r->seen_device = device;
    uint32_t *at = map_at(&r->devices, (uint64_t)device);
    r->failed |= !at;
    if (!at || *at != MAP_NONE) return device;
    raw_device d = RAW_DEVICE_NONE;
    *at = 0;
    d.id = device;
    d.type = DEVICE_ASCEND;
    r->failed |= builder_add_device(r->b, &d, NULL) != OK;
    return device;
}

static status take_npu(void *context, db_rows *row) {
    reader *r = context;
    raw_device d = RAW_DEVICE_NONE;
    int64_t id = ascend_id(row, 0);
    if (id == ABSENT_I64 || id > INT16_MAX) return OK;
    uint32_t *at = map_at(&r->devices, (uint64_t)id);
    if (!at) return ERR_MEMORY;
    if (*at != MAP_NONE) return OK;
    if (!r->n_devices++) r->device = (int32_t)id;
    *at = 0;
    d.id = (int32_t)id;
    d.type = DEVICE_ASCEND;
    d.name = ascend_name(r, row, 1);
    return builder_add_device(r->b, &d, NULL);
}

/* ---- names ---- */

static status take_pair(reader *r, db_rows *row, map *to) {
    uint32_t *at = map_at(to, (uint64_t)ascend_int(row, 0));
    if (!at) return ERR_MEMORY;
    *at = ascend_string(r, cut(db_text(row, 1)));
    return OK;
}

/* CANN counts its texts from 0, frameworks theirs from 2^28. */
static status take_string(void *context, db_rows *row) {
    reader *r = context;
    int64_t id = ascend_int(row, 0);
    if (id < 0 || id >= MOST_LOW_NAMES) return take_pair(r, row, &r->names);
    uint32_t *at = vec_at(&r->low_names, (size_t)id);
    if (!at) return ERR_MEMORY;
    *at = ascend_string(r, cut(db_text(row, 1)));
    return OK;
}

static status take_api_type(void *context, db_rows *row) {
    reader *r = context;
    return take_pair(r, row, &r->api_types);
}

static status take_data_type(void *context, db_rows *row) {
    reader *r = context;
    return take_pair(r, row, &r->data_types);
}

typedef struct {
    int64_t id;
    const char *name;
} word;

/* What the tables of words have said in all versions; one that is there says it again. */
static status add_words(reader *r, map *to, const word *words, size_t n, error *err) {
    for (size_t i = 0; i < n; i++) {
        uint32_t *at = map_at(to, (uint64_t)words[i].id);
        if (!at) FAIL_MEMORY(err);
        *at = ascend_string(r, str_of(words[i].name));
    }
    return OK;
}

static status read_names(reader *r, error *err) {
    static const word apis[] = {{20000, "acl"},          {15000, "model"},  {10000, "node"},
                                {5500, "communication"}, {5000, "runtime"}, {50001, "op"},
                                {50002, "queue"},        {50003, "trace"},  {50004, "mstx"}};
    static const word types[] = {{0, "INT8"},   {1, "INT16"},  {2, "INT32"},  {3, "FP16"},
                                 {4, "FP32"},   {5, "INT64"},  {6, "UINT64"}, {7, "UINT8"},
                                 {8, "UINT16"}, {9, "UINT32"}, {10, "FP64"},  {11, "BFP16"}};
    static const char *const strings[] = {"id", "value"};
    static const char *const enums[] = {"id", "name"};
    TRY(add_words(r, &r->api_types, apis, N_OF(apis), err));
    TRY(add_words(r, &r->data_types, types, N_OF(types), err));
    TRY(ascend_table(r, "STRING_IDS", strings, N_OF(strings), take_string, err));
    TRY(ascend_table(r, "ENUM_API_TYPE", enums, N_OF(enums), take_api_type, err));
    return ascend_table(r, "ENUM_HCCL_DATA_TYPE", enums, N_OF(enums), take_data_type, err);
}

/* ---- facts ---- */

static status ascend_fact(reader *r, const char *key, str value, error *err) {
    buf text = {0};
    buf_add_json(&text, value);
    uint32_t id = ascend_take_text(r, &text);
    uint32_t name = ascend_string(r, str_of(key));
    if (r->failed) FAIL_MEMORY(err);
    return builder_add_meta(r->b, name, id, err);
}

static status take_meta(void *context, db_rows *row) {
    reader *r = context;
    str name = db_text(row, 0), value = db_text(row, 1);
    if (str_eq(name, STR("SCHEMA_VERSION")))
        return ascend_fact(r, "schema_version", value, NULL);
    if (!str_eq(name, STR("parallel_group_info")) || r->groups.n) return OK;
    buf_add_str(&r->groups, value);
    return buf_ok(&r->groups) ? OK : ERR_MEMORY;
}

static status take_host(void *context, db_rows *row) {
    reader *r = context;
    return ascend_fact(r, "host_name", db_text(row, 0), NULL);
}

/* msprof writes -1 where it knows no rank. */
static status take_rank(void *context, db_rows *row) {
    reader *r = context;
    int64_t rank = ascend_id(row, 0), device = ascend_id(row, 1);
    char text[24];
    if (device != ABSENT_I64 && device <= INT16_MAX && !r->n_devices)
        r->device = (int32_t)device;
    if (rank == ABSENT_I64 || r->rank_said) return OK;
    r->rank_said = true;
    int n = snprintf(text, sizeof text, "%lld", (long long)rank);
    uint32_t key = ascend_string(r, STR("rank_id")),
             value = ascend_string(r, str_n(text, (size_t)n));
    return r->failed ? ERR_MEMORY : builder_add_meta(r->b, key, value, NULL);
}

static status take_session(void *context, db_rows *row) {
    reader *r = context;
    int64_t start = ascend_int(row, 0), end = ascend_int(row, 1);
    if (start == ABSENT_I64 || end == ABSENT_I64 || start <= 0 || end <= start) return OK;
    bool first = r->session_start == ABSENT_I64;
    r->session_start = first ? start : min_i64(r->session_start, start);
    r->session_end = first ? end : max_i64(r->session_end, end);
    return OK;
}

static status read_facts(reader *r, error *err) {
    static const char *const session[] = {"startTimeNs", "endTimeNs"};
    static const char *const pairs[] = {"name", "value"};
    static const char *const npus[] = {"id", "name"};
    static const char *const hosts[] = {"hostName"};
    static const char *const ranks[] = {"rankId", "deviceId"};
    TRY(ascend_table(r, "SESSION_TIME_INFO", session, N_OF(session), take_session, err));
    TRY(ascend_table(r, "META_DATA", pairs, N_OF(pairs), take_meta, err));
    TRY(ascend_table(r, "NPU_INFO", npus, N_OF(npus), take_npu, err));
    TRY(ascend_table(r, "HOST_INFO", hosts, N_OF(hosts), take_host, err));
    return ascend_table(r, "RANK_DEVICE_MAP", ranks, N_OF(ranks), take_rank, err);
}

static status count_row(void *context, db_rows *row) {
    reader *r = context;
    (void)row;
    r->any_row = true;
    return OK;
}

status ascend_name_unread(reader *r, const char *table, error *err) {
    static const char *const columns[] = {"deviceId"};
    r->any_row = false;
    TRY(ascend_table(r, table, columns, N_OF(columns), count_row, err));
    if (!r->any_row) return OK;
    if (r->unread.n) buf_add_cstr(&r->unread, ", ");
    buf_add_cstr(&r->unread, table);
    r->failed |= !buf_ok(&r->unread);
    return OK;
}

/* Tables with rows that nothing here reads: named, so that they do not look absent. What
 * follows from the others is not named (OVERLAP_ANALYSIS, StepTraceTime). */
static status name_unread(reader *r, error *err) {
    static const char *const tables[] = {
        "NPU_MODULE_MEM", "SAMPLE_PMU_SUMMARY", "NETDEV_STATS", "SIO", "UB", "CCU", "DPU_TASK"};
    for (size_t i = 0; i < N_OF(tables); i++) TRY(ascend_name_unread(r, tables[i], err));
    if (r->unread.n && !r->failed) TRY(ascend_fact(r, "not_read", buf_str(&r->unread), err));
    if (r->failed) FAIL_MEMORY(err);
    return OK;
}

/* ---- the whole ---- */

static status read_tables(reader *r, error *err) {
    TRY(read_names(r, err));
    TRY(read_facts(r, err));
    TRY(ascend_read_host(r, err));
    TRY(ascend_read_device(r, err));
    TRY(ascend_read_memory(r, err));
    TRY(ascend_read_counters(r, err));
    if (!r->any_comm) TRY(ascend_read_comm(r, err));
    return name_unread(r, err);
}

static void free_reader(reader *r) {
    map *maps[] = {&r->names,        &r->api_types,   &r->data_types, &r->shapes,
                   &r->call_names,   &r->kinds,       &r->stacks,     &r->threads,
                   &r->call_threads, &r->streams,     &r->planes,     &r->rows,
                   &r->group_rows,   &r->group_ranks, &r->api_map,    &r->connection_map,
                   &r->calls,        &r->collectives, &r->task_map,   &r->devices};
    vec *vecs[] = {&r->low_names, &r->chains, &r->apis, &r->connections, &r->tasks, &r->cells};
    for (size_t i = 0; i < N_OF(maps); i++) map_fini(maps[i]);
    for (size_t i = 0; i < N_OF(vecs); i++) vec_fini(vecs[i]);
    buf_fini(&r->groups);
    buf_fini(&r->unread);
    cann_tables_close(r->tables);
    database_close(r->db);
}

static const char *format_of(const reader *r, const ingest_options *o) {
    str path = o->path ? str_of(o->path) : STR_NONE;
    size_t slash = str_rfind_byte(path, '/');
    str file = slash == SIZE_MAX ? path : str_from(path, slash + 1);
    if (r->torch) return "torch_npu";
    return str_starts(file, STR("ascend_mindspore_profiler")) ? "mindspore" : "cann";
}

status ingest_ascend_db(source *src, const ingest_options *o, builder *b, error *err) {
    reader r = {.b = b,
                .part = builder_part(b),
                .strings = builder_strings(b),
                .low_names = VEC_INIT(uint32_t),
                .chains = VEC_INIT(chain_row),
                .apis = VEC_INIT(api_row),
                .connections = VEC_INIT(connection_row),
                .tasks = VEC_INIT(task_row),
                .cells = VEC_INIT(cell_row),
                .task_id = ABSENT_I64,
                .session_start = ABSENT_I64,
                .session_end = ABSENT_I64,
                .seen_device = ABSENT_I32};
    if (!r.part) FAIL_MEMORY(err);
    status st = cann_facts_open(o, &r.tables, err);
    if (st == OK) st = cann_facts_put(r.tables, b, &r.rank_said, err);
    if (st == OK) st = ascend_read_comm_file(&r, o, err);
    if (st == OK) st = database_open(src, o, b, r.part, &r.db, err);
    if (st == OK) database_watch(r.db, &r.failed);
    if (st == OK) st = read_tables(&r, err);
    part_finish(r.part);
    builder_set_base_unix_ns(b, 0);
    builder_set_work_names_op(b, true);
    builder_set_format(b, format_of(&r, o));
    free_reader(&r);
    return st;
}
