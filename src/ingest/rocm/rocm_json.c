/* rocm_json.c: rocprofv3's JSON.
 *
 *     {"rocprofiler-sdk-tool": [                    a process each
 *         {"metadata", "agents", "kernel_symbols",
 *          "strings": {"buffer_records": [{"kind", "operations"}]},
 *          "buffer_records": {"kernel_dispatch": […], "hip_api": […], "memory_copy": […], …}}]}
 *
 * The numbers of kinds and operations differ from release to release, so names are always taken
 * from the strings of the same file. The file is held in memory: symbols may come after the
 * records that need them. */
#include "base/json.h"
#include "ingest/rocm/rocm_int.h"

enum { READ_BYTES = 4 << 20, EVENTS_BETWEEN_LOOKS = 4096 };

typedef struct {
    str kind;
    vec operations; /* str */
} kind_row;

typedef struct {
    rocm r;
    buf file, text;
    str process; /* object at hand */
    int64_t pid, number;
    map agents;  /* handle → device + 1; 0: not a GPU */
    map kernels; /* kernel id → names */
    vec names;   /* str: raw text of the string */
    map markers; /* correlation → names */
    vec kinds;   /* kind_row */
    bool cut;    /* the file ends before its end */
} reader;

bool rocm_json_head(str head) {
    if (!head.n) return false;
    const char *end = head.p + head.n, *p = json_space(head.p, end);
    str s = str_n(p, (size_t)(end - p) < 256 ? (size_t)(end - p) : 256);
    return s.n && *s.p == '{' && str_find(s, STR("\"rocprofiler-sdk-tool\""), 0) != SIZE_MAX;
}

static status load_file(reader *x, source *src, error *err) {
    const ingest_options *o = x->r.o;
    for (;;) {
        piece pc;
        TRY(source_next(src, o->piece_bytes ? o->piece_bytes : READ_BYTES, 0, &pc, err));
        if (pc.n == 0) break;
        buf_add(&x->file, pc.p, pc.n);
        source_release(src, &pc);
        if (!buf_ok(&x->file)) FAIL_MEMORY(err);
        if (o->memory_limit_bytes && x->file.n > o->memory_limit_bytes)
            FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT,
                 arg_bytes("limit", sat_i64(o->memory_limit_bytes)));
        if (o->progress && o->progress(o->progress_context, source_bytes_consumed(src) / 2,
                                       source_file_bytes(src)))
            FAIL0(err, ERR_CANCELLED, NOPOS, MSG_CANCELLED);
    }
    if (x->file.n == 0) FAIL0(err, ERR_FORMAT, 0, MSG_EMPTY_FILE);
    builder_set_input_bytes(x->r.b, x->file.n);
    if (source_damaged(src)) part_lost(x->r.part, CAUSE_STREAM_DAMAGED, x->file.n, 0);
    return OK;
}

/* ---- values ---- */

static int64_t number(str object, str key, int64_t otherwise) {
    int64_t v;
    return json_i64(json_member(object, key), &v) ? v : otherwise;
}

static int64_t handle(str object, str key) {
    return number(json_member(object, key), STR("handle"), ABSENT_I64);
}

/* A member of an object; of a cut file also one that has no end: what is there of it. Records
 * come last, so the last one of a name is meant. */
static str open_member(const reader *x, str object, str key) {
    str value = json_member(object, key);
    size_t at = SIZE_MAX;
    if (value.n || !x->cut) return value;
    for (size_t i = 0; (i = str_find(object, key, i)) != SIZE_MAX; i += key.n) {
        bool quoted = i > 0 && object.p[i - 1] == '"' && i + key.n < object.n &&
                      object.p[i + key.n] == '"';
        if (quoted) at = i + key.n + 1;
    }
    if (at == SIZE_MAX) return STR_NONE;
    size_t open = at;
    while (open < object.n && object.p[open] != '[' && object.p[open] != '{') open++;
    return open < object.n ? str_from(object, open) : STR_NONE;
}

