/* flight_recorder.c: a dump of the flight recorder as a trace.
 *
 *     { version, pg_config: { GROUP: {name, desc, ranks: "[0, 1]"} }, pg_status: {…},
 *       entries: [ {profiling_name: "nccl:all_reduce", process_group: [name, description],
 *                   state, collective_seq_id, p2p_seq_id, is_p2p, time_created_ns,
 *                   time_discovered_started_ns, time_discovered_completed_ns, input_sizes,
 *                   input_dtypes, frames, …} ] }
 *
 * Both forms take one way, but for the entries of a pickle (flight_recorder_pickle.c). An entry
 * is a slice on the row of its group, from the call to the time its end was noticed; one
 * that did not complete lasts until the last time in the dump and is unfinished. Its state
 * (scheduled, started, completed) is its category. Sizes, types and the stack are those of an
 * operator; group and number those of a collective. Times are of the host: the recorder polls,
 * so an end is noticed late. nccl_comm_state is not read. */
#include "ingest/pytorch/flight_recorder.h"

#include "base/json.h"
#include "base/num.h"
#include "ingest/pytorch/flight_recorder_int.h"

enum { MOST_FRAMES = 64 };

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

const str FLIGHT_FIELDS[N_FLIGHT_FIELDS] = {
    [FLIGHT_CREATED] = STR("time_created_ns"),
    [FLIGHT_STARTED] = STR("time_discovered_started_ns"),
    [FLIGHT_COMPLETED] = STR("time_discovered_completed_ns"),
    [FLIGHT_SEQUENCE] = STR("collective_seq_id"),
    [FLIGHT_P2P_SEQUENCE] = STR("p2p_seq_id"),
    [FLIGHT_STATE] = STR("state"),
    [FLIGHT_NAME] = STR("profiling_name"),
    [FLIGHT_RETIRED] = STR("retired"),
    [FLIGHT_IS_P2P] = STR("is_p2p"),
    [FLIGHT_GROUP] = STR("process_group"),
    [FLIGHT_INPUT_SIZES] = STR("input_sizes"),
    [FLIGHT_INPUT_TYPES] = STR("input_dtypes"),
    [FLIGHT_OUTPUT_SIZES] = STR("output_sizes"),
    [FLIGHT_FRAMES] = STR("frames")};

static int64_t int_of(str json, int64_t otherwise) {
    int64_t v;
    return json_i64(json, &v) ? v : otherwise;
}

int64_t flight_number(str json, int field) {
    return flight_checked(int_of(json, ABSENT_I64), field);
}

uint32_t flight_id(recorder *r, str json) {
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
        r->last_ranks = flight_id(r, json_member(config, STR("ranks")));
    }
    return r->last_ranks;
}

uint32_t flight_add_list(recorder *r, int field, str json) {
    flight_list list = {.elements = ABSENT_I64, .track = UINT32_MAX};
    bool group = field == FLIGHT_GROUP, types = field == FLIGHT_INPUT_TYPES;
    if (group || types) list.first = flight_id(r, item_at(json, group ? 1 : 0));
    if (group) {
        list.text = flight_id(r, item_at(json, 0));
        list.ranks = ranks_of(r, item_at(json, 0));
    } else if (field == FLIGHT_FRAMES) {
        list.text = stack_of(r, json);
    } else {
        list.text = field == FLIGHT_OUTPUT_SIZES ? 0 : raw_id(r, json);
        if (!types) list.elements = elements_of(json);
    }
    if (list.text == UINT32_MAX || list.first == UINT32_MAX || list.ranks == UINT32_MAX)
        return UINT32_MAX;
    flight_list *place = vec_push(&r->lists);
    if (place) *place = list;
    return place ? (uint32_t)(r->lists.n - 1) : UINT32_MAX;
}

static flight_list *list_of(const recorder *r, const flight_entry *e, int field) {
    return &VEC(&r->lists, flight_list)[e->list[field - FLIGHT_GROUP]];
}

