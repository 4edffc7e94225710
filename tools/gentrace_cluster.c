/* gentrace_cluster.c: the traces of all ranks of one training job, with planted faults.
 *
 *   gentrace cluster DIR [--ranks 1024] [--steps 10] [--seed 1] [--gzip] [--healthy] [--answers FILE]
 *                        [--slow-stage FACTOR] [--pace FACTOR] [--network FACTOR]
 *
 * The job is simulated first, all ranks together: tensor-parallel groups of neighbors, pipeline
 * stages, data-parallel groups, eight ranks a host, as Megatron lays them out. A collective ends
 * for all members when the last has come and the transfer is done; a kernel starts when its stream
 * is free and the host has launched it. Then each rank's trace is written in the shape Kineto
 * writes: annotations, operators with operators inside, launches, kernels, collectives with their
 * group, sequence and size; times on the clock of its host, which is off and drifts.
 *
 * What is planted, each on another host (--healthy: nothing but the clocks):
 *   compute  a rank whose kernels take 35 % longer       data    a rank whose loader is late
 *   memory   a rank that allocates in every step         host    a rank whose host launches slowly
 *   a host   all of whose ranks compute 25 % slower      a tensor group with slow transfers
 *   a link   from one pipeline stage to the next that is slow
 * --slow-stage: the kernels of the last stage but one take this many times as long. --pace:
 * those of all ranks, which is what balanced stages would look like. --network: transfers are
 * faster by this factor. --answers writes it down. The same seed gives the same bytes. Uses
 * only libc. */
#include "gentrace_cluster.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    PER_HOST = 8,
    MICRO = 2,  /* batches that follow each other through the pipeline */
    LAYERS = 2, /* of each stage */
    MAX_RANKS = 16384,
};

static struct {
    const char *dir, *answers;
    int ranks, steps;
    uint64_t seed;
    bool gzip, healthy;
    double slow_stage, pace;    /* factors of the time of kernels */
    double network;             /* of the speed of transfers */
    int tensor, pipeline, data; /* degrees */
} job = {.ranks = 1024, .steps = 10, .seed = 1, .slow_stage = 1, .pace = 1, .network = 1};

static _Noreturn void die(const char *what, const char *which) {
    fprintf(stderr, "gentrace: %s: %s\n", what, which);
    exit(1);
}

static void *take(size_t n, size_t bytes) {
    void *p = calloc(n ? n : 1, bytes);
    if (!p) die("out of memory", "cluster");
    return p;
}

