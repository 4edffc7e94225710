/* rocm_csv.c: rocprofv3's tables, one file for each kind of record.
 *
 *     PREFIX_kernel_trace.csv        kernels with agent, queue, grid
 *     PREFIX_memory_copy_trace.csv   copies with a direction
 *     PREFIX_hip_api_trace.csv       calls: Domain, Function, Process_Id, Thread_Id; so do
 *                                    hsa, marker, rccl and the decoders
 *     PREFIX_agent_info.csv          the machine's processors
 *
 * Whichever of them is opened, those with the same prefix in its folder are read with it: a
 * kernel has the correlation of the call that launched it, which is in another file. The header
 * says what a table is; releases differ in their columns, so a column is found by its name. */
#include <stdio.h>

#include "ingest/rocm/rocm_int.h"
#include "ingest/util/csv_cells.h"
#include "ingest/util/whole_input.h"

enum { EVENTS_BETWEEN_LOOKS = 4096 };

/* How the files of one recording end; processors first, which number the devices. */
static const str ENDS[] = {
    STR("agent_info.csv"),          STR("kernel_trace.csv"),
    STR("memory_copy_trace.csv"),   STR("memory_allocation_trace.csv"),
    STR("hip_api_trace.csv"),       STR("hsa_api_trace.csv"),
    STR("marker_api_trace.csv"),    STR("rccl_api_trace.csv"),
    STR("rocdecode_api_trace.csv"), STR("rocjpeg_api_trace.csv"),
};

/* ---- columns ---- */

/* X(column, names) */
#define COLUMNS(X)                                 \
    X(START, "Start_Timestamp")                    \
    X(END, "End_Timestamp")                        \
    X(KIND, "Domain|Kind")                         \
    X(FUNCTION, "Function")                        \
    X(KERNEL, "Kernel_Name")                       \
    X(DIRECTION, "Direction")                      \
    X(OPERATION, "Operation")                      \
    X(PROCESS, "Process_Id")                       \
    X(THREAD, "Thread_Id")                         \
    X(CORRELATION, "Correlation_Id")               \
    X(AGENT, "Agent_Id")                           \
    X(SOURCE, "Source_Agent_Id")                   \
    X(TARGET, "Destination_Agent_Id")              \
    X(QUEUE, "Queue_Id")                           \
    X(STREAM, "Stream_Id")                         \
    X(BYTES, "Bytes|Size|Copy_Bytes")              \
    X(ALLOCATED, "Allocation_Size")                \
    X(ADDRESS, "Address")                          \
    X(SHARED, "LDS_Block_Size|Group_Segment_Size") \
    X(BLOCK_X, "Workgroup_Size_X|Workgroup_Size")  \
    X(BLOCK_Y, "Workgroup_Size_Y")                 \
    X(BLOCK_Z, "Workgroup_Size_Z")                 \
    X(GRID_X, "Grid_Size_X|Grid_Size")             \
    X(GRID_Y, "Grid_Size_Y")                       \
    X(GRID_Z, "Grid_Size_Z")                       \
    X(NODE, "Node_Id")                             \
    X(TYPE, "Agent_Type")                          \
    X(CU_COUNT, "Cu_Count")                        \
    X(WAVE, "Wave_Front_Size")                     \
    X(WAVES_PER_SIMD, "Max_Waves_Per_Simd")        \
    X(SIMDS, "Simd_Per_Cu")                        \
    X(NAME, "Name")                                \
    X(PRODUCT, "Product_Name")

enum {
#define COLUMN_ID(column, names) COL_##column,
    COLUMNS(COLUMN_ID)
#undef COLUMN_ID
        N_CSV_COLUMNS
};

typedef struct {
    rocm r;
    map agents; /* number of an agent → device + 1 */
    csv rows;
    size_t at[N_CSV_COLUMNS]; /* of the table that is read; SIZE_MAX: it has no such column */
} tables;

static bool has(const tables *t, int column) {
    return t->at[column] != SIZE_MAX;
}

static str cell(const tables *t, int column) {
    return has(t, column) ? csv_cell(&t->rows, t->at[column]) : STR_NONE;
}

static int64_t number(const tables *t, int column) {
    int64_t v;
    return str_to_i64(cell(t, column), &v) ? v : ABSENT_I64;
}

static uint32_t text(tables *t, int column) {
    return rocm_string(&t->r, cell(t, column));
}

static void find_columns(tables *t) {
    static const str names[N_CSV_COLUMNS] = {
#define COLUMN_NAMES(column, theirs) STR(theirs),
        COLUMNS(COLUMN_NAMES)
#undef COLUMN_NAMES
    };
    for (int i = 0; i < N_CSV_COLUMNS; i++) t->at[i] = csv_find(&t->rows, names[i]);
}

