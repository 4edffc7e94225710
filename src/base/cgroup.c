/* cgroup.c: see the header. /proc/self/cgroup has a line for each hierarchy:
 *
 *     0::/user.slice/job              version 2: one for all
 *     4:cpu,memory:/docker/1f2e       version 1: one for some controllers
 *
 * A container often sees its own group as the root of what is mounted while the path is the one
 * outside. So every group on the way down is asked, and those that are not there do not count.
 */
#include "base/cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/num.h"
#include "base/str.h"

enum { MOST_TEXT = 16 << 10 };

static str read_text(const char *path, char *into, size_t n) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, into, n);
    if (fd >= 0) close(fd);
    return str_n(into, got > 0 ? (size_t)got : 0);
}

/* "max", or one page less than 2^63, is no limit. */
static uint64_t read_limit(const char *path) {
    char text[64];
    int64_t v;
    if (!str_to_i64(str_trim(read_text(path, text, sizeof text)), &v) || v <= 0)
        return UINT64_MAX;
    return (uint64_t)v;
}

static uint64_t least_on_the_way(const char *mount, str group, const char *file) {
    uint64_t least = UINT64_MAX;
    for (;;) {
        char path[PATH_MAX];
        int n = snprintf(path, sizeof path, "%s%.*s/%s", mount, STR_ARG(group), file);
        uint64_t limit = n > 0 && (size_t)n < sizeof path ? read_limit(path) : UINT64_MAX;
        if (limit < least) least = limit;
        if (!group.n) return least;
        size_t slash = str_rfind_byte(group, '/');
        group.n = slash == SIZE_MAX ? 0 : slash;
    }
}

static bool names_memory(str controllers) {
    while (controllers.n) {
        size_t comma = str_find(controllers, STR(","), 0);
        size_t n = comma == SIZE_MAX ? controllers.n : comma;
        if (str_eq(str_n(controllers.p, n), STR("memory"))) return true;
        controllers = str_from(controllers, comma == SIZE_MAX ? n : n + 1);
    }
    return false;
}

static uint64_t limit_of_line(const char *mount, str line) {
    char below[PATH_MAX];
    size_t first = str_find(line, STR(":"), 0);
    size_t second = first == SIZE_MAX ? SIZE_MAX : str_find(line, STR(":"), first + 1);
    if (second == SIZE_MAX) return UINT64_MAX;
    str controllers = str_n(line.p + first + 1, second - first - 1);
    str group = str_from(line, second + 1);
    if (!controllers.n) return least_on_the_way(mount, group, "memory.max");
    if (!names_memory(controllers)) return UINT64_MAX;
    int n = snprintf(below, sizeof below, "%s/memory", mount);
    if (n < 0 || (size_t)n >= sizeof below) return UINT64_MAX;
    return least_on_the_way(below, group, "memory.limit_in_bytes");
}

uint64_t cgroup_memory_bytes(const char *mount, const char *membership) {
    char text[MOST_TEXT];
    str rest = read_text(membership, text, sizeof text);
    uint64_t least = UINT64_MAX;
    while (rest.n) {
        size_t end = str_find(rest, STR("\n"), 0);
        size_t n = end == SIZE_MAX ? rest.n : end;
        uint64_t limit = limit_of_line(mount, str_n(rest.p, n));
        if (limit < least) least = limit;
        rest = str_from(rest, end == SIZE_MAX ? n : n + 1);
    }
    return least;
}
