/* recording.c: a recording of libtacho.so as a trace.
 *
 *     header ─> chunks ─┬─ side records: names, threads, clocks, metadata, frames
 *                       └─ events, cut into pieces of one thread each
 *     pieces by thread and time ─> recording_events.c ─> slices, points
 *                                  recording_finish.c ─> steps, memory, queues
 *
 * The file is looked at twice: first all side records, since a name may come after the events
 * that use it, then the events, thread by thread. A slot or side record whose first word is
 * zero was never written, there the chunk ends; so a file of a killed program, or of one that
 * still runs, needs no other treatment. Numbers in the file are hostile: everything is bounded
 * by the bytes that are there.
 *
 * Ticks become nanoseconds by straight lines between pairs of clocks; before the first and
 * after the last pair the line through both ends is continued. Time 0 is the start of the
 * recording. */
#include "ingest/recording/recording.h"

#include <math.h>
#include <stdio.h>

#include "base/bisect.h"
#include "base/div128.h"
#include "base/json.h"
#include "base/num.h"
#include "base/sort.h"
#include "ingest/recording/recording_int.h"
#include "ingest/util/device_properties.h"

enum { MOST_NAMES = 1 << 21 };
#define GATHER_BYTES ((size_t)4 << 20)

uint32_t recording_string(recording *r, str s) {
    return intern_add(builder_strings(r->b), s);
}

bool recording_is_ours(str head) {
    uint32_t profile;
    if (head.n < 16 || memcmp(head.p, TACHO_FILE_MAGIC, 8) != 0) return false;
    memcpy(&profile, head.p + 12, sizeof profile);
    return profile == TACHO_FILE_RECORDING;
}

bool recording_read_origin(str head, recording_origin *out) {
    tacho_file_header h;
    _Static_assert(sizeof out->run == sizeof h.run, "the same text");
    if (head.n < sizeof h || !recording_is_ours(head)) return false;
    memcpy(&h, head.p, sizeof h);
    memcpy(out->run, h.run, sizeof h.run);
    out->run[sizeof out->run - 1] = 0;
    out->start_unix_ns = h.start_unix_ns;
    out->end_unix_ns = h.state == TACHO_FILE_STOPPED ? h.stop_unix_ns : ABSENT_I64;
    return true;
}

status recording_check_memory(const recording *r, error *err) {
    uint64_t limit = r->o->memory_limit_bytes, need = builder_size_bytes(r->b);
    if (!limit || need <= limit) return OK;
    FAIL(err, ERR_LIMIT, NOPOS, MSG_NEEDS_MEMORY, arg_cstr("path", r->header.worker),
         arg_bytes("need", sat_i64(need)), arg_bytes("limit", sat_i64(limit)));
}

/* ---- the clock --------------------------------------------------------------------------- */

static int compare_clocks(uint32_t a, uint32_t b, const void *context) {
    const tacho_side_clock *c = context;
    if (c[a].tick != c[b].tick) return c[a].tick < c[b].tick ? -1 : 1;
    return a < b ? -1 : a > b;
}

static uint64_t scale_of(uint64_t ticks, int64_t ns) {
    uint64_t rest;
    unsigned __int128 scaled =
        div_u128((unsigned __int128)(uint64_t)ns << SCALE_BITS, ticks, &rest);
    return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

/* Only pairs that go forward in both clocks, and no further apart than a century. */
static bool follows(const tacho_side_clock *last, const tacho_side_clock *next) {
    const int64_t most = (int64_t)3 << 60;
    return next->tick > last->tick && next->monotonic_ns > last->monotonic_ns &&
           last->monotonic_ns > -most && next->monotonic_ns < most &&
           next->monotonic_ns - last->monotonic_ns < most;
}

static status add_line(recording *r, const tacho_side_clock *at, int64_t base, uint64_t scale,
                       error *err) {
    clock_line *line = vec_push(&r->lines);
    if (!line) FAIL_MEMORY(err);
    *line = (clock_line){at->tick, sub_i64(at->monotonic_ns, base), scale};
    return OK;
}

/* The pairs that follow each other, in order, at the front of `c`; how many. */
static size_t keep_good_pairs(recording *r, tacho_side_clock *c, uint32_t *order) {
    size_t n = r->clocks.n, kept = 0;
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    sort_index(order, order + n, n, compare_clocks, c);
    tacho_side_clock *good = c + n; /* the second half is scratch */
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || follows(&good[kept - 1], &c[order[i]])) good[kept++] = c[order[i]];
    memmove(c, good, kept * sizeof *c);
    return kept;
}

