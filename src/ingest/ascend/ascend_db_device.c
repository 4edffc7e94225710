/* ascend_db_device.c: what devices did.
 *
 *     TASK ─ globalTaskId ─┬─> COMPUTE_TASK_INFO        name, type, shapes, blocks
 *                          ├─> COMMUNICATION_TASK_INFO  a piece of a collective, on its plane
 *                          ├─> MEMCPY_INFO              bytes and direction
 *                          └─> TASK_PMU_INFO            counters of the AI Core
 *     COMMUNICATION_OP                                  the collectives
 *
 * A collective is counted as a whole: its pieces are drawn on their planes, or on their streams
 * where no plane is given, and counted nowhere. A piece is what is listed as one, and every
 * task that has the connection of a collective and is not a kernel: a wait inside a collective
 * would look like work. */
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "ingest/ascend/ascend_db_int.h"
#include "ingest/ascend/hcom.h"
#include "ingest/pytorch/kineto_dialect.h"

/* ---- what is known of tasks ---- */

/* The row about a task, made when there is none; NULL: it has no number, or no memory. */
static task_row *task_at(reader *r, db_rows *row) {
    int64_t id = ascend_int(row, 0);
    if (id != ABSENT_I64 && id == r->task_id) return &VEC(&r->tasks, task_row)[r->i_task];
    uint32_t *at = id == ABSENT_I64 ? NULL : map_at(&r->task_map, (uint64_t)id);
    r->failed |= id != ABSENT_I64 && !at;
    if (!at) return NULL;
    r->task_id = id;
    r->i_task = *at == MAP_NONE ? (uint32_t)r->tasks.n : *at;
    if (*at != MAP_NONE) return &VEC(&r->tasks, task_row)[*at];
    *at = r->i_task;
    task_row *t = vec_push(&r->tasks);
    r->failed |= !t;
    if (t)
        *t = (task_row){
            .cells = MAP_NONE, .blocks = ABSENT_I64, .bytes = ABSENT_I64, .plane = ABSENT_I64};
    return t;
}

static void add_cell(reader *r, task_row *t, uint32_t key, raw_value value) {
    uint32_t next = t->cells, place = (uint32_t)r->cells.n;
    cell_row *c = vec_push(&r->cells);
    r->failed |= !c;
    if (!c) return;
    *c = (cell_row){value.v, key, next, value.tag, value.digits};
    t->cells = place;
}

/* ---- keys of arguments ---- */

enum { TASK, NAME, BLOCKS, OLD_BLOCKS, CELLS };
static const char *const COMPUTE[] = {
    "globalTaskId", "name",         "blockNum",        "blockDim",     "opType",
    "taskType",     "opState",      "hf32Eligible",    "inputShapes",  "inputDataTypes",
    "inputFormats", "outputShapes", "outputDataTypes", "outputFormats"};
/* Those of kernel_details.csv for COMPUTE's columns from CELLS on, then those of the
 * timelines. */
enum { N_CELLS = 10, WORD_TYPE = N_CELLS, WORD_STREAM, WORD_TASK, WORD_MODEL, WORD_CONNECTION };
static const char *const WORDS[] = {"Type",           "Accelerator Core", "OP State",
                                    "HF32 Eligible",  "Input Shapes",     "Input Data Types",
                                    "Input Formats",  "Output Shapes",    "Output Data Types",
                                    "Output Formats", "Task Type",        "Stream Id",
                                    "Task Id",        "Model Id",         "connection_id"};
_Static_assert(N_OF(WORDS) <= ASCEND_MOST_WORDS, "room for the words");

static status find_words(reader *r, error *err) {
    for (size_t i = 0; i < N_OF(WORDS); i++) r->words[i] = ascend_string(r, str_of(WORDS[i]));
    if (r->failed) FAIL_MEMORY(err);
    r->nothing = ascend_string(r, STR("N/A"));
    return OK;
}

/* ---- tables about tasks ---- */

/* A task that the table names, counted; NULL: it has none. */
static task_row *named_task(reader *r, db_rows *row) {
    task_row *t = task_at(r, row);
    part_count(r->part, 1, !t);
    if (t) t->name = ascend_name(r, row, NAME);
    return t;
}

