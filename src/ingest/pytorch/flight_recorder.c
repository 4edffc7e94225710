/* flight_recorder.c: a dump of the flight recorder as a trace.
 *
 *     { version, pg_config: { GROUP: {name, desc, ranks: "[0, 1]"} }, pg_status: {…},
 *       entries: [ {profiling_name: "nccl:all_reduce", process_group: [name, description], state,
 *                   collective_seq_id, p2p_seq_id, is_p2p, time_created_ns, time_discovered_started_ns,
 *                   time_discovered_completed_ns, input_sizes, input_dtypes, frames, …} ] }
 *
 * A pickle is first written as JSON (pickle.h executes nothing), so both forms take one way. An
 * entry is a slice on the row of its group, from the call to the time its end was noticed; one
 * that did not complete lasts until the last time in the dump and is unfinished. Its state
 * (scheduled, started, completed) is its category. Sizes, types and the stack are those of an
 * operator; group and number those of a collective. Times are of the host: the recorder looks
 * now and then, so an end is noticed late. nccl_comm_state is not read. */
#include "ingest/pytorch/flight_recorder.h"

#include "base/json.h"
#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"
#include "ingest/util/pickle.h"

enum { MOST_LEVELS = 6, MOST_FRAMES = 64 };
#define MOST_TIME ((int64_t)1 << 61)

typedef struct {
    builder *b;
    part *part;
    str groups;     /* pg_config */
    str last_group; /* of the last entry, a JSON value */
    uint32_t last_ranks;
    int64_t last_ns, first_ns;
    map labelled; /* tracks that have a name */
    buf text;
} recorder;

/* ---- a pickle as JSON -------------------------------------------------------------------- */

/* A small pickle of lists in lists may stand for a large text: beyond this it is not a dump,
 * and the rest is null. */
#define MOST_TEXT ((size_t)256 << 20)

static void write_value(const pickle *p, pickle_value v, int depth, buf *out);

static void write_pairs(const pickle *p, pickle_value v, int depth, buf *out) {
    pickle_value key, value;
    const char *between = "{";
    for (pickle_iter it = pickle_pairs(p, v); pickle_next_pair(p, &it, &key, &value);) {
        str text;
        if (!pickle_text(p, key, &text)) continue;
        buf_add_cstr(out, between);
        buf_add_json(out, text);
        buf_add_byte(out, ':');
        write_value(p, value, depth + 1, out);
        between = ",";
    }
    buf_add_cstr(out, *between == '{' ? "{}" : "}");
}

static void write_items(const pickle *p, pickle_value v, int depth, buf *out) {
    pickle_value item;
    const char *between = "[";
    for (pickle_iter it = pickle_items(p, v); pickle_next(p, &it, &item);) {
        buf_add_cstr(out, between);
        write_value(p, item, depth + 1, out);
        between = ",";
    }
    buf_add_cstr(out, *between == '[' ? "[]" : "]");
}

static void write_value(const pickle *p, pickle_value v, int depth, buf *out) {
    pickle_kind kind = pickle_kind_of(v);
    str text;
    int64_t i;
    double d;
    if (depth > MOST_LEVELS || out->n > MOST_TEXT || !buf_ok(out))
        buf_add_cstr(out, "null");
    else if (kind == PICKLE_KIND_DICT)
        write_pairs(p, v, depth, out);
    else if (kind == PICKLE_KIND_LIST)
        write_items(p, v, depth, out);
    else if (pickle_text(p, v, &text))
        buf_add_json(out, text);
    else if (kind == PICKLE_KIND_BOOL && pickle_i64(p, v, &i))
        buf_add_cstr(out, i ? "true" : "false");
    else if (pickle_i64(p, v, &i))
        buf_add_i64(out, i);
    else if (pickle_f64(p, v, &d) && d > -1e300 && d < 1e300)
        buf_add_f64(out, d);
    else
        buf_add_cstr(out, "null");
}

