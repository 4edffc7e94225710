/* held_device.c: how long a device works on what was launched before the recording. One pass
 * over the device work finds the first piece of each stream; another adds up what is recorded
 * of the device before each of them. */
#include "analyse/steps/held_device.h"

#include "analyse/steps/lost_work.h"
#include "base/num.h"

enum {
    LEAST_HELD_NS = 1000000, /* shorter waits are latency, or not worth a word */
    JUST_BEFORE_NS = 50000,  /* work that ends so shortly before may be what was waited for */
    MOST_DEVICES = 64,
};

/* The first piece of a stream that waited longest. */
typedef struct {
    int32_t device;
    int64_t from, until; /* end of its launch; its start. until == 0: no such stream */
    int64_t busy;        /* recorded work of the device before `until` */
    bool is_explained;   /* recorded work ends just before `until`, or runs on */
} held;

static held *find_device(held *v, uint32_t *n, int32_t device) {
    for (uint32_t i = 0; i < *n; i++)
        if (v[i].device == device) return &v[i];
    if (*n == MOST_DEVICES) return NULL;
    v[*n] = (held){.device = device};
    return &v[(*n)++];
}

/* Rows of table kernel are in the order of their slices, so those of a stream are together, by
 * start. */
static uint32_t find_waits(const trace *t, held *v) {
    uint32_t n = 0, end = 0;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k], launch = t->kernel.launch[k];
        held *h = find_device(v, &n, t->kernel.device[k]);
        if (slice < end || !h) continue;
        end = t->track.end[trace_track_of(t, slice)];
        if (!launch) continue;
        int64_t from = trace_slice_end(t, launch), until = t->slice.start[slice];
        if (sub_i64(until, from) < LEAST_HELD_NS ||
            sub_i64(until, from) <= sub_i64(h->until, h->from))
            continue;
        h->from = from;
        h->until = until;
    }
    return n;
}

static void add_recorded(const trace *t, held *v, uint32_t n) {
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k];
        held *h = find_device(v, &n, t->kernel.device[k]);
        int64_t start = t->slice.start[slice], end = trace_slice_end(t, slice);
        if (!h || !h->until || start >= h->until) continue;
        h->busy = add_i64(h->busy, sub_i64(min_i64(end, h->until), start));
        h->is_explained |= end > sub_i64(h->until, JUST_BEFORE_NS);
    }
}

/* Work from before the recording runs from its start on: a launch that comes later than half
 * way may have waited for anything. */
static bool is_held(const trace *t, const held *h) {
    int64_t waited = sub_i64(h->until, h->from);
    return h->until && !h->is_explained && h->busy < waited / 10 &&
           sub_i64(h->from, t->start_ns) <= waited;
}

status held_device_until(const trace *t, arena *a, int64_t *out, error *err) {
    held *v = ARENA_ARRAY(a, held, MOST_DEVICES);
    int64_t until = INT64_MAX;
    if (!v) FAIL_MEMORY(err);
    uint32_t n = find_waits(t, v);
    add_recorded(t, v, n);
    for (uint32_t i = 0; i < n; i++)
        until = min_i64(until, is_held(t, &v[i]) ? v[i].until : INT64_MIN);
    if (n && until != INT64_MIN) {
        lost_work lost;
        TRY(lost_work_count(t, a, &lost, err));
        if (lost_work_matters(&lost) || lost.n_lost_replays) until = INT64_MIN; /* it may have waited for that */
    }
    *out = n ? until : INT64_MIN;
    return OK;
}