/* The members of a record that mean something, found in one walk. */
enum {
    IN_START,
    IN_END,
    IN_THREAD,
    IN_KIND,
    IN_OPERATION,
    IN_CORRELATION,
    IN_STREAM,
    IN_DISPATCH,
    IN_BYTES,
    IN_TARGET,
    IN_SOURCE,
    IN_ADDRESS,
    IN_SIZE,
    IN_AGENT,
    IN_QUEUE,
    IN_KERNEL,
    IN_SHARED,
    IN_BLOCK,
    IN_GRID,
    N_IN
};

static void walk_members(str object, str found[N_IN]) {
    static const str keys[N_IN] = {STR("start_timestamp"),
                                   STR("end_timestamp"),
                                   STR("thread_id"),
                                   STR("kind"),
                                   STR("operation"),
                                   STR("correlation_id"),
                                   STR("stream_id"),
                                   STR("dispatch_info"),
                                   STR("bytes"),
                                   STR("dst_agent_id"),
                                   STR("src_agent_id"),
                                   STR("address"),
                                   STR("allocation_size"),
                                   STR("agent_id"),
                                   STR("queue_id"),
                                   STR("kernel_id"),
                                   STR("group_segment_size"),
                                   STR("workgroup_size"),
                                   STR("grid_size")};
    str key, value;
    json_iter it = json_open(object);
    while (json_next(&it, &key, &value))
        for (int i = 0; i < N_IN; i++)
            if (str_eq(key, keys[i])) {
                found[i] = value;
                break;
            }
}

static int64_t value_of(str value, int64_t otherwise) {
    int64_t v;
    return json_i64(value, &v) ? v : otherwise;
}

static int64_t handle_in(str value) {
    return number(value, STR("handle"), ABSENT_I64);
}

/* A string without its escapes, valid until the next call. */
static str decoded(reader *x, str value) {
    buf_clear(&x->text);
    (void)json_decode(json_text(value), &x->text);
    x->r.failed |= !buf_ok(&x->text);
    return buf_str(&x->text);
}

static int64_t correlation_of(const reader *x, str correlation) {
    int64_t id = number(correlation, STR("internal"), -1);
    bool fits = id >= 0 && id < (int64_t)1 << 40 && x->number < 1 << 22;
    return fits ? x->number << 40 | id : ABSENT_I64;
}

/* ---- names ---- */

static status remember(reader *x, map *m, int64_t key, str value) {
    uint32_t *at = map_at(m, (uint64_t)key);
    str *name = at ? vec_push(&x->names) : NULL;
    if (!name) return ERR_MEMORY;
    *name = value;
    *at = (uint32_t)(x->names.n - 1);
    return OK;
}

static str recall(const reader *x, const map *m, int64_t key) {
    uint32_t at = map_get(m, (uint64_t)key);
    return at == MAP_NONE ? STR_NONE : VEC(&x->names, str)[at];
}

static status read_symbols(reader *x) {
    str key, value;
    json_iter it = json_open(json_member(x->process, STR("kernel_symbols")));
    while (json_next(&it, &key, &value)) {
        str name = json_member(value, STR("formatted_kernel_name"));
        if (!name.n) name = json_member(value, STR("kernel_name"));
        TRY(remember(x, &x->kernels, number(value, STR("kernel_id"), -1), name));
    }
    return OK;
}

static status read_kinds(reader *x) {
    str key, value, strings = json_member(x->process, STR("strings"));
    json_iter it = json_open(json_member(strings, STR("buffer_records")));
    while (json_next(&it, &key, &value)) {
        kind_row *k = vec_push(&x->kinds);
        if (!k) return ERR_MEMORY;
        *k = (kind_row){.kind = json_text(json_member(value, STR("kind"))),
                        .operations = VEC_INIT(str)};
        str none, operation;
        json_iter list = json_open(json_member(value, STR("operations")));
        while (json_next(&list, &none, &operation)) {
            str *to = vec_push(&k->operations);
            if (!to) return ERR_MEMORY;
            *to = operation;
        }
    }
    it = json_open(json_member(strings, STR("marker_api")));
    while (json_next(&it, &key, &value))
        TRY(remember(x, &x->markers, number(value, STR("key"), -1),
                     json_member(value, STR("value"))));
    return OK;
}

