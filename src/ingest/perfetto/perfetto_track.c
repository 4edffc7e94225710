/* perfetto_track.c: from tracks, which are a tree, to processes and threads.
 *
 *     process 7 "train"            pid 7
 *       thread 9 "main"            pid 7, tid 9
 *         "main"                   the same: ranges that overlap those of the thread
 *       "loader"                   pid 7, tid "loader"
 *     "GPU 0"                      pid "GPU 0"
 *       "stream 7"                 tid "stream 7"; all tracks of this name under it, as
 *                                  Perfetto
 *       "stream 7"                 draws them together
 *       "SM clock"                 with a counter: a series
 *
 * rocprofv3 names its tracks "COMPUTE AGENT [4] STREAM [1] (GPU)" and "COPY to AGENT [0] …":
 * streams of devices. Its agents are numbered with the processors first; devices are its GPUs
 * in the order of these numbers. */
#include <stdio.h>
#include <stdlib.h>

#include "ingest/perfetto/perfetto_int.h"

track_row *tracks_find(reader *r, uint64_t uuid) {
    if (r->last_track && r->last_uuid == uuid)
        return &VEC(&r->tracks, track_row)[r->last_track - 1];
    uint32_t *at = map_at(&r->track_map, uuid);
    if (!at) return NULL;
    if (*at == MAP_NONE) {
        *at = 0;
        track_row *fresh = vec_push(&r->tracks);
        if (!fresh) return NULL;
        *fresh = (track_row){.uuid = uuid,
                             .unit = 1,
                             .sort = ABSENT_I64,
                             .device = ABSENT_I32,
                             .stream = ABSENT_I64};
        *at = (uint32_t)(r->tracks.n - 1);
    }
    r->last_uuid = uuid;
    r->last_track = *at + 1;
    return &VEC(&r->tracks, track_row)[*at];
}

/* ---- descriptors ---- */

/* The number is field `number`, its name field `name`. */
static str read_who(str body, uint32_t number, uint32_t name, int64_t *id, track_row *t) {
    pb_reader w = pb_open(body);
    pb_field f;
    str found = STR_NONE;
    while (pb_next(&w, &f)) {
        if (f.tag == PB_VARINT(number)) *id = (int64_t)f.v;
        if (f.tag == PB_VARINT(1)) t->pid = (int32_t)f.v;
        if (f.tag == PB_VARINT(3)) t->sort = (int32_t)f.v;
        if (f.tag == PB_BYTES(name)) found = pb_bytes(&f);
    }
    return found;
}

static void read_counter(reader *r, str body, track_row *t) {
    static const char *const units[] = {"", "ns", "count", "bytes"};
    pb_reader w = pb_open(body);
    pb_field f;
    t->is_counter = true;
    while (pb_next(&w, &f)) {
        if (f.tag == PB_VARINT(3) && f.v > 0 && f.v < N_OF(units))
            t->unit_name = perfetto_string(r, str_of(units[f.v]));
        if (f.tag == PB_VARINT(4) && f.v) t->unit = (int64_t)f.v;
        if (f.tag == PB_VARINT(5)) t->incremental = f.v != 0;
        if (f.tag == PB_BYTES(6)) t->unit_name = perfetto_string(r, pb_bytes(&f));
    }
}

static uint64_t uuid_of(str descriptor) {
    pb_reader w = pb_open(descriptor);
    pb_field f;
    uint64_t uuid = 0;
    while (pb_next(&w, &f))
        if (f.tag == PB_VARINT(1)) uuid = f.v;
    return uuid;
}

status tracks_describe(reader *r, str descriptor) {
    track_row *t = tracks_find(r, uuid_of(descriptor));
    pb_reader w = pb_open(descriptor);
    pb_field f;
    str name = STR_NONE, who = STR_NONE;
    if (!t) return ERR_MEMORY;
    t->has_descriptor = true;
    while (pb_next(&w, &f)) {
        switch (f.tag) {
        case PB_BYTES(2):
        case PB_BYTES(10):
        case PB_BYTES(13): name = pb_bytes(&f); break;
        case PB_BYTES(3):
            t->is_process = true;
            who = read_who(pb_bytes(&f), 1, 6, &t->pid, t);
            break;
        case PB_BYTES(4):
            t->is_thread = true;
            who = read_who(pb_bytes(&f), 2, 5, &t->tid, t);
            break;
        case PB_VARINT(5): t->parent = f.v; break;
        case PB_BYTES(8): read_counter(r, pb_bytes(&f), t); break;
        case PB_VARINT(12): t->sort = (int32_t)f.v; break;
        default: break;
        }
    }
    if (who.n) name = who;
    if (name.n) t->name = perfetto_string(r, name);
    return r->failed ? ERR_MEMORY : OK;
}

