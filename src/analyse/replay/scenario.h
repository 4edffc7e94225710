/* scenario.h: what is to be different: changes by name, and what they touch in a trace.
 *
 *     kernel:*gemm*=0.5     device work of that name takes half as long
 *     op:aten::linear=0     calls of that name are gone, with all inside: host time, device
 *                           work
 *     op:aten::mm [[16,*    the same by name and input shapes: a pattern with a bracket
 *     module:Attention_*    calls of modules and the backward pass of what they called
 *     range:forward         ranges of the user and of the framework
 *
 *     network bandwidth=2   collectives have links twice as fast
 *     batch 2               work with the batch in its shapes has twice as much of it
 *
 * In a pattern * stands for anything and ? for one character; blanks do not matter. Of calls
 * inside each other only the outermost counts. Changes combine: where two cover the same time
 * their factors multiply. */
#ifndef ANALYSE_SCENARIO_H
#define ANALYSE_SCENARIO_H

#include "analyse/comm/comm_kind.h"
#include "analyse/replay/why_graph.h"

typedef enum {
    CHANGE_TO_KERNEL,
    CHANGE_TO_OP,
    CHANGE_TO_MODULE,
    CHANGE_TO_RANGE,
    CHANGE_TO_LISTED, /* calls and work that the caller knows by row */
    CHANGE_NO_LAUNCH_COST,
    CHANGE_NO_SYNC,
    CHANGE_NO_DATA_WAIT,
    CHANGE_NO_COMMUNICATION,
    CHANGE_OVERLAP,
    CHANGE_CUDA_GRAPH,
    CHANGE_UNPROFILED,
    CHANGE_NETWORK,
    CHANGE_BATCH,
} scenario_kind;

typedef struct {
    scenario_kind kind;
    str text; /* as it was given */
    str pattern;
    double factor;             /* of a batch: larger by this factor */
    double bandwidth, latency; /* of the network: times as fast, times as long */
    int64_t size;              /* of a batch as recorded; 0: to be found in the shapes */
    /* Of CHANGE_TO_LISTED: slices in ascending order, and device work with one of the bits. */
    const uint32_t *listed;
    uint32_t n_calls;
    const int64_t *listed_until; /* when what a slice stands for ends; NULL: with it */
    bool merged; /* the calls are gone, and `factor` is what is left of the work: part of
                    another piece of work, without a separate launch and gap */
    const uint16_t *work_marks; /* by row of table kernel; NULL: no work */
    uint16_t mark;
    /* What it matched, in all steps: calls, device work, their times. */
    int64_t calls, kernels, host_ns, device_ns;
} scenario_change;

enum { MOST_CHANGES = 40 }; /* what params can hold, and the flags */

/* A stretch of a thread in which some changes apply: bits of `mask`. */
typedef struct {
    int64_t start, end;
    uint64_t mask;
} scenario_stretch;

/* What the network of the recording does: time = latency + bytes / bandwidth. */
typedef struct {
    int64_t collectives, sized; /* all; those whose bytes are known */
    int64_t sizes;              /* different sizes, 1: latency is assumed */
    int64_t latency_ns;
    double ns_per_byte; /* of what the links carry */
} network_fit;

/* Which work grows with the batch. */
typedef struct {
    int64_t size;                         /* of the batch as recorded */
    int64_t works, works_with_it;         /* pieces of device work: all, with a batch in them */
    int64_t device_ns, device_ns_with_it; /* their time */
    int64_t unclear;                      /* works with a number that may hold it or not */
} batch_found;

/* A launch takes 5 to 10 µs with a profiler. Where the typical call takes longer than this it
 * is no measure of the host: cold starts, copies that block, devices of another kind. */
enum { LONGEST_LAUNCH_NS = 20000 };

/* What recording cost on the thread of a call until its start and until its end. */
typedef struct {
    int64_t start_ns, end_ns;
} spent_recording;

typedef struct {
    int64_t *until_ns;   /* by slice: recording all slices before it; NULL: not known */
    spent_recording *at; /* by point of the graph but marks: sums of the same */
} recording_cost;

typedef struct {
    const why_graph *g;
    scenario_change v[MOST_CHANGES];
    uint32_t n;
    bool of_many;                /* ranks: what another one has may be missing in this one */
    scenario_stretch *stretches; /* by track and time, disjoint */
    uint32_t *first;             /* by track: its first stretch; n_tracks + 1 of them */
    uint64_t *work_mask;         /* by row of table kernel: changes that touch it */
    int64_t *own_ns; /* by row of table kernel: its time with a change that gives each work a
                          time of its own (network, batch); NULL: there is none */
    recording_cost cost; /* found for CHANGE_UNPROFILED, unless it is there */
    network_fit network;
    batch_found batch;
} scenario;

/* What finding it reads; for trace_require. */
#define SCENARIO_TABLES                                                                \
    (WHY_TABLES | TRACE_TABLE(module) | TRACE_TABLE(module_call) | TRACE_TABLE(flow) | \
     TRACE_TABLE(comm) | TRACE_TABLE(memory))

/* The changes a question asks for. ERR_ARG when one cannot be read. */
status scenario_read(const params *p, arena *a, scenario *out, error *err) MUST_USE;
/* Finds what they touch. ERR_ARG when a pattern matches nothing. */
status scenario_match(scenario *s, const why_graph *g, arena *a, error *err) MUST_USE;

/* Parts of the above. What collectives would take (scenario_network.c), what work would take
 * with another batch (scenario_batch.c), what recording cost (profiler_cost.c). */
status scenario_match_network(scenario *s, comm_names *names, uint32_t change, arena *a,
                              error *err) MUST_USE;
status scenario_match_batch(scenario *s, comm_names *names, uint32_t change, arena *a,
                            error *err) MUST_USE;
status profiler_cost_find(scenario *s, arena *a, error *err) MUST_USE;
/* Sentences of the answer: what the changes are based on. */
status scenario_notes(const scenario *s, arena *a, answer *out, error *err) MUST_USE;

/* Bits of the changes of this kind. */
uint64_t scenario_of_kind(const scenario *s, scenario_kind kind);

/* Bits of the changes that apply at this time of the thread. */
uint64_t scenario_mask_at(const scenario *s, uint32_t track, int64_t time);

/* Does the pattern fit? Blanks are skipped on both sides. */
bool scenario_fits(str pattern, str text);

#endif