static uint64_t mix(uint64_t z) {
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A number of 0 … n-1 that depends on nothing but the seed and what it is for. */
static int64_t draw(uint64_t what, uint64_t a, uint64_t b, int64_t n) {
    return (int64_t)(mix(mix(mix(job.seed ^ what << 48) ^ a) ^ b) % (uint64_t)n);
}

/* ---- who is who -------------------------------------------------------------------------------- */

static int tensor_of(int r) {
    return r % job.tensor;
}
static int data_of(int r) {
    return r / job.tensor % job.data;
}
static int stage_of(int r) {
    return r / (job.tensor * job.data);
}
static int rank_at(int tensor, int data, int stage) {
    return (stage * job.data + data) * job.tensor + tensor;
}
static int host_of(int r) {
    return r / PER_HOST;
}

static void choose_degrees(void) {
    job.tensor = job.ranks >= 256 ? 8 : job.ranks >= 32 ? 4 : 2;
    job.pipeline = job.ranks >= 512 ? 4 : 2;
    job.data = job.ranks / (job.tensor * job.pipeline);
    if (job.data < 2 || job.ranks % (job.tensor * job.pipeline) != 0)
        die("ranks must be a multiple of its groups", "16, 32, 64, 128, 256, 512, 1024, …");
}

/* ---- what is planted ----------------------------------------------------------------------------- */

static struct {
    int compute, data, memory, host;        /* ranks; -1: none */
    int slow_host;                          /* -1: none */
    int group_data, group_stage;            /* the tensor group of these; -1: none */
    int link_tensor, link_data, link_stage; /* from this stage to the next */
} fault;

static void plant(void) {
    memset(&fault, 0xff, sizeof fault);
    if (job.healthy) return;
    /* Each in another replica, so that no two are in one data-parallel group's way. */
    int d = job.data, last = job.pipeline - 1;
    fault.compute = rank_at(1, d / 4, 0);
    fault.data = rank_at(0, d / 2, last);
    if (job.ranks < 64) return;
    fault.memory = rank_at(job.tensor - 1, d * 3 / 4, 0);
    fault.host = rank_at(2, d * 5 / 8, last);
    fault.group_data = d * 3 / 8;
    fault.group_stage = 0;
    fault.link_tensor = 1;
    fault.link_data = d / 8;
    fault.link_stage = last - 1;
    if (job.ranks < 256) return;
    fault.slow_host = host_of(rank_at(0, d * 7 / 8, last));
}

/* ---- the simulation ------------------------------------------------------------------------------ */

typedef enum {
    W_MATMUL,
    W_NORM,
    W_OPTIMIZER,
    W_TENSOR, /* the collectives */
    W_DATA,
    W_WORLD,
    W_SEND,
    W_RECV,
    W_ALLOCATE, /* a call, no kernel */
    W_LOAD,     /* the data loader, no kernel */
    W_READ,     /* the host waits for the device: the loss is read */
} work_kind;

/* One piece of work of a rank: on the host, then on the device. */
typedef struct {
    int64_t host, host_dur; /* the operator that launches it */
    int64_t start, dur;     /* the kernel */
    int64_t bytes;
    int32_t sequence, peer; /* peer: of a transfer, the other rank */
    uint8_t kind, backward;
} work;

typedef struct {
    work *v;
    int n, cap;
    int64_t host, device, send_free; /* the host's clock, the streams' */
    int64_t *step_start, *step_end;
    int *step_first; /* its first piece of work */
    int32_t tensor_sequence, data_sequence, world_sequence;
} rank_state;

static rank_state *ranks;
static int32_t *link_sequence; /* by sending rank, both directions */

static work *add_work(int r, work_kind kind) {
    rank_state *s = &ranks[r];
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 256;
        s->v = realloc(s->v, (size_t)s->cap * sizeof *s->v);
        if (!s->v) die("out of memory", "cluster");
    }
    work *w = &s->v[s->n++];
    *w = (work){.kind = (uint8_t)kind, .peer = -1};
    return w;
}

/* The host comes to the work: an operator that launches it. */
static void launch(int r, work *w) {
    rank_state *s = &ranks[r];
    w->host = s->host;
    w->host_dur = 12000 + draw(1, (uint64_t)r, (uint64_t)s->n, 4000);
    if (r == fault.host) w->host_dur += 700000;
    s->host += w->host_dur + 2000;
    int64_t ready = w->host + w->host_dur - 1000;
    w->start = ready > s->device ? ready : s->device;
}

/* The stage that is unbalanced. */
static int slow_stage(void) {
    return job.pipeline > 2 ? job.pipeline - 2 : 0;
}

static double pace_of(int r) {
    double pace = job.pace * (stage_of(r) == slow_stage() ? job.slow_stage : 1);
    if (r == fault.compute) return pace * 1.35;
    return host_of(r) == fault.slow_host ? pace * 1.25 : pace;
}

static void compute(int r, work_kind kind, int64_t usual_ns, bool backward) {
    work *w = add_work(r, kind);
    launch(r, w);
    int64_t jitter = draw(2, (uint64_t)r, (uint64_t)ranks[r].n, usual_ns / 100 + 1);
    w->dur = (int64_t)((double)usual_ns * pace_of(r)) + jitter;
    w->backward = backward;
    ranks[r].device = w->start + w->dur;
}

