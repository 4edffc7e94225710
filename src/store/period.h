/* period.h: does a sequence of names repeat, and where does each round begin? */
#ifndef STORE_PERIOD_H
#define STORE_PERIOD_H

#include "base/arena.h"
#include "base/status.h"

typedef struct {
    const uint32_t *symbols; /* what happens, in order of time; each below n_symbols */
    const uint32_t *calls;   /* what launched it, 0 = not known: one call is in one round */
    const uint8_t *ends;     /* 1: what a loop does once a round, such as a copy to the host */
    uint32_t n, n_symbols;
} period_question;

typedef struct {
    const uint32_t *starts; /* index of the first element of each round */
    uint32_t n;             /* rounds; 0: none were found */
    bool last_is_whole;     /* otherwise the last start is where the last whole round ends */
    double confidence;      /* share of all elements that lie in rounds like their neighbors */
} period;

/* At least three rounds. ERR_MEMORY when the arena is full. */
status period_find(const period_question *q, arena *a, period *out, error *err) MUST_USE;

#endif
