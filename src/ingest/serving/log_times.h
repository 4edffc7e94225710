/* log_times.h: moments and durations as logs of requests write them. */
#ifndef INGEST_LOG_TIMES_H
#define INGEST_LOG_TIMES_H

#include "base/str.h"

/* UNIT_OF_SIZE: not said. A moment then has the unit that makes it a time of day, or seconds; a
 * duration is in seconds. */
typedef enum { UNIT_OF_SIZE, UNIT_SECONDS, UNIT_MILLI, UNIT_MICRO, UNIT_NANO } time_unit;

/* The name (small letters and digits) without the word for a unit at its end: "ttftms" is
 * "ttft" in milliseconds, "starttimeunixnano" is "starttime" in nanoseconds. As it was when
 * there is none. */
str log_time_unit(str name, time_unit *unit);

/* In ns; a number or an ISO 8601 time of day. False when it is neither, or not below 2^61
 * ns. */
bool log_moment(str value, time_unit unit, int64_t *ns);
/* In ns, not negative. */
bool log_duration(str value, time_unit unit, int64_t *ns);

#endif
