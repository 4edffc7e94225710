/* nsight_tracks.c: processes, threads, devices and streams.
 *
 * globalTid = machine << 48 | process << 24 | thread. A stream is one of a process and a
 * context; where a device has one user its streams are named by their numbers, otherwise the
 * name includes the user. Numbers of devices are those of a process, too: CUDA_VISIBLE_DEVICES
 * hides GPUs. */
#include "ingest/nsight/nsight_int.h"

int64_t nsight_process(reader *r, int64_t global) {
    uint32_t *at = map_at(&r->pid_map, (uint64_t)global);
    if (at && *at == MAP_NONE) {
        process_row *row = vec_push(&r->processes);
        if (row) {
            int64_t first;
            *row = (process_row){global, global >> 24 & 0xffffff};
            first = VEC(&r->processes, process_row)[0].global >> 48;
            if (global >> 48 != first) row->pid |= (global >> 48 & 0xffff) << 24;
            *at = (uint32_t)(r->processes.n - 1);
            return *at;
        }
        at = NULL;
    }
    r->failed |= !at;
    return at ? (int64_t)*at : -1;
}

ident nsight_pid(reader *r, int64_t global) {
    int64_t i = nsight_process(r, global);
    return i < 0 ? IDENT_NONE : (ident){VEC(&r->processes, process_row)[i].pid, false};
}

int64_t nsight_correlation(reader *r, int64_t global, int64_t id) {
    int64_t process = nsight_process(r, global);
    if (process < 0 || id < 0 || id > UINT32_MAX) return ABSENT_I64;
    return process << 32 | id;
}

uint32_t nsight_thread(reader *r, int64_t global_tid) {
    uint32_t *at = map_at(&r->thread_map, (uint64_t)global_tid);
    if (at && *at == MAP_NONE)
        *at = part_track(r->part, nsight_pid(r, nsight_global_pid(global_tid)),
                         (ident){global_tid & 0xffffff, false});
    r->failed |= !at || *at == UINT32_MAX;
    return at ? *at : UINT32_MAX;
}

int32_t nsight_device(reader *r, int64_t global, int64_t device) {
    uint64_t pid = (uint64_t)global >> 24 & 0xffffff;
    uint32_t gpu = map_get(&r->gpu_map, hash_pair(pid, (uint64_t)device));
    if (device == ABSENT_I64) return ABSENT_I32;
    return gpu == MAP_NONE ? sat_i32(device) : (int32_t)gpu;
}

static ident device_pid(reader *r, int32_t device) {
    char text[32];
    int n = snprintf(text, sizeof text, "GPU %d", (int)device);
    return (ident){nsight_string(r, str_n(text, (size_t)n)), true};
}

static status label(reader *r, ident pid, ident tid, label_kind kind, int64_t value) {
    raw_label l = {.pid = pid,
                   .tid = tid,
                   .value = value,
                   .offset = database_n_rows(r->db),
                   .kind = (uint8_t)kind};
    return part_label(r->part, &l);
}

static uint32_t add_device_row(reader *r, int32_t device, ident tid) {
    ident pid = device_pid(r, device);
    uint32_t track = part_track(r->part, pid, tid);
    r->failed |= track == UINT32_MAX || label(r, pid, tid, LABEL_THREAD_DEVICE, device) != OK ||
                 label(r, pid, IDENT_NONE, LABEL_PROCESS_NAME, pid.v) != OK;
    return track;
}

uint32_t nsight_device_row(reader *r, int32_t device, str name) {
    return add_device_row(r, device, (ident){nsight_string(r, name), true});
}

/* Alone on its device a stream is its number; otherwise its user is named. */
static ident stream_name(reader *r, const stream_row *s) {
    char text[96];
    int n;
    uint32_t *at = map_at(&r->first_user, (uint64_t)s->device);
    r->failed |= !at;
    if (!at) return IDENT_NONE;
    if (*at == MAP_NONE) *at = (uint32_t)(r->streams.n - 1);
    const stream_row *first = &VEC(&r->streams, stream_row)[*at];
    if (first->global == s->global && first->context == s->context)
        return (ident){s->stream, false};
    if (first->global == s->global)
        n = snprintf(text, sizeof text, "%lld (context %lld)", (long long)s->stream,
                     (long long)s->context);
    else
        n = snprintf(text, sizeof text, "%lld (process %lld, context %lld)",
                     (long long)s->stream, (long long)(s->global >> 24 & 0xffffff),
                     (long long)s->context);
    return (ident){nsight_string(r, str_n(text, (size_t)n)), true};
}

uint32_t nsight_stream(reader *r, int64_t global, int32_t device, int64_t context,
                       int64_t stream) {
    uint64_t key = hash_pair(hash_pair((uint64_t)global, (uint64_t)device),
                             hash_pair((uint64_t)context, (uint64_t)stream));
    uint32_t *at = map_at(&r->stream_map, key);
    if (at && *at == MAP_NONE) {
        *at = (uint32_t)r->streams.n;
        uint32_t row = *at;
        stream_row *s = vec_push(&r->streams);
        if (s) {
            *s = (stream_row){global, context, stream, device, UINT32_MAX};
            ident tid = stream_name(r, s);
            s->track = add_device_row(r, device, tid);
        }
        r->failed |= !s;
        return s ? VEC(&r->streams, stream_row)[row].track : UINT32_MAX;
    }
    r->failed |= !at;
    return at ? VEC(&r->streams, stream_row)[*at].track : UINT32_MAX;
}

bool nsight_time(reader *r, db_rows *row, int start, int end, raw_slice *out) {
    out->start = db_int(row, start, ABSENT_I64);
    int64_t to = db_int(row, end, ABSENT_I64);
    cause why = out->start == ABSENT_I64 || to == ABSENT_I64 ? CAUSE_MISSING_TIME
                : to < out->start                            ? CAUSE_NEGATIVE_DURATION
                                                             : CAUSE_NONE;
    part_count(r->part, 1, why != CAUSE_NONE);
    if (why != CAUSE_NONE) {
        part_lost(r->part, why, NOPOS, 0);
        return false;
    }
    out->dur = sub_i64(to, out->start);
    r->end_ns = max_i64(r->end_ns, to);
    return true;
}

/* ---- names ---- */

static status take_process(void *context, db_rows *row) {
    reader *r = context;
    int64_t global = db_int(row, 0, 0);
    uint32_t name = nsight_string(r, db_text(row, 1));
    if (map_get(&r->pid_map, (uint64_t)global) == MAP_NONE || !name) return OK;
    return label(r, nsight_pid(r, global), IDENT_NONE, LABEL_PROCESS_NAME, name);
}

static status take_thread(void *context, db_rows *row) {
    reader *r = context;
    int64_t global = db_int(row, 1, 0);
    uint32_t name = nsight_name(r, db_int(row, 0, -1));
    if (map_get(&r->thread_map, (uint64_t)global) == MAP_NONE || !name) return OK;
    return label(r, nsight_pid(r, nsight_global_pid(global)), (ident){global & 0xffffff, false},
                 LABEL_THREAD_NAME, name);
}

status nsight_label_tracks(reader *r, error *err) {
    static const char *const processes[] = {"globalPid", "name"};
    static const char *const threads[] = {"nameId", "globalTid"};
    TRY(nsight_table(r, "PROCESSES", processes, N_OF(processes), take_process, err));
    return nsight_table(r, "ThreadNames", threads, N_OF(threads), take_thread, err);
}
