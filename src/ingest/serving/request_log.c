/* request_log.c: requests of a server, from whatever writes a line or a span for each.
 *
 *     {"request_id":"a","arrival_time":1763.25,"first_token_time":1763.5,"finished_time":1764}
 *     {"meta_info":{"id":"b","e2e_latency":0.5,"response_sent_to_client_ts":1765.1, …}}
 *     {"resourceSpans":[{"scopeSpans":[{"spans":[{"startTimeUnixNano":"…", "attributes":[…]}…
 *     request_id,arrival,first_token,end
 *
 * The members of an object, those of objects inside it and its list of attributes are looked up
 * by name (log_fields.def); what is not a request itself may have a list of them. Several
 * objects of one id are one request. A moment is in seconds, milliseconds, microseconds or
 * nanoseconds by its size, or as its name says; a duration is in seconds unless its name says
 * otherwise. What has no id, no arrival or no end is left out and counted. */
#include "ingest/serving/request_log.h"

#include <math.h>

#include "base/json.h"
#include "base/num.h"
#include "ingest/serving/log_times.h"
#include "ingest/serving/request_lanes.h"
#include "ingest/util/csv_cells.h"
#include "ingest/util/whole_input.h"

typedef enum {
#define FIELD(field, type, names) FIELD_##field,
#include "ingest/serving/log_fields.def"
    N_FIELDS
} field;

enum { TYPE_ID, TYPE_AT, TYPE_SPAN, TYPE_COUNT };

static const struct {
    str names;
    uint8_t type;
} FIELDS[] = {
#define FIELD(field, type, names) {STR(names), TYPE_##type},
#include "ingest/serving/log_fields.def"
};

/* MOST_NESTED: objects in objects that are looked into. */
enum { MOST_NESTED = 8, MOST_NAME = 64, NOT_NAMED = 255 };

typedef struct {
    str id;                 /* in the text */
    int64_t v[N_FIELDS];    /* ns or tokens; ABSENT_I64 */
    uint8_t rank[N_FIELDS]; /* of the name that it was found under */
} log_request;

typedef struct {
    builder *b;
    part *part;
    const ingest_options *o;
    str text;     /* of the whole log */
    vec requests; /* log_request, in the order of the log */
    vec ids;      /* uint32_t: string id of each */
    vec of_id;    /* uint32_t by string id: number in requests + 1 */
    bool failed;  /* out of memory */
} reader;

static log_request nothing(void) {
    log_request r = {.id = STR_NONE};
    for (int f = 0; f < N_FIELDS; f++) {
        r.v[f] = ABSENT_I64;
        r.rank[f] = NOT_NAMED;
    }
    return r;
}

/* ---- names ------------------------------------------------------------------------------- */

/* Small letters and digits of a name; false when it is longer than any that is known. */
static bool plain_name(str key, char out[MOST_NAME], size_t *n) {
    *n = 0;
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c + ('a' - 'A'));
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) continue;
        if (*n == MOST_NAME) return false;
        out[(*n)++] = c;
    }
    return *n > 0;
}

/* Place of a word in a list with blanks; NOT_NAMED when it is none of them. */
static uint8_t rank_of(str names, str word) {
    for (uint8_t i = 0; names.n; i++)
        if (str_eq(str_cut(&names, STR(" ")), word)) return i;
    return NOT_NAMED;
}

static field field_of(str name, uint8_t *rank) {
    for (int f = 0; f < N_FIELDS; f++)
        if ((*rank = rank_of(FIELDS[f].names, name)) != NOT_NAMED) return (field)f;
    return N_FIELDS;
}

/* What a key means: the field, how good the name is, the unit that its end says. */
typedef struct {
    field field;
    uint8_t rank;
    time_unit unit;
} meaning;

