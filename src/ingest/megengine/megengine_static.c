/* megengine_static.c: the profile of a MegEngine static graph (`profiling.json`).
 *
 *     {"graph_exec": {"operator": {ID: {name, type, input, …}}, "var": {ID: …}, …},
 *      "profiler":   {"device": {ID: {DEVICE: {start, kern, end}}}, "host": {ID: {THREAD: …}},
 *                     "opr_footprint": {ID: {computation, memory, in_shapes, …}}}}
 *
 * The last run of the graph becomes a timeline: each sample of an operator is a slice from
 * start to end, on the row of its device as device work and on the row of its thread as an
 * operator; they find each other by the operator's id. What no column holds (type, the moment
 * of the kernel, shapes of the outputs, types of the inputs, the operator's place in the file)
 * is in the arguments, the three times there as they were written: reproducing the producer's
 * own figures takes every digit.
 *
 * Operators that did not run have no samples and no row. How the file is read:
 * megengine_static_read.c. */
#include "ingest/megengine/megengine_static_int.h"

#include "base/json.h"
#include "base/num.h"
#include "ingest/megengine/megengine.h"

enum { READ_BYTES = 1 << 20 };
#define MOST_BYTES ((uint64_t)2 << 30)

/* The arguments of a sample, in this order, as far as they are there. */
enum {
    ARG_NAME,
    ARG_TYPE,
    ARG_ID,
    ARG_ORDER,
    ARG_INPUT_TYPES,
    ARG_FOOT,
    ARG_HAS_FOOT = ARG_FOOT + N_FOOT,
    ARG_TIMES,
    N_ARGS = ARG_TIMES + N_TIMES
};
static const str ARG_KEYS[N_ARGS] = {STR("name"),       STR("type"),         STR("id"),
                                     STR("order"),      STR("input_dtypes"), STR("computation"),
                                     STR("memory"),     STR("in_shapes"),    STR("in_layouts"),
                                     STR("out_shapes"), STR("param"),        STR("footprint"),
                                     STR("start"),      STR("kern"),         STR("end")};

/* The places of the trie for arguments of which some are there. */
enum { N_SHAPES = 8 };
typedef struct {
    uint32_t present; /* bits */
    uint32_t places[N_ARGS];
} arg_shape;

typedef struct {
    uint32_t present;
    raw_value values[N_ARGS];
} arguments;

/* A row of the timeline: a device or a thread. */
typedef struct {
    uint32_t where; /* string id, 0 = none */
    uint32_t track;
    int32_t device; /* ABSENT_I32 when it is not a device */
} side_row;

enum { N_PLACES = 4 };
typedef struct {
    builder *b;
    part *part;
    static_profile profile;
    uint32_t yes, no_types;           /* string ids of `true` and `[]` */
    arg_shape shapes[N_SHAPES];       /* the last few */
    side_row rows[N_SIDES][N_PLACES]; /* the last few */
    size_t next_shape, next_row;
    vec device_rows, devices_known; /* int64_t: rows that have their device; devices */
    buf list;
    uint64_t n_operators, n_samples;
    map reported;   /* rows of facts that are rows of graph_op */
    bool has_named; /* a device whose word the file must tell */
} reader;

/* What the samples of an operator have in common. */
typedef struct {
    const static_operator *op;
    const static_footprint *foot;
    int64_t number; /* the id as a number, ABSENT_I64 when it is not one */
    arguments args;
} operator_facts;

/* ---- arguments ---- */

static void set_argument(arguments *a, unsigned which, raw_value value) {
    a->values[which] = value;
    a->present |= 1u << which;
}

static void set_text(arguments *a, unsigned which, uint8_t tag, uint32_t id) {
    set_argument(a, which, (raw_value){.tag = tag, .v = id});
}