static status make_lines(recording *r, error *err) {
    vec order = VEC_INIT(uint32_t);
    size_t n = r->clocks.n;
    if (vec_reserve(&r->clocks, n + 1) != OK || vec_reserve(&order, 2 * n + 1) != OK) {
        vec_fini(&order);
        FAIL_MEMORY(err);
    }
    tacho_side_clock *c = VEC(&r->clocks, tacho_side_clock);
    n = keep_good_pairs(r, c, VEC(&order, uint32_t));
    r->clocks.n = n;
    vec_fini(&order);
    uint64_t hz = r->header.ticks_per_s, whole = scale_of(hz ? hz : 1000000000, 1000000000);
    if (n == 0) {
        tacho_side_clock start = {.tick = r->header.start_tick};
        return add_line(r, &start, 0, whole, err);
    }
    if (n > 1 && !hz)
        whole = scale_of(c[n - 1].tick - c[0].tick, c[n - 1].monotonic_ns - c[0].monotonic_ns);
    for (size_t i = 0; i < n; i++) {
        uint64_t scale = whole;
        if (i + 1 < n)
            scale =
                scale_of(c[i + 1].tick - c[i].tick, c[i + 1].monotonic_ns - c[i].monotonic_ns);
        TRY(add_line(r, &c[i], c[0].monotonic_ns, scale, err));
    }
    size_t line = 0; /* time 0 is the start of the recording */
    int64_t start = recording_ns(r, r->header.start_tick, &line);
    clock_line *lines = VEC(&r->lines, clock_line);
    for (size_t i = 0; i < r->lines.n; i++) lines[i].ns = sub_i64(lines[i].ns, start);
    return OK;
}

static int64_t scaled(uint64_t ticks, uint64_t scale) {
    unsigned __int128 ns = (unsigned __int128)ticks * scale >> SCALE_BITS;
    return ns > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)ns;
}

int64_t recording_ns(const recording *r, uint64_t tick, size_t *line) {
    const clock_line *l = VEC(&r->lines, clock_line);
    size_t i = *line < r->lines.n ? *line : 0;
    while (i + 1 < r->lines.n && tick >= l[i + 1].tick) i++;
    while (i > 0 && tick < l[i].tick) i--;
    *line = i;
    int64_t ns = tick >= l[i].tick ? add_i64(l[i].ns, scaled(tick - l[i].tick, l[i].scale))
                                   : sub_i64(l[i].ns, scaled(l[i].tick - tick, l[i].scale));
    const int64_t most = (int64_t)1 << 60;
    return ns > most ? most : ns < -most ? -most : ns;
}

int64_t recording_unix(const recording *r, int64_t unix_ns) {
    const tacho_side_clock *c = VEC(&r->clocks, tacho_side_clock);
    const clock_line *l = VEC(&r->lines, clock_line);
    size_t n = r->clocks.n;
    if (n == 0) return sub_i64(unix_ns, r->header.start_unix_ns);
    size_t after = SEARCH_FIRST(k, 0, n, c[k].unix_ns <= unix_ns);
    size_t i = after > 0 ? after - 1 : 0; /* the last pair at or before it */
    double slope = 1;
    if (i + 1 < n && c[i + 1].unix_ns > c[i].unix_ns)
        slope = (double)sub_i64(l[i + 1].ns, l[i].ns) /
                (double)sub_i64(c[i + 1].unix_ns, c[i].unix_ns);
    double away = (double)sub_i64(unix_ns, c[i].unix_ns) * slope;
    if (!(away > -1e18 && away < 1e18)) away = away > 0 ? 1e18 : -1e18;
    return add_i64(l[i].ns, (int64_t)away);
}

