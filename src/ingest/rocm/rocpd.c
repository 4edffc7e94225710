/* rocpd.c: rocprofv3's database.
 *
 * The tables of a process end in its id: rocpd_region_8f0…; a merged file has several sets.
 * Numbers in columns named pid, tid, agent_id, queue_id and stream_id are rows of the info
 * tables, not those of the system. Times are in the rows themselves, or in newer files rows of
 * rocpd_timestamp, with the place of an event in rocpd_track. A call launched a kernel when
 * their events have the same stack; where nothing was recorded of that one, as of the inside of
 * a graph's launch, the one around it counts. */
#include "ingest/rocm/rocm_int.h"
#include "ingest/sqlite/database.h"

/* What a row of an info table stands for. */
typedef struct {
    int64_t value; /* pid, tid or number of a device */
    int64_t owner; /* process of a thread */
} info_row;

typedef struct {
    uint32_t category;     /* string id */
    int64_t stack, around; /* around: the stack it is inside of */
} event_row;

typedef struct {
    int64_t pid, tid, agent, queue, stream;
} place_row;

/* Numbers of rows count from 1: most are found by their place, the others by a map. */
enum { MOST_LOW = 1 << 22 };
typedef struct {
    vec low; /* uint32_t: value + 1, 0: none */
    map high;
} id_map;

typedef struct {
    rocm r;
    database *db;
    str suffix;
    int64_t number;          /* of the set */
    id_map strings, symbols; /* id → string id */
    id_map processes, threads, agents, events, times, places;
    id_map called; /* stack of a call → 0 */
    vec infos, event_rows, time_rows, place_rows;
} reader;

bool rocpd_head(str head) {
    return str_starts(head, STR("SQLite format 3\0")) &&
           (str_find(head, STR("rocpd_metadata"), 0) != SIZE_MAX ||
            str_find(head, STR("rocpd_kernel_dispatch"), 0) != SIZE_MAX);
}

/* ---- tables ---- */

static status read_table(reader *x, const char *table, const char *const *columns, size_t n,
                         db_row_function *take, error *err) {
    buf name = {0};
    buf_add_cstr(&name, table);
    buf_add_str(&name, x->suffix);
    db_table t = {buf_str(&name), columns, n};
    status st = buf_ok(&name) ? db_each_row(x->db, &t, take, x, err)
                              : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    buf_fini(&name);
    return st;
}

static uint32_t id_get(const id_map *m, int64_t id) {
    if (id < 0 || id >= MOST_LOW) return map_get(&m->high, (uint64_t)id);
    if ((size_t)id >= m->low.n) return MAP_NONE;
    uint32_t value = VEC(&m->low, uint32_t)[id];
    return value ? value - 1 : MAP_NONE;
}

/* False when out of memory. */
static bool id_set(id_map *m, int64_t id, uint32_t value) {
    bool low = id >= 0 && id < MOST_LOW;
    uint32_t *at = low ? vec_at(&m->low, (size_t)id) : map_at(&m->high, (uint64_t)id);
    if (at) *at = low ? value + 1 : value;
    return at != NULL;
}

/* Row `id` of a table becomes the next of `rows`; NULL when out of memory. */
static void *remember(id_map *m, vec *rows, int64_t id) {
    return id_set(m, id, (uint32_t)rows->n) ? vec_push(rows) : NULL;
}

static const info_row *info_of(const reader *x, const id_map *m, int64_t id) {
    uint32_t at = id_get(m, id);
    return at == MAP_NONE ? NULL : &VEC(&x->infos, info_row)[at];
}

static status take_string(void *context, db_rows *row) {
    reader *x = context;
    uint32_t text = rocm_string(&x->r, db_text(row, 1));
    return id_set(&x->strings, db_int(row, 0, 0), text) ? OK : ERR_MEMORY;
}

static status take_symbol(void *context, db_rows *row) {
    reader *x = context;
    str name = db_text(row, 1);
    uint32_t text = rocm_string(&x->r, rocm_kernel_name(name.n ? name : db_text(row, 2)));
    return id_set(&x->symbols, db_int(row, 0, 0), text) ? OK : ERR_MEMORY;
}

static uint32_t name_of(const id_map *m, int64_t id) {
    uint32_t name = id_get(m, id);
    return name == MAP_NONE ? 0 : name;
}

static status take_process(void *context, db_rows *row) {
    reader *x = context;
    info_row *info = remember(&x->processes, &x->infos, db_int(row, 0, 0));
    if (!info) return ERR_MEMORY;
    *info = (info_row){.value = db_int(row, 1, 0)};
    return rocm_name_process(&x->r, info->value, db_text(row, 2));
}

