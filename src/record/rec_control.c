/* rec_control.c: how another program asks this one to record: `tacho attach`.
 *
 * A stream socket PID.sock in a folder that only its owner may enter ($XDG_RUNTIME_DIR/tacho,
 * otherwise /tmp/tacho-UID, which is refused when it belongs to another user). The client must
 * be the same user, as the system reports it. One line is asked, lines are answered:
 *
 *     record SECONDS FLAGS PATH[TAB PACKAGE]
 *                                 ->  started FILE, and when the time is over: done FILE
 *     window [SECONDS]            ->  at TICK UNIX_NS FILE (the file that is being written; for
 *                                     so long it stays that one)
 *     flush                       ->  the same, when all device work that has ended is in the
 *                                     file
 *     trigger WHY                 ->  done FILE         (flight recorder)
 *     status                      ->  STATE FILE        (one of STATES below)
 *     anything that cannot be     ->  failed REASON     (a word below, or the system's text)
 *
 * FLAGS are letters: s shapes, m memory, t stacks, d device, or -. A process that records
 * already is not disturbed (failed recording): the client copies what is between `window` and
 * `flush` out of its file. Otherwise a separate recording is made; in a Python program the
 * hooks of PACKAGE come in first (rec_python.c). A client that goes away, or sends no more,
 * ends what it asked for.
 *
 * Everything happens on the helper's thread, but for the start in a Python program, which its
 * main thread makes; a client that hangs costs the helper 200 ms and no more. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/rec_copy.h"
#include "record/rec_trigger.h"

enum { LINE_BYTES = 4096, READ_MS = 200 };

#define HURRY_NS 1000000000   /* a main thread that never gets to it: another one takes over */
#define GIVE_UP_NS 3000000000 /* and none can: without hooks */

static const char *const STATES[] = {[REC_IDLE] = "idle",
                                     [REC_STARTS_LATER] = "later",
                                     [REC_BETWEEN] = "between",
                                     [REC_RECORDING] = "recording",
                                     [REC_IN_FLIGHT] = "flight"};

/* The client that waits for the end of its recording. Used by the helper's thread, except
 * `result`, which the start leaves, wherever that is made. */
static struct {
    rec_own own; /* its connection; none: no client */
    enum { HOOKING, RUNNING } phase;
    int64_t since_ns, until_ns;
    double seconds;
    tacho_options o;
    char path[LINE_BYTES];
    int result;
} client = {.own = REC_OWN_NONE};

