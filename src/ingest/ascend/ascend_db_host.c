/* ascend_db_host.c: what threads did: the framework's operators and queue, CANN's calls, ranges
 * of the program, steps.
 *
 *     PYTORCH_API ─ connectionId ─> CONNECTION_IDS.id ─ connectionId ─┬─> TASK: its work
 *                                                                     ├─> its backward operator
 *     CANN_API ─ connectionId ─> TASK: the launch                     └─> a row of the queue
 *
 * CANN's calls are on separate rows: their clock and the framework's differ by a little, and
 * what overlaps does not nest. */
#include <stdio.h>

#include "base/mem.h"
#include "base/sort.h"
#include "ingest/ascend/ascend_db_int.h"

/* ---- threads ---- */

/* globalTid = process << 32 | thread. */
static uint32_t thread_row(reader *r, int64_t global) {
    uint32_t *at = map_at(&r->threads, (uint64_t)global);
    if (at && *at == MAP_NONE)
        *at = part_track(r->part, (ident){global >> 32 & 0xffffffff, false},
                         (ident){global & 0xffffffff, false});
    r->failed |= !at || *at == UINT32_MAX;
    return at ? *at : UINT32_MAX;
}

/* The same thread in the process of CANN's rows. */
static uint32_t call_row(reader *r, int64_t global) {
    uint32_t *at = map_at(&r->call_threads, (uint64_t)global);
    if (at && *at == MAP_NONE) {
        char text[40];
        int n =
            snprintf(text, sizeof text, "CANN %lld", (long long)(global >> 32 & 0xffffffff));
        ident pid = {ascend_string(r, str_n(text, (size_t)n)), true};
        *at = part_track(r->part, pid, (ident){global & 0xffffffff, false});
        r->failed |= ascend_label(r, pid, IDENT_NONE, LABEL_PROCESS_NAME,
                                  ascend_string(r, STR("CANN"))) != OK;
    }
    r->failed |= !at || *at == UINT32_MAX;
    return at ? *at : UINT32_MAX;
}

/* ---- the framework ---- */

enum { START, END, THREAD, CONNECTION, NAME, TYPE, SEQUENCE, FORWARD, TYPES, SHAPES, CHAIN };

static slice_kind kind_of_api(str type, str name) {
    if (str_eq(type, STR("queue"))) return KIND_RUNTIME;
    if (str_eq(type, STR("trace"))) return KIND_PYTHON;
    if (str_starts(name, STR("ProfilerStep#"))) return KIND_STEP;
    if (str_starts(name, STR("enumerate(DataLoader)#"))) return KIND_DATA;
    if (str_starts(name, STR("Optimizer."))) return KIND_OPTIMIZER;
    return str_eq(type, STR("mstx")) ? KIND_ANNOTATION : KIND_OP;
}

/* "64,64;8" is what others write as [[64, 64], [8]]. */
static void write_shapes(str s, buf *out) {
    buf_add_cstr(out, "[[");
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == ';')
            buf_add_cstr(out, "], [");
        else if (s.p[i] == ',')
            buf_add_cstr(out, ", ");
        else if (s.p[i] != '"' && s.p[i] != ' ')
            buf_add_byte(out, s.p[i]);
    buf_add_cstr(out, "]]");
}

/* Each text is written once, however many operators have it. */
static uint32_t shapes_of(reader *r, uint32_t text) {
    str s = intern_get(r->strings, text);
    if (!s.n || s.p[0] == '[') return text;
    uint32_t *at = map_at(&r->shapes, text);
    if (at && *at == MAP_NONE) {
        buf out = {0};
        write_shapes(s, &out);
        *at = ascend_take_text(r, &out);
    }
    r->failed |= !at;
    return at ? *at : 0;
}

/* The number of the call that names it to its tasks: its place, from 1. */
static int64_t remember_api(reader *r, db_rows *row, const raw_slice *s) {
    int64_t id = ascend_id(row, CONNECTION);
    uint32_t *at = id == ABSENT_I64 ? NULL : map_at(&r->api_map, (uint64_t)id);
    r->failed |= id != ABSENT_I64 && !at;
    if (!at) return ABSENT_I64;
    *at = (uint32_t)r->apis.n;
    api_row *api = vec_push(&r->apis);
    r->failed |= !api;
    if (api) *api = (api_row){s->start, s->track, s->kind};
    return (int64_t)r->apis.n;
}