static meaning look_up(str key) {
    char plain[MOST_NAME];
    size_t n;
    meaning m = {.field = N_FIELDS};
    if (!plain_name(key, plain, &n)) return m;
    str name = str_n(plain, n);
    m.field = field_of(name, &m.rank);
    if (m.field != N_FIELDS) return m;
    str without = log_time_unit(name, &m.unit);
    if (without.n < name.n) m.field = field_of(without, &m.rank);
    bool timed = m.field != N_FIELDS &&
                 (FIELDS[m.field].type == TYPE_AT || FIELDS[m.field].type == TYPE_SPAN);
    if (!timed) m.field = N_FIELDS;
    return m;
}

/* ---- one request ------------------------------------------------------------------------- */

static bool take_number(const meaning *m, str value, int64_t *out) {
    switch (FIELDS[m->field].type) {
    case TYPE_AT: return log_moment(value, m->unit, out);
    case TYPE_SPAN: return log_duration(value, m->unit, out);
    case TYPE_COUNT: return str_to_i64(value, out) && *out >= 0;
    default: return false;
    }
}

/* A value that says something of a request; that under the better name of two counts. */
static void take_value(log_request *r, const meaning *m, str raw) {
    int64_t v;
    str value = str_trim(json_text(raw));
    if (m->field == N_FIELDS || !value.n || m->rank >= r->rank[m->field]) return;
    if (m->field == FIELD_ID) {
        if (str_eq(value, STR("null"))) return;
        r->id = value;
    } else {
        if (!take_number(m, value, &v)) return;
        r->v[m->field] = v;
    }
    r->rank[m->field] = m->rank;
}

static void take_member(log_request *r, str key, str raw) {
    meaning m = look_up(key);
    take_value(r, &m, raw);
}

/* {"key": "gen_ai.request.id", "value": {"stringValue": "a"}}, or "value": "a". */
static void take_attributes(log_request *r, str list) {
    str index, item, kind, value;
    for (json_iter it = json_open(list); json_next(&it, &index, &item);) {
        if (!item.n || *item.p != '{') continue;
        str key = json_text(json_member(item, STR("key")));
        str raw = json_member(item, STR("value"));
        if (raw.n && *raw.p == '{') {
            json_iter in = json_open(raw);
            if (!json_next(&in, &kind, &value)) continue;
            raw = value;
        }
        if (key.n && raw.n) take_member(r, key, raw);
    }
}

static bool is_attributes(str key) {
    return str_eq(key, STR("attributes")) || str_eq(key, STR("tags"));
}

/* A list that holds requests itself, not something of one. */
static bool is_list_of_objects(str key, str value) {
    if (*value.p != '[' || is_attributes(key)) return false;
    const char *end = value.p + value.n, *p = json_space(value.p + 1, end);
    return p < end && *p == '{';
}

/* Everything that an object says of a request, without the lists in it. */
static void take_members(log_request *r, str object, int depth) {
    str key, value;
    for (json_iter it = json_open(object); json_next(&it, &key, &value);) {
        if (!value.n) continue;
        if (*value.p == '{' && depth < MOST_NESTED)
            take_members(r, value, depth + 1);
        else if (*value.p == '[' && is_attributes(key))
            take_attributes(r, value);
        else if (*value.p != '{' && *value.p != '[')
            take_member(r, key, value);
    }
}

/* vLLM: the arrival is a time of day, what follows are times of another clock, which begins
 * with the request in the queue. Seen by the difference: more than a day. */
static void join_clocks(log_request *r) {
    static const field after[] = {FIELD_SCHEDULED, FIELD_FIRST_TOKEN, FIELD_END};
    const int64_t day = (int64_t)86400 * 1000000000;
    int64_t arrival = r->v[FIELD_ARRIVAL], queued = r->v[FIELD_QUEUED];
    if (queued == ABSENT_I64) return;
    if (arrival == ABSENT_I64) arrival = r->v[FIELD_ARRIVAL] = queued;
    int64_t by = sub_i64(arrival, queued);
    if (abs_u64(by) < (uint64_t)day) return;
    for (size_t i = 0; i < N_OF(after); i++)
        if (r->v[after[i]] != ABSENT_I64) r->v[after[i]] = add_i64(r->v[after[i]], by);
}

