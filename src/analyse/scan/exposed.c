/* exposed.c: communication that no computation hides; see exposed.h.
 *
 * What all devices communicate less what any of them computes is right for one device. With
 * several, each is looked at by itself: those are few, and only those that communicate cost a
 * pass over the device work. */
#include "analyse/scan/exposed.h"

/* Ranges of one device. */
typedef struct {
    intervals comm, compute;
} device_ranges;

static status find_device(comm_names *comm, int32_t device, interval window, arena *a,
                          device_ranges *out, error *err) {
    const trace *t = comm->t;
    *out = (device_ranges){intervals_in(a), intervals_in(a)};
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t slice = t->kernel.slice[k];
        if (t->kernel.device[k] != device || t->slice.kind[slice] != KIND_KERNEL) continue;
        intervals_add(comm_kernel_row(comm, k) ? &out->comm : &out->compute,
                      max_i64(t->slice.start[slice], window.start),
                      min_i64(slice_end(t, slice), window.end));
    }
    intervals_merge(&out->comm);
    intervals_merge(&out->compute);
    if (out->comm.failed || out->compute.failed) FAIL_MEMORY(err);
    return OK;
}

/* Adds what is exposed on each device that communicates. */
static status add_devices(comm_names *comm, interval window, arena *a, intervals *out,
                          error *err) {
    const trace *t = comm->t;
    int32_t *seen = ARENA_ARRAY(a, int32_t, (size_t)t->device.n + 64);
    size_t n = 0, cap = (size_t)t->device.n + 64;
    if (!seen) FAIL_MEMORY(err);
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        size_t i = 0;
        if (!comm_kernel_row(comm, k)) continue;
        while (i < n && seen[i] != t->kernel.device[k]) i++;
        if (i < n || n == cap) continue; /* a forged file may have any number of devices */
        seen[n++] = t->kernel.device[k];
        device_ranges one;
        TRY(find_device(comm, t->kernel.device[k], window, a, &one, err));
        intervals bare = intervals_minus(&one.comm, &one.compute);
        for (size_t at = 0; at < bare.n; at++)
            intervals_add(out, bare.v[at].start, bare.v[at].end);
        out->failed |= bare.failed;
    }
    return OK;
}

/* When the host computes, for a trace without kernels. The stages our own recorder sees are
 * ranges around work: where it records no operators, nothing is known to compute. */
static const intervals *host_computes(const trace *t, const role_ranges *ranges) {
    static const intervals never = {0};
    return !t->kind_count[KIND_OP] && steps_are_ours(t) ? &never : &ranges->at[ROLE_CPU_EXEC];
}

status exposed_find(comm_names *comm, interval window, role_ranges *ranges, arena *a,
                    error *err) {
    const trace *t = comm->t;
    bool kernels = t->kind_count[KIND_KERNEL] != 0;
    const intervals *compute = kernels ? &ranges->at[ROLE_KERNEL] : host_computes(t, ranges);
    ranges->exposed = intervals_minus(&ranges->at[ROLE_COMMUNICATION], compute);
    if (!ranges->exposed.arena) ranges->exposed.arena = a;
    if (comm_on_device(comm)) {
        TRY(add_devices(comm, window, a, &ranges->exposed, err));
        intervals_merge(&ranges->exposed);
    }
    if (ranges->exposed.failed) FAIL_MEMORY(err);
    return OK;
}