/* All members come, wait for the last and leave together. */
static void meet(const int *members, int n, work_kind kind, int64_t bytes, int64_t transfer) {
    int64_t last = 0;
    transfer = (int64_t)((double)transfer / job.network);
    for (int i = 0; i < n; i++) {
        rank_state *s = &ranks[members[i]];
        work *w = add_work(members[i], kind);
        launch(members[i], w);
        w->bytes = bytes;
        int32_t *sequence = kind == W_TENSOR ? &s->tensor_sequence
                            : kind == W_DATA ? &s->data_sequence
                                             : &s->world_sequence;
        w->sequence = (*sequence)++;
        last = w->start > last ? w->start : last;
    }
    for (int i = 0; i < n; i++) {
        rank_state *s = &ranks[members[i]];
        work *w = &s->v[s->n - 1];
        /* They leave within two microseconds. */
        int64_t end = last + transfer + draw(3, (uint64_t)members[i], (uint64_t)s->n, 2000);
        w->dur = end - w->start;
        s->device = end;
    }
}

static void tensor_reduce(int data, int stage, bool backward) {
    int members[PER_HOST];
    bool slow = data == fault.group_data && stage == fault.group_stage;
    int64_t transfer = 90000 + draw(4, (uint64_t)rank_at(0, data, stage),
                                    (uint64_t)ranks[rank_at(0, data, stage)].n, 2000);
    for (int t = 0; t < job.tensor; t++) members[t] = rank_at(t, data, stage);
    meet(members, job.tensor, W_TENSOR, 8 << 20, slow ? 3 * transfer : transfer);
    for (int t = 0; t < job.tensor; t++)
        ranks[members[t]].v[ranks[members[t]].n - 1].backward = backward;
}

static void layers(int data, int stage, bool backward) {
    for (int layer = 0; layer < LAYERS; layer++) {
        for (int t = 0; t < job.tensor; t++) {
            int r = rank_at(t, data, stage);
            for (int k = 0; k < (backward ? 4 : 2); k++) compute(r, W_MATMUL, 480000, backward);
            compute(r, W_NORM, 60000, backward);
        }
        tensor_reduce(data, stage, backward);
    }
}

/* From one stage to the next: the sender continues, the receiver waits. */
static void transfer(int from, int to, bool slow) {
    work *s = add_work(from, W_SEND);
    launch(from, s);
    if (ranks[from].send_free > s->start) s->start = ranks[from].send_free;
    s->peer = to;
    s->bytes = 4 << 20;
    s->sequence = link_sequence[2 * from + (to > from)]++;
    int64_t sent = s->start;
    work *r = add_work(to, W_RECV);
    launch(to, r);
    r->peer = from;
    r->bytes = s->bytes;
    r->sequence = s->sequence;
    int64_t begin = sent > r->start ? sent : r->start;
    int64_t end = begin + (int64_t)((slow ? 900000 : 110000) / job.network) +
                  draw(5, (uint64_t)from, (uint64_t)s->sequence, 3000);
    s = &ranks[from].v[ranks[from].n - 1];
    s->dur = end - s->start;
    ranks[from].send_free = end;
    r->dur = end - r->start;
    ranks[to].device = end;
}

static void pass(int data, int from_stage, int to_stage) {
    for (int t = 0; t < job.tensor; t++) {
        bool slow = t == fault.link_tensor && data == fault.link_data &&
                    from_stage == fault.link_stage && to_stage == from_stage + 1;
        transfer(rank_at(t, data, from_stage), rank_at(t, data, to_stage), slow);
    }
}

static void begin_step(int step) {
    for (int r = 0; r < job.ranks; r++) {
        rank_state *s = &ranks[r];
        s->step_start[step] = s->host = s->device;
        s->step_first[step] = s->n;
        work *w = add_work(r, W_LOAD);
        w->host = s->host;
        w->host_dur = 800000 + draw(6, (uint64_t)r, (uint64_t)step, 40000);
        if (r == fault.data && step % 2) w->host_dur += 6000000;
        s->host += w->host_dur;
        if (r != fault.memory) continue;
        w = add_work(r, W_ALLOCATE);
        w->host = s->host;
        w->host_dur = 4500000;
        s->host += w->host_dur;
    }
}

