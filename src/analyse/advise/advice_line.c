/* advice_line.c: the line of the program that a piece of advice is about.
 *
 * Its events cost time; each piece of that time has a line. An event is an operator or a call
 * (its own line), device work (the line that launched it), or a gap of the device (the lines
 * its thread was in). A line with less than half of the time is not the one. */
#include "analyse/advise/advice_line.h"

#include "base/bisect.h"

/* Lines that are counted; advice about more of them names none. */
enum { MOST_LINES = 64 };

typedef struct {
    const line_view *v;
    uint32_t name[MOST_LINES], site[MOST_LINES], n; /* string of the line; a frame of it */
    int64_t ns[MOST_LINES], all_ns;
} line_costs;

static void add_cost(line_costs *c, uint32_t frame, int64_t ns) {
    uint32_t site = line_site(c->v, frame), i = 0;
    uint32_t name = site ? c->v->t->frame.name[site] : 0;
    c->all_ns = add_i64(c->all_ns, ns);
    if (!site) return;
    while (i < c->n && c->name[i] != name) i++;
    if (i == MOST_LINES) return;
    if (i == c->n) {
        c->name[i] = name;
        c->site[i] = site;
        c->ns[i] = 0;
        c->n++;
    }
    c->ns[i] = add_i64(c->ns[i], ns);
}

static status add_piece(void *context, const line_piece *p, error *err) {
    (void)err;
    add_cost(context, p->frame, sub_i64(p->range.end, p->range.start));
    return OK;
}

static status add_event(line_costs *c, const advice_event *e, error *err) {
    const trace *t = c->v->t;
    uint32_t slice = e->slice;
    uint32_t work =
        slice && kind_is_device(t->slice.kind[slice]) ? trace_kernel_of(t, slice) : 0;
    if (e->is_gap || !slice || t->slice.kind[slice] == KIND_STEP) {
        uint32_t launch = work ? t->kernel.launch[work] : slice;
        line_cutter cutter = {c->v, add_piece, c};
        return line_cut(&cutter, launch ? trace_track_of(t, launch) : c->v->main, e->range,
                        err);
    }
    add_cost(c, work ? line_frame_of_work(c->v, work) : line_frame_of(c->v, slice), e->cost_ns);
    return OK;
}

/* A function that runs through whole steps says nothing of where in them. */
static bool is_around_a_step(const trace *t, uint32_t site) {
    if (!t->kind_count[KIND_PYTHON]) return false;
    for (uint32_t i = 1; i < t->slice.n; i++) {
        if (t->slice.kind[i] != KIND_PYTHON || t->slice.name[i] != t->frame.name[site])
            continue;
        uint32_t k = SEARCH_FIRST(s, 1u, t->step.n, t->step.start[s] < t->slice.start[i]);
        if (k < t->step.n && t->step.end[k] <= slice_end(t, i)) return true;
    }
    return false;
}

status advice_line_find(const line_view *v, const event_list *events, uint32_t *out,
                        error *err) {
    line_costs c = {.v = v};
    *out = 0;
    if (!v->has_lines) return OK;
    for (uint32_t i = 0; i < events->n; i++) TRY(add_event(&c, &events->v[i], err));
    for (uint32_t i = 0; i < c.n; i++)
        if (c.ns[i] > 0 && c.ns[i] >= c.all_ns / 2) *out = c.site[i];
    if (*out && is_around_a_step(v->t, *out)) *out = 0;
    return OK;
}
