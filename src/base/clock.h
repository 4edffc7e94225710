/* clock.h: what a clock of the system says, in ns. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/num.h"

static inline int64_t clock_ns(clockid_t which) {
    struct timespec t = {0};
    clock_gettime(which, &t);
    return seconds_ns(t.tv_sec, t.tv_nsec);
}

enum { CLOCK_DATE_BYTES = 64 };
/* A time of day where the reader is, by a format of strftime; false: there is no such time, and
 * the text is unchanged. */
static inline bool clock_date(int64_t unix_ns, const char *format, char to[CLOCK_DATE_BYTES]) {
    time_t seconds = (time_t)(unix_ns / 1000000000);
    struct tm local;
    char text[CLOCK_DATE_BYTES];
    if (!localtime_r(&seconds, &local)) return false;
    size_t n = strftime(text, sizeof text, format, &local);
    if (n) memcpy(to, text, n + 1);
    return n > 0;
}

#endif