static bool rec_control_folder_name(char *to, size_t size) {
    const char *run = secure_getenv("XDG_RUNTIME_DIR");
    struct stat st;
    if (run && *run == '/' && strlen(run) + sizeof "/tacho" <= size)
        snprintf(to, size, "%s/tacho", run);
    else
        snprintf(to, size, "/tmp/tacho-%u", (unsigned)geteuid());
    (void)mkdir(to, 0700);
    return lstat(to, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           (st.st_mode & 077) == 0;
}

static bool socket_name(struct sockaddr_un *to) {
    char folder[sizeof to->sun_path - sizeof "/1234567890.sock" +
                1]; /* a longer one is not used */
    *to = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!rec_control_folder_name(folder, sizeof folder)) return false;
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

void rec_control_remove(void) {
    struct sockaddr_un name;
    if (socket_name(&name)) (void)unlink(name.sun_path);
}

/* The connection of a waiting client is the parent's. */
void rec_control_forked(void) {
    rec_own_close(&client.own);
}

static void rec_control_say(int fd, const char *word, const char *text) {
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

/* ---- a recording for a time ---- */

static void start_client(void) {
    client.result = rec_start(&client.o, true);
}

/* A word of the head above, or what the system said. */
static void rec_control_refuse(int fd, int result) {
    char path[LINE_BYTES];
    if (result != TACHO_BUSY)
        rec_control_say(fd, "failed", tacho_error());
    else
        rec_control_say(fd, "failed",
                        rec_cycle_state(path, sizeof path) == REC_BETWEEN ? "between"
                                                                          : "recording");
}

static void forget_client(void) {
    rec_own_close(&client.own);
    rec_python_release();
}

/* The start has been made. */
static void begin_client(void) {
    char path[LINE_BYTES] = "";
    if (client.result != TACHO_OK) {
        rec_control_refuse(rec_own_fd(&client.own), client.result);
        forget_client();
        return;
    }
    (void)tacho_path(path, sizeof path);
    rec_control_say(rec_own_fd(&client.own), "started", path);
    client.phase = RUNNING;
    client.until_ns = rec_clock_ns(CLOCK_MONOTONIC) + (int64_t)(client.seconds * 1e9);
}

static void begin_without_hooks(void) {
    start_client();
    if (client.result == TACHO_OK)
        tacho_note("attach: the Python interpreter was busy, its hooks are missing");
    begin_client();
}

static void wait_for_hooks(void) {
    int64_t waited = rec_clock_ns(CLOCK_MONOTONIC) - client.since_ns;
    if (rec_python_is_done())
        begin_client();
    else if (waited > GIVE_UP_NS && rec_python_cancel())
        begin_without_hooks();
    else if (waited > HURRY_NS)
        rec_python_hurry();
}

static void end_client(void) {
    char path[LINE_BYTES] = "";
    (void)rec_stop(true, path, sizeof path);
    rec_helper_put_all_away(); /* names of frames are written there */
    rec_control_say(rec_own_fd(&client.own), "done", path);
    forget_client();
}

/* The time is over, or the client went away: both end the recording. */
void rec_control_tick(void) {
    char byte;
    if (client.own.fd < 0) return;
    if (client.phase == HOOKING) {
        wait_for_hooks();
        return;
    }
    int fd = rec_own_fd(&client.own);
    bool gone = fd < 0 || recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
    if (gone || rec_clock_ns(CLOCK_MONOTONIC) >= client.until_ns) end_client();
}

bool rec_control_is_waiting(void) {
    return client.own.fd >= 0;
}

/* ---- requests; each says whether the connection stays open ---- */

static bool read_request(const char *line, char *flags, char **package) {
    if (sscanf(line, "record %lf %15s %4095[^\n]", &client.seconds, flags, client.path) != 3 ||
        !(client.seconds > 0 && client.seconds < 1e6))
        return false;
    *package = strchr(client.path, '\t');
    if (*package) *(*package)++ = 0;
    client.o = (tacho_options){.size = sizeof client.o,
                               .path = client.path,
                               .shapes = strchr(flags, 's') != NULL,
                               .memory = strchr(flags, 'm') != NULL,
                               .stacks = strchr(flags, 't') != NULL,
                               .device = strchr(flags, 'd') != NULL,
                               .listen = 1};
    return true;
}

static bool start_for(int fd, const char *line) {
    char flags[16] = "", path[LINE_BYTES], words[64], *package = NULL;
    if (client.own.fd >= 0) {
        rec_control_say(fd, "failed", "attached");
        return false;
    }
    if (!read_request(line, flags, &package)) {
        rec_control_say(fd, "failed", "not understood");
        return false;
    }
    if (rec_cycle_state(path, sizeof path) != REC_IDLE) {
        rec_control_refuse(fd, TACHO_BUSY);
        return false;
    }
    snprintf(words, sizeof words, "device%s%s%s", client.o.shapes ? ",shapes" : "",
             client.o.memory ? ",memory" : "", client.o.stacks ? ",stacks" : "");
    rec_own_take(&client.own, fd);
    client.phase = HOOKING;
    client.since_ns = rec_clock_ns(CLOCK_MONOTONIC);
    if (package && rec_python_ask(package, words, start_client)) return true;
    start_client();
    begin_client();
    return true;
}

/* Where the clock and the file are. What was to start with the first event starts now. */
static bool show_window(int fd, bool flushes, double seconds) {
    char path[LINE_BYTES], text[LINE_BYTES + 48];
    if (client.own.fd >= 0) {
        rec_control_say(fd, "failed", "attached");
        return false;
    }
    if (rec_cycle_state(path, sizeof path) == REC_STARTS_LATER) rec_start_pending();
    if (flushes) rec_cupti_flush();
    if (seconds > 0 && seconds < 1e6) rec_hold(seconds);
    rec_state state = rec_cycle_state(path, sizeof path);
    tacho_side_clock now = rec_clock_pair();
    snprintf(text, sizeof text, "%llu %lld %s", (unsigned long long)now.tick,
             (long long)now.unix_ns, path);
    if (state >= REC_RECORDING)
        rec_control_say(fd, "at", text);
    else
        rec_control_say(fd, "failed", STATES[state]);
    return false;
}

static bool pull_trigger(int fd, const char *why) {
    char path[LINE_BYTES] = "";
    if (rec_trigger_outside("attach", why, path, sizeof path) != TACHO_OK) {
        rec_control_say(fd, "failed", "no flight recorder");
        return false;
    }
    rec_helper_put_all_away();
    rec_control_say(fd, "done", path);
    return false;
}

static bool answer(int fd, const char *line) {
    char path[LINE_BYTES] = "";
    if (strncmp(line, "record ", 7) == 0) return start_for(fd, line);
    if (strcmp(line, "window") == 0 || strncmp(line, "window ", 7) == 0)
        return show_window(fd, false, strtod(line + 6, NULL));
    if (strcmp(line, "flush") == 0) return show_window(fd, true, 0);
    if (strncmp(line, "trigger", 7) == 0)
        return pull_trigger(fd, line[7] == ' ' ? line + 8 : "attach");
    if (strcmp(line, "status") == 0) {
        rec_state state = rec_cycle_state(path, sizeof path);
        rec_control_say(fd, client.own.fd >= 0 ? "attached" : STATES[state], path);
        return false;
    }
    rec_control_say(fd, "failed", "not understood");
    return false;
}

void rec_control_answer(int listening) {
    char line[LINE_BYTES];
    int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    bool stays = is_same_user(fd) && read_line(fd, line, sizeof line) && answer(fd, line);
    if (!stays) close(fd);
}
