/* line_sums.c: what each call stack of a program costs.
 *
 *   CPU       a thread's time, cut where its stack changes (line_cut)
 *   device    the stack that launched the work
 *   idle      what the thread did that launched the work after the gap; the launch itself where
 *             the host was not the cause
 *   path      pieces on the host are cut as a thread's time is, pieces on a device belong to
 *             the stack that launched them
 *   memory    the stack of the allocation, for blocks alive at the peak of their device */
#include "analyse/why/line_sums.h"

#include "analyse/job/path_owners.h"
#include "analyse/memory/memory_view.h"
#include "analyse/why/idle_sums.h"
#include "base/bisect.h"

typedef struct {
    const trace *t;
    selection select;
    arena *arena;
    line_sums *out;
    line_value value; /* that add_piece adds to */
} adder;

static void add(adder *d, uint32_t frame, line_value value, int64_t by) {
    int64_t *to = &d->out->self[frame].v[value], *all = &d->out->all.v[value];
    *to = add_i64(*to, by);
    *all = add_i64(*all, by);
}

static status add_piece(void *context, const line_piece *p, error *err) {
    adder *d = context;
    (void)err;
    add(d, p->frame, d->value, sub_i64(p->range.end, p->range.start));
    return OK;
}

/* ---- threads ----------------------------------------------------------------------------- */

/* A stretch of a thread inside the selection; of steps: inside their intervals on the host. */
static int64_t selected_ns(const selection *s, interval range) {
    const trace *t = s->t;
    if (!s->by_step) return select_clip(s, range.start, range.end);
    int64_t ns = 0;
    uint32_t i = SEARCH_FIRST(k, 1u, t->step.n, t->step.end[k] <= range.start);
    for (; i < t->step.n && t->step.start[i] < range.end; i++)
        if (t->step.number[i] >= s->first_step && t->step.number[i] <= s->last_step)
            ns = add_i64(ns, select_clip(s, max_i64(range.start, t->step.start[i]),
                                         min_i64(range.end, t->step.end[i])));
    return ns;
}

static status add_cpu(void *context, const line_piece *p, error *err) {
    adder *d = context;
    (void)err;
    if (!p->idle) add(d, p->frame, LINE_CPU, selected_ns(&d->select, p->range));
    return OK;
}

static status add_threads(adder *d, error *err) {
    const trace *t = d->t;
    line_cutter cutter = {&d->out->view, add_cpu, d};
    for (uint32_t i = 1; i < t->track.n; i++)
        if (t->track.kind[i] == TRACK_THREAD)
            TRY(line_cut(&cutter, i, (interval){t->start_ns, t->end_ns}, err));
    d->out->known[LINE_CPU] = true;
    for (uint32_t i = 1; i < t->sample.n; i++)
        if (selected_ns(&d->select,
                        (interval){t->sample.time[i], add_i64(t->sample.time[i], 1)}))
            add(d, t->sample.frame[i], LINE_SAMPLES, 1);
    d->out->known[LINE_SAMPLES] = t->sample.n > 1;
    return OK;
}

/* Calls of functions; without them, operators that the line itself started. */
static void add_calls(adder *d) {
    const trace *t = d->t;
    const line_view *v = &d->out->view;
    bool functions = t->kind_count[KIND_PYTHON] > 0;
    if (!v->frame_of) return;
    for (uint32_t i = 1; i < t->slice.n; i++) {
        bool call = functions ? t->slice.kind[i] == KIND_PYTHON
                              : t->slice.kind[i] == KIND_OP &&
                                    t->slice.kind[t->slice.parent[i]] != KIND_OP;
        uint32_t frame = call ? v->frame_of[i] : 0;
        uint32_t site = line_site(v, frame);
        if (!functions || !site) frame = site;
        if (!frame || !select_counts(&d->select, i)) continue;
        add(d, frame, LINE_CALLS, 1);
        uint32_t *longest = &d->out->longest[frame];
        if (!*longest || t->slice.dur[i] > t->slice.dur[*longest]) *longest = i;
    }
    d->out->known[LINE_CALLS] = d->out->all.v[LINE_CALLS] > 0;
}

static status add_syncs(adder *d, error *err) {
    host_view host;
    TRY(host_view_init(&host, d->t, d->arena, err));
    for (size_t i = 0; i < host.n_blocking; i++)
        if (select_counts(&d->select, host.blocking[i]))
            add(d, line_frame_of(&d->out->view, host.blocking[i]), LINE_SYNCS, 1);
    d->out->known[LINE_SYNCS] = true;
    return OK;
}

/* ---- devices ----------------------------------------------------------------------------- */

static void add_work(adder *d) {
    const line_view *v = &d->out->view;
    for (uint32_t i = 1; i < d->t->kernel.n; i++) {
        int64_t ns = select_work_ns(&d->select, i);
        if (!ns) continue;
        uint32_t frame = line_frame_of_work(v, i);
        add(d, frame, LINE_GPU, ns);
        if (line_is_backward(v, i)) add(d, frame, LINE_BACKWARD, ns);
    }
    d->out->known[LINE_GPU] = d->out->known[LINE_BACKWARD] = d->t->kernel.n > 1;
}

