/* speedscope_profile.c: speedscope's JSON.
 *
 *     {"$schema": "https://www.speedscope.app/file-format-schema.json",
 *      "shared": {"frames": [{"name", "file", "line"}]},
 *      "profiles": [{"type": "sampled", "name", "unit": "seconds", "startValue", "endValue",
 *                    "samples": [[0, 1, 2], …], "weights": [0.01, …]},
 *                   {"type": "evented", "events": [{"type": "O", "frame": 0, "at": 0}, …]}]}
 *
 * A profile is a thread. A sample is a stack, outermost frame first, that lasts as long as its
 * weight says. Values are decimal numbers of a unit; where that is "none" they count samples.
 * A profile of bytes has no times, so it is not read. */
#include "base/json.h"
#include "base/num.h"
#include "ingest/profiles/call_rows.h"
#include "ingest/profiles/profiles.h"
#include "ingest/util/csv_cells.h"
#include "ingest/util/whole_input.h"

#define HEAD_BYTES ((size_t)64 << 10)

typedef struct {
    uint32_t name, line; /* strings; line: "model.py(12): forward", 0: it has none */
} frame_name;

typedef struct {
    builder *b;
    part *part;
    const ingest_options *o;
    vec frames;    /* frame_name */
    vec stack;     /* uint32_t: of one sample */
    uint32_t line; /* its innermost frame with a line (builder_frame) */
    buf text;
    size_t file_bytes; /* which are all in memory */
    slice_kind kind;
    bool failed;
} reader;

/* One profile and the unit of its values. */
typedef struct {
    call_rows rows;
    int scale;     /* a value times 10^scale is ns */
    int64_t times; /* and that often */
} thread;

bool speedscope_head(str head) {
    if (!head.n) return false;
    const char *end = head.p + head.n, *p = json_space(head.p, end);
    if (p == end || *p != '{') return false;
    str s = str_n(head.p, head.n < HEAD_BYTES ? head.n : HEAD_BYTES);
    return str_find(s, STR("speedscope.app/file-format-schema"), 0) != SIZE_MAX;
}

/* ---- frames ---- */

static uint32_t add_string(reader *r, str s) {
    uint32_t id = intern_add(builder_strings(r->b), s);
    r->failed |= id == UINT32_MAX;
    return id == UINT32_MAX ? 0 : id;
}

static uint32_t add_line(reader *r, str frame, str file) {
    int64_t line;
    if (!json_i64(json_member(frame, STR("line")), &line) || line <= 0 || line > UINT32_MAX)
        return 0;
    buf_clear(&r->text);
    (void)json_decode(file, &r->text);
    buf_printf(&r->text, "(%u): ", (unsigned)line);
    (void)json_decode(json_text(json_member(frame, STR("name"))), &r->text);
    r->failed |= !buf_ok(&r->text);
    return r->failed ? 0 : add_string(r, buf_str(&r->text));
}

static void add_frame(reader *r, str frame) {
    str file = json_text(json_member(frame, STR("file")));
    bool has_file = file.n && !str_eq(file, STR("null"));
    frame_name row = {.line = has_file ? add_line(r, frame, file) : 0};
    buf_clear(&r->text);
    (void)json_decode(json_text(json_member(frame, STR("name"))), &r->text);
    if (has_file) {
        buf_add_cstr(&r->text, " (");
        (void)json_decode(file, &r->text);
        buf_add_byte(&r->text, ')');
        if (str_ends(file, STR(".py"))) r->kind = KIND_PYTHON;
    }
    r->failed |= !buf_ok(&r->text);
    frame_name *to = vec_push(&r->frames);
    row.name = r->failed ? 0 : add_string(r, buf_str(&r->text));
    r->failed |= !to;
    if (to) *to = row;
}

/* False, and counted, when there is none. */
static bool find_frame(reader *r, str index, frame_name *to) {
    int64_t i;
    bool found = json_i64(index, &i) && i >= 0 && (uint64_t)i < r->frames.n;
    if (found) *to = VEC(&r->frames, frame_name)[i];
    if (!found) part_lost(r->part, CAUSE_BAD_SYNTAX, NOPOS, 0);
    return found;
}

/* ---- values ---- */

static bool find_unit(str profile, thread *t) {
    static const struct {
        str name;
        int scale;
    } units[] = {{STR("nanoseconds"), 0},
                 {STR("microseconds"), 3},
                 {STR("milliseconds"), 6},
                 {STR("seconds"), 9}};
    str unit = json_text(json_member(profile, STR("unit")));
    t->times = 1;
    for (size_t i = 0; i < N_OF(units); i++)
        if (str_eq(unit, units[i].name)) {
            t->scale = units[i].scale;
            return true;
        }
    t->scale = 0;
    t->times = SAMPLE_NS;
    return !str_eq(unit, STR("bytes"));
}

static bool read_ns(const thread *t, str value, int64_t *ns) {
    if (!scaled_i64(json_text(value), t->scale, ns)) return false;
    *ns = mul_i64(*ns, t->times);
    return *ns >= -MOST_PROFILE_NS && *ns <= MOST_PROFILE_NS;
}

/* ---- profiles ---- */

static size_t read_stack(reader *r, str sample) {
    json_iter it = json_open(sample);
    str key, index;
    frame_name frame;
    r->stack.n = 0;
    r->line = 0;
    while (json_next(&it, &key, &index)) {
        if (!find_frame(r, index, &frame)) continue;
        if (frame.line && r->line != UINT32_MAX)
            r->line = builder_frame(r->b, r->line, frame.line);
        uint32_t *to = vec_push(&r->stack);
        r->failed |= !to;
        if (to) *to = frame.name;
    }
    return r->stack.n;
}

