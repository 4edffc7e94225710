/* built_run.h: several workers made through the store's builder, asked together. */
#ifndef TESTS_BUILT_RUN_H
#define TESTS_BUILT_RUN_H

#include "built_trace.h"

enum { RUN_MOST = 4 };

typedef struct {
    built w[RUN_MOST];
    analysis_trace traces[RUN_MOST];
    uint32_t n;
    int64_t first_rank;
} built_run;

static inline void run_begin(built_run *r, uint32_t n) {
    assert_true(n <= RUN_MOST);
    r->n = n;
    r->first_rank = 0;
    for (uint32_t i = 0; i < n; i++) built_init(&r->w[i]);
}

/* Answers are those of the first worker: built_table(&r->w[0], …). */
static inline void run_ask(built_run *r, analysis_fn fn) {
    static const char *const names[RUN_MOST] = {"rank0", "rank1", "rank2", "rank3"};
    error err;
    for (uint32_t i = 0; i < r->n; i++) {
        built_seal(&r->w[i]);
        r->traces[i] = (analysis_trace){
            .trace = r->w[i].t, .worker = str_of(names[i]), .rank = r->first_rank + i};
    }
    analysis_input in = {.traces = r->traces, .n_traces = r->n};
    assert_int_equal(fn(&in, &r->w[0].params, &r->w[0].arena, &r->w[0].answer, &err), OK);
}

static inline void run_end(built_run *r) {
    for (uint32_t i = 0; i < r->n; i++) built_fini(&r->w[i]);
}

#endif