/* ---- side records ------------------------------------------------------------------------ */

typedef struct {
    const uint8_t *p;
    size_t n;
} side_body;

/* Takes a fixed number of bytes off the front; false when there are fewer. */
static bool take(side_body *s, void *to, size_t n) {
    if (s->n < n) return false;
    memcpy(to, s->p, n);
    s->p += n;
    s->n -= n;
    return true;
}

static str rest(const side_body *s) {
    return str_n((const char *)s->p, strnlen((const char *)s->p, s->n));
}

static status take_name(recording *r, side_body *s, error *err) {
    uint64_t id;
    if (!take(s, &id, sizeof id) || id >= MOST_NAMES) return OK;
    uint32_t *place = vec_at(&r->names, sat_size(id)), text = recording_string(r, rest(s));
    if (!place || text == UINT32_MAX) FAIL_MEMORY(err);
    *place = text;
    return OK;
}

static status take_thread(recording *r, side_body *s, error *err) {
    uint64_t row;
    recording_thread t = {.row = 0};
    if (!take(s, &row, sizeof row) || !take(s, &t.tid, sizeof t.tid)) return OK;
    if (row >= UINT32_MAX) return OK;
    t.row = (uint32_t)row;
    t.name = recording_string(r, rest(s));
    uint32_t *at = map_at(&r->thread_of, row);
    if (t.name == UINT32_MAX || !at) FAIL_MEMORY(err);
    if (*at == MAP_NONE) {
        *at = (uint32_t)r->threads.n;
        if (!vec_push(&r->threads)) FAIL_MEMORY(err);
    }
    VEC(&r->threads, recording_thread)[*at] = t;
    return OK;
}

static status add_meta(recording *r, str key, str value, error *err) {
    uint32_t k = recording_string(r, key), v = recording_string(r, value);
    if (k == UINT32_MAX || v == UINT32_MAX) FAIL_MEMORY(err);
    return builder_add_meta(r->b, k, v, err);
}

status recording_add_number(recording *r, const char *key, int64_t value, error *err) {
    char text[32];
    int n = snprintf(text, sizeof text, "%lld", (long long)value);
    return add_meta(r, str_of(key), str_n(text, (size_t)n), err);
}

/* A value that is not JSON is made one. */
static status add_meta_text(recording *r, str key, str value, error *err) {
    buf text = {0};
    json_normal(value, &text);
    status st = ERR_MEMORY;
    if (buf_ok(&text)) st = add_meta(r, key, buf_str(&text), err);
    if (!buf_ok(&text)) (void)error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    buf_fini(&text);
    return st;
}

/* A remark is not JSON, whatever it looks like. It is shown as JSON shows it. */
status recording_add_note(recording *r, str value, error *err) {
    buf text = {0};
    buf_add_json(&text, value);
    status st = ERR_MEMORY;
    row_note row = {.text = UINT32_MAX};
    if (buf_ok(&text)) st = add_meta(r, STR("note"), buf_str(&text), err);
    if (st == OK) row.text = recording_string(r, json_text(buf_str(&text)));
    buf_fini(&text);
    if (row.text == UINT32_MAX) FAIL_MEMORY(err);
    return builder_put_note(r->b, &row, err);
}

static status take_devices(recording *r, str list, error *err) {
    json_iter it = json_open(list);
    str key, object;
    for (int32_t i = 0; i < 64 && json_next(&it, &key, &object); i++) {
        raw_device d = device_properties(object, i);
        d.name = recording_string(r, json_text(json_member(object, STR("name"))));
        d.properties = recording_string(r, object);
        if (d.name == UINT32_MAX || d.properties == UINT32_MAX) FAIL_MEMORY(err);
        if (d.id < 0 || d.id >= 64 || r->described >> d.id & 1) continue;
        r->described |= UINT64_C(1) << d.id;
        raw_device *to = vec_push(&r->gpus);
        if (!to) FAIL_MEMORY(err);
        *to = d;
    }
    return OK;
}