/* A moment from another and what is between, where only those are known. */
static void derive(log_request *r, field to, field from, field span, int sign) {
    if (r->v[to] != ABSENT_I64 || r->v[from] == ABSENT_I64 || r->v[span] == ABSENT_I64) return;
    r->v[to] = sign > 0 ? add_i64(r->v[from], r->v[span]) : sub_i64(r->v[from], r->v[span]);
}

static void complete(log_request *r) {
    join_clocks(r);
    derive(r, FIELD_ARRIVAL, FIELD_END, FIELD_LATENCY, -1);
    derive(r, FIELD_END, FIELD_ARRIVAL, FIELD_LATENCY, 1);
    derive(r, FIELD_SCHEDULED, FIELD_ARRIVAL, FIELD_QUEUE, 1);
    derive(r, FIELD_FIRST_TOKEN, FIELD_ARRIVAL, FIELD_TTFT, 1);
    int64_t *end = &r->v[FIELD_END], arrival = r->v[FIELD_ARRIVAL];
    for (int i = 0; i < 2; i++) { /* what is outside of the request is not known */
        int64_t *at = &r->v[i ? FIELD_FIRST_TOKEN : FIELD_SCHEDULED];
        if (*at != ABSENT_I64 && (*at < arrival || (*end != ABSENT_I64 && *at > *end)))
            *at = ABSENT_I64;
    }
}

/* After complete. More than an id and two moments, which every list of jobs has: something that
 * only a request for tokens has. */
static bool is_request(const log_request *r) {
    bool tokens =
        r->v[FIELD_FIRST_TOKEN] != ABSENT_I64 || r->v[FIELD_SCHEDULED] != ABSENT_I64 ||
        r->v[FIELD_PROMPT_TOKENS] != ABSENT_I64 || r->v[FIELD_OUTPUT_TOKENS] != ABSENT_I64;
    return r->id.n && tokens && r->v[FIELD_ARRIVAL] != ABSENT_I64 &&
           r->v[FIELD_END] != ABSENT_I64 && r->v[FIELD_END] >= r->v[FIELD_ARRIVAL];
}

/* ---- all of them ------------------------------------------------------------------------- */

/* What the later of two objects with one id adds; of ranges, the whole. */
static void merge(log_request *to, const log_request *from) {
    for (int f = 0; f < N_FIELDS; f++) {
        if (from->v[f] == ABSENT_I64) continue;
        if (to->v[f] == ABSENT_I64)
            to->v[f] = from->v[f];
        else if (f == FIELD_ARRIVAL)
            to->v[f] = min_i64(to->v[f], from->v[f]);
        else if (f == FIELD_END)
            to->v[f] = max_i64(to->v[f], from->v[f]);
    }
}

static void keep(reader *r, const log_request *one) {
    buf text = {0};
    (void)json_decode(one->id, &text);
    uint32_t id = intern_add(builder_strings(r->b), buf_str(&text));
    r->failed |= !buf_ok(&text) || id == UINT32_MAX;
    buf_fini(&text);
    uint32_t *number = r->failed ? NULL : vec_at(&r->of_id, id);
    r->failed |= !number;
    if (r->failed) return;
    if (*number) {
        merge(&VEC(&r->requests, log_request)[*number - 1], one);
        return;
    }
    log_request *to = vec_push(&r->requests);
    uint32_t *to_id = vec_push(&r->ids);
    r->failed |= !to || !to_id;
    if (r->failed) return;
    *to = *one;
    *to_id = id;
    *number = (uint32_t)r->requests.n;
}

/* Whether the object, or one in its lists, is a request. */
static bool take_json(reader *r, str value, int depth);

static bool take_lists(reader *r, str value, int depth) {
    str key, item;
    bool any = false;
    for (json_iter it = json_open(value); !r->failed && json_next(&it, &key, &item);) {
        if (!item.n || (*item.p != '{' && *item.p != '[')) continue;
        bool list = *value.p == '[' || *item.p == '{' || is_list_of_objects(key, item);
        if (list) any |= take_json(r, item, depth + 1);
    }
    return any;
}

