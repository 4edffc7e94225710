/* attach.h: which processes `tacho attach` means, how it talks to them, and windows of
 * recordings. */
#ifndef CLI_ATTACH_H
#define CLI_ATTACH_H

#include "base/arena.h"
#include "base/status.h"

enum { ATTACH_LINE_BYTES = 4400, ATTACH_MOST = 256 };

/* The processes that are meant by a number: the process itself when it records or could; else
 * those below it that do (the program of `tacho record`, the ranks of a launcher). At least one
 * and at most ATTACH_MOST; the list is the arena's. */
status attach_find(arena *a, int64_t pid, int64_t **out, uint32_t *n, error *err) MUST_USE;
/* Of /proc/PID/stat: the state's letter and the parent; false: there is no such process. */
bool attach_parent(int64_t pid, char *state, int64_t *parent);
/* Is it there (and not only waiting to be collected by its parent)? */
bool attach_is_alive(int64_t pid);

/* Sends a line to the recorder of a process; the connection, or -1. */
int attach_send(int64_t pid, const char *line);
/* The next line of an answer, without its end; false: there is none within ten seconds. */
bool attach_read_line(int fd, char *to, size_t size);
/* Both, for requests with one line as answer. */
bool attach_ask(int64_t pid, const char *line, char *to, size_t size);

/* ---- windows of a running recording ---- */

typedef struct {
    uint64_t tick; /* of the recorder's clock */
    int64_t unix_ns;
} attach_moment;

/* Copies the time between two moments out of a recording, which may still be written, into a
 * new file. */
status attach_copy_window(int live, attach_moment from, attach_moment to, const char *path,
                          error *err) MUST_USE;

#endif