static status put_op(reader *r, db_rows *row, int64_t external, raw_slice *s) {
    uint32_t stack = map_get(&r->stacks, (uint64_t)ascend_id(row, CHAIN));
    raw_op op = {.external = external,
                 .sequence = ascend_id(row, SEQUENCE),
                 .forward_thread = ascend_id(row, FORWARD),
                 .types = ascend_name(r, row, TYPES),
                 .shapes = shapes_of(r, ascend_name(r, row, SHAPES)),
                 .call_stack = stack == MAP_NONE ? 0 : stack};
    if (op.sequence < 0) op.sequence = ABSENT_I64;
    return part_op(r->part, &op, s);
}

static status take_api(void *context, db_rows *row) {
    reader *r = context;
    raw_slice s = {0};
    int64_t thread = ascend_int(row, THREAD);
    if (!ascend_time(r, row, START, END, &s)) return OK;
    uint32_t type = map_get(&r->api_types, (uint64_t)ascend_int(row, TYPE));
    if (type == MAP_NONE) type = ascend_string(r, STR("op"));
    s.name = ascend_name(r, row, NAME);
    s.kind = (uint8_t)kind_of_api(intern_get(r->strings, type), intern_get(r->strings, s.name));
    s.track = thread_row(r, thread == ABSENT_I64 ? 0 : thread);
    if (type != r->api_type) r->api_category = builder_category(r->b, type);
    r->api_type = type;
    s.category = r->api_category;
    r->torch = true;
    r->steps |= s.kind == KIND_STEP;
    int64_t external = remember_api(r, row, &s);
    raw_call call = {.correlation = ABSENT_I64, .external = ABSENT_I64};
    if (r->failed) return ERR_MEMORY;
    if (s.kind == KIND_OP) TRY(put_op(r, row, external, &s));
    if (s.kind == KIND_RUNTIME) TRY(part_call(r->part, &call, &s));
    return part_slice(r->part, &s);
}

/* ---- connections of the framework's calls ---- */

static status take_connection(void *context, db_rows *row) {
    reader *r = context;
    uint32_t api = map_get(&r->api_map, (uint64_t)ascend_id(row, 0));
    int64_t id = ascend_id(row, 1);
    part_count(r->part, 1, 0);
    if (api == MAP_NONE || id == ABSENT_I64) return OK;
    uint32_t *at = map_at(&r->connection_map, (uint64_t)id);
    if (!at) return ERR_MEMORY;
    if (*at == MAP_NONE) {
        *at = (uint32_t)r->connections.n;
        connection_row *c = vec_push(&r->connections);
        if (!c) return ERR_MEMORY;
        *c = (connection_row){id, api, MAP_NONE};
        return OK;
    }
    connection_row *c = &VEC(&r->connections, connection_row)[*at];
    if (c->first != api && c->second == MAP_NONE) c->second = api;
    return OK;
}

static status put_arrow(reader *r, const connection_row *c, const api_row *from,
                        const api_row *to) {
    bool ops = from->kind == KIND_OP;
    uint32_t name = ascend_string(r, ops ? STR("fwdbwd") : STR("async_task_queue"));
    raw_arrow a = {.id = c->id,
                   .name = name,
                   .scope = name,
                   .category = builder_category(r->b, name),
                   .kind = ops ? FLOW_FORWARD_BACKWARD : FLOW_OTHER};
    for (int end = 0; end < 2; end++) {
        const api_row *api = end ? to : from;
        a.time = api->start;
        a.track = api->track;
        a.offset = ++r->n_events;
        a.phase = end ? 'f' : 's';
        if (r->failed) return ERR_MEMORY;
        TRY(part_arrow(r->part, &a));
    }
    return OK;
}

/* Two calls with one connection, the earlier one leads to the later one: an operator to its
 * backward, the queue's front to its end. An operator and the queue share that of a task. */
static status put_arrows(reader *r, error *err) {
    for (size_t i = 0; i < r->connections.n; i++) {
        const connection_row *c = &VEC(&r->connections, connection_row)[i];
        if (c->second == MAP_NONE) continue;
        const api_row *a = &VEC(&r->apis, api_row)[c->first],
                      *b = &VEC(&r->apis, api_row)[c->second];
        bool known = a->kind == KIND_OP || a->kind == KIND_RUNTIME;
        if (a->kind != b->kind || !known) continue;
        if (put_arrow(r, c, a->start <= b->start ? a : b, a->start <= b->start ? b : a) != OK)
            FAIL_MEMORY(err);
    }
    return OK;
}

