/* fuzz_ask.h: an analysis asked of a trace that an enemy made: it answers or refuses, and nothing else. */
#ifndef TESTS_FUZZ_ASK_H
#define TESTS_FUZZ_ASK_H

#include "analyse/registry.h"

static inline void ask(trace *t, str name) {
    arena a;
    answer out;
    analysis_trace one = {.trace = t, .rank = ABSENT_I64};
    params p = PARAMS_WHOLE;
    arena_init(&a, 256 << 20);
    (void)!registry_find(name)->run(&(analysis_input){&one, 1}, &p, &a, &out, NULL);
    arena_fini(&a);
}

#endif