static status take_compute(void *context, db_rows *row) {
    reader *r = context;
    task_row *t = named_task(r, row);
    if (!t) return OK;
    t->computes = true;
    t->blocks = ascend_id(row, db_has(row, BLOCKS) ? BLOCKS : OLD_BLOCKS);
    for (int i = N_CELLS - 1; i >= 0; i--) {
        uint32_t value = ascend_name(r, row, CELLS + i);
        if (value && value != r->nothing)
            add_cell(r, t, r->words[i], (raw_value){.tag = VALUE_STRING, .v = value});
    }
    return OK;
}

static status take_piece(void *context, db_rows *row) {
    reader *r = context;
    task_row *t = named_task(r, row);
    uint32_t type = ascend_name(r, row, 3);
    if (!t) return OK;
    if (type) t->name = type; /* what it does: its name is the collective's */
    t->plane = max_i64(0, ascend_id(row, 2));
    t->bytes = ascend_id(row, 4);
    return OK;
}

static status take_schedule(void *context, db_rows *row) {
    reader *r = context;
    task_row *t = task_at(r, row);
    if (t) t->name = ascend_name(r, row, NAME);
    return OK;
}

/* The numbers of ENUM_MEMCPY_OPERATION. */
static status take_copy(void *context, db_rows *row) {
    reader *r = context;
    static const char *const kinds[] = {"Memcpy HtoH", "Memcpy HtoD", "Memcpy DtoH",
                                        "Memcpy DtoD", "Memcpy",      "Memcpy DtoD",
                                        "Memcpy HtoD", "Memcpy DtoH"};
    task_row *t = task_at(r, row);
    int64_t kind = ascend_int(row, 2);
    if (!t) return OK;
    t->bytes = ascend_id(row, 1);
    t->copy = true;
    if (kind >= 0 && kind < (int64_t)N_OF(kinds))
        t->name = ascend_string(r, str_of(kinds[kind]));
    return OK;
}

/* A number with up to six decimals, without trailing zeros. */
static raw_value decimal(double v) {
    raw_value out = {.tag = VALUE_DECIMAL, .digits = 6};
    if (!(v > -9e11 && v < 9e11)) return (raw_value){.tag = VALUE_INT, .v = real_i64(v)};
    out.v = round_i64(v * 1e6);
    for (; out.digits && out.v % 10 == 0; out.digits--) out.v /= 10;
    if (!out.digits) out.tag = VALUE_INT;
    return out;
}

static status take_metric(void *context, db_rows *row) {
    reader *r = context;
    task_row *t = task_at(r, row);
    uint32_t key = ascend_name(r, row, NAME);
    double v = db_real(row, 2);
    if (t && key && v > -9e18 && v < 9e18) add_cell(r, t, key, decimal(v));
    return OK;
}

/* ---- tasks ---- */

enum { START, END, DEVICE, CONNECTION, GLOBAL, TYPE, STREAM, TASK_ID, MODEL };

/* The row `number` of a device; `rows` remembers those with the numbers that occur. */
static uint32_t numbered_row(reader *r, map *rows, int32_t device, int64_t number,
                             const char *words[2]) {
    char text[40];
    uint32_t *at =
        number >> 40 ? NULL : map_at(rows, (uint64_t)device << 40 | (uint64_t)number);
    if (at && *at != MAP_NONE) return *at;
    int n = snprintf(text, sizeof text, "%s %lld", words[1], (long long)number);
    uint32_t row = ascend_device_row(r, device, words[0], str_n(text, (size_t)n));
    r->failed |= row == UINT32_MAX;
    if (at) *at = row;
    return row;
}

static uint32_t stream_row(reader *r, int32_t device, int64_t stream) {
    static const char *words[] = {"Ascend Hardware", "Stream"};
    return numbered_row(r, &r->streams, device, stream, words);
}

static uint32_t plane_row(reader *r, int32_t device, int64_t plane) {
    static const char *words[] = {"Communication", "Plane"};
    return numbered_row(r, &r->planes, device, plane, words);
}