static str operation_of(const reader *x, const str in[N_IN], str *domain) {
    int64_t kind = value_of(in[IN_KIND], -1), op = value_of(in[IN_OPERATION], -1);
    *domain = STR_NONE;
    if (kind < 0 || kind >= (int64_t)x->kinds.n) return STR_NONE;
    const kind_row *k = &VEC(&x->kinds, kind_row)[kind];
    *domain = k->kind;
    return op >= 0 && op < (int64_t)k->operations.n ? VEC(&k->operations, str)[op] : STR_NONE;
}

/* ---- agents ---- */

/* Processes of one machine see the same GPUs: those of the first are told. */
static status read_gpu(reader *x, str agent, int32_t *device, error *err) {
    str name = json_member(agent, STR("product_name"));
    int64_t waves = number(agent, STR("max_waves_per_simd"), 0);
    if (x->number > 0) {
        *device = x->r.n_gpus++;
        return OK;
    }
    if (json_text(name).n == 0) name = json_member(agent, STR("name"));
    waves = waves > 0 && waves < 1024
                ? waves * min_i64(1024, number(agent, STR("simd_per_cu"), 0))
                : 0;
    return rocm_put_device(&x->r, decoded(x, name), number(agent, STR("cu_count"), 0),
                           number(agent, STR("wave_front_size"), 0), waves, agent, device, err);
}

static status read_agents(reader *x, error *err) {
    str key, value;
    json_iter it = json_open(json_member(x->process, STR("agents")));
    while (json_next(&it, &key, &value)) {
        int32_t device = -1;
        int64_t id = handle(value, STR("id"));
        if (number(value, STR("type"), 0) == 2) TRY(read_gpu(x, value, &device, err));
        uint32_t *at = map_at(&x->agents, (uint64_t)id);
        if (!at) FAIL_MEMORY(err);
        *at = (uint32_t)(device + 1);
    }
    return OK;
}

static int32_t device_of(const reader *x, int64_t agent) {
    uint32_t at = map_get(&x->agents, (uint64_t)agent);
    return at == MAP_NONE || at == 0 ? ABSENT_I32 : (int32_t)at - 1;
}

/* ---- records ---- */

static void three(str size, int64_t out[3]) {
    static const str axes[] = {STR("x"), STR("y"), STR("z")};
    for (int i = 0; i < 3; i++) out[i] = number(size, axes[i], 0);
}

static status take_dispatch(reader *x, const str in[N_IN]) {
    rocm_work w = ROCM_WORK_NONE;
    str info[N_IN] = {{0}};
    walk_members(in[IN_DISPATCH], info);
    w.kind = KIND_KERNEL;
    w.start = value_of(in[IN_START], ABSENT_I64);
    w.end = value_of(in[IN_END], ABSENT_I64);
    w.device = device_of(x, handle_in(info[IN_AGENT]));
    if (w.device == ABSENT_I32) w.device = 0;
    w.queue = handle_in(info[IN_QUEUE]);
    w.stream = handle_in(in[IN_STREAM]);
    w.correlation = correlation_of(x, in[IN_CORRELATION]);
    w.shared_memory = value_of(info[IN_SHARED], ABSENT_I64);
    three(info[IN_GRID], w.grid);
    three(info[IN_BLOCK], w.block);
    w.name = decoded(x, recall(x, &x->kernels, value_of(info[IN_KERNEL], -1)));
    return rocm_put_work(&x->r, &w);
}

static status take_copy(reader *x, const str in[N_IN]) {
    rocm_work w = ROCM_WORK_NONE;
    str domain;
    w.kind = KIND_MEMCPY;
    w.start = value_of(in[IN_START], ABSENT_I64);
    w.end = value_of(in[IN_END], ABSENT_I64);
    w.device = device_of(x, handle_in(in[IN_TARGET]));
    if (w.device == ABSENT_I32) w.device = device_of(x, handle_in(in[IN_SOURCE]));
    if (w.device == ABSENT_I32) w.device = 0;
    w.stream = handle_in(in[IN_STREAM]);
    w.correlation = correlation_of(x, in[IN_CORRELATION]);
    w.bytes = value_of(in[IN_BYTES], ABSENT_I64);
    w.name = rocm_copy_name(json_text(operation_of(x, in, &domain)));
    return rocm_put_work(&x->r, &w);
}