/* Facts of hooks about compilers: a list of {"name", "file", "line", "operators"}. */
static status take_kernel_sources(recording *r, str list, error *err) {
    json_iter it = json_open(list);
    str key, object;
    while (json_next(&it, &key, &object)) {
        int64_t line = 0;
        str name = json_text(json_member(object, STR("name")));
        if (!name.n) continue;
        if (!json_i64(json_member(object, STR("line")), &line)) line = ABSENT_I32;
        raw_kernel_source k = {
            .name = recording_string(r, name),
            .file = recording_string(r, json_text(json_member(object, STR("file")))),
            .operators = recording_string(r, json_text(json_member(object, STR("operators")))),
            .line = sat_i32(line)};
        if (k.name == UINT32_MAX || k.file == UINT32_MAX || k.operators == UINT32_MAX)
            FAIL_MEMORY(err);
        TRY(builder_add_kernel_source(r->b, &k, err));
    }
    return OK;
}

/* A process may learn late which of many it is; a worker of a loader has no rank, whatever its
 * environment said. */
enum { SAID_RANK, SAID_ROLE };
static const char *const SAID[] = {
    [SAID_RANK] = "distributedInfo", [SAID_ROLE] = "role", "of_rank", "of_pid"};

static status add_said(recording *r, error *err) {
    _Static_assert(sizeof SAID / sizeof *SAID == sizeof r->said / sizeof *r->said, "one each");
    str role = r->said[SAID_ROLE];
    if (role.n && !str_eq(role, STR("\"rank\""))) r->said[SAID_RANK] = STR_NONE;
    for (size_t i = 0; i < sizeof SAID / sizeof *SAID; i++)
        if (r->said[i].n) TRY(add_meta_text(r, str_of(SAID[i]), r->said[i], err));
    return OK;
}

static status take_meta(recording *r, side_body *s, error *err) {
    uint64_t n;
    if (!take(s, &n, sizeof n) || n == 0 || n > s->n) return OK;
    str key = str_n((const char *)s->p, (size_t)n);
    s->p += n;
    s->n -= (size_t)n;
    if (str_eq(key, STR("deviceProperties"))) return take_devices(r, rest(s), err);
    if (str_eq(key, STR("kernelSources"))) return take_kernel_sources(r, rest(s), err);
    r->is_jax |= str_eq(key, STR("framework")) && str_eq(json_text(rest(s)), STR("JAX"));
    if (str_eq(key, STR("xlaProfile"))) {
        r->profile = rest(s); /* the last one counts */
        return OK;
    }
    for (size_t i = 0; i < sizeof SAID / sizeof *SAID; i++)
        if (str_eq(key, str_of(SAID[i]))) {
            r->said[i] = rest(s);
            return OK;
        }
    return add_meta_text(r, key, rest(s), err);
}

static status take_frame(recording *r, side_body *s, error *err) {
    uint64_t address;
    if (!take(s, &address, sizeof address)) return OK;
    uint32_t text = recording_string(r, rest(s)), *at = map_at(&r->frames, address);
    if (text == UINT32_MAX || !at) FAIL_MEMORY(err);
    *at = text;
    return OK;
}

static status take_pipe(recording *r, side_body *s, error *err) {
    uint64_t name, parent;
    int64_t workers;
    if (!take(s, &name, 8) || !take(s, &parent, 8) || !take(s, &workers, 8)) return OK;
    recording_pipe *p = vec_push(&r->pipes);
    if (!p) FAIL_MEMORY(err);
    *p = (recording_pipe){sat_u32(name), sat_u32(parent), workers};
    return OK;
}

