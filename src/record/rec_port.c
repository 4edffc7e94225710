/* rec_port.c: HTTP on ports of the loopback, for metrics and the trigger.
 *
 * The helper has other work, so it never waits for a client: sockets do not block, and a client
 * that has not sent its request within a second, or is the oldest when there are too many, is
 * closed. A request that a browser made for some web page is refused: it has an Origin or a
 * Sec-Fetch-Site, or names another host. A trigger writes to the disk of the user who runs the
 * program, so it is only for the same user, as the system's list of connections shows. */
#include "record/rec_port.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/rec_live.h"
#include "record/rec_metrics.h"
#include "record/rec_trigger.h"

enum { REQUEST_BYTES = 4096, TEXT_BYTES = 8192, CLIENT_MS = 1000 };

static rec_own listening[REC_PORT_LISTENS] = {REC_OWN_NONE, REC_OWN_NONE};
static int listens_at[REC_PORT_LISTENS]; /* ports of the program's options */
static bool has_failed[REC_PORT_LISTENS];
static struct client {
    rec_own own;
    bool is_used;
    int at_port; /* which of the two */
    int64_t since_ns;
    size_t n;
    char head[REQUEST_BYTES];
} clients[REC_PORT_CLIENTS];

/* ---- sockets ---- */

static int open_port(int port) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    char text[128];
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0) (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof name) == 0 && listen(fd, 64) == 0)
        return fd;
    if (fd >= 0) close(fd);
    snprintf(text, sizeof text, "port %d of the loopback is taken: no metrics there", port);
    tacho_note(text);
    return -1;
}

static void drop(struct client *c) {
    if (c->is_used) rec_own_close(&c->own);
    c->is_used = false;
}

void rec_port_sockets(bool records, int to[REC_PORT_SOCKETS]) {
    int ports[REC_PORT_LISTENS];
    int64_t now_ns = rec_clock_ns(CLOCK_MONOTONIC);
    rec_metrics_ports(&ports[0], &ports[1]);
    if (ports[1] == ports[0]) ports[1] = 0;
    for (int i = 0; i < REC_PORT_LISTENS; i++) {
        bool is_other = records && ports[i] != listens_at[i]; /* another recording */
        if (is_other && listens_at[i]) has_failed[i] = false;
        if (is_other || rec_own_is_lost(&listening[i])) rec_own_close(&listening[i]);
        if (records) listens_at[i] = ports[i];
        if (records && listening[i].fd < 0 && ports[i] && !has_failed[i]) {
            int64_t local = rec_local_rank();
            rec_own_take(&listening[i], open_port(ports[i] + (int)(local > 0 ? local : 0)));
            has_failed[i] = listening[i].fd < 0;
        }
        to[i] = rec_own_fd(&listening[i]);
    }
    for (int i = 0; i < REC_PORT_CLIENTS; i++) {
        struct client *c = &clients[i];
        if (c->is_used && now_ns - c->since_ns > CLIENT_MS * 1000000LL) drop(c);
        to[REC_PORT_LISTENS + i] = c->is_used ? rec_own_fd(&c->own) : -1;
    }
}

/* A free place, or that of the client that has been silent for longest. */
static struct client *make_room(void) {
    struct client *oldest = &clients[0];
    for (int i = 0; i < REC_PORT_CLIENTS; i++) {
        if (!clients[i].is_used) return &clients[i];
        if (clients[i].since_ns < oldest->since_ns) oldest = &clients[i];
    }
    drop(oldest);
    return oldest;
}

/* ---- who asks ---- */

static bool parse_row(const char *line, unsigned *local, unsigned *remote, unsigned *uid) {
    unsigned local_host, remote_host;
    return sscanf(line, " %*u: %8X:%4X %8X:%4X %*X %*X:%*X %*X:%*X %*X %u", &local_host, local,
                  &remote_host, remote, uid) == 5 &&
           local_host == htonl(INADDR_LOOPBACK) && remote_host == htonl(INADDR_LOOPBACK);
}

/* The user at the other end of a connection of the loopback, by the row of its own socket. */
static bool find_user(int fd, uid_t *out) {
    struct sockaddr_in here, there;
    socklen_t n = sizeof here, m = sizeof there;
    char line[512], block[4096];
    bool found = false;
    rec_own own;
    if (getsockname(fd, (struct sockaddr *)&here, &n) != 0 ||
        getpeername(fd, (struct sockaddr *)&there, &m) != 0)
        return false;
    int in = rec_own_open(&own, "/proc/net/tcp", O_RDONLY);
    size_t at = 0;
    for (ssize_t n_block; in >= 0 && !found && (n_block = read(in, block, sizeof block)) > 0;)
        for (ssize_t i = 0; i < n_block && !found; i++) {
            unsigned local, remote, uid;
            if (block[i] != '\n') {
                if (at + 1 < sizeof line) line[at++] = block[i];
                continue;
            }
            line[at] = 0;
            at = 0;
            found = parse_row(line, &local, &remote, &uid) && local == ntohs(there.sin_port) &&
                    remote == ntohs(here.sin_port);
            if (found) *out = uid;
        }
    rec_own_close(&own);
    return found;
}

