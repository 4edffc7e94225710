/* rec_clock.h: the counter that stamps events, and how it becomes nanoseconds later. */
#ifndef RECORD_REC_CLOCK_H
#define RECORD_REC_CLOCK_H

#include <tacho/format.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

extern uint32_t rec_clock_kind; /* TACHO_CLOCK_*; set once, before the first event */

static inline int64_t rec_clock_ns(clockid_t which) {
    struct timespec t;
    clock_gettime(which, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Never 0. On x86 the counter is read without a fence: an event may be a few ns early, which
 * costs nothing, where a fence costs as much as the event. */
static inline uint64_t rec_tick(void) {
#if defined(__x86_64__)
    if (__builtin_expect(rec_clock_kind == TACHO_CLOCK_TSC, 1)) return __rdtsc();
#elif defined(__aarch64__)
    uint64_t v;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
    return v;
#endif
    return (uint64_t)rec_clock_ns(CLOCK_MONOTONIC);
}

void rec_clock_init(void);
/* The three clocks at one moment: the tightest of a few attempts. */
tacho_side_clock rec_clock_pair(void);
/* The pair of the moment the library was loaded: a second point for recordings that end
 * early. */
tacho_side_clock rec_clock_first(void);
/* Ticks in a second; exact for counters of known rate, else measured since the library was
 * loaded (it waits until that is 1 ms ago, so that the measure is good to a few parts in
 * 10,000). */
uint64_t rec_clock_rate(void);
/* The rate when the machine itself says it, else 0. */
uint64_t rec_clock_known_rate(void);

#endif