static status take_thread(void *context, db_rows *row) {
    reader *x = context;
    const info_row *owner = info_of(x, &x->processes, db_int(row, 2, -1));
    int64_t pid = owner ? owner->value : 0;
    info_row *info = remember(&x->threads, &x->infos, db_int(row, 0, 0));
    if (!info) return ERR_MEMORY;
    *info = (info_row){.value = db_int(row, 1, 0), .owner = pid};
    return rocm_name_thread(&x->r, pid, info->value, db_text(row, 3));
}

static status take_agent(void *context, db_rows *row) {
    reader *x = context;
    int32_t device = ABSENT_I32;
    str name = db_text(row, 2);
    if (!name.n) name = db_text(row, 3);
    if (str_eq(db_text(row, 1), STR("GPU"))) {
        if (x->number == 0)
            TRY(rocm_put_device(&x->r, name, 0, 0, 0, db_text(row, 4), &device, NULL));
        else
            device = x->r.n_gpus++;
    }
    info_row *info = remember(&x->agents, &x->infos, db_int(row, 0, 0));
    if (!info) return ERR_MEMORY;
    *info = (info_row){.value = device};
    return OK;
}

static status take_event(void *context, db_rows *row) {
    reader *x = context;
    uint32_t category = id_get(&x->strings, db_int(row, 1, -1));
    event_row *e = remember(&x->events, &x->event_rows, db_int(row, 0, 0));
    if (!e) return ERR_MEMORY;
    *e = (event_row){.category = category == MAP_NONE ? 0 : category,
                     .stack = db_int(row, 2, ABSENT_I64),
                     .around = db_int(row, 3, ABSENT_I64)};
    return OK;
}

static status take_time(void *context, db_rows *row) {
    reader *x = context;
    int64_t *ns = remember(&x->times, &x->time_rows, db_int(row, 0, 0));
    if (!ns) return ERR_MEMORY;
    *ns = db_int(row, 1, ABSENT_I64);
    return OK;
}

static status take_place(void *context, db_rows *row) {
    reader *x = context;
    place_row *p = remember(&x->places, &x->place_rows, db_int(row, 0, 0));
    if (!p) return ERR_MEMORY;
    *p = (place_row){db_int(row, 1, ABSENT_I64), db_int(row, 2, ABSENT_I64),
                     db_int(row, 3, ABSENT_I64), db_int(row, 4, ABSENT_I64),
                     db_int(row, 5, ABSENT_I64)};
    return OK;
}

/* ---- events ---- */

#define COMMON                                                                              \
    "start", "end", "start_id", "end_id", "track_id", "pid", "tid", "agent_id", "queue_id", \
        "stream_id", "event_id", "name_id"
enum {
    START,
    END,
    START_ID,
    END_ID,
    TRACK,
    PID,
    TID,
    AGENT,
    QUEUE,
    STREAM,
    EVENT,
    NAME,
    N_COMMON
};

static int64_t time_of(const reader *x, db_rows *row, int direct, int by_id) {
    int64_t ns = db_int(row, direct, ABSENT_I64);
    if (ns != ABSENT_I64) return ns;
    uint32_t at = id_get(&x->times, db_int(row, by_id, -1));
    return at == MAP_NONE ? ABSENT_I64 : VEC(&x->time_rows, int64_t)[at];
}

static void take_place_column(db_rows *row, int column, int64_t *to) {
    int64_t v = db_int(row, column, ABSENT_I64);
    if (v != ABSENT_I64) *to = v;
}

/* on_device: also where on a device it is. */
static place_row place_of(const reader *x, db_rows *row, bool on_device) {
    place_row p = {ABSENT_I64, ABSENT_I64, ABSENT_I64, ABSENT_I64, ABSENT_I64};
    uint32_t at = x->place_rows.n ? id_get(&x->places, db_int(row, TRACK, -1)) : MAP_NONE;
    if (at != MAP_NONE) p = VEC(&x->place_rows, place_row)[at];
    take_place_column(row, PID, &p.pid);
    take_place_column(row, TID, &p.tid);
    if (!on_device) return p;
    take_place_column(row, AGENT, &p.agent);
    take_place_column(row, QUEUE, &p.queue);
    take_place_column(row, STREAM, &p.stream);
    return p;
}

