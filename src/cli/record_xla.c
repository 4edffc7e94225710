/* record_xla.c: profiles of XLA next to recordings of JAX programs, until they are part of
 * them.
 *
 * Hooks in the program leave a profile as .xla-TIME-PID.pb in the folder of its recording,
 * under a name that ends in .tmp until it is whole (python/tacho/hooks/xla_profile.py). One
 * that is still being written when the recording has ended, because the recording was attached
 * to a program that runs on, is waited for; when the recording has been sealed with what is in
 * it, it is removed. */
#include "cli/record_xla.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/attach.h"

enum { LOOK_MS = 50, MOST_LOOKS = 400 }; /* 20 s: the program comes to it between two calls */

static bool read_header(const char *path, tacho_file_header *to) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return false;
    ssize_t n = pread(fd, to, sizeof *to, 0);
    close(fd);
    return n == (ssize_t)sizeof *to && memcmp(to->magic, TACHO_FILE_MAGIC, 8) == 0 &&
           to->profile == TACHO_FILE_RECORDING;
}

record_profiles record_profiles_of(const char *recording) {
    record_profiles p = {.folder = "."};
    const char *slash = strrchr(recording, '/');
    if (slash) snprintf(p.folder, sizeof p.folder, "%.*s", (int)(slash - recording), recording);
    p.is_known = read_header(recording, &p.header);
    return p;
}

/* Is it a profile of this recording? *whole: it is written. */
static bool is_of(const record_profiles *p, const char *name, bool *whole) {
    long long start, pid;
    int n = 0;
    if (sscanf(name, ".xla-%lld-%lld.pb%n", &start, &pid, &n) != 2 || n == 0) return false;
    *whole = name[n] == 0;
    if (!*whole && strcmp(name + n, ".tmp") != 0) return false;
    int64_t stop = p->header.stop_unix_ns;
    return pid == p->header.pid && start >= p->header.start_unix_ns &&
           (stop <= 0 || start <= stop);
}

/* Calls `visit` for each; how many there are that are not whole. */
static int visit_all(const record_profiles *p, void (*visit)(int folder, const char *name)) {
    int n_unfinished = 0;
    DIR *d = p->is_known ? opendir(p->folder) : NULL;
    if (!d) return 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        bool whole = true;
        if (!is_of(p, e->d_name, &whole)) continue;
        n_unfinished += !whole;
        if (visit) visit(dirfd(d), e->d_name);
    }
    closedir(d);
    return n_unfinished;
}

void record_wait_for_profiles(const record_profiles *p) {
    struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};
    for (int i = 0; i < MOST_LOOKS && visit_all(p, NULL) && attach_is_alive(p->header.pid); i++)
        nanosleep(&pause, NULL);
}

static void remove_one(int folder, const char *name) {
    (void)unlinkat(folder, name, 0);
}

void record_remove_profiles(const record_profiles *p) {
    (void)visit_all(p, remove_one);
}
