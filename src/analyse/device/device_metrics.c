/* device_metrics.c: how well a device was used between two moments.
 *
 * Kernels are put in order of device and start once; utilization joins their ranges, the
 * sweep for SM efficiency goes over starts and ends. The running sum of blocks per SM is
 * kept as a whole number of millionths (producers write two decimals), so that adding and
 * taking away the same kernels leaves exactly nothing: floating residue would make busy time
 * out of gaps. */
#include "analyse/device/device_metrics.h"

#include <math.h>

#include "base/sort.h"

typedef struct {
    const trace *t;
    arena *arena;
    int64_t from, to;
    const uint32_t *rows; /* kernels of the device, by start */
    uint32_t n;
} device_view;

static uint64_t sort_key(int64_t v) {
    return (uint64_t)v ^ (uint64_t)1 << 63;
}

static interval range_of(const device_view *d, uint32_t row) {
    uint32_t slice = d->t->kernel.slice[row];
    return (interval){d->t->slice.start[slice], slice_end(d->t, slice)};
}

/* All kernels by device, then start; the number of them by *n. Two stable sorts: any number of
 * devices costs the same. */
static uint32_t *sort_kernels(const trace *t, arena *a, uint32_t *n) {
    sort_pair *pairs = arena_alloc(a, ((size_t)t->kernel.n + 1) * sizeof *pairs);
    uint32_t *rows = arena_alloc(a, ((size_t)t->kernel.n + 1) * sizeof *rows);
    if (!pairs || !rows || t->kernel.n >> 31) return NULL;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k];
        if (t->slice.kind[slice] == KIND_KERNEL && t->kernel.device[k] != ABSENT_I32)
            pairs[(*n)++] = (sort_pair){sort_key(t->slice.start[slice]), k};
    }
    if (!sort_radix_in(a, pairs, *n)) return NULL;
    for (uint32_t i = 0; i < *n; i++) pairs[i].key = sort_key(t->kernel.device[pairs[i].row]);
    if (!sort_radix_in(a, pairs, *n)) return NULL;
    for (uint32_t i = 0; i < *n; i++) rows[i] = pairs[i].row;
    arena_drop(a, pairs, ((size_t)t->kernel.n + 1) * sizeof *pairs);
    return rows;
}

static status measure_busy(const device_view *d, double *out, error *err) {
    intervals busy = intervals_in(d->arena);
    for (uint32_t i = 0; i < d->n; i++) {
        interval r = range_of(d, d->rows[i]);
        intervals_add(&busy, max_i64(r.start, d->from), min_i64(r.end, d->to));
    }
    intervals_merge(&busy);
    if (busy.failed) FAIL_MEMORY(err);
    *out = d->to > d->from ? (double)intervals_ns(&busy) / (double)sub_i64(d->to, d->from) : 0;
    intervals_drop(&busy);
    return OK;
}

static void measure_kernels(const device_view *d, tensor_core_names *names,
                            device_metrics *out) {
    double weighted = 0, weight = 0;
    int64_t tensor = 0, unsure = 0, all = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t row = d->rows[i];
        interval r = range_of(d, row);
        double occupancy = d->t->kernel.occupancy[row];
        int64_t dur = sub_i64(r.end, r.start);
        int64_t inside = sub_i64(min_i64(r.end, d->to), max_i64(r.start, d->from));
        if (inside > 0 && occupancy >= 0) {
            weighted += occupancy * (double)inside;
            weight += (double)inside;
        }
        matrix_use use = tensor_core_work(names, row);
        all = add_i64(all, dur);
        if (use == MATRIX_YES) tensor = add_i64(tensor, dur);
        if (use == MATRIX_UNKNOWN) unsure = add_i64(unsure, dur);
    }
    out->occupancy = weight > 0 ? weighted / weight : NAN;
    out->tensor_core_share = tensor_core_share(tensor, unsure, all);
}

#define MILLION 1000000

/* Blocks per SM in ppm; values are limited to a thousand times what fills the device. */
static int64_t millionths(double blocks) {
    return blocks > 1000 ? 1000 * (int64_t)MILLION : round_i64(blocks * MILLION);
}

/* Starts and ends of the kernels inside the range, by time; ends carry the top bit of their
 * row. */
static sort_pair *make_edges(const device_view *d, size_t *n) {
    sort_pair *edges = arena_alloc(d->arena, ((size_t)d->n * 2 + 1) * sizeof *edges);
    if (!edges) return NULL;
    for (uint32_t i = 0; i < d->n; i++) {
        interval r = range_of(d, d->rows[i]);
        int64_t start = max_i64(r.start, d->from), end = min_i64(r.end, d->to);
        if (end <= start || !(d->t->kernel.blocks_per_sm[d->rows[i]] > 0)) continue;
        edges[(*n)++] = (sort_pair){sort_key(start), d->rows[i]};
        edges[(*n)++] = (sort_pair){sort_key(end), d->rows[i] | 1u << 31};
    }
    return sort_radix_in(d->arena, edges, *n) ? edges : NULL;
}

static status sweep(const device_view *d, double *out, error *err) {
    size_t n = 0;
    sort_pair *edges = make_edges(d, &n);
    if (!edges) FAIL_MEMORY(err);
    int64_t running = 0;
    double area = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t blocks = millionths(d->t->kernel.blocks_per_sm[edges[i].row & ~(1u << 31)]);
        running += edges[i].row >> 31 ? -blocks : blocks;
        if (i + 1 < n)
            area +=
                (double)min_i64(running, MILLION) * (double)(edges[i + 1].key - edges[i].key);
    }
    arena_drop(d->arena, edges, ((size_t)d->n * 2 + 1) * sizeof *edges);
    *out = n ? area / MILLION / (double)sub_i64(d->to, d->from) : NAN;
    return OK;
}

static status measure(const device_view *d, tensor_core_names *names, device_metrics *out,
                      error *err) {
    out->device = d->t->kernel.device[d->rows[0]];
    TRY(measure_busy(d, &out->utilization, err));
    TRY(sweep(d, &out->sm_efficiency, err));
    measure_kernels(d, names, out);
    return OK;
}

status device_metrics_make(const trace *t, interval range, arena *a, device_metrics_list *out,
                           error *err) {
    tensor_core_names names;
    TRY(tensor_core_init(&names, t, a, err));
    uint32_t n = 0;
    uint32_t *rows = sort_kernels(t, a, &n);
    if (!rows) FAIL_MEMORY(err);
    device_metrics_list made = {0};
    for (uint32_t i = 0; i < n; i++)
        made.n += !i || t->kernel.device[rows[i]] != t->kernel.device[rows[i - 1]];
    made.v = ARENA_ARRAY(a, device_metrics, (size_t)made.n + 1);
    if (!made.v) FAIL_MEMORY(err);
    device_view d = {.t = t, .arena = a, .from = range.start, .to = range.end};
    for (uint32_t first = 0, i = 0; first < n; first += d.n, i++) {
        d.rows = rows + first;
        d.n = 1;
        while (first + d.n < n && t->kernel.device[d.rows[d.n]] == t->kernel.device[d.rows[0]])
            d.n++;
        TRY(measure(&d, &names, &made.v[i], err));
    }
    *out = made;
    return OK;
}
