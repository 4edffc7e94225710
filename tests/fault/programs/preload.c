/* preload.c: what tests/fault/hosts puts under a program, one library for each of
 *
 *     -DSLOW       files are made larger and written slowly, as over a network
 *     -DCLOCK      the clock of the day jumps an hour ahead after 100 ms, and back after 200 ms
 *     -DHOURS      all clocks are 9,000 times as fast: ten hours in four seconds
 *     -DALLOCATOR  its own malloc and free, as jemalloc and tcmalloc have them
 *
 * Only the programs of host.c notice: tacho, which runs in the same environment, does not. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static inline bool is_host(void) {
    return strcmp(program_invocation_short_name, "host") == 0;
}

#ifdef SLOW
static void wait_for_disk(void) {
    struct timespec t = {0, 20000000};
    if (is_host()) (void)syscall(SYS_nanosleep, &t, NULL);
}
int fallocate(int fd, int mode, off_t at, off_t n) {
    wait_for_disk();
    return (int)syscall(SYS_fallocate, fd, mode, at, n);
}
int posix_fallocate(int fd, off_t at, off_t n) {
    return fallocate(fd, 0, at, n) == 0 ? 0 : errno;
}
int ftruncate(int fd, off_t n) {
    wait_for_disk();
    return (int)syscall(SYS_ftruncate, fd, n);
}
ssize_t pwrite(int fd, const void *from, size_t n, off_t at) {
    wait_for_disk();
    return syscall(SYS_pwrite64, fd, from, n, at);
}
#endif

#ifdef CLOCK
int clock_gettime(clockid_t which, struct timespec *to) {
    static int64_t began_ms;
    struct timespec now;
    int result = (int)syscall(SYS_clock_gettime, which, to);
    if (which != CLOCK_REALTIME || result != 0 || !is_host()) return result;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    int64_t ms = now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (!began_ms) began_ms = ms;
    if (ms - began_ms > 100 && ms - began_ms < 200) to->tv_sec += 3600;
    return result;
}
#endif

#ifdef HOURS
int clock_gettime(clockid_t which, struct timespec *to) {
    static int64_t began_ns[16];
    int result = (int)syscall(SYS_clock_gettime, which, to);
    bool is_cpu = which == CLOCK_PROCESS_CPUTIME_ID || which == CLOCK_THREAD_CPUTIME_ID;
    if (result != 0 || is_cpu || which < 0 || which >= 16 || !is_host()) return result;
    int64_t ns = (int64_t)to->tv_sec * 1000000000 + to->tv_nsec, expected = 0;
    __atomic_compare_exchange_n(&began_ns[which], &expected, ns, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
    int64_t began = __atomic_load_n(&began_ns[which], __ATOMIC_RELAXED);
    ns = began + 9000 * (ns - began);
    to->tv_sec = ns / 1000000000;
    to->tv_nsec = ns % 1000000000;
    return result;
}
#endif

/* From one piece of memory that is never given back; a block's size is before it. */
#ifdef ALLOCATOR
static char memory[256 << 20] __attribute__((aligned(64)));
static size_t used;

void *memalign(size_t align, size_t n) {
    if (align < 16) align = 16;
    size_t whole = n + 2 * align, at = __atomic_fetch_add(&used, whole, __ATOMIC_RELAXED);
    if (n > sizeof memory || at > sizeof memory - whole) {
        errno = ENOMEM;
        return NULL;
    }
    char *p = memory + at + 16;
    p += (align - (uintptr_t)p % align) % align;
    memcpy(p - sizeof n, &n, sizeof n);
    return p;
}
void *malloc(size_t n) {
    return memalign(16, n);
}
void free(void *p) {
    (void)p;
}
void *calloc(size_t n, size_t size) {
    if (size && n > sizeof memory / size) return NULL;
    return malloc(n * size); /* zero: it was never used before */
}
void *realloc(void *p, size_t n) {
    void *to = malloc(n);
    size_t before = 0;
    if (p) memcpy(&before, (char *)p - sizeof before, sizeof before);
    if (to && p) memcpy(to, p, before < n ? before : n);
    return to;
}
int posix_memalign(void **to, size_t align, size_t n) {
    *to = memalign(align, n);
    return *to ? 0 : ENOMEM;
}
void *aligned_alloc(size_t align, size_t n) {
    return memalign(align, n);
}
#endif
