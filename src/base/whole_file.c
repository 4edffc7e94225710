/* whole_file.c: nameless until it is whole.
 *
 * A name cannot be given over another one in one step (linkat refuses): then it gets the
 * temporary name first and is renamed. Between the two is the only moment at which a killed
 * program leaves something. */
#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static int open_nameless(const char *path) {
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = mem_alloc(n + 2);
    if (!folder) return -1;
    memcpy(folder, n ? path : ".", n ? n : 1);
    folder[n ? n : 1] = '\0';
    /* The name is given by way of /proc, which a bare chroot lacks. */
    int fd = access("/proc/self/fd", X_OK) == 0
                 ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666)
                 : -1;
    mem_free(folder);
    return fd;
}

bool whole_file_begin(whole_file *f, const char *path) {
    static _Atomic unsigned counter;
    size_t n = strlen(path) + 48;
    *f = (whole_file){.fd = -1, .path = path, .temporary = mem_alloc(n)};
    if (!f->temporary) {
        errno = ENOMEM;
        return false;
    }
    snprintf(f->temporary, n, "%s.%ld.%u.tmp", path, (long)getpid(),
             atomic_fetch_add(&counter, 1));
    f->fd = open_nameless(path);
    if (f->fd < 0) {
        f->fd = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        f->named = f->fd >= 0;
    }
    if (f->fd >= 0) return true;
    int code = errno;
    whole_file_drop(f);
    errno = code;
    return false;
}

static bool give_name(whole_file *f) {
    char here[64];
    snprintf(here, sizeof here, "/proc/self/fd/%d", f->fd);
    if (!f->named) {
        if (linkat(AT_FDCWD, here, AT_FDCWD, f->path, AT_SYMLINK_FOLLOW) == 0) return true;
        if (errno != EEXIST) return false;
        f->named = linkat(AT_FDCWD, here, AT_FDCWD, f->temporary, AT_SYMLINK_FOLLOW) == 0;
    }
    if (!f->named || rename(f->temporary, f->path) != 0) return false;
    f->named = false;
    return true;
}

/* A file server may tell a full disk only now; the name of a nameless file needs it open. */
static bool close_named(whole_file *f) {
    if (!f->named) return true;
    int failed = close(f->fd);
    f->fd = -1;
    return failed == 0;
}

bool whole_file_end(whole_file *f) {
    bool done = close_named(f) && give_name(f);
    int code = errno;
    whole_file_drop(f);
    errno = code;
    return done;
}

void whole_file_drop(whole_file *f) {
    if (f->fd >= 0) close(f->fd);
    if (f->named) (void)unlink(f->temporary);
    mem_free(f->temporary);
    *f = (whole_file){.fd = -1};
}
