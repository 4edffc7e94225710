/* export_int.h: what the forms share: the output and the window. */
#ifndef EXPORT_EXPORT_INT_H
#define EXPORT_EXPORT_INT_H

#include "base/num.h"
#include "export/export.h"
#include "store/args.h"

/* What a process of a trace represents. Kineto gives each device a separate process, with the
 * device's number; streams of other producers are among the threads. */
typedef enum { ROLE_HOST, ROLE_DEVICE, ROLE_SPANS } export_role;

/* The trace, the part of it that was asked for, and where it goes. */
typedef struct {
    const trace *t;
    int64_t from_ns, to_ns; /* in the trace's own time */
    export_value value;
    int fd;
    buf out;
    args_reader *args;
    uint8_t *roles; /* export_role of each process */
    error *err;
    uint64_t *shortened;            /* export.h; may be NULL */
    str table;                      /* of arrow */
    const picture_options *picture; /* of svg; may be NULL */
} export_ctx;

/* Sends the buffer on when it is large enough; each form calls it after every row. */
status export_flush(export_ctx *x) MUST_USE;
/* Sends all of it. */
status export_drain(export_ctx *x) MUST_USE;

static inline status export_row_done(export_ctx *x) {
    return __builtin_expect(x->out.n < 1 << 18, 1) && buf_ok(&x->out) ? OK : export_flush(x);
}

/* The part of a slice inside the window; false when it is outside. An empty slice is inside
 * when its start is. */
bool export_clip(const export_ctx *x, uint32_t slice, int64_t *start_ns, int64_t *end_ns);
static inline bool export_holds(const export_ctx *x, int64_t time_ns) {
    return time_ns >= x->from_ns && time_ns < x->to_ns;
}
static inline bool export_is_whole(const export_ctx *x) {
    return window_is_open((time_window){x->from_ns, x->to_ns});
}

/* Number of a stream: the producer's, or of one that he named by a text its first work's. */
int64_t export_stream(const trace *t, uint32_t track);

status export_chrome(export_ctx *x) MUST_USE;
status export_csv(export_ctx *x) MUST_USE;
status export_stacks(export_ctx *x) MUST_USE;
status export_speedscope(export_ctx *x) MUST_USE;
status export_tacho(export_ctx *x) MUST_USE;
status export_memory_flow(export_ctx *x) MUST_USE;
status export_perfetto(export_ctx *x) MUST_USE;
status export_arrow(export_ctx *x) MUST_USE;
status export_svg(export_ctx *x) MUST_USE;
status export_chakra(export_ctx *x) MUST_USE;

#endif