static void reduce_gradients(int *members) {
    for (int stage = 0; stage < job.pipeline; stage++)
        for (int t = 0; t < job.tensor; t++) {
            for (int d = 0; d < job.data; d++) members[d] = rank_at(t, d, stage);
            for (int bucket = 0; bucket < 2; bucket++)
                meet(members, job.data, W_DATA, 64 << 20,
                     900000 +
                         draw(7, (uint64_t)members[0], (uint64_t)ranks[members[0]].n, 9000));
        }
    for (int r = 0; r < job.ranks; r++) members[r] = r;
    meet(members, job.ranks, W_WORLD, 4, 60000);
}

static void simulate_step(int step, int *members) {
    begin_step(step);
    for (int d = 0; d < job.data; d++) {
        for (int m = 0; m < MICRO; m++)
            for (int p = 0; p < job.pipeline; p++) {
                if (p) pass(d, p - 1, p);
                layers(d, p, false);
            }
        for (int m = 0; m < MICRO; m++)
            for (int p = job.pipeline - 1; p >= 0; p--) {
                if (p < job.pipeline - 1) pass(d, p + 1, p);
                layers(d, p, true);
            }
    }
    reduce_gradients(members);
    for (int r = 0; r < job.ranks; r++) {
        compute(r, W_OPTIMIZER, 400000, false);
        rank_state *s = &ranks[r];
        if (s->send_free > s->device) s->device = s->send_free;
        if (s->host > s->device) s->device = s->host;
        work *w = add_work(r, W_READ);
        w->host = s->host;
        s->device += 30000; /* the loss is read, and printed */
        w->host_dur = s->device - 20000 - w->host;
        s->step_end[step] = s->device;
    }
}

static void simulate(void) {
    int *members = take((size_t)job.ranks, sizeof *members);
    ranks = take((size_t)job.ranks, sizeof *ranks);
    link_sequence = take(2 * (size_t)job.ranks, sizeof *link_sequence);
    for (int r = 0; r < job.ranks; r++) {
        ranks[r].step_start = take((size_t)job.steps, sizeof(int64_t));
        ranks[r].step_end = take((size_t)job.steps, sizeof(int64_t));
        ranks[r].step_first = take((size_t)job.steps + 1, sizeof(int));
        ranks[r].device = 1000000;
    }
    for (int step = 0; step < job.steps; step++) simulate_step(step, members);
    for (int r = 0; r < job.ranks; r++) ranks[r].step_first[job.steps] = ranks[r].n;
    free(members);
}

/* ---- clocks ---------------------------------------------------------------------------------------- */

/* The clock of a host: how far off at the start, how much it gains. The first host is right. */
static int64_t skew_of(int host) {
    return host ? draw(8, (uint64_t)host, 0, 40000000) - 20000000 : 0;
}
static int64_t drift_ppb_of(int host) {
    return host ? draw(9, (uint64_t)host, 0, 600000) - 300000 : 0;
}
static int64_t shown(int r, int64_t ns) {
    int host = host_of(r);
    return ns + 100000000 + skew_of(host) +
           (int64_t)((double)ns * (double)drift_ppb_of(host) * 1e-9);
}

/* ---- a rank's file --------------------------------------------------------------------------------- */

typedef struct {
    FILE *f;
    int rank, external, correlation;
} writing;

static void put_event(const writing *w, const char *cat, const char *name, int64_t start,
                      int64_t dur) {
    int64_t from = shown(w->rank, start), to = shown(w->rank, start + dur);
    fprintf(w->f,
            ",\n{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"ts\": %" PRId64 ".%03d, "
            "\"dur\": %" PRId64 ".%03d, ",
            cat, name, from / 1000, (int)(from % 1000), (to - from) / 1000,
            (int)((to - from) % 1000));
}

static void put_host(writing *w, const char *cat, const char *name, int64_t start,
                     int64_t dur) {
    put_event(w, cat, name, start, dur);
    fprintf(w->f, "\"pid\": %d, \"tid\": %d, \"args\": {\"External id\": %d}}", 5000 + w->rank,
            5000 + w->rank, w->external++);
}

