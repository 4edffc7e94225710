/* op_scan.c: every call of an operator with its times, in one pass over the host threads.
 *
 * Slices of a thread come in order of start, longest first, so a stack of the open ones is
 * all the tree that is needed. The stack holds only slices that count: a Python frame that
 * overlaps an op partially cannot hide it. A slice leaves the stack when the next one does
 * not lie inside it; then its own figures are final and go to its parent.
 *
 *     step ─┬─ op A ─── op A ─┬─ launch  the inner A is alone in an A: it gives its children
 *           │                 └─ launch  and its device work to the outer one and is not a call
 *           └─ op B
 *
 * Whether a finished child is alone is known only when its parent ends. So a parent keeps
 * its first child back (`first`) and hands it to the visitor when a second one comes or the
 * parent ends.
 *
 * Sums are plain: nested calls of one name count in each other's totals, streams that
 * overlap are added. */
#include "analyse/operators/op_scan.h"

#include "analyse/operators/work_by_op.h"

/* A slice that is still open. */
typedef struct {
    op_call call;
    op_call first; /* its first child that is an op, kept back; slice 0 = none or handed over */
    int64_t end_ns;
} open_slice;

typedef struct {
    const op_scan *scan;
    work_list work;
    uint32_t op_at; /* cursor in table op */
    open_slice *open;
    uint32_t n_open, cap_open;
} state;

static const bool counts_as_child[N_KINDS] = {
    [KIND_STEP] = true,    [KIND_ANNOTATION] = true, [KIND_DATA] = true,
    [KIND_FORWARD] = true, [KIND_BACKWARD] = true,   [KIND_OPTIMIZER] = true,
    [KIND_OP] = true,      [KIND_COLLECTIVE] = true, [KIND_RUNTIME] = true,
    [KIND_DRIVER] = true,  [KIND_GARBAGE] = true,    [KIND_COMPILE] = true,
    [KIND_IMPORT] = true,
};

bool op_kind_counts(uint8_t kind) {
    return kind < N_KINDS && counts_as_child[kind];
}

static status hand_over(state *s, op_call *c, error *err) {
    if (!c->slice) return OK;
    status result = s->scan->visit(s->scan->context, c, err);
    c->slice = 0;
    return result;
}

/* The inner call is the outer one. */
static void merge_duplicate(op_call *outer, const op_call *inner) {
    outer->child_ns = inner->child_ns;
    outer->n_children = inner->n_children;
    outer->device_self = add_i64(outer->device_self, inner->device_self);
    outer->device_children = inner->device_children;
    outer->inferred_self = add_i64(outer->inferred_self, inner->inferred_self);
    outer->inferred_children = inner->inferred_children;
    outer->tensor_self = add_i64(outer->tensor_self, inner->tensor_self);
    outer->tensor_children = inner->tensor_children;
    outer->unsure_self = add_i64(outer->unsure_self, inner->unsure_self);
    outer->unsure_children = inner->unsure_children;
    outer->missed_self = add_i64(outer->missed_self, inner->missed_self);
    /* add_child gave the outer one the kernels of the inner already */
    if (!outer->op_row) outer->op_row = inner->op_row;
}

/* The longest piece of device work so far; of equal ones the first. */
static void note_longest(op_call *c, uint32_t slice, int64_t ns) {
    if (!slice || (c->longest && ns <= c->longest_ns)) return;
    c->longest = slice;
    c->longest_ns = ns;
}

static void add_child(op_call *parent, const op_call *child) {
    parent->child_ns = add_i64(parent->child_ns, child->ns);
    parent->n_children++;
    parent->eligible |= child->eligible;
    int64_t device = add_i64(child->device_self, child->device_children);
    int64_t tensor = add_i64(child->tensor_self, child->tensor_children);
    parent->device_children = add_i64(parent->device_children, device);
    parent->tensor_children = add_i64(parent->tensor_children, tensor);
    int64_t inferred = add_i64(child->inferred_self, child->inferred_children);
    parent->inferred_children = add_i64(parent->inferred_children, inferred);
    int64_t unsure = add_i64(child->unsure_self, child->unsure_children);
    parent->unsure_children = add_i64(parent->unsure_children, unsure);
    parent->kernel_ns = add_i64(parent->kernel_ns, child->kernel_ns);
    note_longest(parent, child->longest, child->longest_ns);
}

/* Takes the innermost open slice off the stack and gives it to its parent. */
static status close_top(state *s, error *err) {
    open_slice *top = &s->open[s->n_open - 1];
    if (top->first.slice && top->call.is_op && top->call.n_children == 1 &&
        top->first.name == top->call.name) {
        merge_duplicate(&top->call, &top->first);
        top->first.slice = 0;
    }
    TRY(hand_over(s, &top->first, err));
    top->call.eligible = top->call.eligible || top->call.tensor_self > 0;
    s->n_open--;
    if (!s->n_open) return top->call.is_op ? hand_over(s, &top->call, err) : OK;
    open_slice *parent = &s->open[s->n_open - 1];
    TRY(hand_over(s, &parent->first, err));
    add_child(&parent->call, &top->call);
    if (!top->call.is_op) return OK;
    if (parent->call.is_op && parent->call.n_children == 1) {
        parent->first = top->call;
        return OK;
    }
    return hand_over(s, &top->call, err);
}

