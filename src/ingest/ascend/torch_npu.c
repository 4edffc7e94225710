/* torch_npu.c: Kineto's dialect as torch_npu writes it, with what CANN's tables add to it.
 *
 *   kernel_details.csv    name and start of a task ──> its cells become arguments of the slice,
 *                         its blocks the grid
 *   Group N Communication hcom_allReduce__GROUP_SEQUENCE_N ──> a collective of that group; what
 *                         its planes do (Notify_Wait, Memcpy, …) is inside it and is not
 *                         counted again
 *   Ascend Hardware       a task with the connection of a collective waits or copies for it and
 *                         is a piece of it, too: found in a first pass over the file
 *   the other tables      memory, costs of collectives, links, facts of the run (cann_tables.h)
 *
 * Launches (HostToDevice), owners (async_npu), forward to backward and the overlap analysis are
 * Kineto's dialect's. */
#include "ingest/ascend/torch_npu.h"

#include "base/json.h"
#include "base/map.h"
#include "base/num.h"
#include "ingest/ascend/ascend_db.h"
#include "ingest/ascend/hcom.h"
#include "ingest/mindspore/cann_tables.h"
#include "ingest/pytorch/kineto_dialect.h"
#include "ingest/trace_events/trace_event.h"
#include "ingest/trace_events/trace_json.h"

/* A dialect that knows the tables; the sink's pointer to the first is one to the whole. */
typedef struct {
    dialect d;
    const cann_tables *tables;
    const map *collectives; /* connection → 0 */
} npu_dialect;

static const npu_dialect *npu_of(const event_sink *s) {
    return (const npu_dialect *)(const void *)s->dialect;
}

static str row_of(const event_sink *s, const event *e) {
    return cann_task(npu_of(s)->tables, intern_get(s->strings, e->name), e->ts_ns);
}

/* ---- tasks ------------------------------------------------------------------------------- */

/* The cells of the task's row, after the arguments of the event. */
static status add_cells(event_sink *s, const event *e, str cells, raw_slice *row) {
    raw_value values[MAX_VALUES];
    size_t n = e->n_values;
    json_iter it = json_open(cells);
    str key, value;
    if (n) memcpy(values, e->values, n * sizeof *values);
    uint32_t place = n ? values[n - 1].place : 0;
    while (n < MAX_VALUES && json_next(&it, &key, &value)) {
        uint32_t key_id = intern_add(s->strings, key);
        uint32_t text_id = intern_add(s->strings, json_text(value));
        place = key_id == UINT32_MAX ? 0 : builder_shape(s->b, place, key_id);
        if (!place || text_id == UINT32_MAX) return ERR_MEMORY;
        values[n++] = (raw_value){.place = place, .tag = VALUE_STRING, .v = text_id};
    }
    row->args = part_args(s->part, values, n);
    return OK;
}

/* ---- collectives ------------------------------------------------------------------------- */

/* The argument of the event under this key, NULL: it has none. */
static const raw_value *find_value(const event_sink *s, const event *e, str key) {
    for (size_t i = 0; i < e->n_values; i++)
        if (str_eq(intern_get(s->strings, e->keys[i]), key)) return &e->values[i];
    return NULL;
}

/* How much it moves: elements and their type. */
static status fill_size(event_sink *s, const event *e, raw_comm *c) {
    const raw_value *count = find_value(s, e, STR("count")),
                    *type = find_value(s, e, STR("data_type"));
    if (count && count->tag == VALUE_INT && count->v >= 0)
        c->in_elements = c->out_elements = count->v;
    if (type && type->tag == VALUE_STRING)
        c->dtype = intern_add(s->strings, hcom_type(intern_get(s->strings, (uint32_t)type->v)));
    return c->dtype == UINT32_MAX ? ERR_MEMORY : OK;
}

