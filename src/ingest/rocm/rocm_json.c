/* rocm_json.c: rocprofv3's JSON.
 *
 *     {"rocprofiler-sdk-tool": [                    a process each
 *         {"metadata", "agents", "kernel_symbols",
 *          "strings": {"buffer_records": [{"kind", "operations"}]},
 *          "buffer_records": {"kernel_dispatch": […], "hip_api": […], "memory_copy": […], …}}]}
 *
 * The numbers of kinds and operations differ from release to release, so names are always taken
 * from the strings of the same file. The file is held in memory: symbols may come after the
 * records that need them. Each byte is walked over once: values are read where they stand, and
 * only those that are read later are skipped first. A file that is cut is one whose values have
 * no end: what is whole in it is read. */
#include "base/json.h"
#include "ingest/rocm/rocm_int.h"
#include "ingest/util/whole_input.h"

enum { EVENTS_BETWEEN_LOOKS = 4096 };

typedef struct {
    uint32_t kind; /* string id */
    bool marker;
    vec operations; /* uint32_t: string ids */
} kind_row;

/* A kernel of the program: most of them are never launched, and their names are long. */
typedef struct {
    str text;    /* its name as the file has it */
    uint32_t id; /* string id, MAP_NONE until it is asked for */
} symbol_row;

typedef struct {
    rocm r;
    buf file, text, unread;
    int64_t pid, number;
    map agents;  /* handle → device + 1; 0: not a GPU */
    map kernels; /* kernel id → symbols */
    vec symbols; /* symbol_row */
    map markers; /* correlation → string id */
    vec kinds;   /* kind_row */
} reader;

bool rocm_json_head(str head) {
    if (!head.n) return false;
    const char *end = head.p + head.n, *p = json_space(head.p, end);
    str s = str_n(p, (size_t)(end - p) < 256 ? (size_t)(end - p) : 256);
    return s.n && *s.p == '{' && str_find(s, STR("\"rocprofiler-sdk-tool\""), 0) != SIZE_MAX;
}

/* ---- values ---- */

static int64_t number(str object, str key, int64_t otherwise) {
    int64_t v;
    return json_i64(json_member(object, key), &v) ? v : otherwise;
}

static int64_t handle(str object, str key) {
    return number(json_member(object, key), STR("handle"), ABSENT_I64);
}

/* A string without its escapes, valid until the next call. */
static str decoded(reader *x, str value) {
    str text = json_text(value);
    if (!text.n || !memchr(text.p, '\\', text.n)) return text;
    buf_clear(&x->text);
    (void)json_decode(text, &x->text);
    x->r.failed |= !buf_ok(&x->text);
    return buf_str(&x->text);
}

static int64_t correlation_of(const reader *x, const rocm_record *in) {
    int64_t id = in->v[ROCM_CORRELATION];
    bool fits = id >= 0 && id < (int64_t)1 << 40 && x->number < 1 << 22;
    return fits ? x->number << 40 | id : ABSENT_I64;
}

/* ---- names ---- */

static status remember(map *m, int64_t key, uint32_t value) {
    uint32_t *at = map_at(m, (uint64_t)key);
    if (!at) return ERR_MEMORY;
    *at = value;
    return OK;
}

static uint32_t kernel_name(reader *x, int64_t kernel) {
    uint32_t at = map_get(&x->kernels, (uint64_t)kernel);
    if (at == MAP_NONE) return 0;
    symbol_row *s = &VEC(&x->symbols, symbol_row)[at];
    if (s->id == MAP_NONE) s->id = rocm_string(&x->r, rocm_kernel_name(decoded(x, s->text)));
    return s->id;
}

/* One symbol at p: where it ends, NULL: nowhere. Their texts are half of a file. */
static const char *read_symbol(reader *x, const char *p, const char *end) {
    json_iter it = json_open(str_n(p, (size_t)(end - p)));
    str key, id = STR_NONE, name = STR_NONE, raw = STR_NONE;
    while (json_key(&it, &key)) {
        const char *stop = json_value_end(it.p, it.end);
        if (!stop) return NULL;
        str value = str_n(it.p, (size_t)(stop - it.p));
        if (str_eq(key, STR("kernel_id"))) id = value;
        if (str_eq(key, STR("formatted_kernel_name"))) name = value;
        if (str_eq(key, STR("kernel_name"))) raw = value;
        it.p = stop;
    }
    if (it.p == it.end || *it.p != '}') return NULL;
    int64_t number = -1;
    (void)!json_i64(id, &number);
    symbol_row *s = vec_push(&x->symbols);
    x->r.failed |= !s || remember(&x->kernels, number, (uint32_t)(x->symbols.n - 1)) != OK;
    if (s) *s = (symbol_row){name.n ? name : raw, MAP_NONE};
    return it.p + 1;
}

