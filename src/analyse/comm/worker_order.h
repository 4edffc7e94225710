/* worker_order.h: the workers of a summary in the order people count them: by rank, then by
 * name. */
#ifndef ANALYSE_WORKER_ORDER_H
#define ANALYSE_WORKER_ORDER_H

#include "base/arena.h"
#include "store/summary.h"

typedef struct {
    const summary_worker **v; /* by rank, then by name; without a rank last */
    uint32_t n;
    const summary *s;
    uint32_t *place; /* row of table worker → place in v */
} worker_order;

/* The summary is settled. */
status worker_order_make(worker_order *r, const summary *s, arena *a, error *err) MUST_USE;
/* The place of a worker; UINT32_MAX when it does not exist. */
uint32_t worker_order_find(const worker_order *r, str name);

#endif
