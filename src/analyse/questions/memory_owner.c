/* memory_owner.c: the module and the line that a block of memory belongs to. A release has what
 * its allocation has. */
#include "analyse/questions/memory_owner.h"

#include "analyse/operators/module_work.h"
#include "base/bisect.h"

status memory_owner_modules(memory_owner *o, const trace *t, arena *a, error *err) {
    selection all = select_all(t);
    o->t = t;
    o->arena = a;
    return backward_find(t, &all, a, &o->nodes, err);
}

status memory_owner_lines(memory_owner *o, const trace *t, arena *a, error *err) {
    o->t = t;
    o->arena = a;
    o->line_text = ARENA_ARRAY(a, str, (size_t)t->frame.n + 1);
    if (!o->line_text) FAIL_MEMORY(err);
    return line_view_init(&o->lines, t, a, err);
}

static uint32_t find_node(const backward_nodes *nodes, uint32_t slice) {
    uint32_t low = SEARCH_FIRST(i, 0, nodes->n, nodes->v[i].slice < slice);
    return low < nodes->n && nodes->v[low].slice == slice ? nodes->v[low].module_call : 0;
}

str memory_owner_module(const memory_owner *o, uint32_t op) {
    const trace *t = o->t;
    uint32_t call = 0;
    for (uint32_t i = op; i && !call; i = t->slice.parent[i])
        call = t->slice.kind[i] == KIND_MODULE ? trace_module_call_of(t, i)
                                               : find_node(&o->nodes, i);
    return call ? module_short_name(t, t->module_call.module[call]) : STR("");
}

str memory_owner_line(memory_owner *o, uint32_t row, bool *ok) {
    const trace *t = o->t;
    uint32_t telling = memory_telling_row(t, row), frame = t->memory.frame[telling];
    if (!o->lines.has_lines) return STR_NONE;
    if (!frame && t->memory.op[telling])
        frame = line_frame_of(&o->lines, t->memory.op[telling]);
    uint32_t site = line_site(&o->lines, frame);
    if (!site) return STR_NONE;
    str *text = &o->line_text[site];
    if (!text->p) *text = line_short(t, site, o->arena);
    *ok = *ok && text->p;
    return *text;
}