static const char *read_symbols(reader *x, const char *p, const char *end) {
    json_iter it = json_open(str_n(p, (size_t)(end - p)));
    str key;
    while (json_key(&it, &key)) {
        const char *stop =
            *it.p == '{' ? read_symbol(x, it.p, it.end) : json_value_end(it.p, it.end);
        if (!stop || x->r.failed) return NULL;
        it.p = stop;
    }
    return it.p < it.end && *it.p == ']' ? it.p + 1 : NULL;
}

static status read_kind(reader *x, str value) {
    str none, operation, kind = json_text(json_member(value, STR("kind")));
    kind_row *k = vec_push(&x->kinds);
    if (!k) return ERR_MEMORY;
    *k = (kind_row){.kind = rocm_string(&x->r, kind),
                    .marker = str_starts(kind, STR("MARKER_")),
                    .operations = VEC_INIT(uint32_t)};
    json_iter list = json_open(json_member(value, STR("operations")));
    while (json_next(&list, &none, &operation)) {
        uint32_t *to = vec_push(&k->operations);
        if (!to) return ERR_MEMORY;
        *to = rocm_string(&x->r, decoded(x, operation));
    }
    return OK;
}

static status read_strings(reader *x, str strings) {
    str key, value;
    json_iter it = json_open(json_member(strings, STR("buffer_records")));
    while (json_next(&it, &key, &value)) TRY(read_kind(x, value));
    it = json_open(json_member(strings, STR("marker_api")));
    while (json_next(&it, &key, &value))
        TRY(remember(&x->markers, number(value, STR("key"), -1),
                     rocm_string(&x->r, decoded(x, json_member(value, STR("value"))))));
    return OK;
}

/* NULL: it is none of the file's. */
static const kind_row *kind_of(const reader *x, const rocm_record *in) {
    int64_t kind = in->v[ROCM_KIND];
    return kind >= 0 && kind < (int64_t)x->kinds.n ? &VEC(&x->kinds, kind_row)[kind] : NULL;
}

static uint32_t operation_of(const kind_row *k, const rocm_record *in) {
    int64_t op = in->v[ROCM_OPERATION];
    bool known = k && op >= 0 && op < (int64_t)k->operations.n;
    return known ? VEC(&k->operations, uint32_t)[op] : 0;
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
                ? waves * max_i64(0, min_i64(1024, number(agent, STR("simd_per_cu"), 0)))
                : 0;
    return rocm_put_device(&x->r, decoded(x, name), number(agent, STR("cu_count"), 0),
                           number(agent, STR("wave_front_size"), 0), waves, agent, device, err);
}