static status take_side(recording *r, uint32_t type, side_body s, error *err) {
    switch (type) {
    case TACHO_SIDE_NAME: return take_name(r, &s, err);
    case TACHO_SIDE_THREAD: return take_thread(r, &s, err);
    case TACHO_SIDE_META: return take_meta(r, &s, err);
    case TACHO_SIDE_FRAME: return take_frame(r, &s, err);
    case TACHO_SIDE_PIPE: return take_pipe(r, &s, err);
    case TACHO_SIDE_CODE: return recording_take_code(r, s.p, s.n, err);
    case TACHO_SIDE_STACK: return recording_take_stack(r, s.p, s.n, err);
    case TACHO_SIDE_SOURCE: return recording_take_source(r, s.p, s.n, err);
    case TACHO_SIDE_NOTE: return rest(&s).n ? recording_add_note(r, rest(&s), err) : OK;
    case TACHO_SIDE_CLOCK: {
        tacho_side_clock *c = s.n >= sizeof *c ? vec_push(&r->clocks) : NULL;
        if (s.n < sizeof *c) return OK;
        if (!c) FAIL_MEMORY(err);
        memcpy(c, s.p, sizeof *c);
        return OK;
    }
    default: return OK; /* of a later version */
    }
}

static status take_side_chunk(recording *r, const uint8_t *p, size_t n, error *err) {
    for (size_t at = TACHO_CHUNK_HEADER_BYTES; at + sizeof(tacho_side) <= n;) {
        tacho_side head;
        memcpy(&head, p + at, sizeof head);
        if (head.bytes == 0) return OK;
        if (head.bytes < sizeof head || head.bytes > n - at || head.bytes % 8) {
            part_lost(r->part, CAUSE_TRUNCATED, (uint64_t)(p - r->bytes) + at, 0);
            return OK;
        }
        TRY(take_side(r, head.type, (side_body){p + at + sizeof head, head.bytes - sizeof head},
                      err));
        at += head.bytes;
    }
    return OK;
}

/* ---- chunks ------------------------------------------------------------------------------ */

static status add_piece(recording *r, uint32_t row, const tacho_slot *slots, uint32_t n,
                        error *err) {
    if (n == 0) return OK;
    recording_piece *p = vec_push(&r->pieces);
    if (!p) FAIL_MEMORY(err);
    *p = (recording_piece){.row = row, .n_slots = n, .tick = slots->tick, .slots = slots};
    return OK;
}

/* Splits the written slots of a chunk where another thread took over. */
static status cut_chunk(recording *r, const tacho_chunk_header *h, const tacho_slot *slots,
                        uint32_t n, error *err) {
    uint32_t row = h->thread, first = 0, i = 0;
    while (i < n && slots[i].tick != 0) {
        uint32_t next = i + 1 + (slots[i].what >> 8 & 255);
        if (next > n) {
            part_lost(r->part, CAUSE_TRUNCATED,
                      (uint64_t)((const uint8_t *)(slots + i) - r->bytes), 0);
            break;
        }
        if (slots[i].tick > r->last_tick) r->last_tick = slots[i].tick;
        recording_count(r, &slots[i]);
        if ((slots[i].what & 255) == TACHO_EVENT_THREAD) {
            TRY(add_piece(r, row, slots + first, i - first, err));
            row = slots[i].name;
            first = next;
        }
        i = next;
    }
    return add_piece(r, row, slots + first, i - first, err);
}

typedef status (*chunk_fn)(recording *r, const tacho_chunk_header *h, const uint8_t *p,
                           size_t n, error *err);

static status take_sides(recording *r, const tacho_chunk_header *h, const uint8_t *p, size_t n,
                         error *err) {
    if (h->type != TACHO_CHUNK_SIDE) return OK;
    TRY(take_side_chunk(r, p, n, err));
    return recording_check_memory(r, err);
}

static status take_events(recording *r, const tacho_chunk_header *h, const uint8_t *p, size_t n,
                          error *err) {
    if (h->type != TACHO_CHUNK_EVENTS) return OK;
    r->counts.of[TACHO_COST_ROOM]++;
    const void *slots = p + TACHO_CHUNK_HEADER_BYTES; /* aligned: chunks are, in the map */
    return cut_chunk(r, h, slots, (uint32_t)((n - TACHO_CHUNK_HEADER_BYTES) / TACHO_SLOT_BYTES),
                     err);
}

