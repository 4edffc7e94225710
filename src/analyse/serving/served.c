/* served.c: joins what the steps of a server are with when they ran.
 *
 * A step without an iteration (a warm-up without a batch) is left out, so that the time until
 * the next iteration is a gap. */
#include "analyse/serving/served.h"

#include <stdlib.h>

static int compare(const void *pa, const void *pb) {
    const served_iteration *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->step < b->step ? -1 : a->step > b->step;
}

/* In order, each starting at the end of the one before at the earliest. */
static void settle(served *s) {
    if (s->n) qsort(s->v, s->n, sizeof *s->v, compare);
    for (uint32_t i = 0; i < s->n; i++) {
        served_iteration *one = &s->v[i];
        int64_t before = i ? s->v[i - 1].end : one->start;
        one->start = max_i64(one->start, before);
        one->end = max_i64(one->end, one->start);
        one->gap = sub_i64(one->start, before);
    }
}

status served_find(const trace *t, arena *a, served *out, error *err) {
    iteration *kinds;
    uint32_t n;
    step_spans spans;
    selection all = select_all(t);
    *out = (served){0};
    TRY(iterations_find(t, a, &kinds, &n, err));
    if (!n) return OK;
    TRY(step_spans_make(t, &all, a, &spans, err));
    const step_span *first = spans.v - spans.n_warm_up;
    uint32_t n_spans = spans.n_warm_up + spans.n + spans.n_left_out;
    out->v = ARENA_ARRAY(a, served_iteration, (size_t)n_spans + 1);
    if (!out->v) FAIL_MEMORY(err);
    for (uint32_t i = 0; i < n_spans; i++) {
        const step_span *span = &first[i];
        if (!span->row || kinds[span->row].kind == ITERATION_UNKNOWN) continue;
        out->v[out->n++] = (served_iteration){
            .step = span->row, .it = kinds[span->row], .start = span->start, .end = span->end};
    }
    settle(out);
    return OK;
}