static status take_call(reader *x, const str in[N_IN]) {
    rocm_call c = ROCM_CALL_NONE;
    str name = operation_of(x, in, &c.domain);
    c.start = value_of(in[IN_START], ABSENT_I64);
    c.end = value_of(in[IN_END], ABSENT_I64);
    c.pid = x->pid;
    c.tid = value_of(in[IN_THREAD], 0);
    c.correlation = correlation_of(x, in[IN_CORRELATION]);
    if (str_starts(c.domain, STR("MARKER_"))) {
        str text = recall(x, &x->markers, number(in[IN_CORRELATION], STR("internal"), -1));
        if (text.n) name = text;
    }
    c.name = decoded(x, name);
    return rocm_put_call(&x->r, &c);
}

/* "0x7f00" or a number. */
static int64_t address_of(str value) {
    str text = json_text(value);
    uint64_t v = 0;
    if (!str_starts(text, STR("0x"))) return value_of(value, 0);
    for (size_t i = 2; i < text.n && i < 18; i++) {
        char c = (char)(text.p[i] | 0x20);
        v = v << 4 | (uint64_t)(c <= '9' ? c & 15 : (c - 'a' + 10) & 15);
    }
    return (int64_t)v;
}

static status take_allocation(reader *x, const str in[N_IN]) {
    str domain, operation = json_text(operation_of(x, in, &domain));
    bool release = str_find(operation, STR("FREE"), 0) != SIZE_MAX;
    return rocm_put_memory(&x->r, value_of(in[IN_START], ABSENT_I64),
                           address_of(in[IN_ADDRESS]), value_of(in[IN_SIZE], 0),
                           device_of(x, handle_in(in[IN_AGENT])), release, x->pid);
}

typedef status take_function(reader *x, const str in[N_IN]);

static take_function *taker_of(str list) {
    if (str_eq(list, STR("kernel_dispatch"))) return take_dispatch;
    if (str_eq(list, STR("memory_copy"))) return take_copy;
    if (str_eq(list, STR("memory_allocation"))) return take_allocation;
    return str_ends(list, STR("_api")) ? take_call : NULL;
}

static status look_around(reader *x, error *err) {
    const ingest_options *o = x->r.o;
    if (x->r.n_events % EVENTS_BETWEEN_LOOKS) return OK;
    if (o->memory_limit_bytes && builder_size_bytes(x->r.b) + x->file.n > o->memory_limit_bytes)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT,
             arg_bytes("limit", sat_i64(o->memory_limit_bytes)));
    if (o->progress && o->progress(o->progress_context, x->file.n / 2, x->file.n))
        FAIL0(err, ERR_CANCELLED, NOPOS, MSG_CANCELLED);
    return OK;
}

/* The records of one list; *any: there are some, and nothing here reads them. */
static status read_list(reader *x, str list, str records, bool *any, error *err) {
    str key, record;
    take_function *take = taker_of(list);
    json_iter it = json_open(records);
    while (json_next(&it, &key, &record)) {
        *any = !take;
        if (!take) break;
        str in[N_IN] = {{0}};
        walk_members(record, in);
        if (take(x, in) != OK || x->r.failed) FAIL_MEMORY(err);
        TRY(look_around(x, err));
    }
    return OK;
}

static status read_lists(reader *x, buf *unread, error *err) {
    str list, records;
    json_iter lists = json_open(json_member(x->process, STR("buffer_records")));
    while (json_next(&lists, &list, &records)) {
        bool any = false;
        TRY(read_list(x, list, records, &any, err));
        if (!any) continue;
        if (unread->n) buf_add_cstr(unread, ", ");
        buf_add_str(unread, list);
    }
    return OK;
}