/* Places of these arguments; NULL when out of memory. */
static const arg_shape *find_shape(reader *r, uint32_t present) {
    for (size_t i = 0; i < N_SHAPES; i++)
        if (r->shapes[i].present == present) return &r->shapes[i];
    arg_shape *made = &r->shapes[r->next_shape++ % N_SHAPES];
    uint32_t at = 0;
    made->present = 0;
    for (unsigned i = 0; i < N_ARGS; i++) {
        if (!(present >> i & 1)) continue;
        uint32_t key = static_keep(&r->profile, ARG_KEYS[i]);
        at = r->profile.failed ? 0 : builder_shape(r->b, at, key);
        if (!at) return NULL;
        made->places[i] = at;
    }
    made->present = present;
    return made;
}

/* The record of a sample. False when out of memory. */
static bool keep_arguments(reader *r, const arguments *a, const static_sample *s,
                           uint32_t *out) {
    raw_value values[N_ARGS];
    size_t n = 0;
    uint32_t present = a->present | (uint32_t)s->present << ARG_TIMES;
    const arg_shape *shape = find_shape(r, present);
    if (!shape) return false;
    for (unsigned i = 0; i < N_ARGS; i++) {
        if (!(present >> i & 1)) continue;
        values[n] = i < ARG_TIMES ? a->values[i] : s->times[i - ARG_TIMES];
        values[n++].place = shape->places[i];
    }
    *out = part_args(r->part, values, n);
    return true;
}

/* The types of the inputs whose place in memory is planned; the others are not known. */
static uint32_t keep_types(reader *r, const static_operator *op) {
    static_profile *p = &r->profile;
    buf *b = &r->list;
    buf_clear(b);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        uint32_t type = map_get(&p->type_of, VEC(&p->inputs, uint64_t)[op->first_input + i]);
        if (type == MAP_NONE || type == 0) continue;
        buf_add_str(b, b->n ? STR(", ") : STR("["));
        buf_add_str(b, intern_get(p->strings, type));
    }
    if (!b->n && buf_ok(b)) {
        if (!r->no_types) r->no_types = static_keep(p, STR("[]"));
        return r->no_types;
    }
    buf_add_byte(b, ']');
    p->failed |= !buf_ok(b);
    return p->failed ? 0 : static_keep(p, buf_str(b));
}

static void static_graph_describe(reader *r, operator_facts *f, bool has_foot) {
    arguments *a = &f->args;
    for (unsigned i = 0; i < 2; i++)
        if (f->op->present >> i & 1) set_argument(a, ARG_NAME + i, f->op->values[i]);
    set_text(a, ARG_ID, VALUE_STRING, static_keep(&r->profile, f->op->id));
    set_argument(a, ARG_ORDER, (raw_value){.tag = VALUE_INT, .v = (int64_t)++r->n_operators});
    set_text(a, ARG_INPUT_TYPES, VALUE_RAW, keep_types(r, f->op));
    for (unsigned i = 0; i < N_FOOT; i++)
        if (f->foot->present >> i & 1) set_argument(a, ARG_FOOT + i, f->foot->values[i]);
    if (has_foot) set_text(a, ARG_HAS_FOOT, VALUE_RAW, r->yes);
}

/* ---- operators ---- */

/* A value as a number, NaN when it is not one. */
static double value_number(const reader *r, const raw_value *v) {
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double number = (double)v->v;
    if (v->tag == VALUE_INT) return number;
    if (v->tag == VALUE_DECIMAL && v->digits < sizeof power / sizeof *power)
        return number / power[v->digits]; /* both are exact: so is the last digit */
    if (v->tag != VALUE_RAW && v->tag != VALUE_STRING) return (double)NAN;
    return json_f64(intern_get(r->profile.strings, (uint32_t)v->v), &number) ? number
                                                                             : (double)NAN;
}

static double argument_number(const reader *r, const arguments *a, unsigned which) {
    return a->present >> which & 1 ? value_number(r, &a->values[which]) : (double)NAN;
}

