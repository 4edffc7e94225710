/* rec_own.c: see the header. A file or socket is known by its device and inode; those of
 * sockets are counted up by the system. Between the check and the use another thread could
 * still close the descriptor and open another there: our numbers are high, so that would take a
 * thousand files of the program within a microsecond, or a dup2 that names just this number.
 *
 * A file is opened at a small number first, there is no other way. So the helper opens none
 * while a program is busy with its descriptors (rec_helper.c). */
#include "record/rec_own.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Below 1,024 the system's table of descriptors has its smallest size but one; programs that
 * have more open get the next free number above. */
enum { LEAST_NUMBER = 960 };

static bool look(int fd, uint64_t *device, uint64_t *inode) {
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) return false;
    *device = (uint64_t)st.st_dev;
    *inode = (uint64_t)st.st_ino;
    return true;
}

void rec_own_take(rec_own *own, int fd) {
    uint64_t device = 0, inode = 0;
    int high = look(fd, &device, &inode) ? fcntl(fd, F_DUPFD_CLOEXEC, LEAST_NUMBER) : -1;
    __atomic_store_n(&own->device, device, __ATOMIC_RELAXED);
    __atomic_store_n(&own->inode, inode, __ATOMIC_RELAXED);
    if (high >= 0) { /* else the limit is lower: it stays where it is */
        if (rec_own_is_same(own, fd)) close(fd);
        fd = high;
    }
    if (!rec_own_is_same(own, fd)) { /* the program took the number before it was copied */
        if (high >= 0) close(high);
        fd = -1;
    }
    __atomic_store_n(&own->fd, fd, __ATOMIC_RELEASE);
}

int rec_own_open(rec_own *own, const char *path, int flags) {
    rec_own_take(own, open(path, flags | O_CLOEXEC | O_NONBLOCK, 0644));
    return own->fd;
}

bool rec_own_is_same(const rec_own *own, int fd) {
    uint64_t device, inode;
    return look(fd, &device, &inode) &&
           device == __atomic_load_n(&own->device, __ATOMIC_RELAXED) &&
           inode == __atomic_load_n(&own->inode, __ATOMIC_RELAXED);
}

int rec_own_fd(const rec_own *own) {
    int code = errno, fd = __atomic_load_n(&own->fd, __ATOMIC_ACQUIRE);
    bool ours = fd >= 0 && rec_own_is_same(own, fd);
    errno = code;
    return ours ? fd : -1;
}

bool rec_own_is_lost(const rec_own *own) {
    return __atomic_load_n(&own->fd, __ATOMIC_RELAXED) >= 0 && rec_own_fd(own) < 0;
}

void rec_own_close(rec_own *own) {
    int fd = rec_own_fd(own);
    __atomic_store_n(&own->fd, -1, __ATOMIC_RELAXED);
    if (fd >= 0) close(fd);
}
