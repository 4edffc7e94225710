/* rec_status.c: tells `tacho record` what became of this process (tacho_status_page).
 *
 * The page is mapped when the library is loaded, while there are descriptors, and the
 * descriptor is closed at once: later the program may have used all of them up, changed its
 * user or removed its folder, which is just what has to be reported. Children share the map.
 * Without a page nothing is reported, and nothing else changes. */
#include "record/rec_status.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <tacho/live.h>
#include <unistd.h>

static tacho_status_page *page;

/* A file that could be made shorter would end the program with SIGBUS. */
static bool cannot_shrink(int fd) {
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && seals & F_SEAL_SHRINK && fstat(fd, &st) == 0 &&
           st.st_size >= (off_t)sizeof *page;
}

static void map_page(const char *path) {
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return;
    void *map = cannot_shrink(fd)
                    ? mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                    : MAP_FAILED;
    close(fd);
    if (map == MAP_FAILED) return;
    if (memcmp(map, TACHO_STATUS_MAGIC, sizeof page->magic) == 0)
        page = map;
    else
        (void)munmap(map, sizeof *page);
}

static void count(uint64_t *what) {
    __atomic_fetch_add(what, 1, __ATOMIC_RELAXED);
}

void rec_status_load(void) {
    const char *path = secure_getenv("TACHO_STATUS");
    if (path && *path) map_page(path);
    if (!page) return;
    count(&page->n_loaded);
    if (dlsym(RTLD_DEFAULT, "Py_BytesMain")) count(&page->n_python);
}

void rec_status_began(void) {
    if (page) count(&page->n_begun);
}

void rec_status_failed(int code) {
    if (!page) return;
    uint64_t at = __atomic_fetch_add(&page->n_failures, 1, __ATOMIC_RELAXED);
    if (at >= TACHO_STATUS_FAILURES) return;
    tacho_status_failure *f = &page->failures[at];
    f->code = code;
    f->pid = getpid();
    f->uid = geteuid();
    (void)prctl(PR_GET_NAME, f->program, 0, 0, 0);
    __atomic_store_n(&f->is_written, 1, __ATOMIC_RELEASE);
}

void rec_status_ended(int64_t ns) {
    uint64_t longest = page ? __atomic_load_n(&page->end_ns, __ATOMIC_RELAXED) : UINT64_MAX;
    while (ns > 0 && (uint64_t)ns > longest &&
           !__atomic_compare_exchange_n(&page->end_ns, &longest, (uint64_t)ns, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}
