/* range.c: what a range costs with LTTng-UST, measured as bench/record.c measures ours: `range N` prints
 * the CPU time of this thread for a begin and an end. Whether they are recorded is up to the session
 * that bench/record made before. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "range.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static long long time_ranges(long n) {
    long long before = cpu_ns();
    for (long i = 0; i < n; i++) {
        lttng_ust_tracepoint(tacho_bench, begin, 1u);
        __asm__ volatile("");
        lttng_ust_tracepoint(tacho_bench, end, 1u);
    }
    return cpu_ns() - before;
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 100000;
    (void)time_ranges(10000); /* the first pages */
    printf("ns=%.3f\n", (double)time_ranges(n) / (double)n);
    return 0;
}