static status read_pickle(recorder *r, source *src, const ingest_options *o, buf *json,
                          error *err) {
    pickle *p = NULL;
    pickle_options how = {.progress = o->progress,
                          .progress_context = o->progress_context,
                          .memory_limit_bytes = o->memory_limit_bytes};
    TRY(pickle_read(src, &how, &p, err));
    status st = OK;
    write_value(p, pickle_root(p), 0, json);
    if (pickle_is_cut(p)) part_lost(r->part, CAUSE_TRUNCATED, pickle_input_bytes(p), 0);
    if (!buf_ok(json)) st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    builder_set_input_bytes(r->b, pickle_input_bytes(p));
    pickle_free(p);
    return st;
}

static status read_json(recorder *r, source *src, buf *json, error *err) {
    piece pc;
    buf raw = {0};
    status st;
    while ((st = source_next(src, (size_t)4 << 20, 0, &pc, err)) == OK && pc.n) {
        buf_add(&raw, pc.p, pc.n);
        source_release(src, &pc);
    }
    if (st == OK && json_normal(str_trim(buf_str(&raw)), json) & JSON_BROKEN)
        part_lost(r->part, CAUSE_TRUNCATED, raw.n, 0);
    builder_set_input_bytes(r->b, raw.n);
    if (st == OK && (!buf_ok(&raw) || !buf_ok(json)))
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    buf_fini(&raw);
    return st;
}

/* ---- entries ----------------------------------------------------------------------------- */

/* What is read of an entry, each a JSON value; empty: it is not there. */
enum {
    CREATED,
    STARTED,
    COMPLETED,
    STATE,
    PROFILING_NAME,
    RETIRED,
    IS_P2P,
    GROUP,
    INPUT_SIZES,
    INPUT_TYPES,
    OUTPUT_SIZES,
    FRAMES,
    SEQUENCE,
    P2P_SEQUENCE,
    N_FIELDS
};
static const str FIELDS[N_FIELDS] = {[CREATED] = STR("time_created_ns"),
                                     [STARTED] = STR("time_discovered_started_ns"),
                                     [COMPLETED] = STR("time_discovered_completed_ns"),
                                     [STATE] = STR("state"),
                                     [PROFILING_NAME] = STR("profiling_name"),
                                     [RETIRED] = STR("retired"),
                                     [IS_P2P] = STR("is_p2p"),
                                     [GROUP] = STR("process_group"),
                                     [INPUT_SIZES] = STR("input_sizes"),
                                     [INPUT_TYPES] = STR("input_dtypes"),
                                     [OUTPUT_SIZES] = STR("output_sizes"),
                                     [FRAMES] = STR("frames"),
                                     [SEQUENCE] = STR("collective_seq_id"),
                                     [P2P_SEQUENCE] = STR("p2p_seq_id")};

typedef struct {
    str v[N_FIELDS];
} entry_fields;

/* One walk over an entry; the first of equal keys counts. */
static void read_fields(str entry, entry_fields *out) {
    json_iter it = json_open(entry);
    str key, value;
    *out = (entry_fields){0};
    while (json_next(&it, &key, &value))
        for (int i = 0; i < N_FIELDS; i++)
            if (key.n == FIELDS[i].n && memcmp(key.p, FIELDS[i].p, key.n) == 0) {
                if (!out->v[i].n) out->v[i] = value;
                break;
            }
}

static int64_t int_of(str json, int64_t otherwise) {
    int64_t v;
    return json_i64(json, &v) ? v : otherwise;
}

static int64_t time_of(str json) {
    int64_t ns = int_of(json, 0);
    return ns > 0 && ns < MOST_TIME ? ns : 0;
}

static uint32_t id_of(recorder *r, str json) {
    buf_clear(&r->text);
    (void)json_decode(json_text(json), &r->text);
    if (!buf_ok(&r->text)) return UINT32_MAX;
    return r->text.n ? intern_add(builder_strings(r->b), buf_str(&r->text)) : 0;
}

