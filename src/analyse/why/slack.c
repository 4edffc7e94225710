/* slack.c: how much longer something may take before a step becomes longer.
 *
 * The events of the graph backwards: each passes its slack on to what it follows, plus the time
 * between the two that was not needed. Whatever follows a node comes after it in the events, so
 * its slack is known when its turn comes. Steps end when they did: that is where slack begins
 * to be counted. */
#include "analyse/why/slack.h"

#include "base/bisect.h"
#include "base/num.h"

typedef struct {
    const why_graph *g;
    int64_t *begin, *end; /* by point */
    int64_t *work;
} passer;

static void lower(int64_t *slack, int64_t after_ns, int64_t unused_ns) {
    if (after_ns == SLACK_NONE) return;
    *slack = min_i64(*slack, max_i64(0, add_i64(after_ns, unused_ns)));
}

static void pass_end(const passer *p, uint32_t i) {
    const why_point *point = &p->g->points[i];
    int64_t own = sub_i64(point->end, point->start);
    if (point->waits || why_copy(point))
        own = min_i64(own, min_i64(WAIT_CALL_NS, p->g->launch_ns));
    if (point->waits) lower(&p->work[point->waits], p->end[i], 0);
    if (why_copy(point)) lower(&p->work[point->copy], p->end[i], 0);
    lower(&p->begin[i], p->end[i], sub_i64(sub_i64(point->end, point->start), own));
}

static void pass_begin(const passer *p, uint32_t i) {
    const why_point *point = &p->g->points[i];
    if (point->end <= point->start) pass_end(p, i); /* both are one event */
    if (why_fetched(point)) lower(&p->end[point->fetched], p->begin[i], 0);
    if (!point->before) return;
    int64_t waited = 0; /* for a batch: so much later this thread may come */
    if (why_fetched(point))
        waited = max_i64(
            0, sub_i64(p->g->points[point->fetched].end, p->g->points[point->before].end));
    lower(&p->end[point->before], p->begin[i], waited);
}

static void pass_work(const passer *p, uint32_t k) {
    const why_graph *g = p->g;
    const why_work *w = &g->works[k];
    int64_t start = why_work_start(g, k), slack = p->work[k];
    if (w->point) {
        int64_t since = sub_i64(start, g->points[w->point].start);
        lower(&p->begin[w->point], slack, sub_i64(since, w->latency_ns));
    }
    if (w->before) {
        int64_t since = sub_i64(start, why_work_end(g, w->before));
        lower(&p->work[w->before], slack, sub_i64(since, w->gap_ns));
    }
    if (w->other) lower(&p->work[w->other], slack, 0);
}

uint32_t why_step_of_work(const why_graph *g, uint32_t k) {
    if (g->works[k].step || g->works[k].point) return g->works[k].step;
    int64_t start = why_work_start(g, k);
    uint32_t i = SEARCH_FIRST(s, 0u, g->n_steps, g->steps[s].start_ns <= start);
    return i && start < g->steps[i - 1].end_ns ? i : 0;
}

/* What ends a step may come as late as the step ended. */
static void begin_at_ends(const passer *p) {
    const why_graph *g = p->g;
    for (uint32_t i = 0; i < g->n_steps; i++) {
        const why_step *s = &g->steps[i];
        p->begin[s->end] =
            min_i64(p->begin[s->end], max_i64(0, sub_i64(s->end_ns, g->points[s->end].start)));
    }
    for (uint32_t k = 1; k < g->n_works; k++) {
        uint32_t step = why_step_of_work(g, k);
        if (step)
            p->work[k] = max_i64(0, sub_i64(g->steps[step - 1].end_ns, why_work_end(g, k)));
    }
}

static int64_t *make_none(arena *a, uint32_t n) {
    int64_t *v = arena_alloc(a, ((size_t)n + 1) * sizeof *v);
    for (uint32_t i = 0; v && i <= n; i++) v[i] = SLACK_NONE;
    return v;
}

status why_slack_find(const why_graph *g, arena *a, why_slack *out, error *err) {
    passer p = {.g = g,
                .begin = make_none(a, g->n_points),
                .end = make_none(a, g->n_points),
                .work = make_none(a, g->n_works)};
    if (!p.begin || !p.end || !p.work) FAIL_MEMORY(err);
    begin_at_ends(&p);
    for (uint32_t i = g->n_events; COUNT_DOWN(i);) {
        uint32_t row = why_event_row(g->events[i]);
        switch (why_event_kind(g->events[i])) {
        case EVENT_END: pass_end(&p, row); break;
        case EVENT_BEGIN: pass_begin(&p, row); break;
        case EVENT_WORK: pass_work(&p, row);
        }
    }
    *out = (why_slack){p.begin, p.work};
    return OK;
}