static status make_room(state *s, error *err) {
    if (s->n_open < s->cap_open) return OK;
    uint32_t cap = s->cap_open ? s->cap_open * 2 : 64;
    open_slice *open =
        arena_grow(s->scan->arena, s->open, s->cap_open * sizeof *open, cap * sizeof *open);
    if (!open) FAIL_MEMORY(err);
    s->open = open;
    s->cap_open = cap;
    return OK;
}

static uint32_t find_op_row(state *s, uint32_t slice) {
    const trace *t = s->scan->t;
    while (s->op_at < t->op.n && t->op.slice[s->op_at] < slice) s->op_at++;
    return s->op_at < t->op.n && t->op.slice[s->op_at] == slice ? s->op_at : 0;
}

static void add_device_work(state *s, op_call *c) {
    const op_scan *scan = s->scan;
    uint32_t k;
    while ((k = work_next(&s->work, c->slice))) {
        int64_t ns = select_work_ns(scan->select, k);
        uint32_t slice = scan->t->kernel.slice[k];
        c->device_self = add_i64(c->device_self, ns);
        if (ns > 0) note_longest(c, slice, ns);
        if (!trace_own_op(scan->t, k)) c->inferred_self = add_i64(c->inferred_self, ns);
        if (scan->t->slice.kind[slice] != KIND_KERNEL) continue;
        if (trace_own_op(scan->t, k))
            c->kernel_ns = add_i64(c->kernel_ns, scan->t->slice.dur[slice]);
        matrix_use use = tensor_core_work(scan->tensor, k);
        if (use == MATRIX_YES) c->tensor_self = add_i64(c->tensor_self, ns);
        if (use == MATRIX_UNKNOWN) c->unsure_self = add_i64(c->unsure_self, ns);
        if (use == MATRIX_NO && tensor_core_missed(scan->tensor, k))
            c->missed_self = add_i64(c->missed_self, ns);
    }
}

static status open_next(state *s, uint32_t slice, error *err) {
    const op_scan *scan = s->scan;
    const trace *t = scan->t;
    int64_t start = t->slice.start[slice], end = slice_end(t, slice);
    while (s->n_open &&
           (start >= s->open[s->n_open - 1].end_ns || end > s->open[s->n_open - 1].end_ns))
        TRY(close_top(s, err));
    TRY(make_room(s, err));
    open_slice *o = &s->open[s->n_open++];
    op_call *c = &o->call;
    o->end_ns = end;
    o->first.slice = 0; /* its rest is not read; clearing it cost a quarter of the scan */
    *c = (op_call){.slice = slice,
                   .name = t->slice.name[slice],
                   .kind = t->slice.kind[slice],
                   .ns = select_ns(scan->select, slice),
                   .is_op = t->slice.kind[slice] == KIND_OP};
    if (!c->is_op) {
        if (s->n_open > 1) { /* what is inside has the op around this one around it */
            c->stack = o[-1].call.stack;
            c->path = o[-1].call.path;
        }
        return OK;
    }
    c->op_row = find_op_row(s, slice);
    c->eligible = tensor_core_op_id(scan->tensor, c->name);
    if (scan->stacks) c->stack = stacks_of(scan->stacks, c->op_row, start);
    if (scan->paths) {
        stack_place outer = {0};
        if (s->n_open > 1) outer = (stack_place){o[-1].call.stack, o[-1].call.path};
        c->path = stacks_path(scan->stacks, outer, c->stack, c->name);
        if (!c->path) FAIL_MEMORY(err);
    }
    add_device_work(s, c);
    return OK;
}

status op_scan_run(const op_scan *scan, error *err) {
    const trace *t = scan->t;
    state s = {.scan = scan, .op_at = 1};
    TRY(work_by_host(t, t->kernel.op, scan->arena, &s.work, err));
    for (uint32_t track = 1; track < t->track.n; track++) {
        if (t->track.kind[track] == TRACK_STREAM) continue;
        if (scan->stacks) stacks_new_track(scan->stacks);
        for (uint32_t i = t->track.first[track]; i && i < t->track.end[track]; i++) {
            uint8_t kind = t->slice.kind[i];
            if (op_kind_counts(kind))
                TRY(open_next(&s, i, err));
            else if (scan->stacks && (kind == KIND_PYTHON || kind == KIND_MODULE))
                TRY(stacks_enter(scan->stacks, i, err));
        }
        while (s.n_open) TRY(close_top(&s, err));
    }
    return OK;
}
