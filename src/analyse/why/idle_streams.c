/* idle_streams.c: gaps of each stream and the length of its queue.
 *
 * Works of one stream are neighbors in the table, by start. The queue of a stream is one longer
 * at the start of each launch call and one shorter at the start of each work. */
#include "analyse/why/idle_streams.h"

#include <math.h>

#include "analyse/rows.h"
#include "analyse/why/describe.h"
#include "base/sort.h"

enum { KERNEL_WAIT_NS = 30000 }; /* the original's threshold */

typedef enum { STREAM_HOST, STREAM_KERNEL, STREAM_OTHER, N_STREAM_WAITS } stream_wait;

enum { FULL_QUEUE = 1024 }; /* works: then a launch waits for room, on current devices */

typedef struct {
    const selection *s;
    const trace *t;
    arena *arena;
    table *streams, *queue;
    const uint32_t *rows; /* works of the stream that count, by start */
    size_t n;
    numbers gaps[N_STREAM_WAITS], lengths;
    sort_pair *changes, *scratch; /* of the queue; row 1: a launch, 0: a start */
} streams;

static status find_gaps(streams *k, error *err) {
    const trace *t = k->t;
    int64_t until = 0;
    for (int c = 0; c < N_STREAM_WAITS; c++) k->gaps[c].n = 0;
    for (size_t i = 0; i < k->n; i++) {
        uint32_t row = k->rows[i], slice = t->kernel.slice[row], call = t->kernel.launch[row];
        int64_t start = t->slice.start[slice], gap = sub_i64(start, until);
        if (i && gap >= 0) {
            stream_wait c = call && t->slice.start[call] > until ? STREAM_HOST
                            : gap < KERNEL_WAIT_NS               ? STREAM_KERNEL
                                                                 : STREAM_OTHER;
            TRY(numbers_add(&k->gaps[c], k->arena, (double)gap, err));
        }
        until = i ? max_i64(until, slice_end(t, slice)) : slice_end(t, slice);
    }
    return OK;
}

static int64_t device_of(const streams *k) {
    int32_t device = k->t->kernel.device[k->rows[0]];
    return device == ABSENT_I32 ? ABSENT_I64 : device;
}

static int64_t stream_of(const streams *k) {
    return k->t->kernel.stream[k->rows[0]];
}

static status write_gaps(streams *k, error *err) {
    static const char *const names[N_STREAM_WAITS] = {"host_wait", "kernel_wait", "other"};
    double sums[N_STREAM_WAITS] = {0}, all = 0;
    for (int c = 0; c < N_STREAM_WAITS; c++) {
        for (size_t i = 0; i < k->gaps[c].n; i++) sums[c] += k->gaps[c].v[i];
        all += sums[c];
    }
    for (int c = 0; c < N_STREAM_WAITS; c++) {
        if (!k->gaps[c].n) continue;
        description d = numbers_describe(&k->gaps[c]);
        row_idle_streams row = row_idle_streams_none();
        row.device = device_of(k);
        row.stream = stream_of(k);
        row.cause = str_of(names[c]);
        row.time = round_i64(sums[c]);
        row.share = all > 0 ? sums[c] / all : 0;
        row.count = sat_i64(k->gaps[c].n);
        row.mean = round_i64(d.mean);
        row.std = round_i64(d.std);
        row.min = round_i64(d.min);
        row.p25 = round_i64(d.p25);
        row.p50 = round_i64(d.p50);
        row.p75 = round_i64(d.p75);
        row.max = round_i64(d.max);
        TRY(put_idle_streams(k->streams, &row, err));
    }
    return OK;
}

/* Sorted by time; at one time a launch comes before a start. */
static size_t sort_changes(streams *k) {
    const trace *t = k->t;
    size_t n = 0;
    for (int launch = 1; launch >= 0; launch--)
        for (size_t i = 0; i < k->n; i++) {
            uint32_t row = k->rows[i], call = t->kernel.launch[row];
            if (!call) continue;
            int64_t time = t->slice.start[launch ? call : t->kernel.slice[row]];
            k->changes[n++] = (sort_pair){(uint64_t)time ^ (uint64_t)1 << 63, (uint32_t)launch};
        }
    sort_radix(k->changes, k->scratch, n);
    return n;
}

static status write_queue(streams *k, error *err) {
    size_t n = sort_changes(k);
    double area = 0;
    int64_t length = 0, full = 0;
    if (!n) return OK;
    k->lengths.n = 0;
    for (size_t i = 0; i < n; i++) {
        length += k->changes[i].row ? 1 : -1;
        TRY(numbers_add(&k->lengths, k->arena, (double)length, err));
        uint64_t ns = i + 1 < n ? k->changes[i + 1].key - k->changes[i].key : 0;
        area += (double)length * (double)ns;
        if (length >= FULL_QUEUE) full = add_i64(full, sat_i64(ns));
    }
    double span = (double)(k->changes[n - 1].key - k->changes[0].key);
    description d = numbers_describe(&k->lengths);
    row_idle_queue row = row_idle_queue_none();
    row.device = device_of(k);
    row.stream = stream_of(k);
    row.count = sat_i64(n);
    row.mean = d.mean;
    row.std = d.std;
    row.min = d.min;
    row.p25 = d.p25;
    row.p50 = d.p50;
    row.p75 = d.p75;
    row.max = d.max;
    row.time_mean = span > 0 ? area / span : d.mean;
    row.full = full;
    return put_idle_queue(k->queue, &row, err);
}

static status write_stream(streams *k, error *err) {
    if (!k->n) return OK;
    TRY(find_gaps(k, err));
    TRY(write_gaps(k, err));
    return write_queue(k, err);
}

status idle_streams_write(const selection *s, arena *a, answer *out, error *err) {
    const trace *t = s->t;
    size_t room = (size_t)t->kernel.n + 1;
    uint32_t *rows = ARENA_ARRAY(a, uint32_t, room), until = 0;
    streams k = {.s = s,
                 .t = t,
                 .arena = a,
                 .streams = answer_table(out, a, "streams"),
                 .queue = answer_table(out, a, "queue"),
                 .rows = rows,
                 .changes = arena_alloc(a, 2 * room * sizeof *k.changes),
                 .scratch = arena_alloc(a, 2 * room * sizeof *k.scratch)};
    if (!rows || !k.streams || !k.queue || !k.changes || !k.scratch) FAIL_MEMORY(err);
    for (uint32_t row = 1; row < t->kernel.n; row++) {
        uint32_t slice = t->kernel.slice[row];
        if (slice >= until) {
            TRY(write_stream(&k, err));
            k.n = 0;
            until = t->track.end[trace_track_of(t, slice)];
        }
        if (select_work_counts(s, row)) rows[k.n++] = row;
    }
    return write_stream(&k, err);
}
