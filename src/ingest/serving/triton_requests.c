/* triton_requests.c: requests of a server, from when they come to when they are answered.
 *
 *     [{"id":1,"timestamps":[{"name":"REQUEST_START","ns":5294383808197}]},
 *      {"id":1,"model_name":"resnet50","model_version":1},
 *      {"id":1,"timestamps":[{"name":"QUEUE_START","ns":…},{"name":"COMPUTE_END","ns":…}]}, …]
 *
 * Times of a request come in any order, in one object or in many. A phase is between two of
 * them (PHASES); one of which a time is missing is left out. Requests overlap: each is put on
 * the lane that became free last, or a new one, so that a lane shows one after the other. What
 * the network does may reach into the request, so it has separate lanes. */
#include "ingest/serving/triton_requests.h"

#include <stdio.h>

#include "base/json.h"
#include "base/map.h"
#include "base/num.h"
#include "ingest/serving/request_lanes.h"
#include "ingest/util/whole_input.h"

/* X(stamp): times that begin or end a phase. */
#define STAMPS(X)           \
    X(HTTP_RECV_START)      \
    X(HTTP_RECV_END)        \
    X(REQUEST_START)        \
    X(REQUEST_END)          \
    X(QUEUE_START)          \
    X(COMPUTE_START)        \
    X(COMPUTE_INPUT_END)    \
    X(COMPUTE_OUTPUT_START) \
    X(COMPUTE_END)          \
    X(HTTP_SEND_START)      \
    X(HTTP_SEND_END)        \
    X(GRPC_SEND_START)      \
    X(GRPC_SEND_END)

enum {
#define STAMP_ID(stamp) STAMP_##stamp,
    STAMPS(STAMP_ID)
#undef STAMP_ID
        N_STAMPS
};

static const str STAMP_NAMES[N_STAMPS] = {
#define STAMP_NAME(stamp) STR(#stamp),
    STAMPS(STAMP_NAME)
#undef STAMP_NAME
};

enum { LANES_OF_REQUESTS, LANES_OF_NETWORK, N_LANE_SORTS };

/* Outer ones first. */
static const struct {
    str name;
    uint8_t from, to, lanes;
} PHASES[] = {
    {STR("request"), STAMP_REQUEST_START, STAMP_REQUEST_END, LANES_OF_REQUESTS},
    {STR("queue"), STAMP_QUEUE_START, STAMP_COMPUTE_START, LANES_OF_REQUESTS},
    {STR("compute_input"), STAMP_COMPUTE_START, STAMP_COMPUTE_INPUT_END, LANES_OF_REQUESTS},
    {STR("compute_infer"), STAMP_COMPUTE_INPUT_END, STAMP_COMPUTE_OUTPUT_START,
     LANES_OF_REQUESTS},
    {STR("compute_output"), STAMP_COMPUTE_OUTPUT_START, STAMP_COMPUTE_END, LANES_OF_REQUESTS},
    {STR("receive"), STAMP_HTTP_RECV_START, STAMP_HTTP_RECV_END, LANES_OF_NETWORK},
    {STR("send"), STAMP_HTTP_SEND_START, STAMP_HTTP_SEND_END, LANES_OF_NETWORK},
    {STR("send"), STAMP_GRPC_SEND_START, STAMP_GRPC_SEND_END, LANES_OF_NETWORK},
};
enum { N_PHASES = N_OF(PHASES), FIRST_OF_NETWORK = 5, MOST_RANGES = 4 };

typedef struct {
    int64_t id;
    uint32_t model; /* string id, 0 = unknown */
    int64_t at[N_STAMPS];
} request;

/* What takes a lane: a request, or one transfer of it. */
typedef struct {
    int64_t start, end;
    uint32_t request, model, lane;
    uint8_t first_phase, end_phase; /* of PHASES */
} range;

typedef struct {
    builder *b;
    part *part;
    const ingest_options *o;
    map by_id;
    vec requests, ranges;
    buf text;
    uint32_t id_place; /* of the argument `request` */
    bool failed;       /* out of memory */
} reader;

bool triton_requests_head(str head) {
    static const str words[] = {STR("\"REQUEST_START\""), STR("\"QUEUE_START\""),
                                STR("\"HTTP_RECV_START\""), STR("\"GRPC_WAITREAD_START\""),
                                STR("\"COMPUTE_START\"")};
    if (!head.n) return false;
    const char *end = head.p + head.n, *p = json_space(head.p, end);
    str s = str_n(p, (size_t)(end - p) < 4096 ? (size_t)(end - p) : 4096);
    if (!s.n || *s.p != '[' || str_find(s, STR("\"timestamps\""), 0) == SIZE_MAX) return false;
    for (size_t i = 0; i < N_OF(words); i++)
        if (str_find(s, words[i], 0) != SIZE_MAX) return true;
    return false;
}

