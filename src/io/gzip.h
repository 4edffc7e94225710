/* gzip.h: bytes into a gzip stream. */
#ifndef IO_GZIP_H
#define IO_GZIP_H

#include "base/buf.h"
#include "base/status.h"

/* Everything from one descriptor (a pipe, a file) compressed into another, with the fastest
 * level. ERR_IO when reading or writing fails. */
status gzip_copy(int from, int to, error *err) MUST_USE;
/* A text as one stream, packed as small as it gets, appended to a buffer. */
status gzip_pack(str text, buf *out, error *err) MUST_USE;

#endif
