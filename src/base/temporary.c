/* temporary.c: locks (flock) tell whether the program that made a folder or file still runs.
 *
 * Between mkdir and the lock a folder briefly has no owner, so anything younger than QUIET_S is
 * left alone. Only what belongs to this user is removed, and links are not followed, since
 * every user may write to the folder for temporary files. */
#include "base/temporary.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"

enum { QUIET_S = 2, MOST_LEVELS = 512, RANDOM_BYTES = 6 };

static void remove_in(int in, const char *name, int levels) {
    int fd = openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d && fd >= 0) close(fd);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        if (unlinkat(fd, e->d_name, 0) != 0 && levels > 0) remove_in(fd, e->d_name, levels - 1);
    }
    if (d) closedir(d);
    (void)unlinkat(in, name, AT_REMOVEDIR);
}

void temporary_remove(const char *path) {
    remove_in(AT_FDCWD, path, MOST_LEVELS);
}

void temporary_hold(int fd) {
    (void)flock(fd, LOCK_EX | LOCK_NB);
}

bool temporary_is_left(int folder, const char *name) {
    struct stat st;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool left = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
                sub_i64(time(NULL), st.st_mtim.tv_sec) > QUIET_S &&
                sub_i64(time(NULL), st.st_ctim.tv_sec) > QUIET_S &&
                flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (fd >= 0) close(fd);
    return left;
}

/* `prefix`: the name without its random end. */
static void remove_left(const char *folder, const char *prefix) {
    DIR *d = opendir(folder);
    size_t n = strlen(prefix);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strncmp(e->d_name, prefix, n) != 0 || strlen(e->d_name) != n + RANDOM_BYTES)
            continue;
        if (temporary_is_left(dirfd(d), e->d_name)) remove_in(dirfd(d), e->d_name, MOST_LEVELS);
    }
    if (d) closedir(d);
}

int temporary_folder(char *path) {
    char folder[PATH_MAX], prefix[NAME_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n_folder = slash ? (size_t)(slash - path) : 0, n = strlen(name);
    if (slash && n_folder && n_folder < sizeof folder && n > RANDOM_BYTES &&
        n < sizeof prefix) {
        memcpy(folder, path, n_folder);
        folder[n_folder] = 0;
        memcpy(prefix, name, n - RANDOM_BYTES);
        prefix[n - RANDOM_BYTES] = 0;
        remove_left(folder, prefix);
    }
    if (!mkdtemp(path)) return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) temporary_hold(fd);
    return fd;
}