/* ---- agents ---- */

/* "Agent 4" or "4" */
static int64_t agent_number(str s) {
    int64_t v;
    size_t at = s.n;
    while (at > 0 && s.p[at - 1] >= '0' && s.p[at - 1] <= '9') at--;
    return at < s.n && str_to_i64(str_from(s, at), &v) ? v : 0;
}

/* Agents count the machine's CPUs, too: devices are numbered in the order they come. */
static int32_t device_of(tables *t, int column) {
    uint32_t *at = map_at(&t->agents, (uint64_t)agent_number(cell(t, column)));
    t->r.failed |= !at;
    if (!at) return 0;
    if (*at == MAP_NONE) *at = (uint32_t)t->r.n_gpus++;
    return (int32_t)*at;
}

static status take_agent(tables *t, error *err) {
    int32_t device;
    int64_t waves = number(t, COL_WAVES_PER_SIMD), simds = number(t, COL_SIMDS);
    if (!str_eq_nocase(cell(t, COL_TYPE), STR("GPU"))) return OK;
    bool known = waves > 0 && waves < 1024 && simds > 0 && simds < 1024;
    str name = cell(t, COL_PRODUCT).n ? cell(t, COL_PRODUCT) : cell(t, COL_NAME);
    TRY(rocm_put_device(&t->r, name, number(t, COL_CU_COUNT), number(t, COL_WAVE),
                        known ? mul_i64(waves, simds) : 0, STR_NONE, &device, err));
    uint32_t *at = map_at(&t->agents, (uint64_t)agent_number(cell(t, COL_NODE)));
    if (!at) FAIL_MEMORY(err);
    *at = (uint32_t)device;
    return OK;
}

/* ---- records ---- */

static rocm_work read_work(tables *t, slice_kind kind) {
    rocm_work w = ROCM_WORK_NONE;
    w.kind = kind;
    w.start = number(t, COL_START);
    w.end = number(t, COL_END);
    w.queue = number(t, COL_QUEUE);
    w.stream = number(t, COL_STREAM);
    w.correlation = number(t, COL_CORRELATION);
    w.bytes = number(t, COL_BYTES);
    w.shared_memory = number(t, COL_SHARED);
    return w;
}

static status take_kernel(tables *t) {
    rocm_work w = read_work(t, KIND_KERNEL);
    w.device = device_of(t, COL_AGENT);
    for (int i = 0; i < 3; i++) {
        w.block[i] = number(t, COL_BLOCK_X + i);
        w.grid[i] = number(t, COL_GRID_X + i);
    }
    w.name = rocm_string(&t->r, rocm_kernel_name(cell(t, COL_KERNEL)));
    return rocm_put_work(&t->r, &w);
}

/* A copy belongs to the device it goes to, or comes from when it goes to the host. */
static status take_copy(tables *t) {
    rocm_work w = read_work(t, KIND_MEMCPY);
    str direction = cell(t, COL_DIRECTION);
    w.device = device_of(t, str_ends(direction, STR("TO_HOST")) ? COL_SOURCE : COL_TARGET);
    w.name = rocm_string(&t->r, rocm_copy_name(direction));
    return rocm_put_work(&t->r, &w);
}

static status take_allocation(tables *t) {
    bool release = str_find(cell(t, COL_OPERATION), STR("FREE"), 0) != SIZE_MAX;
    int64_t bytes = number(t, COL_ALLOCATED), address = 0;
    (void)!rocm_read_address(cell(t, COL_ADDRESS), &address);
    int32_t device = cell(t, COL_AGENT).n ? device_of(t, COL_AGENT) : ABSENT_I32;
    return rocm_put_memory(&t->r, number(t, COL_START), address,
                           bytes == ABSENT_I64 ? 0 : bytes, device, release, 0);
}

static status take_call(tables *t) {
    rocm_call c = ROCM_CALL_NONE;
    int64_t process = number(t, COL_PROCESS), thread = number(t, COL_THREAD);
    c.start = number(t, COL_START);
    c.end = number(t, COL_END);
    c.pid = process == ABSENT_I64 ? 0 : process;
    c.tid = thread == ABSENT_I64 ? c.pid : thread;
    c.correlation = number(t, COL_CORRELATION);
    c.domain = text(t, COL_KIND);
    c.name = text(t, COL_FUNCTION);
    return rocm_put_call(&t->r, &c);
}

/* ---- tables ---- */

typedef status take_function(tables *t);

