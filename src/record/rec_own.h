/* rec_own.h: descriptors that are still ours.
 *
 * A program may close all descriptors it does not know (daemons do, and children before they
 * run another program) and open other files, which then have our numbers. So no number is used
 * because we once had it: each use checks whether it is still what we opened. */
#ifndef RECORD_REC_OWN_H
#define RECORD_REC_OWN_H

#include <stdbool.h>
#include <stdint.h>

/* A descriptor and what it is a descriptor of. fd < 0: none. Fields are read and written by
 * different threads: a mixture of two is a descriptor that is not ours. */
typedef struct {
    int fd;
    uint64_t device, inode;
} rec_own;
#define REC_OWN_NONE \
    { .fd = -1 }

/* Takes over a descriptor (< 0: none): at a high number, where programs that count on the next
 * small one do not find it, closed by exec. */
void rec_own_take(rec_own *own, int fd);
/* The same for a file that is opened now, briefly: a thread of ours may be held up in the
 * middle, but not by a pipe that others put there. The descriptor, or -1. */
int rec_own_open(rec_own *own, const char *path, int flags);
/* The descriptor when it is still ours, else -1. May be called in a signal handler. */
int rec_own_fd(const rec_own *own);
/* True when there was one and it was closed by others. */
bool rec_own_is_lost(const rec_own *own);
/* True when `fd` is a descriptor of the same file or socket. */
bool rec_own_is_same(const rec_own *own, int fd);
/* Closes it when it is still ours; there is none afterwards. */
void rec_own_close(rec_own *own);

#endif
