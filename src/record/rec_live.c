/* rec_live.c: how this process is doing now.
 *
 * Steps are kept in a ring that one thread writes (the thread that ends a step holds the lock
 * of cycles) and the helper reads: an entry is written before the number of entries says so.
 * The share of time a device was busy is measured along the device's own records, so it does
 * not depend on when CUPTI hands them over; work of several streams at once counts once. */
#include "record/rec_live.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/rec_metrics.h"

enum { MEDIAN_OF = 64, MOST_DEVICES = 16 };
#define PAGE_NS 1000000000

/* ---- steps ---- */

static rec_step steps[REC_STEPS_KEPT];
static uint64_t n_steps, n_ended;
static int64_t last_end_unix_ns;

void rec_live_step(uint64_t number, uint64_t tick, rec_step_how how) {
    bool first = how == REC_STEP_BEGINS;
    uint64_t n = __atomic_load_n(&n_steps, __ATOMIC_RELAXED);
    int64_t now = rec_clock_ns(CLOCK_MONOTONIC);
    rec_step *s = &steps[n % REC_STEPS_KEPT], *before = &steps[(n - 1) % REC_STEPS_KEPT];
    *s = (rec_step){number, tick, now, first || n == 0 ? -1 : now - before->end_ns,
                    how == REC_STEP_SAMPLED};
    if (!first) {
        __atomic_store_n(&last_end_unix_ns, rec_clock_ns(CLOCK_REALTIME), __ATOMIC_RELAXED);
        __atomic_fetch_add(&n_ended, 1, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&n_steps, n + 1, __ATOMIC_RELEASE);
}

void rec_live_begin(void) {
    __atomic_store_n(&n_ended, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&n_steps, 0, __ATOMIC_RELEASE);
}

uint64_t rec_live_n_steps(void) {
    return __atomic_load_n(&n_steps, __ATOMIC_ACQUIRE);
}

/* The writer may come around while we copy: then what was copied is not what was asked for. */
bool rec_live_step_at(uint64_t i, rec_step *out) {
    uint64_t n = rec_live_n_steps();
    if (i >= n || n - i > REC_STEPS_KEPT - 1) return false;
    *out = steps[i % REC_STEPS_KEPT];
    return rec_live_n_steps() - i < REC_STEPS_KEPT;
}

static int rec_live_compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t rec_live_median(uint64_t i, int least) {
    int64_t v[MEDIAN_OF];
    int n = 0;
    rec_step s;
    for (uint64_t k = i; k-- > 0 && n < MEDIAN_OF && i - k <= 2 * MEDIAN_OF;)
        if (rec_live_step_at(k, &s) && s.length_ns >= 0) v[n++] = s.length_ns;
    if (n < least || n == 0) return -1;
    qsort(v, (size_t)n, sizeof *v, rec_live_compare);
    return v[n / 2];
}

/* ---- devices and memory ---- */

REC_MUTEX(static, device_lock); /* a stop empties buffers, too */
static struct {
    int64_t from_ns, to_ns, busy_ns; /* since the last page; to_ns is kept */
} devices[MOST_DEVICES];
static int64_t busy_ppm = -1;
static int64_t device_bytes[MOST_DEVICES];
static bool has_device_bytes;

void rec_live_device(int32_t device, int64_t start_ns, int64_t end_ns) {
    if (device < 0 || device >= MOST_DEVICES) return;
    rec_mutex_lock(&device_lock);
    int64_t since = devices[device].to_ns;
    if (!since) devices[device].from_ns = since = start_ns;
    if (end_ns > since) {
        devices[device].busy_ns += end_ns - (start_ns > since ? start_ns : since);
        devices[device].to_ns = end_ns;
    }
    pthread_mutex_unlock(&device_lock);
}

static void sum_devices(void) {
    int64_t covered = 0, busy = 0;
    rec_mutex_lock(&device_lock);
    for (int i = 0; i < MOST_DEVICES; i++) {
        covered += devices[i].to_ns - devices[i].from_ns;
        busy += devices[i].busy_ns;
        devices[i].from_ns = devices[i].to_ns;
        devices[i].busy_ns = 0;
    }
    pthread_mutex_unlock(&device_lock);
    if (covered > 0) busy_ppm = (int64_t)((double)busy * 1e6 / (double)covered);
}

void rec_live_memory(int32_t device, int64_t allocated_bytes) {
    if (device < 0 || device >= MOST_DEVICES || allocated_bytes < 0) return;
    __atomic_store_n(&device_bytes[device], allocated_bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&has_device_bytes, true, __ATOMIC_RELAXED);
}

static int64_t sum_memory(void) {
    int64_t all = 0;
    if (!__atomic_load_n(&has_device_bytes, __ATOMIC_RELAXED)) return -1;
    for (int i = 0; i < MOST_DEVICES; i++)
        all += __atomic_load_n(&device_bytes[i], __ATOMIC_RELAXED);
    return all;
}

/* Resident pages, the second number. */
static int64_t resident_bytes(void) {
    char text[128];
    long long total, resident;
    rec_own own;
    int fd = rec_own_open(&own, "/proc/self/statm", O_RDONLY);
    if (fd < 0) return -1;
    ssize_t n = read(fd, text, sizeof text - 1);
    rec_own_close(&own);
    text[n > 0 ? n : 0] = 0;
    if (sscanf(text, "%lld %lld", &total, &resident) != 2) return -1;
    return resident * sysconf(_SC_PAGESIZE);
}

/* ---- what was lost, and why evidence was written ---- */

REC_MUTEX(static, why_lock);
static int64_t n_triggers;
static char last_why[256];
static uint32_t lost_epoch;
static int64_t lost_before, lost_now;

void rec_live_triggered(const char *why) {
    rec_mutex_lock(&why_lock);
    n_triggers++;
    snprintf(last_why, sizeof last_why, "%s", why);
    pthread_mutex_unlock(&why_lock);
}

/* Over all files of this process. */
static int64_t count_lost(const rec_file *f) {
    int64_t n = 0;
    if (lost_epoch != f->epoch) lost_before += lost_now;
    lost_epoch = f->epoch;
    for (int i = 0; i < TACHO_N_LOST; i++)
        n += (int64_t)__atomic_load_n(&f->header->lost[i], __ATOMIC_RELAXED);
    lost_now = n;
    return lost_before + n;
}

/* ---- the page ---- */

REC_MUTEX(static, page_lock); /* all of the page's */
static char page_path[4096];  /* "": there is none */
static int64_t next_ns;

void rec_live_look(const rec_file *f, tacho_live_page *out) {
    rec_step last = {.length_ns = -1};
    uint64_t n = rec_live_n_steps();
    *out = (tacho_live_page){.pid = getpid(), .written_unix_ns = rec_clock_ns(CLOCK_REALTIME)};
    memcpy(out->magic, TACHO_LIVE_MAGIC, sizeof out->magic);
    bool before = rec_enter(&rec_lock);
    rec_rank_known(&out->rank, &out->world_size);
    rec_leave(&rec_lock, before);
    out->n_steps = (int64_t)__atomic_load_n(&n_ended, __ATOMIC_RELAXED);
    out->step_unix_ns =
        out->n_steps ? __atomic_load_n(&last_end_unix_ns, __ATOMIC_RELAXED) : -1;
    if (n) (void)rec_live_step_at(n - 1, &last);
    out->step_ns = last.length_ns;
    out->median_step_ns = rec_live_median(n, 1);
    out->busy_ppm = busy_ppm;
    out->device_bytes = sum_memory();
    out->host_bytes = resident_bytes();
    out->n_lost = count_lost(f);
    snprintf(out->worker, sizeof out->worker, "%s", f->worker);
    (void)gethostname(out->host, sizeof out->host - 1);
    rec_mutex_lock(&why_lock);
    out->n_triggers = n_triggers;
    snprintf(out->trigger, sizeof out->trigger, "%s", last_why);
    pthread_mutex_unlock(&why_lock);
}

static bool name_page(const rec_file *f) {
    char folder[3200];
    if (!rec_has_folder()) return false;
    int used = snprintf(folder, sizeof folder, "%s/" TACHO_LIVE_FOLDER, rec_set.path);
    if (used <= 0 || (size_t)used >= sizeof folder) return false;
    (void)mkdir(folder, 0777);
    snprintf(page_path, sizeof page_path, "%s/%s", folder, f->worker);
    return true;
}

/* Opened each time: a descriptor that is kept may become the program's. */
static void write_page(const rec_file *f, const tacho_live_page *page) {
    int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK;
    rec_own own;
    if (!page_path[0]) {
        if (!name_page(f)) return;
        flags |= O_CREAT | O_TRUNC;
    }
    if (rec_own_open(&own, page_path, flags) < 0) return;
    int fd = rec_own_fd(&own);
    if (fd >= 0) (void)!pwrite(fd, page, sizeof *page, 0);
    rec_own_close(&own);
}

/* A recording that ended since the helper looked must not get its page back. */
static bool is_current(const rec_file *f) {
    bool before = rec_enter(&rec_lock);
    bool is = rec_current == f;
    rec_leave(&rec_lock, before);
    return is;
}

void rec_live_tick(const rec_file *f) {
    tacho_live_page page;
    int64_t now = rec_clock_ns(CLOCK_MONOTONIC);
    if (now < next_ns) return;
    next_ns = now + PAGE_NS;
    sum_devices();
    rec_live_look(f, &page);
    rec_mutex_lock(&page_lock);
    if (is_current(f)) {
        write_page(f, &page);
        rec_metrics_tick(&page);
    }
    pthread_mutex_unlock(&page_lock);
}

void rec_live_end(void) {
    rec_mutex_lock(&page_lock);
    if (page_path[0]) {
        (void)unlink(page_path);
        char *slash = strrchr(page_path, '/');
        if (slash) *slash = 0;
        (void)rmdir(page_path); /* the last one closes the door */
        page_path[0] = 0;
    }
    rec_metrics_end();
    pthread_mutex_unlock(&page_lock);
}

void rec_live_forked(void) {
    page_path[0] = 0;
    n_steps = n_ended = 0;
    n_triggers = 0;
    next_ns = 0;
    lost_before = lost_now = 0;
    memset(devices, 0, sizeof devices);
    busy_ppm = -1;
    has_device_bytes = false;
    rec_metrics_forked();
}
