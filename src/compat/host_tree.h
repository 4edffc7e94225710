/* host_tree.h: the host ranges as trees, one for each thread, with runtime calls, device work
 * and memory events hanging on the range they belong to: the form in which Paddle's own report
 * looks at a trace.
 *
 * Ranges are all host slices but calls and the profiler's own records. A call belongs to the
 * innermost range around it, device work to its call, a memory event to the range it was
 * recorded in. */
#ifndef ANALYSE_HOST_TREE_H
#define ANALYSE_HOST_TREE_H

#include "analyse/select.h"
#include "base/sort.h"

typedef struct {
    const trace *t;
    const selection *select;
    /* By slice; 0 = none. An outermost range has parent 0, and last_child[0] is the last such
     * range of the current thread. */
    uint32_t *parent, *last_child, *previous;
    int64_t *kernel_ns, *work_ns; /* by slice: device work launched inside it, with all below */
    const sort_pair *calls;       /* key: range (0: none), row: call; by range, then time */
    size_t n_calls;
    const sort_pair *work; /* key: call, row: row of table kernel */
    size_t n_work;
    const sort_pair *memory; /* key: range, row: row of table memory; by range, then time */
    size_t n_memory;
    uint32_t first_call, end_call; /* of calls: those of the current thread without a range */
} host_tree;

status host_tree_make(host_tree *h, const selection *s, arena *a, error *err) MUST_USE;
/* Looks at another thread; false when it is not a host thread with a range or a call. */
bool host_tree_thread(host_tree *h, uint32_t track);
/* The ranges of the thread, each before those inside it, later ones first: start with 0. 0 at
 * the end. */
uint32_t host_tree_next(const host_tree *h, uint32_t range);
/* First entry with this key, n when there is none. */
size_t host_tree_find(const sort_pair *pairs, size_t n, uint32_t key);

bool host_tree_is_range(uint8_t kind);

#endif
