/* untraced_steps.c: see untraced_steps.h. A step is bare when the producer timed its passes and
 * no computation was recorded inside them, on the device or on the host; a trace without device
 * work has none. */
#include "analyse/vendor/untraced_steps.h"

#include "base/map.h"

typedef struct {
    const trace *t;
    map by_number;    /* number of a step -> row of table producer_step that holds its passes */
    intervals hidden; /* passes of bare steps */
} finder;

static status map_passes(finder *f, error *err) {
    const trace *t = f->t;
    for (uint32_t g = 1; g < t->producer_step.n; g++) {
        if (t->producer_step.number[g] == ABSENT_I64 ||
            !str_eq(trace_str(t, t->producer_step.stage[g]), STR("forward_backward")))
            continue;
        uint32_t *at = map_at(&f->by_number, (uint64_t)t->producer_step.number[g]);
        if (!at) FAIL_MEMORY(err);
        *at = g;
    }
    return OK;
}

/* The part of the passes that is in the step as it is shown; empty when they are not known. */
static interval passes_of(const finder *f, const step_span *s) {
    uint32_t g = map_get(&f->by_number, (uint64_t)s->number);
    if (g == MAP_NONE) return (interval){0, 0};
    int64_t start = f->t->producer_step.start[g];
    return (interval){max_i64(start, s->start),
                      min_i64(add_i64(start, f->t->producer_step.duration[g]), s->end)};
}

static bool computes_in(const role_ranges *r, interval i) {
    return intervals_ns_in(&r->at[ROLE_KERNEL], i.start, i.end) > 0 ||
           intervals_ns_in(&r->at[ROLE_CPU_EXEC], i.start, i.end) > 0;
}

/* Time of collectives in the bare steps. */
static int64_t comm_in(const untraced_steps *b, const step_spans *steps,
                       const intervals *comm) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < steps->n; i++)
        if (b->bare[i])
            sum = add_i64(sum, intervals_ns_in(comm, steps->v[i].start, steps->v[i].end));
    return sum;
}

static void mark_bare(finder *f, const step_spans *steps, const role_ranges *ranges,
                      untraced_steps *out) {
    for (uint32_t i = 0; i < steps->n; i++) {
        interval passes = passes_of(f, &steps->v[i]);
        if (passes.end <= passes.start || computes_in(ranges, passes)) continue;
        intervals_add(&f->hidden, passes.start, passes.end);
        out->bare[i] = true;
        out->n++;
    }
}

bool untraced_steps_are_all(const summary *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < SUMMARY_N(s, step); i++) {
        const summary_step *row = &SUMMARY_ROWS(s, step)[i];
        if (row->end <= row->start) continue;
        if (row->bare != 1) return false;
        n++;
    }
    return n > 0;
}

status untraced_steps_find(const trace *t, const step_spans *steps, role_ranges *ranges,
                           untraced_steps *out, error *err) {
    intervals *comm = &ranges->at[ROLE_COMMUNICATION];
    finder f = {.t = t, .hidden = intervals_in(comm->arena)};
    *out = (untraced_steps){.bare = ARENA_ARRAY(comm->arena, bool, (size_t)steps->n + 1)};
    if (!out->bare) FAIL_MEMORY(err);
    if (t->producer_step.n < 2) return OK;
    status st = map_passes(&f, err);
    if (st == OK) mark_bare(&f, steps, ranges, out);
    map_fini(&f.by_number);
    if (st != OK || !out->n) return st;
    intervals_merge(&f.hidden);
    out->comm_ns = comm_in(out, steps, comm);
    *comm = intervals_minus(comm, &f.hidden);
    ranges->exposed = intervals_minus(&ranges->exposed, &f.hidden);
    out->outside_ns = comm_in(out, steps, comm);
    if (f.hidden.failed || comm->failed || ranges->exposed.failed) FAIL_MEMORY(err);
    return OK;
}
