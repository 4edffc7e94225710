/* cgroup.c: see the header. /proc/self/cgroup has a line for each hierarchy:
 *
 *     0::/user.slice/job              version 2: one for all
 *     4:cpu,memory:/docker/1f2e       version 1: one for some controllers
 *
 * A container often sees its own group as the root of what is mounted while the path is the one
 * outside. So every group on the way down is read, and those that do not exist do not count.
 */
#include "base/cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/str.h"

enum { MOST_TEXT = 16 << 10 };

/* A limit as the folder of one group tells it; UINT64_MAX: none. */
typedef uint64_t read_limit(const char *folder);

typedef struct {
    str controller;        /* of version 1; its folder has the same name */
    read_limit *one, *two; /* for each version */
} resource;

/* ---- one group --------------------------------------------------------------------------- */

static str read_text(const char *path, char *into, size_t n) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, into, n);
    if (fd >= 0) close(fd);
    return str_trim(str_n(into, got > 0 ? (size_t)got : 0));
}

static str read_in(const char *folder, const char *name, char *into, size_t n) {
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path) return STR_NONE;
    return read_text(path, into, n);
}

/* "max" or a negative number means no limit. */
static uint64_t to_limit(str text) {
    int64_t v;
    return str_to_i64(text, &v) && v > 0 ? (uint64_t)v : UINT64_MAX;
}

static uint64_t read_number(const char *folder, const char *name) {
    char text[64];
    return to_limit(read_in(folder, name, text, sizeof text));
}

static uint64_t memory_of_one(const char *folder) {
    return read_number(folder, "memory.limit_in_bytes");
}

static uint64_t memory_of_two(const char *folder) {
    return read_number(folder, "memory.max");
}

/* So much time in each period. */
static uint64_t processors(uint64_t quota, uint64_t period) {
    if (quota == UINT64_MAX || period == UINT64_MAX) return UINT64_MAX;
    return quota / period + (quota % period != 0);
}

static uint64_t processors_of_one(const char *folder) {
    return processors(read_number(folder, "cpu.cfs_quota_us"),
                      read_number(folder, "cpu.cfs_period_us"));
}

/* "400000 100000" */
static uint64_t processors_of_two(const char *folder) {
    char buffer[64];
    str text = read_in(folder, "cpu.max", buffer, sizeof buffer);
    size_t blank = str_find(text, STR(" "), 0);
    if (blank == SIZE_MAX) return UINT64_MAX;
    return processors(to_limit(str_n(text.p, blank)), to_limit(str_from(text, blank + 1)));
}

static const resource MEMORY = {{"memory", 6}, memory_of_one, memory_of_two};
static const resource PROCESSORS = {{"cpu", 3}, processors_of_one, processors_of_two};

/* ---- all of them ------------------------------------------------------------------------- */

static uint64_t least_on_the_way(const char *mount, str group, read_limit *read_one) {
    uint64_t least = UINT64_MAX;
    for (;;) {
        char path[PATH_MAX];
        int n = snprintf(path, sizeof path, "%s%.*s", mount, STR_ARG(group));
        uint64_t limit = n > 0 && (size_t)n < sizeof path ? read_one(path) : UINT64_MAX;
        if (limit < least) least = limit;
        if (!group.n) return least;
        size_t slash = str_rfind_byte(group, '/');
        group.n = slash == SIZE_MAX ? 0 : slash;
    }
}

static bool has_name(str list, str name) {
    while (list.n) {
        size_t comma = str_find(list, STR(","), 0);
        size_t n = comma == SIZE_MAX ? list.n : comma;
        if (str_eq(str_n(list.p, n), name)) return true;
        list = str_from(list, comma == SIZE_MAX ? n : n + 1);
    }
    return false;
}

static uint64_t limit_of_line(const char *mount, str line, const resource *of) {
    char below[PATH_MAX];
    size_t first = str_find(line, STR(":"), 0);
    size_t second = first == SIZE_MAX ? SIZE_MAX : str_find(line, STR(":"), first + 1);
    if (second == SIZE_MAX) return UINT64_MAX;
    str controllers = str_n(line.p + first + 1, second - first - 1);
    str group = str_from(line, second + 1);
    if (!controllers.n) return least_on_the_way(mount, group, of->two);
    if (!has_name(controllers, of->controller)) return UINT64_MAX;
    int n = snprintf(below, sizeof below, "%s/%s", mount, of->controller.p);
    if (n < 0 || (size_t)n >= sizeof below) return UINT64_MAX;
    return least_on_the_way(below, group, of->one);
}

static uint64_t find_limit(const char *mount, const char *membership, const resource *of) {
    char text[MOST_TEXT];
    str rest = read_text(membership, text, sizeof text);
    uint64_t least = UINT64_MAX;
    while (rest.n) {
        size_t end = str_find(rest, STR("\n"), 0);
        size_t n = end == SIZE_MAX ? rest.n : end;
        uint64_t limit = limit_of_line(mount, str_n(rest.p, n), of);
        if (limit < least) least = limit;
        rest = str_from(rest, end == SIZE_MAX ? n : n + 1);
    }
    return least;
}

uint64_t cgroup_memory_bytes(const char *mount, const char *membership) {
    return find_limit(mount, membership, &MEMORY);
}

uint64_t cgroup_cpus(const char *mount, const char *membership) {
    return find_limit(mount, membership, &PROCESSORS);
}
