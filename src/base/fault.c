/* fault.c: makes the n-th allocation, read or write fail, once.
 *
 * Each kind has a countdown and a counter. `fault_armed` is the only thing a program without
 * fault injection ever reads; it is written before threads start. Counting is atomic, so a
 * parallel run fails exactly one point too, though which one depends on the schedule.
 *
 * To learn how many points a run passes, arm with UINT64_MAX and read fault_count afterwards.
 * A TACHO_FAULT that cannot be understood arms nothing. */
#include "base/fault.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

bool fault_armed;

static struct {
    uint64_t nth; /* 0: never */
    _Atomic uint64_t passed;
} faults[N_FAULTS];

static const char *const fault_names[N_FAULTS] = {
    [FAULT_ALLOC] = "alloc", [FAULT_READ] = "read", [FAULT_WRITE] = "write"};

void fault_arm(fault_kind kind, uint64_t nth) {
    faults[kind].nth = nth;
    atomic_store(&faults[kind].passed, 0);
    fault_armed = false;
    for (int k = 0; k < N_FAULTS; k++) fault_armed |= faults[k].nth != 0;
}

uint64_t fault_count(fault_kind kind) {
    return atomic_load(&faults[kind].passed);
}

bool fault_hit(fault_kind kind) {
    return atomic_fetch_add(&faults[kind].passed, 1) + 1 == faults[kind].nth;
}

void fault_init(void) {
    const char *at = getenv("TACHO_FAULT");
    while (at && *at) {
        for (int k = 0; k < N_FAULTS; k++) {
            size_t n = strlen(fault_names[k]);
            if (strncmp(at, fault_names[k], n) != 0 || at[n] != ':') continue;
            fault_arm((fault_kind)k, strtoull(at + n + 1, NULL, 10));
        }
        at = strchr(at, ',');
        if (at) at++;
    }
}