/* A text is looked through once, however many tasks have it. */
static slice_kind kind_of_task(reader *r, uint32_t type, uint32_t name) {
    str word = intern_get(r->strings, type);
    bool other = !word.n || str_eq(word, STR("Other"));
    uint32_t *at = map_at(&r->kinds, other ? name : type);
    if (at && *at == MAP_NONE)
        *at = kineto_task_kind(other ? STR_NONE : word, intern_get(r->strings, name));
    r->failed |= !at;
    return at ? (slice_kind)*at : KIND_OTHER;
}

/* The operator that a task belongs to: of two calls with its connection the one that is an
 * operator; two operators are a forward and its backward. ABSENT_I64: unknown. */
static int64_t owner_of(const reader *r, int64_t connection) {
    uint32_t at =
        connection == ABSENT_I64 ? MAP_NONE : map_get(&r->connection_map, (uint64_t)connection);
    if (at == MAP_NONE) return ABSENT_I64;
    const connection_row *c = &VEC(&r->connections, connection_row)[at];
    const api_row *apis = VEC(&r->apis, api_row);
    bool first = apis[c->first].kind == KIND_OP;
    bool second = c->second != MAP_NONE && apis[c->second].kind == KIND_OP;
    if (first == second) return ABSENT_I64;
    return (int64_t)(first ? c->first : c->second) + 1;
}

static raw_kernel begin_kernel(reader *r, int32_t device, int64_t connection) {
    raw_kernel k = RAW_KERNEL_NONE;
    bool called =
        connection != ABSENT_I64 && map_get(&r->calls, (uint64_t)connection) != MAP_NONE;
    k.device = device;
    k.correlation = called ? connection : ABSENT_I64;
    k.external = owner_of(r, connection);
    return k;
}

typedef struct {
    raw_value values[MAX_VALUES];
    size_t n;
    uint32_t place;
} arguments;

static void add_argument(reader *r, arguments *a, uint32_t key, raw_value value) {
    if (a->n == MAX_VALUES || r->failed) return;
    shape_row *last = &r->shape_rows[a->n]; /* tasks mostly have the keys of the one before */
    if (!last->place || last->key != key || last->above != a->place)
        *last = (shape_row){key, a->place, builder_shape(r->b, a->place, key)};
    a->place = value.place = last->place;
    r->failed |= !a->place;
    a->values[a->n++] = value;
}

static uint32_t arguments_of(reader *r, db_rows *row, uint32_t type, const task_row *t) {
    static const struct {
        uint8_t word, column;
    } numbers[] = {{WORD_STREAM, STREAM},
                   {WORD_TASK, TASK_ID},
                   {WORD_MODEL, MODEL},
                   {WORD_CONNECTION, CONNECTION}};
    arguments a;
    a.n = a.place = 0;
    if (type)
        add_argument(r, &a, r->words[WORD_TYPE], (raw_value){.tag = VALUE_STRING, .v = type});
    for (size_t i = 0; i < N_OF(numbers); i++) {
        int64_t v = ascend_id(row, numbers[i].column);
        if (v != ABSENT_I64)
            add_argument(r, &a, r->words[numbers[i].word],
                         (raw_value){.tag = VALUE_INT, .v = v});
    }
    const cell_row *cells = VEC(&r->cells, cell_row);
    for (uint32_t i = t ? t->cells : MAP_NONE; i != MAP_NONE && a.n < MAX_VALUES;
         i = cells[i].next)
        add_argument(
            r, &a, cells[i].key,
            (raw_value){.tag = cells[i].tag, .digits = cells[i].digits, .v = cells[i].v});
    return r->failed ? 0 : part_args(r->part, a.values, a.n);
}

/* Waits and copies of a plane are a part of the collective. */
static status put_piece(reader *r, db_rows *row, const task_row *t, raw_slice *s) {
    bool wait = kind_of_task(r, 0, s->name) == KIND_SYNC;
    int32_t device = ascend_device(r, row, DEVICE);
    int64_t stream = ascend_id(row, STREAM);
    s->kind = wait ? KIND_SYNC : KIND_OTHER;
    s->category = builder_category(r->b, ascend_string(r, STR("communication_task")));
    s->track = t && t->plane != ABSENT_I64
                   ? plane_row(r, device, t->plane)
                   : stream_row(r, device, stream == ABSENT_I64 ? 0 : stream);
    return r->failed ? ERR_MEMORY : part_slice(r->part, s);
}