/* ---- devices of rocprofv3 ---- */

/* The number in the n-th pair of brackets; ABSENT_I64: there is none. */
static int64_t bracket(str name, int n) {
    size_t at = 0;
    int64_t v;
    for (int i = 0; i <= n; i++) {
        at = str_find(name, STR("["), i ? at + 1 : 0);
        if (at == SIZE_MAX) return ABSENT_I64;
    }
    size_t end = str_find(name, STR("]"), at);
    if (end == SIZE_MAX || !str_to_i64(str_n(name.p + at + 1, end - at - 1), &v))
        return ABSENT_I64;
    return v;
}

static bool is_agent(str name) {
    bool begins = str_starts(name, STR("COMPUTE ")) || str_starts(name, STR("COPY to AGENT ["));
    return begins && bracket(name, 0) != ABSENT_I64;
}

static bool is_gpu(str name) {
    return is_agent(name) && str_find(name, STR("GPU"), 0) != SIZE_MAX;
}

static int compare_agents(const void *pa, const void *pb) {
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return (a > b) - (a < b);
}

int32_t tracks_device(const reader *r, int64_t agent) {
    for (size_t i = 0; i < r->agents.n; i++)
        if (VEC(&r->agents, int64_t)[i] == agent) return (int32_t)i;
    return ABSENT_I32;
}

static status add_agent(reader *r, int64_t agent, error *err) {
    if (tracks_device(r, agent) != ABSENT_I32 || r->agents.n >= 1024) return OK;
    int64_t *to = vec_push(&r->agents);
    if (!to) FAIL_MEMORY(err);
    *to = agent;
    return OK;
}

status tracks_number_devices(reader *r, error *err) {
    for (size_t i = 0; i < r->tracks.n; i++) {
        str name = intern_get(r->sink->strings, VEC(&r->tracks, track_row)[i].name);
        if (is_gpu(name)) TRY(add_agent(r, bracket(name, 0), err));
    }
    if (!r->agents.n) return OK;
    qsort(r->agents.p, r->agents.n, sizeof(int64_t), compare_agents);
    for (size_t i = 0; i < r->agents.n; i++) {
        raw_device d = RAW_DEVICE_NONE;
        d.id = (int32_t)i;
        d.type = DEVICE_HIP;
        TRY(builder_add_device(r->b, &d, err));
    }
    return OK;
}

/* ---- processes and threads ---- */

static status label(reader *r, ident pid, ident tid, label_kind kind, int64_t value) {
    raw_label l = {
        .pid = pid, .tid = tid, .value = value, .offset = r->n_packets, .kind = (uint8_t)kind};
    return part_label(r->part, &l);
}

static ident text_ident(reader *r, const char *format, int64_t number) {
    char text[40];
    int n = snprintf(text, sizeof text, format, (long long)number);
    return (ident){perfetto_string(r, str_n(text, (size_t)n)), true};
}

static ident name_ident(reader *r, const track_row *t) {
    if (t->name) return (ident){t->name, true};
    return text_ident(r, "track %llx", (int64_t)t->uuid);
}

static const track_row *known(const reader *r, uint64_t uuid) {
    uint32_t at = map_get(&r->track_map, uuid);
    return at == MAP_NONE ? NULL : &VEC(&r->tracks, track_row)[at];
}

/* The nearest track above it that is a thread or a process, else the outermost; itself when
 * there is none. */
static const track_row *owner_of(const reader *r, const track_row *t) {
    const track_row *at = t;
    for (int level = 0; level < MAX_LEVELS && !at->is_thread && !at->is_process; level++) {
        const track_row *above = at->parent ? known(r, at->parent) : NULL;
        if (!above || above == at) break;
        at = above;
    }
    return at;
}