static bool take_json(reader *r, str value, int depth) {
    if (depth > MOST_NESTED) return false;
    if (*value.p == '[') return take_lists(r, value, depth);
    log_request one = nothing();
    take_members(&one, value, depth);
    complete(&one);
    if (!is_request(&one)) return take_lists(r, value, depth);
    keep(r, &one);
    return true;
}

static const char *next_value(const char *p, const char *end) {
    while (p < end && (json_is_space(*p) || *p == ',')) p++;
    return p;
}

/* JSON lines or a document. A line that is damaged costs itself. */
static void read_json(reader *r) {
    const char *end = r->text.p + r->text.n, *p = next_value(r->text.p, end);
    while (p < end && !r->failed) {
        const char *after = *p == '{' || *p == '[' ? json_value_end(p, end) : NULL;
        bool good = after && take_json(r, str_n(p, (size_t)(after - p)), 0);
        part_count(r->part, 1, !good);
        if (!good)
            part_lost(r->part, after ? CAUSE_MISSING_TIME : CAUSE_BAD_SYNTAX,
                      (uint64_t)(p - r->text.p), 0);
        if (!after) {
            after = memchr(p, '\n', (size_t)(end - p));
            if (!after) break;
        }
        p = next_value(after, end);
    }
}

/* Does the header name an id, an arrival and an end, and something of tokens? */
static bool is_header(const meaning *m, size_t n) {
    log_request r = nothing();
    for (size_t i = 0; i < n; i++) {
        if (m[i].field == N_FIELDS) continue;
        r.v[m[i].field] = 0;
        if (m[i].field == FIELD_ID) r.id = STR("id");
    }
    complete(&r);
    return is_request(&r);
}

/* The meanings of the cells of the header, which is the current row. */
static bool read_header(const csv *c, vec *meanings) {
    for (size_t i = 0; i < csv_n(c); i++) {
        meaning *m = vec_push(meanings);
        if (!m) return false;
        *m = look_up(csv_cell(c, i));
    }
    return true;
}

static void read_table(reader *r) {
    csv c = csv_open(r->text);
    vec columns = VEC_INIT(meaning);
    r->failed |= csv_next(&c) && !read_header(&c, &columns);
    while (!r->failed && csv_next(&c)) {
        log_request one = nothing();
        for (size_t i = 0; i < columns.n; i++)
            take_value(&one, &VEC(&columns, meaning)[i], csv_cell(&c, i));
        complete(&one);
        bool good = is_request(&one);
        if (good) keep(r, &one);
        part_count(r->part, 1, !good);
        if (!good) part_lost(r->part, CAUSE_MISSING_TIME, c.row, 0);
    }
    r->failed |= c.failed;
    vec_fini(&columns);
    csv_fini(&c);
}

static bool is_json(str text) {
    return text.n && (*text.p == '{' || *text.p == '[');
}

static str skip_mark(str s) {
    if (str_starts(s, STR("\xef\xbb\xbf"))) s = str_from(s, 3);
    const char *p = s.n ? json_space(s.p, s.p + s.n) : s.p;
    return s.n ? str_n(p, (size_t)(s.p + s.n - p)) : s;
}

static bool table_head(str head) {
    csv c = csv_open(str_before(head, STR("\n")));
    vec columns = VEC_INIT(meaning);
    bool is = csv_next(&c) && read_header(&c, &columns) &&
              is_header(VEC(&columns, meaning), columns.n);
    vec_fini(&columns);
    csv_fini(&c);
    return is;
}