/* ---- call chains ---- */

/* At most this much of one chain is kept, and of all together: a small file may spell endless
 * ones. */
enum { MOST_CHAIN_BYTES = 16 << 10, MOST_CHAINS_BYTES = 256 << 20 };

static status take_frame(void *context, db_rows *row) {
    reader *r = context;
    chain_row c = {ascend_id(row, 0), ascend_id(row, 2), ascend_name(r, row, 1)};
    if (c.id == ABSENT_I64 || !c.frame) return OK;
    chain_row *to = vec_push(&r->chains);
    if (!to) return ERR_MEMORY;
    *to = c;
    return OK;
}

static int cmp_frames(uint32_t a, uint32_t b, const void *context) {
    const chain_row *x = (const chain_row *)context + a, *y = (const chain_row *)context + b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* The frames of one chain, from order[i], joined; where the next one begins. */
static size_t join_chain(reader *r, const uint32_t *order, size_t i, size_t *n_bytes) {
    const chain_row *rows = VEC(&r->chains, chain_row);
    int64_t id = rows[order[i]].id;
    buf text = {0};
    for (; i < r->chains.n && rows[order[i]].id == id; i++) {
        str frame = intern_get(r->strings, rows[order[i]].frame);
        if (text.n + frame.n > MOST_CHAIN_BYTES || *n_bytes > MOST_CHAINS_BYTES) continue;
        if (text.n) buf_add_byte(&text, ';');
        buf_add_str(&text, frame);
    }
    *n_bytes += text.n;
    uint32_t *at = map_at(&r->stacks, (uint64_t)id);
    r->failed |= !at;
    uint32_t joined = ascend_take_text(r, &text);
    if (at) *at = joined;
    return i;
}

/* The innermost frame of a chain has the smallest depth. */
static status join_chains(reader *r, error *err) {
    size_t n = r->chains.n, n_bytes = 0;
    uint32_t *order = n < MAP_NONE ? mem_alloc(2 * (n + 1) * sizeof *order) : NULL;
    if (!order) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    sort_index(order, order + n, n, cmp_frames, r->chains.p);
    for (size_t i = 0; i < n && !r->failed;) i = join_chain(r, order, i, &n_bytes);
    mem_free(order);
    if (r->failed) FAIL_MEMORY(err);
    return OK;
}

/* ---- CANN ---- */

static void write_call(str level, str name, buf *out) {
    static const struct {
        str level, word;
    } words[] = {{STR("acl"), STR("AscendCL@")},
                 {STR("model"), STR("Model@")},
                 {STR("node"), STR("Node@")},
                 {STR("communication"), STR("Communication@")},
                 {STR("runtime"), STR("Runtime@")}};
    bool whole = str_find(name, STR("@"), 0) != SIZE_MAX;
    for (size_t i = 0; i < N_OF(words) && !whole; i++)
        if (str_eq(level, words[i].level)) buf_add_str(out, words[i].word);
    buf_add_str(out, name);
}

/* "launch" of the level node is "Node@launch" in the timelines. */
static uint32_t call_name(reader *r, uint32_t level, uint32_t name) {
    uint32_t *at = map_at(&r->call_names, (uint64_t)level << 32 | name);
    if (at && *at == MAP_NONE) {
        buf text = {0};
        write_call(intern_get(r->strings, level), intern_get(r->strings, name), &text);
        *at = ascend_take_text(r, &text);
    }
    r->failed |= !at;
    return at ? *at : 0;
}

static status take_call(void *context, db_rows *row) {
    reader *r = context;
    raw_slice s = {.kind = KIND_RUNTIME};
    int64_t thread = ascend_int(row, THREAD), id = ascend_id(row, CONNECTION);
    if (!ascend_time(r, row, START, END, &s)) return OK;
    uint32_t level = map_get(&r->api_types, (uint64_t)ascend_int(row, TYPE));
    s.name = call_name(r, level == MAP_NONE ? 0 : level, ascend_name(r, row, NAME));
    s.track = call_row(r, thread == ABSENT_I64 ? 0 : thread);
    uint32_t *at = id == ABSENT_I64 ? NULL : map_at(&r->calls, (uint64_t)id);
    if (at) *at = 0;
    raw_call call = {.correlation = id, .external = ABSENT_I64};
    if (r->failed || (id != ABSENT_I64 && !at)) return ERR_MEMORY;
    TRY(part_call(r->part, &call, &s));
    return part_slice(r->part, &s);
}

/* ---- ranges of the program, the operating system, garbage collection ---- */

static status take_range(reader *r, db_rows *row, slice_kind kind, const char *category,
                         uint32_t name) {
    raw_slice s = {.kind = (uint8_t)kind, .name = name};
    int64_t thread = ascend_int(row, THREAD);
    if (!ascend_time(r, row, START, END, &s)) return OK;
    s.track = thread_row(r, thread == ABSENT_I64 ? 0 : thread);
    s.category = builder_category(r->b, ascend_string(r, str_of(category)));
    return r->failed ? ERR_MEMORY : part_slice(r->part, &s);
}

static status take_mark(void *context, db_rows *row) {
    reader *r = context;
    uint32_t name = ascend_name(r, row, NAME);
    bool step = str_starts(intern_get(r->strings, name), STR("ProfilerStep#"));
    r->steps |= step;
    return take_range(r, row, step ? KIND_STEP : KIND_ANNOTATION, "mstx", name);
}

static status take_system(void *context, db_rows *row) {
    reader *r = context;
    return take_range(r, row, KIND_OTHER, "os_runtime", ascend_name(r, row, NAME));
}

static status take_collection(void *context, db_rows *row) {
    reader *r = context;
    return take_range(r, row, KIND_OTHER, "gc", ascend_string(r, STR("garbage collection")));
}

/* ---- steps ---- */

/* Only where no range says so: the same steps are ranges of PyTorch's. */
static status take_step(void *context, db_rows *row) {
    reader *r = context;
    raw_slice s = {.kind = KIND_STEP};
    char text[48];
    if (!ascend_time(r, row, 0, 1, &s)) return OK;
    int n = snprintf(text, sizeof text, "ProfilerStep#%lld",
                     (long long)max_i64(0, ascend_int(row, 2)));
    s.name = ascend_string(r, str_n(text, (size_t)n));
    s.track =
        part_track(r->part, (ident){ascend_string(r, STR("steps")), true}, (ident){0, false});
    return r->failed || s.track == UINT32_MAX ? ERR_MEMORY : part_slice(r->part, &s);
}

status ascend_read_host(reader *r, error *err) {
    static const char *const apis[] = {
        "startNs",        "endNs",       "globalTid",   "connectionId", "name",       "type",
        "sequenceNumber", "fwdThreadId", "inputDtypes", "inputShapes",  "callchainId"};
    static const char *const calls[] = {"startNs",      "endNs", "globalTid",
                                        "connectionId", "name",  "type"};
    static const char *const marks[] = {"startNs", "endNs", "globalTid", "connectionId",
                                        "message"};
    static const char *const plain[] = {"startNs", "endNs", "globalTid", "connectionId",
                                        "name"};
    static const char *const chains[] = {"id", "stack", "stackDepth"};
    static const char *const connections[] = {"id", "connectionId"};
    static const char *const steps[] = {"startNs", "endNs", "id"};
    TRY(ascend_table(r, "PYTORCH_CALLCHAINS", chains, N_OF(chains), take_frame, err));
    TRY(join_chains(r, err));
    TRY(ascend_table(r, "PYTORCH_API", apis, N_OF(apis), take_api, err));
    TRY(ascend_table(r, "CONNECTION_IDS", connections, N_OF(connections), take_connection,
                     err));
    TRY(put_arrows(r, err));
    TRY(ascend_table(r, "CANN_API", calls, N_OF(calls), take_call, err));
    TRY(ascend_table(r, "MSTX_EVENTS", marks, N_OF(marks), take_mark, err));
    TRY(ascend_table(r, "OSRT_API", plain, N_OF(plain), take_system, err));
    TRY(ascend_table(r, "GC_RECORD", plain, N_OF(plain), take_collection, err));
    return r->steps ? OK : ascend_table(r, "STEP_TIME", steps, N_OF(steps), take_step, err);
}