/* ---- reading ---- */

static uint32_t add_string(reader *r, str s) {
    uint32_t id = intern_add(builder_strings(r->b), s);
    r->failed |= id == UINT32_MAX;
    return id == UINT32_MAX ? 0 : id;
}

static request *find_request(reader *r, int64_t id) {
    uint32_t *at = map_at(&r->by_id, (uint64_t)id);
    request *q = NULL;
    if (at && *at != MAP_NONE) return &VEC(&r->requests, request)[*at];
    if (at) q = vec_push(&r->requests);
    r->failed |= !q;
    if (!q) return NULL;
    *at = (uint32_t)(r->requests.n - 1);
    *q = (request){.id = id};
    for (int i = 0; i < N_STAMPS; i++) q->at[i] = ABSENT_I64;
    return q;
}

static void take_stamp(request *q, str stamp) {
    int64_t ns;
    str name = json_text(json_member(stamp, STR("name")));
    if (!json_i64(json_member(stamp, STR("ns")), &ns) || ns < 0) return;
    for (int i = 0; i < N_STAMPS; i++)
        if (str_eq(name, STAMP_NAMES[i])) q->at[i] = ns;
}

static void take_record(reader *r, str record, uint64_t offset) {
    int64_t id;
    str key, stamp, model = json_member(record, STR("model_name"));
    bool good = record.n && *record.p == '{' && json_i64(json_member(record, STR("id")), &id);
    request *q = good ? find_request(r, id) : NULL;
    part_count(r->part, 1, !good);
    if (!good) part_lost(r->part, CAUSE_BAD_SYNTAX, offset, 0);
    if (!q) return;
    if (model.n) {
        buf_clear(&r->text);
        (void)json_decode(json_text(model), &r->text);
        r->failed |= !buf_ok(&r->text);
        if (!r->failed) q->model = add_string(r, buf_str(&r->text));
    }
    json_iter it = json_open(json_member(record, STR("timestamps")));
    while (json_next(&it, &key, &stamp)) take_stamp(q, stamp);
}

/* With the file, which is all in memory. */
static status check_limit(const reader *r, size_t file_bytes, error *err) {
    uint64_t limit = r->o->memory_limit_bytes;
    uint64_t held = builder_size_bytes(r->b) + r->requests.n * sizeof(request) +
                    r->ranges.n * sizeof(range) + file_bytes;
    if (limit && held > limit)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT, arg_bytes("limit", sat_i64(limit)));
    return OK;
}

/* The server closes the list when it ends: one without an end is of a server that runs. */
static status read_records(reader *r, str text, error *err) {
    json_iter it = json_open(text);
    str key, record;
    while (!r->failed && json_next(&it, &key, &record)) {
        take_record(r, record, (uint64_t)(record.p - text.p));
        TRY(check_limit(r, text.n, err));
    }
    const char *rest = json_space(it.p, it.end);
    if (rest == it.end || *rest != ']')
        part_lost(r->part, CAUSE_TRUNCATED, (uint64_t)(rest - text.p), 0);
    if (r->failed) FAIL_MEMORY(err);
    return OK;
}

/* ---- lanes ---- */

static void add_range(reader *r, uint32_t i_request, uint8_t first, uint8_t end_phase) {
    const request *q = &VEC(&r->requests, request)[i_request];
    range found = {INT64_MAX, INT64_MIN, i_request, q->model, 0, first, end_phase};
    for (uint8_t i = first; i < end_phase; i++) {
        int64_t from = q->at[PHASES[i].from], to = q->at[PHASES[i].to];
        if (from == ABSENT_I64 || to == ABSENT_I64 || to < from) continue;
        found.start = min_i64(found.start, from);
        found.end = max_i64(found.end, to);
    }
    if (found.start > found.end) return;
    range *to = vec_push(&r->ranges);
    r->failed |= !to;
    if (to) *to = found;
}

/* A lane of requests never shows what the network does, nor those of another model. */
static uint64_t group_of(const range *g) {
    return (uint64_t)g->model << 8 | PHASES[g->first_phase].lanes;
}

static void find_lanes(reader *r) {
    range *all = VEC(&r->ranges, range);
    vec lanes = VEC_INIT(lane_range);
    r->failed |= vec_reserve(&lanes, r->ranges.n) != OK;
    for (uint32_t i = 0; i < r->ranges.n && !r->failed; i++)
        *(lane_range *)vec_push(&lanes) =
            (lane_range){group_of(&all[i]), all[i].start, all[i].end, i, 0};
    r->failed = r->failed || request_lanes_assign(VEC(&lanes, lane_range), lanes.n) != OK;
    for (size_t i = 0; i < lanes.n && !r->failed; i++) {
        const lane_range *l = &VEC(&lanes, lane_range)[i];
        all[l->item].lane = l->lane;
    }
    vec_fini(&lanes);
}

