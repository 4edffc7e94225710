/* host_tree.c: host ranges as trees.
 *
 * A parent's id is smaller than its children's and a thread is a run of slices, so parents,
 * child lists and sums are one pass each. Children are linked from the last to the first: that
 * is the order in which the report of Paddle meets them (it takes them off a stack), and which
 * decides about rows of equal time.
 *
 * It does not look at times again: what the store nested is nested. */
#include "compat/host_tree.h"
#include "base/bisect.h"

bool host_tree_is_range(uint8_t kind) {
    switch (kind) {
    case KIND_SPAN:
    case KIND_RUNTIME:
    case KIND_DRIVER:
    case KIND_SYNC:
    case KIND_OVERHEAD:
    case KIND_DEVICE_ANNOTATION:
    case KIND_KERNEL:
    case KIND_MEMCPY:
    case KIND_MEMSET:
    case KIND_ASYNC: return false;
    default: return true;
    }
}

/* Parents among the ranges of the selection: those of calls too. */
static void find_parents(host_tree *h) {
    const trace *t = h->t;
    for (uint32_t i = 1; i < t->slice.n; i++) {
        uint32_t p = t->slice.parent[i];
        bool seen = p && host_tree_is_range(t->slice.kind[p]) && select_counts(h->select, p);
        h->parent[i] = p && !seen ? h->parent[p] : p;
    }
}

static void add_work(host_tree *h) {
    const trace *t = h->t;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t call = t->kernel.launch[k], slice = t->kernel.slice[k];
        if (!call || !select_work_counts(h->select, k)) continue;
        h->work_ns[call] = add_i64(h->work_ns[call], t->slice.dur[slice]);
        if (t->slice.kind[slice] == KIND_KERNEL)
            h->kernel_ns[call] = add_i64(h->kernel_ns[call], t->slice.dur[slice]);
    }
    for (uint32_t i = t->slice.n; i-- > 1;) {
        uint32_t p = h->parent[i];
        if (!p) continue;
        h->work_ns[p] = add_i64(h->work_ns[p], h->work_ns[i]);
        h->kernel_ns[p] = add_i64(h->kernel_ns[p], h->kernel_ns[i]);
    }
}

/* Sorted pairs of n entries; scratch is as long. */
static const sort_pair *sorted(sort_pair *pairs, sort_pair *scratch, size_t n) {
    sort_radix(pairs, scratch, n);
    return pairs;
}

static status link_calls(host_tree *h, arena *a, error *err) {
    const trace *t = h->t;
    size_t n = 0;
    for (uint32_t i = 1; i < t->slice.n; i++) n += kind_is_call(t->slice.kind[i]);
    size_t most = n + 1;
    sort_pair *pairs = ARENA_ARRAY(a, sort_pair, most),
              *scratch = ARENA_ARRAY(a, sort_pair, most);
    if (!pairs || !scratch) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (kind_is_call(t->slice.kind[i]) && select_counts(h->select, i))
            pairs[h->n_calls++] = (sort_pair){h->parent[i], i};
    h->calls = sorted(pairs, scratch, h->n_calls);
    return OK;
}

static status link_work(host_tree *h, arena *a, error *err) {
    const trace *t = h->t;
    size_t most = (size_t)t->kernel.n + 1;
    sort_pair *pairs = ARENA_ARRAY(a, sort_pair, most),
              *scratch = ARENA_ARRAY(a, sort_pair, most);
    if (!pairs || !scratch) FAIL_MEMORY(err);
    for (uint32_t k = 1; k < t->kernel.n; k++)
        if (t->kernel.launch[k] && select_work_counts(h->select, k))
            pairs[h->n_work++] = (sort_pair){t->kernel.launch[k], k};
    h->work = sorted(pairs, scratch, h->n_work);
    return OK;
}

static status link_memory(host_tree *h, arena *a, error *err) {
    const trace *t = h->t;
    size_t most = (size_t)t->memory.n + 1;
    sort_pair *pairs = ARENA_ARRAY(a, sort_pair, most),
              *scratch = ARENA_ARRAY(a, sort_pair, most);
    if (!pairs || !scratch) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->memory.n; i++) {
        uint32_t range = t->memory.range[i] ? t->memory.range[i] : t->memory.op[i];
        if (range && select_step(h->select, t->memory.time[i]))
            pairs[h->n_memory++] = (sort_pair){range, i};
    }
    h->memory = sorted(pairs, scratch, h->n_memory);
    return OK;
}

status host_tree_make(host_tree *h, const selection *s, arena *a, error *err) {
    size_t n = (size_t)s->t->slice.n + 1;
    *h = (host_tree){.t = s->t, .select = s};
    h->parent = ARENA_ARRAY(a, uint32_t, n);
    h->last_child = ARENA_ARRAY(a, uint32_t, n);
    h->previous = ARENA_ARRAY(a, uint32_t, n);
    h->kernel_ns = ARENA_ARRAY(a, int64_t, n);
    h->work_ns = ARENA_ARRAY(a, int64_t, n);
    if (!h->parent || !h->last_child || !h->previous || !h->kernel_ns || !h->work_ns)
        FAIL_MEMORY(err);
    find_parents(h);
    add_work(h);
    TRY(link_calls(h, a, err));
    TRY(link_work(h, a, err));
    return link_memory(h, a, err);
}

bool host_tree_thread(host_tree *h, uint32_t track) {
    const trace *t = h->t;
    uint32_t first = t->track.first[track], end = t->track.end[track];
    h->last_child[0] = 0;
    h->first_call = h->end_call = 0;
    if (t->track.kind[track] != TRACK_THREAD) return false;
    for (uint32_t i = first; i && i < end; i++) {
        if (!host_tree_is_range(t->slice.kind[i]) || !select_counts(h->select, i)) continue;
        h->previous[i] = h->last_child[h->parent[i]];
        h->last_child[h->parent[i]] = i;
    }
    /* Calls without a range come first; those of a thread are a run. */
    while (h->first_call < h->n_calls && h->calls[h->first_call].key == 0 &&
           h->calls[h->first_call].row < first)
        h->first_call++;
    h->end_call = h->first_call;
    while (h->end_call < h->n_calls && h->calls[h->end_call].key == 0 &&
           h->calls[h->end_call].row < end)
        h->end_call++;
    return h->last_child[0] || h->end_call > h->first_call;
}

uint32_t host_tree_next(const host_tree *h, uint32_t range) {
    if (h->last_child[range]) return h->last_child[range];
    while (range && !h->previous[range]) range = h->parent[range];
    return range ? h->previous[range] : 0;
}

size_t host_tree_find(const sort_pair *pairs, size_t n, uint32_t key) {
    size_t low = SEARCH_FIRST(i, 0, n, pairs[i].key < key);
    return low < n && pairs[low].key == key ? low : n;
}
