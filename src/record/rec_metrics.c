/* rec_metrics.c: live numbers as Prometheus' text, in a file or over HTTP on the loopback.
 *
 * The file is written beside its name and renamed, so a reader never sees a part of it. The
 * port answers GET /metrics, and POST /trigger when a trigger asks for it: a request that a
 * browser made for some web page (it has an Origin, or names another host) is refused. One
 * request at a time, on the helper's thread; a client that hangs costs it 200 ms. */
#include "record/rec_metrics.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/rec_live.h"
#include "record/rec_trigger.h"

enum { REQUEST_BYTES = 4096, TEXT_BYTES = 8192 };

REC_MUTEX(static, lock); /* what is wanted */
static char folder[3072];
static int metrics_port, trigger_port;
static rec_own sockets[REC_METRICS_SOCKETS] = {REC_OWN_NONE, REC_OWN_NONE};
static bool has_failed[REC_METRICS_SOCKETS];
static char file_path[4096];

void rec_metrics_want(const char *where) {
    char *end = NULL;
    long port = where ? strtol(where, &end, 10) : 0;
    bool is_port = where && *where && *end == 0 && port > 0 && port < 65536;
    rec_mutex_lock(&lock);
    metrics_port = is_port ? (int)port : 0;
    snprintf(folder, sizeof folder, "%s", where && !is_port ? where : "");
    pthread_mutex_unlock(&lock);
}

void rec_metrics_want_trigger(int port) {
    rec_mutex_lock(&lock);
    trigger_port = port;
    pthread_mutex_unlock(&lock);
}

typedef struct {
    char folder[sizeof folder];
    int port, trigger_port;
} wanted;

static wanted what_is_wanted(void) {
    wanted w;
    rec_mutex_lock(&lock);
    memcpy(w.folder, folder, sizeof folder);
    w.port = metrics_port;
    w.trigger_port = trigger_port;
    pthread_mutex_unlock(&lock);
    return w;
}

bool rec_metrics_are_wanted(void) {
    wanted w = what_is_wanted();
    return w.port || w.folder[0];
}

/* ---- the text ---- */

/* Backslashes, quotes and ends of lines would end a label. */
static void put_label(char *to, size_t size, const char *text) {
    size_t n = 0;
    for (; *text && n + 2 < size; text++)
        to[n++] =
            (char)(*text == '"' || *text == '\\' || (unsigned char)*text < ' ' ? '_' : *text);
    to[n] = 0;
}

typedef struct {
    char *to;
    size_t size, n;
    char labels[512];
} writer;

static void put(writer *w, const char *name, const char *type, const char *help,
                const char *label, double value) {
    if (w->n >= w->size) return;
    int n =
        snprintf(w->to + w->n, w->size - w->n, "# HELP %s %s\n# TYPE %s %s\n%s{%s%s} %.15g\n",
                 name, help, name, type, name, w->labels, label, value);
    w->n += n > 0 ? (size_t)n : 0;
}

static void put_known(writer *w, const char *name, const char *help, int64_t value,
                      double unit) {
    if (value >= 0) put(w, name, "gauge", help, "", (double)value * unit);
}

size_t rec_metrics_text(const tacho_live_page *p, char *to, size_t size) {
    char worker[256], rank[32] = "";
    writer w = {.to = to, .size = size};
    put_label(worker, sizeof worker, p->worker);
    if (p->rank >= 0) snprintf(rank, sizeof rank, ",rank=\"%lld\"", (long long)p->rank);
    snprintf(w.labels, sizeof w.labels, "worker=\"%s\"%s", worker, rank);
    put(&w, "tacho_steps_total", "counter", "Steps that have ended.", "", (double)p->n_steps);
    put_known(&w, "tacho_step_seconds", "How long the last step took.", p->step_ns, 1e-9);
    put_known(&w, "tacho_step_median_seconds", "Median of the last 64 steps.",
              p->median_step_ns, 1e-9);
    if (p->step_unix_ns >= 0)
        put(&w, "tacho_since_step_seconds", "gauge", "Time since the last step ended.", "",
            (double)(p->written_unix_ns - p->step_unix_ns) * 1e-9);
    put_known(&w, "tacho_device_busy_ratio",
              "Share of the last second in which the device worked.", p->busy_ppm, 1e-6);
    put_known(&w, "tacho_device_memory_bytes", "What the device's allocator has handed out.",
              p->device_bytes, 1);
    put_known(&w, "tacho_host_memory_bytes", "Resident memory of the process.", p->host_bytes,
              1);
    put(&w, "tacho_lost_events_total", "counter", "Events that found no room.", "",
        (double)p->n_lost);
    put(&w, "tacho_triggers_total", "counter", "How often evidence was written.", "",
        (double)p->n_triggers);
    return w.n < size ? w.n : size - 1;
}

