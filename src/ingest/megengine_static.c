/* megengine_static.c: the profile of a MegEngine static graph (`profiling.json`).
 *
 *     {"graph_exec": {"operator": {ID: {name, type, input, …}}, "var": {ID: …}, …},
 *      "profiler":   {"device": {ID: {DEVICE: {start, kern, end}}}, "host": {ID: {THREAD: …}},
 *                     "opr_footprint": {ID: {computation, memory, in_shapes, …}}}}
 *
 * The last run of the graph becomes a timeline: each sample of an operator is a slice from start to
 * end, on the row of its device as device work and on the row of its thread as an operator; they find
 * each other by the operator's id. What no column holds (type, the moment of the kernel, shapes of the
 * outputs, types of the inputs, the operator's place in the file) stands in the arguments, the three
 * times there as they were written: whoever must give the producer's own figures needs every digit.
 *
 * The file is small and its keys come in any order, so all of it is held; every object is walked once
 * and looked up by a hash of its id. Operators that did not run have no samples and no row. */
#include "base/hash.h"
#include "base/json.h"
#include "base/map.h"
#include "base/num.h"
#include "ingest/ingest.h"
#include "ingest/megengine.h"

enum { READ_BYTES = 1 << 20 };
#define MOST_BYTES ((uint64_t)2 << 30)

/* Members of an object by their key. */
typedef struct {
    vec values; /* str */
    map by_key; /* hash of the key → row + 1 */
} lookup;

typedef struct {
    builder *b;
    part *part;
    intern *strings;
    str text;
    lookup devices, hosts, footprints, vars;
    uint64_t n_operators, n_samples;
    bool failed, has_named; /* has_named: a device whose word the file must tell */
} reader;

static status read_all(source *src, const ingest_options *o, buf *out, error *err) {
    for (;;) {
        piece pc;
        TRY(source_next(src, READ_BYTES, 0, &pc, err));
        if (pc.n == 0) return OK;
        buf_add(out, pc.p, pc.n);
        source_release(src, &pc);
        if (!buf_ok(out)) FAIL_MEMORY(err);
        uint64_t limit = o->memory_limit_bytes ? o->memory_limit_bytes : MOST_BYTES;
        if (out->n > limit)
            FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT, arg_bytes("limit", sat_i64(limit)));
    }
}

static bool index_members(lookup *l, str object) {
    json_iter it = json_open(object);
    str key, value;
    while (json_next(&it, &key, &value)) {
        uint32_t *at = map_at(&l->by_key, hash_bytes64(key.p, key.n));
        str *row = at && l->values.n < UINT32_MAX - 1 ? vec_push(&l->values) : NULL;
        if (!row) return false;
        *row = value; /* of a key that comes twice the last counts */
        *at = (uint32_t)l->values.n;
    }
    return true;
}

static str find_member(const lookup *l, str key) {
    uint32_t at = map_get(&l->by_key, hash_bytes64(key.p, key.n));
    return at == MAP_NONE ? STR_NONE : VEC(&l->values, str)[at - 1];
}

static uint32_t keep(reader *r, str text) {
    uint32_t id = intern_add(r->strings, text);
    r->failed |= id == UINT32_MAX;
    return id;
}

/* A JSON string's bytes as a string id. */
static uint32_t keep_decoded(reader *r, str value) {
    buf b = {0};
    json_decode(json_text(value), &b);
    uint32_t id = buf_ok(&b) ? keep(r, buf_str(&b)) : UINT32_MAX;
    r->failed |= id == UINT32_MAX;
    buf_fini(&b);
    return id;
}

/* ---- arguments ---- */

static void add_member(buf *b, const char *key, str value) {
    if (!value.p) return;
    if (b->p[b->n - 1] != '{') buf_add_byte(b, ',');
    buf_add_json(b, str_of(key));
    buf_add_byte(b, ':');
    json_normal(value, b);
}

/* The types of the inputs whose place in memory is planned; the others are not known. */
static void add_types(const reader *r, buf *b, str operator) {
    json_iter it = json_open(json_member(operator, STR("input")));
    str key, var;
    bool any = false;
    buf_add_cstr(b, ",\"input_dtypes\":[");
    while (json_next(&it, &key, &var)) {
        str plan = json_member(find_member(&r->vars, json_text(var)), STR("mem_plan"));
        str dtype = json_member(json_member(plan, STR("layout")), STR("dtype"));
        if (!dtype.n) continue;
        if (any) buf_add_byte(b, ',');
        any = true;
        json_normal(dtype, b);
    }
    buf_add_byte(b, ']');
}

/* What both kinds of samples of an operator say. */
typedef struct {
    str id, name, footprint;
    int64_t number; /* the id as a number, ABSENT_I64 when it is none */
    buf common;     /* arguments without the brace at the end */
} operator_facts;

