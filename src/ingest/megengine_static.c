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
 * The keys of the file come in any order, so all of it is held; one walk indexes the five large objects
 * by the hashes of the ids in them, a second one looks into each member once. Operators that did not run have no samples and no row. */
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
    vec keys, values; /* str, in the order of the file */
    map by_key;       /* hash of the key → row + 1 */
} lookup;
#define NO_MEMBERS \
    { .keys = VEC_INIT(str), .values = VEC_INIT(str) }

enum { N_PLACES = 4 };
typedef struct {
    str text; /* as it stands in the file */
    uint32_t id;
} place_name;

typedef struct {
    builder *b;
    part *part;
    intern *strings;
    str text;
    place_name places[N_PLACES]; /* the last few */
    size_t next_place;
    vec device_rows, devices_known; /* int64_t: rows that have their device; devices */
    buf common, args;               /* of the operator, of the sample at hand */
    lookup operators, devices, hosts, footprints, vars;
    uint64_t n_operators, n_samples;
    bool failed, has_profiler,
        has_named; /* has_named: a device whose word the file must tell */
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

/* Members of the object that the walk has entered, each by its key; the walk is behind them then. */
static bool index_members(lookup *l, json_iter *it) {
    str key, value;
    while (json_next(it, &key, &value)) {
        uint32_t *at = map_at(&l->by_key, hash_bytes64(key.p, key.n));
        str *row = at && l->values.n < UINT32_MAX - 1 ? vec_push(&l->values) : NULL;
        str *name = row ? vec_push(&l->keys) : NULL;
        if (!name) return false;
        *name = key;
        *row = value; /* of a key that comes twice the last counts */
        *at = (uint32_t)l->values.n;
    }
    return true;
}

/* Members by their place in a list of names: one walk for all of them. */
static void find_members(str object, const char *const *names, size_t n, str *out) {
    json_iter it = json_open(object);
    str key, value;
    for (size_t i = 0; i < n; i++) out[i] = STR_NONE;
    while (json_next(&it, &key, &value))
        for (size_t i = 0; i < n; i++)
            if (!out[i].p && str_eq(key, str_of(names[i]))) out[i] = value;
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

/* The same for the names of devices and threads: a few, again and again. */
static uint32_t keep_place(reader *r, str key) {
    for (size_t i = 0; i < N_PLACES; i++)
        if (r->places[i].id && str_eq(r->places[i].text, key)) return r->places[i].id;
    uint32_t id = keep_decoded(r, key);
    if (!r->failed) r->places[r->next_place++ % N_PLACES] = (place_name){key, id};
    return id;
}

/* ---- arguments ---- */

/* Nothing in it that could need repair. */
static bool is_plain_number(str s) {
    size_t i = s.n && s.p[0] == '-';
    bool point = false, digits = false;
    for (; i < s.n; i++) {
        if (s.p[i] >= '0' && s.p[i] <= '9')
            digits = true;
        else if (s.p[i] == '.' && digits && !point && i + 1 < s.n)
            point = true;
        else
            return false;
    }
    return digits && s.p[s.n - 1] != '.';
}

static void add_member(buf *b, const char *key, str value) {
    if (!value.p) return;
    buf_add_cstr(b, b->p[b->n - 1] != '{' ? ",\"" : "\"");
    buf_add_cstr(b, key);
    buf_add_cstr(b, "\":");
    if (is_plain_number(value))
        buf_add_str(b, value);
    else
        json_normal(value, b);
}

/* The types of the inputs whose place in memory is planned; the others are not known. */
static void add_types(const reader *r, buf *b, str input) {
    json_iter it = json_open(input);
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
enum { FOOT_COMPUTATION, FOOT_MEMORY, FOOT_IN_SHAPES, N_FOOT = 6 };
static const char *const FOOT_KEYS[N_FOOT] = {"computation", "memory",     "in_shapes",
                                              "in_layouts",  "out_shapes", "param"};

typedef struct {
    str id, name;
    str foot[N_FOOT]; /* of the footprint */
    bool has_foot;
    int64_t number; /* the id as a number, ABSENT_I64 when it is none */
    uint32_t name_id;
} operator_facts;

/* The arguments without the brace at the end. */
static void describe(reader *r, const operator_facts *f, const str *members, uint64_t order) {
    buf *b = &r->common;
    buf_clear(b);
    buf_add_byte(b, '{');
    add_member(b, "name", f->name);
    add_member(b, "type", members[1]);
    buf_add_cstr(b, ",\"id\":");
    buf_add_json(b, f->id);
    buf_add_cstr(b, ",\"order\":");
    buf_add_u64(b, order);
    add_types(r, b, members[2]);
    for (size_t i = 0; i < N_FOOT; i++) add_member(b, FOOT_KEYS[i], f->foot[i]);
    if (f->has_foot) buf_add_cstr(b, ",\"footprint\":true");
}

/* ---- devices ---- */

static bool is_new(vec *known, int64_t key, bool *failed) {
    for (size_t i = 0; i < known->n; i++)
        if (VEC(known, int64_t)[i] == key) return false;
    int64_t *to = known->n < 1024 ? vec_push(known) : NULL; /* more are nobody's */
    *failed |= !to && known->n < 1024;
    if (to) *to = key;
    return to != NULL;
}

/* Each device once, and the number of each of their rows. */
static status add_device(reader *r, uint32_t text) {
    megengine_device d;
    bool seen = !is_new(&r->device_rows, text, &r->failed);
    if (r->failed) return ERR_MEMORY;
    if (seen || !megengine_device_of(intern_get(r->strings, text), &d)) return OK;
    raw_label label = {
        .pid = {1, false}, .tid = {text, true}, .value = d.id, .kind = LABEL_THREAD_DEVICE};
    TRY(part_label(r->part, &label));
    if (!is_new(&r->devices_known, (int64_t)d.type << 32 | d.id, &r->failed)) return OK;
    r->has_named |= megengine_is_named(d.type);
    raw_device row = RAW_DEVICE_NONE;
    row.id = d.id;
    row.type = d.type;
    row.name = keep(r, d.physical);
    return builder_add_device(r->b, &row, NULL);
}

/* ---- samples ---- */

static const char *const TIME_KEYS[] = {"start", "kern", "end"};

static bool time_of(str value, double *out) {
    return json_f64(value, out) && *out > -9e9 && *out < 9e9;
}

static uint32_t sample_args(reader *r, const str times[3]) {
    buf *b = &r->args;
    buf_clear(b);
    buf_add_str(b, buf_str(&r->common));
    for (int i = 0; i < 3 && buf_ok(b); i++) add_member(b, TIME_KEYS[i], times[i]);
    buf_add_byte(b, '}');
    uint32_t id = buf_ok(b) ? keep(r, buf_str(b)) : UINT32_MAX;
    r->failed |= !buf_ok(b);
    return id == UINT32_MAX ? 0 : part_args_raw(r->part, id);
}

static status add_op(reader *r, const operator_facts *f, raw_slice *row) {
    double flops = NAN;
    int64_t bytes = ABSENT_I64;
    str shapes = f->foot[FOOT_IN_SHAPES];
    raw_op op = {.external = f->number,
                 .sequence = ABSENT_I64,
                 .forward_thread = ABSENT_I64,
                 .shapes = shapes.n ? keep(r, shapes) : 0};
    TRY(part_op(r->part, &op, row));
    if (!json_f64(f->foot[FOOT_COMPUTATION], &flops) || flops == 0) flops = NAN;
    if (!json_i64(f->foot[FOOT_MEMORY], &bytes)) bytes = ABSENT_I64;
    return part_op_cost(r->part,
                        &(raw_op_cost){.op = row->extra, .flops = flops, .bytes = bytes});
}

static status add_work(reader *r, const operator_facts *f, str where, raw_slice *row) {
    megengine_device d;
    raw_kernel k = RAW_KERNEL_NONE;
    k.external = f->number;
    if (megengine_device_of(where, &d)) k.device = d.id;
    return part_kernel(r->part, &k, row);
}

/* The samples of one operator on one side. */
static status add_samples(reader *r, const operator_facts *f, str samples, bool device) {
    json_iter it = json_open(samples);
    str key, sample;
    while (json_next(&it, &key, &sample)) {
        double start, end;
        str times[3];
        part_count(r->part, 1, 0);
        find_members(sample, TIME_KEYS, 3, times);
        if (!time_of(times[0], &start) || !time_of(times[2], &end)) {
            part_lost(r->part, CAUSE_MISSING_TIME, (uint64_t)(sample.p - r->text.p), 0);
            part_count(r->part, 0, 1);
            continue;
        }
        uint32_t where = keep_place(r, key);
        if (r->failed) return ERR_MEMORY;
        if (device) TRY(add_device(r, where));
        str place = intern_get(r->strings, where);
        raw_slice row = {.start = (int64_t)llround(start * 1e9),
                         .dur = end > start ? (int64_t)llround((end - start) * 1e9) : 0,
                         .name = f->name_id,
                         .kind = device ? KIND_KERNEL : KIND_OP,
                         .args = sample_args(r, times)};
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
    static const char *const names[] = {"name", "type", "input"};
    str members[3], footprint = find_member(&r->footprints, id);
    find_members(operator, names, 3, members);
    operator_facts f = {
        .id = id, .name = members[0].p ? members[0] : STR("\"\""), .has_foot = footprint.p};
    find_members(footprint, FOOT_KEYS, N_FOOT, f.foot);
    if (!json_i64(id, &f.number)) f.number = ABSENT_I64;
    f.name_id = keep_decoded(r, f.name);
    describe(r, &f, members, ++r->n_operators);
    if (r->failed || !buf_ok(&r->common)) return ERR_MEMORY;
    TRY(add_samples(r, &f, find_member(&r->devices, id), true));
    return add_samples(r, &f, find_member(&r->hosts, id), false);
}

/* ---- the whole ---- */

/* The next key of an object; the walk stands at its value. */
static bool next_key(json_iter *it, str *key) {
    const char *p = it->p, *end = it->end;
    while (p < end && (json_is_space(*p) || *p == ',')) p++;
    if (p == end || *p != '"') return false;
    const char *close = json_string_end(p + 1, end);
    if (!close) return false;
    *key = str_n(p + 1, (size_t)(close - p - 1));
    p = json_space(close + 1, end);
    if (p == end || *p != ':') return false;
    it->p = json_space(p + 1, end);
    return it->p < end;
}

/* Goes into the object at the walk; behind it with leave. */
static bool enter(const json_iter *it, json_iter *inner) {
    *inner = (json_iter){it->p + 1, it->end, true};
    return *it->p == '{';
}

static bool leave(json_iter *it, const json_iter *inner) {
    const char *p = inner->p;
    while (p < it->end && (json_is_space(*p) || *p == ',')) p++;
    if (p == it->end || *p != '}') return false;
    it->p = p + 1;
    return true;
}

static bool skip_value(json_iter *it) {
    const char *stop = json_value_end(it->p, it->end);
    if (stop) it->p = stop;
    return stop != NULL;
}

/* Indexes the objects below graph_exec and profiler; false when out of memory. *whole: the text had its
 * end. Each byte is looked at once, however large the parts are. */
static bool index_profile(reader *r, bool *whole) {
    struct {
        str outer, inner;
        lookup *to;
    } parts[] = {{STR("graph_exec"), STR("operator"), &r->operators},
                 {STR("graph_exec"), STR("var"), &r->vars},
                 {STR("profiler"), STR("device"), &r->devices},
                 {STR("profiler"), STR("host"), &r->hosts},
                 {STR("profiler"), STR("opr_footprint"), &r->footprints}};
    json_iter root = json_open(r->text), outer, inner;
    str name, key;
    bool good = true, object;
    while (good && next_key(&root, &name)) {
        object = enter(&root, &outer);
        r->has_profiler |= object && str_eq(name, STR("profiler"));
        bool known = str_eq(name, STR("profiler")) || str_eq(name, STR("graph_exec"));
        if (!object || !known) {
            good = skip_value(&root);
            continue;
        }
        while (good && next_key(&outer, &key)) {
            lookup *to = NULL;
            for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
                if (str_eq(parts[i].outer, name) && str_eq(parts[i].inner, key))
                    to = parts[i].to;
            if (to && enter(&outer, &inner)) {
                if (!index_members(to, &inner)) return false;
                good = leave(&outer, &inner);
            } else {
                good = skip_value(&outer);
            }
        }
        good = good && leave(&root, &outer);
    }
    *whole = good && leave(&root, &(json_iter){root.p, root.end, true});
    return true;
}

static status read_profile(reader *r, bool *whole, error *err) {
    if (!index_profile(r, whole)) FAIL_MEMORY(err);
    if (!r->operators.values.n || !r->has_profiler)
        FAIL0(err, ERR_FORMAT, NOPOS, MSG_NO_STATIC_PROFILE);
    for (size_t i = 0; i < r->operators.values.n; i++)
        if (add_operator(r, VEC(&r->operators.keys, str)[i],
                         VEC(&r->operators.values, str)[i]) != OK)
            FAIL_MEMORY(err);
    if (r->has_named) TRY(megengine_add_words(r->b, err));
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
    vec_fini(&l->keys);
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
                .device_rows = VEC_INIT(int64_t),
                .devices_known = VEC_INIT(int64_t),
                .operators = NO_MEMBERS,
                .devices = NO_MEMBERS,
                .hosts = NO_MEMBERS,
                .footprints = NO_MEMBERS,
                .vars = NO_MEMBERS};
    bool whole = false;
    if (st == OK && !r.part) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (st == OK) st = read_profile(&r, &whole, err);
    if (st == OK && (source_damaged(src) || !whole))
        part_lost(r.part, CAUSE_TRUNCATED, r.text.n, 0);
    if (st == OK) part_finish(r.part);
    builder_set_format(b, "megengine_static");
    builder_set_input_bytes(b, text.n);
    vec_fini(&r.device_rows);
    vec_fini(&r.devices_known);
    buf_fini(&r.common);
    buf_fini(&r.args);
    fini_lookup(&r.operators);
    fini_lookup(&r.devices);
    fini_lookup(&r.hosts);
    fini_lookup(&r.footprints);
    fini_lookup(&r.vars);
    buf_fini(&text);
    return st;
}