static status put_task(reader *r, db_rows *row, const task_row *t, raw_slice *s) {
    raw_kernel k = begin_kernel(r, ascend_device(r, row, DEVICE), ascend_id(row, CONNECTION));
    int64_t stream = ascend_id(row, STREAM);
    k.stream = stream;
    s->track = stream_row(r, k.device, stream == ABSENT_I64 ? 0 : stream);
    if (t && t->blocks > 0 && s->kind == KIND_KERNEL)
        k.grid[0] = sat_u32((uint64_t)t->blocks), k.grid[1] = k.grid[2] = 1;
    if (t) k.bytes = t->bytes;
    if (r->failed) return ERR_MEMORY;
    if (kind_is_device(s->kind)) TRY(part_kernel(r->part, &k, s));
    return part_slice(r->part, s);
}

static bool is_piece(const reader *r, db_rows *row, const task_row *t) {
    int64_t connection = ascend_id(row, CONNECTION);
    if (t && (t->computes || t->plane != ABSENT_I64)) return t->plane != ABSENT_I64;
    return connection != ABSENT_I64 &&
           map_get(&r->collectives, (uint64_t)connection) != MAP_NONE;
}

static status take_task(void *context, db_rows *row) {
    reader *r = context;
    raw_slice s = {0};
    uint32_t at = map_get(&r->task_map, (uint64_t)ascend_int(row, GLOBAL));
    const task_row *t = at == MAP_NONE ? NULL : &VEC(&r->tasks, task_row)[at];
    uint32_t type = ascend_name(r, row, TYPE);
    if (!ascend_time(r, row, START, END, &s)) return OK;
    s.name = t && t->name ? t->name : type;
    s.kind = (uint8_t)(t && t->copy ? KIND_MEMCPY : kind_of_task(r, type, s.name));
    s.args = arguments_of(r, row, type, t);
    if (is_piece(r, row, t)) return put_piece(r, row, t, &s);
    return put_task(r, row, t, &s);
}

/* ---- collectives ---- */

enum { OP_DEVICE = 2, OP_CONNECTION, OP_NAME, OP_TYPE, GROUP, COUNT, DATA_TYPE, ALGORITHM };
enum { MOST_NAME_BYTES = 256 }; /* of a collective: the longest are a third of it */

static uint32_t group_row(reader *r, int32_t device, uint32_t group) {
    uint32_t *at = map_at(&r->group_rows, (uint64_t)device << 40 | group);
    if (at && *at == MAP_NONE) {
        buf text = {0};
        buf_add_cstr(&text, "Group ");
        buf_add_str(&text, intern_get(r->strings, group));
        buf_add_cstr(&text, " Communication");
        r->failed |= !buf_ok(&text);
        *at = ascend_device_row(r, device, "Communication", buf_str(&text));
        buf_fini(&text);
    }
    r->failed |= !at || *at == UINT32_MAX;
    return at ? *at : UINT32_MAX;
}

/* The ranks of a group, looked up once. */
static uint32_t ranks_of(reader *r, uint32_t group, str short_name) {
    uint32_t *at = map_at(&r->group_ranks, group);
    if (at && *at == MAP_NONE) {
        str one = json_member(buf_str(&r->groups), intern_get(r->strings, group));
        str ranks = json_member(one, STR("global_ranks"));
        if (!ranks.n && short_name.n) ranks = cann_group_ranks(r->tables, short_name);
        *at = ascend_string(r, ranks);
    }
    r->failed |= !at;
    return at ? *at : 0;
}

static int64_t count_of(str list) {
    int64_t n = 0;
    json_iter it = json_open(list);
    str key, value;
    while (list.n && json_next(&it, &key, &value)) n++;
    return n ? n : ABSENT_I64;
}

