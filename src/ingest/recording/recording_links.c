/* recording_links.c: arrows from operators of the forward pass to their nodes of the backward
 * pass.
 *
 * PyTorch counts, on each thread, the nodes it makes for the backward pass. Every operator that
 * runs carries the count, a node of the backward pass the count and the thread of the operator
 * that made it. Operators nest (linear calls addmm), and so do nodes: of those with the same
 * thread and count the one that began last is meant on both sides, as in PyTorch's own traces.
 *
 * A count that was never used again, or whose other side was not recorded, has no arrow. */
#include "base/num.h"
#include "base/sort.h"
#include "ingest/recording/recording_int.h"

static int compare_links(uint32_t a, uint32_t b, const void *context) {
    const recording_link *l = context;
    if (l[a].row != l[b].row) return l[a].row < l[b].row ? -1 : 1;
    if (l[a].sequence != l[b].sequence) return l[a].sequence < l[b].sequence ? -1 : 1;
    if (l[a].time != l[b].time) return l[a].time < l[b].time ? -1 : 1;
    return a < b ? -1 : a > b;
}

static status add_end(recording *r, const recording_link *l, int64_t id, uint32_t name,
                      char end) {
    return part_arrow(r->part, &(raw_arrow){.time = l->time,
                                            .offset = (uint64_t)id,
                                            .id = id,
                                            .name = name,
                                            .track = l->track,
                                            .kind = FLOW_FORWARD_BACKWARD,
                                            .phase = end});
}

static status join(recording *r, const uint32_t *order, size_t n) {
    const recording_link *l = VEC(&r->links, recording_link);
    uint32_t name = recording_string(r, STR("fwdbwd"));
    int64_t id = 0;
    if (name == UINT32_MAX) return ERR_MEMORY;
    for (size_t i = 0, next; i < n; i = next) {
        const recording_link *first = &l[order[i]], *forward = NULL, *backward = NULL;
        for (next = i; next < n; next++) {
            const recording_link *at = &l[order[next]];
            if (at->row != first->row || at->sequence != first->sequence) break;
            if (at->is_backward)
                backward = at;
            else
                forward = at;
        }
        if (!forward || !backward || backward->time < forward->time) continue;
        id++;
        TRY(add_end(r, forward, id, name, 's'));
        TRY(add_end(r, backward, id, name, 'f'));
    }
    return OK;
}

status recording_finish_links(recording *r) {
    vec order = VEC_INIT(uint32_t);
    size_t n = r->links.n;
    status st = n ? vec_reserve(&order, 2 * n + 1) : OK;
    if (st == OK && n) {
        uint32_t *o = VEC(&order, uint32_t);
        for (size_t i = 0; i < n; i++) o[i] = (uint32_t)i;
        sort_index(o, o + n, n, compare_links, r->links.p);
        st = join(r, o, n);
    }
    vec_fini(&order);
    return st;
}
