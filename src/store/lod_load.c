/* lod_load.c: how much of a device its kernels filled, as a function of time.
 *
 * At any moment the blocks per SM of all running kernels are added up; more than one does not
 * fill a device more than whole (the estimate of SM efficiency, as
 * analyse/device/device_metrics.h has it). The function is stored as its integral up to each
 * moment where it changes, so the mean of any range is two binary searches. The running sum is
 * a whole number of millionths: taking away what was added leaves exactly nothing. */
#include <math.h>

#include "base/bisect.h"
#include "base/sort.h"
#include "store/lod_int.h"

#define MILLION 1000000

/* A kernel's value in ppm; 0 when the producer did not write it. */
static int64_t millionths(double blocks) {
    if (!(blocks > 0)) return 0;
    return blocks > 1000 ? 1000 * (int64_t)MILLION : round_i64(blocks * MILLION);
}

/* Is the kernel one whose load is known, on this device? */
static bool loads(const trace *t, uint32_t k, int32_t device) {
    return t->kernel.device[k] == device && t->slice.kind[t->kernel.slice[k]] == KIND_KERNEL &&
           t->slice.dur[t->kernel.slice[k]] > 0 && millionths(t->kernel.blocks_per_sm[k]) > 0;
}

static uint64_t sort_key(int64_t v) {
    return (uint64_t)v ^ (uint64_t)1 << 63;
}

/* Starts and ends by time; the top bit of a row marks an end. */
static void find_edges(const trace *t, int32_t device, sort_pair *edges, size_t n) {
    size_t at = 0;
    for (uint32_t k = 1; k < t->kernel.n && at < n; k++) {
        uint32_t slice = t->kernel.slice[k];
        if (!loads(t, k, device)) continue;
        edges[at++] = (sort_pair){sort_key(t->slice.start[slice]), k};
        edges[at++] = (sort_pair){sort_key(trace_slice_end(t, slice)), k | 1u << 31};
    }
    sort_radix(edges, edges + n, n);
}

static void sum_edges(const trace *t, const sort_pair *edges, size_t n, lod_load *out) {
    int64_t running = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t time = (int64_t)(edges[i].key ^ (uint64_t)1 << 63);
        if (out->n == 0 || out->time[out->n - 1] != time) {
            double level = (double)min_i64(running, MILLION) / MILLION;
            double before = 0;
            if (out->n)
                before = out->before[out->n - 1] +
                         level * (double)sub_i64(time, out->time[out->n - 1]);
            out->time[out->n] = time;
            out->before[out->n++] = before;
        }
        int64_t blocks = millionths(t->kernel.blocks_per_sm[edges[i].row & ~(1u << 31)]);
        running += edges[i].row >> 31 ? -blocks : blocks;
    }
}

status lod_load_make(const trace *t, int32_t device, lod_load *out, error *err) {
    size_t n = 0;
    for (uint32_t k = 1; k < t->kernel.n; k++) n += 2 * (size_t)loads(t, k, device);
    if (n == 0 || t->kernel.n >> 31) return OK;
    size_t scratch_bytes = 2 * n * sizeof(sort_pair), bytes = n * 16;
    sort_pair *edges = mem_map(scratch_bytes);
    if (!edges) FAIL_MEMORY(err);
    int64_t *time = mem_map(bytes);
    if (time) {
        *out = (lod_load){.time = time, .before = (double *)(void *)(time + n), .bytes = bytes};
        find_edges(t, device, edges, n);
        sum_edges(t, edges, n, out);
    }
    mem_unmap(edges, scratch_bytes);
    if (!time) FAIL_MEMORY(err);
    return OK;
}

void lod_load_fini(lod_load *l) {
    if (l->time) mem_unmap(l->time, l->bytes);
    *l = (lod_load){.n = 0};
}

/* The integral of the function up to a moment. */
static double load_before(const lod_load *l, int64_t time_ns) {
    uint32_t low = SEARCH_FIRST(i, 0, l->n, l->time[i] <= time_ns);
    if (low == 0) return 0;
    if (low == l->n) return l->before[l->n - 1];
    double length = (double)sub_i64(l->time[low], l->time[low - 1]);
    double part = (double)sub_i64(time_ns, l->time[low - 1]) / length;
    return l->before[low - 1] + part * (l->before[low] - l->before[low - 1]);
}

double lod_loaded(const lod_load *l, int64_t from_ns, int64_t to_ns) {
    if (l->n == 0 || to_ns <= from_ns) return 0;
    double ns = load_before(l, to_ns) - load_before(l, from_ns);
    double share = ns / (double)sub_i64(to_ns, from_ns);
    return share < 0 ? 0 : share > 1 ? 1 : share;
}
