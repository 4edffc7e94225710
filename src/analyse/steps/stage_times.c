/* stage_times.c: host and device time of the stages, in each step and in all.
 *
 * Segments and steps are both in order of time, so host time is one walk over the two.
 * Device time is a union of ranges for each (step, stage): kernels get a key, two stable
 * radix sorts put them in order of key and start, and each run of equal keys is joined on the
 * way. The cost does not depend on the number of steps. Steps are disjoint (step_spans.h). */
#include "analyse/steps/stage_times.h"

#include "base/bisect.h"
#include "base/sort.h"

#define NO_KEY UINT32_MAX

typedef struct {
    const trace *t;
    const selection *select;
    const step_spans *steps;
    arena *arena;
} context;

/* The host interval of a step inside the window. */
static interval host_range(const context *c, uint32_t step) {
    const step_span *v = &c->steps->v[step];
    return (interval){max_i64(v->host_start, c->select->from_ns),
                      min_i64(v->host_end, c->select->to_ns)};
}

/* The step (index + 1) whose host interval holds the time. */
static uint32_t step_at(const context *c, int64_t time_ns) {
    uint32_t low = SEARCH_FIRST(i, 0, c->steps->n, host_range(c, i).start <= time_ns);
    return low && time_ns < host_range(c, low - 1).end ? low : 0;
}

static uint64_t sort_key(int64_t v) {
    return (uint64_t)v ^ (uint64_t)1 << 63;
}

/* Adds to ns[key] the length of the union of the device work with that key. */
static status unite_by_key(const context *c, const uint32_t *key, int64_t *ns, error *err) {
    const trace *t = c->t;
    sort_pair *pairs = arena_alloc(c->arena, ((size_t)t->kernel.n + 1) * sizeof *pairs);
    if (!pairs) FAIL_MEMORY(err);
    size_t n = 0;
    for (uint32_t k = 1; k < t->kernel.n; k++)
        if (key[k] != NO_KEY)
            pairs[n++] = (sort_pair){sort_key(t->slice.start[t->kernel.slice[k]]), k};
    if (!sort_radix_in(c->arena, pairs, n)) FAIL_MEMORY(err);
    for (size_t i = 0; i < n; i++) pairs[i].key = key[pairs[i].row];
    if (!sort_radix_in(c->arena, pairs, n)) FAIL_MEMORY(err);
    int64_t until = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        uint32_t slice = t->kernel.slice[pairs[i].row];
        if (!i || pairs[i].key != pairs[i - 1].key) until = INT64_MIN;
        int64_t start = max_i64(max_i64(t->slice.start[slice], until), c->select->from_ns);
        int64_t end = min_i64(slice_end(t, slice), c->select->to_ns);
        if (end <= start) continue;
        ns[pairs[i].key] = add_i64(ns[pairs[i].key], sub_i64(end, start));
        until = end;
    }
    arena_drop(c->arena, pairs, ((size_t)t->kernel.n + 1) * sizeof *pairs);
    return OK;
}

/* The host time that decides about the step and stage of device work. */
static int64_t launch_time(const trace *t, uint32_t k) {
    return t->slice.start[t->kernel.launch[k] ? t->kernel.launch[k] : t->kernel.slice[k]];
}

static void note_call(stage_total *total, int64_t ns) {
    total->host_max = total->calls ? max_i64(total->host_max, ns) : ns;
    total->host_min = total->calls ? min_i64(total->host_min, ns) : ns;
    total->calls++;
    total->host = add_i64(total->host, ns);
}

static void add_host_times(const context *c, stage_times *out) {
    size_t at = 0;
    for (uint32_t i = 0; i < c->steps->n; i++) {
        interval step = host_range(c, i);
        int64_t *host = out->host[i], length = max_i64(0, sub_i64(step.end, step.start));
        while (at < out->segments.n && out->segments.v[at].range.end <= step.start) at++;
        for (size_t k = at; k < out->segments.n && out->segments.v[k].range.start < step.end;
             k++) {
            const stage_segment *s = &out->segments.v[k];
            int64_t ns =
                sub_i64(min_i64(s->range.end, step.end), max_i64(s->range.start, step.start));
            host[s->stage] = add_i64(host[s->stage], ns);
            note_call(&out->total[s->stage], ns);
        }
        host[STAGE_STEP] = length;
        host[STAGE_OTHER] = length;
        for (int s = 0; s < STAGE_OTHER; s++)
            host[STAGE_OTHER] = sub_i64(host[STAGE_OTHER], host[s]);
        note_call(&out->total[STAGE_OTHER], host[STAGE_OTHER]);
        note_call(&out->total[STAGE_STEP], length);
    }
}