/* One of the first whole objects is a request. */
bool request_log_head(str head) {
    enum { MOST_OBJECTS = 64, MOST_BYTES = 16384 };
    str s = skip_mark(str_n(head.p, sat_size(min_u64(head.n, MOST_BYTES))));
    if (!s.n) return false;
    if (!is_json(s)) return str_find(s, STR("\n"), 0) != SIZE_MAX && table_head(s);
    if (str_find(s, STR("\"traceEvents\""), 0) != SIZE_MAX) return false;
    size_t at = 0;
    for (int i = 0; i < MOST_OBJECTS && (at = str_find(s, STR("{"), at)) != SIZE_MAX;
         i++, at++) {
        const char *from = s.p + at, *end = json_value_end(from, s.p + s.n);
        log_request one = nothing();
        if (!end) continue;
        take_members(&one, str_n(from, (size_t)(end - from)), 0);
        complete(&one);
        if (is_request(&one)) return true;
    }
    return false;
}

/* ---- rows -------------------------------------------------------------------------------- */

/* Unix ns after 2001? Else it is a separate clock. */
static bool is_time_of_day(int64_t ns) {
    return ns > (int64_t)1000000000 * 1000000000;
}

static status put_rows(reader *r, int64_t base, error *err) {
    for (uint32_t i = 0; i < r->requests.n; i++) {
        const log_request *q = &VEC(&r->requests, log_request)[i];
        const int64_t *v = q->v;
        row_request row = row_request_none();
        row.id = VEC(&r->ids, uint32_t)[i];
        row.arrival = sub_i64(v[FIELD_ARRIVAL], base);
        row.end = sub_i64(v[FIELD_END], base);
        if (v[FIELD_SCHEDULED] != ABSENT_I64) row.scheduled = sub_i64(v[FIELD_SCHEDULED], base);
        if (v[FIELD_FIRST_TOKEN] != ABSENT_I64)
            row.first_token = sub_i64(v[FIELD_FIRST_TOKEN], base);
        row.prompt_tokens = v[FIELD_PROMPT_TOKENS];
        row.cached_tokens = v[FIELD_CACHED_TOKENS];
        row.output_tokens = v[FIELD_OUTPUT_TOKENS];
        TRY(builder_put_request(r->b, &row, err));
    }
    return OK;
}

static status put_slice(reader *r, uint32_t track, const char *name, int64_t from, int64_t to,
                        uint32_t args) {
    uint32_t id = intern_add(builder_strings(r->b), str_of(name));
    if (id == UINT32_MAX) return ERR_MEMORY;
    if (from == ABSENT_I64 || to == ABSENT_I64 || to < from) return OK;
    raw_slice s = {.start = from,
                   .dur = sub_i64(to, from),
                   .name = id,
                   .track = track,
                   .tie = str_eq(str_of(name), STR("request")) ? 1 : 2,
                   .args = args,
                   .kind = KIND_ANNOTATION};
    return part_slice(r->part, &s);
}

/* What is known of a request in between: in the queue, to the first token, to the last. */
static status put_ranges(reader *r, const lane_range *lane, int64_t base, uint32_t place) {
    const int64_t *v = VEC(&r->requests, log_request)[lane->item].v;
    raw_value id = {
        .place = place, .tag = VALUE_STRING, .v = VEC(&r->ids, uint32_t)[lane->item]};
    uint32_t track = part_track(r->part, (ident){0, false}, (ident){lane->lane + 1, false});
    uint32_t name = intern_add(builder_strings(r->b), STR("requests"));
    if (track == UINT32_MAX || name == UINT32_MAX) return ERR_MEMORY;
    raw_label label = {.pid = {0, false},
                       .tid = {lane->lane + 1, false},
                       .value = name,
                       .kind = LABEL_THREAD_NAME};
    TRY(part_label(r->part, &label));
    uint32_t args = part_args(r->part, &id, 1);
    int64_t at[] = {v[FIELD_ARRIVAL], v[FIELD_SCHEDULED], v[FIELD_FIRST_TOKEN], v[FIELD_END]};
    for (size_t i = 0; i < N_OF(at); i++)
        if (at[i] != ABSENT_I64) at[i] = sub_i64(at[i], base);
    bool in_order = at[1] == ABSENT_I64 || at[2] == ABSENT_I64 || at[1] <= at[2];
    TRY(put_slice(r, track, "request", at[0], at[3], args));
    TRY(put_slice(r, track, "queue", at[0], at[1], args));
    if (in_order) TRY(put_slice(r, track, "prefill", at[1], at[2], args));
    return in_order || at[2] == ABSENT_I64 ? put_slice(r, track, "decode", at[2], at[3], args)
                                           : OK;
}

