/* lod_cover.c: when devices worked, when the host did, when data was loaded.
 *
 * A cover is the union of slices as a function: how much time was covered before a moment. The
 * share of any range is then two binary searches. Slices of one track ascend by start, so the
 * ranges of a track are joined as they come; what several tracks gave is sorted by start and
 * joined once more. */
#include "base/bisect.h"
#include "base/sort.h"
#include "base/vec.h"
#include "store/lod_int.h"

typedef struct {
    int64_t start, end;
} range;

/* Slices of these kinds on these tracks. */
typedef struct {
    uint32_t kinds; /* bits */
    bool streams;   /* only streams; else only what is not a stream */
    int32_t device; /* of streams; ABSENT_I32 = any */
} question;

enum { MOST_DEVICES = 256 }; /* a file may invent more: they are left out */

#define BIT(kind) (1u << (kind))
#define DEVICE_KINDS (BIT(KIND_KERNEL) | BIT(KIND_MEMCPY) | BIT(KIND_MEMSET))
#define HOST_KINDS                                                             \
    (BIT(KIND_OP) | BIT(KIND_RUNTIME) | BIT(KIND_DRIVER) | BIT(KIND_FORWARD) | \
     BIT(KIND_BACKWARD) | BIT(KIND_OPTIMIZER) | BIT(KIND_COLLECTIVE) | BIT(KIND_OVERHEAD))

void lod_cover_fini(lod_cover *c) {
    if (c->start) mem_unmap(c->start, c->bytes);
    *c = (lod_cover){.n = 0};
}

static bool wanted(const trace *t, uint32_t track, const question *q) {
    bool stream = t->track.kind[track] == TRACK_STREAM;
    if (stream != q->streams) return false;
    return q->device == ABSENT_I32 || t->track.device[track] == q->device;
}

static bool join(vec *ranges, size_t from, int64_t start, int64_t end) {
    range *last = ranges->n > from ? &VEC(ranges, range)[ranges->n - 1] : NULL;
    if (last && start <= last->end) {
        last->end = max_i64(last->end, end);
        return true;
    }
    range *r = vec_push(ranges);
    if (r) *r = (range){start, end};
    return r != NULL;
}

static status collect(const trace *t, const question *q, vec *ranges, error *err) {
    for (uint32_t track = 1; track < t->track.n; track++) {
        if (!wanted(t, track, q)) continue;
        size_t from = ranges->n;
        for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++) {
            if (!(q->kinds & BIT(t->slice.kind[i])) || t->slice.dur[i] <= 0) continue;
            if (!join(ranges, from, t->slice.start[i], trace_slice_end(t, i))) FAIL_MEMORY(err);
        }
    }
    return OK;
}

/* Sorted by start and joined, into the cover. */
static status settle(const vec *ranges, sort_pair *pairs, lod_cover *out, error *err) {
    const range *r = ranges->p;
    size_t n = ranges->n, bytes = (2 * n + 2) * sizeof(int64_t);
    int64_t *start = mem_map(bytes), *covered = start + n + 1, end = INT64_MIN;
    if (!start) FAIL_MEMORY(err);
    *out = (lod_cover){.start = start, .covered = covered, .bytes = bytes};
    for (size_t i = 0; i < n; i++)
        pairs[i] = (sort_pair){(uint64_t)r[i].start ^ (uint64_t)1 << 63, (uint32_t)i};
    sort_radix(pairs, pairs + n, n);
    for (size_t i = 0; i < n; i++) {
        const range *next = &r[pairs[i].row];
        if (out->n == 0 || next->start > end) {
            start[out->n++] = next->start;
            covered[out->n] = covered[out->n - 1];
            end = next->start;
        }
        if (next->end <= end) continue;
        covered[out->n] = add_i64(covered[out->n], sub_i64(next->end, end));
        end = next->end;
    }
    return OK;
}

static status make(const trace *t, const question *q, lod_cover *out, error *err) {
    vec ranges = VEC_INIT(range);
    status s = collect(t, q, &ranges, err);
    if (s == OK && ranges.n > 0 && ranges.n < UINT32_MAX) {
        size_t bytes = 2 * ranges.n * sizeof(sort_pair);
        sort_pair *pairs = mem_map(bytes);
        s = pairs ? settle(&ranges, pairs, out, err)
                  : error_set(err, ERR_MEMORY, NOPOS, MSG_OUT_OF_MEMORY, 0, NULL);
        if (pairs) mem_unmap(pairs, bytes);
    }
    vec_fini(&ranges);
    return s;
}

/* The devices that have a stream with device work, by number. */
static status find_devices(lod *l, error *err) {
    const trace *t = l->t;
    l->devices = LOD_MAP(l, LOD_DEVICES, lod_device, t->track.n);
    if (!l->devices) FAIL_MEMORY(err);
    for (uint32_t track = 1; track < t->track.n; track++) {
        if (t->track.kind[track] != TRACK_STREAM ||
            t->track.first[track] == t->track.end[track])
            continue;
        int32_t device = t->track.device[track];
        uint32_t at = 0;
        while (at < l->n_devices && l->devices[at].device < device) at++;
        if (at < l->n_devices && l->devices[at].device == device) continue;
        if (l->n_devices == MOST_DEVICES) break;
        for (uint32_t i = l->n_devices++; i > at; i--) l->devices[i] = l->devices[i - 1];
        l->devices[at] = (lod_device){.device = device};
    }
    return OK;
}

status lod_build_covers(lod *l, error *err) {
    question q = {.kinds = DEVICE_KINDS, .streams = true};
    TRY(find_devices(l, err));
    for (uint32_t i = 0; i < l->n_devices; i++) {
        q.device = l->devices[i].device;
        if (q.device == ABSENT_I32) continue;
        TRY(make(l->t, &q, &l->devices[i].busy, err));
        TRY(lod_load_make(l->t, q.device, &l->devices[i].load, err));
    }
    q.device = ABSENT_I32;
    TRY(make(l->t, &q, &l->device, err));
    q = (question){.kinds = HOST_KINDS, .device = ABSENT_I32};
    TRY(make(l->t, &q, &l->host, err));
    q.kinds = BIT(KIND_DATA);
    return make(l->t, &q, &l->data, err);
}

/* Covered time before a moment. */
static int64_t covered_before(const lod_cover *c, int64_t time_ns) {
    uint32_t low = SEARCH_FIRST(i, 0, c->n, c->start[i] < time_ns);
    if (low == 0) return 0;
    int64_t length = c->covered[low] - c->covered[low - 1];
    return add_i64(c->covered[low - 1], min_i64(sub_i64(time_ns, c->start[low - 1]), length));
}

int64_t lod_covered(const lod_cover *c, int64_t from_ns, int64_t to_ns) {
    if (c->n == 0 || to_ns <= from_ns) return 0;
    return covered_before(c, to_ns) - covered_before(c, from_ns);
}
