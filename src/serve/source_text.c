/* source_text.c: finds a source file on this disk and reads it.
 *
 * A trace often comes from another machine or container: /workspace/job/train.py is looked for
 * as it is, then in the root as workspace/job/train.py, job/train.py and train.py. A relative
 * path is only looked for in the root.
 *
 * The file is opened once and everything is decided by what was opened, so that nothing changes
 * between a check and the reading. */
#include "serve/source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* The file without its links; false with errno. */
static bool resolve(str folder, str file, char out[PATH_MAX]) {
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%.*s%s%.*s", STR_ARG(folder), folder.n ? "/" : "",
                     STR_ARG(file));
    if (n < 0 || (size_t)n >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    return realpath(path, out) != NULL;
}

/* A path with a part that leads up is not inside the root. */
static bool leads_up(str file) {
    return str_starts(file, STR("../")) || str_find(file, STR("/../"), 0) != SIZE_MAX;
}

static bool is_inside(const char *path, str root) {
    return strncmp(path, root.p, root.n) == 0 && (path[root.n] == '/' || root.n == 1);
}

static bool find_in_root(const source_wish *w, char out[PATH_MAX]) {
    errno = ENOENT;
    if (!w->root.n || leads_up(w->file)) return false;
    for (str rest = w->file; rest.n;) {
        while (rest.n && rest.p[0] == '/') rest = str_from(rest, 1);
        if (rest.n && resolve(w->root, rest, out) && is_inside(out, w->root)) return true;
        size_t slash = str_find(rest, STR("/"), 0);
        rest = slash == SIZE_MAX ? STR_NONE : str_from(rest, slash + 1);
    }
    errno = ENOENT;
    return false;
}

static bool find_file(const source_wish *w, char out[PATH_MAX]) {
    bool absolute = w->file.n && w->file.p[0] == '/';
    return (absolute && resolve(STR_NONE, w->file, out)) || find_in_root(w, out);
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

static source_state read_open(int fd, const source_wish *w, buf *out) {
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return SOURCE_NO_CODE;
    if (st.st_size > SOURCE_MOST_BYTES) return SOURCE_TOO_LARGE;
    source_state s = read_all(fd, (size_t)st.st_size, out);
    return s == SOURCE_SAME ? age_of(&st, w->recorded_unix_ns) : s;
}

source_state source_text_read(const source_wish *w, buf *out) {
    char path[PATH_MAX];
    if (!is_code(w->file)) return SOURCE_NO_CODE;
    if (!find_file(w, path)) return errno == EACCES ? SOURCE_DENIED : SOURCE_ABSENT;
    if (!is_code(str_of(path))) return SOURCE_NO_CODE;
    /* A pipe must not hold the thread that opens it. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return errno == EACCES || errno == EPERM ? SOURCE_DENIED : SOURCE_ABSENT;
    source_state s = read_open(fd, w, out);
    close(fd);
    return s;
}
