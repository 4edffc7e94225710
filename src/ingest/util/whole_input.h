/* whole_input.h: a source as one piece of memory, for formats whose parts explain each other.
 *
 * Progress counts to one half: what is done with the bytes is the other. */
#ifndef INGEST_UTIL_WHOLE_INPUT_H
#define INGEST_UTIL_WHOLE_INPUT_H

#include "base/buf.h"
#include "ingest/ingest.h"

/* Appends all bytes of the source. ERR_LIMIT above the memory limit of the options. */
status whole_bytes(source *src, const ingest_options *o, buf *out, error *err) MUST_USE;

/* The same for a reader of rows: an empty file is an error, the builder knows the size and the
 * part what the codec lost. `room` bytes after the last one may be looked at; they are 0. */
status whole_input(source *src, const ingest_options *o, builder *b, part *p, size_t room,
                   buf *out, error *err) MUST_USE;

#endif
