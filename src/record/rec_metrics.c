/* rec_metrics.c: live numbers as Prometheus' text, in a file or over HTTP (rec_port.c).
 *
 * The file is written under a temporary name and renamed, so a reader never sees a part of
 * it. */
#include "record/rec_metrics.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/rec_live.h"
#include "record/rec_port.h"

enum { TEXT_BYTES = 8192 };

REC_MUTEX(static, lock); /* what is wanted */
static char folder[3072];
static int metrics_port, trigger_port;
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

void rec_metrics_ports(int *metrics, int *trigger) {
    wanted w = what_is_wanted();
    *metrics = w.port;
    *trigger = w.trigger_port;
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

void rec_metrics_end(void) {
    if (file_path[0]) (void)unlink(file_path);
    file_path[0] = 0;
}

void rec_metrics_forked(void) {
    rec_port_forked();
    file_path[0] = 0;
}
