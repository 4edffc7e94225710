/* pftrace.c: the trace as Perfetto's own protobuf: the clock, the tracks, and what has no
 * duration; pftrace_slice.c writes the ranges, pftrace_wire.c the bytes.
 *
 *     process 7 "python"            a process
 *       thread 9                    its threads; "thread 9" again under it where ranges overlap
 *     "GPU 0"                       a device
 *       "stream 7" "stream 7"       its streams; one track for each piece of work at a time
 *     "GPU 0 Utilization"           a counter
 *       "GPU Utilization"           its series
 *
 * Times are of the clock since boot; a snapshot says which Unix time that was, where the
 * recording knows it. A range has the producer's category and one that tells its kind
 * ("tacho.kernel"), so that tacho reads back what it wrote. Devices' properties, sums of the
 * producer and metadata have no place in this form. */
#include <stdio.h>

#include "analyse/kind_names.h"
#include "base/mem.h"
#include "export/pftrace_int.h"

enum { TYPE_INSTANT = 3, TYPE_COUNTER = 4, CLOCK_REAL = 1, CLOCK_BOOT = 6, EXPLICIT_ORDER = 3 };
#define PROCESS_IDS ((uint64_t)1 << 32)
#define TRACK_IDS ((uint64_t)2 << 32)
#define COUNTER_IDS ((uint64_t)1 << 62)
#define SERIES_IDS ((uint64_t)1 << 61)

/* What snprintf has written into a text of this length. */
enum { TEXT_BYTES = 64 };
static str written(const char *text, int n) {
    return str_n(text, (size_t)min_i64(n, TEXT_BYTES - 1));
}

static uint64_t process_uuid(uint32_t process) {
    return PROCESS_IDS | process;
}

uint64_t pftrace_track(uint32_t track) {
    return TRACK_IDS | track;
}

/* ---- clocks ---- */

static void add_clock(buf *snapshot, uint32_t id, int64_t ns) {
    buf one = {0};
    wire_put_number(&one, 1, id);
    wire_put_number(&one, 2, (uint64_t)ns);
    if (buf_ok(&one))
        wire_put_bytes(snapshot, 1, buf_str(&one));
    else
        snapshot->failed = true;
    buf_fini(&one);
}

static status add_clocks(pftrace *p) {
    const trace *t = p->x->t;
    int64_t start = add_i64(t->start_ns, p->shift_ns), base = trace_base_unix_ns(t);
    int64_t unix_ns = base == ABSENT_I64 ? -1 : add_i64(base, t->start_ns);
    buf_clear(&p->one);
    add_clock(&p->one, CLOCK_BOOT, max_i64(0, start));
    if (unix_ns >= 0) add_clock(&p->one, CLOCK_REAL, unix_ns);
    wire_put_number(&p->one, 2, CLOCK_BOOT);
    return pftrace_put(p, 6, buf_str(&p->one));
}

/* ---- processes ---- */

static bool is_process_id(int64_t pid) {
    return pid > 0 && pid <= INT32_MAX;
}

static bool has_process(const pftrace *p, uint32_t process) {
    return is_process_id(p->x->t->process.pid[process]) && p->x->roles[process] == ROLE_HOST;
}

static str process_name(const pftrace *p, uint32_t process, char text[TEXT_BYTES]) {
    const trace *t = p->x->t;
    str name = trace_str(t, t->process.name[process]),
        labels = trace_str(t, t->process.labels[process]);
    int64_t pid = t->process.pid[process];
    bool device = p->x->roles[process] == ROLE_DEVICE;
    if (device && labels.n) return labels;
    if (device && pid != ABSENT_I64)
        return written(text, snprintf(text, TEXT_BYTES, "%.*s %lld",
                                      STR_ARG(device_word_of_work(t)), (long long)pid));
    if (name.n) return name;
    if (t->process.pid_text[process]) return trace_str(t, t->process.pid_text[process]);
    if (pid == ABSENT_I64) return STR("process");
    return written(text, snprintf(text, TEXT_BYTES, "process %lld", (long long)pid));
}

static status add_process(pftrace *p, uint32_t process) {
    const trace *t = p->x->t;
    char text[TEXT_BYTES];
    buf_clear(&p->event);
    wire_put_number(&p->event, 1, process_uuid(process));
    wire_put_number(&p->event, 11, EXPLICIT_ORDER);
    if (!has_process(p, process)) {
        wire_put_bytes(&p->event, 2, process_name(p, process, text));
    } else {
        buf_clear(&p->one);
        wire_put_number(&p->one, 1, (uint64_t)t->process.pid[process]);
        wire_put_bytes(&p->one, 6, process_name(p, process, text));
        wire_put_bytes(&p->event, 3, buf_str(&p->one));
    }
    return pftrace_put(p, 60, buf_str(&p->event));
}