static status check_limit(const reader *r, error *err) {
    uint64_t limit = r->o->memory_limit_bytes;
    if (limit && builder_size_bytes(r->b) + r->file_bytes > limit)
        FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT, arg_bytes("limit", sat_i64(limit)));
    return OK;
}

static status read_samples(reader *r, thread *t, str profile, int64_t at, error *err) {
    json_iter samples = json_open(json_member(profile, STR("samples")));
    json_iter weights = json_open(json_member(profile, STR("weights")));
    str key, sample, weight;
    while (!r->failed && json_next(&samples, &key, &sample)) {
        int64_t ns = 0;
        bool good = json_next(&weights, &key, &weight) && read_ns(t, weight, &ns) && ns >= 0 &&
                    ns <= sub_i64(MOST_PROFILE_NS, at);
        part_count(r->part, 1, !good);
        if (!good) {
            part_lost(r->part, CAUSE_MISSING_TIME, NOPOS, 0);
            continue;
        }
        size_t n = read_stack(r, sample);
        call_rows_sample(&t->rows, r->stack.p, n, at);
        call_rows_lines(&t->rows, r->line, at, ns);
        at = add_i64(at, ns);
        if (r->failed || t->rows.failed) FAIL_MEMORY(err);
        TRY(check_limit(r, err));
    }
    call_rows_close(&t->rows, 0, at);
    return OK;
}

static void take_event(reader *r, thread *t, str event, int64_t *last) {
    frame_name frame = {0};
    int64_t at;
    str type = json_text(json_member(event, STR("type")));
    bool good = read_ns(t, json_member(event, STR("at")), &at) && at >= *last &&
                find_frame(r, json_member(event, STR("frame")), &frame);
    part_count(r->part, 1, !good);
    if (!good) {
        part_lost(r->part, CAUSE_MISSING_TIME, NOPOS, 0);
        return;
    }
    *last = at;
    if (str_eq(type, STR("O"))) {
        call_rows_open(&t->rows, frame.name, at);
        return;
    }
    size_t depth = call_rows_find(&t->rows, frame.name);
    if (depth == SIZE_MAX)
        part_lost(r->part, CAUSE_UNMATCHED_END, NOPOS, frame.name);
    else
        call_rows_close(&t->rows, depth, at);
}

static status read_events(reader *r, thread *t, str profile, int64_t start, error *err) {
    json_iter events = json_open(json_member(profile, STR("events")));
    str key, event;
    int64_t last = start, end;
    while (json_next(&events, &key, &event)) {
        take_event(r, t, event, &last);
        if (r->failed || t->rows.failed) FAIL_MEMORY(err);
        TRY(check_limit(r, err));
    }
    bool has_end = read_ns(t, json_member(profile, STR("endValue")), &end);
    call_rows_close(&t->rows, 0, has_end ? max_i64(end, last) : last);
    return OK;
}

static status name_thread(reader *r, ident tid, str profile) {
    raw_label l = {.pid = {0, false}, .tid = tid, .kind = LABEL_THREAD_NAME};
    buf_clear(&r->text);
    (void)json_decode(json_text(json_member(profile, STR("name"))), &r->text);
    r->failed |= !buf_ok(&r->text);
    if (r->failed || !r->text.n) return OK;
    l.value = add_string(r, buf_str(&r->text));
    return part_label(r->part, &l);
}

static status read_profile(reader *r, str profile, int64_t number, error *err) {
    ident tid = {number, false};
    thread t = {.scale = 0};
    int64_t start = 0;
    if (!find_unit(profile, &t)) FAIL0(err, ERR_UNSUPPORTED, 0, MSG_PROFILE_OF_BYTES);
    uint32_t track = part_track(r->part, (ident){0, false}, tid);
    if (track == UINT32_MAX || name_thread(r, tid, profile) != OK) FAIL_MEMORY(err);
    t.rows = call_rows_begin(r->part, track, r->kind);
    (void)!read_ns(&t, json_member(profile, STR("startValue")), &start);
    bool evented = str_eq(json_text(json_member(profile, STR("type"))), STR("evented"));
    status st = evented ? read_events(r, &t, profile, start, err)
                        : read_samples(r, &t, profile, start, err);
    if (st == OK && (t.rows.failed || r->failed))
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    call_rows_end(&t.rows);
    return st;
}

static status read_file(reader *r, str file, error *err) {
    str key, value;
    int64_t n = 0;
    r->file_bytes = file.n;
    if (!json_value_end(file.p, file.p + file.n))
        part_lost(r->part, CAUSE_TRUNCATED, file.n, 0);
    json_iter it = json_open(json_member(json_member(file, STR("shared")), STR("frames")));
    while (json_next(&it, &key, &value)) add_frame(r, value);
    if (r->failed) FAIL_MEMORY(err);
    it = json_open(json_member(file, STR("profiles")));
    while (json_next(&it, &key, &value)) TRY(read_profile(r, value, ++n, err));
    return OK;
}

status ingest_speedscope(source *src, const ingest_options *o, builder *b, error *err) {
    reader r = {.b = b,
                .part = builder_part(b),
                .o = o,
                .frames = VEC_INIT(frame_name),
                .stack = VEC_INIT(uint32_t),
                .kind = KIND_ANNOTATION};
    buf bytes = {0};
    if (!r.part) FAIL_MEMORY(err);
    status st = whole_input(src, o, b, r.part, SOURCE_PAD, &bytes, err);
    if (st == OK) st = read_file(&r, str_trim(buf_str(&bytes)), err);
    part_finish(r.part);
    builder_set_format(b, "speedscope");
    vec_fini(&r.frames);
    vec_fini(&r.stack);
    buf_fini(&r.text);
    buf_fini(&bytes);
    return st;
}