static uint32_t raw_id(recorder *r, str json) {
    return json.n ? intern_add(builder_strings(r->b), json) : 0;
}

static str item_at(str list, int n) {
    json_iter it = json_open(list);
    str key, value = STR_NONE;
    for (int i = 0; i <= n; i++)
        if (!json_next(&it, &key, &value)) return STR_NONE;
    return value;
}

/* Elements of all tensors of a list of shapes; absent when there are too many. */
static int64_t elements_of(str shapes) {
    json_iter it = json_open(shapes), dims;
    str key, shape, dim;
    int64_t sum = 0, n;
    while (shapes.n && json_next(&it, &key, &shape)) {
        int64_t product = 1;
        for (dims = json_open(shape); json_next(&dims, &key, &dim);)
            if (!json_i64(dim, &n) || n < 0 || __builtin_mul_overflow(product, n, &product))
                return ABSENT_I64;
        if (__builtin_add_overflow(sum, product, &sum)) return ABSENT_I64;
    }
    return sum;
}

/* file.py(12): function;…, innermost first. */
static uint32_t stack_of(recorder *r, str frames) {
    json_iter it = json_open(frames);
    str key, frame;
    buf_clear(&r->text);
    for (int n = 0; frames.n && n < MOST_FRAMES && json_next(&it, &key, &frame); n++) {
        json_iter members = json_open(frame);
        str file = STR_NONE, line = STR_NONE, name = STR_NONE, value;
        while (json_next(&members, &key, &value)) {
            if (str_eq(key, STR("filename"))) file = value;
            if (str_eq(key, STR("line"))) line = value;
            if (str_eq(key, STR("name"))) name = value;
        }
        if (r->text.n) buf_add_byte(&r->text, ';');
        (void)json_decode(json_text(file), &r->text);
        buf_add_byte(&r->text, '(');
        buf_add_i64(&r->text, int_of(line, 0));
        buf_add_cstr(&r->text, "): ");
        (void)json_decode(json_text(name), &r->text);
    }
    if (!buf_ok(&r->text)) return UINT32_MAX;
    return r->text.n ? intern_add(builder_strings(r->b), buf_str(&r->text)) : 0;
}

/* "nccl:send 0->1", "nccl:recv 1<-0": ranks inside the group. */
static void find_ends(str name, raw_comm *c) {
    size_t to = str_find(name, STR("->"), 0), from = str_find(name, STR("<-"), 0);
    size_t at = to != SIZE_MAX ? to : from, blank = str_rfind_byte(name, ' ');
    int64_t left, right;
    if (at == SIZE_MAX || blank == SIZE_MAX || blank > at ||
        !str_to_i64(str_n(name.p + blank + 1, at - blank - 1), &left) ||
        !str_to_i64(str_from(name, at + 2), &right))
        return;
    c->src = sat_i32(to != SIZE_MAX ? left : right);
    c->dst = sat_i32(to != SIZE_MAX ? right : left);
}

/* The ranks of a group; entries of one group come in long runs. */
static uint32_t ranks_of(recorder *r, str group) {
    if (!r->last_group.p || !str_eq(group, r->last_group)) {
        str config = json_member(r->groups, json_text(group));
        r->last_group = group;
        r->last_ranks = id_of(r, json_member(config, STR("ranks")));
    }
    return r->last_ranks;
}

