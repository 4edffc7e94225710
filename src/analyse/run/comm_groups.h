/* comm_groups.h: the groups of workers of a run: what each is for, and which is slower than
 * similar ones.
 *
 * What a group is for is known by its name (tp, data_parallel, …), otherwise by what it does:
 * transfers from one to one are a pipeline, all-to-all is experts, workers in a row share
 * tensors, workers a stride apart share data. Transfers from one to one also tell the stage of
 * each worker: data go forward from the lower to the higher rank, so it is how many links lead
 * to the worker one after the other. Groups of the same kind of collective, size and order of
 * bytes are similar; one that needs half as long again as the median of at least three others
 * is slow. */
#ifndef ANALYSE_COMM_GROUPS_H
#define ANALYSE_COMM_GROUPS_H

#include "analyse/comm/comm_kind.h"
#include "analyse/comm/worker_order.h"

typedef enum {
    GROUP_WORLD,
    GROUP_DATA,
    GROUP_TENSOR,
    GROUP_PIPELINE,
    GROUP_EXPERT,
    GROUP_CONTEXT,
    GROUP_OTHER,
    N_COMM_GROUPS
} comm_group_kind;
str comm_group_name(comm_group_kind k);

typedef struct {
    str name;
    int64_t source, target; /* a link of two; ABSENT_I64: a group */
    comm_group_kind kind;
    uint32_t first_member, n_members; /* in comm_groups.member */
    int64_t size;                     /* as its members say, or as they were seen */
    int64_t calls, transfer, waiting;
    int64_t bytes;    /* ABSENT_I64: not recorded */
    double slower_by; /* mean transfer over the median of similar ones; NaN: nothing to
                         compare */
    int64_t excess;   /* ns of transfer beyond that median */
    bool slow;
} comm_group;

typedef struct {
    comm_group *v; /* by name; links after the groups */
    uint32_t n;
    uint32_t *member;              /* places in the roster, by group, ascending */
    uint32_t *data_of;             /* by worker: its data-parallel group + 1, 0 = none */
    uint32_t *stage_of, *in_stage; /* by worker: its stage; by stage: how many are in it */
    uint32_t n_stages;             /* 1 without a pipeline */
} comm_groups;

/* Are there transfers between two that name neither? */
bool comm_has_unknown_points(const summary *s);
status comm_groups_find(const summary *s, const worker_order *who, arena *a, comm_groups *out,
                        error *err) MUST_USE;

#endif
