/* pftrace_slice.c: slices as begins and ends on tracks, with their arrows.
 *
 * A track of Perfetto is a stack: what overlaps partially is lost. So slices that do not nest
 * go to further tracks of the same name, which Perfetto draws together, and two pieces of
 * device work never nest: kernels that run side by side on a stream are all visible.
 *
 *     stream 7    |--- kernel a ---|     |-- c --|
 *     stream 7              |--- kernel b ---|
 *
 * An arrow has a unique number: it leaves its first slice and ends at its second. */
#include <stdlib.h>

#include "export/pftrace_int.h"

enum { TYPE_BEGIN = 1, TYPE_END = 2 };
#define LAUNCH_IDS ((uint64_t)1 << 40)
#define FLOW_IDS ((uint64_t)2 << 40)

/* ---- arrows ---- */

static status add_arrow(pftrace *p, uint32_t from, uint32_t to, uint64_t id) {
    int64_t start_ns, end_ns;
    if (!from || !to || !export_clip(p->x, from, &start_ns, &end_ns) ||
        !export_clip(p->x, to, &start_ns, &end_ns))
        return OK;
    arrow_end *tail = vec_push(&p->arrows);
    if (!tail) FAIL_MEMORY(p->x->err);
    *tail = (arrow_end){.slice = from, .id = id};
    arrow_end *head = vec_push(&p->arrows);
    if (!head) FAIL_MEMORY(p->x->err);
    *head = (arrow_end){.slice = to, .ends = true, .id = id};
    return OK;
}

static int compare_arrows(const void *pa, const void *pb) {
    const arrow_end *a = pa, *b = pb;
    if (a->slice != b->slice) return a->slice < b->slice ? -1 : 1;
    if (a->ends != b->ends) return a->ends ? 1 : -1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static status list_arrows(pftrace *p) {
    const trace *t = p->x->t;
    for (uint32_t i = 1; i < t->kernel.n; i++)
        TRY(add_arrow(p, t->kernel.launch[i], t->kernel.slice[i], LAUNCH_IDS | i));
    for (uint32_t i = 1; i < t->flow.n; i++)
        TRY(add_arrow(p, t->flow.from[i], t->flow.to[i], FLOW_IDS | i));
    if (p->arrows.n) qsort(p->arrows.p, p->arrows.n, sizeof(arrow_end), compare_arrows);
    return OK;
}

/* Slices come in ascending order. */
static void add_arrows_of(pftrace *p, uint32_t slice) {
    const arrow_end *all = VEC(&p->arrows, arrow_end);
    while (p->next_arrow < p->arrows.n && all[p->next_arrow].slice < slice) p->next_arrow++;
    for (; p->next_arrow < p->arrows.n && all[p->next_arrow].slice == slice; p->next_arrow++)
        wire_put_fixed(&p->event, all[p->next_arrow].ends ? 48 : 47, all[p->next_arrow].id);
}

/* ---- lanes ---- */

static lane_range *range_at(const pftrace *p, uint32_t i) {
    return &VEC(&p->ranges, lane_range)[i - 1];
}

static status end_top(pftrace *p, lane_row *l) {
    uint32_t i = l->top;
    lane_range top = *range_at(p, i);
    l->top = top.below;
    range_at(p, i)->below = p->free_range;
    p->free_range = i;
    buf_clear(&p->event);
    wire_put_number(&p->event, 9, TYPE_END);
    wire_put_number(&p->event, 11, l->uuid);
    return pftrace_put_event(p, top.end_ns);
}

static status push_range(pftrace *p, lane_row *l, lane_range r) {
    uint32_t i = p->free_range;
    r.below = l->top;
    if (i) {
        p->free_range = range_at(p, i)->below;
    } else {
        if (!vec_push(&p->ranges)) FAIL_MEMORY(p->x->err);
        i = (uint32_t)p->ranges.n;
    }
    *range_at(p, i) = r;
    l->top = i;
    return OK;
}

/* Does the slice nest in what is open on the lane? What is over is ended first. */
static status fits(pftrace *p, lane_row *l, uint32_t slice, int64_t start_ns, int64_t end_ns,
                   bool *out) {
    const trace *t = p->x->t;
    while (l->top && range_at(p, l->top)->end_ns <= start_ns) TRY(end_top(p, l));
    const lane_range *top = l->top ? range_at(p, l->top) : NULL;
    bool work = kind_is_device(t->slice.kind[slice]);
    *out =
        !top || (top->end_ns >= end_ns && !(work && kind_is_device(t->slice.kind[top->slice])));
    return OK;
}

static status find_lane(pftrace *p, uint32_t track, uint32_t slice, int64_t start_ns,
                        int64_t end_ns, lane_row **out) {
    bool found = false;
    for (size_t i = 0; i < p->lanes.n; i++) {
        *out = &VEC(&p->lanes, lane_row)[i];
        TRY(fits(p, *out, slice, start_ns, end_ns, &found));
        if (found) return OK;
    }
    uint64_t uuid = pftrace_track(track) | (uint64_t)p->lanes.n << 36;
    if (p->lanes.n) TRY(pftrace_add_lane(p, track, uuid));
    *out = vec_push(&p->lanes);
    if (!*out) FAIL_MEMORY(p->x->err);
    **out = (lane_row){.uuid = uuid};
    return OK;
}

/* ---- slices ---- */

static status add_slice(pftrace *p, uint32_t track, uint32_t slice) {
    const trace *t = p->x->t;
    int64_t start_ns, end_ns;
    lane_row *lane;
    if (!export_clip(p->x, slice, &start_ns, &end_ns)) return OK;
    TRY(find_lane(p, track, slice, start_ns, end_ns, &lane));
    link_facts f = links_find(t, &p->links, slice);
    uint64_t category =
        pftrace_word(p, WORD_CATEGORY, t->category.name[t->slice.category[slice]]);
    uint64_t name = pftrace_word(p, WORD_NAME, t->slice.name[slice]);
    buf_clear(&p->event);
    wire_put_number(&p->event, 9, TYPE_BEGIN);
    wire_put_number(&p->event, 11, lane->uuid);
    if (category) wire_put_number(&p->event, 3, category);
    wire_put_number(&p->event, 3, pftrace_kind_word(p, t->slice.kind[slice]));
    if (name) wire_put_number(&p->event, 10, name);
    add_arrows_of(p, slice);
    TRY(pftrace_add_args(p, t->slice.args[slice], &f));
    TRY(pftrace_put_event(p, start_ns));
    return push_range(p, lane, (lane_range){.end_ns = end_ns, .slice = slice});
}

static status add_track_slices(pftrace *p, uint32_t track) {
    const trace *t = p->x->t;
    p->lanes.n = 0;
    for (uint32_t i = t->track.first[track]; i < t->track.end[track]; i++)
        TRY(add_slice(p, track, i));
    for (size_t i = 0; i < p->lanes.n; i++) {
        lane_row *l = &VEC(&p->lanes, lane_row)[i];
        while (l->top) TRY(end_top(p, l));
    }
    return OK;
}

status pftrace_slices(pftrace *p) {
    TRY(list_arrows(p));
    for (uint32_t i = 1; i < p->x->t->track.n; i++) TRY(add_track_slices(p, i));
    return OK;
}
