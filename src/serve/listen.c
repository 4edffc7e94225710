/* listen.c: binding a port, and naming its owner when it is taken.
 *
 * The owner is found as `ss -p` does it: the table of sockets gives the inode of the one that
 * listens, and some process has a descriptor that leads to it. That works for own processes, or
 * for all when run by root; otherwise the sentence does without. */
#include "serve/listen.h"

#include "base/message_ids_http.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OFFERED_PORTS = 50 };

/* ---- its owner --------------------------------------------------------------------------- */

/* Inode of the socket that listens on the port, from a table of /proc/net; 0 when none does. */
static unsigned long find_inode(const char *table, uint16_t port) {
    char line[512];
    unsigned long inode = 0;
    FILE *f = fopen(table, "re");
    if (!f) return 0;
    while (!inode && fgets(line, sizeof line, f)) {
        unsigned local_port, state;
        unsigned long number;
        /* sl local_address:port remote_address:port st … uid timeout inode */
        int n =
            sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*u %*u %lu",
                   &local_port, &state, &number);
        if (n == 3 && local_port == port && state == 0x0A) inode = number;
    }
    fclose(f);
    return inode;
}

static bool has_socket(const char *pid, unsigned long inode) {
    char path[300], link[64], wanted[64];
    snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
    snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    DIR *d = opendir(path);
    bool found = false;
    if (!d) return false;
    for (struct dirent *e; !found && (e = readdir(d));) {
        ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof link - 1);
        if (n <= 0) continue;
        link[n] = '\0';
        found = strcmp(link, wanted) == 0;
    }
    closedir(d);
    return found;
}

static void put_process(const char *pid, buf *out) {
    char path[64], name[64] = "";
    snprintf(path, sizeof path, "/proc/%.20s/comm", pid);
    FILE *f = fopen(path, "re");
    if (f && fgets(name, sizeof name, f)) name[strcspn(name, "\n")] = '\0';
    if (f) fclose(f);
    buf_printf(out, "%s (%s)", name[0] ? name : "?", pid);
}

bool listen_owner(uint16_t port, buf *out) {
    unsigned long inode = find_inode("/proc/net/tcp", port);
    if (!inode) inode = find_inode("/proc/net/tcp6", port);
    DIR *d = inode ? opendir("/proc") : NULL;
    bool found = false;
    if (!d) return false;
    for (struct dirent *e; !found && (e = readdir(d));) {
        if (e->d_name[0] < '0' || e->d_name[0] > '9' || !has_socket(e->d_name, inode)) continue;
        put_process(e->d_name, out);
        found = true;
    }
    closedir(d);
    return found;
}

/* ---- binding ----------------------------------------------------------------------------- */

static bool is_loopback(const struct sockaddr *a) {
    if (a->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)a;
        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *in6 = (const void *)a;
    return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

static void set_port(struct sockaddr *a, uint16_t port) {
    if (a->sa_family == AF_INET)
        ((struct sockaddr_in *)(void *)a)->sin_port = htons(port);
    else
        ((struct sockaddr_in6 *)(void *)a)->sin6_port = htons(port);
}

/* A socket that listens, or -1 with errno. */
static int bind_port(const struct addrinfo *to, uint16_t port) {
    int one = 1, fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_storage address;
    if (fd < 0) return -1;
    memcpy(&address, to->ai_addr, to->ai_addrlen);
    set_port((struct sockaddr *)&address, port);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&address, to->ai_addrlen) == 0 && listen(fd, 128) == 0)
        return fd;
    int code = errno;
    close(fd);
    errno = code;
    return -1;
}

static uint16_t real_port(int fd) {
    struct sockaddr_storage address;
    socklen_t n = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &n) != 0) return 0;
    return ntohs(address.ss_family == AF_INET ? ((struct sockaddr_in *)&address)->sin_port
                                              : ((struct sockaddr_in6 *)&address)->sin6_port);
}

/* A socket on the first free one of the next ports; -1 with EADDRINUSE when none is. */
static int bind_next(const struct addrinfo *to, uint16_t port, uint16_t next_ports) {
    for (uint32_t p = port + 1u; p <= UINT16_MAX && p <= (uint32_t)port + next_ports; p++) {
        int fd = bind_port(to, (uint16_t)p);
        if (fd >= 0) return fd;
    }
    errno = EADDRINUSE;
    return -1;
}

/* 0, which takes any, when all are taken. */
static uint16_t next_free(const struct addrinfo *to, uint16_t port) {
    int fd = bind_next(to, port, OFFERED_PORTS);
    if (fd < 0) return 0;
    uint16_t free_port = real_port(fd);
    close(fd);
    return free_port;
}

/* Ports are names, not counts, so they enter sentences as text: without separators. */
enum { PORT_TEXT = 8 };

static status fail_taken(const struct addrinfo *to, uint16_t port, error *err) {
    buf owner = {0};
    char taken[PORT_TEXT], next[PORT_TEXT];
    bool known = listen_owner(port, &owner);
    snprintf(taken, sizeof taken, "%u", port);
    snprintf(next, sizeof next, "%u", next_free(to, port));
    arg args[] = {arg_cstr("port", taken), arg_cstr("next", next),
                  arg_text("owner", buf_str(&owner))};
    error_set(err, ERR_IO, NOPOS, known ? MSG_SERVE_PORT_TAKEN_BY : MSG_SERVE_PORT_TAKEN,
              known ? 3 : 2, args);
    buf_fini(&owner);
    return ERR_IO;
}

static status fail_listening(const char *host, uint16_t port, int code, error *err) {
    FAIL(err, ERR_IO, NOPOS, MSG_SERVE_CANNOT_LISTEN, arg_cstr("host", host),
         arg_id("port", port), arg_cstr("reason", strerror(code)));
}

status listen_open(const char *host, uint16_t port, uint16_t next_ports, listen_socket *out,
                   error *err) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *to = NULL;
    int code = getaddrinfo(host, NULL, &hints, &to);
    if (code != 0 || !to)
        FAIL(err, ERR_ARG, NOPOS, MSG_SERVE_BAD_HOST, arg_cstr("host", host),
             arg_cstr("reason", gai_strerror(code)));
    status s = OK;
    int fd = bind_port(to, port);
    if (fd < 0 && errno == EADDRINUSE) fd = bind_next(to, port, next_ports);
    if (fd < 0 && errno == EADDRINUSE)
        s = fail_taken(to, port, err);
    else if (fd < 0)
        s = fail_listening(host, port, errno, err);
    else
        *out = (listen_socket){.fd = fd,
                               .port = real_port(fd),
                               .loopback = is_loopback(to->ai_addr),
                               .ipv6 = to->ai_family == AF_INET6};
    freeaddrinfo(to);
    return s;
}