static void put_call(writing *w, const char *name, int64_t start, int64_t dur) {
    put_event(w, "cuda_runtime", name, start, dur);
    fprintf(w->f,
            "\"pid\": %d, \"tid\": %d, \"args\": {\"cbid\": 211, \"correlation\": %d, "
            "\"External id\": %d}}",
            5000 + w->rank, 5000 + w->rank, w->correlation, w->external - 1);
}

static void put_ranks(writing *w, const work *k) {
    int r = w->rank;
    fprintf(w->f, "\"Process Group Ranks\": \"[");
    if (k->kind == W_TENSOR)
        for (int t = 0; t < job.tensor; t++)
            fprintf(w->f, "%s%d", t ? ", " : "", rank_at(t, data_of(r), stage_of(r)));
    else if (k->kind == W_DATA)
        for (int d = 0; d < job.data && d < 64; d++)
            fprintf(w->f, "%s%d", d ? ", " : "", rank_at(tensor_of(r), d, stage_of(r)));
    else
        fprintf(w->f, "...");
    fprintf(w->f, "]\", ");
}

static void put_collective(writing *w, const work *k) {
    int r = w->rank;
    static const char *const names[] = {[W_TENSOR] = "allreduce",
                                        [W_DATA] = "allreduce",
                                        [W_WORLD] = "allreduce",
                                        [W_SEND] = "send",
                                        [W_RECV] = "recv"};
    char group[64];
    int size = k->kind == W_TENSOR ? job.tensor : k->kind == W_DATA ? job.data : job.ranks;
    if (k->kind == W_TENSOR)
        snprintf(group, sizeof group, "tp_%d_%d", stage_of(r), data_of(r));
    else if (k->kind == W_DATA)
        snprintf(group, sizeof group, "dp_%d_%d", stage_of(r), tensor_of(r));
    else if (k->kind == W_WORLD)
        snprintf(group, sizeof group, "default_pg");
    else
        snprintf(group, sizeof group, "pp_%d_%d", data_of(r), tensor_of(r));
    if (k->kind == W_SEND || k->kind == W_RECV) {
        size = job.pipeline;
        fprintf(w->f, "\"Src Rank\": %d, \"Dst Rank\": %d, ", k->kind == W_SEND ? r : k->peer,
                k->kind == W_SEND ? k->peer : r);
    }
    /* The groups have no names: what a group is for has to be found out. */
    put_ranks(w, k);
    fprintf(w->f,
            "\"Collective name\": \"%s\", \"In msg nelems\": %" PRId64
            ", \"Out msg nelems\": %" PRId64
            ", \"Group size\": %d, \"dtype\": \"BFloat16\", \"Process Group Name\": \"%s\", "
            "\"Seq\": %d, ",
            names[k->kind], k->bytes / 2, k->bytes / 2, size, group, (int)k->sequence);
}

static const char *kernel_name(const work *k) {
    switch (k->kind) {
    case W_MATMUL:
        return k->backward ? "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x128x64"
                           : "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64";
    case W_NORM:
        return "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>";
    case W_OPTIMIZER: return "void at::native::multi_tensor_apply_kernel<FusedAdam>";
    case W_SEND:
    case W_RECV: return "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
    default:
        return "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
    }
}

static void put_kernel(writing *w, const work *k) {
    int stream = k->kind < W_TENSOR ? 7 : k->kind == W_SEND ? 24 : 20;
    put_event(w, "kernel", kernel_name(k), k->start, k->dur);
    fprintf(
        w->f,
        "\"pid\": 0, \"tid\": %d, \"args\": {\"device\": 0, \"context\": 1, \"stream\": %d, "
        "\"correlation\": %d, \"External id\": %d, ",
        stream, stream, w->correlation, w->external - 1);
    if (k->kind >= W_TENSOR && k->kind <= W_RECV) put_collective(w, k);
    fprintf(w->f, "\"grid\": [264, 1, 1], \"block\": [256, 1, 1], \"blocks per SM\": 2.0, "
                  "\"est. achieved occupancy %%\": 40}}");
}

