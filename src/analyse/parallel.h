/* parallel.h: the groups of workers of a run: what each is for, and which is slower than its
 * like.
 *
 * What a group is for is told by its makers' words (tp, data_parallel, …), else by what it does:
 * transfers from one to one are a pipeline, all-to-all is experts, workers in a row share
 * tensors, workers a stride apart share data. Groups of the same kind of collective, size and
 * order of bytes are alike; one that needs half as long again as the median of at least three
 * others is slow. */
#ifndef ANALYSE_PARALLEL_H
#define ANALYSE_PARALLEL_H

#include "analyse/comm_kind.h"
#include "analyse/roster.h"

typedef enum {
    PARALLEL_WORLD,
    PARALLEL_DATA,
    PARALLEL_TENSOR,
    PARALLEL_PIPELINE,
    PARALLEL_EXPERT,
    PARALLEL_CONTEXT,
    PARALLEL_OTHER,
    N_PARALLEL
} parallel_kind;
str parallel_name(parallel_kind k);

typedef struct {
    str name;
    int64_t source, target; /* a link of two; ABSENT_I64: a group */
    parallel_kind kind;
    uint32_t first_member, n_members; /* in parallel_groups.member */
    int64_t size;                     /* as its members say, or as they were seen */
    int64_t calls, bytes, transfer, waiting;
    double slower_by; /* mean transfer over the median of its like; NaN: nothing to compare */
    int64_t excess;   /* ns of transfer beyond that median */
    bool slow;
} parallel_group;

typedef struct {
    parallel_group *v; /* by name; links behind the groups */
    uint32_t n;
    uint32_t *member;  /* places in the roster, by group, ascending */
    uint32_t *data_of; /* by worker: its data-parallel group + 1, 0 = none */
} parallel_groups;

status parallel_find(const summary *s, const roster *who, arena *a, parallel_groups *out,
                     error *err) MUST_USE;

#endif