/* The lists that a cut file has, whole or in part. */
static status read_cut_lists(reader *x, error *err) {
    static const str lists[] = {STR("kernel_dispatch"),  STR("hip_api"),  STR("hsa_api"),
                                STR("marker_api"),       STR("rccl_api"), STR("memory_copy"),
                                STR("memory_allocation")};
    str all = open_member(x, x->process, STR("buffer_records"));
    bool any;
    for (size_t i = 0; i < N_OF(lists); i++)
        TRY(read_list(x, lists[i], open_member(x, all, lists[i]), &any, err));
    return OK;
}

static status read_records(reader *x, error *err) {
    buf unread = {0};
    bool whole = json_member(x->process, STR("buffer_records")).n > 0;
    status st = whole ? read_lists(x, &unread, err) : read_cut_lists(x, err);
    x->r.failed |= !buf_ok(&unread);
    if (st == OK && unread.n) st = rocm_put_fact(&x->r, "not_read", buf_str(&unread), err);
    buf_fini(&unread);
    return st;
}

static void forget_process(reader *x) {
    for (size_t i = 0; i < x->kinds.n; i++) vec_fini(&VEC(&x->kinds, kind_row)[i].operations);
    vec_fini(&x->kinds);
    vec_fini(&x->names);
    map_fini(&x->agents);
    map_fini(&x->kernels);
    map_fini(&x->markers);
    x->agents = x->kernels = x->markers = (map){0};
    x->kinds = VEC_INIT(kind_row);
    x->names = VEC_INIT(str);
}

static status read_process(reader *x, error *err) {
    str metadata = json_member(x->process, STR("metadata")), key, command;
    x->pid = number(metadata, STR("pid"), x->number);
    x->r.n_gpus = 0;
    TRY(read_agents(x, err));
    if (read_symbols(x) != OK || read_kinds(x) != OK) FAIL_MEMORY(err);
    TRY(read_records(x, err));
    json_iter it = json_open(json_member(metadata, STR("command")));
    if (json_next(&it, &key, &command) &&
        rocm_name_process(&x->r, x->pid, decoded(x, command)) != OK)
        FAIL_MEMORY(err);
    str host = json_member(json_member(metadata, STR("node")), STR("hostname"));
    return host.n && x->number == 0 ? rocm_put_fact(&x->r, "host_name", decoded(x, host), err)
                                    : OK;
}

static status read_next_process(reader *x, error *err) {
    status st = read_process(x, err);
    forget_process(x);
    x->number++;
    return st;
}

static status read_all(reader *x, source *src, error *err) {
    str key;
    TRY(load_file(x, src, err));
    str whole = buf_str(&x->file), tool = json_member(whole, STR("rocprofiler-sdk-tool"));
    if (!tool.n && rocm_json_head(whole)) {
        /* Cut: the value has no end. What is whole in it is read. */
        size_t at = str_find(whole, STR("["), 0);
        if (at != SIZE_MAX) tool = str_from(whole, at);
        x->cut = true;
        part_lost(x->r.part, CAUSE_TRUNCATED, x->file.n, 0);
    }
    json_iter it = json_open(tool);
    const char *rest = tool.p;
    while (json_next(&it, &key, &x->process)) {
        rest = x->process.p + x->process.n;
        TRY(read_next_process(x, err));
    }
    if (!x->cut || !rest) return OK;
    while (rest < whole.p + whole.n && *rest != '{') rest++;
    x->process = str_n(rest, (size_t)(whole.p + whole.n - rest));
    return x->process.n ? read_next_process(x, err) : OK;
}

status ingest_rocm_json(source *src, const ingest_options *o, builder *b, error *err) {
    reader x = {.r = {.b = b, .part = builder_part(b), .strings = builder_strings(b), .o = o},
                .names = VEC_INIT(str),
                .kinds = VEC_INIT(kind_row)};
    if (!x.r.part) FAIL_MEMORY(err);
    status st = read_all(&x, src, err);
    part_finish(x.r.part);
    builder_set_format(b, "rocprof");
    forget_process(&x);
    buf_fini(&x.file);
    buf_fini(&x.text);
    return st;
}