/* "nccl:all_reduce", "nccl:send 0->1": what is between. UINT32_MAX: out of memory. */
static uint32_t op_of(recorder *r, uint32_t id, str name) {
    if (r->last_name == id && r->last_op) return r->last_op;
    size_t colon = str_find(name, STR(":"), 0), blank = str_find(name, STR(" "), 0);
    str op = str_n(name.p, blank == SIZE_MAX ? name.n : blank);
    if (colon != SIZE_MAX && colon < op.n) op = str_from(op, colon + 1);
    r->last_name = id;
    r->last_op = intern_add(builder_strings(r->b), op);
    return r->last_op;
}

static uint16_t category_of(recorder *r, uint32_t state) {
    if (!r->last_category || r->last_state != state)
        r->last_category = builder_category(r->b, state);
    r->last_state = state;
    return r->last_category;
}

static status fill_comm(recorder *r, const flight_entry *e, str name, raw_comm *c) {
    const flight_list *group = list_of(r, e, FLIGHT_GROUP);
    *c = (raw_comm){.slice = part_next_slice(r->part),
                    .name = op_of(r, e->name, name),
                    .group_name = group->text,
                    .group_description = group->first,
                    .group_ranks = group->ranks,
                    .dtype = list_of(r, e, FLIGHT_INPUT_TYPES)->first,
                    .group_size = ABSENT_I64,
                    .sequence = e->number[e->p2p ? FLIGHT_P2P_SEQUENCE : FLIGHT_SEQUENCE],
                    .comms_id = ABSENT_I64,
                    .in_elements = list_of(r, e, FLIGHT_INPUT_SIZES)->elements,
                    .out_elements = list_of(r, e, FLIGHT_OUTPUT_SIZES)->elements,
                    .src = ABSENT_I32,
                    .dst = ABSENT_I32};
    if (e->p2p) find_ends(name, c);
    return c->name != UINT32_MAX ? OK : ERR_MEMORY;
}

/* The row of the group, with its name. */
static status find_track(recorder *r, const raw_comm *c, uint32_t *track) {
    if (*track != UINT32_MAX) return OK;
    ident pid = {.v = 0}, tid = {.v = c->group_name, .text = c->group_name != 0};
    *track = part_track(r->part, pid, tid);
    uint32_t *seen = *track == UINT32_MAX ? NULL : map_at(&r->labeled, *track);
    if (!seen) return ERR_MEMORY;
    if (*seen != MAP_NONE) return OK;
    *seen = 1;
    uint32_t name = c->group_description ? c->group_description : c->group_name;
    raw_label label = {.pid = pid, .tid = tid, .value = name, .kind = LABEL_THREAD_NAME};
    return name ? part_label(r->part, &label) : OK;
}

static status take_entry(recorder *r, const flight_entry *e) {
    str state = intern_get(builder_strings(r->b), e->state);
    int64_t created = e->number[FLIGHT_CREATED], ended = e->number[FLIGHT_COMPLETED];
    uint32_t name = e->name;
    part_count(r->part, 1, 0);
    if (!name || !created) {
        part_lost(r->part, name ? CAUSE_MISSING_TIME : CAUSE_MISSING_NAME, NOPOS, name);
        part_count(r->part, 0, 1);
        return OK;
    }
    /* Gloo never changes the state: what it no longer watches has ended at an unknown time. */
    bool done = e->retired || str_eq(state, STR("completed"));
    int64_t end = max_i64(done && ended ? ended : done ? created : r->last_ns, created);
    raw_comm c;
    raw_slice row = {.start = sub_i64(created, r->first_ns),
                     .dur = sub_i64(end, created),
                     .name = name,
                     .kind = KIND_COLLECTIVE,
                     .flags = done ? 0 : SLICE_UNFINISHED};
    raw_op op = {.external = ABSENT_I64,
                 .sequence = ABSENT_I64,
                 .forward_thread = ABSENT_I64,
                 .shapes = list_of(r, e, FLIGHT_INPUT_SIZES)->text,
                 .types = list_of(r, e, FLIGHT_INPUT_TYPES)->text,
                 .call_stack = list_of(r, e, FLIGHT_FRAMES)->text};
    row.category = category_of(r, e->state);
    TRY(fill_comm(r, e, intern_get(builder_strings(r->b), name), &c));
    TRY(find_track(r, &c, &list_of(r, e, FLIGHT_GROUP)->track));
    row.track = list_of(r, e, FLIGHT_GROUP)->track;
    TRY(part_op(r->part, &op, &row));
    TRY(part_comm(r->part, &c));
    return part_slice(r->part, &row);
}

