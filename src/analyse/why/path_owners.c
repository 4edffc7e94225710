/* path_owners.c: which module and which line of Python a piece of the critical path belongs
 * to. */
#include "analyse/why/path_owners.h"

#include "base/bisect.h"

enum { MOST_LEVELS = 512 }; /* frames of hostile files nest deeply: a bounded climb */

status path_owners_init(path_owners *o, const trace *t, const selection *s, arena *a,
                        error *err) {
    *o = (path_owners){.t = t,
                       .has_modules = t->module_call.n > 1,
                       .has_lines = t->kind_count[KIND_PYTHON] > 0 || t->frame.n > 1,
                       .line_memo = ARENA_ARRAY(a, uint8_t, (size_t)t->n_strings + 1)};
    if (!o->line_memo) FAIL_MEMORY(err);
    for (uint32_t i = 1; i < t->op.n && !o->has_stacks; i++)
        o->has_stacks = t->op.frame[i] != 0;
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
    o->knows_module = o->knows_line = false;
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

/* Folders of code that is installed and not written for this program. */
static bool is_of_package(str frame) {
    static const char *const parts[] = {"site-packages/", "dist-packages/", "lib/python",
                                        "<frozen ", "contextlib.py("};
    if (str_starts(frame, STR("torch/"))) return true;
    for (size_t i = 0; i < N_OF(parts); i++)
        if (str_find(frame, str_of(parts[i]), 0) != SIZE_MAX) return true;
    return false;
}

static uint8_t look_at_line(path_owners *o, uint32_t name) {
    if (name >= o->t->n_strings) return 1;
    if (!o->line_memo[name]) {
        str text = trace_str(o->t, name);
        bool line = text.n && text.p[0] != '<' && str_find(text, STR("("), 0) != SIZE_MAX;
        o->line_memo[name] = !line ? 1 : is_of_package(text) ? 2 : 3;
    }
    return o->line_memo[name];
}

/* Keeps the first line of a package until one of the program itself comes. */
static bool take_line(path_owners *o, uint32_t name, uint32_t *found) {
    uint8_t what = look_at_line(o, name);
    if (what == 3 || (what == 2 && !*found)) *found = name;
    return what == 3;
}

/* The stack that the producer wrote on the operator itself. */
static uint32_t line_of_stack(path_owners *o, uint32_t frame) {
    uint32_t found = 0;
    for (int up = 0; frame && frame < o->t->frame.n && up < MOST_LEVELS;
         up++, frame = o->t->frame.parent[frame])
        if (take_line(o, o->t->frame.name[frame], &found)) break;
    return found;
}

static uint32_t frame_of(path_owners *o, uint32_t slice) {
    if (slice != o->op_slice) {
        o->op_slice = slice;
        o->op_frame = o->t->op.frame[trace_op_of(o->t, slice)];
    }
    return o->op_frame;
}

static uint32_t line_around(path_owners *o, uint32_t slice) {
    const trace *t = o->t;
    uint32_t found = 0;
    for (int up = 0; slice && up < MOST_LEVELS; up++, slice = t->slice.parent[slice]) {
        uint8_t kind = t->slice.kind[slice];
        uint32_t frame = kind == KIND_OP && o->has_stacks ? frame_of(o, slice) : 0;
        if (frame) return line_of_stack(o, frame);
        if (kind == KIND_PYTHON && take_line(o, t->slice.name[slice], &found)) break;
    }
    return found;
}

uint32_t path_line_of(path_owners *o, const path_piece *p) {
    uint32_t slice = host_slice(o, p);
    if (!o->has_lines || !slice) return 0;
    if (o->knows_line) return o->line;
    uint32_t line = line_around(o, slice), call = line ? 0 : forward_call(o, slice);
    o->knows_line = true;
    return o->line = call ? line_around(o, o->t->module_call.slice[call]) : line;
}