static const event_row *event_of(const reader *x, db_rows *row) {
    uint32_t at = id_get(&x->events, db_int(row, EVENT, -1));
    return at == MAP_NONE ? NULL : &VEC(&x->event_rows, event_row)[at];
}

static int64_t correlation_of(const reader *x, int64_t stack) {
    if (stack < 0 || stack >= (int64_t)1 << 40 || x->number >= 1 << 22) return ABSENT_I64;
    return x->number << 40 | stack;
}

static bool is_called(const reader *x, int64_t stack) {
    return stack > 0 && id_get(&x->called, stack) != MAP_NONE;
}

/* The stack of the call that asked for the work; calls are read before. */
static int64_t launching_stack(const reader *x, const event_row *e) {
    if (!e) return ABSENT_I64;
    return !is_called(x, e->stack) && is_called(x, e->around) ? e->around : e->stack;
}

static int32_t device_of(const reader *x, int64_t agent) {
    const info_row *info = info_of(x, &x->agents, agent);
    return info && info->value >= 0 ? (int32_t)info->value : ABSENT_I32;
}

static rocm_work begin_work(const reader *x, db_rows *row) {
    rocm_work w = ROCM_WORK_NONE;
    place_row p = place_of(x, row, true);
    w.start = time_of(x, row, START, START_ID);
    w.end = time_of(x, row, END, END_ID);
    w.device = device_of(x, p.agent);
    w.queue = p.queue;
    w.stream = p.stream;
    w.correlation = correlation_of(x, launching_stack(x, event_of(x, row)));
    return w;
}

enum { KERNEL = N_COMMON, GRID, BLOCK = GRID + 3, SHARED = BLOCK + 3 };

static status take_dispatch(void *context, db_rows *row) {
    reader *x = context;
    rocm_work w = begin_work(x, row);
    w.kind = KIND_KERNEL;
    if (w.device == ABSENT_I32) w.device = 0;
    for (int i = 0; i < 3; i++) {
        w.grid[i] = db_int(row, GRID + i, 0);
        w.block[i] = db_int(row, BLOCK + i, 0);
    }
    w.shared_memory = db_int(row, SHARED, ABSENT_I64);
    w.name = name_of(&x->symbols, db_int(row, KERNEL, -1));
    return rocm_put_work(&x->r, &w);
}

enum { TARGET = N_COMMON, SOURCE, SIZE };

static status take_copy(void *context, db_rows *row) {
    reader *x = context;
    rocm_work w = begin_work(x, row);
    int32_t to = device_of(x, db_int(row, TARGET, -1));
    int32_t from = device_of(x, db_int(row, SOURCE, -1));
    w.kind = KIND_MEMCPY;
    w.bytes = db_int(row, SIZE, ABSENT_I64);
    w.device = to != ABSENT_I32 ? to : from != ABSENT_I32 ? from : 0;
    bool on_gpu[2] = {from != ABSENT_I32, to != ABSENT_I32};
    w.name = rocm_string(&x->r, on_gpu[0] ? on_gpu[1] ? STR("Memcpy DtoD") : STR("Memcpy DtoH")
                                : on_gpu[1] ? STR("Memcpy HtoD")
                                            : STR("Memcpy HtoH"));
    return rocm_put_work(&x->r, &w);
}

static status take_region(void *context, db_rows *row) {
    reader *x = context;
    rocm_call c = ROCM_CALL_NONE;
    place_row p = place_of(x, row, false);
    const event_row *e = event_of(x, row);
    const info_row *thread = info_of(x, &x->threads, p.tid);
    const info_row *process = info_of(x, &x->processes, p.pid);
    c.start = time_of(x, row, START, START_ID);
    c.end = time_of(x, row, END, END_ID);
    c.pid = process ? process->value : thread ? thread->owner : 0;
    c.tid = thread ? thread->value : 0;
    c.name = name_of(&x->strings, db_int(row, NAME, -1));
    if (e) {
        x->r.failed |= e->stack > 0 && !id_set(&x->called, e->stack, 0);
        c.correlation = correlation_of(x, e->stack);
        c.domain = e->category;
    }
    return rocm_put_call(&x->r, &c);
}

enum { TYPE = N_COMMON, ADDRESS, BYTES };

static status take_allocation(void *context, db_rows *row) {
    reader *x = context;
    place_row p = place_of(x, row, true);
    const info_row *process = info_of(x, &x->processes, p.pid);
    return rocm_put_memory(&x->r, time_of(x, row, START, START_ID), db_int(row, ADDRESS, 0),
                           db_int(row, BYTES, 0), device_of(x, p.agent),
                           str_eq(db_text(row, TYPE), STR("FREE")),
                           process ? process->value : 0);
}

