/* clock.h: what a clock of the system says, in ns. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <time.h>

#include "base/num.h"

static inline int64_t clock_ns(clockid_t which) {
    struct timespec t = {0};
    clock_gettime(which, &t);
    return seconds_ns(t.tv_sec, t.tv_nsec);
}

#endif
