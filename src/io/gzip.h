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
/* A zlib stream (as in PNG: two bytes of head, a checksum at the end) back to its bytes,
 * appended. Damage is not failure: what came before it is there, *damaged says so. */
status zlib_unpack(str packed, buf *out, bool *damaged, error *err) MUST_USE;

#endif