void rec_metrics_tick(const tacho_live_page *page) {
    char text[TEXT_BYTES], beside[4096 + 8];
    wanted w = what_is_wanted();
    if (!w.folder[0]) return;
    size_t n = rec_metrics_text(page, text, sizeof text);
    (void)mkdir(w.folder, 0777);
    snprintf(file_path, sizeof file_path, "%s/%s.prom", w.folder, page->worker);
    snprintf(beside, sizeof beside, "%s.tmp", file_path);
    rec_own own;
    if (rec_own_open(&own, beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW) < 0) return;
    int fd = rec_own_fd(&own);
    bool whole = fd >= 0 && write(fd, text, n) == (ssize_t)n;
    rec_own_close(&own);
    if (!whole || rename(beside, file_path) != 0) (void)unlink(beside);
}

/* ---- the port ---- */

static int open_port(int port) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    char text[128];
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0) (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof name) == 0 && listen(fd, 4) == 0)
        return fd;
    if (fd >= 0) close(fd);
    snprintf(text, sizeof text, "port %d of the loopback is taken: no metrics there", port);
    tacho_note(text);
    return -1;
}

void rec_metrics_sockets(bool records, int to[REC_METRICS_SOCKETS]) {
    wanted w = what_is_wanted();
    int ports[REC_METRICS_SOCKETS] = {w.port, w.trigger_port};
    if (ports[1] == ports[0]) ports[1] = 0;
    for (int i = 0; i < REC_METRICS_SOCKETS; i++) {
        if (rec_own_is_lost(&sockets[i])) rec_own_close(&sockets[i]);
        if (records && sockets[i].fd < 0 && ports[i] && !has_failed[i]) {
            int64_t local = rec_local_rank();
            rec_own_take(&sockets[i], open_port(ports[i] + (int)(local > 0 ? local : 0)));
            has_failed[i] = sockets[i].fd < 0;
        }
        to[i] = rec_own_fd(&sockets[i]);
    }
}

/* Up to the empty line after the head; what follows is not of interest. */
static bool is_head(char *text) {
    return strstr(text, "\r\n\r\n") || strstr(text, "\n\n");
}

static void reply(int fd, const char *how, const char *text) {
    char head[256];
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
                     "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                     how, strlen(text));
    (void)!send(fd, head, (size_t)n, MSG_NOSIGNAL);
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static const char *header_of(const char *head, const char *name) {
    size_t n = strlen(name);
    for (const char *p = strchr(head, '\n'); p; p = strchr(p + 1, '\n'))
        if (strncasecmp(p + 1, name, n) == 0 && p[1 + n] == ':')
            return p + 2 + n + strspn(p + 2 + n, " \t");
    return NULL;
}

static bool is_from_here(const char *head) {
    const char *host = header_of(head, "Host");
    if (header_of(head, "Origin")) return false;
    return !host || strncasecmp(host, "localhost", 9) == 0 ||
           strncmp(host, "127.0.0.1", 9) == 0;
}

static void answer(int fd, int which, const char *head, const rec_file *f) {
    char text[TEXT_BYTES] = "";
    bool may_trigger = trigger_port && (trigger_port == metrics_port || which == 1);
    if (!is_from_here(head)) {
        reply(fd, "403 Forbidden", "only for programs of this machine\n");
    } else if (strncmp(head, "GET /metrics", 12) == 0 && f) {
        tacho_live_page page;
        rec_live_look(f, &page);
        (void)rec_metrics_text(&page, text, sizeof text);
        reply(fd, "200 OK", text);
    } else if (strncmp(head, "POST /trigger", 13) == 0 && may_trigger) {
        char path[4096] = "";
        int result = rec_trigger_outside("http", "asked for over HTTP", path, sizeof path);
        snprintf(text, sizeof text, "%.4095s\n",
                 result == TACHO_OK ? path : "nothing to write");
        reply(fd, result == TACHO_OK ? "200 OK" : "503 Service Unavailable", text);
    } else {
        reply(fd, "404 Not Found", "GET /metrics, POST /trigger\n");
    }
}

void rec_metrics_answer(int which, const rec_file *f) {
    char head[REQUEST_BYTES];
    int listening = rec_own_fd(&sockets[which]);
    int fd = listening < 0 ? -1 : accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    if (rec_read_until(fd, head, sizeof head, is_head)) answer(fd, which, head, f);
    close(fd);
}

void rec_metrics_end(void) {
    if (file_path[0]) (void)unlink(file_path);
    file_path[0] = 0;
}

void rec_metrics_forked(void) {
    for (int i = 0; i < REC_METRICS_SOCKETS; i++) {
        rec_own_close(&sockets[i]);
        has_failed[i] = true; /* the port is the parent's */
    }
    file_path[0] = 0;
}
