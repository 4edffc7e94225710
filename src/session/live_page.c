/* live_page.c: reads the pages of a run's folder. The folder may contain anything: a file
 * counts as a page only by its size and magic, its texts are terminated here, and links are not
 * followed. */
#include "session/live_page.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"

bool live_page_read(int folder, const char *name, tacho_live_page *to) {
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return false;
    ssize_t n = pread(fd, to, sizeof *to, 0);
    close(fd);
    if (n != (ssize_t)sizeof *to || memcmp(to->magic, TACHO_LIVE_MAGIC, 8) != 0) return false;
    to->worker[sizeof to->worker - 1] = to->host[sizeof to->host - 1] = 0;
    to->trigger[sizeof to->trigger - 1] = 0;
    return true;
}

bool live_page_is_silent(const tacho_live_page *p, int64_t now_unix_ns) {
    return sub_i64(now_unix_ns, p->written_unix_ns) > LIVE_PAGE_SILENT_NS;
}

bool live_page_is_helper(const tacho_live_page *p) {
    return strstr(p->worker, ".loader_") || strstr(p->worker, ".child_");
}

static DIR *open_pages(const char *run_folder) {
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/" TACHO_LIVE_FOLDER, run_folder);
    if (n <= 0 || (size_t)n >= sizeof path) return NULL;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !d) close(fd);
    return d;
}

recording_state recording_look(const char *run_folder, int64_t now_unix_ns) {
    recording_state s = {.n_steps = -1};
    DIR *d = open_pages(run_folder);
    if (!d) return s;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        tacho_live_page p;
        if (e->d_name[0] == '.' || !live_page_read(dirfd(d), e->d_name, &p)) continue;
        if (live_page_is_helper(&p) || live_page_is_silent(&p, now_unix_ns)) continue;
        s.n_processes++;
        s.n_steps = max_i64(s.n_steps, p.n_steps);
    }
    closedir(d);
    return s;
}
