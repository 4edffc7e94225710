/* worker_order.c: the workers of a summary by rank and name.
 *
 * A settled summary holds its workers by the bytes of their names: that is how one is found.
 * For people rank 10 comes after rank 2, so that there is a second order. A worker whose rank
 * is not known comes after those whose rank is. */
#include "analyse/comm/worker_order.h"

#include "base/bisect.h"
#include "base/sort.h"
#include "store/schema.h"

static int compare_workers(uint32_t a, uint32_t b, const void *context) {
    const summary_worker *v = context, *x = &v[a], *y = &v[b];
    bool no_x = x->rank == ABSENT_I64, no_y = y->rank == ABSENT_I64;
    if (no_x != no_y) return no_x ? 1 : -1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return str_cmp(x->name, y->name);
}

status worker_order_make(worker_order *r, const summary *s, arena *a, error *err) {
    uint32_t n = SUMMARY_N(s, worker);
    const summary_worker *rows = SUMMARY_ROWS(s, worker);
    uint32_t *order = ARENA_ARRAY(a, uint32_t, (size_t)n + 1),
             *scratch = ARENA_ARRAY(a, uint32_t, (size_t)n + 1);
    *r = (worker_order){.n = n, .s = s, .place = ARENA_ARRAY(a, uint32_t, (size_t)n + 1)};
    r->v = ARENA_ARRAY(a, const summary_worker *, (size_t)n + 1);
    if (!order || !scratch || !r->place || !r->v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    sort_index(order, scratch, n, compare_workers, rows);
    for (uint32_t i = 0; i < n; i++) {
        r->v[i] = &rows[order[i]];
        r->place[order[i]] = i;
    }
    return OK;
}

uint32_t worker_order_find(const worker_order *r, str name) {
    const summary_worker *rows = SUMMARY_ROWS(r->s, worker);
    uint32_t at = SEARCH_FIRST(i, 0, r->n, str_cmp(rows[i].name, name) < 0);
    return at < r->n && str_eq(rows[at].name, name) ? r->place[at] : UINT32_MAX;
}