/* All chunks that are there; a file that was cut ends with a part of one. */
static status for_chunks(recording *r, chunk_fn fn, error *err) {
    for (size_t at = TACHO_FILE_HEADER_BYTES; at + TACHO_CHUNK_HEADER_BYTES <= r->n_bytes;
         at += TACHO_CHUNK_BYTES) {
        tacho_chunk_header h;
        size_t n = r->n_bytes - at < TACHO_CHUNK_BYTES ? r->n_bytes - at : TACHO_CHUNK_BYTES;
        memcpy(&h, r->bytes + at, sizeof h);
        TRY(fn(r, &h, r->bytes + at, n, err));
    }
    return OK;
}

/* ---- threads ----------------------------------------------------------------------------- */

static int compare_pieces(uint32_t a, uint32_t b, const void *context) {
    const recording_piece *p = context;
    if (p[a].row != p[b].row) return p[a].row < p[b].row ? -1 : 1;
    if (p[a].tick != p[b].tick) return p[a].tick < p[b].tick ? -1 : 1;
    return a < b ? -1 : a > b;
}

static status read_pieces(recording *r, const uint32_t *order, recording_piece *sorted,
                          error *err) {
    const recording_piece *p = VEC(&r->pieces, recording_piece);
    size_t n = r->pieces.n;
    for (size_t i = 0; i < n; i++) sorted[i] = p[order[i]];
    for (size_t first = 0; first < n;) {
        size_t end = first + 1;
        while (end < n && sorted[end].row == sorted[first].row) end++;
        TRY(recording_read_thread(r, sorted + first, end - first, err));
        first = end;
        TRY(recording_check_memory(r, err));
    }
    return OK;
}

static status read_threads(recording *r, error *err) {
    vec order = VEC_INIT(uint32_t), sorted = VEC_INIT(recording_piece);
    size_t n = r->pieces.n;
    status st = ERR_MEMORY;
    if (vec_reserve(&order, 2 * n + 1) == OK && vec_reserve(&sorted, n + 1) == OK) {
        uint32_t *o = VEC(&order, uint32_t);
        for (size_t i = 0; i < n; i++) o[i] = (uint32_t)i;
        sort_index(o, o + n, n, compare_pieces, r->pieces.p);
        st = read_pieces(r, o, VEC(&sorted, recording_piece), err);
    } else {
        st = error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    }
    vec_fini(&order);
    vec_fini(&sorted);
    return st;
}

/* ---- the whole --------------------------------------------------------------------------- */

static status check_header(recording *r, error *err) {
    tacho_file_header *h = &r->header;
    if (r->n_bytes < TACHO_FILE_HEADER_BYTES) FAIL0(err, ERR_FORMAT, 0, MSG_RECORDING_DAMAGED);
    memcpy(h, r->bytes, sizeof *h);
    if (h->version != TACHO_FILE_VERSION)
        FAIL(err, ERR_UNSUPPORTED, 8, MSG_RECORDING_VERSION, arg_int("version", h->version));
    if (h->header_bytes != TACHO_FILE_HEADER_BYTES || h->chunk_bytes != TACHO_CHUNK_BYTES)
        FAIL0(err, ERR_FORMAT, 16, MSG_RECORDING_DAMAGED);
    h->worker[sizeof h->worker - 1] = 0;
    /* Room after the chunks that were handed out may be cut off while we read. */
    uint64_t most = (r->n_bytes - TACHO_FILE_HEADER_BYTES) / TACHO_CHUNK_BYTES;
    r->is_whole = h->n_chunks <= most;
    if (r->is_whole)
        r->n_bytes = (size_t)(TACHO_FILE_HEADER_BYTES + h->n_chunks * TACHO_CHUNK_BYTES);
    return OK;
}

static void count_losses(recording *r) {
    const uint64_t *lost = r->header.lost;
    part_lost_many(r->part, CAUSE_RECORDER_FULL, lost[TACHO_LOST_FULL]);
    for (int i = TACHO_LOST_NAMES; i <= TACHO_LOST_SHAPES; i++)
        part_lost_many(r->part, CAUSE_RECORDER_NAMES, lost[i]);
    part_lost_many(r->part, CAUSE_DEVICE_DROPPED, lost[TACHO_LOST_DEVICE]);
    part_lost_many(r->part, CAUSE_RECORDER_INSIDE, lost[TACHO_LOST_INSIDE]);
    part_count(
        r->part, 0,
        (uint64_t)add_i64(sat_i64(lost[TACHO_LOST_FULL]), sat_i64(lost[TACHO_LOST_INSIDE])));
}