static status fill_comm(recorder *r, const entry_fields *e, str name, raw_comm *c) {
    str group = e->v[GROUP];
    bool p2p = str_eq(e->v[IS_P2P], STR("true"));
    size_t colon = str_find(name, STR(":"), 0), blank = str_find(name, STR(" "), 0);
    str op = str_n(name.p, blank == SIZE_MAX ? name.n : blank);
    if (colon != SIZE_MAX && colon < op.n) op = str_from(op, colon + 1);
    *c = (raw_comm){.slice = part_next_slice(r->part),
                    .name = intern_add(builder_strings(r->b), op),
                    .group_name = id_of(r, item_at(group, 0)),
                    .group_description = id_of(r, item_at(group, 1)),
                    .group_ranks = ranks_of(r, item_at(group, 0)),
                    .dtype = id_of(r, item_at(e->v[INPUT_TYPES], 0)),
                    .group_size = ABSENT_I64,
                    .sequence = int_of(e->v[p2p ? P2P_SEQUENCE : SEQUENCE], ABSENT_I64),
                    .comms_id = ABSENT_I64,
                    .in_elements = elements_of(e->v[INPUT_SIZES]),
                    .out_elements = elements_of(e->v[OUTPUT_SIZES]),
                    .src = ABSENT_I32,
                    .dst = ABSENT_I32};
    if (p2p) find_ends(name, c);
    bool ok = c->name != UINT32_MAX && c->group_name != UINT32_MAX &&
              c->group_description != UINT32_MAX && c->group_ranks != UINT32_MAX &&
              c->dtype != UINT32_MAX;
    return ok ? OK : ERR_MEMORY;
}

/* The row of the group, with its name. */
static status find_track(recorder *r, const raw_comm *c, uint32_t *track) {
    ident pid = {.v = 0}, tid = {.v = c->group_name, .text = c->group_name != 0};
    *track = part_track(r->part, pid, tid);
    uint32_t *seen = *track == UINT32_MAX ? NULL : map_at(&r->labelled, *track);
    if (!seen) return ERR_MEMORY;
    if (*seen != MAP_NONE) return OK;
    *seen = 1;
    uint32_t name = c->group_description ? c->group_description : c->group_name;
    raw_label label = {.pid = pid, .tid = tid, .value = name, .kind = LABEL_THREAD_NAME};
    return name ? part_label(r->part, &label) : OK;
}

static status take_entry(recorder *r, const entry_fields *e) {
    str state = json_text(e->v[STATE]);
    int64_t created = time_of(e->v[CREATED]), ended = time_of(e->v[COMPLETED]);
    uint32_t name = id_of(r, e->v[PROFILING_NAME]);
    part_count(r->part, 1, 0);
    if (name == UINT32_MAX) return ERR_MEMORY;
    if (!name || !created) {
        part_lost(r->part, name ? CAUSE_MISSING_TIME : CAUSE_MISSING_NAME, NOPOS, name);
        part_count(r->part, 0, 1);
        return OK;
    }
    /* Gloo never changes the state: what it no longer looks after has ended, nobody knows
     * when. */
    bool retired = str_eq(e->v[RETIRED], STR("true"));
    bool done = retired || str_eq(state, STR("completed"));
    int64_t end = max_i64(done && ended ? ended : done ? created : r->last_ns, created);
    raw_comm c;
    raw_slice row = {.start = created - r->first_ns,
                     .dur = end - created,
                     .name = name,
                     .kind = KIND_COLLECTIVE,
                     .flags = done ? 0 : SLICE_UNFINISHED};
    raw_op op = {.external = ABSENT_I64,
                 .sequence = ABSENT_I64,
                 .forward_thread = ABSENT_I64,
                 .shapes = raw_id(r, e->v[INPUT_SIZES]),
                 .types = raw_id(r, e->v[INPUT_TYPES]),
                 .call_stack = stack_of(r, e->v[FRAMES])};
    uint32_t word = intern_add(builder_strings(r->b), state);
    if (op.shapes == UINT32_MAX || op.types == UINT32_MAX || op.call_stack == UINT32_MAX ||
        word == UINT32_MAX)
        return ERR_MEMORY;
    row.category = builder_category(r->b, word);
    TRY(fill_comm(r, e, intern_get(builder_strings(r->b), name), &c));
    TRY(find_track(r, &c, &row.track));
    TRY(part_op(r->part, &op, &row));
    TRY(part_comm(r->part, &c));
    return part_slice(r->part, &row);
}

