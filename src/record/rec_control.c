/* rec_control.c: how another program asks this one to record: `tacho attach`.
 *
 * A stream socket PID.sock in a folder that only its owner may enter ($XDG_RUNTIME_DIR/tacho, else
 * /tmp/tacho-UID, which is refused when it belongs to somebody else). Whoever connects must be the
 * same user, the system says so. One line is asked, lines are answered:
 *
 *     record SECONDS FLAGS PATH   ->  started FILE, and when the time is over: done FILE
 *     trigger WHY                 ->  done FILE         (flight recorder)
 *     status                      ->  recording FILE | idle
 *     anything that cannot be     ->  failed REASON
 *
 * FLAGS are letters: s shapes, m memory, t stacks, d device, or -. Everything happens on the helper's
 * thread; a client that hangs costs it 200 ms and no more. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/rec_int.h"

enum { LINE_BYTES = 4096, READ_MS = 200 };

/* Of the helper's thread alone. */
static int client = -1; /* who waits for the end of what it asked for */
static int64_t deadline_ns;

static bool folder_name(char *to, size_t size) {
    const char *run = getenv("XDG_RUNTIME_DIR");
    struct stat st;
    if (run && *run == '/')
        snprintf(to, size, "%s/tacho", run);
    else
        snprintf(to, size, "/tmp/tacho-%u", (unsigned)geteuid());
    (void)mkdir(to, 0700);
    return lstat(to, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           (st.st_mode & 077) == 0;
}

static bool socket_name(struct sockaddr_un *to) {
    char folder[64];
    *to = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!folder_name(folder, sizeof folder)) return false;
    int n = snprintf(to->sun_path, sizeof to->sun_path, "%s/%d.sock", folder, (int)getpid());
    return n > 0 && (size_t)n < sizeof to->sun_path;
}

int rec_control_open(void) {
    struct sockaddr_un name;
    if (!socket_name(&name)) return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    (void)unlink(name.sun_path); /* of a process that had our number before */
    if (bind(fd, (struct sockaddr *)&name, sizeof name) != 0 ||
        chmod(name.sun_path, 0600) != 0 || listen(fd, 4) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

void rec_control_close(int listening, bool remove) {
    struct sockaddr_un name;
    close(listening);
    if (remove && socket_name(&name)) (void)unlink(name.sun_path);
    if (!remove) client = -1, deadline_ns = 0;
}

static void say(int fd, const char *word, const char *text) {
    char line[LINE_BYTES + 64];
    int n = snprintf(line, sizeof line, "%s %s\n", word, text);
    if (n > 0) (void)!send(fd, line, (size_t)n, MSG_NOSIGNAL);
}

static bool is_same_user(int fd) {
    struct ucred who;
    socklen_t n = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 &&
           (who.uid == geteuid() || who.uid == 0);
}

static bool read_line(int fd, char *to, size_t size) {
    size_t at = 0;
    int64_t until = rec_clock_ns(CLOCK_MONOTONIC) + READ_MS * 1000000;
    while (at + 1 < size) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = (until - rec_clock_ns(CLOCK_MONOTONIC)) / 1000000;
        if (left <= 0 || poll(&p, 1, (int)left) <= 0) return false;
        ssize_t n = recv(fd, to + at, size - 1 - at, 0);
        if (n <= 0) return false;
        at += (size_t)n;
        to[at] = 0;
        char *end = strchr(to, '\n');
        if (!end) continue;
        *end = 0;
        return true;
    }
    return false;
}

/* ---- requests; each says whether the connection stays open ---- */

static bool start_for(int fd, const char *line) {
    double seconds = 0;
    char flags[16] = "", path[LINE_BYTES];
    if (sscanf(line, "record %lf %15s %4095[^\n]", &seconds, flags, path) != 3 ||
        !(seconds > 0 && seconds < 1e6)) {
        say(fd, "failed", "not understood");
        return false;
    }
    tacho_options o = {.size = sizeof o,
                       .path = path,
                       .shapes = strchr(flags, 's') != NULL,
                       .memory = strchr(flags, 'm') != NULL,
                       .stacks = strchr(flags, 't') != NULL,
                       .device = strchr(flags, 'd') != NULL,
                       .listen = 1};
    int result = client >= 0 ? TACHO_BUSY : rec_start(&o, true);
    if (result != TACHO_OK) {
        say(fd, "failed", result == TACHO_BUSY ? "busy" : tacho_error());
        return false;
    }
    (void)tacho_path(path, sizeof path);
    say(fd, "started", path);
    client = fd;
    deadline_ns = rec_clock_ns(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9);
    return true;
}

static bool pull_trigger(int fd, const char *why) {
    char path[LINE_BYTES] = "";
    if (tacho_trigger(why) != TACHO_OK) {
        say(fd, "failed", "no flight recorder is running");
        return false;
    }
    (void)tacho_path(path, sizeof path);
    say(fd, "done", path);
    return false;
}

static bool answer(int fd, const char *line) {
    char path[LINE_BYTES] = "";
    if (strncmp(line, "record ", 7) == 0) return start_for(fd, line);
    if (strncmp(line, "trigger", 7) == 0)
        return pull_trigger(fd, line[7] == ' ' ? line + 8 : "attach");
    if (strcmp(line, "status") == 0) {
        (void)tacho_path(path, sizeof path);
        say(fd, tacho_is_recording() ? "recording" : "idle", path);
        return false;
    }
    say(fd, "failed", "not understood");
    return false;
}

void rec_control_answer(int listening) {
    char line[LINE_BYTES];
    int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    bool stays = is_same_user(fd) && read_line(fd, line, sizeof line) && answer(fd, line);
    if (!stays) close(fd);
}

/* The time is over, or the client went away: both end the recording. */
void rec_control_tick(void) {
    char path[LINE_BYTES] = "", byte;
    if (!deadline_ns) return;
    bool gone = recv(client, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
    if (!gone && rec_clock_ns(CLOCK_MONOTONIC) < deadline_ns) return;
    deadline_ns = 0;
    (void)rec_stop(true, path, sizeof path);
    say(client, "done", path);
    close(client);
    client = -1;
}

int64_t rec_control_deadline(void) {
    return deadline_ns;
}
