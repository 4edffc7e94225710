/* slice_tags.c: what a slice belongs to besides its name, for the colors of the timeline.
 *
 * Asked for the few thousand boxes of a picture, not for every slice: ahead of them only the
 * segments of the stages are made, or the arrows from forward to backward by their heads. For
 * its module a slice looks at what is around it on its own track; device work begins at the
 * operator or call that launched it.
 *
 * It looks at a bounded number of slices around one: a file may nest for ever. */
#include "analyse/timeline/slice_tags.h"

enum { MOST_AROUND = 512 };

static status note_arrows(tagger *g, error *err) {
    const trace *t = g->t;
    for (uint32_t i = 1; i < t->flow.n; i++) {
        if (t->flow.kind[i] != FLOW_FORWARD_BACKWARD) continue;
        uint32_t *at = map_at(&g->forward, t->flow.to[i]);
        if (!at) FAIL_MEMORY(err);
        if (*at == MAP_NONE) *at = t->flow.from[i];
    }
    return OK;
}

status tagger_begin(const trace *t, tag_kind kind, arena *a, tagger *out, error *err) {
    tagger g = {.t = t, .kind = kind};
    TRY(trace_require(t,
                      TRACE_TABLE(slice) | TRACE_TABLE(op) | TRACE_TABLE(kernel) |
                          TRACE_TABLE(flow) | TRACE_TABLE(module) | TRACE_TABLE(module_call),
                      err));
    if (kind == TAG_STAGE) TRY(stages_find(t, a, &g.stages, err));
    if (kind == TAG_LINE) {
        TRY(trace_require(t, LINE_TABLES, err));
        TRY(line_view_init(&g.lines, t, a, err));
    }
    *out = g;
    return kind == TAG_MODULE ? note_arrows(out, err) : OK;
}

void tagger_end(tagger *g) {
    map_fini(&g->forward);
}

static uint32_t module_name(const trace *t, uint32_t slice) {
    uint32_t call = trace_module_call_of(t, slice);
    return call ? t->module.name[t->module_call.module[call]] : t->slice.name[slice];
}

/* The module around a slice; where there is none, `forward` is the forward operator of the
 * innermost arrow that ends at or around it. */
static uint32_t module_around(const tagger *g, uint32_t slice, uint32_t *forward) {
    for (int n = 0; slice && n < MOST_AROUND; n++, slice = g->t->slice.parent[slice]) {
        if (g->t->slice.kind[slice] == KIND_MODULE) return module_name(g->t, slice);
        if (forward && *forward == MAP_NONE) *forward = map_get(&g->forward, slice);
    }
    return 0;
}

static uint32_t module_of(const tagger *g, uint32_t slice) {
    uint32_t forward = MAP_NONE, found = module_around(g, slice, &forward);
    return found || forward == MAP_NONE ? found : module_around(g, forward, NULL);
}

static uint32_t line_name(const tagger *g, uint32_t slice, uint32_t work) {
    const line_view *v = &g->lines;
    if (!v->has_lines) return 0;
    uint32_t site = line_site(v, work ? line_frame_of_work(v, work) : line_frame_of(v, slice));
    return site ? g->t->frame.name[site] : 0;
}

uint32_t tag_of(tagger *g, uint32_t slice) {
    const trace *t = g->t;
    uint32_t k = trace_kernel_of(t, slice);
    if (g->kind == TAG_LINE) return line_name(g, slice, k);
    bool is_inferred = k && trace_own_op(t, k) != t->kernel.op[k];
    if (k && g->kind == TAG_STAGE && t->kernel.launch[k] && !is_inferred)
        slice = t->kernel.launch[k];
    else if (k)
        slice = t->kernel.op[k] ? t->kernel.op[k] : t->kernel.launch[k];
    if (!slice || slice >= t->slice.n) return 0;
    if (g->kind == TAG_MODULE) return module_of(g, slice);
    stage s = stage_at(&g->stages, t->slice.start[slice]);
    return s == STAGE_OTHER ? 0 : (uint32_t)s + 1;
}
