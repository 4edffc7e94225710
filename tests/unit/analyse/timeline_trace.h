/* timeline_trace.h: the worked example with a level-of-detail index, for the tests of what the
 * timeline asks. */
#ifndef TESTS_TIMELINE_TRACE_H
#define TESTS_TIMELINE_TRACE_H

#include "example_trace.h"
#include "store/lod.h"

typedef struct {
    fake f;
    example e;
    const trace *t;
    lod *l;
    arena a;
} timeline;

static inline void timeline_init(timeline *x) {
    x->t = example_make(&x->f, &x->e);
    x->l = NULL;
    assert_int_equal(lod_new(x->t, NULL, &x->l, NULL), OK);
    arena_init(&x->a, 0);
}

static inline void timeline_fini(timeline *x) {
    lod_free(x->l);
    arena_fini(&x->a);
    fake_fini(&x->f);
}

/* The i-th lane of a kind. */
static inline uint32_t timeline_lane_id(const timeline *x, lane_kind kind, uint32_t i) {
    for (uint32_t k = 1; k < x->l->n_lanes; k++)
        if (x->l->lanes[k].kind == kind && i-- == 0) return k;
    fail_msg("no such lane");
    return 0;
}

/* The i-th slice of a name. */
static inline uint32_t timeline_slice(const timeline *x, const char *name, uint32_t i) {
    for (uint32_t k = 1; k < x->t->slice.n; k++)
        if (str_eq(trace_slice_name(x->t, k), str_of(name)) && i-- == 0) return k;
    fail_msg("no slice %s", name);
    return 0;
}

#endif
