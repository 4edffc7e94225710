/* range.h: two events for LTTng-UST, as its macros want them; bench/record compiles them where LTTng's
 * headers are installed. They carry what ours do: the number of a name. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tacho_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./range.h"

#if !defined(BENCH_LTTNG_RANGE_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_RANGE_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(tacho_bench, begin, LTTNG_UST_TP_ARGS(unsigned, name),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(unsigned, name, name)))
LTTNG_UST_TRACEPOINT_EVENT(tacho_bench, end, LTTNG_UST_TP_ARGS(unsigned, name),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(unsigned, name, name)))

#endif

#include <lttng/tracepoint-event.h>