/* Was it the host that let the device wait? */
static bool is_of_host(const idle_piece *p) {
    return p->cause == IDLE_HOST_LATE || p->cause == IDLE_BLOCKED || p->cause == IDLE_DATA;
}

static status add_gap(void *context, const idle_piece *p, error *err) {
    adder *d = context;
    const line_view *v = &d->out->view;
    line_cutter cutter = {v, add_piece, d};
    if (!is_of_host(p)) {
        add(d, p->after ? line_frame_of_work(v, p->after) : 0, LINE_IDLE, idle_piece_ns(p));
        return OK;
    }
    bool on_host = p->slice && !kind_is_device(d->t->slice.kind[p->slice]);
    if (on_host) return line_cut_slice(&cutter, p->slice, p->range, err);
    uint32_t launch = p->after ? d->t->kernel.launch[p->after] : 0;
    return line_cut(&cutter, launch ? trace_track_of(d->t, launch) : 0, p->range, err);
}

static status add_idle(adder *d, error *err) {
    step_spans steps;
    idle_devices devices = {0};
    TRY(idle_steps_choose(d->t, &d->select, d->arena, &steps, err));
    idle_causes_question q = {
        .t = d->t, .steps = &steps, .arena = d->arena, .visit = add_gap, .context = d};
    d->value = LINE_IDLE;
    TRY(idle_causes_find(&q, &devices, err));
    d->out->n_idle_steps = steps.n;
    d->out->n_devices = devices.n;
    d->out->known[LINE_IDLE] = devices.n > 0 && steps.n > 0;
    return OK;
}

/* ---- the critical path ------------------------------------------------------------------- */

static status add_path(adder *d, error *err) {
    step_spans spans;
    why_graph graph;
    comm_names names;
    path_pieces pieces = {0};
    TRY(step_spans_make(d->t, &d->select, d->arena, &spans, err));
    TRY(why_graph_make(d->t, &spans, d->arena, &graph, err));
    TRY(comm_names_init(&names, d->t, d->arena, err));
    d->value = LINE_CRITICAL;
    for (uint32_t i = 0; i < graph.n_steps; i++) {
        TRY(critical_path_find(&graph, &names, i, d->arena, &pieces, err));
        for (size_t k = 0; k < pieces.n; k++)
            TRY(path_lines_cut(&(line_cutter){&d->out->view, add_piece, d}, &pieces, k, err));
    }
    d->out->n_path_steps = graph.n_steps;
    d->out->known[LINE_CRITICAL] = d->out->all.v[LINE_CRITICAL] > 0;
    return OK;
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Devices count; the host's memory only where nothing else is recorded. */
static bool counts_memory(const memory_device *d, bool devices) {
    return d->has_totals && (d->type != DEVICE_CPU || !devices);
}

static status add_memory(adder *d, const params *p, error *err) {
    const trace *t = d->t;
    memory_view m;
    bool devices = false;
    if (t->memory.n < 2) return OK;
    TRY(memory_view_init(&m, t, p, d->arena, err));
    memory_find_peaks(&m);
    for (uint32_t i = 0; i < m.devices.n; i++) {
        const memory_device *one = GROUP_ROW(&m.devices, memory_device, i);
        devices |= one->type != DEVICE_CPU && one->has_totals;
    }
    int64_t known = 0, peaks = 0;
    for (uint32_t i = 0; i < m.devices.n; i++) {
        const memory_device *one = GROUP_ROW(&m.devices, memory_device, i);
        if (counts_memory(one, devices)) peaks = add_i64(peaks, one->peak);
    }
    for (uint32_t i = 1; i < t->memory.n; i++) {
        const memory_device *one = memory_device_of(&m, i);
        if (!counts_memory(one, devices) || !memory_is_alive(t, i, one->peak_row)) continue;
        uint32_t frame = t->memory.frame[i] ? t->memory.frame[i]
                                            : line_frame_of(&d->out->view, memory_op(t, i));
        add(d, frame, LINE_PEAK, t->memory.bytes[i]);
        known = add_i64(known, t->memory.bytes[i]);
    }
    if (peaks > known) add(d, 0, LINE_PEAK, sub_i64(peaks, known));
    d->out->known[LINE_PEAK] = peaks > 0;
    return OK;
}

status line_sums_make(const trace *t, const params *p, arena *a, line_sums *out, error *err) {
    adder d = {.t = t, .arena = a, .out = out};
    *out = (line_sums){0};
    select_init(&d.select, t, p);
    TRY(line_view_init(&out->view, t, a, err));
    out->self = ARENA_ARRAY(a, line_values, (size_t)t->frame.n + 1);
    out->longest = ARENA_ARRAY(a, uint32_t, (size_t)t->frame.n + 1);
    if (!out->self || !out->longest) FAIL_MEMORY(err);
    TRY(add_threads(&d, err));
    add_calls(&d);
    TRY(add_syncs(&d, err));
    add_work(&d);
    TRY(add_idle(&d, err));
    TRY(add_path(&d, err));
    return add_memory(&d, p, err);
}