static status add_facts(recording *r, error *err) {
    char text[64];
    uint32_t name = recording_string(r, str_of(r->header.worker));
    if (name == UINT32_MAX) FAIL_MEMORY(err);
    raw_label label = {.pid = {.v = r->header.pid}, .value = name, .kind = LABEL_PROCESS_NAME};
    if (part_label(r->part, &label) != OK) FAIL_MEMORY(err);
    if (r->header.flags & TACHO_FILE_FLIGHT) {
        int n = snprintf(text, sizeof text, "%.3f", (double)r->header.flight_ns * 1e-9);
        TRY(add_meta(r, STR("flight_seconds"), str_n(text, (size_t)n), err));
    }
    r->header.run[sizeof r->header.run - 1] = 0;
    if (r->header.run[0])
        TRY(add_meta_text(r, STR("recording_run"), str_of(r->header.run), err));
    if (r->header.state != TACHO_FILE_STOPPED)
        TRY(add_meta(r, STR("recording"), STR("\"not stopped\""), err));
    builder_set_base_unix_ns(r->b, r->header.start_unix_ns);
    return OK;
}

/* How far off a converted time may be: half the window in which the clocks were read together,
 * and how far a pair is from the straight line between its neighbors. */
static int64_t clock_error_ns(const recording *r) {
    const tacho_side_clock *c = VEC(&r->clocks, tacho_side_clock);
    const clock_line *l = VEC(&r->lines, clock_line);
    int64_t worst = 0;
    for (size_t i = 0; i < r->clocks.n && i < r->lines.n; i++) {
        worst = max_i64(worst, scaled(c[i].window, l[i].scale) / 2);
        if (i == 0 || i + 1 >= r->clocks.n) continue;
        double share = (double)sub_i64(c[i].unix_ns, c[i - 1].unix_ns) /
                       (double)sub_i64(c[i + 1].unix_ns, c[i - 1].unix_ns);
        double straight = (double)sub_i64(l[i + 1].ns, l[i - 1].ns) * share;
        double away = fabs(straight - (double)sub_i64(l[i].ns, l[i - 1].ns));
        if (away < 1e15) worst = max_i64(worst, (int64_t)away);
    }
    return worst;
}

/* What a flight recorder had to overwrite before its time: how much is there, and how much was
 * wanted. A hundredth is not worth a word. */
static status add_flight_facts(recording *r, uint64_t end_tick, error *err) {
    const tacho_file_header *h = &r->header;
    size_t line = 0;
    if (!h->forgotten_tick || !(h->flags & (TACHO_FILE_FLIGHT | TACHO_FILE_WINDOW))) return OK;
    int64_t end = recording_ns(r, end_tick, &line),
            asked = sub_i64(end, recording_ns(r, h->start_tick, &line)),
            kept = max_i64(0, sub_i64(end, recording_ns(r, h->forgotten_tick, &line)));
    if (!(h->flags & TACHO_FILE_WINDOW)) asked = min_i64(asked, sat_i64(h->flight_asked_ns));
    if (kept >= sub_i64(asked, asked / 100)) return OK;
    TRY(recording_add_number(r, "flight_kept_ns", kept, err));
    return recording_add_number(r, "flight_asked_ns", asked, err);
}