static void put_work(writing *w, const work *k) {
    char name[64];
    if (k->kind == W_LOAD) {
        put_host(w, "user_annotation",
                 "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", k->host,
                 k->host_dur);
        return;
    }
    if (k->kind == W_READ) {
        put_host(w, "cpu_op", "aten::item", k->host, k->host_dur);
        put_call(w, "cudaStreamSynchronize", k->host + 2000, k->host_dur - 4000);
        w->correlation++;
        return;
    }
    if (k->kind == W_ALLOCATE) {
        put_host(w, "cpu_op", "aten::empty", k->host, k->host_dur);
        put_call(w, "cudaMalloc", k->host + 1000, k->host_dur - 2000);
        w->correlation++;
        return;
    }
    static const char *const outer[] = {[W_MATMUL] = "aten::linear",
                                        [W_NORM] = "aten::layer_norm",
                                        [W_OPTIMIZER] = "Optimizer.step#FusedAdam.step"};
    static const char *const inner[] = {[W_MATMUL] = "aten::addmm",
                                        [W_NORM] = "aten::native_layer_norm",
                                        [W_OPTIMIZER] = "aten::_fused_adam_"};
    int64_t half = k->host + 3000, call = k->host + k->host_dur - 6000;
    if (k->kind < W_TENSOR) {
        bool optimizer = k->kind == W_OPTIMIZER;
        put_host(w, optimizer ? "user_annotation" : "cpu_op", outer[k->kind], k->host,
                 k->host_dur);
        put_host(w, "cpu_op", inner[k->kind], half, k->host_dur - 4000);
    } else {
        if (k->kind == W_SEND)
            snprintf(name, sizeof name, "nccl:send %d->%d", w->rank, (int)k->peer);
        else if (k->kind == W_RECV)
            snprintf(name, sizeof name, "nccl:recv %d<-%d", w->rank, (int)k->peer);
        else
            snprintf(name, sizeof name, "nccl:all_reduce");
        put_host(w, "user_annotation", name, k->host, k->host_dur);
    }
    put_call(w, "cudaLaunchKernelExC", call, 5000);
    put_kernel(w, k);
    w->correlation++;
}

static FILE *open_rank(int r, bool *pipe) {
    char path[4096];
    int n =
        snprintf(path, sizeof path, "%s%s/node%04d_%d.1759104000000000000.pt.trace.json%s%s",
                 job.gzip ? "gzip -1 > '" : "", job.dir, host_of(r), 5000 + r,
                 job.gzip ? ".gz" : "", job.gzip ? "'" : "");
    if (n >= (int)sizeof path || strchr(job.dir, '\'')) die("cannot use this folder", job.dir);
    *pipe = job.gzip;
    FILE *f = job.gzip ? popen(path, "w") : fopen(path, "w");
    if (!f) die("cannot write", path);
    return f;
}

static void write_rank(int r) {
    bool pipe;
    writing w = {.f = open_rank(r, &pipe), .rank = r, .external = 1, .correlation = 1};
    fprintf(
        w.f,
        "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"Made-up GPU\", "
        "\"totalGlobalMem\": 85899345920, \"computeMajor\": 9, \"computeMinor\": 0, "
        "\"warpSize\": 32, \"numSms\": 132}],\n\"distributedInfo\": {\"backend\": \"nccl\", "
        "\"rank\": %d, \"world_size\": %d}, \"baseTimeNanoseconds\": 1759104000000000000,\n"
        "\"traceEvents\": [\n{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %d, \"tid\": "
        "0, \"ts\": 0, \"args\": {\"name\": \"python\"}}",
        r, job.ranks, 5000 + r);
    rank_state *s = &ranks[r];
    for (int step = 0; step < job.steps; step++) {
        char name[32];
        snprintf(name, sizeof name, "ProfilerStep#%d", step);
        put_host(&w, "user_annotation", name, s->step_start[step],
                 s->step_end[step] - s->step_start[step]);
        for (int i = s->step_first[step]; i < s->step_first[step + 1]; i++)
            put_work(&w, &s->v[i]);
    }
    fprintf(w.f, "\n]}\n");
    if ((pipe ? pclose(w.f) : fclose(w.f)) != 0) die("cannot write", job.dir);
}