/* A list as it was written; 0 when there is none. */
static uint32_t argument_list(const arguments *a, unsigned which) {
    return a->present >> which & 1 && a->values[which].tag == VALUE_RAW
               ? (uint32_t)a->values[which].v
               : 0;
}

static uint32_t argument_text(reader *r, const arguments *a, unsigned which) {
    const raw_value *v = &a->values[which];
    if (!(a->present >> which & 1)) return 0;
    if (v->tag == VALUE_STRING) return (uint32_t)v->v;
    buf_clear(&r->list);
    if (v->tag == VALUE_RAW)
        (void)json_decode(json_text(intern_get(r->profile.strings, (uint32_t)v->v)), &r->list);
    else
        buf_add_f64(&r->list, value_number(r, v));
    return static_keep(&r->profile, buf_str(&r->list));
}

static void take_longest(const reader *r, const static_sample *s, double *end, double *kern) {
    double at[N_TIMES];
    for (int i = 0; i < N_TIMES; i++)
        at[i] = s->present >> i & 1 ? value_number(r, &s->times[i]) : (double)NAN;
    if (!(*end >= at[TIME_END] - at[TIME_START])) *end = at[TIME_END] - at[TIME_START];
    if (!(*kern >= at[TIME_KERN] - at[TIME_START])) *kern = at[TIME_KERN] - at[TIME_START];
}

/* Two operators of one id share their samples: the first one stands for both. */
static status put_operator(reader *r, const operator_facts *f, const static_facts *facts) {
    row_graph_op row = row_graph_op_none();
    bool any = false;
    uint32_t *reported = map_at(&r->reported, f->op->facts);
    if (!reported) return ERR_MEMORY;
    if (*reported != MAP_NONE) return OK;
    *reported = 1;
    for (int side = 0; side < N_SIDES; side++)
        for (uint32_t i = 0; i < facts->n[side]; i++) {
            const static_sample *s =
                &VEC(&r->profile.samples, static_sample)[facts->first[side] + i];
            bool device = side == SIDE_DEVICE;
            any |= s->timed;
            if (s->timed)
                take_longest(r, s, device ? &row.device_end : &row.host_end,
                             device ? &row.device_kern : &row.host_kern);
        }
    if (!any) return OK;
    row.id = f->number;
    row.name = argument_text(r, &f->args, ARG_NAME);
    row.type = argument_text(r, &f->args, ARG_TYPE);
    row.has_footprint = facts->footprint != 0;
    row.flops = argument_number(r, &f->args, ARG_FOOT + FOOT_COMPUTATION);
    row.bytes = argument_number(r, &f->args, ARG_FOOT + FOOT_MEMORY);
    row.in_shapes = argument_list(&f->args, ARG_FOOT + FOOT_IN_SHAPES);
    row.in_layouts = argument_list(&f->args, ARG_FOOT + FOOT_IN_SHAPES + 1);
    row.out_shapes = argument_list(&f->args, ARG_FOOT + FOOT_IN_SHAPES + 2);
    row.in_types = argument_list(&f->args, ARG_INPUT_TYPES);
    if (r->profile.failed || !buf_ok(&r->list)) return ERR_MEMORY;
    return builder_put_graph_op(r->b, &row, NULL);
}

/* ---- devices and threads ---- */

static bool is_new(vec *known, int64_t key, bool *failed) {
    for (size_t i = 0; i < known->n; i++)
        if (VEC(known, int64_t)[i] == key) return false;
    int64_t *to = known->n < 1024 ? vec_push(known) : NULL; /* more are ignored */
    *failed |= !to && known->n < 1024;
    if (to) *to = key;
    return to != NULL;
}