/* ---- tracks ---- */

static bool is_thread(const pftrace *p, uint32_t track) {
    const trace *t = p->x->t;
    return t->track.kind[track] == TRACK_THREAD && t->track.tid[track] >= 0 &&
           has_process(p, t->track.process[track]);
}

/* What a track is called; never empty. */
static str track_name(const trace *t, uint32_t track, char text[TEXT_BYTES]) {
    str name = trace_str(t, t->track.name[track]);
    bool stream = t->track.kind[track] == TRACK_STREAM;
    int64_t number = stream ? export_stream(t, track) : t->track.tid[track];
    if (name.n) return name;
    if (t->track.tid_text[track]) return trace_str(t, t->track.tid_text[track]);
    if (number == ABSENT_I64) return STR("track");
    return written(text, snprintf(text, TEXT_BYTES, "%s %lld", stream ? "stream" : "thread",
                                  (long long)number));
}

/* p->event is the descriptor up to its uuid and its parent. */
static status put_named_track(pftrace *p, uint32_t track, uint64_t uuid, uint64_t parent) {
    const trace *t = p->x->t;
    char text[TEXT_BYTES];
    buf_clear(&p->event);
    wire_put_number(&p->event, 1, uuid);
    wire_put_number(&p->event, 5, parent);
    wire_put_bytes(&p->event, 2, track_name(t, track, text));
    wire_put_number(&p->event, 12, track);
    return pftrace_put(p, 60, buf_str(&p->event));
}

status pftrace_add_lane(pftrace *p, uint32_t track, uint64_t uuid) {
    const trace *t = p->x->t;
    uint64_t parent =
        is_thread(p, track) ? pftrace_track(track) : process_uuid(t->track.process[track]);
    return put_named_track(p, track, uuid, parent);
}

static status add_track(pftrace *p, uint32_t track) {
    const trace *t = p->x->t;
    uint32_t process = t->track.process[track];
    char text[TEXT_BYTES];
    if (!is_thread(p, track))
        return put_named_track(p, track, pftrace_track(track), process_uuid(process));
    buf_clear(&p->event);
    buf_clear(&p->one);
    wire_put_number(&p->event, 1, pftrace_track(track));
    wire_put_number(&p->event, 5, process_uuid(process));
    wire_put_number(&p->event, 12, track);
    wire_put_number(&p->one, 1, (uint64_t)t->process.pid[process]);
    wire_put_number(&p->one, 2, (uint64_t)t->track.tid[track]);
    wire_put_bytes(&p->one, 5, track_name(t, track, text));
    wire_put_bytes(&p->event, 4, buf_str(&p->one));
    return pftrace_put(p, 60, buf_str(&p->event));
}

/* ---- points ---- */

static void begin_point(pftrace *p, uint32_t type, uint64_t uuid) {
    buf_clear(&p->event);
    wire_put_number(&p->event, 9, type);
    wire_put_number(&p->event, 11, uuid);
}

static status add_instants(pftrace *p) {
    const trace *t = p->x->t;
    for (uint32_t i = 1; i < t->instant.n; i++) {
        if (!export_holds(p->x, t->instant.time[i])) continue;
        uint64_t category =
            pftrace_word(p, WORD_CATEGORY, t->category.name[t->instant.category[i]]);
        uint64_t name = pftrace_word(p, WORD_NAME, t->instant.name[i]);
        begin_point(p, TYPE_INSTANT, pftrace_track(t->instant.track[i]));
        if (category) wire_put_number(&p->event, 3, category);
        if (name) wire_put_number(&p->event, 10, name);
        TRY(pftrace_add_args(p, t->instant.args[i], NULL));
        TRY(pftrace_put_event(p, t->instant.time[i]));
    }
    return OK;
}

/* In Kineto's words, where the producer had other ones. */
static void add_memory_args(pftrace *p, uint32_t i) {
    const trace *t = p->x->t;
    pftrace_add_integer(p, "Device Type", t->memory.device_type[i]);
    pftrace_add_integer(p, "Device Id",
                        t->memory.device[i] == ABSENT_I32 ? -1 : t->memory.device[i]);
    if (t->memory.address[i]) pftrace_add_integer(p, "Addr", (int64_t)t->memory.address[i]);
    pftrace_add_integer(p, "Bytes", t->memory.bytes[i]);
    pftrace_add_integer(p, "Total Allocated", t->memory.allocated[i]);
    pftrace_add_integer(p, "Total Reserved", t->memory.reserved[i]);
}

