/* rocm_json_rows.c: what rocprofv3's JSON says of a process, as names and rows.
 *
 * The numbers of kinds and operations differ from release to release, so names are always taken
 * from the strings of the same process. */
#include "ingest/rocm/rocm_json_int.h"

/* ---- values ---- */

int64_t rocm_json_number(str object, str key, int64_t otherwise) {
    int64_t v;
    return json_i64(json_member(object, key), &v) ? v : otherwise;
}

static int64_t handle(str object, str key) {
    return rocm_json_number(json_member(object, key), STR("handle"), ABSENT_I64);
}

str rocm_json_decoded(rocm_json *x, str value) {
    str text = json_text(value);
    if (!text.n || !memchr(text.p, '\\', text.n)) return text;
    buf_clear(&x->text);
    (void)json_decode(text, &x->text);
    x->r.failed |= !buf_ok(&x->text);
    return buf_str(&x->text);
}

static int64_t correlation_of(const rocm_json *x, const rocm_record *in) {
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

static uint32_t kernel_name(rocm_json *x, int64_t kernel) {
    uint32_t at = map_get(&x->kernels, (uint64_t)kernel);
    if (at == MAP_NONE) return 0;
    symbol_row *s = &VEC(&x->symbols, symbol_row)[at];
    if (s->id == MAP_NONE)
        s->id = rocm_string(&x->r, rocm_kernel_name(rocm_json_decoded(x, s->text)));
    return s->id;
}

/* Most symbols are never launched, and their texts are half of a file: only names are kept. */
const char *rocm_json_symbol(rocm_json *x, const char *p, const char *end) {
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
    str text = arena_str(&x->names, name.n ? name : raw);
    symbol_row *s = vec_push(&x->symbols);
    x->r.failed |=
        !text.p || !s || remember(&x->kernels, number, (uint32_t)(x->symbols.n - 1)) != OK;
    if (s) *s = (symbol_row){text, MAP_NONE};
    return it.p + 1;
}

static status read_kind(rocm_json *x, str value) {
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
        *to = rocm_string(&x->r, rocm_json_decoded(x, operation));
    }
    return OK;
}

status rocm_json_strings(rocm_json *x, str strings) {
    str key, value;
    json_iter it = json_open(json_member(strings, STR("buffer_records")));
    while (json_next(&it, &key, &value)) TRY(read_kind(x, value));
    it = json_open(json_member(strings, STR("marker_api")));
    while (json_next(&it, &key, &value))
        TRY(remember(
            &x->markers, rocm_json_number(value, STR("key"), -1),
            rocm_string(&x->r, rocm_json_decoded(x, json_member(value, STR("value"))))));
    return OK;
}

/* NULL: it is none of the file's. */
static const kind_row *kind_of(const rocm_json *x, const rocm_record *in) {
    int64_t kind = in->v[ROCM_KIND];
    return kind >= 0 && kind < (int64_t)x->kinds.n ? &VEC(&x->kinds, kind_row)[kind] : NULL;
}

static uint32_t operation_of(const kind_row *k, const rocm_record *in) {
    int64_t op = in->v[ROCM_OPERATION];
    bool known = k && op >= 0 && op < (int64_t)k->operations.n;
    return known ? VEC(&k->operations, uint32_t)[op] : 0;
}

/* ---- agents ---- */

/* Processes of one machine see the same GPUs: those of the first are used. */
static status read_gpu(rocm_json *x, str agent, int32_t *device, error *err) {
    str name = json_member(agent, STR("product_name"));
    int64_t waves = rocm_json_number(agent, STR("max_waves_per_simd"), 0);
    if (x->number > 0) {
        *device = x->r.n_gpus++;
        return OK;
    }
    if (json_text(name).n == 0) name = json_member(agent, STR("name"));
    waves =
        waves > 0 && waves < 1024
            ? waves * max_i64(0, min_i64(1024, rocm_json_number(agent, STR("simd_per_cu"), 0)))
            : 0;
    return rocm_put_device(
        &x->r, rocm_json_decoded(x, name), rocm_json_number(agent, STR("cu_count"), 0),
        rocm_json_number(agent, STR("wave_front_size"), 0), waves, agent, device, err);
}

status rocm_json_agents(rocm_json *x, str agents, error *err) {
    str key, value;
    json_iter it = json_open(agents);
    while (json_next(&it, &key, &value)) {
        int32_t device = -1;
        int64_t id = handle(value, STR("id"));
        if (rocm_json_number(value, STR("type"), 0) == 2) TRY(read_gpu(x, value, &device, err));
        uint32_t *at = map_at(&x->agents, (uint64_t)id);
        if (!at) FAIL_MEMORY(err);
        *at = (uint32_t)(device + 1);
    }
    return OK;
}

static int32_t device_of(const rocm_json *x, int64_t agent) {
    uint32_t at = map_get(&x->agents, (uint64_t)agent);
    return at == MAP_NONE || at == 0 ? ABSENT_I32 : (int32_t)at - 1;
}

/* ---- records ---- */

static status take_dispatch(rocm_json *x, const rocm_record *in) {
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

static status take_copy(rocm_json *x, const rocm_record *in) {
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

static status take_call(rocm_json *x, const rocm_record *in) {
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

static status take_allocation(rocm_json *x, const rocm_record *in) {
    str operation = intern_get(x->r.strings, operation_of(kind_of(x, in), in));
    bool release = str_find(operation, STR("FREE"), 0) != SIZE_MAX;
    int64_t address = in->v[ROCM_ADDRESS], bytes = in->v[ROCM_SIZE];
    return rocm_put_memory(&x->r, in->v[ROCM_START], address == ABSENT_I64 ? 0 : address,
                           bytes == ABSENT_I64 ? 0 : bytes, device_of(x, in->v[ROCM_AGENT]),
                           release, x->pid);
}

take_function *rocm_json_taker(str list) {
    if (str_eq(list, STR("kernel_dispatch"))) return take_dispatch;
    if (str_eq(list, STR("memory_copy"))) return take_copy;
    if (str_eq(list, STR("memory_allocation"))) return take_allocation;
    return str_ends(list, STR("_api")) ? take_call : NULL;
}

void rocm_json_forget(rocm_json *x) {
    for (size_t i = 0; i < x->kinds.n; i++) vec_fini(&VEC(&x->kinds, kind_row)[i].operations);
    vec_fini(&x->kinds);
    vec_fini(&x->symbols);
    arena_reset(&x->names);
    map_fini(&x->agents);
    map_fini(&x->kernels);
    map_fini(&x->markers);
    x->agents = x->kernels = x->markers = (map){0};
    x->kinds = VEC_INIT(kind_row);
    x->symbols = VEC_INIT(symbol_row);
}