/* Keys of the kernels: step · N_STAGES + stage, or the stage alone. */
static void make_keys(const context *c, const stage_segments *segments, uint32_t *by_step,
                      uint32_t *by_stage) {
    const trace *t = c->t;
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        by_step[k] = by_stage[k] = NO_KEY;
        if (t->slice.kind[t->kernel.slice[k]] != KIND_KERNEL) continue;
        uint32_t step = step_at(c, launch_time(t, k));
        if (!step) continue;
        by_stage[k] = (uint32_t)stage_at(segments, launch_time(t, k));
        by_step[k] = (step - 1) * N_STAGES + by_stage[k];
    }
}

static void sum_device(const context *c, const int64_t *by_step, const int64_t *by_stage,
                       stage_times *out) {
    for (uint32_t i = 0; i < c->steps->n; i++)
        for (int s = 0; s <= N_STAGES; s++) {
            int64_t *cell = &out->device[i][s];
            if (s < N_STAGES) {
                *cell = by_step[(size_t)i * N_STAGES + (size_t)s];
                out->device[i][STAGE_STEP] = add_i64(out->device[i][STAGE_STEP], *cell);
            }
            stage_total *total = &out->total[s];
            total->device_max = i ? max_i64(total->device_max, *cell) : *cell;
            total->device_min = i ? min_i64(total->device_min, *cell) : *cell;
        }
    for (int s = 0; s < N_STAGES; s++) {
        out->total[s].device = by_stage[s];
        out->total[STAGE_STEP].device = add_i64(out->total[STAGE_STEP].device, by_stage[s]);
    }
}

status stage_times_make(const selection *s, const step_spans *steps, arena *a, stage_times *out,
                        error *err) {
    context c = {.t = s->t, .select = s, .steps = steps, .arena = a};
    stage_times made = {.arena = a,
                        .host = arena_array(a, (size_t)steps->n + 1, sizeof *made.host),
                        .device = arena_array(a, (size_t)steps->n + 1, sizeof *made.device)};
    uint32_t *by_step = ARENA_ARRAY(a, uint32_t, (size_t)s->t->kernel.n + 1);
    uint32_t *by_stage = ARENA_ARRAY(a, uint32_t, (size_t)s->t->kernel.n + 1);
    int64_t *ns_by_step = ARENA_ARRAY(a, int64_t, ((size_t)steps->n + 1) * N_STAGES);
    int64_t ns_by_stage[N_STAGES] = {0};
    if (!made.host || !made.device || !by_step || !by_stage || !ns_by_step) FAIL_MEMORY(err);
    TRY(stages_find(s->t, a, &made.segments, err));
    add_host_times(&c, &made);
    make_keys(&c, &made.segments, by_step, by_stage);
    TRY(unite_by_key(&c, by_step, ns_by_step, err));
    TRY(unite_by_key(&c, by_stage, ns_by_stage, err));
    sum_device(&c, ns_by_step, ns_by_stage, &made);
    *out = made;
    return OK;
}

/* ---- kinds of events in each stage ------------------------------------------------------- */

/* The kinds of host events a reader wants to see by stage. */
static const bool listed[N_KINDS] = {
    [KIND_OP] = true,       [KIND_ANNOTATION] = true, [KIND_COLLECTIVE] = true,
    [KIND_RUNTIME] = true,  [KIND_DRIVER] = true,     [KIND_SYNC] = true,
    [KIND_PYTHON] = true,   [KIND_MODULE] = true,     [KIND_OVERHEAD] = true,
    [KIND_OP_PHASE] = true, [KIND_FRAMEWORK] = true,  [KIND_GARBAGE] = true,
    [KIND_COMPILE] = true,  [KIND_IMPORT] = true,
};