static status add_memory(pftrace *p) {
    const trace *t = p->x->t;
    for (uint32_t i = 1; i < t->memory.n; i++) {
        if (!export_holds(p->x, t->memory.time[i])) continue;
        bool segment = kind_is_segment(t->memory.kind[i]);
        begin_point(p, TYPE_INSTANT, pftrace_track(t->memory.track[i]));
        wire_put_bytes(&p->event, 22, STR("cpu_instant_event"));
        wire_put_bytes(&p->event, 23,
                       t->memory.kind[i] == MEMORY_OOM ? STR("[OutOfMemory]")
                       : segment                       ? STR("[segment]")
                                                       : STR("[memory]"));
        if (t->memory.args[i])
            TRY(pftrace_add_args(p, t->memory.args[i], NULL));
        else
            add_memory_args(p, i);
        TRY(pftrace_put_event(p, t->memory.time[i]));
    }
    return OK;
}

/* ---- counters ---- */

static uint64_t hash_counter(const trace *t, uint32_t i, bool series) {
    uint64_t h = hash_pair(t->counter.track[i], t->counter.name[i]);
    return series ? hash_pair(h, t->counter.series[i]) : h;
}

/* The group of a counter and the track of one of its series; described when they are new. */
static status describe_counter(pftrace *p, uint32_t i, uint64_t *uuid) {
    const trace *t = p->x->t;
    uint32_t process = t->track.process[t->counter.track[i]];
    uint32_t *group = map_at(&p->counters, hash_counter(t, i, false));
    if (!group) FAIL_MEMORY(p->x->err);
    if (*group == MAP_NONE) {
        *group = p->n_counters++;
        buf_clear(&p->event);
        wire_put_number(&p->event, 1, COUNTER_IDS | *group);
        wire_put_number(&p->event, 5, process_uuid(process));
        wire_put_bytes(&p->event, 2, trace_str(t, t->counter.name[i]));
        TRY(pftrace_put(p, 60, buf_str(&p->event)));
    }
    uint64_t parent = COUNTER_IDS | *group;
    uint32_t *series = map_at(&p->counters, hash_counter(t, i, true));
    if (!series) FAIL_MEMORY(p->x->err);
    if (*series == MAP_NONE) {
        *series = p->n_counters++;
        buf_clear(&p->event);
        wire_put_number(&p->event, 1, SERIES_IDS | *series);
        wire_put_number(&p->event, 5, parent);
        wire_put_bytes(&p->event, 2, trace_str(t, t->counter.series[i]));
        wire_put_bytes(&p->event, 8, STR_NONE);
        TRY(pftrace_put(p, 60, buf_str(&p->event)));
    }
    *uuid = SERIES_IDS | *series;
    return OK;
}

static status add_counters(pftrace *p) {
    const trace *t = p->x->t;
    uint64_t uuid = 0;
    for (uint32_t i = 1; i < t->counter.n; i++) {
        if (!export_holds(p->x, t->counter.time[i])) continue;
        TRY(describe_counter(p, i, &uuid));
        begin_point(p, TYPE_COUNTER, uuid);
        wire_put_real(&p->event, 44, t->counter.value[i]);
        TRY(pftrace_put_event(p, t->counter.time[i]));
    }
    return OK;
}

/* ---- the whole ---- */

static status write_all(pftrace *p) {
    const trace *t = p->x->t;
    TRY(add_clocks(p));
    for (uint32_t i = 1; i < t->process.n; i++) TRY(add_process(p, i));
    for (uint32_t i = 1; i < t->track.n; i++) TRY(add_track(p, i));
    TRY(pftrace_slices(p));
    TRY(add_instants(p));
    TRY(add_memory(p));
    return add_counters(p);
}

status export_perfetto(export_ctx *x) {
    pftrace p = {.x = x,
                 .shift_ns = x->t->start_ns < 0 ? sub_i64(0, x->t->start_ns) : 0,
                 .arrows = VEC_INIT(arrow_end),
                 .lanes = VEC_INIT(lane_row),
                 .ranges = VEC_INIT(lane_range)};
    size_t n = ((size_t)x->t->n_strings + N_KINDS) / 8 + 1;
    bool room = true;
    for (int i = 0; i < N_WORD_TABLES; i++) room &= (p.defined[i] = mem_zalloc(n)) != NULL;
    status st =
        room ? write_all(&p) : error_set(x->err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
    for (int i = 0; i < N_WORD_TABLES; i++) mem_free(p.defined[i]);
    buf *bufs[] = {&p.packet, &p.event, &p.words, &p.one};
    for (size_t i = 0; i < N_OF(bufs); i++) buf_fini(bufs[i]);
    vec_fini(&p.arrows);
    vec_fini(&p.lanes);
    vec_fini(&p.ranges);
    map_fini(&p.counters);
    return st;
}