static status read_agents(reader *x, str agents, error *err) {
    str key, value;
    json_iter it = json_open(agents);
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

static status take_dispatch(reader *x, const rocm_record *in) {
    rocm_work w = ROCM_WORK_NONE;
    w.kind = KIND_KERNEL;
    w.start = in->v[ROCM_START];
    w.end = in->v[ROCM_END];
    w.device = device_of(x, in->v[ROCM_AGENT]);
    if (w.device == ABSENT_I32) w.device = 0;
    w.queue = in->v[ROCM_QUEUE];
    w.stream = in->v[ROCM_STREAM];
    w.correlation = correlation_of(x, in);
    w.shared_memory = in->v[ROCM_SHARED];
    memcpy(w.grid, &in->v[ROCM_GRID], sizeof w.grid); /* what is absent is negative */
    memcpy(w.block, &in->v[ROCM_BLOCK], sizeof w.block);
    w.name = kernel_name(x, in->v[ROCM_KERNEL]);
    return rocm_put_work(&x->r, &w);
}

static status take_copy(reader *x, const rocm_record *in) {
    rocm_work w = ROCM_WORK_NONE;
    str operation = intern_get(x->r.strings, operation_of(kind_of(x, in), in));
    w.kind = KIND_MEMCPY;
    w.start = in->v[ROCM_START];
    w.end = in->v[ROCM_END];
    w.device = device_of(x, in->v[ROCM_TARGET]);
    if (w.device == ABSENT_I32) w.device = device_of(x, in->v[ROCM_SOURCE]);
    if (w.device == ABSENT_I32) w.device = 0;
    w.stream = in->v[ROCM_STREAM];
    w.correlation = correlation_of(x, in);
    w.bytes = in->v[ROCM_BYTES];
    w.name = rocm_string(&x->r, rocm_copy_name(operation));
    return rocm_put_work(&x->r, &w);
}

static status take_call(reader *x, const rocm_record *in) {
    rocm_call c = ROCM_CALL_NONE;
    const kind_row *k = kind_of(x, in);
    c.start = in->v[ROCM_START];
    c.end = in->v[ROCM_END];
    c.pid = x->pid;
    c.tid = in->v[ROCM_THREAD] == ABSENT_I64 ? 0 : in->v[ROCM_THREAD];
    c.correlation = correlation_of(x, in);
    c.domain = k ? k->kind : 0;
    uint32_t marker =
        k && k->marker ? map_get(&x->markers, (uint64_t)in->v[ROCM_CORRELATION]) : MAP_NONE;
    c.name = marker != MAP_NONE && marker ? marker : operation_of(k, in);
    return rocm_put_call(&x->r, &c);
}

static status take_allocation(reader *x, const rocm_record *in) {
    str operation = intern_get(x->r.strings, operation_of(kind_of(x, in), in));
    bool release = str_find(operation, STR("FREE"), 0) != SIZE_MAX;
    int64_t address = in->v[ROCM_ADDRESS], bytes = in->v[ROCM_SIZE];
    return rocm_put_memory(&x->r, in->v[ROCM_START], address == ABSENT_I64 ? 0 : address,
                           bytes == ABSENT_I64 ? 0 : bytes, device_of(x, in->v[ROCM_AGENT]),
                           release, x->pid);
}

typedef status take_function(reader *x, const rocm_record *in);

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

static void name_unread(reader *x, str list) {
    if (x->unread.n) buf_add_cstr(&x->unread, ", ");
    buf_add_str(&x->unread, list);
}

/* The records of one list, which begins at *p; *p is then one past its end, NULL: it has none.
 * A list that nothing here reads is named when it has records. */
static status read_list(reader *x, str list, const char **p, const char *end, error *err) {
    take_function *take = taker_of(list);
    json_iter it = json_open(str_n(*p, (size_t)(end - *p)));
    rocm_layout layout = {0};
    rocm_record record;
    str key;
    *p = NULL;
    while (json_key(&it, &key)) {
        if (!take) {
            name_unread(x, list);
            *p = json_close(it.p, it.end);
            return OK;
        }
        const char *stop =
            *it.p == '{' ? rocm_read_record(it.p, it.end, &layout, &record) : NULL;
        if (stop && (take(x, &record) != OK || x->r.failed)) FAIL_MEMORY(err);
        if (!stop) stop = json_value_end(it.p, it.end); /* it is no record: over it */
        if (!stop) return OK;
        it.p = stop;
        TRY(look_around(x, err));
    }
    if (it.p < it.end && *it.p == ']') *p = it.p + 1;
    return OK;
}

/* The lists of records; *p as above. */
static status read_lists(reader *x, const char **p, const char *end, error *err) {
    json_iter it = json_open(str_n(*p, (size_t)(end - *p)));
    str list;
    *p = NULL;
    while (json_key(&it, &list)) {
        const char *stop = it.p;
        if (*it.p == '[')
            TRY(read_list(x, list, &stop, it.end, err));
        else
            stop = json_value_end(it.p, it.end);
        if (!stop) return OK;
        it.p = stop;
    }
    if (it.p < it.end && *it.p == '}') *p = it.p + 1;
    return OK;
}

static void forget_process(reader *x) {
    for (size_t i = 0; i < x->kinds.n; i++) vec_fini(&VEC(&x->kinds, kind_row)[i].operations);
    vec_fini(&x->kinds);
    vec_fini(&x->symbols);
    map_fini(&x->agents);
    map_fini(&x->kernels);
    map_fini(&x->markers);
    x->agents = x->kernels = x->markers = (map){0};
    x->kinds = VEC_INIT(kind_row);
    x->symbols = VEC_INIT(symbol_row);
}

/* ---- processes ---- */

/* What a process has said so far. */
typedef struct {
    str metadata;
    const char *records; /* read when everything that names them is */
    bool agents, symbols, strings;
} process_parts;

/* A member of a process at *p; *p is then one past it, NULL: it has no end. */
static status read_part(reader *x, str key, const char **p, const char *end, process_parts *had,
                        error *err) {
    bool named = had->agents && had->symbols && had->strings;
    const char *begin = *p;
    if (str_eq(key, STR("kernel_symbols"))) {
        had->symbols = true;
        *p = read_symbols(x, begin, end);
        if (x->r.failed) FAIL_MEMORY(err);
        return OK;
    }
    if (str_eq(key, STR("buffer_records")) && named) return read_lists(x, p, end, err);
    if (str_eq(key, STR("buffer_records"))) had->records = begin;
    *p = json_value_end(begin, end);
    str value = *p ? str_n(begin, (size_t)(*p - begin)) : STR_NONE;
    if (str_eq(key, STR("metadata"))) {
        had->metadata = value;
        x->pid = number(value, STR("pid"), x->number);
    }
    if (str_eq(key, STR("agents"))) {
        had->agents = true;
        TRY(read_agents(x, value, err));
    }
    if (str_eq(key, STR("strings"))) {
        had->strings = true;
        if (read_strings(x, value) != OK || x->r.failed) FAIL_MEMORY(err);
    }
    return OK;
}

static status name_process(reader *x, str metadata, error *err) {
    str key, command;
    json_iter it = json_open(json_member(metadata, STR("command")));
    if (json_next(&it, &key, &command) &&
        rocm_name_process(&x->r, x->pid, decoded(x, command)) != OK)
        FAIL_MEMORY(err);
    str host = json_member(json_member(metadata, STR("node")), STR("hostname"));
    if (host.n && x->number == 0) TRY(rocm_put_fact(&x->r, "host_name", decoded(x, host), err));
    x->r.failed |= !buf_ok(&x->unread);
    status st = x->unread.n && !x->r.failed
                    ? rocm_put_fact(&x->r, "not_read", buf_str(&x->unread), err)
                    : OK;
    buf_clear(&x->unread);
    if (x->r.failed) FAIL_MEMORY(err);
    return st;
}

/* The process at *p; *p is then one past it, NULL: it has no end. */
static status read_process(reader *x, const char **p, const char *end, error *err) {
    json_iter it = json_open(str_n(*p, (size_t)(end - *p)));
    process_parts had = {0};
    str key;
    x->pid = x->number;
    x->r.n_gpus = 0;
    *p = NULL;
    while (json_key(&it, &key)) {
        const char *stop = it.p;
        TRY(read_part(x, key, &stop, it.end, &had, err));
        if (!stop) break;
        it.p = stop;
    }
    if (it.p < it.end && *it.p == '}') *p = it.p + 1;
    if (had.records) TRY(read_lists(x, &had.records, it.end, err));
    return name_process(x, had.metadata, err);
}

static status read_processes(reader *x, const char *p, const char *end, bool *whole,
                             error *err) {
    json_iter it = json_open(str_n(p, (size_t)(end - p)));
    str key;
    while (json_key(&it, &key)) {
        const char *stop = it.p;
        status st = read_process(x, &stop, it.end, err);
        forget_process(x);
        x->number++;
        if (st != OK) return st;
        if (!stop) return OK;
        it.p = stop;
    }
    *whole = it.p < it.end && *it.p == ']';
    return OK;
}

static status read_all(reader *x, source *src, error *err) {
    str key;
    bool whole = false;
    TRY(whole_input(src, x->r.o, x->r.b, x->r.part, 0, &x->file, err));
    json_iter it = json_open(buf_str(&x->file));
    while (json_key(&it, &key)) {
        if (str_eq(key, STR("rocprofiler-sdk-tool"))) {
            TRY(read_processes(x, it.p, it.end, &whole, err));
            break;
        }
        const char *stop = json_value_end(it.p, it.end);
        if (!stop) break;
        it.p = stop;
    }
    if (!whole) part_lost(x->r.part, CAUSE_TRUNCATED, x->file.n, 0);
    return OK;
}

status ingest_rocm_json(source *src, const ingest_options *o, builder *b, error *err) {
    reader x = {.r = rocm_begin(b, o)};
    if (!x.r.part) FAIL_MEMORY(err);
    forget_process(&x);
    status st = read_all(&x, src, err);
    part_finish(x.r.part);
    builder_set_format(b, "rocprof");
    forget_process(&x);
    rocm_end(&x.r);
    buf_fini(&x.file);
    buf_fini(&x.text);
    buf_fini(&x.unread);
    return st;
}
