/* catalogue_watch.c: the thread that notices changes in the folder of the live catalogue.
 *
 * inotify tells that something happened in one of the folders; what it was is found by looking
 * through the tree again, 0.2 s later, because files come in groups. Where inotify does not
 * reach (network file systems, too many folders) a look every 5 s finds the same, with inotify
 * every 30 s; while a file is growing every second, while a run is being recorded every two. */
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "io/remote.h"
#include "session/catalogue_int.h"

enum { MOST_WATCHES = 4096, MOST_LEVELS = 64 };
enum { SOON_MS = 200, WATCHED_MS = 30000, UNWATCHED_MS = 5000 };
static const int PACE_MS[] = {
    [PACE_QUIET] = WATCHED_MS, [PACE_WRITTEN] = 2000, [PACE_GROWING] = 1000};

typedef struct {
    int fd; /* of inotify, -1 = none */
    int n;  /* watches */
    bool complete;
} watch;

/* Watches a folder and those below it; a folder that is watched already stays so. */
static void watch_tree(watch *w, const char *path, int level) {
    char below[4096];
    if (w->n >= MOST_WATCHES || level > MOST_LEVELS) {
        w->complete = false;
        return;
    }
    uint32_t events = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
                      IN_ONLYDIR | IN_EXCL_UNLINK;
    if (inotify_add_watch(w->fd, path, events) < 0) {
        w->complete = false;
        return;
    }
    w->n++;
    DIR *d = opendir(path);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.' || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN)) continue;
        int n = snprintf(below, sizeof below, "%s/%s", path, e->d_name);
        if (n > 0 && (size_t)n < sizeof below) watch_tree(w, below, level + 1);
    }
    closedir(d);
}

static void watch_all(watch *w, const live *c) {
    w->n = 0;
    w->complete = w->fd >= 0 && c->root;
    if (w->complete) watch_tree(w, c->root, 0);
}

/* Empties the descriptors; true when something happened. */
static bool drain(const watch *w, const live *c) {
    _Alignas(struct inotify_event) char events[4096];
    bool any = false;
    while (w->fd >= 0 && read(w->fd, events, sizeof events) > 0) any = true;
    while (read(c->wake_fd, events, sizeof(uint64_t)) > 0) {}
    return any;
}

static bool take_rescan(live *c) {
    pthread_mutex_lock(&c->lock);
    bool wanted = c->rescan;
    c->rescan = false;
    pthread_mutex_unlock(&c->lock);
    return wanted;
}

/* Waits at most so long; true when it is time to look. */
static bool wait_for_change(const watch *w, live *c, int timeout_ms) {
    struct pollfd fds[] = {{.fd = c->wake_fd, .events = POLLIN},
                           {.fd = w->fd, .events = POLLIN}};
    int n = poll(fds, w->fd >= 0 ? 2 : 1, timeout_ms);
    bool happened = drain(w, c);
    if (n == 0 || take_rescan(c)) return true;
    if (!happened || atomic_load(&c->quit)) return false;
    poll(fds, 1, SOON_MS); /* more is coming; only the end is worth waking up for */
    (void)drain(w, c);
    return true;
}

void *live_watch_thread(void *context) {
    live *c = context;
    live_pace pace = PACE_GROWING; /* what the first look found is not reported: look soon */
    watch w = {.fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
    watch_all(&w, c);
    while (!atomic_load(&c->quit)) {
        bool far = remote_is_url(c->path); /* every look is a request that costs money */
        int timeout = far ? WATCHED_MS : PACE_MS[pace];
        if (!far && !w.complete && timeout > UNWATCHED_MS) timeout = UNWATCHED_MS;
        if (!wait_for_change(&w, c, timeout) || atomic_load(&c->quit)) continue;
        error err;
        if (live_scan(c, &pace, &err) != OK) pace = PACE_GROWING; /* out of memory: try again */
        watch_all(&w, c);
    }
    if (w.fd >= 0) close(w.fd);
    return NULL;
}
