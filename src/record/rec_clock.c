/* rec_clock.c: which counter stamps events, and pairs of it with the system's clocks.
 *
 * An event costs one read of a CPU counter: the TSC where it counts evenly through frequency
 * changes and sleep (the processor says so), CNTVCT on aarch64, else CLOCK_MONOTONIC, which
 * costs four times as much and is always right. Nothing is converted here: pairs of (counter,
 * monotonic, realtime) are kept in the file and the reader fits a line through them.
 *
 * A pair is read as counter, clocks, counter; the attempt with the fewest ticks between the two
 * counter reads is the best one, and that distance says how good it is. */
#include "record/rec_clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { ATTEMPTS = 8, LEAST_BASE_NS = 1000000 };

uint32_t rec_clock_kind = TACHO_CLOCK_MONOTONIC;
static tacho_side_clock first; /* when the library was loaded */

static uint32_t choose_clock(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    if (__get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8)) return TACHO_CLOCK_TSC;
#elif defined(__aarch64__)
    return TACHO_CLOCK_CNTVCT;
#endif
    return TACHO_CLOCK_MONOTONIC;
}

void rec_clock_init(void) {
    if (first.tick) return;
    rec_clock_kind = choose_clock();
    first = rec_clock_pair();
}

tacho_side_clock rec_clock_pair(void) {
    tacho_side_clock best = {.window = UINT64_MAX};
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t before = rec_tick();
        int64_t monotonic = rec_clock_ns(CLOCK_MONOTONIC), wall = rec_clock_ns(CLOCK_REALTIME);
        uint64_t after = rec_tick();
        if (after - before >= best.window) continue;
        best = (tacho_side_clock){.tick = before + (after - before) / 2,
                                  .monotonic_ns = monotonic,
                                  .unix_ns = wall,
                                  .window = after - before};
    }
    return best;
}

tacho_side_clock rec_clock_first(void) {
    return first;
}

uint64_t rec_clock_known_rate(void) {
#if defined(__aarch64__)
    uint64_t hz;
    __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
#else
    return rec_clock_kind == TACHO_CLOCK_MONOTONIC ? 1000000000u : 0;
#endif
}

uint64_t rec_clock_rate(void) {
    uint64_t known = rec_clock_known_rate();
    tacho_side_clock now = rec_clock_pair();
    if (known) return known;
    while (now.monotonic_ns - first.monotonic_ns < LEAST_BASE_NS) now = rec_clock_pair();
    double ticks = (double)(now.tick - first.tick);
    return (uint64_t)(ticks * 1e9 / (double)(now.monotonic_ns - first.monotonic_ns));
}