static uint32_t type_of(reader *r, db_rows *row) {
    uint32_t word = map_get(&r->data_types, (uint64_t)ascend_int(row, DATA_TYPE));
    str type = word == MAP_NONE ? STR_NONE : intern_get(r->strings, word);
    bool none = !type.n || str_eq(type, STR("N/A")) || str_eq(type, STR("INVALID_TYPE")) ||
                str_eq(type, STR("RESERVED"));
    return none ? 0 : ascend_string(r, hcom_type(type));
}

static status put_comm(reader *r, db_rows *row, uint32_t name, uint32_t group) {
    str text = intern_get(r->strings, name), kind;
    hcom_name hcom = {.op = text, .sequence = ABSENT_I64};
    bool known = text.n < MOST_NAME_BYTES && hcom_parse(text, &hcom);
    kind = intern_get(r->strings, ascend_name(r, row, OP_TYPE));
    while (kind.n && kind.p[kind.n - 1] == '_') kind.n--; /* hcom_broadcast_ */
    int64_t n = ascend_id(row, COUNT);
    raw_comm c = {.slice = part_next_slice(r->part),
                  .name = ascend_string(r, known || !kind.n ? hcom.op : kind),
                  .group_name = group,
                  .group_ranks = ranks_of(r, group, hcom.group),
                  .sequence = hcom.sequence,
                  .comms_id = ABSENT_I64,
                  .in_elements = n >= 0 ? n : ABSENT_I64,
                  .out_elements = n >= 0 ? n : ABSENT_I64,
                  .dtype = type_of(r, row),
                  .src = ABSENT_I32,
                  .dst = ABSENT_I32};
    c.group_size = count_of(intern_get(r->strings, c.group_ranks));
    return r->failed ? ERR_MEMORY : part_comm(r->part, &c);
}

static status take_collective(void *context, db_rows *row) {
    reader *r = context;
    raw_slice s = {.kind = KIND_KERNEL};
    if (!ascend_time(r, row, START, END, &s)) return OK;
    uint32_t group = ascend_name(r, row, GROUP);
    int64_t connection = ascend_id(row, OP_CONNECTION);
    raw_kernel k = begin_kernel(r, ascend_device(r, row, OP_DEVICE), connection);
    uint32_t *at =
        connection == ABSENT_I64 ? NULL : map_at(&r->collectives, (uint64_t)connection);
    r->failed |= connection != ABSENT_I64 && !at;
    if (at) *at = 0;
    s.name = ascend_name(r, row, OP_NAME);
    s.track = group_row(r, k.device, group);
    if (r->failed) return ERR_MEMORY;
    TRY(put_comm(r, row, s.name, group));
    TRY(part_kernel(r->part, &k, &s));
    return part_slice(r->part, &s);
}

status ascend_read_device(reader *r, error *err) {
    static const char *const pieces[] = {"globalTaskId", "name", "planeId", "taskType", "size"};
    static const char *const schedule[] = {"globalTaskId", "name"};
    static const char *const copies[] = {"globalTaskId", "size", "memcpyOperation"};
    static const char *const metrics[] = {"globalTaskId", "name", "value"};
    static const char *const tasks[] = {"startNs",      "endNs",        "deviceId",
                                        "connectionId", "globalTaskId", "taskType",
                                        "streamId",     "taskId",       "modelId"};
    static const char *const collectives[] = {"startNs",  "endNs",  "deviceId",  "connectionId",
                                              "opName",   "opType", "groupName", "count",
                                              "dataType", "algType"};
    static const db_reading tables[] = {
        {"TASK_PMU_INFO", metrics, N_OF(metrics), take_metric},
        {"COMPUTE_TASK_INFO", COMPUTE, N_OF(COMPUTE), take_compute},
        {"COMMUNICATION_SCHEDULE_TASK_INFO", schedule, N_OF(schedule), take_schedule},
        {"COMMUNICATION_TASK_INFO", pieces, N_OF(pieces), take_piece},
        {"MEMCPY_INFO", copies, N_OF(copies), take_copy},
        {"COMMUNICATION_OP", collectives, N_OF(collectives), take_collective},
        {"TASK", tasks, N_OF(tasks), take_task},
    };
    TRY(find_words(r, err));
    return db_each_table(r->db, tables, N_OF(tables), r, err);
}