/* ---- sets of tables ---- */

static status read_names(reader *x, error *err) {
    static const char *const strings[] = {"id", "string"};
    static const char *const symbols[] = {"id", "display_name", "kernel_name"};
    static const char *const processes[] = {"id", "pid", "command"};
    static const char *const threads[] = {"id", "tid", "pid", "name"};
    static const char *const agents[] = {"id", "type", "product_name", "name", "extdata"};
    static const char *const events[] = {"id", "category_id", "stack_id", "parent_stack_id"};
    static const char *const times[] = {"id", "value"};
    static const char *const places[] = {"id",       "pid",      "tid",
                                         "agent_id", "queue_id", "stream_id"};
    static const db_reading tables[] = {
        {"rocpd_string", strings, N_OF(strings), take_string},
        {"rocpd_info_kernel_symbol", symbols, N_OF(symbols), take_symbol},
        {"rocpd_info_process", processes, N_OF(processes), take_process},
        {"rocpd_info_thread", threads, N_OF(threads), take_thread},
        {"rocpd_info_agent", agents, N_OF(agents), take_agent},
        {"rocpd_event", events, N_OF(events), take_event},
        {"rocpd_timestamp", times, N_OF(times), take_time},
        {"rocpd_track", places, N_OF(places), take_place},
    };
    x->r.n_gpus = 0;
    for (size_t i = 0; i < N_OF(tables); i++)
        TRY(read_table(x, tables[i].table, tables[i].columns, tables[i].n_columns,
                       tables[i].take, err));
    return OK;
}

static status read_events(reader *x, error *err) {
    static const char *const kernels[] = {COMMON,
                                          "kernel_id",
                                          "grid_size_x",
                                          "grid_size_y",
                                          "grid_size_z",
                                          "workgroup_size_x",
                                          "workgroup_size_y",
                                          "workgroup_size_z",
                                          "group_segment_size"};
    static const char *const copies[] = {COMMON, "dst_agent_id", "src_agent_id", "size"};
    static const char *const regions[] = {COMMON};
    static const char *const memory[] = {COMMON, "type", "address", "size"};
    TRY(read_table(x, "rocpd_region", regions, N_OF(regions), take_region, err));
    TRY(read_table(x, "rocpd_kernel_dispatch", kernels, N_OF(kernels), take_dispatch, err));
    TRY(read_table(x, "rocpd_memory_copy", copies, N_OF(copies), take_copy, err));
    return read_table(x, "rocpd_memory_allocate", memory, N_OF(memory), take_allocation, err);
}

static void forget_set(reader *x) {
    id_map *maps[] = {&x->strings, &x->symbols, &x->processes, &x->threads, &x->agents,
                      &x->events,  &x->times,   &x->places,    &x->called};
    vec *vecs[] = {&x->infos, &x->event_rows, &x->time_rows, &x->place_rows};
    for (size_t i = 0; i < N_OF(maps); i++) {
        vec_fini(&maps[i]->low);
        map_fini(&maps[i]->high);
        *maps[i] = (id_map){.low = VEC_INIT(uint32_t)};
    }
    for (size_t i = 0; i < N_OF(vecs); i++) vec_fini(vecs[i]);
    x->infos = VEC_INIT(info_row);
    x->event_rows = VEC_INIT(event_row);
    x->time_rows = VEC_INIT(int64_t);
    x->place_rows = VEC_INIT(place_row);
}

static status read_sets(reader *x, error *err) {
    static const str first = STR("rocpd_string");
    for (size_t i = 0; i < database_n_tables(x->db); i++) {
        str table = database_table(x->db, i);
        if (!str_starts(table, first)) continue;
        x->suffix = str_from(table, first.n);
        forget_set(x);
        TRY(read_names(x, err));
        TRY(read_events(x, err));
        x->number++;
    }
    return OK;
}

status ingest_rocpd(source *src, const ingest_options *o, builder *b, error *err) {
    reader x = {.r = rocm_begin(b, o)};
    if (!x.r.part) FAIL_MEMORY(err);
    forget_set(&x);
    status st = database_open(src, o, b, x.r.part, &x.db, err);
    if (st == OK) database_watch(x.db, &x.r.failed);
    if (st == OK) st = read_sets(&x, err);
    part_finish(x.r.part);
    builder_set_format(b, "rocprof");
    forget_set(&x);
    rocm_end(&x.r);
    database_close(x.db);
    return st;
}
