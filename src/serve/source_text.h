/* source_text.h: the text of a source file that a trace names, from this machine's disk.
 *
 * The path is the trace's own, never one of a request: the caller has found the file in a
 * frame of the trace. Even so a trace may name anything, and anyone who may connect may upload
 * one: only regular files in the two folders that are source code by their name (both after
 * links are resolved) and of at most SOURCE_MOST_BYTES are read. */
#ifndef SERVE_SOURCE_TEXT_H
#define SERVE_SOURCE_TEXT_H

#include "base/buf.h"

enum { SOURCE_MOST_BYTES = 2 << 20 };

typedef struct {
    str file; /* as the trace names it */
    /* Folders without links, with a NUL; empty: none. */
    str root;                 /* of the code, where files of other places are looked for, too */
    str served;               /* of the traces */
    int64_t recorded_unix_ns; /* the end of the recording; ABSENT_I64: not known */
} source_wish;

typedef enum {
    SOURCE_SAME,    /* not changed since the recording */
    SOURCE_CHANGED, /* it was: its lines may have moved */
    SOURCE_AGE_UNKNOWN,
    SOURCE_ABSENT, /* from here on there is no text */
    SOURCE_DENIED,
    SOURCE_NO_CODE,
    SOURCE_TOO_LARGE,
} source_state;

/* Appends the text to `out`; nothing where there is none. */
source_state source_text_read(const source_wish *w, buf *out);

#endif