static status add_collective(event_sink *s, const event *e) {
    hcom_name hcom;
    if (!hcom_parse(intern_get(s->strings, e->name), &hcom)) return OK;
    str ranks = cann_group_ranks(npu_of(s)->tables, hcom.group);
    int64_t size = 0;
    json_iter it = json_open(ranks);
    str key, value;
    while (ranks.n && json_next(&it, &key, &value)) size++;
    raw_comm c = {.slice = part_next_slice(s->part),
                  .name = intern_add(s->strings, hcom.op),
                  .group_name = intern_add(s->strings, hcom.group),
                  .group_ranks = ranks.n ? intern_add(s->strings, ranks) : 0,
                  .group_size = size ? size : ABSENT_I64,
                  .sequence = hcom.sequence,
                  .comms_id = ABSENT_I64,
                  .in_elements = ABSENT_I64,
                  .out_elements = ABSENT_I64,
                  .src = ABSENT_I32,
                  .dst = ABSENT_I32};
    if (c.name == UINT32_MAX || c.group_name == UINT32_MAX || c.group_ranks == UINT32_MAX)
        return ERR_MEMORY;
    TRY(fill_size(s, e, &c));
    return part_comm(s->part, &c);
}

/* Is it a task that belongs to a collective, on a stream, and not the collective itself? Those
 * that compute are in the table of tasks. */
static bool is_piece(const event_sink *s, const event *e, str cells) {
    int64_t connection = event_int(s, e, FIELD_CONNECTION, ABSENT_I64);
    return !cells.n && connection != ABSENT_I64 && event_has(e, FIELD_TASK_TYPE) &&
           !str_starts(intern_get(s->strings, e->name), STR("hcom_")) &&
           map_get(npu_of(s)->collectives, (uint64_t)connection) != MAP_NONE;
}

static status set_piece(event_sink *s, const event *e, raw_slice *row) {
    uint32_t category = intern_add(s->strings, STR("communication_task"));
    if (category == UINT32_MAX) return ERR_MEMORY;
    row->category = builder_category(s->b, category);
    bool wait = kineto_task_kind(STR_NONE, intern_get(s->strings, e->name)) == KIND_SYNC;
    row->kind = wait ? KIND_SYNC : KIND_OTHER;
    return OK;
}

/* What a plane of a collective does has no category; its arguments tell it. Waits are known as
 * such; the rest is a part of the collective, which is counted as a whole. */
static status name_piece(event_sink *s, const event *e, raw_slice *row) {
    if (!find_value(s, e, STR("transport type")) && !find_value(s, e, STR("notify id")))
        return OK;
    return set_piece(s, e, row);
}

/* ---- hooks ------------------------------------------------------------------------------- */

static status fill_npu_slice(event_sink *s, const event *e, raw_slice *row) {
    if (row->kind == KIND_OTHER && !e->category) return name_piece(s, e, row);
    if (!kind_is_device(row->kind)) return OK;
    str cells = row_of(s, e);
    if (is_piece(s, e, cells)) return set_piece(s, e, row);
    if (cells.n) TRY(add_cells(s, e, cells, row));
    return row->kind == KIND_KERNEL ? add_collective(s, e) : OK;
}

static void fill_npu_kernel(event_sink *s, const event *e, raw_kernel *kernel) {
    int32_t device = cann_device(npu_of(s)->tables);
    int64_t blocks;
    kineto_fill_kernel(s, e, device < 0 ? 0 : device, kernel);
    str cells = row_of(s, e), text = json_text(json_member(cells, STR("Block Dim")));
    if (!text.n) text = json_text(json_member(cells, STR("Block Num")));
    if (str_to_i64(text, &blocks) && blocks > 0)
        kernel->grid[0] = sat_u32((uint64_t)blocks), kernel->grid[1] = kernel->grid[2] = 1;
}

/* ---- connections of collectives ---------------------------------------------------------- */

enum { FIRST_PASS_BYTES = 4 << 20, MOST_EVENT_BYTES = 2048 };

/* Of every event named hcom_… in the text, by the bytes after its name. */
static status scan_collectives(str text, map *out) {
    static const str name = STR("\"hcom_"), key = STR("\"connection_id\"");
    for (size_t at = 0; (at = str_find(text, name, at)) != SIZE_MAX; at++) {
        str rest = str_from(text, at + name.n);
        if (rest.n > MOST_EVENT_BYTES) rest.n = MOST_EVENT_BYTES;
        size_t next = str_find(rest, STR("\"name\""), 0), found = str_find(rest, key, 0);
        if (found == SIZE_MAX || found > next) continue;
        str value = str_trim(str_from(rest, found + key.n));
        int64_t connection;
        size_t n = 0;
        if (value.n && *value.p == ':') value = str_trim(str_from(value, 1));
        while (n < value.n && value.p[n] >= '0' && value.p[n] <= '9') n++;
        if (!str_to_i64(str_n(value.p, n), &connection)) continue;
        uint32_t *to = map_at(out, (uint64_t)connection);
        if (!to) return ERR_MEMORY;
        *to = 0;
    }
    return OK;
}