/* ---- rows ---- */

static status put_phase(reader *r, const request *q, size_t i_phase, uint32_t track) {
    int64_t from = q->at[PHASES[i_phase].from], to = q->at[PHASES[i_phase].to];
    raw_value id = {.place = r->id_place, .tag = VALUE_INT, .v = q->id};
    if (from == ABSENT_I64 || to == ABSENT_I64) return OK;
    if (to < from) {
        part_lost(r->part, CAUSE_NEGATIVE_DURATION, NOPOS, add_string(r, PHASES[i_phase].name));
        return OK;
    }
    raw_slice s = {.start = from,
                   .dur = sub_i64(to, from),
                   .name = add_string(r, PHASES[i_phase].name),
                   .track = track,
                   .tie = (uint32_t)i_phase + 1,
                   .args = part_args(r->part, &id, 1),
                   .kind = KIND_ANNOTATION};
    return part_slice(r->part, &s);
}

static status name_lanes(reader *r, ident pid, ident tid, uint32_t sort) {
    static const str names[N_LANE_SORTS] = {STR("requests"), STR("network")};
    raw_label thread = {
        .pid = pid, .tid = tid, .value = add_string(r, names[sort]), .kind = LABEL_THREAD_NAME};
    raw_label process = {
        .pid = pid, .tid = IDENT_NONE, .value = pid.v, .kind = LABEL_PROCESS_NAME};
    TRY(part_label(r->part, &thread));
    return pid.text ? part_label(r->part, &process) : OK;
}

static status put_range(reader *r, const range *g) {
    const request *q = &VEC(&r->requests, request)[g->request];
    uint32_t sort = PHASES[g->first_phase].lanes;
    ident pid = q->model ? (ident){q->model, true} : (ident){0, false};
    ident tid = {add_i64(mul_i64(g->lane, N_LANE_SORTS), sort + 1), false};
    uint32_t track = part_track(r->part, pid, tid);
    if (track == UINT32_MAX) return ERR_MEMORY;
    TRY(name_lanes(r, pid, tid, sort));
    for (uint8_t i = g->first_phase; i < g->end_phase; i++) TRY(put_phase(r, q, i, track));
    return OK;
}

/* As a row of table request; one that lacks its start or its end is only drawn. */
static status put_request(reader *r, const request *q, error *err) {
    row_request row = row_request_none();
    char id[24];
    row.arrival = q->at[STAMP_REQUEST_START];
    row.scheduled = q->at[STAMP_COMPUTE_START];
    row.end = q->at[STAMP_REQUEST_END];
    if (row.arrival == ABSENT_I64 || row.end == ABSENT_I64 || row.end < row.arrival) return OK;
    int n = snprintf(id, sizeof id, "%lld", (long long)q->id);
    row.id = add_string(r, str_n(id, n > 0 ? (size_t)n : 0));
    return builder_put_request(r->b, &row, err);
}

static status put_all(reader *r, size_t file_bytes, error *err) {
    for (uint32_t i = 0; i < r->requests.n && !r->failed; i++) {
        size_t before = r->ranges.n;
        add_range(r, i, 0, FIRST_OF_NETWORK);
        for (uint8_t k = FIRST_OF_NETWORK; k < N_PHASES; k++)
            add_range(r, i, k, (uint8_t)(k + 1));
        if (r->ranges.n == before) part_lost(r->part, CAUSE_MISSING_TIME, NOPOS, 0);
        TRY(put_request(r, &VEC(&r->requests, request)[i], err));
    }
    r->id_place = builder_shape(r->b, 0, add_string(r, STR("request")));
    find_lanes(r);
    for (size_t i = 0; i < r->ranges.n && !r->failed; i++) {
        if (put_range(r, &VEC(&r->ranges, range)[i]) != OK) FAIL_MEMORY(err);
        TRY(check_limit(r, file_bytes, err));
    }
    if (r->failed) FAIL_MEMORY(err);
    return OK;
}

status ingest_triton_requests(source *src, const ingest_options *o, builder *b, error *err) {
    reader r = {.b = b,
                .part = builder_part(b),
                .o = o,
                .requests = VEC_INIT(request),
                .ranges = VEC_INIT(range)};
    buf bytes = {0};
    if (!r.part) FAIL_MEMORY(err);
    status st = whole_input(src, o, b, r.part, SOURCE_PAD, &bytes, err);
    str text = str_trim(buf_str(&bytes));
    if (st == OK) st = read_records(&r, text, err);
    if (st == OK) st = put_all(&r, text.n, err);
    part_finish(r.part);
    builder_set_format(b, "triton_requests");
    map_fini(&r.by_id);
    vec_fini(&r.requests);
    vec_fini(&r.ranges);
    buf_fini(&r.text);
    buf_fini(&bytes);
    return st;
}