/* Each device once, and the number of each of their rows. */
static status static_graph_add_device(reader *r, uint32_t where, const megengine_device *d) {
    bool *failed = &r->profile.failed;
    bool seen = !is_new(&r->device_rows, where, failed);
    if (*failed) return ERR_MEMORY;
    if (seen) return OK;
    raw_label label = {
        .pid = {1, false}, .tid = {where, true}, .value = d->id, .kind = LABEL_THREAD_DEVICE};
    TRY(part_label(r->part, &label));
    if (!is_new(&r->devices_known, (int64_t)d->type << 32 | d->id, failed)) return OK;
    r->has_named |= megengine_is_named(d->type);
    raw_device row = RAW_DEVICE_NONE;
    row.id = d->id;
    row.type = d->type;
    row.name = static_keep(&r->profile, d->physical);
    return builder_add_device(r->b, &row, NULL);
}

/* The row of a device or thread; they are few, again and again. */
static status find_side_row(reader *r, uint32_t where, int side, side_row *out) {
    for (size_t i = 0; i < N_PLACES; i++)
        if (r->rows[side][i].where == where && where) {
            *out = r->rows[side][i];
            return OK;
        }
    megengine_device d;
    bool is_device = megengine_device_of(intern_get(r->profile.strings, where), &d);
    if (is_device && side == SIDE_DEVICE) TRY(static_graph_add_device(r, where, &d));
    ident process = {side == SIDE_DEVICE ? 1 : 0, false};
    side_row made = {.where = where,
                     .track = part_track(r->part, process, (ident){where, true}),
                     .device = is_device ? d.id : ABSENT_I32};
    if (made.track == UINT32_MAX || r->profile.failed) return ERR_MEMORY;
    *out = r->rows[side][r->next_row++ % N_PLACES] = made;
    return OK;
}

/* ---- samples ---- */

static status static_graph_add_op(reader *r, const operator_facts *f, raw_slice *row) {
    raw_op op = {.external = f->number,
                 .sequence = ABSENT_I64,
                 .forward_thread = ABSENT_I64,
                 .shapes = f->foot->shapes};
    TRY(part_op(r->part, &op, row));
    raw_op_cost cost = {.op = row->extra, .flops = f->foot->flops, .bytes = f->foot->bytes};
    return part_op_cost(r->part, &cost);
}

static status static_graph_add_work(reader *r, const operator_facts *f, int32_t device,
                                    raw_slice *row) {
    raw_kernel k = RAW_KERNEL_NONE;
    k.external = f->number;
    if (device != ABSENT_I32) k.device = device;
    return part_kernel(r->part, &k, row);
}

static status add_sample(reader *r, const operator_facts *f, const static_sample *s, int side) {
    part_count(r->part, 1, 0);
    if (!s->timed) {
        part_lost(r->part, CAUSE_MISSING_TIME, s->offset, 0);
        part_count(r->part, 0, 1);
        return OK;
    }
    if (s->end_ns < s->start_ns) part_lost(r->part, CAUSE_NEGATIVE_DURATION, s->offset, 0);
    side_row where;
    TRY(find_side_row(r, s->where, side, &where));
    raw_slice row = {.start = s->start_ns,
                     .dur = s->end_ns > s->start_ns ? sub_i64(s->end_ns, s->start_ns) : 0,
                     .name = f->op->name,
                     .track = where.track,
                     .kind = side == SIDE_DEVICE ? KIND_KERNEL : KIND_OP};
    if (!keep_arguments(r, &f->args, s, &row.args)) return ERR_MEMORY;
    TRY(side == SIDE_DEVICE ? static_graph_add_work(r, f, where.device, &row)
                            : static_graph_add_op(r, f, &row));
    r->n_samples++;
    return part_slice(r->part, &row);
}

static status static_graph_add_operator(reader *r, const static_operator *op) {
    const static_profile *p = &r->profile;
    const static_facts *facts = &VEC(&p->facts, static_facts)[op->facts];
    operator_facts f = {.op = op,
                        .foot = &VEC(&p->footprints, static_footprint)[facts->footprint]};
    if (!(facts->id & STATIC_HASHED))
        f.number = (int64_t)facts->id;
    else if (!str_to_i64(op->id, &f.number))
        f.number = ABSENT_I64;
    static_graph_describe(r, &f, facts->footprint != 0);
    if (p->failed) return ERR_MEMORY;
    TRY(put_operator(r, &f, facts));
    for (int side = 0; side < N_SIDES; side++)
        for (uint32_t i = 0; i < facts->n[side]; i++)
            TRY(add_sample(r, &f, &VEC(&p->samples, static_sample)[facts->first[side] + i],
                           side));
    return OK;
}