static bool is_owner(int fd) {
    uid_t user;
    return find_user(fd, &user) && (user == geteuid() || user == 0);
}

static const char *header_of(const char *head, const char *name) {
    size_t n = strlen(name);
    for (const char *p = strchr(head, '\n'); p; p = strchr(p + 1, '\n'))
        if (strncasecmp(p + 1, name, n) == 0 && p[1 + n] == ':')
            return p + 2 + n + strspn(p + 2 + n, " \t");
    return NULL;
}

/* Exactly this name, with or without a port. */
static bool is_host(const char *value, const char *name) {
    size_t n = strlen(name);
    if (strncasecmp(value, name, n) != 0) return false;
    const char *rest = value + n;
    if (*rest == ':') rest += 1 + strspn(rest + 1, "0123456789");
    rest += strspn(rest, " \t");
    return *rest == '\r' || *rest == '\n' || *rest == 0;
}

static bool is_from_here(const char *head) {
    const char *host = header_of(head, "Host"), *site = header_of(head, "Sec-Fetch-Site");
    if (header_of(head, "Origin") || (site && strncasecmp(site, "none", 4) != 0)) return false;
    return !host || is_host(host, "localhost") || is_host(host, "127.0.0.1");
}

/* ---- answers ---- */

static void reply(int fd, const char *how, const char *text) {
    char head[256];
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
                     "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                     how, strlen(text));
    (void)!send(fd, head, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void answer_trigger(int fd) {
    char path[4096] = "", text[TEXT_BYTES];
    if (!is_owner(fd)) {
        reply(fd, "403 Forbidden", "only for the user who runs the program\n");
        return;
    }
    int result = rec_trigger_outside("http", "asked for over HTTP", path, sizeof path);
    snprintf(text, sizeof text, "%.4095s\n", path);
    if (result == TACHO_OK)
        reply(fd, "200 OK", text);
    else if (result == TACHO_BUSY)
        reply(fd, "429 Too Many Requests", "this run has written as often as it may\n");
    else
        reply(fd, "503 Service Unavailable", "nothing to write\n");
}

static void answer(int fd, int at_port, const char *head, const rec_file *f) {
    char text[TEXT_BYTES] = "";
    int metrics_port, trigger_port;
    rec_metrics_ports(&metrics_port, &trigger_port);
    bool may_trigger = trigger_port && (trigger_port == metrics_port || at_port == 1);
    if (!is_from_here(head)) {
        reply(fd, "403 Forbidden", "only for programs of this machine\n");
    } else if (strncmp(head, "GET /metrics", 12) == 0 && f) {
        tacho_live_page page;
        rec_live_look(f, &page);
        (void)rec_metrics_text(&page, text, sizeof text);
        reply(fd, "200 OK", text);
    } else if (strncmp(head, "POST /trigger", 13) == 0 && may_trigger) {
        answer_trigger(fd);
    } else {
        reply(fd, "404 Not Found", "GET /metrics, POST /trigger\n");
    }
}

static void accept_client(int which) {
    int from = rec_own_fd(&listening[which]);
    int fd = from < 0 ? -1 : accept4(from, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    struct client *c = make_room();
    c->is_used = true;
    c->at_port = which;
    c->since_ns = rec_clock_ns(CLOCK_MONOTONIC);
    c->n = 0;
    rec_own_take(&c->own, fd);
}

/* Up to the empty line after the head; what follows is not of interest. */
static bool is_head(const char *text) {
    return strstr(text, "\r\n\r\n") || strstr(text, "\n\n");
}

void rec_port_serve(int which, const rec_file *f) {
    if (which < REC_PORT_LISTENS) {
        accept_client(which);
        return;
    }
    struct client *c = &clients[which - REC_PORT_LISTENS];
    int fd = c->is_used ? rec_own_fd(&c->own) : -1;
    ssize_t n = fd < 0 ? 0 : recv(fd, c->head + c->n, sizeof c->head - 1 - c->n, MSG_DONTWAIT);
    if (n > 0) {
        c->n += (size_t)n;
        c->head[c->n] = 0;
        bool whole = is_head(c->head);
        if (whole) answer(fd, c->at_port, c->head, f);
        if (!whole && c->n + 1 < sizeof c->head) return;
    }
    drop(c);
}

void rec_port_forked(void) {
    for (int i = 0; i < REC_PORT_LISTENS; i++) {
        rec_own_close(&listening[i]);
        has_failed[i] = true; /* the port is the parent's */
    }
    for (int i = 0; i < REC_PORT_CLIENTS; i++) drop(&clients[i]);
}