/* The steps' host time cut into pieces of one stage each, `other` among them, by time. */
static status cut_steps(const context *c, const stage_segments *segments, stage_segments *out,
                        error *err) {
    stage_segments made = {.cap = 2 * segments->n + 2 * (size_t)c->steps->n + 2};
    made.v = ARENA_ARRAY(c->arena, stage_segment, made.cap);
    if (!made.v) FAIL_MEMORY(err);
    int64_t at = INT64_MIN;
    size_t next = 0;
    for (uint32_t i = 0; i < c->steps->n; i++) {
        interval step = host_range(c, i);
        at = max_i64(at, step.start);
        while (next < segments->n && segments->v[next].range.end <= at) next++;
        while (at < step.end) {
            const stage_segment *s = next < segments->n ? &segments->v[next] : NULL;
            stage which = s && s->range.start <= at ? s->stage : STAGE_OTHER;
            int64_t end = !s ? step.end : which == STAGE_OTHER ? s->range.start : s->range.end;
            if (made.n == made.cap) BUG("more pieces than ends of segments and steps");
            made.v[made.n++] =
                (stage_segment){.range = {at, min_i64(end, step.end)}, .stage = which};
            at = made.v[made.n - 1].range.end;
            if (s && at >= s->range.end) next++;
        }
    }
    *out = made;
    return OK;
}

/* Counts the starts of one thread's events by the piece they lie in; both ascend. */
static void count_starts(const trace *t, uint32_t track, const stage_segments *pieces,
                         stage_event (*out)[N_KINDS]) {
    size_t at = 0;
    for (uint32_t i = t->track.first[track]; i && i < t->track.end[track]; i++) {
        if (!listed[t->slice.kind[i]]) continue;
        int64_t start = t->slice.start[i];
        while (at < pieces->n && pieces->v[at].range.end <= start) at++;
        if (at < pieces->n && pieces->v[at].range.start <= start)
            out[pieces->v[at].stage][t->slice.kind[i]].calls++;
    }
}

static status add_host_events(const context *c, const stage_segments *segments,
                              stage_event (*out)[N_KINDS], error *err) {
    const trace *t = c->t;
    stage_segments pieces = {0};
    TRY(cut_steps(c, segments, &pieces, err));
    intervals by_kind[N_KINDS], by_stage[N_STAGES];
    for (int k = 0; k < N_KINDS; k++) by_kind[k] = intervals_in(c->arena);
    for (int s = 0; s < N_STAGES; s++) by_stage[s] = intervals_in(c->arena);
    for (size_t i = 0; i < pieces.n; i++)
        intervals_add(&by_stage[pieces.v[i].stage], pieces.v[i].range.start,
                      pieces.v[i].range.end);
    for (uint32_t track = 1; track < t->track.n; track++) count_starts(t, track, &pieces, out);
    for (uint32_t i = 1; i < t->slice.n; i++)
        if (listed[t->slice.kind[i]])
            intervals_add(&by_kind[t->slice.kind[i]], t->slice.start[i], slice_end(t, i));
    for (int k = 0; k < N_KINDS; k++) {
        intervals_merge(&by_kind[k]);
        for (int s = 0; s < N_STAGES; s++) {
            intervals both = intervals_and(&by_stage[s], &by_kind[k]);
            if (both.failed) FAIL_MEMORY(err);
            out[s][k].ns = intervals_ns(&both);
            intervals_drop(&both);
        }
        intervals_drop(&by_kind[k]);
    }
    for (int s = 0; s < N_STAGES; s++) intervals_drop(&by_stage[s]);
    arena_drop(c->arena, pieces.v, pieces.cap * sizeof *pieces.v);
    return OK;
}

status stage_events_make(const selection *s, const step_spans *steps, const stage_times *times,
                         stage_event (*out)[N_KINDS], error *err) {
    arena *a = times->arena;
    const stage_segments *segments = &times->segments;
    const trace *t = s->t;
    context c = {.t = t, .select = s, .steps = steps, .arena = a};
    uint32_t *key = ARENA_ARRAY(a, uint32_t, (size_t)t->kernel.n + 1);
    int64_t ns[N_STAGES * N_KINDS] = {0};
    if (!key) FAIL_MEMORY(err);
    memset(out, 0, sizeof *out * N_STAGES);
    TRY(add_host_events(&c, segments, out, err));
    for (uint32_t k = 1; k < t->kernel.n; k++) {
        key[k] = NO_KEY;
        uint8_t kind = t->slice.kind[t->kernel.slice[k]];
        if (!kind_is_device(kind) || !step_at(&c, launch_time(t, k))) continue;
        stage which = stage_at(segments, launch_time(t, k));
        key[k] = (uint32_t)which * N_KINDS + kind;
        out[which][kind].calls++;
    }
    TRY(unite_by_key(&c, key, ns, err));
    for (int i = 0; i < N_STAGES * N_KINDS; i++)
        if (kind_is_device((uint8_t)(i % N_KINDS))) out[i / N_KINDS][i % N_KINDS].ns = ns[i];
    return OK;
}