/* What the rows of a table with these columns are; NULL: nothing that has a place here. */
static take_function *find_taker(const tables *t) {
    if (!has(t, COL_START) || !has(t, COL_END)) return NULL;
    if (has(t, COL_KERNEL)) return take_kernel;
    if (has(t, COL_FUNCTION)) return take_call;
    if (has(t, COL_DIRECTION)) return take_copy;
    return has(t, COL_ALLOCATED) ? take_allocation : NULL;
}

static status check_limit(const tables *t, error *err) {
    uint64_t limit = t->r.o->memory_limit_bytes;
    if (limit && builder_size_bytes(t->r.b) + t->rows.text.n > limit)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT, arg_bytes("limit", sat_i64(limit)));
    return OK;
}

static status read_rows(tables *t, error *err) {
    if (!csv_next(&t->rows)) return OK;
    find_columns(t);
    take_function *take = find_taker(t);
    bool agents = !take && has(t, COL_TYPE) && has(t, COL_NODE);
    while ((take || agents) && csv_next(&t->rows)) {
        if (agents) {
            TRY(take_agent(t, err));
            continue;
        }
        if (take(t) != OK || t->r.failed) FAIL_MEMORY(err);
        if (t->r.n_events % EVENTS_BETWEEN_LOOKS == 0) TRY(check_limit(t, err));
    }
    return OK;
}

static status read_table(tables *t, str bytes, error *err) {
    t->rows = csv_open(bytes);
    status st = read_rows(t, err);
    if (st == OK && t->rows.failed)
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    csv_fini(&t->rows);
    return st;
}

/* ---- files ---- */

bool rocm_csv_head(str head) {
    tables t = {.rows = csv_open(head)};
    bool is = csv_next(&t.rows);
    if (is) find_columns(&t);
    is = is && find_taker(&t) != NULL && (has(&t, COL_CORRELATION) || has(&t, COL_ALLOCATED));
    csv_fini(&t.rows);
    return is;
}

bool rocm_csv_name(str file, str *prefix) {
    for (size_t i = 0; i < N_OF(ENDS); i++) {
        if (!str_ends(file, ENDS[i])) continue;
        *prefix = str_n(file.p, file.n - ENDS[i].n);
        if (prefix->n == 0) return true;
        char before = prefix->p[prefix->n - 1];
        if (before == '_') prefix->n--;
        return before == '_' || before == '/';
    }
    return false;
}

bool rocm_csv_is_part(str file) {
    str prefix;
    return str_ends(file, ENDS[0]) && rocm_csv_name(file, &prefix);
}

/* Another table of the same recording. One that does not exist, or cannot be read, is left out:
 * no file needs another. */
static status read_other_tables(tables *t, const char *path, error *err) {
    source *s = NULL;
    buf bytes = {0};
    if (source_open(path, &s, NULL) != OK) return OK;
    status st = whole_bytes(s, t->r.o, &bytes, err);
    if (st == OK) st = read_table(t, buf_str(&bytes), err);
    if (st == OK && source_damaged(s)) part_lost(t->r.part, CAUSE_STREAM_DAMAGED, NOPOS, 0);
    source_close(s);
    buf_fini(&bytes);
    return st;
}

/* The tables of the recording, the named one in its turn. */
static status read_all(tables *t, str named, error *err) {
    char path[4096];
    str own = t->r.o->path ? str_of(t->r.o->path) : STR_NONE, plain = own, prefix;
    bool packed = str_ends(own, STR(".gz"));
    if (packed) plain.n -= 3;
    if (!rocm_csv_name(plain, &prefix)) return read_table(t, named, err);
    str joint =
        str_n(plain.p + prefix.n, prefix.n < plain.n && plain.p[prefix.n] == '_' ? 1 : 0);
    for (size_t i = 0; i < N_OF(ENDS); i++) {
        int n = snprintf(path, sizeof path, "%.*s%.*s%.*s%s", STR_ARG(prefix), STR_ARG(joint),
                         STR_ARG(ENDS[i]), packed ? ".gz" : "");
        if (n < 0 || (size_t)n >= sizeof path) continue;
        TRY(str_eq(str_n(path, (size_t)n), own) ? read_table(t, named, err)
                                                : read_other_tables(t, path, err));
    }
    return OK;
}

status ingest_rocm_csv(source *src, const ingest_options *o, builder *b, error *err) {
    tables t = {.r = rocm_begin(b, o)};
    buf bytes = {0};
    if (!t.r.part) FAIL_MEMORY(err);
    status st = whole_input(src, o, b, t.r.part, 0, &bytes, err);
    if (st == OK) st = read_all(&t, buf_str(&bytes), err);
    part_finish(t.r.part);
    builder_set_format(b, "rocprof");
    rocm_end(&t.r);
    map_fini(&t.agents);
    buf_fini(&bytes);
    return st;
}