static status read_all(recording *r, error *err) {
    uint32_t *none = vec_push(&r->names);
    if (!none) FAIL_MEMORY(err);
    *none = 0;
    TRY(check_header(r, err));
    builder_set_format(r->b, "tacho_recording");
    builder_set_input_bytes(r->b, r->n_bytes);
    TRY(add_facts(r, err));
    TRY(for_chunks(r, take_sides, err));
    if (r->is_jax) builder_set_format(r->b, "tacho_recording_jax");
    TRY(add_said(r, err));
    TRY(recording_finish_stacks(r, err));
    TRY(for_chunks(r, take_events, err));
    TRY(make_lines(r, err));
    TRY(recording_add_number(r, "clock_error_ns", clock_error_ns(r), err));
    size_t line = 0;
    uint64_t end = r->header.state == TACHO_FILE_STOPPED ? r->header.stop_tick : r->last_tick;
    r->last_ns = max_i64(0, recording_ns(r, end, &line));
    r->last_event_ns = recording_ns(r, r->last_tick, &line);
    TRY(add_flight_facts(r, end, err));
    TRY(recording_add_cost(r, err));
    TRY(read_threads(r, err));
    count_losses(r);
    TRY(recording_finish(r, err));
    TRY(recording_add_profile(r, err));
    return recording_finish_devices(r, err);
}

/* The whole file in one piece: as it comes when its size is known, else gathered in a vec. */
static status gather(source *src, uint64_t limit, vec *all, piece *pc, error *err) {
    uint64_t size = source_codec(src) == CODEC_NONE ? source_file_bytes(src) : 0;
    for (;;) {
        TRY(source_next(src, size ? (size_t)size : GATHER_BYTES, 0, pc, err));
        if (pc->n == 0) return OK;
        /* Slots are read where they lie, when they lie on their own boundaries. */
        if (size && (uintptr_t)pc->p % sizeof(tacho_slot) == 0) return OK;
        if (limit && all->n + pc->n > limit) {
            source_release(src, pc);
            FAIL(err, ERR_LIMIT, NOPOS, MSG_MEMORY_LIMIT, arg_bytes("limit", sat_i64(limit)));
        }
        if (vec_reserve(all, pc->n) != OK) {
            source_release(src, pc);
            FAIL_MEMORY(err);
        }
        memcpy((char *)all->p + all->n, pc->p, pc->n);
        all->n += pc->n;
        source_release(src, pc);
    }
}

static void fini(recording *r) {
    vec *all[] = {&r->names,  &r->lines,  &r->clocks,   &r->pieces, &r->threads, &r->steps,
                  &r->queues, &r->pipes,  &r->memories, &r->links,  &r->nodes,   &r->samplings,
                  &r->codes,  &r->stacks, &r->source,   &r->gpus};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) vec_fini(all[i]);
    map_fini(&r->thread_of);
    map_fini(&r->code_of);
    map_fini(&r->stack_of);
    map_fini(&r->frames);
    map_fini(&r->devices);
}

status ingest_recording(source *src, const ingest_options *o, builder *b, error *err) {
    recording r = {.b = b,
                   .o = o,
                   .names = VEC_INIT(uint32_t),
                   .gpus = VEC_INIT(raw_device),
                   .lines = VEC_INIT(clock_line),
                   .clocks = VEC_INIT(tacho_side_clock),
                   .pieces = VEC_INIT(recording_piece),
                   .threads = VEC_INIT(recording_thread),
                   .steps = VEC_INIT(recording_step),
                   .samplings = VEC_INIT(recording_sampling),
                   .queues = VEC_INIT(recording_queue),
                   .pipes = VEC_INIT(recording_pipe),
                   .memories = VEC_INIT(raw_memory),
                   .links = VEC_INIT(recording_link),
                   .nodes = VEC_INIT(recording_node),
                   .codes = VEC_INIT(recording_code),
                   .stacks = VEC_INIT(recording_stack),
                   .source = VEC_INIT(char)};
    vec all = {.elem_bytes = 1};
    piece pc = {.n = 0};
    r.part = builder_part(b);
    if (!r.part) FAIL_MEMORY(err);
    status st = gather(src, o->memory_limit_bytes, &all, &pc, err);
    if (st == OK) {
        r.bytes = (const uint8_t *)(all.n ? all.p : pc.p);
        r.n_bytes = all.n ? all.n : pc.n;
        st = read_all(&r, err);
    }
    if (st == OK && source_damaged(src) && !r.is_whole)
        part_lost(r.part, CAUSE_STREAM_DAMAGED, r.n_bytes, 0);
    part_finish(r.part);
    source_release(src, &pc);
    vec_fini(&all);
    fini(&r);
    return st;
}
