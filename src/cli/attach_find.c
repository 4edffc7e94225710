/* attach_find.c: the processes that `tacho attach PID` means, and the way to their recorders.
 *
 * A recorder listens at PID.sock in its owner's runtime folder, or in /tmp/tacho-UID
 * (rec_control.c). The program's environment and its /tmp may differ from ours: all places are
 * tried. `tacho record` and launchers do not record themselves; naming one of them means the
 * programs it started. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/message_ids_cli.h"
#include "cli/attach.h"
#include "text/text.h"

enum { ANSWER_MS = 10000 };

/* ---- processes --------------------------------------------------------------------------- */

bool attach_parent(int64_t pid, char *state, int64_t *parent) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return false;
    text[n] = 0;
    const char *end = strrchr(text, ')'); /* the name before it may hold anything */
    long long up = 0;
    if (!end || sscanf(end + 1, " %c %lld", state, &up) != 2) return false;
    *parent = up;
    return true;
}

bool attach_is_alive(int64_t pid) {
    char state;
    int64_t parent;
    return attach_parent(pid, &state, &parent) && state != 'Z' && state != 'X';
}

static bool owner_of(int64_t pid, uid_t *uid) {
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%lld", (long long)pid);
    if (stat(path, &st) != 0) return false;
    *uid = st.st_uid;
    return true;
}

static bool contains(const int64_t *list, uint32_t n, int64_t pid) {
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == pid) return true;
    return false;
}

/* Adds the children of those in the list; false when there were none. */
static bool add_children(int64_t *list, uint32_t *n) {
    DIR *d = opendir("/proc");
    uint32_t before = *n;
    if (!d) return false;
    for (struct dirent *e; *n < ATTACH_MOST && (e = readdir(d)) != NULL;) {
        char state, *end;
        int64_t parent, pid = strtoll(e->d_name, &end, 10);
        if (pid <= 0 || *end || !attach_parent(pid, &state, &parent)) continue;
        if (contains(list, *n, parent) && !contains(list, *n, pid)) list[(*n)++] = pid;
    }
    closedir(d);
    return *n > before;
}

/* ---- sockets ----------------------------------------------------------------------------- */

/* Anybody may have made a folder of that name in /tmp, and a socket in it: who listens must be
 * the process itself. The system says who it is. */
static bool is_listener(int fd, int64_t pid) {
    struct ucred who;
    socklen_t n = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 && who.pid == pid;
}

/* A queue that is full is waited for, but not for ever: a stranger's may stay full. */
static bool connect_soon(int fd, const struct sockaddr_un *name) {
    const struct timespec pause = {.tv_nsec = 10000000};
    int flags = fcntl(fd, F_GETFL), left = 100;
    bool in;
    while (!(in = connect(fd, (const struct sockaddr *)name, sizeof *name) == 0) &&
           errno == EAGAIN && left-- > 0)
        (void)nanosleep(&pause, NULL);
    return in && flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0;
}

static bool connect_to(int *fd, const char *folder, int64_t pid) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int n =
        snprintf(name.sun_path, sizeof name.sun_path, "%s/%lld.sock", folder, (long long)pid);
    if (n <= 0 || (size_t)n >= sizeof name.sun_path) return false;
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0) return false;
    if (connect_soon(*fd, &name) && is_listener(*fd, pid)) return true;
    close(*fd);
    *fd = -1;
    return false;
}

static int open_socket(int64_t pid) {
    char folder[256];
    uid_t uid = geteuid();
    const char *run = getenv("XDG_RUNTIME_DIR");
    int fd = -1;
    (void)owner_of(pid, &uid);
    snprintf(folder, sizeof folder, "%s/tacho", run ? run : "");
    if (run && *run && connect_to(&fd, folder, pid)) return fd;
    static const char *const PLACES[] = {"/tmp/tacho-%u", "/run/user/%u/tacho"};
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
        snprintf(folder, sizeof folder, PLACES[i], (unsigned)uid);
        if (connect_to(&fd, folder, pid)) return fd;
    }
    snprintf(folder, sizeof folder, "/proc/%lld/root/tmp/tacho-%u", (long long)pid,
             (unsigned)uid);
    return connect_to(&fd, folder, pid) ? fd : -1;
}

int attach_send(int64_t pid, const char *line) {
    int fd = open_socket(pid);
    size_t n = strlen(line);
    if (fd >= 0 && send(fd, line, n, MSG_NOSIGNAL) == (ssize_t)n) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* A byte at a time: what follows the line stays for the next call. */
bool attach_read_line(int fd, char *to, size_t size) {
    for (size_t at = 0; at + 1 < size;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, ANSWER_MS);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0 || recv(fd, to + at, 1, 0) != 1) return false;
        if (to[at] == '\n') {
            to[at] = 0;
            return true;
        }
        at++;
    }
    return false;
}

bool attach_ask(int64_t pid, const char *line, char *to, size_t size) {
    int fd = attach_send(pid, line);
    if (fd < 0) return false;
    bool ok = attach_read_line(fd, to, size);
    close(fd);
    return ok;
}

/* ---- who is meant ------------------------------------------------------------------------ */

typedef enum { DEAF, LISTENS, RECORDS } standing;

static standing standing_of(int64_t pid) {
    char line[ATTACH_LINE_BYTES];
    if (!attach_ask(pid, "status\n", line, sizeof line)) return DEAF;
    static const char *const BUSY[] = {"recording ", "flight ", "attached "};
    for (size_t i = 0; i < sizeof BUSY / sizeof *BUSY; i++)
        if (strncmp(line, BUSY[i], strlen(BUSY[i])) == 0) return RECORDS;
    return LISTENS;
}

/* Keeps those of the list with this standing; how many. */
static uint32_t keep(int64_t *list, const standing *is, uint32_t n, standing wanted) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (is[i] == wanted) list[kept++] = list[i];
    return kept;
}

static status check_process(int64_t pid, error *err) {
    uid_t uid = 0;
    char number[32];
    if (!attach_is_alive(pid) || !owner_of(pid, &uid))
        FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_ATTACH_NO_PROCESS, arg_id("pid", pid));
    if (geteuid() == 0 || uid == geteuid()) return OK;
    const struct passwd *who = getpwuid(uid);
    snprintf(number, sizeof number, "%u", (unsigned)uid);
    FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_ATTACH_OTHER_USER, arg_id("pid", pid),
         arg_cstr("user", who ? who->pw_name : number));
}

status attach_find(arena *a, int64_t pid, int64_t **out, uint32_t *n, error *err) {
    TRY(check_process(pid, err));
    int64_t *list = ARENA_ARRAY(a, int64_t, ATTACH_MOST);
    standing *is = ARENA_ARRAY(a, standing, ATTACH_MOST);
    if (!list || !is) FAIL_MEMORY(err);
    uint32_t n_all = 1, n_kept = 0;
    list[0] = pid;
    is[0] = standing_of(pid);
    if (is[0] != RECORDS) {
        while (add_children(list, &n_all)) {}
        for (uint32_t i = 1; i < n_all; i++) is[i] = standing_of(list[i]);
    }
    bool itself = is[0] == LISTENS;
    n_kept = keep(list, is, n_all, RECORDS);
    if (n_kept == 0 && itself) n_kept = 1; /* list[0] is still it */
    if (n_kept == 0) n_kept = keep(list, is, n_all, LISTENS);
    if (n_kept == 0) FAIL(err, ERR_NOT_FOUND, NOPOS, MSG_ATTACH_NOT_THERE, arg_id("pid", pid));
    *out = list;
    *n = n_kept;
    return OK;
}
