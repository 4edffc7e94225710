/* work_by_op.h: device work in the order of the host slices it belongs to. */
#ifndef ANALYSE_WORK_BY_OP_H
#define ANALYSE_WORK_BY_OP_H

#include "base/arena.h"
#include "base/sort.h"
#include "store/trace.h"

/* A cursor over device work for a scan of the host slices in ascending order. */
typedef struct {
    const sort_pair *pairs; /* key = host slice, row = row of table kernel */
    size_t n, at;
} work_list;

/* `host` is t->kernel.op or t->kernel.launch; work without one (0) is left out. Work of one
 * host slice keeps the order of table kernel. */
status work_by_host(const trace *t, const uint32_t *host, arena *a, work_list *out,
                    error *err) MUST_USE;

/* Moves to `slice` (slices ascend from call to call) and gives the next kernel row of it, 0
 * when there is none left. */
static inline uint32_t work_next(work_list *w, uint32_t slice) {
    while (w->at < w->n && w->pairs[w->at].key < slice) w->at++;
    return w->at < w->n && w->pairs[w->at].key == slice ? w->pairs[w->at++].row : 0;
}

#endif