static void describe(const reader *r, operator_facts *f, str operator, uint64_t order) {
    buf *b = &f->common;
    buf_add_byte(b, '{');
    add_member(b, "name", f->name);
    add_member(b, "type", json_member(operator, STR("type")));
    buf_printf(b, ",\"id\":");
    buf_add_json(b, f->id);
    buf_printf(b, ",\"order\":%llu", (unsigned long long)order);
    add_types(r, b, operator);
    static const char *const keys[] = {"computation", "memory",     "in_shapes",
                                       "in_layouts",  "out_shapes", "param"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        add_member(b, keys[i], json_member(f->footprint, str_of(keys[i])));
    if (f->footprint.p) buf_add_cstr(b, ",\"footprint\":true");
}

/* ---- samples ---- */

static bool time_of(str sample, const char *key, double *out) {
    return json_f64(json_member(sample, str_of(key)), out) && *out > -9e9 && *out < 9e9;
}

static uint32_t sample_args(reader *r, const operator_facts *f, str sample) {
    buf b = {0};
    buf_add_str(&b, buf_str(&f->common));
    add_member(&b, "start", json_member(sample, STR("start")));
    add_member(&b, "kern", json_member(sample, STR("kern")));
    add_member(&b, "end", json_member(sample, STR("end")));
    buf_add_byte(&b, '}');
    uint32_t id = buf_ok(&b) ? keep(r, buf_str(&b)) : UINT32_MAX;
    r->failed |= !buf_ok(&b);
    buf_fini(&b);
    return id == UINT32_MAX ? 0 : part_args_raw(r->part, id);
}

static status add_op(reader *r, const operator_facts *f, raw_slice *row) {
    double flops = NAN;
    int64_t bytes = ABSENT_I64;
    str shapes = json_member(f->footprint, STR("in_shapes"));
    raw_op op = {.external = f->number,
                 .sequence = ABSENT_I64,
                 .forward_thread = ABSENT_I64,
                 .shapes = shapes.n ? keep(r, shapes) : 0};
    TRY(part_op(r->part, &op, row));
    if (!json_f64(json_member(f->footprint, STR("computation")), &flops) || flops == 0)
        flops = NAN;
    if (!json_i64(json_member(f->footprint, STR("memory")), &bytes)) bytes = ABSENT_I64;
    return part_op_cost(r->part,
                        &(raw_op_cost){.op = row->extra, .flops = flops, .bytes = bytes});
}

static status add_work(reader *r, const operator_facts *f, str where, raw_slice *row) {
    megengine_device d;
    raw_kernel k = {.correlation = ABSENT_I64,
                    .external = f->number,
                    .stream = ABSENT_I64,
                    .context = ABSENT_I64,
                    .bytes = ABSENT_I64,
                    .graph_node = ABSENT_I64,
                    .shared_memory = ABSENT_I64,
                    .occupancy = NAN,
                    .blocks_per_sm = NAN,
                    .device = megengine_device_of(where, &d) ? d.id : ABSENT_I32,
                    .registers = ABSENT_I32};
    return part_kernel(r->part, &k, row);
}

/* The samples of one operator on one side. */
static status add_samples(reader *r, const operator_facts *f, str samples, bool device) {
    json_iter it = json_open(samples);
    str key, sample;
    while (json_next(&it, &key, &sample)) {
        double start, end;
        part_count(r->part, 1, 0);
        if (!time_of(sample, "start", &start) || !time_of(sample, "end", &end)) {
            part_lost(r->part, CAUSE_MISSING_TIME, (uint64_t)(sample.p - r->text.p), 0);
            part_count(r->part, 0, 1);
            continue;
        }
        uint32_t where = keep_decoded(r, key);
        if (r->failed) return ERR_MEMORY;
        str place = intern_get(r->strings, where);
        raw_slice row = {.start = (int64_t)llround(start * 1e9),
                         .dur = end > start ? (int64_t)llround((end - start) * 1e9) : 0,
                         .name = keep_decoded(r, f->name),
                         .kind = device ? KIND_KERNEL : KIND_OP,
                         .args = sample_args(r, f, sample)};
        if (end < start)
            part_lost(r->part, CAUSE_NEGATIVE_DURATION, (uint64_t)(sample.p - r->text.p), 0);
        row.track = part_track(r->part, (ident){device ? 1 : 0, false}, (ident){where, true});
        if (row.track == UINT32_MAX || r->failed) return ERR_MEMORY;
        TRY(device ? add_work(r, f, place, &row) : add_op(r, f, &row));
        TRY(part_slice(r->part, &row));
        r->n_samples++;
    }
    return OK;
}

static status add_operator(reader *r, str id, str operator) {
    operator_facts f = {.id = id,
                        .name = json_member(operator, STR("name")),
                        .footprint = find_member(&r->footprints, id)};
    if (!f.name.p) f.name = STR("\"\"");
    if (!json_i64(id, &f.number)) f.number = ABSENT_I64;
    describe(r, &f, operator, ++ r->n_operators);
    status st = buf_ok(&f.common) ? OK : ERR_MEMORY;
    if (st == OK) st = add_samples(r, &f, find_member(&r->devices, id), true);
    if (st == OK) st = add_samples(r, &f, find_member(&r->hosts, id), false);
    buf_fini(&f.common);
    return st;
}

/* ---- the whole ---- */

static bool is_new(vec *known, int64_t key, bool *failed) {
    for (size_t i = 0; i < known->n; i++)
        if (VEC(known, int64_t)[i] == key) return false;
    int64_t *to = known->n < 1024 ? vec_push(known) : NULL; /* more are nobody's */
    *failed |= !to && known->n < 1024;
    if (to) *to = key;
    return to != NULL;
}

/* Each device once, and the number of each of their rows. */
static status add_device(reader *r, uint32_t text, vec *rows, vec *known, error *err) {
    megengine_device d;
    if (!megengine_device_of(intern_get(r->strings, text), &d)) return OK;
    raw_label label = {
        .pid = {1, false}, .tid = {text, true}, .value = d.id, .kind = LABEL_THREAD_DEVICE};
    if (is_new(rows, text, &r->failed) && part_label(r->part, &label) != OK) FAIL_MEMORY(err);
    if (!is_new(known, (int64_t)d.type << 32 | d.id, &r->failed)) return OK;
    r->has_named |= megengine_is_named(d.type);
    raw_device row = {.id = d.id,
                      .type = d.type,
                      .name = keep(r, d.physical),
                      .memory = ABSENT_I64,
                      .compute_major = ABSENT_I32,
                      .compute_minor = ABSENT_I32,
                      .sm_count = ABSENT_I32,
                      .threads_per_sm = ABSENT_I32,
                      .warp_size = ABSENT_I32};
    return builder_add_device(r->b, &row, err);
}

static status add_devices(reader *r, str samples, error *err) {
    vec rows = VEC_INIT(int64_t), known = VEC_INIT(int64_t);
    status st = OK;
    json_iter it = json_open(samples);
    str id, by_device, name, sample;
    while (st == OK && json_next(&it, &id, &by_device)) {
        json_iter inner = json_open(by_device);
        while (st == OK && json_next(&inner, &name, &sample)) {
            uint32_t text = keep_decoded(r, name);
            if (!r->failed) st = add_device(r, text, &rows, &known, err);
        }
    }
    vec_fini(&rows);
    vec_fini(&known);
    return st;
}

static status read_profile(reader *r, error *err) {
    str graph = json_member(r->text, STR("graph_exec"));
    str profile = json_member(r->text, STR("profiler"));
    str operators = json_member(graph, STR("operator"));
    str device = json_member(profile, STR("device"));
    if (!operators.n || !profile.n) FAIL0(err, ERR_FORMAT, NOPOS, MSG_NO_STATIC_PROFILE);
    bool ok = index_members(&r->devices, device) &&
              index_members(&r->hosts, json_member(profile, STR("host"))) &&
              index_members(&r->footprints, json_member(profile, STR("opr_footprint"))) &&
              index_members(&r->vars, json_member(graph, STR("var")));
    if (!ok) FAIL_MEMORY(err);
    TRY(add_devices(r, device, err));
    if (r->has_named) TRY(megengine_add_words(r->b, err));
    json_iter it = json_open(operators);
    str id, operator;
    while (json_next(&it, &id, &operator))
        if (add_operator(r, id, operator) != OK) FAIL_MEMORY(err);
    buf b = {0};
    buf_printf(&b, "{\"operators\":%llu,\"samples\":%llu}", (unsigned long long)r->n_operators,
               (unsigned long long)r->n_samples);
    uint32_t key = keep(r, STR("graph_exec"));
    uint32_t value = buf_ok(&b) ? keep(r, buf_str(&b)) : UINT32_MAX;
    buf_fini(&b);
    if (r->failed || value == UINT32_MAX) FAIL_MEMORY(err);
    return builder_add_meta(r->b, key, value, err);
}

static void fini_lookup(lookup *l) {
    vec_fini(&l->values);
    map_fini(&l->by_key);
}

status ingest_megengine_static(source *src, const ingest_options *o, builder *b, error *err) {
    buf text = {0};
    status st = read_all(src, o, &text, err);
    reader r = {.b = b,
                .part = builder_part(b),
                .strings = builder_strings(b),
                .text = buf_str(&text),
                .devices = {.values = VEC_INIT(str)},
                .hosts = {.values = VEC_INIT(str)},
                .footprints = {.values = VEC_INIT(str)},
                .vars = {.values = VEC_INIT(str)}};
    if (st == OK && !r.part) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (st == OK) st = read_profile(&r, err);
    if (st == OK && (source_damaged(src) || !json_value_end(r.text.p, r.text.p + r.text.n)))
        part_lost(r.part, CAUSE_TRUNCATED, r.text.n, 0);
    if (st == OK) part_finish(r.part);
    builder_set_format(b, "megengine_static");
    builder_set_input_bytes(b, text.n);
    fini_lookup(&r.devices);
    fini_lookup(&r.hosts);
    fini_lookup(&r.footprints);
    fini_lookup(&r.vars);
    buf_fini(&text);
    return st;
}