/* The first pass. What cannot be read twice (a pipe) goes without. */
static status find_collectives(const ingest_options *o, map *out, error *err) {
    source *s = NULL;
    status st = OK;
    if (!o->reopen) return OK;
    TRY(o->reopen(o->reopen_context, &s, err));
    for (size_t keep = 0; st == OK;) {
        piece pc;
        st = source_next(s, FIRST_PASS_BYTES, keep, &pc, err);
        if (st != OK || !pc.n) break;
        st = scan_collectives(str_n(pc.p, pc.n), out);
        keep = pc.n < MOST_EVENT_BYTES ? pc.n : MOST_EVENT_BYTES;
        source_release(s, &pc);
    }
    source_close(s);
    if (st == ERR_MEMORY) FAIL_MEMORY(err);
    return st;
}

status ingest_torch_npu(source *src, const ingest_options *o, builder *b, error *err) {
    cann_tables *tables = NULL;
    map collectives = {0};
    TRY(cann_tables_open(o, &tables, err));
    npu_dialect npu = {.d = *kineto_dialect(), .tables = tables, .collectives = &collectives};
    npu.d.hooks.fill_slice = fill_npu_slice;
    npu.d.hooks.fill_kernel = fill_npu_kernel;
    status st = find_collectives(o, &collectives, err);
    if (st == OK) st = ingest_trace_events(src, o, b, &npu.d, err);
    if (st == OK) st = cann_tables_put(tables, b, err);
    cann_tables_close(tables);
    map_fini(&collectives);
    return st;
}

/* ---- names and heads --------------------------------------------------------------------- */

bool torch_npu_folder_parse(str folder, str *worker, str *stamp) {
    static const str end = STR("_ascend_pt");
    if (folder.n <= end.n || !str_ends(folder, end)) return false;
    str stem = str_n(folder.p, folder.n - end.n);
    size_t n = stem.n;
    while (n && stem.p[n - 1] >= '0' && stem.p[n - 1] <= '9') n--;
    *stamp = n > 1 && n < stem.n && stem.p[n - 1] == '_' ? str_from(stem, n) : str_n("", 0);
    *worker = stamp->n ? str_n(stem.p, n - 1) : stem;
    return true;
}

bool torch_npu_rank_parse(str file, int64_t *rank) {
    static const str start = STR("profiler_info_"), end = STR(".json");
    if (!str_starts(file, start) || !str_ends(file, end) || file.n <= start.n + end.n)
        return false;
    str digits = str_n(file.p + start.n, file.n - start.n - end.n);
    return digits.p[0] >= '0' && digits.p[0] <= '9' && str_to_i64(digits, rank);
}

bool torch_npu_is_part(str file) {
    static const char *const names[] = {
        "trace_view.json",     "kernel_details.csv",        "operator_details.csv",
        "op_statistic.csv",    "api_statistic.csv",         "step_trace_time.csv",
        "communication.json",  "communication_matrix.json", "memory_record.csv",
        "operator_memory.csv", "npu_module_mem.csv",        "l2_cache.csv",
        "data_preprocess.csv", "profiler_metadata.json",    "profiler_info.json",
        "analysis.db",         "communication_analyzer.db"};
    int64_t rank;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(file, str_of(names[i]))) return true;
    return ascend_db_name(file) || torch_npu_rank_parse(file, &rank);
}

bool torch_npu_head(str head) {
    const char *end = head.p + head.n, *first = head.n ? json_space(head.p, end) : end;
    if (first == end || (*first != '[' && *first != '{')) return false;
    if (str_find(head, STR("\"torch_to_npu\""), 0) != SIZE_MAX) return true;
    bool framework = str_find(head, STR("\"aten::"), 0) != SIZE_MAX ||
                     str_find(head, STR("\"enqueue\""), 0) != SIZE_MAX;
    bool device = str_find(head, STR("\"Ascend Hardware\""), 0) != SIZE_MAX ||
                  str_find(head, STR("\"AscendCL@"), 0) != SIZE_MAX ||
                  str_find(head, STR("\"enqueue_to_dequeue\""), 0) != SIZE_MAX;
    return framework && device;
}