/* ---- the whole --------------------------------------------------------------------------- */

/* One walk over an entry; the first of equal keys counts. */
static void read_fields(str entry, str *out) {
    json_iter it = json_open(entry);
    str key, value;
    for (int i = 0; i < N_FLIGHT_FIELDS; i++) out[i] = STR_NONE;
    while (json_next(&it, &key, &value))
        for (int i = 0; i < N_FLIGHT_FIELDS; i++)
            if (str_eq(key, FLIGHT_FIELDS[i])) {
                if (!out[i].n) out[i] = value;
                break;
            }
}

static status read_entry(recorder *r, str entry, flight_entry *e) {
    str v[N_FLIGHT_FIELDS];
    read_fields(entry, v);
    for (int f = 0; f < N_FLIGHT_NUMBERS; f++) e->number[f] = flight_number(v[f], f);
    e->name = flight_id(r, v[FLIGHT_NAME]);
    e->state = flight_id(r, v[FLIGHT_STATE]);
    e->retired = str_eq(v[FLIGHT_RETIRED], STR("true"));
    e->p2p = str_eq(v[FLIGHT_IS_P2P], STR("true"));
    if (e->name == UINT32_MAX || e->state == UINT32_MAX) return ERR_MEMORY;
    for (int i = 0; i < N_FLIGHT_LISTS; i++) {
        e->list[i] = flight_add_list(r, FLIGHT_GROUP + i, v[FLIGHT_GROUP + i]);
        if (e->list[i] == UINT32_MAX) return ERR_MEMORY;
    }
    return OK;
}

static status list_entries(recorder *r, str list, vec *entries) {
    json_iter it = json_open(list);
    str key, entry;
    if (r->entries != PICKLE_ABSENT) return flight_pickle_entries(r, entries);
    while (json_next(&it, &key, &entry)) {
        flight_entry *e = vec_push(entries);
        if (!e) return ERR_MEMORY;
        TRY(read_entry(r, entry, e));
    }
    return OK;
}

/* The times of the first and the last of them. */
static void find_times(recorder *r, const vec *entries) {
    for (size_t i = 0; i < entries->n; i++) {
        const int64_t *number = VEC(entries, flight_entry)[i].number;
        int64_t created = number[FLIGHT_CREATED];
        for (int f = FLIGHT_CREATED; f <= FLIGHT_COMPLETED; f++)
            r->last_ns = max_i64(r->last_ns, number[f]);
        if (created) r->first_ns = r->first_ns ? min_i64(r->first_ns, created) : created;
    }
}

static status take_entries(recorder *r, str list, error *err) {
    vec entries = VEC_INIT(flight_entry);
    status st = list_entries(r, list, &entries);
    find_times(r, &entries);
    if (st == OK && r->first_ns) builder_set_base_unix_ns(r->b, r->first_ns);
    for (size_t i = 0; i < entries.n && st == OK; i++)
        st = take_entry(r, &VEC(&entries, flight_entry)[i]);
    vec_fini(&entries);
    if (st != OK) FAIL_MEMORY(err);
    return OK;
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
    recorder r = {.b = b, .part = builder_part(b), .lists = VEC_INIT(flight_list)};
    buf json = {0};
    str head;
    if (!r.part) FAIL_MEMORY(err);
    builder_set_format(b, "flight_recorder");
    TRY(source_peek(src, 4096, &head, err));
    const char *first = json_space(head.p, head.p + head.n);
    bool text = first < head.p + head.n && *first == '{';
    status st =
        text ? read_json(&r, src, &json, err) : flight_read_pickle(&r, src, o, &json, err);
    if (st == OK) st = take_dump(&r, buf_str(&json), err);
    if (source_damaged(src)) part_lost(r.part, CAUSE_STREAM_DAMAGED, NOPOS, 0);
    part_finish(r.part);
    pickle_free(r.pickle);
    vec_fini(&r.lists);
    map_fini(&r.labeled);
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
