/* range_scan.c: ranges on the host with the device work launched inside them.
 *
 * The same walk as op_scan.c over fewer kinds of slices: a stack of the open ranges, and the
 * device work in the order of its launch calls. A piece of work belongs to the innermost range
 * that is open when its call begins; where one call launches the work of many operators, which
 * lie inside of it (a graph), when its operator begins. Work launched by another thread on
 * behalf of a range (autograd) does not belong to it. */
#include "analyse/operators/range_scan.h"

#include "analyse/operators/work_by_op.h"

typedef struct {
    range_call call;
    int64_t end_ns;
} open_range;

typedef struct {
    const range_scan *scan;
    work_list work;
    open_range *open;
    uint32_t n_open, cap_open;
} state;

static status close_top(state *s, error *err) {
    open_range *top = &s->open[--s->n_open];
    if (s->n_open) {
        range_call *parent = &s->open[s->n_open - 1].call;
        int64_t device = add_i64(top->call.device_self, top->call.device_children);
        parent->child_ns = add_i64(parent->child_ns, top->call.ns);
        parent->device_children = add_i64(parent->device_children, device);
    }
    return s->scan->visit(s->scan->context, &top->call, err);
}

static status open_next(state *s, uint32_t slice, error *err) {
    const trace *t = s->scan->t;
    int64_t end = slice_end(t, slice);
    while (s->n_open && end > s->open[s->n_open - 1].end_ns) TRY(close_top(s, err));
    if (s->n_open == s->cap_open) {
        uint32_t cap = s->cap_open ? s->cap_open * 2 : 64;
        open_range *open =
            arena_grow(s->scan->arena, s->open, s->cap_open * sizeof *open, cap * sizeof *open);
        if (!open) FAIL_MEMORY(err);
        s->open = open;
        s->cap_open = cap;
    }
    uint32_t parent = s->n_open ? s->open[s->n_open - 1].call.slice : 0;
    s->open[s->n_open++] = (open_range){
        .call = {.slice = slice, .parent = parent, .ns = select_ns(s->scan->select, slice)},
        .end_ns = end};
    return OK;
}

static status scan_slice(state *s, uint32_t i, error *err) {
    const trace *t = s->scan->t;
    int64_t start = t->slice.start[i];
    while (s->n_open && start >= s->open[s->n_open - 1].end_ns) TRY(close_top(s, err));
    if (s->scan->kinds >> t->slice.kind[i] & 1) TRY(open_next(s, i, err));
    for (uint32_t k; (k = work_next(&s->work, i));) {
        if (!s->n_open) continue;
        range_call *top = &s->open[s->n_open - 1].call;
        top->device_self = add_i64(top->device_self, select_work_ns(s->scan->select, k));
    }
    return OK;
}

/* Where each piece of device work was asked for: its call, or its operator inside of that. */
static status find_places(const range_scan *scan, uint32_t **out, error *err) {
    const trace *t = scan->t;
    uint32_t *place = ARENA_ARRAY(scan->arena, uint32_t, (size_t)t->kernel.n + 1);
    if (!place) FAIL_MEMORY(err);
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        uint32_t launch = t->kernel.launch[k], op = t->kernel.op[k];
        bool inside = launch && op > launch && op < trace_subtree_end(t, launch);
        place[k] = inside ? op : launch;
    }
    *out = place;
    return OK;
}

status range_scan_run(const range_scan *scan, error *err) {
    const trace *t = scan->t;
    state s = {.scan = scan};
    uint32_t *place = NULL;
    TRY(find_places(scan, &place, err));
    TRY(work_by_host(t, place, scan->arena, &s.work, err));
    for (uint32_t track = 1; track < t->track.n; track++) {
        if (t->track.kind[track] == TRACK_STREAM) continue;
        for (uint32_t i = t->track.first[track]; i && i < t->track.end[track]; i++)
            TRY(scan_slice(&s, i, err));
        while (s.n_open) TRY(close_top(&s, err));
    }
    return OK;
}