static status put_lanes(reader *r, int64_t base, error *err) {
    vec lanes = VEC_INIT(lane_range);
    uint32_t key = intern_add(builder_strings(r->b), STR("request"));
    uint32_t place = key == UINT32_MAX ? 0 : builder_shape(r->b, 0, key);
    status st = key == UINT32_MAX ? ERR_MEMORY : vec_reserve(&lanes, r->requests.n);
    for (uint32_t i = 0; i < r->requests.n && st == OK; i++) {
        const log_request *q = &VEC(&r->requests, log_request)[i];
        *(lane_range *)vec_push(&lanes) =
            (lane_range){0, q->v[FIELD_ARRIVAL], q->v[FIELD_END], i, 0};
    }
    if (st == OK) st = request_lanes_assign(VEC(&lanes, lane_range), lanes.n);
    for (size_t i = 0; i < lanes.n && st == OK; i++)
        st = put_ranges(r, &VEC(&lanes, lane_range)[i], base, place);
    vec_fini(&lanes);
    if (st != OK) FAIL_MEMORY(err);
    return OK;
}

static void read_log(reader *r, str text) {
    r->text = skip_mark(text);
    if (is_json(r->text))
        read_json(r);
    else
        read_table(r);
}

static void fini(reader *r) {
    part_finish(r->part);
    vec_fini(&r->requests);
    vec_fini(&r->ids);
    vec_fini(&r->of_id);
}

static reader reader_of(builder *b, const ingest_options *o) {
    return (reader){.b = b,
                    .part = builder_part(b),
                    .o = o,
                    .requests = VEC_INIT(log_request),
                    .ids = VEC_INIT(uint32_t),
                    .of_id = VEC_INIT(uint32_t)};
}

status ingest_request_log(source *src, const ingest_options *o, builder *b, error *err) {
    reader r = reader_of(b, o);
    buf bytes = {0};
    int64_t base = INT64_MAX;
    if (!r.part) FAIL_MEMORY(err);
    status st = whole_input(src, o, b, r.part, SOURCE_PAD, &bytes, err);
    if (st == OK) read_log(&r, buf_str(&bytes));
    for (uint32_t i = 0; i < r.requests.n; i++)
        base = min_i64(base, VEC(&r.requests, log_request)[i].v[FIELD_ARRIVAL]);
    if (!r.requests.n || !is_time_of_day(base)) base = 0;
    if (base) builder_set_base_unix_ns(b, base);
    builder_set_format(b, "request_log");
    if (st == OK && r.failed)
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (st == OK) st = put_rows(&r, base, err);
    if (st == OK) st = put_lanes(&r, base, err);
    fini(&r);
    buf_fini(&bytes);
    return st;
}

status request_log_join(const char *path, const ingest_options *how, builder *b, error *err) {
    source *src = NULL;
    if (source_open(path, &src, NULL) != OK) return OK; /* it is gone, or closed to us */
    ingest_options o = {.memory_limit_bytes = how->memory_limit_bytes};
    reader r = reader_of(b, &o);
    buf bytes = {0};
    int64_t base = builder_base_unix_ns(b);
    status st = r.part ? whole_bytes(src, &o, &bytes, err)
                       : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    size_t n = bytes.n;
    if (st == OK) buf_add_repeat(&bytes, 0, SOURCE_PAD);
    if (st == OK && buf_ok(&bytes)) read_log(&r, str_n(bytes.p, n));
    if (st == OK && (r.failed || !buf_ok(&bytes)))
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    if (st == OK) st = put_rows(&r, base == ABSENT_I64 ? 0 : base, err);
    if (r.part) fini(&r);
    buf_fini(&bytes);
    source_close(src);
    return st;
}
