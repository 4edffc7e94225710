/* file.h: a sealed trace as one file (docs/FORMAT.md), written whole and read again, table by
 * table.
 *
 * Magic, version, table of contents with a checksum and the largest value of each column;
 * columns raw and 64-byte aligned. A file from elsewhere is hostile: sizes and ids are checked
 * before use. */
#ifndef STORE_FILE_H
#define STORE_FILE_H

#include "store/trace.h"

/* Writes to a temporary name next to `path`, syncs and renames; a failed write leaves no file.
 * `key` (may be empty) is kept in the header: the cache puts there what the trace was made
 * from. */
status file_write(const trace *t, const char *path, str key, error *err) MUST_USE;
/* The same bytes to an open file, front to back (a pipe will do). */
status file_write_fd(const trace *t, int fd, str key, error *err) MUST_USE;

/* Opens a file written by file_write. With a non-empty `key` the header's key must be the same
 * (else ERR_NOT_FOUND: a stale cache; also when there is no such file). ERR_FORMAT when it is
 * damaged or of another version. Checks the structure and the small tables; trace_require
 * checks the others before their first use. Costs the same for any size of trace. */
status file_open(const char *path, str key, trace **out, error *err) MUST_USE;
/* The same for an open file, which stays the caller's; `path` is for messages. */
status file_open_fd(int fd, const char *path, trace **out, error *err) MUST_USE;

/* True when the first bytes are our magic. */
bool file_is_ours(str head);

#endif
