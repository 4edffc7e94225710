/* session_helper.c: see session_helper.h. */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/session/session_helper.h"

folder folder_new(void) {
    folder f;
    const char *where = getenv("TMPDIR");
    snprintf(f.path, sizeof f.path, "%.200s/tacho-session-XXXXXX", where ? where : "/tmp");
    assert_non_null(mkdtemp(f.path));
    snprintf(f.cache, sizeof f.cache, "%s/.xdg/tacho", f.path);
    setenv("XDG_CACHE_HOME", in_folder(&f, ".xdg"), 1);
    unsetenv("TACHO_CACHE_LIMIT");
    return f;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where) {
    (void)st, (void)kind, (void)where;
    return remove(path);
}

void folder_gone(folder *f) {
    assert_int_equal(nftw(f->path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

const char *in_folder(const folder *f, const char *name) {
    static char paths[8][1024];
    static unsigned next;
    char *to = paths[next++ % 8];
    snprintf(to, sizeof paths[0], "%s/%s", f->path, name);
    return to;
}

const char *put_file(const folder *f, const char *name, str bytes) {
    const char *path = in_folder(f, name);
    char part[1024];
    for (const char *p = path + 1; (p = strchr(p, '/')); p++) {
        snprintf(part, sizeof part, "%.*s", (int)(p - path), path);
        (void)mkdir(part, 0700);
    }
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.p ? bytes.p : "", bytes.n), bytes.n);
    struct timespec now, then[2];
    clock_gettime(CLOCK_REALTIME, &now);
    then[0] = then[1] = (struct timespec){.tv_sec = now.tv_sec - 10, .tv_nsec = 123456789};
    assert_int_equal(futimens(fd, then), 0);
    close(fd);
    return path;
}

static const char *walk_files(const char *path, const char *ending, const char *but,
                              size_t *n) {
    static char first[1024];
    DIR *d = opendir(path);
    *n = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.' || !str_ends(str_of(e->d_name), str_of(ending))) continue;
        char whole[1024];
        snprintf(whole, sizeof whole, "%s/%s", path, e->d_name);
        if (but && strcmp(whole, but) == 0) continue;
        if ((*n)++ == 0) memcpy(first, whole, sizeof first);
    }
    if (d) closedir(d);
    return first;
}

size_t count_files(const char *path, const char *ending) {
    size_t n;
    (void)walk_files(path, ending, NULL, &n);
    return n;
}

const char *first_file(const char *path, const char *ending) {
    return other_file(path, ending, NULL);
}

const char *other_file(const char *path, const char *ending, const char *not_this) {
    size_t n;
    const char *first = walk_files(path, ending, not_this, &n);
    assert_true(n > 0);
    return first;
}

str small_trace(int n) {
    static char text[1 << 16];
    int at = snprintf(text, sizeof text, "{\"schemaVersion\": 1,\n\"traceEvents\": [\n");
    for (int i = 0; i < n; i++)
        at += snprintf(
            text + at, sizeof text - (size_t)at,
            "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op%d\", \"pid\": 7, "
            "\"tid\": 7, \"ts\": %d, \"dur\": 5},\n",
            i % 5, 1000 + 10 * i);
    at += snprintf(
        text + at, sizeof text - (size_t)at,
        "{\"ph\": \"i\", \"s\": \"g\", \"name\": \"Record Window End\", \"pid\": \"\", "
        "\"tid\": \"\", \"ts\": %d}]}\n",
        2000 + 10 * n);
    return str_n(text, (size_t)at);
}