/* ---- the whole ---- */

/* The text of the file; *held is the piece it is in, or it was copied to *copy. */
static status static_graph_read_all(source *src, const ingest_options *o, buf *copy,
                                    piece *held, error *err) {
    uint64_t limit = o->memory_limit_bytes ? o->memory_limit_bytes : MOST_BYTES;
    uint64_t size = source_codec(src) == CODEC_NONE ? source_file_bytes(src) : 0;
    bool whole = size && size <= limit;
    for (;;) {
        TRY(source_next(src, whole ? (size_t)size : READ_BYTES, 0, held, err));
        if (held->n == 0 || (whole && copy->n == 0 && held->n == size)) return OK;
        buf_add(copy, held->p, held->n);
        source_release(src, held);
        if (!buf_reserve(copy, SOURCE_PAD)) FAIL_MEMORY(err);
        memset(copy->p + copy->n, 0, SOURCE_PAD);
        if (copy->n > limit)
            FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT, arg_bytes("limit", sat_i64(limit)));
    }
}

static status add_counts(reader *r, error *err) {
    buf *b = &r->list;
    buf_clear(b);
    buf_printf(b, "{\"operators\":%llu,\"samples\":%llu}", (unsigned long long)r->n_operators,
               (unsigned long long)r->n_samples);
    uint32_t key = static_keep(&r->profile, STR("graph_exec"));
    uint32_t value = buf_ok(b) ? static_keep(&r->profile, buf_str(b)) : UINT32_MAX;
    if (r->profile.failed || value == UINT32_MAX) FAIL_MEMORY(err);
    return builder_add_meta(r->b, key, value, err);
}

static status read_profile(reader *r, error *err) {
    static_profile *p = &r->profile;
    static_profile_read(p);
    r->yes = static_keep(p, STR("true"));
    if (p->failed) FAIL_MEMORY(err);
    if (!p->operators.n || !p->has_profiler)
        FAIL0(err, ERR_FORMAT, NOPOS, MSG_NO_STATIC_PROFILE);
    for (size_t i = 0; i < p->operators.n; i++)
        if (static_graph_add_operator(r, &VEC(&p->operators, static_operator)[i]) != OK)
            FAIL_MEMORY(err);
    if (r->has_named) TRY(megengine_add_words(r->b, err));
    return add_counts(r, err);
}

status ingest_megengine_static(source *src, const ingest_options *o, builder *b, error *err) {
    buf copy = {0};
    piece held = {0};
    status st = static_graph_read_all(src, o, &copy, &held, err);
    str text = held.n ? str_n(held.p, held.n) : buf_str(&copy);
    reader r = {.b = b,
                .part = builder_part(b),
                .device_rows = VEC_INIT(int64_t),
                .devices_known = VEC_INIT(int64_t)};
    static_profile_init(&r.profile, builder_strings(b), text);
    if (st == OK && !r.part) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (st == OK) st = read_profile(&r, err);
    if (st == OK && (source_damaged(src) || !r.profile.whole))
        part_lost(r.part, CAUSE_TRUNCATED, text.n, 0);
    if (st == OK) part_finish(r.part);
    builder_set_format(b, "megengine_static");
    builder_set_input_bytes(b, text.n);
    static_profile_fini(&r.profile);
    vec_fini(&r.device_rows);
    vec_fini(&r.devices_known);
    buf_fini(&r.list);
    map_fini(&r.reported);
    source_release(src, &held);
    buf_fini(&copy);
    return st;
}
