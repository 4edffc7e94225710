/* exposed.c: communication that no computation hides; see exposed.h.
 *
 * What all devices communicate minus what any of them computes is right for one device. With
 * several, each is looked at by itself: those are few, and only those that communicate cost a
 * pass over the device work. */
#include "analyse/device/exposed.h"

#include "analyse/lexicon.h"

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

/* When operators run that wait for nothing; when those run that compute. */
typedef struct {
    intervals busy, work;
} host_time;

/* What an operator contains. */
enum { HOLDS_OPERATOR = 1, HOLDS_WAITING = 2 };

typedef struct {
    comm_names *comm;
    name_meanings means;
    uint8_t *holds; /* by slice */
} host_ops;

/* For other workers, or for a result. */
static bool op_waits(host_ops *h, uint32_t slice) {
    const uint64_t waits = MEANING(DISTRIBUTED) | MEANING(COLLECTIVE) | MEANING(READS_VALUE);
    return comm_host_id(h->comm, h->comm->t->slice.name[slice]) ||
           name_meanings_of(&h->means, slice) & waits;
}

static void find_contents(host_ops *h) {
    const trace *t = h->comm->t;
    for (uint32_t i = t->slice.n; i-- > 1;) { /* what is inside comes after */
        uint8_t kind = t->slice.kind[i], up = h->holds[i] & HOLDS_WAITING;
        if (kind == KIND_OP) up |= HOLDS_OPERATOR;
        if (kind == KIND_COLLECTIVE || (kind == KIND_OP && op_waits(h, i))) up |= HOLDS_WAITING;
        h->holds[t->slice.parent[i]] |= up | (h->holds[i] & HOLDS_OPERATOR);
    }
}

/* Nodes of autograd, functions of Python among them, surround operators: what they add to
 * those is the program's own code, but no computation. */
static bool op_computes(host_ops *h, uint32_t slice) {
    return is_library_op(&h->means, slice) || !(h->holds[slice] & HOLDS_OPERATOR);
}

static status find_work(comm_names *comm, interval window, arena *a, host_time *out,
                        error *err) {
    const trace *t = comm->t;
    host_ops h = {.comm = comm, .holds = ARENA_ARRAY(a, uint8_t, (size_t)t->slice.n + 1)};
    if (!h.holds) FAIL_MEMORY(err);
    TRY(name_meanings_init(&h.means, t, a, err));
    find_contents(&h);
    for (uint32_t i = 1; i < t->slice.n; i++) {
        if (t->slice.kind[i] != KIND_OP || h.holds[i] & HOLDS_WAITING || op_waits(&h, i))
            continue;
        int64_t start = max_i64(t->slice.start[i], window.start),
                end = min_i64(slice_end(t, i), window.end);
        intervals_add(&out->busy, start, end);
        if (op_computes(&h, i)) intervals_add(&out->work, start, end);
    }
    intervals_merge(&out->busy);
    intervals_merge(&out->work);
    if (out->busy.failed || out->work.failed) FAIL_MEMORY(err);
    return OK;
}

/* What the host does, for a trace without kernels. The stages our own recorder sees are ranges
 * around work: where it records no operators, nothing is known to compute. */
static status find_host_time(comm_names *comm, interval window, const role_ranges *ranges,
                             arena *a, host_time *out, error *err) {
    const trace *t = comm->t;
    *out = (host_time){intervals_in(a), intervals_in(a)};
    if (t->kind_count[KIND_OP]) return find_work(comm, window, a, out, err);
    if (!steps_are_ours(t)) out->busy = out->work = ranges->at[ROLE_CPU_EXEC];
    return OK;
}

status exposed_find(comm_names *comm, interval window, role_ranges *ranges, arena *a,
                    error *err) {
    const trace *t = comm->t;
    bool kernels = t->kind_count[KIND_KERNEL] != 0;
    host_time host = {intervals_in(a), intervals_in(a)};
    if (!kernels) TRY(find_host_time(comm, window, ranges, a, &host, err));
    ranges->work = host.work;
    ranges->exposed = intervals_minus(&ranges->at[ROLE_COMMUNICATION],
                                      kernels ? &ranges->at[ROLE_KERNEL] : &host.busy);
    if (!ranges->exposed.arena) ranges->exposed.arena = a;
    if (comm_on_device(comm)) {
        TRY(add_devices(comm, window, a, &ranges->exposed, err));
        intervals_merge(&ranges->exposed);
    }
    if (ranges->exposed.failed) FAIL_MEMORY(err);
    return OK;
}
