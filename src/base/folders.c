/* folders.c: from the root down, one mkdir after the other. A refusal above the last folder may
 * only mean that it exists and belongs to another user: only the last one counts. */
#include "base/folders.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"

bool folder_exists(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool descriptor_path(int fd, char *out, size_t n) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t got = readlink(link, out, n);
    if (got <= 0 || (size_t)got >= n) return false;
    out[got] = '\0';
    return out[0] == '/';
}

bool folder_holds(const char *folder, const char *path) {
    size_t n = strlen(folder);
    while (n > 0 && folder[n - 1] == '/') n--;
    return strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]);
}

static int make_one(const char *path, unsigned mode) {
    if (fault_point(FAULT_WRITE)) return EACCES;
    if (mkdir(path, mode) == 0) return 0;
    int code = errno;
    return code == EEXIST && folder_exists(path) ? 0 : code == EEXIST ? ENOTDIR : code;
}

int folders_make(const char *path, unsigned mode) {
    char part[PATH_MAX];
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    if (n == 0 || n >= sizeof part) return n ? ENAMETOOLONG : ENOENT;
    memcpy(part, path, n);
    part[n] = '\0';
    for (char *p = part + 1; *p; p++) {
        if (*p != '/') continue;
        *p = '\0';
        (void)make_one(part, mode);
        *p = '/';
    }
    return make_one(part, mode);
}
