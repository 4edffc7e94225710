/* export.h: a trace in other people's forms.
 *
 *     TRY(export_file(t, &(export_options){.form = STR("chrome")}, "out.json", err));
 *
 * Forms: chrome (trace-event JSON as PyTorch's profiler writes it), csv (one row for each slice),
 * tacho (our own file). Written front to back through one buffer: memory does not grow with the
 * trace. */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "store/trace.h"

typedef struct {
    str form;
    /* Window as offsets from the start of the trace; slices are clipped to it, points outside left
     * out. Both 0 or ABSENT_I64: the whole trace. tacho takes no window. */
    int64_t from_ns, to_ns;
} export_options;

/* To an open file; a pipe will do. ERR_ARG when the form is not known or takes no window, ERR_IO
 * when writing fails, ERR_FORMAT when the trace is a damaged file. */
status export_trace(const trace *t, const export_options *o, int fd, error *err) MUST_USE;

/* To a name; "-" is standard output. Anything else is written under a temporary name and renamed
 * when it is whole: a failure leaves nothing behind and the old file in place. A name that is no
 * plain file (/dev/stdout, a pipe) is written directly. */
status export_file(const trace *t, const export_options *o, const char *path,
                   error *err) MUST_USE;

/* Name of the i-th form; NULL behind the last. */
const char *export_form_name(uint32_t i);

#endif
