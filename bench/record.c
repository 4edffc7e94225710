/* record.c: single measurements for bench/record.
 *
 *   record range on|off N       ns for a range (two events) while recording and while not
 *   record clock N              ns for a read of the counter, twice: what a range cannot cost less than
 *   record full THREADS N       ns for a range of one of so many threads when the file is full
 *   record system N             ns for two clock_gettime(CLOCK_MONOTONIC): what other recorders pay
 *   record stop N FOLDER        ms that tacho_stop takes after N events, and bytes per event
 *   record copy BYTES           ns for memcpy from warm memory to warm memory
 *   record compact FILE         ns from the recording to the sealed trace in memory
 *   record chrome FILE          ns from the sealed trace to Chrome JSON in /dev/null
 *
 * Each prints one line of `name=value` words. The recorder is linked in, with the same flags as the
 * library; ranges are those of the macro that programs use. All but the stop is CPU time of the one
 * thread that does the work. */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tacho/tacho.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "export/export.h"
#include "record/rec_clock.h"
#include "session/load.h"

static _Noreturn void die(const char *what) {
    fprintf(stderr, "record: %s\n", what);
    exit(1);
}

static int64_t read_clock(clockid_t which) {
    struct timespec t;
    clock_gettime(which, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* CPU time of this thread: a machine that is busy with something else does not spoil it. */
static int64_t cpu_ns(void) {
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static int64_t now_ns(void) {
    return read_clock(CLOCK_MONOTONIC);
}

static void start(const char *folder) {
    tacho_options o = {.size = sizeof o, .path = folder};
    if (tacho_start(&o) != TACHO_OK) die(tacho_error());
}

static int64_t time_ranges(int64_t n) {
    int64_t before = cpu_ns();
    for (int64_t i = 0; i < n; i++) {
        TACHO_SCOPE("range");
        __asm__ volatile("");
    }
    return cpu_ns() - before;
}

/* ---- the recorder ---- */

static void measure_range(bool on, int64_t n) {
    char folder[] = "/tmp/tacho_bench_XXXXXX", path[4096] = "";
    if (on) {
        if (!mkdtemp(folder)) die("no folder");
        start(folder);
        (void)time_ranges(100000); /* the first pages, the name */
    }
    int64_t ns = time_ranges(n);
    printf("ns=%.3f\n", (double)ns / (double)n);
    if (!on) return;
    (void)tacho_stop();
    (void)tacho_path(path, sizeof path);
    (void)unlink(path);
    (void)rmdir(folder);
}

static void *lose(void *n) {
    for (int64_t i = 0; i < *(int64_t *)n; i++) {
        TACHO_SCOPE("lost");
        __asm__ volatile("");
    }
    return NULL;
}

/* All that a thread does is in it, also that it comes and goes. */
static void measure_full(int n_threads, int64_t n) {
    enum { MOST = 1024 };
    pthread_t id[MOST];
    char folder[] = "/tmp/tacho_bench_XXXXXX", path[4096] = "";
    int64_t fill = 1 << 17; /* more than a ring of 1 MiB holds */
    tacho_options o = {.size = sizeof o, .path = folder, .ring_bytes = 1 << 20};
    if (n_threads < 1 || n_threads > MOST || !mkdtemp(folder)) die("threads, folder");
    if (tacho_start(&o) != TACHO_OK) die(tacho_error());
    (void)lose(&fill);
    int64_t before = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < n_threads; i++)
        if (pthread_create(&id[i], NULL, lose, &n) != 0) die("no thread");
    for (int i = 0; i < n_threads; i++) pthread_join(id[i], NULL);
    int64_t ns = read_clock(CLOCK_PROCESS_CPUTIME_ID) - before;
    printf("ns=%.3f\n", (double)ns / (double)n_threads / (double)n);
    (void)tacho_stop();
    (void)tacho_path(path, sizeof path);
    (void)unlink(path);
    (void)rmdir(folder);
}

static void measure_clock(int64_t n) {
    uint64_t sum = 0;
    rec_clock_init();
    int64_t before = cpu_ns();
    for (int64_t i = 0; i < 2 * n; i++) sum += rec_tick();
    printf("ns=%.3f check=%" PRIu64 "\n", (double)(cpu_ns() - before) / (double)n, sum & 1);
}

static void measure_system(int64_t n) {
    int64_t sum = 0, before = cpu_ns();
    for (int64_t i = 0; i < 2 * n; i++) sum += now_ns();
    printf("ns=%.3f check=%" PRId64 "\n", (double)(cpu_ns() - before) / (double)n, sum & 1);
}

static void measure_stop(int64_t n_events, const char *folder) {
    char path[4096];
    struct stat st;
    start(folder);
    (void)time_ranges(n_events / 2);
    int64_t before = now_ns();
    (void)tacho_stop();
    int64_t ns = now_ns() - before;
    (void)tacho_path(path, sizeof path);
    for (off_t last = -1; stat(path, &st) == 0 && st.st_size != last; usleep(200000))
        last = st.st_size; /* the helper gives back what was not used */
    printf("ms=%.3f bytes=%.2f path=%s\n", (double)ns * 1e-6,
           (double)st.st_size / (double)n_events, path);
}

/* ---- afterwards ---- */

static void measure_copy(size_t n) {
    char *from = mem_map(n), *to = mem_map(n);
    if (!from || !to) die("no memory");
    memset(from, 1, n);
    memset(to, 2, n);
    int64_t before = cpu_ns();
    memcpy(to, from, n);
    __asm__ volatile("" : : "r"(to) : "memory");
    printf("ns=%" PRId64 "\n", cpu_ns() - before);
}

static trace *read_file(const char *path, int64_t *ns) {
    loaded_trace l;
    load_options o = {.no_cache = true, .threads = 1};
    int64_t before = cpu_ns();
    if (trace_load(path, &o, &l, NULL) != OK) die(path);
    *ns = cpu_ns() - before;
    return l.trace;
}

static void measure_compact(const char *path) {
    int64_t ns;
    trace *t = read_file(path, &ns);
    printf("ns=%" PRId64 " slices=%u bytes=%" PRIu64 "\n", ns, t->slice.n - 1,
           trace_size_bytes(t));
    trace_release(t);
}

static void measure_chrome(const char *path) {
    int64_t ns;
    trace *t = read_file(path, &ns);
    int fd = open("/dev/null", O_WRONLY);
    int64_t before = cpu_ns();
    if (export_trace(t, &(export_options){.form = STR("chrome")}, fd, NULL) != OK)
        die("export");
    printf("ns=%" PRId64 " slices=%u\n", cpu_ns() - before, t->slice.n - 1);
    close(fd);
    trace_release(t);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    const char *value = argc > 2 ? argv[2] : "0";
    if (strcmp(what, "range") == 0 && argc == 4)
        measure_range(strcmp(value, "on") == 0, atoll(argv[3]));
    else if (strcmp(what, "full") == 0 && argc == 4)
        measure_full(atoi(value), atoll(argv[3]));
    else if (strcmp(what, "clock") == 0)
        measure_clock(atoll(value));
    else if (strcmp(what, "system") == 0)
        measure_system(atoll(value));
    else if (strcmp(what, "stop") == 0 && argc == 4)
        measure_stop(atoll(value), argv[3]);
    else if (strcmp(what, "copy") == 0)
        measure_copy((size_t)atoll(value));
    else if (strcmp(what, "compact") == 0)
        measure_compact(value);
    else if (strcmp(what, "chrome") == 0)
        measure_chrome(value);
    else
        die("what?");
    return 0;
}
