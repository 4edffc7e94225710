/* path_owners.c: which module and which line of Python a piece of the critical path belongs
 * to. */
#include "analyse/job/path_owners.h"

#include "base/bisect.h"

enum { MOST_LEVELS = 512 }; /* modules of hostile files nest deeply: a bounded climb */

status path_owners_init(path_owners *o, const trace *t, const selection *s, arena *a,
                        error *err) {
    *o = (path_owners){.t = t, .has_modules = t->module_call.n > 1};
    TRY(line_view_init(&o->lines, t, a, err));
    return o->has_modules ? backward_find(t, s, a, &o->nodes, err) : OK;
}

static bool is_inside(const trace *t, uint32_t inner, uint32_t outer) {
    return t->slice.start[inner] >= t->slice.start[outer] &&
           slice_end(t, inner) <= slice_end(t, outer) &&
           trace_track_of(t, inner) == trace_track_of(t, outer);
}

/* The host's slice a piece stands for: of device work its launch, or its operator. One call may
 * launch the work of many operators, which are drawn inside of it. */
static uint32_t find_host(const trace *t, uint32_t slice) {
    if (!slice || !kind_is_device(t->slice.kind[slice])) return slice;
    uint32_t k = trace_kernel_of(t, slice);
    uint32_t launch = t->kernel.launch[k], op = t->kernel.op[k];
    return !launch || (op && is_inside(t, op, launch)) ? op : launch;
}

/* Pieces that follow each other are often of one event: what it belongs to is found once. */
static uint32_t host_slice(path_owners *o, const path_piece *p) {
    if (p->slice == o->piece_slice) return o->host_slice;
    o->piece_slice = p->slice;
    o->knows_module = false;
    return o->host_slice = find_host(o->t, p->slice);
}

/* The call of the module whose forward pass this part of the backward pass undoes; row of table
 * module_call, 0: none. */
static uint32_t forward_call(path_owners *o, uint32_t slice) {
    const trace *t = o->t;
    uint32_t low = o->node_at;
    bool again = low && o->nodes.v[low - 1].slice <= slice &&
                 (low == o->nodes.n || o->nodes.v[low].slice > slice);
    if (!again) low = SEARCH_FIRST(i, 0u, o->nodes.n, o->nodes.v[i].slice <= slice);
    o->node_at = low;
    if (!low) return 0;
    const backward_node *n = &o->nodes.v[low - 1];
    bool inside = t->slice.start[slice] >= t->slice.start[n->slice] &&
                  slice_end(t, slice) <= slice_end(t, n->slice) &&
                  trace_track_of(t, slice) == trace_track_of(t, n->slice);
    return inside ? n->module_call : 0;
}

static uint32_t module_at(path_owners *o, uint32_t slice) {
    if (slice != o->call_slice) {
        o->call_slice = slice;
        o->call_module = o->t->module_call.module[trace_module_call_of(o->t, slice)];
    }
    return o->call_module;
}

uint32_t path_module_of(path_owners *o, const path_piece *p) {
    const trace *t = o->t;
    uint32_t slice = host_slice(o, p);
    if (!slice || !o->has_modules) return 0;
    if (o->knows_module) return o->module;
    uint32_t module = t->module_call.module[forward_call(o, slice)];
    for (int up = 0; slice && !module && up < MOST_LEVELS; up++, slice = t->slice.parent[slice])
        if (t->slice.kind[slice] == KIND_MODULE) module = module_at(o, slice);
    o->knows_module = true;
    return o->module = module;
}

/* ---- lines ------------------------------------------------------------------------------- */

static bool is_on_host(const path_piece *p) {
    return p->kind == PATH_CALL || p->kind == PATH_SYNC || p->kind == PATH_OPERATOR ||
           p->kind == PATH_DATA || p->kind == PATH_BETWEEN;
}

uint32_t path_frame_of(const line_view *v, const path_piece *p) {
    const trace *t = v->t;
    if (!p->slice || !kind_is_device(t->slice.kind[p->slice]))
        return line_frame_of(v, p->slice);
    return line_frame_of_work(v, trace_kernel_of(t, p->slice));
}

/* The thread of a piece on the host; one that is part of nothing is of the thread of the next
 * that is, else of the last, else the main one. 0: none. */
static uint32_t thread_of(const line_view *v, const path_pieces *path, size_t k) {
    const trace *t = v->t;
    for (size_t i = k; i < path->n; i++)
        if (path->v[i].slice && is_on_host(&path->v[i]))
            return trace_track_of(t, path->v[i].slice);
    for (size_t i = k; i > 0; i--)
        if (path->v[i - 1].slice && is_on_host(&path->v[i - 1]))
            return trace_track_of(t, path->v[i - 1].slice);
    return v->main;
}

/* The thread of the backward pass is in no slice between two nodes: that time belongs to the
 * one that follows. */
typedef struct {
    const line_cutter *to;
    uint32_t frame;
} between_nodes;

static status visit_between(void *context, const line_piece *p, error *err) {
    const between_nodes *b = context;
    line_piece piece = *p;
    if (p->idle && !p->frame) piece.frame = b->frame;
    return b->to->visit(b->to->context, &piece, err);
}

status path_lines_cut(const line_cutter *c, const path_pieces *path, size_t k, error *err) {
    const line_view *v = c->view;
    const path_piece *p = &path->v[k];
    interval range = {p->start, p->end};
    if (!v->has_lines || !is_on_host(p)) {
        line_piece whole = {.range = range, .frame = path_frame_of(v, p)};
        return c->visit(c->context, &whole, err);
    }
    between_nodes between = {.to = c};
    if (p->slice && v->is_backward && v->is_backward[p->slice])
        between.frame = path_frame_of(v, p);
    line_cutter cutter = {v, visit_between, &between};
    return line_cut(&cutter, thread_of(v, path, k), range, err);
}
