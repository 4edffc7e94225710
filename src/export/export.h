/* export.h: a trace in other people's forms.
 *
 *     TRY(export_file(t, &(export_options){.form = STR("chrome")}, "out.json", err));
 *
 * Forms: chrome (trace-event JSON as PyTorch's profiler writes it), perfetto (its protobuf),
 * csv (one row for each slice), stacks (folded stacks for flame graphs), speedscope (the same
 * for that viewer), tacho (our own file), memory_flow.svg (time × address as a picture), arrow
 * (one table as an Arrow IPC stream), svg (a picture of the timeline), chakra (a graph of what
 * waits for what, for simulators). Written front to back through one buffer: memory does not
 * grow with the trace (for stacks and speedscope: only with the distinct stacks; for svg a
 * level-of-detail index is made where none is given; for chakra: 50 bytes for each slice). */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "question/window.h"
#include "store/lod.h"
#include "text/text.h"

/* Which time the forms made of stacks show. */
typedef enum { EXPORT_VALUE_NONE = 0, EXPORT_VALUE_HOST, EXPORT_VALUE_DEVICE } export_value;

/* Options of the form svg. */
typedef struct {
    lang words;
    str title;         /* what it is a picture of */
    uint32_t width_px; /* 0: the usual one */
    const lod *lod;    /* of the trace, where the caller has one; NULL: made here */
} picture_options;

typedef struct {
    str form;
    /* Window as offsets from the start of the trace; slices are clipped to it, points outside
     * left out. NULL: the whole trace. tacho takes no window. */
    const time_window *window;
    /* For stacks and speedscope, which show host time when it is not given; an error for
     * others. */
    export_value value;
    /* For the form chrome, where it is not NULL: host slices that were cut because they overlap
     * another one partly, which viewers cannot draw. */
    uint64_t *shortened;
    /* For the form arrow: the table, by its name in SQL; slice when it is empty. */
    str table;
    /* For the form svg; others do not look at it. NULL: in English, untitled. */
    const picture_options *picture;
} export_options;

/* To an open file; a pipe will do. ERR_ARG when the form is not known or takes no window or
 * value, ERR_IO when writing fails, ERR_FORMAT when the trace is a damaged file. */
status export_trace(const trace *t, const export_options *o, int fd, error *err) MUST_USE;

/* To a name; "-" is standard output. Anything else is written under a temporary name and
 * renamed when it is whole: a failure leaves nothing after and the old file in place. A name
 * that is not a plain file (/dev/stdout, a pipe) is written directly. */
status export_file(const trace *t, const export_options *o, const char *path,
                   error *err) MUST_USE;

/* What a file with a worker's trace in this form is called: only bytes that are harmless in a
 * file's name and in a header of HTTP. */
enum { EXPORT_NAME_BYTES = 128 };
void export_name_file(str worker, str form, char to[EXPORT_NAME_BYTES]);

/* Name of the i-th table that has rows, as the form arrow takes it; NULL after the last. */
const char *export_table_name(const trace *t, uint32_t i);
/* Does the form write one of the tables? */
bool export_takes_table(str form);
/* Is a file of the form about one rank, so that several are several files? */
bool export_is_of_one_rank(str form);

/* Name of the i-th form; NULL after the last. */
const char *export_form_name(uint32_t i);

#endif
