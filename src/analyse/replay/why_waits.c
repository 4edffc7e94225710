/* why_waits.c: what the profiler recorded of waiting for events; see why_waits.h.
 *
 * Works of one stream are neighbors in the table and were launched in their order, so the last
 * one before a call is a binary search. */
#include "analyse/replay/why_waits.h"

#include "analyse/select.h"
#include "base/bisect.h"
#include "base/map.h"
#include "store/args.h"

typedef struct {
    const trace *t;
    why_waits *out;
    map call_of;      /* correlation → slice of the call */
    map first_of;     /* stream → first row of its works */
    uint32_t *end_of; /* by first row: one past the last */
} reader;

/* Arguments of one recorded wait; ABSENT_I64 where they are missing. */
typedef struct {
    int64_t stream, device, correlation, wait_on, event;
} wait_row;

static uint64_t stream_key(int64_t device, int64_t stream) {
    return (uint64_t)device << 48 ^ (uint64_t)stream;
}

static status index_calls(reader *r, error *err) {
    const trace *t = r->t;
    for (uint32_t i = 1; i < t->call.n; i++) {
        if (t->call.correlation[i] == ABSENT_I64) continue;
        uint32_t *at = map_at(&r->call_of, (uint64_t)t->call.correlation[i]);
        if (!at) FAIL_MEMORY(err);
        if (*at == MAP_NONE) *at = t->call.slice[i];
    }
    return OK;
}

static status index_streams(reader *r, error *err) {
    const trace *t = r->t;
    uint32_t first = 0, until = 0;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k];
        if (slice >= until) {
            uint32_t *at =
                map_at(&r->first_of, stream_key(t->kernel.device[k], t->kernel.stream[k]));
            if (!at) FAIL_MEMORY(err);
            until = t->track.end[trace_track_of(t, slice)];
            first = k;
            if (*at == MAP_NONE) *at = k;
        }
        r->end_of[first] = k + 1;
    }
    return OK;
}

static int64_t launched_at(const trace *t, uint32_t k) {
    uint32_t call = t->kernel.launch[k];
    return t->slice.start[call ? call : t->kernel.slice[k]];
}

/* The first work of a stream that was launched at a time or later, and the end of the stream's
 * works; both 0 when it has none. */
static uint32_t launched_from(const reader *r, int64_t device, int64_t stream, int64_t time,
                              uint32_t *first, uint32_t *end) {
    *first = map_get(&r->first_of, stream_key(device, stream));
    *end = *first == MAP_NONE ? 0 : r->end_of[*first];
    if (*first == MAP_NONE) *first = 0;
    return SEARCH_FIRST(k, *first, *end, launched_at(r->t, k) < time);
}

/* The last work launched on a stream before a call; 0: none. */
static uint32_t work_before(const reader *r, int64_t device, int64_t stream, uint32_t call) {
    uint32_t first, end;
    uint32_t k = launched_from(r, device, stream, r->t->slice.start[call], &first, &end);
    return k > first ? k - 1 : 0;
}

static uint32_t call_with(const reader *r, int64_t correlation) {
    uint32_t call =
        correlation == ABSENT_I64 ? MAP_NONE : map_get(&r->call_of, (uint64_t)correlation);
    return call == MAP_NONE ? 0 : call;
}

static void read_values(const trace *t, const args_record *rec, wait_row *w) {
    const struct {
        str key;
        int64_t *to;
    } wanted[] = {{STR("stream"), &w->stream},
                  {STR("device"), &w->device},
                  {STR("correlation"), &w->correlation},
                  {STR("wait_on_stream"), &w->wait_on},
                  {STR("wait_on_cuda_event_record_corr_id"), &w->event}};
    for (uint32_t i = 0; i < rec->n && !rec->raw; i++)
        for (size_t k = 0; k < N_OF(wanted); k++)
            if ((rec->tags[i] & 3) == ARGS_INTEGER &&
                str_eq(trace_str(t, rec->keys[i]), wanted[k].key))
                *wanted[k].to = rec->payloads[i];
}

static void wait_of_stream(const reader *r, const wait_row *w) {
    const trace *t = r->t;
    uint32_t call = call_with(r, w->correlation), record = call_with(r, w->event);
    uint32_t first, end;
    if (!call || !record) return;
    uint32_t source = work_before(r, w->device, w->wait_on, record);
    uint32_t k = launched_from(r, w->device, w->stream, t->slice.start[call], &first, &end);
    if (!source || k >= end || w->wait_on == w->stream) return;
    uint32_t *of = &r->out->of_work[k];
    if (!*of || slice_end(t, t->kernel.slice[source]) > slice_end(t, t->kernel.slice[*of]))
        *of = source;
}

static void take_wait(const reader *r, str name, const wait_row *w) {
    uint32_t call = call_with(r, w->correlation), record = call_with(r, w->event);
    if (str_eq(name, STR("Stream Wait Event"))) {
        r->out->streams = true;
        wait_of_stream(r, w);
    } else if (str_eq(name, STR("Event Sync")) && call && record) {
        r->out->of_call[call] = work_before(r, w->device, w->wait_on, record);
    } else if (str_eq(name, STR("Stream Sync")) && call) {
        r->out->of_call[call] = work_before(r, w->device, w->stream, call);
    }
}

static status read_all(reader *r, args_reader *args, error *err) {
    const trace *t = r->t;
    TRY(index_calls(r, err));
    TRY(index_streams(r, err));
    for (uint32_t i = 1; i < t->slice.n; i++) {
        args_record rec;
        wait_row w = {ABSENT_I64, ABSENT_I64, ABSENT_I64, ABSENT_I64, ABSENT_I64};
        if (t->slice.kind[i] != KIND_SYNC || !t->slice.args[i]) continue;
        TRY(args_read(args, t->slice.args[i], &rec, err));
        read_values(t, &rec, &w);
        take_wait(r, trace_slice_name(t, i), &w);
    }
    return OK;
}

status why_waits_read(const trace *t, arena *a, why_waits *out, error *err) {
    args_reader *args;
    *out = (why_waits){0};
    if (!t->kind_count[KIND_SYNC] || t->kernel.n < 2) return OK;
    reader r = {
        .t = t, .out = out, .end_of = ARENA_ARRAY(a, uint32_t, (size_t)t->kernel.n + 1)};
    out->of_work = ARENA_ARRAY(a, uint32_t, (size_t)t->kernel.n + 1);
    out->of_call = ARENA_ARRAY(a, uint32_t, (size_t)t->slice.n + 1);
    if (!r.end_of || !out->of_work || !out->of_call) FAIL_MEMORY(err);
    TRY(args_reader_new(t, &args, err));
    status st = read_all(&r, args, err);
    args_reader_free(args);
    map_fini(&r.call_of);
    map_fini(&r.first_of);
    return st;
}