/* ---- the whole --------------------------------------------------------------------------- */

/* All entries; the times of the first and the last of them. */
static status list_entries(recorder *r, str list, vec *entries, error *err) {
    json_iter it = json_open(list);
    str key, entry;
    while (json_next(&it, &key, &entry)) {
        entry_fields *e = vec_push(entries);
        if (!e) FAIL_MEMORY(err);
        read_fields(entry, e);
        for (int i = CREATED; i <= COMPLETED; i++) {
            int64_t ns = time_of(e->v[i]);
            if (!ns) continue;
            r->last_ns = max_i64(r->last_ns, ns);
            if (i == CREATED) r->first_ns = r->first_ns ? min_i64(r->first_ns, ns) : ns;
        }
    }
    return OK;
}

static status take_entries(recorder *r, str list, error *err) {
    vec entries = VEC_INIT(entry_fields);
    status st = list_entries(r, list, &entries, err);
    if (st == OK && r->first_ns) builder_set_base_unix_ns(r->b, r->first_ns);
    for (size_t i = 0; i < entries.n && st == OK; i++)
        if (take_entry(r, &VEC(&entries, entry_fields)[i]) != OK)
            st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    vec_fini(&entries);
    return st;
}

static status add_facts(recorder *r, str dump, error *err) {
    static const char *const keys[] = {"version", "nccl_version", "comm_lib_version",
                                       "pg_status"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        str value = json_member(dump, str_of(keys[i]));
        uint32_t k = intern_add(builder_strings(r->b), str_of(keys[i])), v = raw_id(r, value);
        if (k == UINT32_MAX || v == UINT32_MAX) FAIL_MEMORY(err);
        if (v) TRY(builder_add_meta(r->b, k, v, err));
    }
    return OK;
}

static status take_dump(recorder *r, str dump, error *err) {
    str entries = json_member(dump, STR("entries"));
    r->groups = json_member(dump, STR("pg_config"));
    if (!entries.n && !r->groups.n) FAIL0(err, ERR_FORMAT, 0, MSG_FLIGHT_RECORDER_NOTHING);
    TRY(add_facts(r, dump, err));
    if (!entries.n || *entries.p != '[') return OK;
    return take_entries(r, entries, err);
}

status ingest_flight_recorder(source *src, const ingest_options *o, builder *b, error *err) {
    recorder r = {.b = b, .part = builder_part(b)};
    buf json = {0};
    str head;
    if (!r.part) FAIL_MEMORY(err);
    builder_set_format(b, "flight_recorder");
    TRY(source_peek(src, 4096, &head, err));
    const char *first = json_space(head.p, head.p + head.n);
    bool text = first < head.p + head.n && *first == '{';
    status st = text ? read_json(&r, src, &json, err) : read_pickle(&r, src, o, &json, err);
    if (st == OK) st = take_dump(&r, buf_str(&json), err);
    if (source_damaged(src)) part_lost(r.part, CAUSE_STREAM_DAMAGED, NOPOS, 0);
    part_finish(r.part);
    map_fini(&r.labelled);
    buf_fini(&r.text);
    buf_fini(&json);
    return st;
}

bool flight_recorder_head(str head) {
    bool entries = str_find(head, STR("collective_seq_id"), 0) != SIZE_MAX;
    bool groups = str_find(head, STR("pg_config"), 0) != SIZE_MAX &&
                  str_find(head, STR("pg_status"), 0) != SIZE_MAX;
    if (!head.n) return false;
    const char *end = head.p + head.n, *first = json_space(head.p, end);
    bool form = first < end && (*first == '{' || *first == '\x80' || *first == '}');
    return form && (entries || groups);
}
