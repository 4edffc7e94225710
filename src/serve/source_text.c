/* source_text.c: finds a source file on this disk and reads it.
 *
 * A trace often comes from another machine or container: /workspace/job/train.py is looked for
 * as it is, then in the root as workspace/job/train.py, job/train.py and train.py. A relative
 * path is only looked for in the root.
 *
 * A file is opened without reading first, and everything is decided by what was opened: its
 * path without links must be in one of the folders, and its name that of source code. So
 * nothing changes between the check and the reading, and the other end of a pipe notices
 * nothing. */
#include "serve/source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folders.h"
#include "base/num.h"

/* By the ends of their names. */
static const str code_ends[] = {STR(".py"),  STR(".pyi"), STR(".pyx"), STR(".pxd"),
                                STR(".c"),   STR(".cc"),  STR(".cpp"), STR(".cu"),
                                STR(".cuh"), STR(".h"),   STR(".hpp"), STR(".jl")};

static bool is_code(str path) {
    for (size_t i = 0; i < N_OF(code_ends); i++)
        if (str_ends(path, code_ends[i])) return true;
    return false;
}

/* A descriptor that only stands for the file; -1 with errno. */
static int find(str folder, str file) {
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%.*s%s%.*s", STR_ARG(folder), folder.n ? "/" : "",
                     STR_ARG(file));
    if (n >= 0 && (size_t)n < sizeof path) return open(path, O_PATH | O_CLOEXEC);
    errno = ENAMETOOLONG;
    return -1;
}

/* A path with a part that leads up is not inside the root. */
static bool leads_up(str file) {
    return str_starts(file, STR("../")) || str_find(file, STR("/../"), 0) != SIZE_MAX;
}

static bool is_inside(int fd, str folder) {
    char path[PATH_MAX];
    return folder.n && descriptor_path(fd, path, sizeof path) && folder_holds(folder.p, path);
}

static int find_in_root(const source_wish *w) {
    bool none = !w->root.n || leads_up(w->file);
    for (str rest = none ? STR_NONE : w->file; rest.n;) {
        while (rest.n && rest.p[0] == '/') rest = str_from(rest, 1);
        int fd = rest.n ? find(w->root, rest) : -1;
        if (fd >= 0 && is_inside(fd, w->root)) return fd;
        if (fd >= 0) close(fd);
        size_t slash = str_find(rest, STR("/"), 0);
        rest = slash == SIZE_MAX ? STR_NONE : str_from(rest, slash + 1);
    }
    return -1;
}

/* *denied: it exists, but may not be shown. */
static int find_file(const source_wish *w, bool *denied) {
    bool absolute = w->file.n && w->file.p[0] == '/';
    int fd = absolute ? find(STR_NONE, w->file) : -1;
    if (fd >= 0 && (is_inside(fd, w->root) || is_inside(fd, w->served))) return fd;
    *denied = absolute && (fd >= 0 || errno == EACCES);
    if (fd >= 0) close(fd);
    return find_in_root(w);
}

/* A part of a file that shrinks meanwhile is all of it. */
static source_state read_all(int fd, size_t bytes, buf *out) {
    size_t from = out->n;
    if (!buf_reserve(out, bytes)) return SOURCE_ABSENT;
    while (out->n - from < bytes) {
        ssize_t n = read(fd, out->p + out->n, bytes - (out->n - from));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        out->n += (size_t)n;
    }
    if (out->n == from || !memchr(out->p + from, '\0', out->n - from)) return SOURCE_SAME;
    out->n = from;
    return SOURCE_NO_CODE;
}

static source_state age_of(const struct stat *st, int64_t recorded_unix_ns) {
    if (recorded_unix_ns == ABSENT_I64) return SOURCE_AGE_UNKNOWN;
    int64_t changed = seconds_ns(st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
    return changed > recorded_unix_ns ? SOURCE_CHANGED : SOURCE_SAME;
}

static source_state read_open(int fd, const struct stat *st, const source_wish *w, buf *out) {
    source_state s = read_all(fd, (size_t)st->st_size, out);
    return s == SOURCE_SAME ? age_of(st, w->recorded_unix_ns) : s;
}

/* `found` stands for the file; it is opened again by its number, not by its name. */
static source_state read_found(int found, const source_wish *w, buf *out) {
    char path[PATH_MAX], again[64];
    struct stat st;
    bool known = descriptor_path(found, path, sizeof path) && fstat(found, &st) == 0;
    if (!known || !is_code(str_of(path)) || !S_ISREG(st.st_mode)) return SOURCE_NO_CODE;
    if (st.st_size > SOURCE_MOST_BYTES) return SOURCE_TOO_LARGE;
    snprintf(again, sizeof again, "/proc/self/fd/%d", found);
    int fd = open(again, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return SOURCE_DENIED;
    source_state s = read_open(fd, &st, w, out);
    close(fd);
    return s;
}

source_state source_text_read(const source_wish *w, buf *out) {
    bool denied = false;
    if (!is_code(w->file)) return SOURCE_NO_CODE;
    int found = find_file(w, &denied);
    if (found < 0) return denied ? SOURCE_DENIED : SOURCE_ABSENT;
    source_state s = read_found(found, w, out);
    close(found);
    return s;
}