/* ---- what was planted -------------------------------------------------------------------------------- */

static void write_answers(void) {
    FILE *f = fopen(job.answers, "w");
    if (!f) die("cannot write", job.answers);
    fprintf(f,
            "{\"ranks\": %d, \"steps\": %d, \"tensor\": %d, \"pipeline\": %d, \"data\": %d,\n",
            job.ranks, job.steps, job.tensor, job.pipeline, job.data);
    fprintf(f, " \"stragglers\": {");
    const struct {
        int rank;
        const char *cause;
    } single[] = {{fault.compute, "compute"},
                  {fault.data, "data"},
                  {fault.memory, "memory"},
                  {fault.host, "host"}};
    const char *comma = "";
    for (size_t i = 0; i < 4; i++)
        if (single[i].rank >= 0) {
            fprintf(f, "%s\"%d\": \"%s\"", comma, single[i].rank, single[i].cause);
            comma = ", ";
        }
    for (int r = 0; r < job.ranks && fault.slow_host >= 0; r++)
        if (host_of(r) == fault.slow_host) fprintf(f, ", \"%d\": \"compute\"", r);
    fprintf(f, "},\n \"hosts\": [");
    if (fault.slow_host >= 0) fprintf(f, "\"node%04d\"", fault.slow_host);
    fprintf(f, "],\n \"slow_groups\": [");
    if (fault.group_data >= 0) fprintf(f, "\"tp_%d_%d\"", fault.group_stage, fault.group_data);
    fprintf(f, "],\n \"slow_links\": [");
    if (fault.link_data >= 0)
        fprintf(f, "[%d, %d]", rank_at(fault.link_tensor, fault.link_data, fault.link_stage),
                rank_at(fault.link_tensor, fault.link_data, fault.link_stage + 1));
    fprintf(f, "],\n \"slow_stage\": %d,", job.slow_stage > 1 ? slow_stage() : -1);
    fprintf(f, "\n \"clocks\": [");
    for (int h = 0; h * PER_HOST < job.ranks; h++)
        fprintf(f, "%s[%" PRId64 ", %" PRId64 "]", h ? ", " : "", skew_of(h), drift_ppb_of(h));
    fprintf(f, "]}\n");
    if (fclose(f) != 0) die("cannot write", job.answers);
}

static void parse(int argc, char **argv) {
    for (int i = 2; i < argc; i++) {
        bool value = i + 1 < argc;
        if (strcmp(argv[i], "--gzip") == 0)
            job.gzip = true;
        else if (strcmp(argv[i], "--healthy") == 0)
            job.healthy = true;
        else if (strcmp(argv[i], "--ranks") == 0 && value)
            job.ranks = atoi(argv[++i]);
        else if (strcmp(argv[i], "--steps") == 0 && value)
            job.steps = atoi(argv[++i]);
        else if (strcmp(argv[i], "--seed") == 0 && value)
            job.seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--slow-stage") == 0 && value)
            job.slow_stage = atof(argv[++i]);
        else if (strcmp(argv[i], "--pace") == 0 && value)
            job.pace = atof(argv[++i]);
        else if (strcmp(argv[i], "--network") == 0 && value)
            job.network = atof(argv[++i]);
        else if (strcmp(argv[i], "--answers") == 0 && value)
            job.answers = argv[++i];
        else if (argv[i][0] != '-' && !job.dir)
            job.dir = argv[i];
        else
            die("unknown option", argv[i]);
    }
    if (!job.dir || job.ranks < 16 || job.ranks > MAX_RANKS || job.steps < 1 ||
        job.steps > 1000)
        die("usage", "gentrace cluster DIR [--ranks 16…16384] [--steps 1…1000] [options]");
}

int gentrace_cluster(int argc, char **argv) {
    parse(argc, argv);
    choose_degrees();
    plant();
    if (mkdir(job.dir, 0777) != 0 && errno != EEXIST) die("cannot make", job.dir);
    simulate();
    for (int r = 0; r < job.ranks; r++) write_rank(r);
    if (job.answers) write_answers();
    return 0;
}
