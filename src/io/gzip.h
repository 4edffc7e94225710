/* gzip.h: bytes into a gzip stream. */
#ifndef IO_GZIP_H
#define IO_GZIP_H

#include "base/status.h"

/* Everything from one descriptor (a pipe, a file) compressed into another, with the fastest
 * level. ERR_IO when reading or writing fails. */
status gzip_copy(int from, int to, error *err) MUST_USE;

#endif
