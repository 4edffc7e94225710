/* work_by_op.c: device work in the order of the host slices it belongs to.
 *
 * Table kernel is sorted by device slice; an analysis that walks the host threads wants the
 * work of each op as it passes by. One radix sort of (host slice, kernel row) gives that: 16
 * bytes for each piece of device work, against 8 for every slice that an array by slice
 * would take, and no random access in the walk. */
#include "analyse/operators/work_by_op.h"

status work_by_host(const trace *t, const uint32_t *host, arena *a, work_list *out,
                    error *err) {
    uint32_t n = t->kernel.n ? t->kernel.n : 1;
    sort_pair *pairs = arena_alloc(a, sizeof *pairs * n);
    if (!pairs) FAIL_MEMORY(err);
    size_t used = 0;
    for (uint32_t k = 1; k < n; k++)
        if (host[k]) pairs[used++] = (sort_pair){.key = host[k], .row = k};
    if (!sort_radix_in(a, pairs, used)) FAIL_MEMORY(err);
    *out = (work_list){.pairs = pairs, .n = used};
    return OK;
}
