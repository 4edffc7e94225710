/* call_rows.h: the functions that are open on a thread, as slices.
 *
 *     call_rows c = call_rows_begin(part, track, KIND_PYTHON);
 *     call_rows_sample(&c, stack, n, at_ns);      the stack from now on, outermost first
 *     call_rows_close(&c, 0, end_ns);
 *     call_rows_end(&c);
 *
 * Events of one thread come in the order of their times. */
#ifndef INGEST_CALL_ROWS_H
#define INGEST_CALL_ROWS_H

#include "base/map.h"
#include "base/vec.h"
#include "store/builder.h"

typedef struct {
    part *part;
    uint32_t track;
    uint32_t n_calls; /* so far: the outer of two was opened first */
    uint8_t kind;     /* of all slices */
    vec open;         /* open_call, outermost first */
    map n_open;       /* how often a name is among them */
    bool failed;      /* out of memory */
} call_rows;

call_rows call_rows_begin(part *p, uint32_t track, slice_kind kind);
void call_rows_end(call_rows *c);
/* A function is called. */
void call_rows_open(call_rows *c, uint32_t name, int64_t at);
/* All functions but the first `depth` return. */
void call_rows_close(call_rows *c, size_t depth, int64_t at);
/* Where the innermost open call of this name is; SIZE_MAX: it is not open. What the caller
 * closes then pays for the search. */
size_t call_rows_find(const call_rows *c, uint32_t name);
/* The stack from now on: frames that are already open stay open. */
void call_rows_sample(call_rows *c, const uint32_t *names, size_t n, int64_t at);
/* The thread is in this stack (builder_frame) from now on for so long; 0: not known. */
void call_rows_lines(call_rows *c, uint32_t frame, int64_t at, int64_t dur);

#endif