static void place_stream(reader *r, track_row *t, str name) {
    t->is_stream = true;
    t->device = is_gpu(name) ? tracks_device(r, bracket(name, 0)) : ABSENT_I32;
    t->stream =
        str_find(name, STR("THREAD ["), 0) != SIZE_MAX ? 0 : max_i64(0, bracket(name, 1));
    t->to_pid = text_ident(r, "GPU %lld", t->device == ABSENT_I32 ? 0 : t->device);
    t->to_tid = (ident){t->stream, false};
}

static void place_track(reader *r, track_row *t) {
    const track_row *owner = owner_of(r, t);
    bool lane = owner->is_thread && owner != t && owner->name && owner->name == t->name;
    bool number = owner->is_thread || owner->is_process;
    t->to_pid = number       ? (ident){owner->pid, false}
                : owner != t ? name_ident(r, owner)
                             : IDENT_NONE;
    if (t->is_thread || lane)
        t->to_tid = (ident){owner->tid, false};
    else if (t->is_process)
        t->to_tid = (ident){perfetto_string(r, STR("process")), true};
    else
        t->to_tid = name_ident(r, t);
}

static status label_stream(reader *r, const track_row *t) {
    TRY(label(r, t->to_pid, IDENT_NONE, LABEL_PROCESS_NAME, t->to_pid.v));
    return t->device == ABSENT_I32
               ? OK
               : label(r, t->to_pid, t->to_tid, LABEL_THREAD_DEVICE, t->device);
}

static status label_track(reader *r, const track_row *t) {
    const track_row *owner = owner_of(r, t);
    if (t->is_stream) return label_stream(r, t);
    if (owner->is_thread && owner->parent) {
        const track_row *process = known(r, owner->parent);
        if (process && process->is_process) owner = process;
    }
    if (owner->is_process && owner->name)
        TRY(label(r, t->to_pid, IDENT_NONE, LABEL_PROCESS_NAME, owner->name));
    if (owner->is_process && owner->sort != ABSENT_I64)
        TRY(label(r, t->to_pid, IDENT_NONE, LABEL_PROCESS_SORT, owner->sort));
    if (!owner->is_process && !owner->is_thread && owner != t)
        TRY(label(r, t->to_pid, IDENT_NONE, LABEL_PROCESS_NAME, t->to_pid.v));
    if (t->is_thread && t->name)
        TRY(label(r, t->to_pid, t->to_tid, LABEL_THREAD_NAME, t->name));
    if (t->sort != ABSENT_I64 && !t->is_process && !t->is_counter)
        TRY(label(r, t->to_pid, t->to_tid, LABEL_THREAD_SORT, t->sort));
    return OK;
}

/* A series of the counter that the track above it is, or a counter of one. */
static void place_counter(reader *r, track_row *t) {
    const track_row *above = t->parent ? known(r, t->parent) : NULL;
    bool series = above && above->name && !above->is_thread && !above->is_process;
    t->counter = series ? above->name : (uint32_t)name_ident(r, t).v;
    t->series = series         ? (uint32_t)name_ident(r, t).v
                : t->unit_name ? t->unit_name
                               : perfetto_string(r, STR("value"));
    const track_row *owner = owner_of(r, t);
    t->to_tid = owner->is_thread ? (ident){owner->tid, false} : IDENT_NONE;
}

track_row *tracks_resolve(reader *r, const sequence *q, uint64_t uuid) {
    track_row *t = tracks_find(r, uuid);
    if (!t || t->resolved) return t;
    str name = intern_get(r->sink->strings, t->name);
    t->resolved = true;
    if (!t->has_descriptor && q->has_thread && uuid == q->track) {
        t->to_pid = (ident){q->pid, false};
        t->to_tid = (ident){q->tid, false};
    } else if (is_agent(name) && !t->is_counter) {
        place_stream(r, t, name);
    } else {
        place_track(r, t);
        if (t->is_counter) place_counter(r, t);
    }
    r->failed |= label_track(r, t) != OK;
    return r->failed ? NULL : t;
}
